"""Ids of a COCO file are found by the names of images and classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ioukit import GroundTruth
from ioukit.cli._detector_data import class_ids, image_ids

SOURCE = Path("gt.json")


def ground_truth(images: dict[int, str], categories: dict[int, str]) -> GroundTruth:
    data: dict[str, Any] = {
        "images": [{"id": number, "file_name": name} for number, name in images.items()],
        "categories": [{"id": number, "name": name} for number, name in categories.items()],
        "annotations": [],
    }
    return GroundTruth.from_coco(data)


class TestImages:
    def test_by_file_name(self) -> None:
        gt = ground_truth({7: "a.jpg", 3: "b.jpg", 9: ""}, {})
        assert image_ids(gt, [Path("b.jpg"), Path("photos/a.jpg"), Path("/x/b.jpg")], source=SOURCE) == [3, 7, 3]
        assert image_ids(gt, [], source=SOURCE) == []

    def test_by_the_end_of_the_path(self) -> None:
        gt = ground_truth({1: "train/a.jpg", 2: "val/a.jpg", 3: "val\\b.jpg", 4: "b.jpg"}, {})
        files = [Path("data/val/a.jpg"), Path("data/train/a.jpg"), Path("data/val/b.jpg"), Path("other/b.jpg")]
        assert image_ids(gt, files, source=SOURCE) == [2, 1, 3, 4]

    @pytest.mark.parametrize(
        ("files", "message"),
        [
            (["a1.jpg"], r"^gt\.json lists no image a1\.jpg; did you mean 'a\.jpg'\?$"),
            (["other/c.jpg"], r"^gt\.json lists no image other/c\.jpg; did you mean 'val/c\.jpg'\?$"),
            (["x.png", "a.jpg", "y.png"], r"^gt\.json lists no image x\.png \(and 1 other files\)"),
            (["twice.jpg"], r"^gt\.json: 2 images have the name of twice\.jpg: ids \[4, 5\]$"),
        ],
    )
    def test_names_that_are_missing(self, files: list[str], message: str) -> None:
        gt = ground_truth({1: "a.jpg", 2: "val/c.jpg", 4: "twice.jpg", 5: "twice.jpg"}, {})
        with pytest.raises(ValueError, match=message):
            image_ids(gt, [Path(file) for file in files], source=SOURCE)


class TestClasses:
    GT = ground_truth({}, {18: "dog", 1: "person", 3: "car"})

    def test_by_name(self) -> None:
        assert class_ids(self.GT, ["person", "dog"], 2, source=SOURCE) == [1, 18]

    def test_without_names_in_order(self) -> None:
        assert class_ids(self.GT, [], 3, source=SOURCE) == [1, 3, 18]

    @pytest.mark.parametrize(
        ("names", "count", "message"),
        [
            (["persn"], 1, r"^gt\.json: no category has the name 'persn'; did you mean 'person'\?$"),
            ([], 2, r"^the network has 2 classes without names, and gt\.json has 3 categories"),
        ],
    )
    def test_names_that_are_missing(self, names: list[str], count: int, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            class_ids(self.GT, names, count, source=SOURCE)
