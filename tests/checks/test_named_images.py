"""COCO results whose image ids are strings: they are read for the check, and a wrong record is named."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ioukit import DatasetError
from ioukit.checks import read_named_images

if TYPE_CHECKING:
    from pathlib import Path

RECORD: dict[str, Any] = {"image_id": "val/000042.jpg", "category_id": 3, "bbox": [1, 2, 3.5, 4], "score": 0.5}


def written(tmp_path: Path, content: Any) -> Path:
    path = tmp_path / "dt.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_ids_stay_as_they_are(tmp_path: Path) -> None:
    found = read_named_images(written(tmp_path, [RECORD, {**RECORD, "image_id": 7, "score": 1}]))
    assert found is not None
    assert found.image_labels().tolist() == ["val/000042.jpg", "7"]
    assert (found.category_ids.tolist(), found.scores.tolist()) == ([3, 3], [0.5, 1.0])
    assert found.boxes.tolist() == [[1, 2, 3.5, 4]] * 2


@pytest.mark.parametrize(
    "content", [[], {}, "[", "[" * 100_000, [[RECORD]], [{**RECORD, "image_id": 42}], "null", '[{"image_id": [1]}]']
)
def test_other_files_are_left_to_the_reader(tmp_path: Path, content: Any) -> None:
    assert read_named_images(written(tmp_path, content)) is None


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"score": None}, "score: expected a number, found None"),
        ({"score": True}, "score: expected a number, found True"),
        ({"bbox": [1, 2, 3]}, r"bbox: expected 4 numbers, found \[1, 2, 3\]"),
        ({"bbox": [1, 2, 3, "4"]}, "bbox: expected 4 numbers"),
        ({"bbox": [1, 2, 3, 10**400]}, "bbox: expected 4 numbers"),
        ({"bbox": [1, 2, -3, 4]}, "bbox: expected"),
        ({"category_id": 1.5}, "category_id: expected an integer, found 1.5"),
        ({"image_id": [1]}, r"image_id: expected an integer or a string, found \[1\]"),
    ],
)
def test_a_wrong_record_is_named(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    path = written(tmp_path, [RECORD, {**RECORD, **change}])
    with pytest.raises(DatasetError, match=rf"dt.json: detections\[1\].{says}"):
        read_named_images(path)


def test_a_missing_field_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, [{key: value for key, value in RECORD.items() if key != "score"}])
    with pytest.raises(DatasetError, match=r"detections\[0\]: expected score, found a record without it"):
        read_named_images(path)
