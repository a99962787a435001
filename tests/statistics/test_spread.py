"""Standard errors and their degrees of freedom, by hand and beside SciPy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit.statistics import bootstrap_weights, interval_from_replicates
from ioukit.statistics.resampling import image_groups
from ioukit.statistics.spread import jackknifed, shared, skewness, unseen, variances
from ioukit.statistics.student import t_quantile

if TYPE_CHECKING:
    from collections.abc import Callable

    Statistic = Callable[[np.ndarray[Any, Any]], float]

STATISTICS: dict[str, Statistic] = {
    "mean": np.mean,
    "standard deviation": lambda sample: float(np.std(sample, ddof=1)),
    "ratio": lambda sample: float(sample.sum() / (1 + (sample**2).sum())),
    "upper quartile": lambda sample: float(np.quantile(sample, 0.75)),
}


class Given:
    """What SciPy reads of an earlier result."""

    def __init__(self, replicates: np.ndarray[Any, Any]) -> None:
        self.bootstrap_distribution = replicates


@pytest.mark.parametrize("name", STATISTICS)
def test_limits_of_replicates_are_those_of_scipy(name: str) -> None:
    stats: Any = pytest.importorskip("scipy.stats", reason="these limits are compared with SciPy's")
    statistic = STATISTICS[name]
    for seed, level in enumerate([0.8, 0.95] * 3):
        rng = np.random.default_rng(seed)
        sample = rng.exponential(size=20 + seed)
        weights = bootstrap_weights(np.arange(len(sample)), 199, seed=seed)
        replicates = np.array([statistic(np.repeat(sample, row)) for row in weights])
        # SciPy adds its own replicates to given ones; none here, so that both have the same.
        given = stats.bootstrap((sample,), statistic, n_resamples=0, vectorized=False, method="percentile",
                                confidence_level=level, bootstrap_result=Given(replicates))  # fmt: skip
        ours = interval_from_replicates(statistic(sample), replicates, level=level)
        expected = given.confidence_interval
        np.testing.assert_allclose([ours.low, ours.high], [expected.low, expected.high], rtol=1e-12)
        assert ours.standard_error == pytest.approx(given.standard_error, rel=1e-12)
        assert ours.method == "percentile"


def test_the_jackknife_of_a_mean_is_its_textbook_variance() -> None:
    sample = np.random.default_rng(1).exponential(size=31)
    left = np.array([np.delete(sample, at).mean() for at in range(31)])[:, None]
    variance, df = jackknifed(left, np.zeros(31, np.intp))
    assert variance[0] == pytest.approx(np.var(sample, ddof=1) / 31)
    # The variance of a variance is (m4 - v^2) / n, and that of one with df degrees of freedom 2 v^2 / df.
    apart = (sample - sample.mean()) ** 2
    assert df[0] == pytest.approx(2 * apart.sum() ** 2 / ((apart**2).sum() - apart.sum() ** 2 / 31))


def test_the_jackknife_adds_up_strata() -> None:
    """The difference of the means of two samples: Welch's variance."""
    rng = np.random.default_rng(2)
    one, other = rng.normal(size=9), rng.normal(0, 3, size=14)
    left = [np.delete(one, at).mean() - other.mean() for at in range(9)]
    left += [one.mean() - np.delete(other, at).mean() for at in range(14)]
    variance, _ = jackknifed(np.array(left)[:, None], np.repeat([0, 1], [9, 14]))
    assert variance[0] == pytest.approx(np.var(one, ddof=1) / 9 + np.var(other, ddof=1) / 14)


def test_normal_samples_have_about_the_degrees_of_freedom_of_their_size() -> None:
    rng, found = np.random.default_rng(3), []
    for _ in range(200):
        sample = rng.normal(size=60)
        left = (sample.sum() - sample)[:, None] / 59
        found.append(float(jackknifed(left, np.zeros(60, np.intp))[1][0]))
    assert 55 < np.median(found) < 75


def test_undefined_values_are_left_out() -> None:
    values = np.array([[1.0, np.nan, np.nan], [3.0, 5.0, np.nan], [8.0, 7.0, 2.0]])
    found = variances(values)
    assert found[:2].tolist() == [np.var([1, 3, 8], ddof=1), 2.0]
    assert math.isnan(found[2])
    with_gap = np.array([[1.0], [np.nan], [2.0]])
    assert jackknifed(with_gap, np.zeros(3, np.intp))[0][0] == pytest.approx(2 / 3 * 0.5)


def test_classes_share_their_variance() -> None:
    """Of k - 1 own values and eight of all; a class on one image has those of all alone."""
    clusters, own = np.array([1, 2, 5, 101, 0]), np.array([0.0, 0.08, 0.01, 0.004, np.nan])
    listed = np.ones(5, np.bool_)
    found, df = shared(own, np.full(5, 3.0), clusters, listed)
    of_one = 101 * 0.004  # the median, in which the classes count 1, 4 and 50
    assert found[:4].tolist() == pytest.approx(
        [
            of_one,
            (0.08 + 8 * of_one / 2) / 9,
            (4 * 0.01 + 8 * of_one / 5) / 12,
            (100 * 0.004 + 8 * of_one / 101) / 108,
        ]
    )
    assert df[:4].tolist() == [8, 9, 12, 108]
    # Two classes on more than one image do not tell what all have in common.
    few = shared(own[:3], np.full(3, 3.0), clusters[:3], listed[:3])
    np.testing.assert_array_equal(few[0], own[:3])
    np.testing.assert_array_equal(few[1], np.full(3, 3.0))


