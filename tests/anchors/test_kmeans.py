"""Anchors that fit a dataset."""

# mypy: disable-error-code="arg-type"
# Wrong arguments are tested here, and strings from tables.
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import support.strategies  # noqa: F401 - loads the profile
from ioukit import Boxes
from ioukit.anchors import fit_anchors, measure_anchors
from ioukit.overlap.shape import pairwise_shape_iou

CLUSTERS = np.array([[10, 12], [40, 20], [30, 90], [200, 150]], float)


def sizes(count: int = 400, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return CLUSTERS[rng.integers(0, 4, count)] * np.exp(rng.normal(0, 0.05, (count, 2)))


def shape_iou(a: Any, b: Any) -> float:
    inter = min(a[0], b[0]) * min(a[1], b[1])
    return float(inter / (a[0] * a[1] + b[0] * b[1] - inter))


@pytest.mark.parametrize("method", ["kmeans", "genetic"])
@pytest.mark.parametrize("seed", range(5))
def test_clear_clusters_are_found(method: Any, seed: int) -> None:
    fit = fit_anchors(sizes(), 4, method=method, generations=200, seed=seed)
    assert_allclose(fit.anchors, CLUSTERS, rtol=0.05)
    assert fit.average_iou > 0.9
    assert fit.recall == fit.ratio_recall == 1
    assert fit.counts.sum() == 400


def test_numbers_are_those_of_the_definition() -> None:
    data = np.random.default_rng(1).uniform(2, 300, (150, 2))
    fit = fit_anchors(data, 5)
    best = [max(shape_iou(size, anchor) for anchor in fit.anchors) for size in data]
    assert fit.average_iou == pytest.approx(np.mean(best))
    assert fit.recall == np.mean(np.array(best) >= 0.5)
    near = [any(max(w / a, a / w, h / b, b / h) < 4 for a, b in fit.anchors) for w, h in data]
    assert fit.ratio_recall == np.mean(near)
    assert (np.diff(fit.anchors.prod(axis=1)) >= 0).all()
    again = measure_anchors(data, fit.anchors[::-1])
    assert_array_equal(again.anchors, fit.anchors)
    assert again.average_iou == fit.average_iou
    assert_array_equal(again.counts, fit.counts)


def test_a_seed_decides_and_mutations_never_harm() -> None:
    data = np.random.default_rng(2).lognormal(3, 1, (500, 2))
    one, same = (fit_anchors(data, 6, seed=3) for _ in range(2))
    assert_array_equal(one.anchors, same.anchors)
    genetic, again = (fit_anchors(data, 6, method="genetic", generations=300, seed=3) for _ in range(2))
    assert_array_equal(genetic.anchors, again.anchors)
    assert genetic.average_iou > one.average_iou
    assert fit_anchors(Boxes(np.concatenate([data * 0, data], axis=1)), 6, seed=3).average_iou == one.average_iou


@given(st.integers(0, 10_000), st.integers(1, 6))
def test_as_many_anchors_as_sizes_fit_them_all(seed: int, k: int) -> None:
    data = np.random.default_rng(seed).integers(1, 1000, (k, 2)).astype(float)
    different = len(np.unique(data, axis=0))
    fit = fit_anchors(np.repeat(data, 3, axis=0), different, seed=seed)
    assert fit.average_iou == pytest.approx(1)
    assert len(fit.anchors) == different


def test_large_sets_go_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = fit_anchors(sizes(), 4)
    monkeypatch.setattr("ioukit.anchors.kmeans._BLOCK", 33)
    parts = fit_anchors(sizes(), 4)
    assert_array_equal(whole.anchors, parts.anchors)
    assert whole.ratio_recall == parts.ratio_recall


def test_anchors_are_shared_by_scales() -> None:
    fit = fit_anchors(sizes(), 4)
    small, large = fit.per_scale(2)
    assert_array_equal(np.concatenate([small, large]), fit.anchors)
    with pytest.raises(ValueError, match="4 anchors cannot be shared evenly by 3 scales"):
        fit.per_scale(3)
    with pytest.raises(ValueError, match="read-only"):
        fit.anchors[0] = 1


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: fit_anchors([[1, 2], [1, 2]], 2), "k must be from 1 to 1, the number of different sizes, got 2"),
        (lambda: fit_anchors([[1, 2]], 0), "k must be from 1 to 1"),
        (lambda: fit_anchors([[1, 2], [0, 3]], 1), r"sizes\[1\] is \[0.0, 3.0\]: a size without area"),
        (lambda: fit_anchors([[1, 2], [np.nan, 3]], 1), r"sizes\[1\] is \[nan, 3.0\]: a size must be finite"),
        (lambda: fit_anchors([], 1), "sizes must have at least one row"),
        (lambda: fit_anchors([[1, 2, 3]], 1), r"sizes must have shape \(N, 2\)"),
        (lambda: fit_anchors([[1, 2]], 1, method="x"), "unknown method 'x'"),
        (lambda: measure_anchors([[1, 2]], [[0, 1]]), r"anchors\[0\] is \[0.0, 1.0\]"),
    ],
)
def test_errors(call: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()


def test_shape_iou_is_that_of_boxes_at_one_centre() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.uniform(0, 9, (5, 2)), rng.uniform(0, 9, (7, 2))
    expected = [[shape_iou(x, y) for y in b] for x in a]
    assert_allclose(pairwise_shape_iou(a, b), expected)
    assert pairwise_shape_iou([[0, 3]], [[0, 0]]).tolist() == [[0]]
    assert pairwise_shape_iou(np.float32([[2, 2]]), np.float32([[2, 2]])).dtype == np.float32
    assert pairwise_shape_iou([], [[1, 1]]).shape == (0, 1)
