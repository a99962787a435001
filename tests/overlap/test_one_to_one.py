"""`match_boxes` and the assignment under it, compared with SciPy's solver and with every way to pair."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.optimize import linear_sum_assignment

from ioukit import RotatedBoxes, _core, match_boxes, pairwise_iou
from support.strategies import free_boxes, grid_boxes

if TYPE_CHECKING:
    from ioukit.typing import FloatArray


def full_of_ties(rng: np.random.Generator) -> FloatArray:
    rows, columns = rng.integers(0, 8, 2)
    highest = rng.choice([1, 2, 3, 10])
    costs = rng.integers(-highest if rng.random() < 0.3 else 0, highest + 1, (rows, columns)).astype(np.float64)
    if rng.random() < 0.4:  # thirds and tenths: sums that are equal on paper differ in their last bit
        costs /= rng.choice([3, 10, 7])
    if rng.random() < 0.3:
        costs[rng.random(costs.shape) < rng.choice([0.1, 0.3, 0.6])] = np.inf
    return costs


def assert_as_scipy(costs: FloatArray) -> None:
    try:
        wanted = linear_sum_assignment(costs)
    except ValueError:
        assert _core.assign_rows(costs) is None, costs
        return
    found = _core.assign_rows(costs)
    assert found is not None, costs
    # NumPy's own assertion takes longer than the two assignments.
    assert [rows.tolist() for rows in found] == [rows.tolist() for rows in wanted], repr(costs)


def test_small_tables_full_of_ties_are_assigned_as_by_scipy() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20_000):
        assert_as_scipy(full_of_ties(rng))


@pytest.mark.parametrize("shape", [(40, 40), (30, 80), (80, 30), (1, 50), (50, 1), (0, 3), (3, 0), (0, 0)])
def test_larger_tables_are_assigned_as_by_scipy(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    for _ in range(10):
        assert_as_scipy(rng.random(shape))
        assert_as_scipy(rng.integers(0, 4, shape).astype(np.float64))


def best_sum(overlaps: FloatArray, least: float) -> float:
    """The highest sum over every way to pair rows with columns."""
    table = np.where(overlaps >= least, overlaps, 0)
    if table.shape[0] > table.shape[1]:
        table = table.T
    ways = itertools.permutations(range(table.shape[1]), table.shape[0])
    return max(sum(float(table[row, column]) for row, column in enumerate(way)) for way in ways)


@given(
    st.one_of(grid_boxes(np.float64, max_size=5), free_boxes(np.float64, max_size=5)),
    st.one_of(grid_boxes(np.float64, max_size=5), free_boxes(np.float64, max_size=5)),
    st.sampled_from([1e-9, 0.1, 0.5, 1.0]),
)
def test_no_other_pairs_have_a_higher_sum(first: FloatArray, second: FloatArray, least: float) -> None:
    rows, columns, overlaps = match_boxes(first, second, min_iou=least)
    table = pairwise_iou(first, second)
    assert_array_equal(overlaps, table[rows, columns])
    assert (overlaps >= least).all()
    assert (np.diff(rows) > 0).all()
    assert len(set(columns.tolist())) == len(columns)
    assert overlaps.sum() == pytest.approx(best_sum(table, least), rel=1e-12, abs=1e-12)


def test_two_good_pairs_before_one_very_good_one() -> None:
    first = [[0, 0, 10, 10], [0, 0, 10, 8]]
    second = [[0, 0, 10, 9], [0, 0, 10, 4]]
    rows, columns, overlaps = match_boxes(first, second, min_iou=0.3)
    assert rows.tolist() == [0, 1]
    assert columns.tolist() == [0, 1]
    assert overlaps.tolist() == [0.9, 0.5]
    # Without the worse pair, the best one for the other.
    assert match_boxes(first, second, min_iou=0.6).columns.tolist() == [0]
    assert match_boxes(first, second[::-1], min_iou=0.6).columns.tolist() == [1]


def test_a_pair_at_the_threshold_is_made() -> None:
    assert match_boxes([[0, 0, 2, 2]], [[0, 0, 1, 2]], min_iou=0.5).overlaps.tolist() == [0.5]
    assert len(match_boxes([[0, 0, 2, 2]], [[0, 0, 1, 2]], min_iou=0.5000001).rows) == 0


def test_unequal_labels_are_no_pair() -> None:
    boxes = [[0, 0, 2, 2], [0, 0, 2, 2]]
    found = match_boxes(boxes, boxes, min_iou=0.5, labels1=[1, 2], labels2=[2, 3])
    assert (found.rows.tolist(), found.columns.tolist()) == ([1], [0])


def test_other_overlaps_kinds_and_dtypes() -> None:
    single = np.array([[0, 0, 4, 4]], np.float32)
    inside = np.array([[0, 0, 1, 4], [1, 1, 2, 2]], np.float32)
    found = match_boxes(single, inside, min_iou=0.5, metric="ioa")
    assert found.overlaps.dtype == np.float32
    assert found.columns.tolist() == [0]
    turned = RotatedBoxes([[5, 5, 4, 2, 30], [50, 50, 4, 2, 0]], unit="degrees", sense="clockwise")
    assert match_boxes(turned, turned, min_iou=0.9).columns.tolist() == [0, 1]


def test_nothing_to_match() -> None:
    none = np.zeros((0, 4))
    one = np.array([[0.0, 0, 1, 1]])
    for first, second in [(none, none), (none, one), (one, none)]:
        rows, columns, overlaps = match_boxes(first, second, min_iou=0.5)
        assert (len(rows), len(columns), len(overlaps)) == (0, 0, 0)


def test_what_is_no_second_set_and_no_threshold() -> None:
    with pytest.raises(TypeError, match="boxes2 must be boxes, got None"):
        match_boxes([[0, 0, 1, 1]], None, min_iou=0.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="min_iou must be above 0 and at most 1, got 0"):
        match_boxes([[0, 0, 1, 1]], [[0, 0, 1, 1]], min_iou=0)
