"""Masks against pycocotools: the same bits in all arrays, from files and records, with and without boxes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from pycocotools import mask as mask_utils

import ioukit
from ioukit import DatasetError
from parity.random_masks import random_mask_case
from parity.reference import STATS, copied, run_pycocotools, silenced
from parity.same_bits import assert_same_bits, assert_same_evaluation
from support.paths import DATA, DEMO, load, write_coco

if TYPE_CHECKING:
    from pathlib import Path

CHUNK = 100


def _compressed(dt: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The results in the one spelling that pycocotools reads."""
    found: list[dict[str, Any]] = copied(dt)
    for record in found:
        mask = record["segmentation"]
        if isinstance(mask["counts"], list):
            with silenced():
                record["segmentation"] = mask_utils.frPyObjects(mask, *mask["size"])
    return found


@pytest.mark.parametrize("first", range(0, 600, CHUNK))
def test_every_bit_is_that_of_pycocotools(first: int, tmp_path: Path) -> None:
    compared = 0
    for seed in range(first, first + CHUNK):
        gt, dt = random_mask_case(seed)
        for iou_type in ("segm", "bbox", "boundary"):
            reference = run_pycocotools(gt, _compressed(dt), iou_type=iou_type)
            if seed % 2:
                ours = ioukit.evaluate(*write_coco(tmp_path, gt, dt), iou_type=iou_type)
            else:
                ours = ioukit.evaluate(copied(gt), copied(dt), iou_type=iou_type)
            try:
                assert_same_evaluation(ours, reference)
                assert_same_bits([ours.summary[key] for key in STATS], reference.stats, "the twelve numbers")
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, {iou_type}: {error}") from None
            compared += int((ours.recall > 0).any())
    assert compared > CHUNK / 2, "a generator of misses alone would let every engine pass"


def test_real_masks_give_the_numbers_of_pycocotools() -> None:
    """Real polygons and crowds; the detections of the set have boxes alone, so each is the diamond in its box."""
    folder = DATA / "coco_val2014_100"
    gt, dt = load(folder / "instances_val2014_100.json"), load(folder / "instances_val2014_fakebbox100_results.json")
    sizes = {image["id"]: [image["height"], image["width"]] for image in gt["images"]}
    for record in dt:
        x, y, w, h = record["bbox"]
        diamond = [[x, y + h / 2, x + w / 2, y, x + w, y + h / 2, x + w / 2, y + h]]
        with silenced():
            mask = mask_utils.merge(mask_utils.frPyObjects(diamond, *sizes[record["image_id"]]))
        record["segmentation"] = {"size": mask["size"], "counts": mask["counts"].decode()}
    reference = run_pycocotools(gt, dt, iou_type="segm")
    for threads in (1, 2, 8):
        ours = ioukit.evaluate(gt, dt, iou_type="segm", threads=threads)
        assert_same_evaluation(ours, reference)
        assert_same_bits([ours.summary[key] for key in STATS], reference.stats, "the twelve numbers")
    assert ours.summary["AP50"] > 0.1
    bare = [{key: value for key, value in record.items() if key != "bbox"} for record in dt]
    assert_same_evaluation(ioukit.evaluate(gt, bare), run_pycocotools(gt, bare))


def test_results_with_masks_alone_have_the_boxes_and_areas_of_their_masks(tmp_path: Path) -> None:
    _, dt = random_mask_case(5)
    assert len(dt) > 1
    dt = [{key: value for key, value in record.items() if key != "bbox"} for record in dt]
    path = tmp_path / "dt.json"
    path.write_text(json.dumps(dt))
    for source in (path, dt):
        found = ioukit.Detections.from_coco(source)
        masks = ioukit.Masks.from_rle([record["segmentation"] for record in dt])
        np.testing.assert_array_equal(found.boxes, masks.to_boxes().convert("xywh").numpy())
        np.testing.assert_array_equal(found.areas, masks.area)
    # A box in the first record says that all have one.
    dt[0]["bbox"] = [0, 0, 1, 1]
    path.write_text(json.dumps(dt))
    for source in (path, dt):
        with pytest.raises(DatasetError, match=r"detections\[1\]\.bbox: expected 4 numbers .*, found no such key"):
            ioukit.Detections.from_coco(source)
        kept = ioukit.Detections.from_coco(source, on_invalid="drop")
        assert (len(kept), kept.dropped) == (1, len(dt) - 1)


