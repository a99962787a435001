"""How far a number would move with other images: intervals.

Owns: the record, and the ways to an interval: of numbers of a protocol, from own replicates, from values without each
group, of a ratio of sums. Does not own: what the bootstrap and the bias say (`evidence.py`), formulas (`spread.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit._checks import agree, check_count, check_number, pluralize
from ioukit._columns import Frozen, record
from ioukit._notebook import Shown
from ioukit._plain_values import plain_values
from ioukit._words_and_colours import percent
from ioukit.evaluation import Evaluation, MatchTable
from ioukit.statistics.correction import ROUNDING
from ioukit.statistics.evidence import FEW_CLUSTERS, Estimate, Evidence, limits_of_share
from ioukit.statistics.named_numbers import chosen_keys, named_numbers
from ioukit.statistics.resampling import ImageGroups, Labels, image_groups
from ioukit.statistics.spread import jackknifed
from ioukit.statistics.student import t_quantile


@record(frozen=True, eq=False, repr=False)
class Interval(Frozen):
    """A number of a sample of images, and where that of all images of this kind lies."""

    key: str
    """Its name, such as ``"AP"`` or ``"AP50/person"``."""
    value: float
    """The number of the data; NaN if undefined."""
    low: float
    """The lower limit for the number on endlessly many images of this kind; NaN if undefined."""
    high: float
    """The upper limit; NaN if undefined."""
    level: float
    """The probability that such an interval holds the true number, for example 0.95."""
    standard_error: float
    """The standard deviation of the number over sets of as many images."""
    method: str
    """How the limits were found: ``"t"``, of Student's t distribution; ``"percentile"``, of replicates; ``"basic"``."""
    replicates: int
    """How many data sets the limits come from, such as replicates of the bootstrap."""
    undefined: float
    """The share of replicates in which the number is undefined."""
    vanished: Mapping[str, float] = field(default_factory=dict)
    """For a number that is a mean over categories: the share of replicates in which a category had no objects to find,
    for each category that vanished at least once. The mean is then over the others."""
    bias: float = 0.0
    """How far the number of this many images is above that of endlessly many, as estimated: AP is, because its
    precisions are highest ones."""
    another_set: tuple[float, float] = (math.nan, math.nan)
    """The limits for the number on another set of as many images, which has the same bias; NaN where they are not
    estimated."""
    warnings: tuple[str, ...] = ()
    """Why such an interval may hold the true number less often than it says; empty if nothing is known."""

    @property
    def estimate(self) -> float:
        """The number on endlessly many images, as estimated: the value without the bias."""
        return self.value - self.bias

    @property
    def half_width(self) -> float:
        """Half of the distance between the limits."""
        return (self.high - self.low) / 2

    def sentence(self) -> str:
        """The number, what it is without its bias, the limits, and what is doubtful about them."""
        if math.isnan(self.low):
            return f"{self.key} {'is undefined' if math.isnan(self.value) else f'{self.value:.3f}, limits undefined'}"
        about = f"; on endlessly many images about {self.estimate:.3f}" if self.bias else ""
        doubt = f" (doubtful: {'; '.join(self.warnings)})" if self.warnings else ""
        return (
            f"{self.key} {self.value:.3f}{about}, {percent(self.level)} from {self.low:.3f} to {self.high:.3f}{doubt}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The fields in plain Python values, ``None`` where a number is undefined."""
        return plain_values(self)

    def __repr__(self) -> str:
        estimate = f"; on endlessly many images {self.estimate:.4f}" if self.bias else ""
        doubt = f"; doubtful: {'; '.join(self.warnings)}" if self.warnings else ""
        return (
            f"Interval({self.key}={self.value:.4f}{estimate}, {percent(self.level)} from {self.low:.4f} to "
            f"{self.high:.4f}{doubt})"
        )


class _Intervals(dict[str, Interval], Shown):
    """Intervals by the keys of their numbers."""

    def notebook_rows(self) -> tuple[Iterable[Interval], int]:
        return self.values(), len(self)

    def notebook_caption(self) -> str:
        return pluralize(len(self), "interval")


def intervals(
    evaluation: Evaluation,
    keys: str | Iterable[str] | None = None,
    *,
    level: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
    strata: Labels | None = None,
    clusters: Labels | None = None,
    threads: int | None = None,
) -> dict[str, Interval]:
    """Numbers of an evaluation, with limits for the numbers on endlessly many images of the same kind.

    AP of a sample is too high, by more where classes are on few images: see :attr:`Interval.bias`. The limits lie
    around the number without this bias. How far, a quantile of Student's t distribution times the standard error tells:
    that of the bootstrap, and the uncertainty of the bias. A replicate of the bootstrap draws as many images as there
    are, with replacement. Limits are farther away on the side of 1/2, as those of a share are. What an interval cannot
    show: images of another kind, errors of the labels, another training. Where the data cannot carry an interval,
    :attr:`Interval.warnings` says why.

    Args:
        evaluation: The evaluation; its match table is enough.
        keys: Keys of the summary, such as ``"AP"``, and of classes, such as ``"AP50/person"`` (see
            :meth:`ioukit.Evaluation.metrics`); all numbers of the summary if ``None``.
        level: The probability with which an interval should hold the true number, within (0, 1).
        replicates: How many replicates. With fewer than 400, the bias and the degrees of freedom come from fewer data
            sets, too: faster, and a little rougher.
        seed: A whole number of at least 0. The same seed gives the same bits, for any number of threads.
        strata: The stratum of each image, of which every replicate has as many as the data: (I,) labels in the order
            of :attr:`ioukit.MatchTable.image_ids`, or labels by image id.
        clusters: The cluster of each image, such as its scene, video or site, in the same way. Images of one cluster
            are alike, so they are drawn together; without this, intervals of such data are too narrow.
        threads: How many threads; all cores if ``None``.

    Returns:
        An :class:`Interval` for each key.

    Raises:
        ValueError: If there is no such number or label, there are fewer than two clusters, or a value is out of range.
        TypeError: If ``replicates`` or ``seed`` is not a whole number.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapters 6 and 11; of the limits: Wilson,
    Probable inference, the law of succession, and statistical inference, 1927. What was tried, and how often the
    intervals hold: the page "Is the difference real, or chance?".
    """
    check_level(level)
    numbers = named_numbers(evaluation, chosen_keys(keys, evaluation))
    check_count(replicates=replicates)
    evaluation.matches.announce("intervals", threads=threads, values=replicates * len(numbers.keys))
    groups = enough_groups(evaluation.matches, strata, clusters)
    evidence = Evidence(numbers, [evaluation], groups, replicates, seed, threads)
    parts = zip(numbers.keys, evidence.estimates, evidence.undefined.tolist(), evidence.vanished, strict=True)
    return _Intervals((key, interval_of(key, one, level, replicates, *rest)) for key, one, *rest in parts)


def interval_of(
    key: str, estimate: Estimate, level: float, replicates: int, undefined: float, vanished: Mapping[str, float]
) -> Interval:
    """The interval of an estimate of a number that is from 0 to 1."""
    limits, of_another_set = estimate.limits(level), estimate.limits_of_another_set(level)
    known = key, estimate.value, *limits, level, estimate.error, "t", replicates, undefined, vanished
    return Interval(*known, estimate.bias, of_another_set, estimate.warnings)


def interval_from_replicates(
    value: float, replicates: npt.ArrayLike, *, key: str = "", level: float = 0.95
) -> Interval:
    """The percentile interval of any number: between its limits lies the share ``level`` of the replicates.

    It corrects no bias.

    Args:
        value: The number of the data.
        replicates: (B,) the number in each replicate of the bootstrap; NaN where undefined, which are left out.
        key: Its name.
        level: The probability with which the interval should hold the true number, within (0, 1).

    Raises:
        ValueError: If ``level`` is not within (0, 1), or ``replicates`` has not one axis.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.
    """
    check_level(level)
    drawn = np.asarray(replicates, np.float64)
    if drawn.ndim != 1:
        raise ValueError(f"replicates must have one axis, got the shape {drawn.shape}")
    defined = drawn[~np.isnan(drawn)]
    low = high = error = math.nan
    if len(defined) > 1 and not math.isnan(value):
        low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2]).tolist()
        error = float(np.std(defined, ddof=1))
    undefined = 1 - len(defined) / len(drawn) if len(drawn) else math.nan
    return Interval(key, value, low, high, level, error, "percentile", len(drawn), undefined)


