"""Several training runs of each of two models: is it the method, the seed, or the choice of images?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit._checks import pluralize
from ioukit._columns import Frozen, record
from ioukit._plain_values import plain_value, plain_values
from ioukit.evaluation import Evaluation
from ioukit.evaluation._same_scene import check_same_ground_truth
from ioukit.statistics.detectable import check_power, detectable_difference
from ioukit.statistics.differences import ComparedNumber, find_difference
from ioukit.statistics.estimating import check_level, enough_groups
from ioukit.statistics.evidence import Evidence
from ioukit.statistics.named_numbers import chosen_keys, named_numbers
from ioukit.statistics.resampling import Labels
from ioukit.statistics.student import t_quantile, t_tail


@record(frozen=True, eq=False, repr=False)
class SeedDifference(ComparedNumber):
    """The mean of one number over the runs of each of two models, and whether the difference can be chance.

    The standard error is the square root of :attr:`variance_images` plus :attr:`variance_seeds`. The p-value is the
    probability of a difference at least as large if both methods were equally good: two-sided, by Student's t.
    """

    values_a: tuple[float, ...]
    """The number of each run of the first model."""
    values_b: tuple[float, ...]
    """The number of each run of the second model."""
    variance_images: float
    """The variance of the difference that comes from the choice of images. More images make it smaller."""
    variance_seeds: float
    """The variance of the difference that comes from the seeds of the runs. More runs make it smaller."""
    degrees_of_freedom: float
    """How well the standard error is known: of few runs, limits are wider."""
    detectable: float
    """The smallest true difference that these runs and images would show with a probability of :attr:`power`; NaN if it
    would have to be above 1."""
    power: float
    """See :attr:`detectable`."""
    undefined: float
    """The share of replicates in which the difference is undefined."""

    @property
    def share_of_seeds(self) -> float:
        """The share of the variance that comes from the seeds; NaN if there is no variance."""
        total = self.variance_images + self.variance_seeds
        return self.variance_seeds / total if total > 0 else math.nan

    def to_dict(self) -> dict[str, Any]:
        """The fields in plain Python values, ``None`` where a number is undefined."""
        return {**plain_values(self), "share_of_seeds": plain_value(self.share_of_seeds)}


@record(frozen=True, eq=False, repr=False)
class SeedComparison(Frozen):
    """The result of :func:`compare_seeds`: ``comparison["AP"]`` is one difference."""

    differences: tuple[SeedDifference, ...]
    """One per key, in the order in which they were asked for."""
    num_images: int
    """How many images all runs were evaluated on."""
    num_clusters: int
    """How many clusters these images form; as many as images if no clusters were given."""
    num_runs: tuple[int, int]
    """How many runs there are of each model."""
    replicates: int
    """How many replicates of the bootstrap were drawn."""
    seed: int
    """The seed of the bootstrap."""

    def __getitem__(self, key: str) -> SeedDifference:
        return find_difference(self.differences, key)

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python values, ``None`` where a number is undefined."""
        return plain_values(self)

    def __repr__(self) -> str:
        shown = ", ".join(f"{one.key} {one.difference:+.4f} (p={one.p_value:.3g})" for one in self.differences[:3])
        runs = f"{self.num_runs[0]} and {self.num_runs[1]} runs"
        return f"SeedComparison({shown}, {runs}, {pluralize(self.num_images, 'image')})"


