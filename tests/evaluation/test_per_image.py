"""Counts and scores of every image."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.small_scene import DT, GT
from ioukit import Detections, GroundTruth, evaluate
from ioukit.evaluation import match, outcomes, per_image


def test_numbers_that_can_be_counted() -> None:
    images = evaluate(GT, DT).per_image()
    assert images.image_ids.tolist() == [1, 2, 3]
    assert images.num_ground_truth.tolist() == [4, 1, 0]
    assert images.num_detections.tolist() == [7, 1, 1]
    assert images.true_positives.tolist() == [1, 1, 0]
    assert images.false_positives.tolist() == [6, 0, 1]
    assert images.false_negatives.tolist() == [3, 0, 0]
    np.testing.assert_array_equal(images.precision, [1 / 7, 1, 0])
    np.testing.assert_array_equal(images.recall, [1 / 4, 1, np.nan])
    np.testing.assert_array_equal(images.f1, [2 / 11, 1, 0])
    np.testing.assert_array_equal(images.mean_iou, [80 / 120, 1, np.nan])
    assert images.worst(10).tolist() == [0, 2], "an image without an error is not among the worst"
    assert images.worst(1).tolist() == [0]
    assert images.worst(0).tolist() == []
    with pytest.raises(ValueError, match="n must not be negative, got -1"):
        images.worst(-1)


def test_outcomes_of_another_table_are_refused() -> None:
    became = outcomes(match(GT, DT))
    empty = type(DT).from_arrays(image_ids=[], category_ids=[], boxes=[], scores=[])
    with pytest.raises(ValueError, match="expected the outcomes of this table, got those of another"):
        per_image(match(GT, empty), became)


def test_of_equally_many_errors_the_lower_f1_then_the_lower_id_is_worse() -> None:
    box = [0, 0, 9, 9]
    ground_truth = GroundTruth.from_arrays(
        image_ids=[1, 1, 2, 3, 3], category_ids=[1] * 5, boxes=[box, [50, 0, 9, 9], box, box, [50, 0, 9, 9]]
    )
    detections = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[box], scores=[0.9])
    images = evaluate(ground_truth, detections).per_image()
    assert (images.false_positives + images.false_negatives).tolist() == [1, 1, 2]
    assert images.worst(3).tolist() == [2, 1, 0]
    nothing = Detections.from_arrays(image_ids=[], category_ids=[], boxes=[], scores=[])
    assert evaluate(ground_truth, nothing).per_image().worst(3).tolist() == [0, 2, 1]