def interval_of_left_out(
    value: float, left: Floats, stratum: npt.NDArray[np.intp], clusters: int, *, key: str, level: float, lowest: float
) -> Interval:
    """The interval of a number of this many images, from its values without each of some groups: the jackknife.

    Args:
        value: The number.
        left: (G,) the number without each group; NaN where undefined.
        stratum: (G,) the stratum of each group.
        clusters: How many clusters the number depends on.
        key: Its name.
        level: The probability with which the interval should hold the number of other images, within (0, 1).
        lowest: The lowest value of such a number; the highest one is 1. Limits of a number from 0 to 1 are farther away
            on the side of 1/2.
    """
    low = high = error = math.nan
    if clusters > 1 and not math.isnan(value):
        spread, half = _by_leaving_out(left, stratum, clusters, level)
        if spread > ROUNDING:  # that no group changes the number says nothing of others
            error = spread
            low, high = max(lowest, value - half), min(1.0, value + half)
            if lowest == 0:
                low, high = limits_of_share(value, value, half)
    undefined = float(np.isnan(left).mean()) if len(left) else math.nan
    return Interval(key, value, low, high, level, error, "t", len(left), undefined)


def _by_leaving_out(
    left: Floats, stratum: npt.NDArray[np.intp], clusters: int, level: float, further: float = 0.0
) -> tuple[float, float]:
    """The standard error by the jackknife, with a further variance, and half the width of limits."""
    (variance,), (df,) = jackknifed(left[:, None], stratum)
    error = math.sqrt(float(variance) + further)
    return error, t_quantile((1 + level) / 2, min(max(float(df), 1.0), clusters - 1)) * error


