"""The Jaccard index of sets, masks and counts."""

from __future__ import annotations

import doctest
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import ioukit
from ioukit import jaccard_distance, jaccard_index, jaccard_index_of_counts

members = st.frozensets(st.integers(0, 9))


@pytest.mark.parametrize("function", [jaccard_index, jaccard_index_of_counts], ids=lambda f: f.__name__)
def test_examples_run(function: Any) -> None:
    (example,) = doctest.DocTestFinder(recurse=False).find(function, globs={})
    assert len(example.examples) >= 2
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


@given(a=members, b=members)
def test_sets_masks_and_counts_agree(a: frozenset[int], b: frozenset[int]) -> None:
    masks = [np.isin(np.arange(10), list(members)) for members in (a, b)]
    expected = len(a & b) / len(a | b) if a | b else 0.0
    assert jaccard_index(a, b) == jaccard_index(b, a) == expected
    assert jaccard_index(*masks) == jaccard_index(masks[0].reshape(2, 5), masks[1].reshape(2, 5)) == expected
    assert jaccard_index_of_counts(len(a & b), len(a - b), len(b - a)) == expected
    assert jaccard_distance(a, b) == jaccard_distance(*masks) == 1 - expected


@given(a=members, b=members, c=members)
def test_the_distance_is_a_metric(a: frozenset[int], b: frozenset[int], c: frozenset[int]) -> None:
    def distance(x: frozenset[int], y: frozenset[int]) -> float:
        return jaccard_distance(x, y, empty=0)

    assert (distance(a, b) == 0) == (a == b)
    assert distance(a, c) <= distance(a, b) + distance(b, c) + 1e-15


def test_nothing_and_nothing() -> None:
    empty_ones: list[Any] = [set(), np.zeros(3, bool), []]
    for nothing in empty_ones:
        assert jaccard_index(nothing, nothing) == 0.0
        assert jaccard_index(nothing, nothing, empty=1) == 1.0
    assert_array_equal(jaccard_index_of_counts([0, 1], 0, 0, empty=1.0), [1, 1])
    assert np.isnan(jaccard_index_of_counts(0, 0, 0, empty=float("nan")))


def test_the_keys_of_a_dictionary_are_a_set() -> None:
    assert jaccard_index({"a": 1, "b": 2}.keys(), {"a"}) == 0.5


def test_boxes_are_sets_of_pixels() -> None:
    masks = np.zeros((2, 8, 8), bool)
    masks[0, 1:5, 2:8], masks[1, 3:8, 0:4] = True, True
    assert jaccard_index(*masks) == ioukit.elementwise_iou([2, 1, 8, 5], [0, 3, 4, 8])


@pytest.mark.parametrize(
    ("a", "b", "error", "message"),
    [
        ({1}, [True], TypeError, "both be sets or both boolean arrays, got set, list"),
        ([1, 0], [True, False], TypeError, "a must be a set or a boolean array, got dtype int64"),
        ([True, False], ["cat", "dog"], TypeError, "b must be a set or a boolean array, got dtype <U3"),
        ([True], [True, False], ValueError, r"one shape, got \(1,\) and \(2,\)"),
    ],
)
def test_what_is_no_set_is_refused(a: Any, b: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        jaccard_index(a, b)


@pytest.mark.parametrize("bad", [-1, np.nan, np.inf])
def test_what_is_no_count_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="false_negatives must be counts, finite and at least 0"):
        jaccard_index_of_counts(1, 2, [3, bad])
