"""Limits of intervals beside SciPy's bootstrap, and by hand."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioukit.statistics import bootstrap_weights, interval_from_replicates
from ioukit.statistics.limits import acceleration_of, find_limits
from support import strategies as _strategies  # noqa: F401 - loads the profile

if TYPE_CHECKING:
    from collections.abc import Callable

    Statistic = Callable[[np.ndarray[Any, Any]], float]

stats: Any = pytest.importorskip("scipy.stats", reason="these limits are compared with SciPy's")

STATISTICS: dict[str, Statistic] = {
    "mean": np.mean,
    "standard deviation": lambda sample: float(np.std(sample, ddof=1)),
    "ratio": lambda sample: float(sample.sum() / (1 + (sample**2).sum())),
    "upper quartile": lambda sample: float(np.quantile(sample, 0.75)),
}


def left_out(sample: np.ndarray[Any, Any], statistic: Statistic) -> np.ndarray[Any, Any]:
    return np.array([statistic(np.delete(sample, at)) for at in range(len(sample))])


@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("method", ["percentile", "BCa"])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_limits_are_those_of_scipy(name: str, method: str, level: float) -> None:
    statistic = STATISTICS[name]
    for seed in range(10):
        rng = np.random.default_rng(seed)
        sample = rng.exponential(size=20 + seed)
        weights = bootstrap_weights(np.arange(len(sample)), 499, seed=seed)
        replicates = np.array([statistic(np.repeat(sample, row)) for row in weights])
        # SciPy adds its own replicates to given ones; none here, so that both have the same.
        given = stats.bootstrap((sample,), statistic, n_resamples=0, vectorized=False, method=method,
                                confidence_level=level, bootstrap_result=Given(replicates))  # fmt: skip
        ours = interval_from_replicates(
            statistic(sample),
            replicates,
            level=level,
            left_out=left_out(sample, statistic) if method == "BCa" else None,
        )
        assert ours.method == method.lower()
        expected = given.confidence_interval
        np.testing.assert_allclose([ours.low, ours.high], [expected.low, expected.high], rtol=1e-12)
        assert ours.standard_error == pytest.approx(given.standard_error, rel=1e-12)


class Given:
    """What SciPy reads of an earlier result."""

    def __init__(self, replicates: np.ndarray[Any, Any]) -> None:
        self.bootstrap_distribution = replicates


def test_strata_count_as_the_samples_of_scipy() -> None:
    rng = np.random.default_rng(5)
    one, other = rng.exponential(size=14), rng.exponential(2, size=23)

    def statistic(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> float:
        return float(a.mean() / b.std(ddof=1))

    weights = bootstrap_weights(np.arange(37), 499, strata=[0] * 14 + [1] * 23)
    replicates = np.array([statistic(np.repeat(one, row[:14]), np.repeat(other, row[14:])) for row in weights])
    without = [statistic(np.delete(one, at), other) for at in range(14)]
    without += [statistic(one, np.delete(other, at)) for at in range(23)]
    ours = interval_from_replicates(
        statistic(one, other), replicates, left_out=without, groups=[np.arange(14), np.arange(14, 37)]
    )
    theirs = stats.bootstrap((one, other), statistic, n_resamples=0, vectorized=False, method="BCa",
                             bootstrap_result=Given(replicates)).confidence_interval  # fmt: skip
    np.testing.assert_allclose([ours.low, ours.high], [theirs.low, theirs.high], rtol=1e-12)


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=30))
def test_the_acceleration_of_a_mean_is_its_skewness(numbers: list[float]) -> None:
    """Of a mean, it is a sixth of the skewness over the square root of the number."""
    sample = np.array(numbers)
    if np.ptp(sample) < 1e-3:
        return
    found = acceleration_of(left_out(sample, np.mean))
    assert found == pytest.approx(stats.skew(sample) / (6 * math.sqrt(len(sample))), abs=1e-6)


@given(st.lists(st.floats(-1, 1), min_size=8, max_size=60), st.floats(-1, 1), st.lists(st.floats(-1, 1), max_size=9))
def test_negated_numbers_have_negated_limits_to_the_last_bit(
    drawn: list[float], value: float, without: list[float]
) -> None:
    replicates, left = np.array(drawn), np.array(without)
    plain = find_limits(value, replicates, 0.9, left_out=left)
    negated = find_limits(-value, -replicates, 0.9, left_out=-left)
    assert (plain.low, plain.high) == (-negated.high, -negated.low)
    assert plain[2:] == negated[2:]
    assert plain.low <= plain.high


def test_bca_gives_way_where_it_is_undefined() -> None:
    replicates = np.linspace(0, 1, 101)
    left = np.linspace(0.4, 0.6, 9)
    assert find_limits(0.4, replicates, 0.9, left_out=left).method == "bca"
    percentiles = find_limits(0.4, replicates, 0.9)
    assert (percentiles.low, percentiles.high) == pytest.approx((0.05, 0.95))
    for value, without in [
        (-0.1, left),  # all replicates are above the value
        (1.1, left),
        (0.4, np.append(left, np.nan)),  # undefined without one cluster
    ]:
        assert find_limits(value, replicates, 0.9, left_out=without) == percentiles
    # One cluster of many decides: at a level close to 1, a limit would lie beyond the pole of the correction.
    skewed = np.append(np.full(99, 0.4), 0.0)
    assert find_limits(0.4, replicates, 0.9, left_out=skewed).method == "bca"
    for one in (skewed, -skewed):
        assert find_limits(0.4, replicates, 1 - 1e-10, left_out=one) == find_limits(0.4, replicates, 1 - 1e-10)


def test_undefined_replicates_are_counted_and_left_out() -> None:
    found = interval_from_replicates(0.5, [0.4, np.nan, 0.6, np.nan], level=0.5, key="x")
    assert found.undefined == 0.5
    assert (found.low, found.high) == pytest.approx((0.45, 0.55))
    assert found.to_dict()["low"] == found.low
    for value, replicates in [(np.nan, [0.1, 0.2]), (0.5, [np.nan, np.nan]), (0.5, [0.5, np.nan])]:
        undefined = interval_from_replicates(value, replicates)
        assert math.isnan(undefined.low)
        assert math.isnan(undefined.high)
        assert undefined.to_dict()["standard_error"] is None


def test_equal_replicates_give_the_value() -> None:
    found = interval_from_replicates(0.25, [0.25] * 20, left_out=[0.25] * 5)
    assert (found.low, found.high, found.standard_error, found.method) == (0.25, 0.25, 0, "bca")


@pytest.mark.parametrize("level", [0, 1, -0.1, 95])
def test_a_level_outside_of_0_to_1_is_refused(level: float) -> None:
    with pytest.raises(ValueError, match="level must be above 0 and below 1, got"):
        interval_from_replicates(0.5, [0.5], level=level)


def test_replicates_have_one_axis() -> None:
    with pytest.raises(ValueError, match=r"replicates must have one axis, got the shape \(1, 1\)"):
        interval_from_replicates(0.5, [[0.5]])


def test_the_acceleration_does_not_depend_on_the_unit() -> None:
    left = np.array([0.1, 0.2, 0.2, 0.7])
    assert acceleration_of(left) != 0
    for unit in (1e-200, 1e-90, 1e200):
        assert acceleration_of(unit * left) == pytest.approx(acceleration_of(left), rel=1e-12)
    assert acceleration_of(np.full(4, 0.1)) == 0
    assert acceleration_of(np.zeros(4)) == 0
