"""Detections that have masks and no boxes: the boxes and areas are those of the masks, as in pycocotools."""

from __future__ import annotations

import copy
import json
import pickle
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import pytest
from pycocotools import mask as mask_utils

import ioukit
from ioukit import DatasetError, Detections, _core
from parity.reference import STATS, run_pycocotools, silenced
from parity.same_bits import assert_same_bits, assert_same_evaluation
from support.command import run_here
from support.paths import EXAMPLES, load
from support.same_columns import assert_same_columns

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit.datasets.columns._checks import OnInvalid

GOOD = {"size": [4, 6], "counts": [3, 2, 19]}
IDS = {"image_id": 1, "category_id": 1, "score": 0.5}
MASK = {**IDS, "segmentation": GOOD}


def real_masks() -> tuple[Any, list[dict[str, Any]]]:
    """3,380 real detections; each mask is the rectangle of the box, whose sides are whole numbers."""
    folder = EXAMPLES / "coco_val2017_100"
    gt, dt = load(folder / "ground_truth.json"), load(folder / "yolact.json")
    sizes = {image["id"]: (image["height"], image["width"]) for image in gt["images"]}
    for record in dt:
        with silenced():
            mask = mask_utils.frPyObjects(np.array([record.pop("bbox")], np.float64), *sizes[record["image_id"]])[0]
        record["segmentation"] = {"size": mask["size"], "counts": mask["counts"].decode()}
    return gt, dt


def test_real_results_without_boxes_give_the_numbers_of_pycocotools(tmp_path: Path) -> None:
    gt, dt = real_masks()
    reference = run_pycocotools(gt, copy.deepcopy(dt))
    (tmp_path / "gt.json").write_text(json.dumps(gt))
    (tmp_path / "dt.json").write_text(json.dumps(dt))
    for ours in (ioukit.evaluate(gt, dt), ioukit.evaluate(tmp_path / "gt.json", tmp_path / "dt.json")):
        assert_same_evaluation(ours, reference)
        assert_same_bits([ours.summary[key] for key in STATS], reference.stats, "the twelve numbers")
    assert round(ours.summary["AP"], 4) == 0.4001
    command = run_here("eval", tmp_path / "gt.json", tmp_path / "dt.json")
    assert (command.code in (0, None), "maxDets=100 ] = 0.400" in command.out) == (True, True), command.err


def test_masks_are_read_once_for_the_boxes_and_to_be_compared(tmp_path: Path) -> None:
    gt, dt = real_masks()
    for record in gt["annotations"]:
        x, y, w, h = record["bbox"]
        record["segmentation"] = [[x, y, x + w, y, x + w, y + h, x, y + h]]
    (tmp_path / "gt.json").write_text(json.dumps(gt))
    (tmp_path / "dt.json").write_text(json.dumps(dt))
    arrays: list[str] = []

    def noted(path: str, array: str, *rest: Any) -> Any:
        arrays.append(array)
        return read_masks(path, array, *rest)

    read_masks = _core.read_coco_masks
    with mock.patch.object(_core, "read_coco_masks", noted):
        ground_truth, detections = ioukit.read_coco(tmp_path / "gt.json", tmp_path / "dt.json")
        evaluation = ioukit.evaluate(ground_truth, detections, iou_type="segm")
        assert arrays == ["detections", "annotations"]
        copied = pickle.loads(pickle.dumps(detections))
        assert len(pickle.dumps(copied)) < 2 * len(detections.scores) * 8 * 12  # columns of numbers, and no masks
        assert ioukit.evaluate(ground_truth, copied, iou_type="segm").summary == evaluation.summary
        assert sorted(arrays) == ["annotations", "annotations", "detections", "detections"]
        half = ioukit.evaluate(ground_truth, detections[::2], iou_type="segm")
    assert half.summary == ioukit.evaluate(gt, dt[::2], iou_type="segm").summary


def both(records: list[Any], folder: Path, on_invalid: OnInvalid = "error") -> Detections:
    """From records and from a file, which must agree."""
    (folder / "dt.json").write_text(json.dumps(records))
    given = Detections.from_coco(records, on_invalid=on_invalid)
    read = Detections.from_coco(folder / "dt.json", on_invalid=on_invalid)
    assert_same_columns(given, read, but=["source", "notes", "regions", "ids_of_file"])
    return read


def test_a_mask_counts_where_the_box_is_missing_or_empty(tmp_path: Path) -> None:
    box = [1, 1, 2, 2]
    dt = both([MASK, {**MASK, "bbox": box}, {**MASK, "bbox": []}], tmp_path)
    assert dt.boxes.tolist() == [[0, 0, 2, 4], box, [0, 0, 2, 4]]
    assert dt.areas is not None
    assert dt.areas.tolist() == [2, 2, 2], "pycocotools takes all areas from the masks"
    assert both([{**MASK, "bbox": box}, {**MASK, "bbox": box}], tmp_path).areas is None


BAD: dict[str, tuple[Any, str]] = {
    "counts that do not fit": ({**IDS, "segmentation": {"size": [4, 6], "counts": [3, 2]}}, "counts sum to 5"),
    "no counts": ({**IDS, "segmentation": {"size": [4, 6]}}, "segmentation.*counts"),
    "polygons without a size": ({**IDS, "segmentation": [[0, 0, 4, 0, 4, 2]]}, "RLE, .* or a bbox beside the polygons"),
    "no mask": (IDS, "bbox: expected 4 numbers .*, found no such key"),
    "a box and no mask": ({**IDS, "bbox": [1, 1, 2, 2]}, "segmentation: expected polygons, or an object"),
    "null as box": ({**MASK, "bbox": None}, "bbox: expected 4 numbers .*, found (null|None)"),
    "three numbers as box": ({**MASK, "bbox": [1, 2, 3]}, r"bbox: expected 4 numbers"),
    "no object": (5, "expected an object"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("row", [1, 2])
def test_records_without_box_or_mask_are_refused_or_dropped(name: str, row: int, tmp_path: Path) -> None:
    bad, message = BAD[name]
    records = [MASK, {**MASK, "score": 0.25}, {**MASK, "score": 0.75}]
    records.insert(row, bad)
    (tmp_path / "dt.json").write_text(json.dumps(records))
    for source in (records, tmp_path / "dt.json"):
        for policy in ("error", "pycocotools"):
            with pytest.raises(DatasetError, match=rf"detections\[{row}\].*{message}"):
                Detections.from_coco(source, on_invalid=policy)
    dt = both(records, tmp_path, "drop")
    assert (len(dt), dt.dropped, dt.scores.tolist()) == (3, 1, [0.5, 0.25, 0.75])
    assert dt.boxes.tolist() == [[0, 0, 2, 4]] * 3
    assert "1 invalid record left out" in dt.notes[0]


def test_only_bad_masks_leave_nothing(tmp_path: Path) -> None:
    dt = both([{**IDS, "segmentation": {"size": [4, 6], "counts": [number]}} for number in range(5)], tmp_path, "drop")
    assert (len(dt), dt.dropped) == (0, 5)