def enough_groups(table: MatchTable, strata: Labels | None, clusters: Labels | None) -> ImageGroups:
    """The clusters and strata of the images of a table.

    Raises:
        ValueError: As :func:`ioukit.statistics.bootstrap_weights`, and if there are fewer than two clusters.
    """
    groups = image_groups(table.image_ids, strata, clusters)
    if groups.num_clusters < 2:
        noun = "image" if clusters is None else "cluster"
        raise ValueError(
            f"there is {pluralize(groups.num_clusters, noun)}; at least two {noun}s are needed to tell how much the "
            "numbers depend on them"
        )
    return groups


def check_level(level: float, name: str = "level") -> None:
    """Raises an error if a probability is not a number within (0, 1)."""
    check_number(**{name: level})
    if not 0 < level < 1:
        raise ValueError(f"{name} must be above 0 and below 1, got {level}")


def interval_of_ratio(
    key: str,
    top: Floats,
    bottom: Floats,
    groups: ImageGroups,
    level: float,
    *,
    unit: float | None = None,
    further: float = 0.0,
    doubts: tuple[str, ...] = (),
) -> Interval:
    """The interval of a ratio of sums over clusters, by leaving out one cluster at a time (the jackknife).

    Limits are farther away on the side of 1/2, those of a number per image on the upper side. A share without any
    spread may still differ on other images: if all n clusters agree, on ``1 - (1 - certainty) ** (1 / n)`` of them. If
    there is no false positive on n clusters, there may be ``-log(1 - certainty) / n`` per image: the rule of three.

    Args:
        key: Its name.
        top: (C,) what each cluster adds to the numerator.
        bottom: (C,) what each cluster adds to the denominator; where it is 0, a cluster tells nothing.
        groups: The clusters.
        level: The probability with which the interval should hold the true number.
        unit: What one mistake adds to a number per image; ``None`` for a share.
        further: A variance that is added to that of the images.
        doubts: Further reasons to doubt it.
    """
    told = bottom > 0
    top, bottom = top[told], bottom[told]
    count = len(top)
    value = float(top.sum() / bottom.sum()) if count else math.nan
    low, high, error = value, value, 0.0
    if count > 1:
        left = (top.sum() - top) / (bottom.sum() - bottom)
        error, half = _by_leaving_out(left, np.zeros(count, np.intp), count, level, further)
        # Divided by a million times itself, a number per image is a share near 0.
        scale = 1.0 if unit is None else 1e6 * (value or 1)
        low, high = (scale * each for each in limits_of_share(value / scale, value / scale, half / scale))
        if half <= ROUNDING or value in ((0, 1) if unit is None else (0,)):
            unseen = -math.log((1 - level) / 2) / count
            low = min(low, value * math.exp(-unseen))
            high = max(high, 1 - (1 - value) * math.exp(-unseen) if unit is None else value + unseen * unit)
    return doubted(Interval(key, value, low, high, level, error, "t", count, 0.0), groups, count, doubts)


def doubted(found: Interval, groups: ImageGroups, on: int, doubts: tuple[str, ...] = ()) -> Interval:
    """An interval with the reasons to doubt it, and without limits if it has no width because it is of few clusters.

    ``on`` of the clusters tell something of the number. ``doubts`` are further reasons.
    """
    every, noun = groups.num_clusters, "image" if groups.each_image else "cluster"
    doubts = (*few_clusters(every, on, noun), *doubts)
    has_no_width = min(every, on) < FEW_CLUSTERS and found.low == found.high
    unknown = dict.fromkeys(("low", "high", "standard_error"), math.nan) if has_no_width else {}
    return Interval(**vars(found) | unknown | {"warnings": doubts})


def few_clusters(every: int, on: int, noun: str) -> tuple[str, ...]:
    """Why limits are doubtful if there are few clusters, or few that tell something; else empty."""
    if every < FEW_CLUSTERS:
        return (f"there {agree(every, f'are {pluralize(every, noun)}')}",)
    return (f"what counts is on {pluralize(on, noun)}",) if on < FEW_CLUSTERS else ()