def _bad(change: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    mask = {"size": [4, 5], "counts": [3, 4, 13]}
    gt = {
        "images": [{"id": 1, "width": 5, "height": 4}],
        "categories": [{"id": 1, "name": "a"}],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 5, 4], "area": 4, "iscrowd": 0,
             "segmentation": [[0, 0, 4, 0, 4, 3]]}
        ],
    }  # fmt: skip
    dt = [{"image_id": 1, "category_id": 1, "score": 0.5, "segmentation": mask} for _ in range(2)]
    change(gt, dt)
    return gt, dt


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda _, dt: dt[1].update(segmentation={"size": [5, 4], "counts": [3, 4, 13]}),
            r"detections\[1\]\.segmentation: expected a mask of 4 x 5 \(height x width\) as others of image 1 have, "
            r"found 5 x 4",
        ),
        (lambda _, dt: dt[1].update(segmentation={"size": [4, 5], "counts": [3, 4]}), r"counts sum to 7"),
        (lambda _, dt: dt[1].update(segmentation={"counts": [3, 4, 13]}), r"detections\[1\].*size"),
        (
            lambda _, dt: dt[1].update(segmentation=None, bbox=[0, 0, 1, 1]),
            r"detections\[1\].segmentation: expected pol",
        ),
        (lambda gt, _: gt["images"][0].pop("width"), r"annotations\[0\].segmentation.*width and height are known"),
        (lambda gt, _: gt["annotations"][0].pop("segmentation"), r"annotations"),
        (lambda gt, _: gt["annotations"][0].update(segmentation=[[0, 0, 1]]), r"annotations\[0\].*3 numbers"),
    ],
)
@pytest.mark.parametrize("way", ["records", "files"])
def test_masks_that_are_none_are_named(change: Any, message: str, way: str, tmp_path: Path) -> None:
    gt, dt = _bad(change)
    with pytest.raises(DatasetError, match=message):
        ioukit.evaluate(*(write_coco(tmp_path, gt, dt) if way == "files" else (gt, dt)), iou_type="segm")


def test_boxes_given_to_segm_are_refused() -> None:
    gt = ioukit.GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 1, 1]])
    dt = ioukit.Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 1, 1]], scores=[0.5])
    with pytest.raises(DatasetError, match=r"iou_type='segm' needs annotations with segmentations, found boxes alone"):
        ioukit.evaluate(gt, dt, iou_type="segm")
    with pytest.raises(ValueError, match="unknown iou_type 'mask'; did you mean 'segm'\\? Else choose from bbox, segm"):
        ioukit.evaluate(gt, dt, iou_type="mask")


def test_masks_may_come_as_a_set() -> None:
    masks = ioukit.Masks.from_arrays(np.eye(6, dtype=bool)[None].repeat(2, axis=0))
    gt = ioukit.GroundTruth.from_arrays(image_ids=[1, 2], category_ids=[1, 1], regions=masks)
    dt = ioukit.Detections.from_arrays(image_ids=[1, 2], category_ids=[1, 1], regions=masks, scores=[0.5, 0.6])
    assert gt.areas.tolist() == [6, 6]
    assert ioukit.evaluate(gt, dt, iou_type="segm").summary["AP"] == pytest.approx(1)


def test_data_sets_of_masks_that_are_put_together(tmp_path: Path) -> None:
    gt, dt = random_mask_case(11)
    parts = []
    for image in gt["images"]:
        folder = tmp_path / str(image["id"])
        folder.mkdir()
        mine = {
            **gt,
            "images": [image],
            "annotations": [record for record in gt["annotations"] if record["image_id"] == image["id"]],
        }
        found = [record for record in dt if record["image_id"] == image["id"]]
        paths = write_coco(folder, mine, found)
        parts.append((ioukit.GroundTruth.from_coco(paths[0]), ioukit.Detections.from_coco(paths[1])))
    whole = (
        ioukit.GroundTruth.concat([part for part, _ in parts][::-1]),
        ioukit.Detections.concat([part for _, part in parts][::-1]),
    )
    reference = run_pycocotools(gt, _compressed(dt), iou_type="segm")
    assert_same_evaluation(ioukit.evaluate(*whole, iou_type="segm"), reference)


def test_the_real_set_of_photographs() -> None:
    """Its annotations have polygons and crowds in runs, its detections boxes alone."""
    folder = DEMO
    gt = ioukit.GroundTruth.from_coco(folder / "gt.json")
    masks = ioukit.Masks.from_coco(
        list(gt.segmentations or []),
        height=gt.images.sizes[np.searchsorted(gt.images.ids, gt.image_ids), 1].astype(int),
        width=gt.images.sizes[np.searchsorted(gt.images.ids, gt.image_ids), 0].astype(int),
    )
    dt = ioukit.Detections.from_arrays(
        image_ids=gt.image_ids, category_ids=gt.category_ids, regions=masks, scores=np.linspace(1, 0.5, len(gt))
    )
    assert ioukit.evaluate(gt, dt, iou_type="segm").summary["AP"] == pytest.approx(1)