def compare_seeds(
    a: Sequence[Evaluation],
    b: Sequence[Evaluation],
    *,
    keys: str | Sequence[str] | None = None,
    level: float = 0.95,
    power: float = 0.8,
    replicates: int = 1000,
    seed: int = 0,
    strata: Labels | None = None,
    clusters: Labels | None = None,
    threads: int | None = None,
) -> SeedComparison:
    """The differences between two models that were trained several times, with both sources of variance.

    :func:`compare` tells whether one trained network is better than another on images of this kind. This function tells
    whether one method is better than another: another seed gives another network. So it needs at least two runs of each
    model.

    The variance of the difference of the means has two parts. That of the images is the variance of the paired
    bootstrap with the runs as they are. That of the seeds is the variance between runs, divided by their number, and
    without the part that other images would change, too: how much more the numbers of single runs vary in the bootstrap
    than their mean. Limits and p-values are those of Student's t distribution with the degrees of freedom of Welch and
    Satterthwaite. With few runs they hold the true difference more often than those of a bootstrap that draws runs and
    images (the pigeonhole bootstrap), which cannot see how uncertain the variance of two or three runs is.

    Args:
        a: The evaluations of the runs of the first model.
        b: The evaluations of the runs of the second model, on the same ground truth.
        keys: The numbers to compare, as for :func:`intervals`; all of the summary if ``None``.
        level: The probability with which an interval should hold the true difference, within (0, 1).
        power: The probability with which :attr:`SeedDifference.detectable` would be found, within [0.5, 1).
        replicates: How many replicates of the bootstrap.
        seed: The seed of the bootstrap, a whole number of at least 0; not that of the runs.
        strata: The stratum of each image, see :func:`intervals`.
        clusters: The cluster of each image, see :func:`intervals`.
        threads: How many threads; all cores if ``None``.

    Returns:
        The differences ``b - a``. Exchanging the models changes their signs and no other bit.

    Raises:
        ValueError: If there are fewer than two runs of a model, two runs were not evaluated on the same ground truth,
            there is no such number, there are fewer than two clusters, or a value is out of range.
        TypeError: If a count or the seed is not a whole number.

    Source: Bouthillier et al., Accounting for Variance in Machine Learning Benchmarks, 2021, arXiv:2103.03098; Owen,
    The pigeonhole bootstrap, 2007, arXiv:0712.1111; Satterthwaite, An approximate distribution of estimates of variance
    components, 1946.
    """
    check_level(level)
    check_power(power)
    sides = list(a), list(b)
    for name, runs in zip("ab", sides, strict=True):
        if len(runs) < 2:
            raise ValueError(
                f"{name} has {pluralize(len(runs), 'run')}, at least two are needed to tell how much runs differ; "
                "compare takes one run of each"
            )
    runs = [*sides[0], *sides[1]]
    names = [f"{name}[{at}]" for name, side in zip("ab", sides, strict=True) for at in range(len(side))]
    for run, name in zip(runs[1:], names[1:], strict=True):
        check_same_ground_truth(runs[0], run, names=(names[0], name))
    table = runs[0].matches
    numbers = named_numbers(runs[0], chosen_keys(keys, runs[0]))
    groups = enough_groups(table, strata, clusters)
    evidence = Evidence(numbers, runs, groups, replicates, seed, threads)
    drawn, observed = evidence.drawn, np.stack(evidence.observed)
    cut = len(sides[0])
    differences = []
    for at, key in enumerate(numbers.keys):
        one, other = (
            _Side(observed[part, at], np.stack([values[:, at] for values in drawn[part]]))
            for part in (slice(cut), slice(cut, None))
        )
        differences.append(_difference(key, one, other, level, power, groups.num_clusters))
    return SeedComparison(
        tuple(differences), len(table.image_ids), groups.num_clusters, (cut, len(sides[1])), len(drawn[0]), int(seed)
    )


class _Side(NamedTuple):
    """One number of the runs of one model."""

    values: Floats
    """(S,) of each run."""
    drawn: Floats
    """(S, B) of each run in each replicate."""

    def variance_of_seed(self, kept: npt.NDArray[np.bool_]) -> float:
        """The variance of one run that comes from its seed, divided by the number of runs."""
        count = len(self.values)
        of_runs = float(np.mean(np.var(self.drawn[:, kept], axis=1, ddof=1)))
        of_mean = float(np.var(self.drawn[:, kept].mean(axis=0), ddof=1))
        # What differs between runs on some images but not on others: the bootstrap over images has it already.
        on_images = (of_runs - of_mean) * count / (count - 1)
        return max(0.0, float(np.var(self.values, ddof=1)) - max(0.0, on_images)) / count


def _difference(key: str, a: _Side, b: _Side, level: float, power: float, clusters: int) -> SeedDifference:
    means = float(a.values.mean()), float(b.values.mean())
    difference = means[1] - means[0]
    apart = b.drawn.mean(axis=0) - a.drawn.mean(axis=0)
    kept = ~np.isnan(apart)
    undefined = 1 - float(kept.mean())
    images = variances = error = df = low = high = p_value = detectable = math.nan
    if not math.isnan(difference) and kept.sum() >= 2:
        images = float(np.var(apart[kept], ddof=1))
        seeds = [side.variance_of_seed(kept) for side in (a, b)]
        variances = seeds[0] + seeds[1]
        error = math.sqrt(images + variances)
        parts = [(images, clusters - 1), *zip(seeds, (len(a.values) - 1, len(b.values) - 1), strict=True)]
        doubt = parts[0][0] ** 2 / parts[0][1] + (parts[1][0] ** 2 / parts[1][1] + parts[2][0] ** 2 / parts[2][1])
        df = error**4 / doubt if doubt > 0 else float(clusters - 1)
        half = t_quantile((1 + level) / 2, df)
        low, high = difference - half * error, difference + half * error
        needed = detectable_difference(error, level=level, power=power, df=df)
        detectable = needed if needed <= 1 else math.nan
        p_value = _p_value(difference, error, df)
    number = key, *means, difference, low, high, level, error, p_value
    runs = tuple(a.values.tolist()), tuple(b.values.tolist())
    return SeedDifference(*number, *runs, images, variances, df, detectable, power, undefined)


def _p_value(difference: float, error: float, df: float) -> float:
    if not difference:
        return 1.0
    return min(1.0, 2 * t_tail(abs(difference) / error, df)) if error > 0 else 0.0
