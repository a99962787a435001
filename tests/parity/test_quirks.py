"""The micro-cases in which evaluators differ, against recorded arrays of pycocotools."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Any

import pytest

import ioukit
from parity.reference import STATS, run_pycocotools
from parity.same_bits import as_pycocotools, assert_same_bits, assert_same_evaluation
from support.paths import DATA, load, write_coco

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit.datasets.columns._checks import OnInvalid

CASES = {case["name"]: case for case in load(DATA / "coco_quirks" / "cases.json")["cases"]}
EVALUATED = [name for name, case in CASES.items() if "error" not in case["expected"]]
FIELDS = {"iouThrs": "iou_thresholds", "maxDets": "max_dets"}

# Files that are invalid, where pycocotools gives a number all the same: what the default says of them.
REFUSED = {
    "dup_gt_ids_two_images": r"gt\.json: annotations\[1\]\.id.*\b1\b",
    "ann_in_unlisted_image_dropped": r"gt\.json: annotations\[1\]\.image_id.*\b9\b",
}
# Files that pycocotools refuses as well, in words that do not say where.
RAISING = {
    "unknown_image": r"dt\.json: detections\[0\]\.image_id.*\b7\b",
    "gt_missing_id": r"gt\.json: annotations\[0\].*\bid\b",
}


def evaluate(case: dict[str, Any], folder: Path, on_invalid: OnInvalid = "error") -> ioukit.Evaluation:
    params = case["params"]
    changes = {FIELDS[key]: value for key, value in params.items() if key in FIELDS}
    protocol = ioukit.COCO.replace(**changes, class_agnostic=params.get("useCats", 1) == 0)
    files = write_coco(folder, case["gt"], case["dt"])
    return ioukit.evaluate(*ioukit.read_coco(*files, on_invalid=on_invalid), protocol)


def assert_as_recorded(evaluation: ioukit.Evaluation, expected: dict[str, Any]) -> None:
    t, r, k, a, m = expected["counts"]
    shapes = {"precision": (t, r, k, a, m), "recall": (t, k, a, m), "scores": (t, r, k, a, m)}
    for field, shape in shapes.items():
        array = as_pycocotools(getattr(evaluation, field))
        assert array.shape == shape
        digest = hashlib.sha256(array.astype("<f8").tobytes()).hexdigest()
        assert digest == expected[f"{field}_sha256"], f"{field} differs:\n{array}"
    if "stats" in expected:
        assert_same_bits([evaluation.summary[key] for key in STATS], expected["stats"], "stats")


def test_a_missing_crowd_flag_is_an_error_only_where_pycocotools_raises_one(tmp_path: Path) -> None:
    case = CASES["gt_missing_iscrowd"]
    assert "KeyError" in case["expected"]["error"]
    with pytest.raises(ioukit.DatasetError, match=r"gt\.json: annotations\[0\].*iscrowd"):
        evaluate(case, tmp_path, "pycocotools")
    complete = [{"iscrowd": 0, **annotation} for annotation in case["gt"]["annotations"]]
    expected = run_pycocotools({**case["gt"], "annotations": complete}, case["dt"])
    assert_same_evaluation(evaluate(case, tmp_path), expected)


def test_every_case_is_looked_at() -> None:
    assert len(CASES) == 24
    assert {*REFUSED, *RAISING, "gt_missing_iscrowd"} <= set(CASES)


@pytest.mark.parametrize("name", EVALUATED)
def test_arrays_are_those_of_pycocotools(name: str, tmp_path: Path) -> None:
    assert_as_recorded(evaluate(CASES[name], tmp_path, on_invalid="pycocotools"), CASES[name]["expected"])


@pytest.mark.parametrize("name", [n for n in EVALUATED if n not in {*REFUSED, "gt_ids_0_1"}])
def test_the_default_agrees_on_valid_files(name: str, tmp_path: Path) -> None:
    assert_as_recorded(evaluate(CASES[name], tmp_path), CASES[name]["expected"])


@pytest.mark.parametrize("name", REFUSED)
def test_the_default_refuses_invalid_files_that_pycocotools_scores(name: str, tmp_path: Path) -> None:
    with pytest.raises(ioukit.DatasetError, match=REFUSED[name]):
        evaluate(CASES[name], tmp_path)


@pytest.mark.parametrize("on_invalid", ["error", "pycocotools"])
@pytest.mark.parametrize("name", RAISING)
def test_what_pycocotools_refuses_is_an_error_that_names_the_record(
    name: str, on_invalid: OnInvalid, tmp_path: Path
) -> None:
    with pytest.raises(ioukit.DatasetError, match=RAISING[name]):
        evaluate(CASES[name], tmp_path, on_invalid)


@pytest.mark.parametrize("left_first", [True, False])
def test_of_equal_overlaps_the_later_annotation_wins(*, left_first: bool) -> None:
    """The better detection lies just between two objects, the other one on one of them, which may be taken by then."""
    boxes = [[0, 0, 20, 20], [10, 0, 20, 20]] if left_first else [[10, 0, 20, 20], [0, 0, 20, 20]]
    gt = ioukit.GroundTruth.from_arrays(image_ids=[1, 1], category_ids=[1, 1], boxes=boxes)
    for second, found in ((boxes[0], 2), (boxes[1], 1)):
        dt = ioukit.Detections.from_arrays(
            image_ids=[1, 1], category_ids=[1, 1], boxes=[[5, 0, 20, 20], second], scores=[0.9, 0.8]
        )
        result = ioukit.evaluate(gt, dt, ioukit.COCO.replace(iou_thresholds=[0.5]))
        assert result.summary["AR100"] == found / 2


def test_an_annotation_with_id_0_can_be_matched(tmp_path: Path) -> None:
    """pycocotools stores a match as the id, and 0 also means unmatched: half of the objects would be missed here."""
    case = CASES["gt_ids_0_1"]
    renumbered = [{**annotation, "id": annotation["id"] + 1} for annotation in case["gt"]["annotations"]]
    assert_same_evaluation(
        evaluate(case, tmp_path), run_pycocotools({**case["gt"], "annotations": renumbered}, case["dt"])
    )
    gt, _ = ioukit.read_coco(*write_coco(tmp_path, case["gt"], case["dt"]))
    assert any("the id 0" in note for note in gt.notes)


def test_dropping_gives_the_numbers_of_the_file_without_the_bad_records(tmp_path: Path) -> None:
    case = CASES["ann_in_unlisted_image_dropped"]
    gt, dt = ioukit.read_coco(*write_coco(tmp_path, case["gt"], case["dt"]), on_invalid="drop")
    assert (gt.dropped, dt.dropped) == (1, 0)
    assert len(gt) == len(case["gt"]["annotations"]) - 1
    assert_as_recorded(ioukit.evaluate(gt, dt), case["expected"])


def test_dropping_keeps_the_first_of_duplicate_ids(tmp_path: Path) -> None:
    case = CASES["dup_gt_ids_two_images"]
    gt, dt = ioukit.read_coco(*write_coco(tmp_path, case["gt"], case["dt"]), on_invalid="drop")
    assert gt.dropped == 1
    assert gt.boxes.tolist() == [case["gt"]["annotations"][0]["bbox"]]
    assert math.isclose(ioukit.evaluate(gt, dt).summary["AR100"], 1.0)
