"""COCO's files with every kind of damage: they are read, or refused with one message that names the file."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from ioukit import Detections, GroundTruth, datasets
from support.command import run_here
from support.malformed import damaged, read_damaged

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

POLYGON = [[1.5, 1, 6, 1, 6, 4.25]]
RUNS = {"size": [12, 16], "counts": [100, 5, 87]}


def annotation(number: int, **members: Any) -> dict[str, Any]:
    return {"id": number, "image_id": number % 2 + 1, "category_id": 1, "bbox": [1, 2.5, 5, 4], **members}


def make_ground_truth(folder: Path) -> Path:
    """Records with and without area and crowd, masks of both kinds, keypoints, attributes."""
    document = {
        "images": [{"id": 1, "width": 16, "height": 12, "file_name": "a.jpg"}, {"id": 2, "width": 16, "height": 12}],
        "categories": [{"id": 1, "name": "cat", "keypoints": ["nose"], "skeleton": [[1, 1]]}],
        "annotations": [
            annotation(1, area=20, iscrowd=0, segmentation=POLYGON),
            annotation(2, segmentation=POLYGON, attributes={"occluded": True, "angle": 0.5}),
            annotation(3, iscrowd=1, segmentation=RUNS),
            annotation(4, keypoints=[3, 4, 2], num_keypoints=1, segmentation=[]),
        ],
    }
    path = folder / "gt.json"
    path.write_text(json.dumps(document, indent=1))
    return path


RECORDS = [
    {"image_id": 1, "category_id": 1, "bbox": [1, 2.5, 5, 4], "score": 0.75, "attributes": {"angle": 1}},
    {"image_id": 2, "category_id": 1, "bbox": [0, 0, 3, 3], "score": 0.5, "segmentation": RUNS},
]


def make_results(folder: Path) -> Path:
    path = folder / "dt.json"
    path.write_text(json.dumps(RECORDS, indent=1))
    return path


def make_lines(folder: Path) -> Path:
    """A single line, which is JSON as a whole, too; the damage adds others."""
    path = folder / "dt.jsonl"
    path.write_text(f"{json.dumps({**RECORDS[0], **RECORDS[1]})}\n")
    return path


def read_everything(path: Path, *, on_invalid: Any) -> GroundTruth:
    return GroundTruth.from_coco(path, on_invalid=on_invalid, attributes=True)


def read_results(path: Path, *, on_invalid: Any) -> Detections:
    return Detections.from_coco(path, on_invalid=on_invalid, attributes=True)


@pytest.mark.parametrize(
    ("make", "name", "read", "least"),
    [
        (make_ground_truth, "gt.json", read_everything, 300),
        (make_results, "dt.json", read_results, 150),
        (make_lines, "dt.jsonl", read_results, 100),
    ],
)
def test_a_damaged_file_is_read_or_refused(
    make: Callable[[Path], Path], name: str, read: Callable[..., Any], least: int, tmp_path: Path
) -> None:
    outcomes = read_damaged(make, name, read, tmp_path)
    assert outcomes.refused.total() > least
    assert outcomes.read["byte-order mark"] == outcomes.read["Windows lines"] == 2


def test_a_packed_file_that_is_cut_or_changed_is_refused(tmp_path: Path) -> None:
    packed = gzip.compress(make_ground_truth(tmp_path).read_bytes())
    path = tmp_path / "gt.json.gz"
    path.write_bytes(packed)
    assert len(datasets.read(path)) == 4
    for at in range(0, len(packed) - 1, 7):
        for content in (packed[:at], packed[:at] + bytes([packed[at] ^ 0xFF]) + packed[at + 1 :]):
            path.write_bytes(content)
            command = run_here("convert", path, tmp_path / "out.json", "--format", "coco", "--to", "coco", "-q")
            # The time and the name in the header of gzip may be anything.
            assert command.code == 2 or at < 10
            assert command.err.count("\n") == (command.code == 2)
            (tmp_path / "out.json").unlink(missing_ok=True)


def test_the_command_ends_with_2_and_one_line(tmp_path: Path) -> None:
    good = make_ground_truth(tmp_path).read_bytes()
    path = tmp_path / "gt.json"
    codes = set()
    for kind, content in list(damaged(good, cuts=15, places=2))[::4]:
        path.write_bytes(content)
        command = run_here("convert", path, tmp_path / "out.json", "--format", "coco", "--to", "coco", "-q")
        codes.add(command.code)
        assert command.code in (0, 2), kind
        assert command.err.count("\n") == (command.code == 2), kind
        assert (tmp_path / "out.json").exists() == (command.code == 0), kind
        (tmp_path / "out.json").unlink(missing_ok=True)
    assert codes == {0, 2}
