"""Files that become shorter while values of them are still to be read: an error, and not the end of the process."""

from __future__ import annotations

import gzip
import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import DatasetError, GroundTruth
from ioukit.checks.repairs.regions import written_as_rle
from ioukit.datasets.columns import skeletons
from ioukit.datasets.columns.lazy import texts_at
from ioukit.datasets.columns.skeletons import category_records

if TYPE_CHECKING:
    from pathlib import Path

POLYGON = [[1, 1, 1, 3, 3, 3, 3, 1]]
RLE = {"size": [9, 12], "counts": [0, 9, 99]}


def coco(**more: Any) -> dict[str, Any]:
    box = {"image_id": 1, "category_id": 1, "bbox": [1, 1, 2, 2], "area": 4, "iscrowd": 0}
    spelled = [POLYGON, RLE, None, POLYGON]
    annotations = [{"id": number, **box, "segmentation": value} for number, value in enumerate(spelled, 1)]
    del annotations[2]["segmentation"]
    return {"images": [{"id": 1, "width": 12, "height": 9}], **more, "annotations": annotations}


def written(folder: Path, **more: Any) -> Path:
    path = folder / "gt.json"
    path.write_text(json.dumps(coco(categories=[{"id": 1, "name": "cat"}], **more)))
    return path


def test_values_are_those_of_the_file(tmp_path: Path) -> None:
    path = written(tmp_path)
    packed = tmp_path / "gt.json.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    for file in (path, packed):
        gt = GroundTruth.from_coco(file)
        assert gt.segmentations is not None
        assert list(gt.segmentations) == [gt.segmentations[row] for row in range(4)] == [POLYGON, RLE, None, POLYGON]
        rle = written_as_rle(gt)
        assert rle is not None
        assert rle.tolist() == [False, True, False, False]


@pytest.mark.parametrize("length", [0, 1, 300])
def test_a_file_that_is_cut_is_an_error(length: int, tmp_path: Path) -> None:
    path = written(tmp_path)
    gt = GroundTruth.from_coco(path)
    assert gt.segmentations is not None
    os.truncate(path, length)
    message = rf"gt\.json: expected at least \d+ bytes, found {length}: it has changed since it was read"
    with pytest.raises(DatasetError, match=message):
        list(gt.segmentations)
    with pytest.raises(DatasetError, match=message):
        gt.segmentations[3]
    with pytest.raises(DatasetError, match=message):
        written_as_rle(gt)
    assert gt.segmentations[2] is None


def test_a_file_that_is_cut_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    """A process that reads a mapped file behind its new end is killed by the system."""
    path = tmp_path / "long.json"
    path.write_bytes(b"[1]" * (1 << 20))
    spans = np.array([[0, 3], [3 << 19, (3 << 19) + 3], [(3 << 20) - 3, 3 << 20]], np.uint64)
    texts = texts_at(str(path), spans)
    assert [next(texts), next(texts)] == [b"[1]"] * 2
    os.truncate(path, 3 << 18)
    with pytest.raises(DatasetError, match="expected at least 3145728 bytes, found 786432"):
        next(texts)


@pytest.mark.parametrize("categories_last", [False, True])
@pytest.mark.parametrize("padding", [0, 500, 5000])
def test_categories_are_found_wherever_they_are(
    padding: int, categories_last: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = [{"id": number, "name": f"{number}", "skeleton": [[1, 2]]} for number in (3, 1, 2)]
    around = [("info", {"x": "y" * padding}), ("categories", listed)]
    content = dict([("images", []), *(around if categories_last else around[::-1]), ("more", "z" * padding)])
    path = tmp_path / "gt.json"
    path.write_text(json.dumps(content))
    for near in (10, 1 << 18):
        for at_once in (7, 100, 1 << 26):
            monkeypatch.setattr(skeletons, "_NEAR", near)
            monkeypatch.setattr(skeletons, "_AT_ONCE", at_once)
            monkeypatch.setattr(skeletons, "_LONGEST", 1000)
            assert category_records(str(path), [1, 3]) == [listed[1], listed[0]]
            assert category_records(str(path), [4]) == []
