"""LRP and oLRP against the formula of the paper, with matching anew at every score."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import support.strategies  # noqa: F401 - the profile
from evaluation.plain_measures import plain_counts, plain_lrp
from evaluation.small_scene import DT, GT
from evaluation.test_analysis import SCORES, scenes
from ioukit import COCO, Detections, GroundTruth, evaluate
from ioukit.evaluation import LRPPoint, lrp_errors, match


def _numbers(point: LRPPoint) -> tuple[float, ...]:
    return point.lrp, point.localisation, point.false_positive, point.false_negative


@given(scenes(), st.sampled_from([0.5, 0.75]))
def test_every_score_has_the_error_of_the_formula(data: tuple[GroundTruth, Detections], iou: float) -> None:
    errors = lrp_errors(match(*data), iou_threshold=iou)
    for categories, curve in [*zip([{1}, {2}, {3}], errors.per_class, strict=True), ({1, 2, 3}, errors.overall)]:
        lowest = math.nan
        for score in [2.0, *sorted(set(SCORES), reverse=True), -1.0]:
            counts = plain_counts(*data, categories, iou, score)
            point, expected = curve.at(score), plain_lrp(counts, iou)
            np.testing.assert_allclose(_numbers(point), expected, rtol=1e-12, atol=1e-15)
            assert point.true_positives == len(counts.overlaps)
            assert (point.false_positives, point.false_negatives) == counts[1:]
            assert math.isnan(point.lrp) or 0 <= point.lrp <= 1 + 1e-12
            lowest = np.fmin(lowest, expected[0]) if counts.overlaps else lowest
        best = curve.best
        if math.isnan(lowest):
            assert math.isnan(best.score)
            np.testing.assert_equal(best.lrp, 1.0 if best.false_negatives else math.nan)
        else:
            assert best.lrp <= lowest + 1e-12
            np.testing.assert_array_equal(_numbers(best), _numbers(curve.at(best.score)))
            assert not (curve.lrp[curve.scores > best.score] <= best.lrp).any()


def test_numbers_that_can_be_counted() -> None:
    """Class cat: IoU 1 at 0.99 and 2/3 at 0.95; the third object is never found; then false positives alone."""
    errors = evaluate(GT, DT).lrp_errors(iou_threshold=0.5)
    cat, dog, cow = errors.per_class
    np.testing.assert_allclose(cat.lrp[:3], [2 / 3, (1 / 3 / 0.5 + 1) / 3, (1 / 3 / 0.5 + 2) / 4])
    np.testing.assert_allclose(_numbers(cat.best), [5 / 9, 1 / 6, 0, 1 / 3])
    assert (cat.best.score, cat.best.true_positives, cat.best.false_negatives) == (0.95, 2, 1)
    # Objects without detections; neither.
    assert (dog.best.lrp, dog.best.false_negative, dog.best.false_negatives) == (1, 1, 2)
    assert all(map(math.isnan, (dog.best.score, dog.best.localisation, dog.best.false_positive)))
    assert all(map(math.isnan, _numbers(cow.best)))
    assert errors.mean == {
        "oLRP": pytest.approx((5 / 9 + 1) / 2),
        "oLRP_localisation": pytest.approx(1 / 6),
        "oLRP_false_positive": 0.0,
        "oLRP_false_negative": pytest.approx((1 / 3 + 1) / 2),
    }
    np.testing.assert_allclose(errors.olrp, [5 / 9, 1, math.nan])
    np.testing.assert_array_equal(errors.best_thresholds, [0.95, math.nan, math.nan])
    assert errors.overall.best.false_negatives == 3
    assert repr(errors) == "LRPErrors(oLRP=0.7778, 3 classes, IoU 0.5, area 'all')"
    assert repr(cat) == "LRPCurve(9 scores, oLRP 0.5556 at 0.95)"


def test_no_class_has_an_object() -> None:
    nothing = GroundTruth.from_arrays(image_ids=[], category_ids=[], boxes=[], images=[1], categories=[1])
    found = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 1, 1]], scores=[1])
    errors = lrp_errors(match(nothing, found))
    assert all(map(math.isnan, errors.mean.values()))
    assert errors.per_class[0].at(0.5).lrp == 1
    assert math.isnan(errors.per_class[0].at(2).lrp)


def test_what_cannot_be_asked() -> None:
    table = match(GT, DT, COCO.replace(iou_thresholds=[0.5, 1.0]))
    with pytest.raises(ValueError, match="it needs an IoU threshold below 1, got 1"):
        lrp_errors(table, iou_threshold=1.0)
    with pytest.raises(ValueError, match=r"no IoU threshold 0.4; there are 0.5, 1.0"):
        lrp_errors(table, iou_threshold=0.4)
    with pytest.raises(ValueError, match="no area range 'tiny'"):
        lrp_errors(table, area_range="tiny")
    with pytest.raises(ValueError, match="score must be a number, got nan"):
        lrp_errors(table).overall.at(math.nan)
