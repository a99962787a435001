"""What no file of a format may hold: names that are the same in it, images without sizes, records of other kinds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import DatasetError, Detections, GroundTruth, Masks
from ioukit.datasets import read, read_detections, write

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TWO: dict[str, Any] = {"image_ids": [1, 2], "category_ids": [1, 2], "boxes": [[0, 0, 1, 1]] * 2, "images": [1, 2]}
NAMED: dict[str, Any] = {"names": ["a.jpg", "b.jpg"], "sizes": [[4, 3], [4, 3]], "categories": {1: "cat", 2: "dog"}}


def truth(**changes: Any) -> GroundTruth:
    return GroundTruth.from_arrays(**{**TWO, **NAMED, **changes})


def masks(mask: Any) -> dict[str, Any]:
    return {"segmentations": Masks.from_arrays(np.stack([mask, mask])).to_rle()}


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("createml", {"names": ["a.jpg", "a.jpg"]}, "expected names of images that differ, found 'a.jpg' twice"),
        ("createml", {"categories": {1: "cat", 2: "cat"}}, "expected names of classes that differ, found 'cat' twice"),
        ("createml", {"categories": {1: "cat", 2: ""}}, "expected classes with names, found an empty name"),
        ("cvat", {"sizes": None}, "image 'a.jpg': expected a width and a height, found none"),
        ("cvat", masks(np.ones((2, 2), bool)), "expected a mask of 4 x 3 pixels, as its image, found 2 x 2"),
        ("cvat", masks(np.zeros((3, 4), bool)), "expected a mask with at least one pixel, found none"),
    ],
)
def test_what_cannot_be_written(name: str, changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    write(truth(), tmp_path / "good", name)
    with pytest.raises(DatasetError, match=message):
        write(truth(**changes), tmp_path / "bad", name)
    assert [path.name for path in tmp_path.iterdir()] == ["good"]


@pytest.mark.parametrize(
    ("name", "names", "message"),
    [
        ("dota", ["a b.jpg", "a_b.jpg"], "names of images that differ, also without spaces, found 'a_b'"),
        ("wider-face", ["a.jpg", "a.png"], "names of images that differ without their suffix, found 'a.png'"),
        ("wider-face", ["a.jpg", " b.jpg"], "names of images without line breaks and outer spaces, found ' b.jpg'"),
    ],
)
def test_images_that_detections_cannot_name(name: str, names: list[str], message: str, tmp_path: Path) -> None:
    dt = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 1, 1]], scores=[0.5])
    with pytest.raises(DatasetError, match=message):
        write(dt, tmp_path / "found", name, ground_truth=truth(names=names))
    assert not list(tmp_path.iterdir())


PANOPTIC = {"images": [{"id": 1, "file_name": "a.jpg"}] * 2, "annotations": [], "categories": []}


@pytest.mark.parametrize(
    ("name", "files", "message"),
    [
        ("coco-panoptic", {"a.json": json.dumps(PANOPTIC), "a": None}, r"images\[1\].id: expected an id of its own"),
        ("createml", {"a.json": "[7]"}, r"a\.json: \[0\]: expected an object, found 7"),
        ("scalabel", {"a.json": "7"}, r"a\.json: expected an object with frames, or a list of frames, found 7"),
        ("roboflow-coco", {"a.json": "{}"}, r"a\.json: expected a folder with _annotations\.coco\.json, found a file"),
        ("labelme", {"empty": None}, "empty: expected JSON files of LabelMe, found none"),
        (
            "mot",
            {"empty": None},
            r"empty: expected a folder with gt/gt\.txt, .*, found no such file",
        ),
        ("csv", {"empty": None}, "empty: expected a file, found a folder"),
        ("parquet", {"empty": None}, "empty: expected a file, found a folder"),
    ],
)
def test_what_is_no_ground_truth(name: str, files: Mapping[str, str | None], message: str, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=message):
        read(made(tmp_path, files), name)


@pytest.mark.parametrize(
    ("name", "files", "options", "message"),
    [
        ("wider-face", {"a.txt": ""}, {}, r"a\.txt: expected a folder of text files with detections, found a file"),
        ("csv", {"empty": None}, {}, "empty: expected a file, found a folder"),
        ("parquet", {"empty": None}, {}, "empty: expected a file, found a folder"),
        ("mot", {"a.txt": "1,-1,0,0,5,5,0.5,9"}, {}, "line 1, class: expected one of the 2 classes, found '9'"),
        (
            "padilla",
            {"found": None, "found/a.txt": "cat 0.5 0.1 0.1 0.2 0.2"},
            {"boxes": "fractions"},
            "expected fractions of an image whose size the ground truth has, found an image of unknown size",
        ),
    ],
)
def test_what_is_no_set_of_detections(
    name: str, files: Mapping[str, str | None], options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    gt = truth(sizes=None, categories={1: "face", 2: "cat"})
    with pytest.raises(DatasetError, match=message):
        read_detections(made(tmp_path, files), name, ground_truth=gt, **options)


def made(place: Path, files: Mapping[str, str | None]) -> Path:
    """Writes files, or folders where there is no text, and names the first."""
    for name, text in files.items():
        if text is None:
            (place / name).mkdir()
        else:
            (place / name).write_text(text)
    return place / next(iter(files))
