"""Corrected p-values beside plain definitions, SciPy and statsmodels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from ioukit.statistics import adjust_p_values
from support import strategies as _strategies  # noqa: F401 - loads the profile

P_VALUES = st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.01, 0.05, 1.0, float("nan")]), max_size=12)


def rejected_by_holm(p_values: list[float], level: float) -> list[bool]:
    """Step by step: the smallest p-value against level / n, the next one against level / (n - 1), until one fails."""
    left = [at for at, p in enumerate(p_values) if not math.isnan(p)]
    rejected = [False] * len(p_values)
    while left:
        at = min(left, key=lambda each: p_values[each])
        if p_values[at] * len(left) > level:
            break
        rejected[at] = True
        left.remove(at)
    return rejected


def rejected_by_benjamini_hochberg(p_values: list[float], level: float) -> list[bool]:
    """All up to the largest p-value that is at most level * rank / n."""
    tested = sorted(p for p in p_values if not math.isnan(p))
    limit = max((p for rank, p in enumerate(tested, 1) if p * (len(tested) / rank) <= level), default=-1.0)
    return [p <= limit for p in p_values]


@given(P_VALUES, st.sampled_from([0.001, 0.05, 0.3, 0.999]))
def test_the_adjusted_values_reject_what_the_definitions_reject(p_values: list[float], level: float) -> None:
    assert_array_equal(adjust_p_values(p_values, "holm") <= level, rejected_by_holm(p_values, level))
    found = adjust_p_values(p_values, "benjamini-hochberg")
    assert_array_equal(found <= level, rejected_by_benjamini_hochberg(p_values, level))
    assert_array_equal(adjust_p_values(p_values, "none"), p_values)


@given(P_VALUES)
def test_undefined_values_do_not_count(p_values: list[float]) -> None:
    given_values = np.array(p_values)
    tested = ~np.isnan(given_values)
    for method in ("holm", "benjamini-hochberg"):
        found = adjust_p_values(p_values, method)
        assert_array_equal(np.isnan(found), ~tested)
        assert_array_equal(found[tested], adjust_p_values(given_values[tested], method))
        assert (found[tested] >= given_values[tested]).all()
        assert (found[tested] <= 1).all()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_the_values_are_those_of_scipy(p_values: list[float]) -> None:
    stats: Any = pytest.importorskip("scipy.stats", reason="compared with SciPy")
    assert_allclose(
        adjust_p_values(p_values, "benjamini-hochberg"), stats.false_discovery_control(p_values), rtol=1e-12
    )


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_the_values_are_those_of_statsmodels(p_values: list[float]) -> None:
    multitest: Any = pytest.importorskip("statsmodels.stats.multitest", reason="compared with statsmodels")
    for ours, theirs in (("holm", "holm"), ("benjamini-hochberg", "fdr_bh")):
        expected = multitest.multipletests(p_values, method=theirs)[1]
        assert_allclose(adjust_p_values(p_values, ours), expected, rtol=1e-12)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("p_values", "method", "message"),
    [
        ([0.5, 1.5], "holm", r"p_values must be within \[0, 1\], got 1.5 at position 1"),
        ([[0.5]], "holm", r"p_values must have the shape \(N,\), got \(1, 1\)"),
        ([0.5], "bonferroni", "unknown correction 'bonferroni'; choose from holm, benjamini-hochberg, none"),
    ],
)
def test_what_is_no_p_value_is_refused(p_values: Any, method: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        adjust_p_values(p_values, method)
