"""The numbers of slices: of images as of the data without the other images, of objects as in pycocotools."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np
import pytest

from ioukit import Detections, Evaluation, GroundTruth, evaluate
from ioukit.datasets import IdLists
from ioukit.evaluation import COCO, AreaRange
from ioukit.evaluation.protocols import PROTOCOLS
from ioukit.slices import slice_numbers
from ioukit.slices.match_tables import ObjectPart, tables_of_objects
from ioukit.statistics import repeat_images
from support.evaluated_scenes import coco, made

PER_IMAGE = ("caltech", "crowdhuman", "froc", "froc-centre")
PLAIN = ["coco", "voc2007", "voc2012", "tide", "ultralytics"]


def _same(one: Evaluation, other: Evaluation) -> None:
    for name in ("precision", "recall", "scores"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_equal(dict(one.summary), dict(other.summary))


def _whole(data: Evaluation) -> tuple[GroundTruth, Detections]:
    assert data.ground_truth is not None
    assert data.detections is not None
    return data.ground_truth, data.detections


@pytest.mark.parametrize("protocol", PLAIN)
def test_a_slice_of_images_has_the_numbers_of_these_images_alone(protocol: str) -> None:
    rng = np.random.default_rng(5)
    for seed in range(6):
        data = made(images=12, seed=seed)
        gt, dt = _whole(data)
        chosen = rng.random(12) < 0.5
        part = gt.images.ids[chosen]
        evaluation = evaluate(gt, dt, PROTOCOLS[protocol])
        keys = list(evaluation.summary)
        table = {"image_id": gt.images.ids, "chosen": chosen}
        found = slice_numbers(evaluation, "chosen", tables=table, keys=keys, replicates=0)
        for name, ids in (("chosen: yes", part), ("chosen: no", gt.images.ids[~chosen])):
            if not len(ids):
                continue
            alone = evaluate(gt.filter(images=ids.tolist()), dt.filter(images=ids.tolist()), PROTOCOLS[protocol])
            numbers = {key: one.value for key, one in found[name].numbers.items()}
            np.testing.assert_equal(numbers, {key: alone.summary[key] for key in keys})
            assert found[name].images == len(ids)
            assert found[name].objects == alone.matches.num_objects[:, 0].sum()


def test_a_slice_of_objects_by_image_is_the_slice_of_images() -> None:
    gt, dt = _whole(coco())
    rng = np.random.default_rng(0)
    evaluation = evaluate(gt, dt)
    for _ in range(5):
        images = gt.images.ids[rng.random(len(gt.images)) < 0.4]
        choice = ObjectPart(np.isin(gt.image_ids, images), ~np.isin(dt.image_ids, images))
        (table,) = tables_of_objects((gt, dt), evaluation.matches, [choice])
        alone = evaluate(gt.filter(images=images.tolist()), dt.filter(images=images.tolist()))
        by_id = {one.id: one.summary for one in alone.per_class}
        for one in Evaluation.from_table(table).per_class:
            np.testing.assert_equal(dict(one.summary), dict(by_id[one.id]))
        np.testing.assert_equal(dict(Evaluation.from_table(table).summary), dict(alone.summary))


def test_slices_by_size_have_the_numbers_of_coco() -> None:
    for data in (coco(), made(images=40, seed=1)):
        evaluation = evaluate(*_whole(data))
        found = slice_numbers(evaluation, "size", keys=["AP", "AR100"], replicates=0)
        assert [one.value for one in found] == ["small", "medium", "large"]
        for one, letter in zip(found, "sml", strict=True):
            for key, same in (("AP", f"AP{letter}"), ("AR100", f"AR{letter}")):
                np.testing.assert_equal(one.numbers[key].value, evaluation.summary[same])
            assert not one.shares_false_positives


def test_size_uses_the_ranges_of_the_protocol() -> None:
    ranges = (AreaRange("every", 0, 1e10), AreaRange("speck", 0, 2000), AreaRange("blob", 1000, 1e10))
    evaluation = evaluate(*_whole(made(images=30)), COCO.replace(area_ranges=ranges))
    found = slice_numbers(evaluation, "size", keys=["AP"], replicates=0)
    assert {one.value: one.numbers["AP"].value for one in found} == {
        "speck": evaluation.summary["APspeck"],
        "blob": evaluation.summary["APblob"],
    }


@pytest.mark.parametrize("seed", range(8))
def test_a_slice_of_objects_has_the_numbers_of_pycocotools(seed: int) -> None:
    """Areas of 1 inside and 9 outside, and an area range from 0 to 2, make pycocotools ignore the same rows."""
    cocotools = pytest.importorskip("pycocotools.coco")
    cocoeval = pytest.importorskip("pycocotools.cocoeval")
    gt, dt = _whole(made(images=25, seed=seed))
    rng = np.random.default_rng(seed)
    inside, ignored = rng.random(len(gt)) < 0.5, rng.random(len(dt)) < (0.5 if seed % 2 else 0.0)
    (table,) = tables_of_objects((gt, dt), evaluate(gt, dt).matches, [ObjectPart(inside, ignored)])
    found = Evaluation.from_table(table)
    side = cocotools.COCO()
    side.dataset = {
        "images": [{"id": int(one), "width": 1000, "height": 1000} for one in gt.images.ids],
        "categories": [{"id": int(one)} for one in gt.categories.ids],
        "annotations": [
            {
                "id": int(gt.ids[row]),
                "image_id": int(gt.image_ids[row]),
                "category_id": int(gt.category_ids[row]),
                "bbox": gt.boxes[row].tolist(),
                "area": 1.0 if inside[row] else 9.0,
                "iscrowd": int(gt.crowd[row]),
            }
            for row in range(len(gt))
        ],
    }
    with contextlib.redirect_stdout(io.StringIO()):
        side.createIndex()
        results = side.loadRes(
            [
                {
                    "image_id": int(dt.image_ids[row]),
                    "category_id": int(dt.category_ids[row]),
                    "bbox": dt.boxes[row].tolist(),
                    "score": float(dt.scores[row]),
                }
                for row in range(len(dt))
            ]
        )
        for row, one in enumerate(results.dataset["annotations"]):
            one["area"] = 9.0 if ignored[row] else 1.0
        run = cocoeval.COCOeval(side, results, "bbox")
        run.params.areaRng, run.params.areaRngLbl = [[0, 2]], ["all"]
        run.evaluate()
        run.accumulate()
    theirs = run.eval["precision"][..., 0, :]
    np.testing.assert_array_equal(np.nan_to_num(found.precision[..., 0, :], nan=-1), theirs)
    np.testing.assert_array_equal(np.nan_to_num(found.recall[..., 0, :], nan=-1), run.eval["recall"][..., 0, :])


FLAGS = {"easy": 2, "medium": 3, "hard": 1, "ignore": 7, "difficult": 5, "group_of": 6}
CHOSEN_BY_DETECTIONS = [name for name, protocol in PROTOCOLS.items() if protocol.objects_choose is None]


def _for_all_protocols(seed: int) -> tuple[GroundTruth, Detections]:
    """Data with the flags, attributes and lists that some protocol needs."""
    gt, dt = _whole(made(images=20, seed=seed))
    number = np.arange(20)
    some = IdLists.of([[1, 2] if one % 2 else [] for one in number])
    names = ("neg_category_ids", "positive_category_ids", "negative_category_ids")
    return GroundTruth.from_arrays(
        image_ids=gt.image_ids,
        category_ids=gt.category_ids,
        boxes=gt.boxes,
        areas=gt.areas,
        crowd=gt.crowd,
        images=gt.images.ids,
        sizes=[[800, 600]] * 20,
        categories=dict(zip(gt.categories.ids.tolist(), gt.categories.names, strict=True)),
        category_attributes={"frequency": ["r", "c", "f"]},
        flags={name: np.arange(len(gt)) % step == 0 for name, step in FLAGS.items()},
        attributes={"visibility": np.linspace(0, 1, len(gt))},
        image_attributes={
            **dict.fromkeys(names, some),
            "not_exhaustive_category_ids": IdLists.of([[3] if one % 3 == 0 else [] for one in number]),
        },
    ), dt


@pytest.mark.parametrize("protocol", CHOSEN_BY_DETECTIONS)
def test_all_objects_are_the_whole_data_set(protocol: str) -> None:
    gt, dt = _for_all_protocols(4)
    whole = evaluate(gt, dt, PROTOCOLS[protocol])
    every = ObjectPart(np.ones(len(gt), np.bool_), np.zeros(len(dt), np.bool_))
    none = ObjectPart(np.zeros(len(gt), np.bool_), np.zeros(len(dt), np.bool_))
    tables = list(tables_of_objects((gt, dt), whole.matches, [every, none] * 5))
    for at, table in enumerate(tables):
        assert table.protocol == whole.protocol
        if at % 2 == 0:
            _same(Evaluation.from_table(table), whole)
        else:
            assert table.num_objects.sum() == 0


@pytest.mark.parametrize("protocol", [name for name in CHOSEN_BY_DETECTIONS if name not in PER_IMAGE])
def test_the_objects_of_some_images_are_these_images(protocol: str) -> None:
    """Not so where false positives are counted per image of the data set."""
    gt, dt = _for_all_protocols(5)
    whole = evaluate(gt, dt, PROTOCOLS[protocol])
    ids = gt.images.ids[::2]
    choice = ObjectPart(np.isin(gt.image_ids, ids), ~np.isin(dt.image_ids, ids))
    (table,) = tables_of_objects((gt, dt), whole.matches, [choice])
    alone = evaluate(gt.filter(images=ids.tolist()), dt.filter(images=ids.tolist()), PROTOCOLS[protocol])
    np.testing.assert_equal(dict(Evaluation.from_table(table).summary), dict(alone.summary))


def test_tables_can_have_some_of_the_area_ranges() -> None:
    gt, dt = _whole(made(images=20, seed=4))
    whole = evaluate(gt, dt)
    choice = ObjectPart(np.arange(len(gt)) % 2 == 0, np.zeros(len(dt), np.bool_))
    (every,) = tables_of_objects((gt, dt), whole.matches, [choice])
    (some,) = tables_of_objects((gt, dt), whole.matches, [choice], area_ranges=["all", "large"])
    one, other = Evaluation.from_table(every).summary, Evaluation.from_table(some).summary
    np.testing.assert_equal([one[key] for key in ("AP", "APl", "AR10")], [other[key] for key in ("AP", "APl", "AR10")])
    assert np.isnan(other["APs"])


@pytest.mark.parametrize("iou_type", ["segm", "keypoints"])
def test_other_kinds_have_slices_of_objects(iou_type: str) -> None:
    gt, dt = _regions(iou_type)
    whole = evaluate(gt, dt, iou_type=iou_type)
    inside = np.arange(len(gt)) % 2 == 0
    (table,) = tables_of_objects((gt, dt), whole.matches, [ObjectPart(inside, np.zeros(len(dt), np.bool_))])
    assert table.iou_type == iou_type
    assert int((~table.ignores(table.protocol.main_area)).sum()) == inside.sum()
    # Detections that match the other objects are ignored, so all that is left is found.
    assert Evaluation.from_table(table).summary["AP"] == pytest.approx(1.0)


def _regions(iou_type: str) -> tuple[GroundTruth, Detections]:
    boxes = np.array([[10.0 + 60 * at, 10.0, 50.0, 50.0] for at in range(6)])
    ids = {"image_ids": [1] * 6, "category_ids": [1] * 6}
    if iou_type == "segm":
        polygons = [[[x, y, x + w, y, x + w, y + h, x, y + h]] for x, y, w, h in boxes.tolist()]
        regions: dict[str, Any] = {"segmentations": polygons}
    else:
        points = np.full((6, 17, 3), 2.0)
        points[..., 0] = boxes[:, :1] + np.arange(17) * 2
        points[..., 1] = boxes[:, 1:2] + np.arange(17)
        regions = {"keypoints": points}
    gt = GroundTruth.from_arrays(**ids, boxes=boxes, images=[1], sizes=[[400, 100]], **regions)  # type: ignore[arg-type]
    return gt, Detections.from_arrays(**ids, boxes=boxes, scores=np.linspace(0.9, 0.5, 6), **regions)  # type: ignore[arg-type]


def test_a_protocol_in_which_objects_choose_has_slices_of_images_alone() -> None:
    gt, dt = _whole(made(["car"], images=10))
    kitti = next(one for one in PROTOCOLS.values() if one.objects_choose is not None)
    limits = {name: np.zeros(len(gt)) for name in ("occluded", "truncated")}
    gt = GroundTruth.from_arrays(
        image_ids=gt.image_ids,
        category_ids=gt.category_ids,
        boxes=gt.boxes,
        categories={1: "Car"},
        images=gt.images.ids,
        attributes=limits,
    )
    evaluation = evaluate(gt, dt, kitti)
    with pytest.raises(ValueError, match="cannot ignore some of the objects"):
        slice_numbers(evaluation, "area")
    table = {"image_id": gt.images.ids, "odd": gt.images.ids % 2 == 1}
    found = slice_numbers(evaluation, "odd", tables=table, replicates=0)
    sub = repeat_images(evaluation.matches, gt.images.ids % 2)
    key = evaluation.protocol.main_measure.key
    np.testing.assert_equal(found["odd: yes"].numbers[key].value, Evaluation.from_table(sub).summary[key])
