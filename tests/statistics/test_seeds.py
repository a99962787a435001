"""Several runs of two models: both sources of variance, beside the variance of a model whose parts are known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ioukit import evaluate
from ioukit.evaluation import Evaluation
from ioukit.statistics import SeedComparison, bootstrap_weights, compare_seeds, replicate
from ioukit.statistics.seeds import _Side
from ioukit.statistics.student import t_quantile, t_tail
from support import strategies as _strategies  # noqa: F401 - loads the profile
from support.two_models import ground_truth, model, pair


def runs(seed: int, count: int, *, images: int = 12, **options: Any) -> list[Evaluation]:
    truth = ground_truth(5, images=images)
    return [evaluate(truth, model(truth, 50 * seed + k, **options)) for k in range(count)]


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 1000), st.integers(2, 4), st.integers(2, 4))
def test_exchanging_the_models_changes_the_signs_alone(seed: int, first: int, second: int) -> None:
    a, b = runs(seed, first), runs(seed + 1, second, found=0.95)
    one, other = (compare_seeds(*sides, replicates=20, seed=seed) for sides in ((a, b), (b, a)))
    assert one.num_runs == other.num_runs[::-1] == (first, second)
    for here, there in zip(one.differences, other.differences, strict=True):
        if math.isnan(here.difference):
            assert math.isnan(there.low)
            continue
        assert (here.difference, here.low, here.high) == (-there.difference, -there.high, -there.low)
        assert (here.a, here.values_a, here.variance_images) == (there.b, there.values_b, there.variance_images)
        assert (here.variance_seeds, here.p_value, here.detectable) == (
            there.variance_seeds, there.p_value, there.detectable
        )  # fmt: skip


def test_the_numbers_are_those_of_their_definitions() -> None:
    a, b = runs(1, 3), runs(2, 2, found=0.6)
    comparison = compare_seeds(a, b, keys=["AP", "AP50/car"], replicates=60, seed=4, level=0.9)
    found = comparison["AP"]
    weights = bootstrap_weights(a[0].matches.image_ids, 60, seed=4)
    drawn = [[replicate(one.matches, weights, measures=["AP"]).values[:, 0] for one in side] for side in (a, b)]
    means = [np.mean(side, axis=0) for side in drawn]
    assert found.values_a == tuple(one.summary["AP"] for one in a)
    assert found.difference == pytest.approx(np.mean(found.values_b) - np.mean(found.values_a))
    assert found.variance_images == pytest.approx(np.var(means[1] - means[0], ddof=1))
    seeds = []
    for values, side, mean in zip((found.values_a, found.values_b), drawn, means, strict=True):
        count = len(side)
        twice = (np.mean([np.var(one, ddof=1) for one in side]) - np.var(mean, ddof=1)) * count / (count - 1)
        seeds.append(max(0.0, np.var(values, ddof=1) - max(twice, 0)) / count)
    assert found.variance_seeds == pytest.approx(sum(seeds))
    assert found.standard_error == pytest.approx(math.sqrt(found.variance_images + found.variance_seeds))
    assert found.share_of_seeds == pytest.approx(found.variance_seeds / found.standard_error**2)
    assert found.high - found.difference == pytest.approx(
        t_quantile(0.95, found.degrees_of_freedom) * found.standard_error
    )
    assert found.is_significant == (found.p_value <= 0.1)
    assert found.detectable > 2 * found.standard_error
    assert comparison["AP50/car"].values_b == tuple(one.per_class["car"].summary["AP50"] for one in b)
    assert comparison.to_dict()["num_runs"] == [3, 2]
    assert repr(comparison).startswith("SeedComparison(AP ")
    assert repr(found).startswith("SeedDifference(AP: ")
    with pytest.raises(KeyError, match="the comparison has no number 'AR1'; there are AP, AP50/car"):
        comparison["AR1"]


def test_equal_runs_do_not_differ() -> None:
    a = runs(1, 3)
    found: SeedComparison = compare_seeds(a, a, replicates=20)
    for one in found.differences:
        assert math.isnan(one.difference) or (one.difference, one.p_value, one.variance_images) == (0, 1, 0)
    same = compare_seeds([a[0]] * 2, [a[0]] * 2, keys="AP", replicates=20)["AP"]
    assert (same.low, same.high, same.standard_error, same.p_value, same.detectable) == (0, 0, 0, 1, 0)
    assert math.isnan(same.share_of_seeds)


def test_what_one_side_cannot_have_is_undefined() -> None:
    truth = ground_truth(5)
    large = truth.take(truth.boxes[:, 2:].prod(axis=1) >= 96**2)
    a = [evaluate(large, model(large, k)) for k in range(3)]
    found = compare_seeds(a, a[::-1], keys=["AP", "APs"], replicates=20)
    assert math.isfinite(found["AP"].low)
    none = found["APs"]
    for name in ("difference", "low", "high", "standard_error", "variance_images", "p_value", "detectable"):
        assert math.isnan(getattr(none, name)), name
    assert none.undefined == 1


def simulated(
    rng: np.random.Generator, count: int, images: int, parts: tuple[float, float, float]
) -> np.ndarray[Any, Any]:
    """(S, I) a number of each run on each image: images, seeds, and seeds on images vary."""
    of_image, of_seed, of_both = parts
    return (
        of_image * rng.normal(size=images) + of_seed * rng.normal(size=(count, 1))
        + of_both * rng.normal(size=(count, images))
    )  # fmt: skip


@pytest.mark.parametrize("parts", [(0.3, 0.05, 0.5), (0.3, 0.0, 0.5), (0.3, 0.2, 0.1)])
def test_variances_are_those_of_a_known_model(parts: tuple[float, float, float]) -> None:
    """The mean over images of a model whose variances are known; each part of the variance is found."""
    rng = np.random.default_rng(0)
    images, count = 100, 3
    of_seed = []
    for _ in range(200):
        values = simulated(rng, count, images, parts)
        weights = rng.multinomial(images, np.full(images, 1 / images), 200) / images  # as the bootstrap draws, but fast
        side = _Side(values.mean(axis=1), values @ weights.T)
        of_seed.append(side.variance_of_seed(np.ones(200, np.bool_)))
    expected = parts[1] ** 2 / count
    noise = (parts[1] ** 2 + parts[2] ** 2 / images) / count
    # A variance of three runs is uncertain by its own size; the negative ones count as 0.
    assert (
        expected - 3 * noise / math.sqrt(200)
        < np.mean(of_seed)
        < expected + 0.45 * parts[2] ** 2 / images / count + (3 * noise / math.sqrt(200))
    )


@given(st.floats(0.5, 1e5), st.floats(-60, 60))
def test_student_is_that_of_scipy(df: float, t: float) -> None:
    stats: Any = pytest.importorskip("scipy.stats", reason="compared with SciPy")
    assert t_tail(t, df) == pytest.approx(stats.t.sf(t, df), rel=1e-7, abs=1e-300)


@given(st.floats(0.5, 1e9), st.floats(1e-6, 1 - 1e-6))
def test_quantiles_of_student_are_those_of_scipy(df: float, p: float) -> None:
    stats: Any = pytest.importorskip("scipy.stats", reason="compared with SciPy")
    assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-6, abs=1e-9)
    assert t_quantile(1 - p, df) == pytest.approx(-t_quantile(p, df), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("sides", "options", "message"),
    [
        (
            (1, 2),
            {},
            "a has 1 run, at least two are needed to tell how much runs differ; compare takes one run of each",
        ),
        ((2, 0), {}, "b has 0 runs, at least two"),
        ((2, 2), {"keys": "AP/dog"}, "no number 'AP/dog'"),
        ((2, 2), {"level": 2}, "level must be above 0 and below 1"),
        ((2, 2), {"power": 0.1}, "power must be at least 0.5"),
        ((2, 2), {"clusters": [1] * 12}, "there is 1 cluster; at least two clusters are needed"),
    ],
)
def test_what_cannot_be_compared_is_refused(sides: tuple[int, int], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare_seeds(runs(1, sides[0]), runs(2, sides[1]), replicates=2, **options)


def test_runs_on_other_ground_truth_are_refused() -> None:
    with pytest.raises(ValueError, match=r"a\[0\] and b\[1\] were not evaluated on the same ground truth"):
        compare_seeds(runs(1, 2), [*runs(2, 1), pair(0, images=13)[0]], replicates=2)
