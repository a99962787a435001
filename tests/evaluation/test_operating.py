"""Precision, recall and F1 against score."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evaluation.small_scene import DT, GT
from ioukit import Detections, GroundTruth, evaluate
from ioukit.evaluation import match, score_curves


def test_numbers_that_can_be_counted() -> None:
    curves = score_curves(match(GT, DT))
    cat, dog, cow = curves.per_class
    assert cat.scores.tolist() == [0.99, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.2]  # 0.3 lies on a crowd
    assert cat.true_positives.tolist() == [1, 2, 2, 2, 2, 2, 2, 2, 2]
    assert cat.false_positives.tolist() == [0, 0, 1, 2, 3, 4, 5, 6, 7]
    assert cat.num_ground_truth == 3
    assert cat.recall[1] == 2 / 3
    assert cat.f1[1] == 4 / 5
    assert (cat.best.score, cat.best.f1, cat.best.precision, cat.best.false_negatives) == (0.95, 0.8, 1.0, 1)
    point = cat.at(0.65)
    assert (point.score, point.true_positives, point.false_positives, point.false_negatives) == (0.65, 2, 3, 1)
    assert cat.at(0.7).false_positives == 3, "the score itself counts"
    none = cat.at(math.inf)
    assert math.isnan(none.precision)
    assert (none.recall, none.f1, none.false_negatives) == (0, 0, 3)
    # Objects without detections; neither.
    assert (dog.best.recall, dog.best.f1, dog.best.false_negatives) == (0, 0, 2)
    assert math.isnan(dog.best.score)
    assert math.isnan(cow.best.recall)
    assert math.isnan(cow.best.f1)
    assert curves.overall.num_ground_truth == 5
    assert curves.overall.at(0.95).recall == 2 / 5


def test_a_threshold_may_be_written_as_people_write_it() -> None:
    evaluation = evaluate(GT, DT)
    assert evaluation.score_curves(iou_threshold=0.9).iou_threshold == 0.8999999999999999
    with pytest.raises(ValueError, match=r"no IoU threshold 0.4; there are 0.5, "):
        evaluation.score_curves(iou_threshold=0.4)
    with pytest.raises(ValueError, match="iou must be a number, got nan"):
        evaluation.score_curves(iou_threshold=math.nan)
    with pytest.raises(TypeError, match=r"iou must be a number, got '0\.5'"):
        evaluation.score_curves(iou_threshold="0.5")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no area range 'tiny'; there are all, small"):
        evaluation.score_curves(area_range="tiny")
    with pytest.raises(ValueError, match="score must be a number, got nan"):
        evaluation.score_curves().overall.at(math.nan)


def test_curves_are_frozen() -> None:
    curve = score_curves(match(GT, DT)).overall
    with pytest.raises(ValueError, match="read-only"):
        curve.f1[0] = 1
    assert "best F1" in repr(curve)
    assert curve.f1.dtype == np.float64


def test_of_equal_f1_the_highest_score_is_best() -> None:
    """One of two objects found by the first detection: 2 / 3; both found by five: 4 / 7; by four: 4 / 6."""
    boxes = [[0, 0, 9, 9], [20, 0, 9, 9]]
    ground_truth = GroundTruth.from_arrays(image_ids=[1, 1], category_ids=[1, 1], boxes=boxes)
    detections = Detections.from_arrays(
        image_ids=[1] * 5,
        category_ids=[1] * 5,
        boxes=[boxes[0], [50, 0, 9, 9], [60, 0, 9, 9], boxes[1], [70, 0, 9, 9]],
        scores=[0.9, 0.8, 0.7, 0.6, 0.5],
    )
    curve = score_curves(match(ground_truth, detections)).overall
    assert curve.f1[0] == curve.f1[3] == curve.f1.max()
    assert curve.best.score == 0.9
