"""Curves as steps: parts of them are those of the dense arrays, and categories without rows cost nothing."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from ioukit import COCO, Detections, Evaluation, GroundTruth, Protocol, evaluate
from ioukit.evaluation.protocols import OPEN_IMAGES, VOC2007, VOC2012


def _evaluation(categories: int, used: int, protocol: Protocol = COCO, seed: int = 0) -> Evaluation:
    """Random rows of the first few categories. The last of these has detections alone, the one before objects alone."""
    rng = np.random.default_rng(seed)
    of_class = rng.integers(0, used - 1, 60)
    boxes = np.concatenate([rng.uniform(0, 200, (60, 2)), rng.uniform(5, 120, (60, 2))], axis=1)
    image = rng.integers(0, 8, 60)
    gt = GroundTruth.from_arrays(
        image_ids=image, category_ids=of_class, boxes=boxes, categories=np.arange(categories), images=np.arange(8)
    )
    rows = np.repeat(np.flatnonzero(of_class != used - 2), 2)
    found = np.where(rng.random(len(rows)) < 0.2, used - 1, of_class[rows])
    moved = boxes[rows] + rng.normal(0, 4, (len(rows), 4)) * [1, 1, 0, 0]
    scores = rng.choice([0.0, 0.25, 0.5, *rng.random(9)], len(rows))
    dt = Detections.from_arrays(image_ids=image[rows], category_ids=found, boxes=moved, scores=scores)
    return evaluate(gt, dt, protocol)


@pytest.mark.parametrize("categories", [6, 9])
def test_parts_of_curves_are_those_of_the_arrays(categories: int) -> None:
    curves = _evaluation(categories, 6).curves
    dense = {name: getattr(curves, name) for name in ("precision", "scores", "recall", "ap")}
    assert dense["precision"].shape == (10, 101, categories, 4, 3)
    assert np.isnan(dense["recall"][:, 5:]).all()
    np.testing.assert_array_equal(np.isnan(dense["precision"]).all(axis=1), np.isnan(dense["recall"]))
    among = np.arange(categories) % 2 == 0
    for name, array in dense.items():
        for area, cap in np.ndindex(4, 3):
            for thresholds in (slice(None), slice(5, 6)):
                part = array[thresholds, ..., area, cap]
                np.testing.assert_array_equal(curves.at(name, area, cap, thresholds), part)
                chosen = part[..., among]
                defined = curves.defined(name, area, cap, thresholds, among)
                np.testing.assert_array_equal(defined, chosen[~np.isnan(chosen)])
                if name == "scores":
                    continue
                means = np.moveaxis(part, -1, 0).reshape(categories, -1).mean(axis=1)
                np.testing.assert_array_equal(curves.means_of_classes(name, area, cap, thresholds), means)
    at = tuple(places.ravel() for places in np.indices((categories, 4, 3, 10)))
    category, area, cap, threshold = at
    for name in ("precision", "scores"):
        expected = dense[name][threshold, :, category, area, cap]
        np.testing.assert_array_equal(curves.points_of(name, *at), expected)


def test_arrays_cannot_be_written() -> None:
    curves = _evaluation(6, 6).curves
    for array in (curves.precision, curves.scores, curves.recall, curves.ap):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0
    assert curves.precision is curves.precision


@pytest.mark.parametrize("protocol", [COCO, VOC2007, VOC2012, OPEN_IMAGES], ids=lambda one: one.name)
def test_categories_without_rows_change_no_number_and_cost_no_curves(protocol: Protocol) -> None:
    few, many = (_evaluation(categories, 6, protocol) for categories in (6, 500))
    if not protocol.counts_undefined:
        assert dict(many.summary) == pytest.approx(dict(few.summary), rel=0, abs=0, nan_ok=True)
    for one, other in zip(few.per_class, many.per_class[:6], strict=True):
        assert dict(one.summary) == pytest.approx(dict(other.summary), rel=0, abs=0, nan_ok=True)
    assert all(np.isnan(value) for value in many.per_class[-1].summary.values())
    # A hundred bytes for the id and the name of each category, and nothing for its curves.
    assert len(pickle.dumps(many.curves)) < len(pickle.dumps(few.curves)) + 500 * 100


def test_a_confusion_matrix_makes_its_cells_when_they_are_asked_for() -> None:
    found = _evaluation(2_000, 6).confusion(score_threshold=0.0)
    assert len(pickle.dumps(found)) < 200_000
    assert found.counts.shape == (2_001, 2_001)
    assert found.counts.sum() == len(found.true)
    assert repr(pickle.loads(pickle.dumps(found))) == repr(found)
