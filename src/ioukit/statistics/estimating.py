"""How far a number would move with other images: intervals by the bootstrap."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit._checks import check_choice, check_count, check_number, pluralize
from ioukit._columns import Frozen, record
from ioukit._plain_values import plain_values
from ioukit._words_and_colours import percent
from ioukit.evaluation import Evaluation, MatchTable
from ioukit.statistics.limits import Method, find_limits
from ioukit.statistics.named_numbers import NamedNumbers, chosen_keys, labels_of, named_numbers, vanished_categories
from ioukit.statistics.resampling import ImageGroups, Labels, check_seed, image_groups

METHODS = ("percentile", "bca")


@record(frozen=True, eq=False, repr=False)
class Interval(Frozen):
    """A number with the range in which it would lie on other images of the same kind."""

    key: str
    """Its name, such as ``"AP"`` or ``"AP50/person"``."""
    value: float
    """The number of the data; NaN if undefined."""
    low: float
    """The lower limit; NaN if undefined."""
    high: float
    """The upper limit; NaN if undefined."""
    level: float
    """The probability that such an interval holds the true number, for example 0.95."""
    standard_error: float
    """The standard deviation of the replicates."""
    method: str
    """``"bca"``, or ``"percentile"``, also where BCa was asked for and is undefined."""
    replicates: int
    """How many replicates were drawn."""
    undefined: float
    """The share of replicates in which the number is undefined; the limits are those of the others."""
    vanished: Mapping[str, float] = field(default_factory=dict)
    """For a number that is a mean over categories: the share of replicates in which a category had no objects to find,
    for each category that vanished at least once. The mean is then over the others."""

    @property
    def half_width(self) -> float:
        """Half of the distance between the limits."""
        return (self.high - self.low) / 2

    def to_dict(self) -> dict[str, Any]:
        """The fields in plain Python values, ``None`` where a number is undefined."""
        return plain_values(self)

    def __repr__(self) -> str:
        return f"Interval({self.key}={self.value:.4f}, {percent(self.level)} from {self.low:.4f} to {self.high:.4f})"


def intervals(
    evaluation: Evaluation,
    keys: str | Iterable[str] | None = None,
    *,
    level: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
    method: Method = "bca",
    strata: Labels | None = None,
    clusters: Labels | None = None,
    threads: int | None = None,
) -> dict[str, Interval]:
    """Numbers of an evaluation with bootstrap intervals.

    A replicate of the bootstrap draws as many images as there are, with replacement, and computes the numbers of the
    data set that results. How far the numbers of many replicates are apart shows how much they depend on the choice of
    images. What an interval cannot show: images of another kind, errors of the labels, another training.

    Args:
        evaluation: The evaluation; its match table is enough.
        keys: Keys of the summary, such as ``"AP"``, and of classes, such as ``"AP50/person"`` (see
            :meth:`ioukit.Evaluation.metrics`); all numbers of the summary if ``None``.
        level: The probability with which an interval should hold the true number, within (0, 1).
        replicates: How many replicates.
        seed: A whole number of at least 0. The same seed gives the same bits, for any number of threads.
        method: ``"percentile"`` takes the limits between which the share ``level`` of the replicates lies. ``"bca"``
            corrects them for bias and for a standard error that changes with the number; it needs each number without
            each cluster, too. Where that is undefined, because a number is undefined without one of the clusters or all
            replicates lie on one side of the number, limits are percentiles, and :attr:`Interval.method` says so.
        strata: The stratum of each image, of which every replicate has as many as the data: (I,) labels in the order
            of :attr:`ioukit.MatchTable.image_ids`, or labels by image id.
        clusters: The cluster of each image, such as its scene, video or site, in the same way. Images of one cluster
            are alike, so they are drawn together; without this, intervals of such data are too narrow.
        threads: How many threads; all cores if ``None``.

    Returns:
        An :class:`Interval` for each key.

    Raises:
        ValueError: If there is no such number, method or label, there are fewer than two clusters, or a value is out of
            range.
        TypeError: If ``replicates`` or ``seed`` is not a whole number.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapters 13 and 14.
    """
    check_options(level, method)
    numbers = named_numbers(evaluation, chosen_keys(keys, evaluation))
    table = evaluation.matches
    groups = enough_groups(table, strata, clusters)
    drawn = resampled([table], numbers, groups, replicates, seed, threads)
    left = left_out([table], numbers, groups, threads)[0] if method == "bca" else None
    found = {}
    observed = numbers.observed(evaluation).tolist()
    for at, (key, value) in enumerate(zip(numbers.keys, observed, strict=True)):
        column = None if left is None else left[:, at]
        found[key] = interval_from_replicates(
            value,
            drawn.values[0][:, at],
            key=key,
            level=level,
            left_out=column,
            groups=groups.strata,
            vanished=drawn.vanished[at],
        )
    return found


def interval_from_replicates(
    value: float,
    replicates: npt.ArrayLike,
    *,
    key: str = "",
    level: float = 0.95,
    left_out: npt.ArrayLike | None = None,
    groups: Sequence[npt.NDArray[np.intp]] = (),
    vanished: Mapping[str, float] | None = None,
) -> Interval:
    """The interval of any number, from its values in replicates of the bootstrap.

    Args:
        value: The number of the data.
        replicates: (B,) the number in each replicate; NaN where undefined.
        key: Its name.
        level: The probability with which the interval should hold the true number, within (0, 1).
        left_out: (C,) the number without each cluster, for BCa; percentiles if ``None``.
        groups: With BCa, the positions of the clusters of each stratum; all are one stratum if empty.
        vanished: See :attr:`Interval.vanished`.

    Raises:
        ValueError: If ``level`` is not within (0, 1), or an array has not one axis.
    """
    check_level(level)
    drawn = _column("replicates", replicates)
    without = None if left_out is None else _column("left_out", left_out)
    limits = find_limits(value, drawn, level, left_out=without, groups=groups)
    return Interval(
        key=key, value=value, level=level, replicates=len(drawn), vanished=vanished or {}, **limits._asdict()
    )


@record(frozen=True, eq=False, repr=False)
class Resampled(Frozen):
    """Numbers of the replicates of the bootstrap, of one or several match tables of the same images."""

    values: tuple[Floats, ...]
    """For each table, (B, Q) numbers."""
    vanished: tuple[Mapping[str, float], ...]
    """For each of the Q numbers, :attr:`Interval.vanished`."""


def resampled(
    tables: Sequence[MatchTable],
    numbers: NamedNumbers,
    groups: ImageGroups,
    replicates: int,
    seed: int,
    threads: int | None,
) -> Resampled:
    """The numbers of replicates of the bootstrap. A replicate has the same images for all tables."""
    check_count(replicates=replicates)
    number = check_seed(seed)
    first = tables[0]
    parts_of_data = {(measure.area_range, measure.group) for measure in numbers.measures}
    gone = {part: np.zeros(len(first.evaluated), np.int64) for part in parts_of_data}
    parts: list[list[Floats]] = [[] for _ in tables]
    for start, stop in numbers.batches(first, replicates):
        weights = groups.bootstrap(number, start, stop)
        for part, table in zip(parts, tables, strict=True):
            part.append(numbers.replicated(table, weights, threads))
        for of_data, count in gone.items():
            np.add(count, vanished_categories(first, *of_data, weights), out=count)
    labels = labels_of(first)
    shares = {
        of_data: {label: times / replicates for label, times in zip(labels, count.tolist(), strict=True) if times}
        for of_data, count in gone.items()
    }
    needed = [(measure.area_range, measure.group) for measure in numbers.measures]
    vanished = [
        shares[needed[column]] if position < 0 else {}
        for column, position in zip(numbers.columns.tolist(), numbers.classes.tolist(), strict=True)
    ]
    return Resampled(tuple(np.concatenate(part) for part in parts), tuple(vanished))


def left_out(
    tables: Sequence[MatchTable], numbers: NamedNumbers, groups: ImageGroups, threads: int | None
) -> list[Floats]:
    """For each table, (C, Q) the numbers without each cluster."""
    parts: list[list[Floats]] = [[] for _ in tables]
    for start, stop in numbers.batches(tables[0], groups.num_clusters):
        weights = groups.leave_one_out(start, stop)
        for part, table in zip(parts, tables, strict=True):
            part.append(numbers.replicated(table, weights, threads))
    return [np.concatenate(part) for part in parts]


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


def check_options(level: float, method: str) -> None:
    """Raises an error if the level is not within (0, 1), or there is no such method."""
    check_level(level)
    check_choice("method", method, METHODS)


def check_level(level: float, name: str = "level") -> None:
    """Raises an error if a probability is not a number within (0, 1)."""
    check_number(**{name: level})
    if not 0 < level < 1:
        raise ValueError(f"{name} must be above 0 and below 1, got {level}")


def _column(name: str, values: npt.ArrayLike) -> Floats:
    column = np.asarray(values, np.float64)
    if column.ndim != 1:
        raise ValueError(f"{name} must have one axis, got the shape {column.shape}")
    return column