def test_classes_that_no_image_has_are_estimated_from_those_on_one_and_two() -> None:
    values = np.array([0.2, 0.4, 0.9, 0.5])
    clusters = np.array([1, 1, 2, 7, 0, 0, 0])
    absent = 2 * 1 / (2 * (1 + 1))
    share = absent / (absent + 4)
    error, found = unseen(values, clusters)
    assert found == share
    assert error == pytest.approx(share * math.sqrt(np.var(values, ddof=1) * (1 / absent + 1 / 4)))
    assert unseen(values, np.array([3, 4, 9, 7, 0, 0, 0])) == (0, 0)  # images of this kind never have those
    assert unseen(values, np.array([1, 1, 1, 7])) == (0, 0)  # all of the list are there
    # Two classes have objects, but none of this size.
    assert unseen(values, np.array([3, 4, 9, 7, 0, 0, 0]), 2)[1] == 2 / (2 + 4)
    assert unseen(values, clusters, 1)[1] == max(absent, 1) / (max(absent, 1) + 4)
    assert unseen(values[:1], np.array([1, 0])) == (0, 0)


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
    found = interval_from_replicates(0.25, [0.25] * 20)
    assert (found.low, found.high, found.standard_error) == (0.25, 0.25, 0)


@pytest.mark.parametrize("level", [0, 1, -0.1, 95])
def test_a_level_outside_of_0_to_1_is_refused(level: float) -> None:
    with pytest.raises(ValueError, match="level must be above 0 and below 1, got"):
        interval_from_replicates(0.5, [0.5], level=level)


def test_replicates_have_one_axis() -> None:
    with pytest.raises(ValueError, match=r"replicates must have one axis, got the shape \(1, 1\)"):
        interval_from_replicates(0.5, [[0.5]])


@pytest.mark.parametrize(("clusters", "groups"), [(7, 7), (400, 400), (401, 201), (5000, 385)])
def test_groups_to_leave_out_are_of_about_equal_size(clusters: int, groups: int) -> None:
    left = image_groups(np.arange(clusters), None, None).left_out(0)
    sizes = np.bincount(left.group)
    assert len(sizes) == len(left.stratum) == groups
    assert np.ptp(sizes) <= 1
    np.testing.assert_array_equal(left.weights(1, 3), [left.group != 1, left.group != 2])


def test_groups_and_parts_keep_clusters_and_strata_together() -> None:
    clusters = np.arange(60) // 2
    strata = clusters % 3
    groups = image_groups(np.arange(60), strata, clusters)
    left = groups.left_out(5)
    for group in range(len(left.stratum)):
        assert set(strata[left.group == group]) == {left.stratum[group]}
    for first, second in left.group.reshape(-1, 2):
        assert first == second
    weights, cuts = groups.parts(5)
    assert len(weights) == len(cuts) == 10 * (2 + 4 + 8)
    assert weights.reshape(len(weights), 30, 2).std(axis=2).max() == 0
    for start, count in [(0, 2), (2, 4), (6, 8)]:
        part = weights[start : start + count]
        assert cuts[start : start + count].tolist() == [count] * count
        np.testing.assert_array_equal(part.sum(axis=0), np.ones(60))
        sizes = np.array([[row[strata == stratum].sum() / 2 for stratum in range(3)] for row in part])
        assert np.ptp(sizes, axis=0).max() <= 1


@pytest.mark.parametrize(("clusters", "cuts"), [(3, []), (4, [2]), (9, [2, 4]), (16, [2, 4, 8])])
def test_few_clusters_are_cut_into_few_parts(clusters: int, cuts: list[int]) -> None:
    weights, found = image_groups(np.arange(clusters), None, None).parts(0)
    assert sorted(set(found.tolist())) == cuts
    assert weights.shape == (10 * sum(cuts), clusters)


@pytest.mark.parametrize("df", [1.0, 7.5, 1e9])
def test_the_quantile_of_a_level_that_rounds_to_1_ends(df: float) -> None:
    assert t_quantile((1 + math.nextafter(1, 0)) / 2, df) > 5
    assert t_quantile(1.0, df) == math.inf
    assert t_quantile(0.975, 1e9) == pytest.approx(1.959963984540054)


def test_a_number_that_few_groups_lower_much_is_lopsided() -> None:
    rng = np.random.default_rng(3)
    left = np.stack([rng.exponential(size=90), -rng.exponential(size=90), np.full(90, 0.5)], axis=1)
    left[7, 0] = math.nan
    found = skewness(left, np.zeros(90, np.intp))
    defined = left[~np.isnan(left[:, 0]), 0]
    # Without a group the number is high, so the group lowers it.
    stats: Any = pytest.importorskip("scipy.stats", reason="compared with SciPy")
    assert found[0] == pytest.approx(-stats.skew(defined) / math.sqrt(89))
    assert found[1] == pytest.approx(-stats.skew(left[:, 1]) / math.sqrt(90))
    assert found[0] < 0 < found[1]
    assert found[2] == 0
    # Strata have means of their own.
    apart = np.concatenate([left[:, 1], left[:, 1] + 7])[:, None]
    assert skewness(apart, np.repeat([0, 1], 90))[0] == pytest.approx(found[1] / math.sqrt(2))
