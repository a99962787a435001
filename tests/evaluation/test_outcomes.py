"""What became of every detection and object."""

from __future__ import annotations

import math

import pytest

from evaluation.small_scene import DT, GT
from ioukit import Detections, GroundTruth, evaluate
from ioukit.evaluation import Outcome, match, outcomes
from support.data_rows import outcomes_in_data

TP, FP, FN = Outcome.TRUE_POSITIVE, Outcome.FALSE_POSITIVE, Outcome.FALSE_NEGATIVE
NOT, IGNORED = Outcome.NOT_COUNTED, Outcome.IGNORED


def test_every_outcome() -> None:
    evaluation = evaluate(GT, DT)
    became = outcomes_in_data(evaluation.matches, evaluation.outcomes())
    assert became.detections.tolist() == [TP, FP, FP, FP, FP, FP, FP, TP, IGNORED, FP]
    assert became.ground_truth.tolist() == [TP, FN, FN, FN, TP, IGNORED]
    assert became.matched_ground_truth.tolist() == [0, -1, -1, -1, -1, -1, -1, 4, 5, -1]
    assert became.matched_detection.tolist() == [0, -1, -1, -1, 7, 8]
    assert became.match_iou[[0, 7, 8]].tolist() == [80 / 120, 1.0, 1.0]
    assert math.isnan(became.match_iou[1])
    assert repr(evaluation.outcomes()) == "Outcomes(2 true positives, 7 false positives, 3 false negatives)"


def test_what_lies_below_the_score_finds_nothing() -> None:
    evaluation = evaluate(GT, DT)
    became = outcomes_in_data(evaluation.matches, evaluation.outcomes(score_threshold=0.96))
    assert became.detections.tolist() == [NOT] * 7 + [TP, NOT, NOT]
    assert became.ground_truth.tolist() == [FN, FN, FN, FN, TP, IGNORED]
    assert became.matched_detection.tolist() == [-1, -1, -1, -1, 7, -1]


def test_what_is_not_evaluated_does_not_count() -> None:
    evaluation = evaluate(GT, DT, images=[2], categories=["cat"])
    became = outcomes_in_data(evaluation.matches, evaluation.outcomes())
    assert became.detections.tolist() == [NOT] * 7 + [TP, IGNORED, NOT]
    assert became.ground_truth.tolist() == [NOT] * 4 + [TP, IGNORED]


def test_a_threshold_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="score_threshold must be a number, got nan"):
        outcomes(match(GT, DT), score_threshold=math.nan)


def test_a_crowd_has_its_best_detection() -> None:
    crowd = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 90, 90]], crowd=[True])
    detections = Detections.from_arrays(
        image_ids=[1] * 3,
        category_ids=[1] * 3,
        boxes=[[0, 0, 9, 9], [20, 0, 9, 9], [40, 0, 9, 9]],
        scores=[0.5, 0.9, 0.7],
    )
    evaluation = evaluate(crowd, detections)
    became = outcomes_in_data(evaluation.matches, evaluation.outcomes())
    assert became.matched_ground_truth.tolist() == [0, 0, 0]
    assert became.matched_detection.tolist() == [1]
    assert became.ground_truth.tolist() == [IGNORED]
