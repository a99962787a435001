"""The words of `Assignment.explain`: why an object has its predictions, or none."""

# mypy: disable-error-code="arg-type"
# Wrong arguments are tested here, and strings from tables.
from __future__ import annotations

import json
from typing import Any

import pytest

from ioukit.assign import (
    Outcome,
    assign_atss,
    assign_grid,
    assign_max_iou,
    assign_task_aligned,
    assign_yolov5,
)
from support.paths import ROOT

ANCHORS = [[0, 0, 10, 10], [10, 10, 20, 20], [5, 5, 15, 15], [32, 32, 38, 42]]
OBJECTS = [[0, 0, 10, 9], [0, 10, 10, 19]]
GRID: dict[str, Any] = {"anchors": [[[16, 16]]], "strides": [16], "image_size": (64, 64)}
DECODE = json.loads((ROOT / "tests" / "data" / "anchors" / "yolo_decode.json").read_text(encoding="utf-8"))


def test_words_for_thresholds() -> None:
    result = assign_max_iou(ANCHORS, [*OBJECTS, [100, 100, 110, 110]])
    assert repr(result) == ("<Assignment by assign_max_iou: 1 of 4 predictions learn 1 of 3 objects, 0 are ignored>")
    assert result.explain(0) == "object 0: 1 prediction (0) with IoU 0.90 to 0.90"
    assert result.explain(1) == "object 1: no prediction\n- below 0.50: its best IoU is 0.15"
    assert result.explain(2) == "object 2: no prediction\n- nothing overlaps it"
    with pytest.raises(IndexError, match="there is no object 3: the assignment has 3"):
        result.explain(3)
    with pytest.raises(IndexError, match="no object -1"):
        result.explain(-1)


def test_words_for_a_stolen_prediction() -> None:
    result = assign_max_iou([[0, 0, 10, 10]], [[0, 0, 10, 8], [0, 0, 10, 9], [0, 0, 10, 9]])
    assert result.explain(0) == (
        "object 0: no prediction\n- 1 candidate: stolen by object 1 "
        "with a higher IoU (prediction 0: IoU 0.90 against 0.80)"
    )
    assert "stolen by object 1 with the same (prediction 0" in result.explain(2)
    assert repr(result.candidates) == "<Candidates: 3 pairs: 1 assigned, 2 stolen>"
    assert result.candidates.of(2).outcome.tolist() == [Outcome.STOLEN]


def test_words_for_a_threshold_of_its_own() -> None:
    # The nearest anchors overlap it little, and the one that overlaps it much has its centre outside.
    anchors = [[0, 0, 4, 4], [6, 6, 10, 10], [0, 0, 21, 10]]
    result = assign_atss(anchors, [[0, 0, 10, 10]], levels=[3])
    assert result.explain(0).split("\n") == [
        "object 0: no prediction",
        "- 1 candidate: no centre inside (best IoU 0.48)",
        "- 2 candidates: below mean + std 0.45 (best 0.16)",
    ]


def test_words_for_task_alignment() -> None:
    scores = [[0.9], [0.8], [0.0]]
    result = assign_task_aligned(
        [[0, 0, 10, 10], [0, 0, 10, 9], [0, 0, 10, 10]], scores, [[0, 0, 10, 10]], [0],
        points=[[5, 5], [5, 4], [4, 4]], second_top_k=1,
    )  # fmt: skip
    assert result.target.tolist() == [0, -1, -1]
    assert "- 1 candidate: the metric is 0" in result.explain(0)
    assert "better ones of the same object took its 1 places" in result.explain(0)
    tood = assign_task_aligned([[0, 0, 10, 10]], [[0.9]], [[0, 0, 10, 10]], [0], points=[[10, 10]], rule="tood")
    assert tood.explain(0) == "object 0: no prediction\n- 1 candidate: no centre inside (best IoU 1.00)"


def test_words_for_shapes() -> None:
    result = assign_yolov5([[0, 0, 1, 1], [70, 0, 86, 16]], **GRID)
    assert result.explain(0) == (
        "object 0: no prediction\n- no anchor of its shape: the nearest has a side 16 times as long or as short"
    )
    assert "its centre is not on the image" in result.explain(1)


def test_words_for_predictions_that_a_region_took_out() -> None:
    regions = [[-1, -1, 11, 9.5], [5, 5, 15, 15]]  # cover predictions 0 and 2
    result = assign_max_iou(ANCHORS, OBJECTS, ignore_regions=regions)
    assert result.explain(0).split("\n") == [
        "object 0: no prediction",
        "- nothing else overlaps it",
        "- 1 candidate: ignored, because a region covers it (best IoU 0.90)",
    ]
    # The best overlap of object 1 is below the threshold, and it is ignored.
    assert result.explain(1).split("\n") == [
        "object 1: no prediction",
        "- nothing else overlaps it",
        "- 1 candidate: ignored, because a region covers it (best IoU 0.15)",
    ]
    assert [Outcome(code) for code in result.candidates.outcome] == [Outcome.IGNORED, Outcome.IGNORED]
    # Another prediction overlaps the object too little.
    less = assign_max_iou([*ANCHORS, [0, 0, 10, 3]], OBJECTS, ignore_regions=[[-1, -1, 11, 20]], ignore_ioa=0.95)
    assert "ignored" in less.explain(0)
    part = assign_max_iou([[0, 0, 10, 10], [0, 6, 10, 16]], [[0, 0, 10, 10]], ignore_regions=[[0, 0, 10, 10]])
    assert part.explain(0).split("\n") == [
        "object 0: no prediction",
        "- below 0.50: its best IoU is 0.25",
        "- 1 candidate: ignored, because a region covers it (best IoU 1.00)",
    ]
    of_atss = assign_atss(ANCHORS, OBJECTS, levels=[4], ignore_regions=regions)
    assert of_atss.explain(0).split("\n")[1:] == [
        "- 2 candidates: ignored, because a region covers them (best IoU 0.90)",
        "- 2 candidates: no centre inside (best IoU 0.00)",
    ]
    bare = assign_atss(ANCHORS, OBJECTS, levels=[4], ignore_regions=[[-100, -100, 100, 100]])
    assert bare.explain(0).split("\n") == [
        "object 0: no prediction",
        "- 4 candidates: ignored, because a region covers them (best IoU 0.90)",
    ]


def test_words_for_cells_that_are_not_responsible() -> None:
    result = assign_grid(ANCHORS, OBJECTS[:1], [False, True, True, True])
    assert result.explain(0).split("\n") == [
        "object 0: 1 prediction (2) with IoU 0.12 to 0.12",
        "- 1 candidate: in no cell that is responsible (best IoU 0.90)",
    ]
    assert assign_grid(ANCHORS, OBJECTS, [False] * 4).explain(0).split("\n") == [
        "object 0: no prediction",
        "- nothing else overlaps it",
        "- 1 candidate: in no cell that is responsible (best IoU 0.90)",
    ]
