"""COCO's files beside other files: panoptic ones with PNG files, and the folders that Roboflow exports."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image
from pycocotools import mask as pycocotools_mask

import ioukit
from ioukit import GroundTruth, datasets
from ioukit.datasets.formats.coco_panoptic import read_coco_panoptic
from ioukit.datasets.formats.roboflow_coco import read_roboflow_coco
from support.command import run_here
from support.malformed import read_damaged
from support.paths import DATA

if TYPE_CHECKING:
    from pathlib import Path

GT = DATA / "coco_val2014_100" / "instances_val2014_100.json"


def make_panoptic(folder: Path, *, padding: int = 0) -> Path:
    """Three images with random segments: `panoptic.json`, and the PNG files in `panoptic/`."""
    rng = np.random.default_rng(4)
    (folder / "panoptic").mkdir()
    images, annotations = [], []
    for image in (7, 3, 12):
        ids = np.zeros((24, 32), np.uint32)
        segments = []
        for number in (1, 300, 70_000, 16_000_000):
            x, y, width, height = (int(side) for side in (*rng.integers(0, 16, 2), *rng.integers(4, 16, 2)))
            ids[y : y + height, x : x + width] = number
        for number in np.unique(ids[ids > 0]).tolist():
            rows, columns = np.nonzero(ids == number)
            box = [int(columns.min()), int(rows.min()), int(np.ptp(columns)) + 1, int(np.ptp(rows)) + 1]
            kind = [1, 184][number % 2]
            crowd = int(number == 300)
            segments.append({"id": number, "category_id": kind, "bbox": box, "area": len(rows), "iscrowd": crowd})
        colours = np.stack([ids >> shift & 255 for shift in (0, 8, 16)], axis=2).astype(np.uint8)
        Image.fromarray(colours).save(folder / "panoptic" / f"{image}.png")
        images.append({"id": image, "width": 32, "height": 24, "file_name": f"{image}.jpg", "note": "x" * padding})
        annotations.append({"image_id": image, "file_name": f"{image}.png", "segments_info": segments})
    categories = [{"id": 1, "name": "person", "isthing": 1}, {"id": 184, "name": "tree", "isthing": 0}]
    path = folder / "panoptic.json"
    path.write_text(json.dumps({"images": images, "annotations": annotations, "categories": categories}, indent=1))
    return path


@pytest.mark.parametrize("padding", [0, 40_000])
def test_segments_are_objects(padding: int, tmp_path: Path) -> None:
    """The keys are found also in a large file, whose first part has images alone, as in the official files."""
    path = make_panoptic(tmp_path, padding=padding)
    assert datasets.find_format(path).name == "coco-panoptic"
    gt = datasets.read(path)
    document = json.loads(path.read_text())
    expected = [
        (record["image_id"], one["category_id"], one["bbox"], one["area"], bool(one["iscrowd"]), one["id"])
        for record in document["annotations"]
        for one in record["segments_info"]
    ]
    columns = (gt.image_ids, gt.category_ids, gt.boxes, gt.areas, gt.crowd, gt.attributes["segment_id"])
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == expected
    assert gt.categories.attributes["isthing"].tolist() == [True, False]
    assert gt.images.ids.tolist() == [3, 7, 12]
    things = read_coco_panoptic(path, things_only=True)
    assert set(things.category_ids.tolist()) == {1}


def test_masks_are_those_of_the_png_files(tmp_path: Path) -> None:
    path = make_panoptic(tmp_path)
    gt = datasets.read(path, masks=True)
    masks = gt.regions["Masks"]
    assert masks.area.tolist() == gt.areas.tolist()
    for row, (image, number) in enumerate(zip(gt.image_ids, gt.attributes["segment_id"], strict=True)):
        colours = np.asarray(Image.open(tmp_path / "panoptic" / f"{image}.png")).astype(np.uint32)
        ids = colours[..., 0] + 256 * colours[..., 1] + 65_536 * colours[..., 2]
        theirs = pycocotools_mask.encode(np.asfortranarray(ids == number, np.uint8))
        assert masks[[row]].to_rle()[0] == {"size": theirs["size"], "counts": theirs["counts"].decode()}
    assert len(ioukit.evaluate(gt, as_detections(gt), iou_type="segm").per_class) == 2


def as_detections(gt: GroundTruth) -> ioukit.Detections:
    return ioukit.Detections.from_arrays(
        image_ids=gt.image_ids, category_ids=gt.category_ids, scores=np.ones(len(gt)), regions=gt.regions["Masks"]
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["annotations"][1].pop("segments_info"), r"annotations\[1\]\.segments_info: expected a list"),
        (lambda d: d["annotations"][1].update(image_id=9), r"annotations\[1\]\.image_id: expected the id of an image"),
        (
            lambda d: d["annotations"][1].update(image_id=7),
            r"annotations\[1\]\.image_id: expected an image that differs",
        ),
        (lambda d: d["annotations"][0]["segments_info"][1].update(id=0), r"segments_info\[1\]\.id: expected an id"),
        (
            lambda d: d["annotations"][0]["segments_info"][1].update(category_id=2),
            r"\.category_id: expected the id of a",
        ),
        (lambda d: d["annotations"][0]["segments_info"][1].update(bbox=[0, 0, -1, 2]), r"\.bbox: expected a width"),
        (lambda d: d["annotations"][0]["segments_info"][1].update(area="1"), None),
        (lambda d: d["annotations"][0]["segments_info"][1].update(area=-1), r"\.area: expected a number of at least 0"),
        (lambda d: d["annotations"][0]["segments_info"][1].update(iscrowd=2), r"\.iscrowd: expected 0 or 1"),
        (lambda d: d["annotations"][0].update(file_name="../panoptic/7.png"), r"file_name: expected a path inside"),
        (lambda d: d["annotations"][0].update(file_name="/etc/passwd"), r"file_name: expected a path inside"),
        (lambda d: d["annotations"][0].update(file_name="none.png"), r"file_name: there is no file"),
        (lambda d: d["images"][0].update(width=33), r"file_name: expected a PNG file of 33 x 24 pixels"),
        (lambda d: d["annotations"][0]["segments_info"][1].update(id=5), r"\.id: expected an id of pixels of the PNG"),
        (lambda d: d["categories"].append({"id": 1, "name": "x"}), r"categories\[2\]\.id: expected an id of its own"),
        (lambda d: d.pop("categories"), r"categories: expected a list"),
    ],
)
def test_bad_records_are_named(change: Any, message: str | None, tmp_path: Path) -> None:
    path = make_panoptic(tmp_path)
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    if message is None:  # a number as text is a number
        assert len(read_coco_panoptic(path)) > 0
        return
    with pytest.raises(ioukit.DatasetError, match=message):
        read_coco_panoptic(path, masks=True)
    if "categories" not in message:
        dropped = read_coco_panoptic(path, masks=True, on_invalid="drop")
        assert dropped.dropped == 1
        assert len(dropped.regions["Masks"]) == len(dropped)


def test_damaged_panoptic_files_are_refused(tmp_path: Path) -> None:
    outcomes = read_damaged(make_panoptic, "panoptic.json", read_coco_panoptic, tmp_path, cuts=20, places=5)
    assert outcomes.refused.total() > 100


def test_the_folder_of_the_png_files_is_named(tmp_path: Path) -> None:
    path = make_panoptic(tmp_path)
    (tmp_path / "panoptic").rename(tmp_path / "png")
    with pytest.raises(ioukit.DatasetError, match="with its PNG files, or the argument folder"):
        read_coco_panoptic(path, masks=True)
    assert len(read_coco_panoptic(path, masks=True, folder=tmp_path / "png")) > 0


def make_roboflow(folder: Path) -> Path:
    for split, count in (("train", 60), ("valid", 40)):
        (folder / split).mkdir()
        part = datasets.subset(GroundTruth.from_coco(GT), sample=count, seed=1)
        datasets.write(part, folder / split / "_annotations.coco.json", "coco")
    return folder


def test_a_split_of_roboflow_is_read(tmp_path: Path) -> None:
    make_roboflow(tmp_path)
    assert datasets.find_format(tmp_path).name == "roboflow-coco"
    assert len(datasets.read(tmp_path, split="train").images) == 60
    assert len(datasets.read(tmp_path / "valid").images) == 40
    with pytest.raises(
        ioukit.DatasetError, match="split: expected one of the splits, which are train, valid, found not"
    ):
        datasets.read(tmp_path)
    with pytest.raises(ioukit.DatasetError, match="found 'test'"):
        datasets.read(tmp_path, split="test")
    (tmp_path / "train" / "_annotations.coco.json").unlink()
    assert len(datasets.read(tmp_path).images) == 40


def test_an_export_of_roboflow_is_read() -> None:
    folder = DATA / "formats_small" / "coco_json"
    for split in ("train", "val"):
        gt = datasets.read(folder, split=split)
        expected = GroundTruth.from_coco(folder / split / "_annotations.coco.json")
        assert len(gt) > 0
        assert gt.boxes.tolist() == expected.boxes.tolist()
        assert list(gt.images.names) == list(expected.images.names)


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data" / "train").mkdir(parents=True)
    (tmp_path / "data" / "train" / "_annotations.coco.json").symlink_to(GT)
    with pytest.raises(ioukit.DatasetError, match="a link out of it"):
        read_roboflow_coco(tmp_path / "data")


def test_the_commands_read_a_split(tmp_path: Path) -> None:
    make_roboflow(tmp_path)
    command = run_here("convert", tmp_path, tmp_path / "a.json", "--to", "coco", "--option", "split=valid")
    assert command.code == 0
    assert "40 images" in command.err
    command = run_here("convert", tmp_path, tmp_path / "b.json", "--to", "coco")
    assert (command.code, command.err.count("\n")) == (2, 1)
    assert not os.path.exists(tmp_path / "b.json")
