"""What a sample of images says about numbers: where they lie on endlessly many images, and how sure that is.

Owns: the data sets that are made of a sample (replicates, and those without a group of images), each once, whatever is
asked of them; the estimate, its limits, and why to doubt them. Does not own: the draws (`resampling.py`), formulas of
the spread (`spread.py`) and of the bias (`biases.py`), and what users get (`estimating.py`, `comparing.py`).

Cut here because intervals, comparisons, several runs, means over data sets and the gate need the same data sets. What
is not asked for is not made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit._checks import check_count, pluralize
from ioukit._progress import Progress
from ioukit._words_and_colours import percent
from ioukit.evaluation import Evaluation, MatchTable
from ioukit.evaluation.summary import in_group
from ioukit.statistics.biases import Bias, Rises, bias_of, bias_shape, find_rises
from ioukit.statistics.class_clusters import ClassClusters, Differing, differing_clusters
from ioukit.statistics.correction import ROUNDING
from ioukit.statistics.named_numbers import NamedNumbers, labels_of
from ioukit.statistics.replicates import replicate
from ioukit.statistics.resampling import MOST_CUTS, MOST_LEFT_OUT, ImageGroups, LeftOut, Weights, check_seed
from ioukit.statistics.spread import jackknifed, shared, skewness, unseen, variances
from ioukit.statistics.student import t_quantile

FEW_CLUSTERS, _FEW_ON, _FEW_CLASSES = 20, 4, 3
_NO_CHANGE = "no image changes the number, so its error is unknown"
_BOOTSTRAP_SHORT = math.sqrt(1.2)  # by so much is the bootstrap's error of a number too small; not of a difference
_LARGE_BIAS, _MANY_UNSEEN, _MANY_RARE, _NEAR_END, _MUCH_ON_ONE = 1 / 3, 0.05, 1 / 4, 0.1, 0.1


class Estimate(NamedTuple):
    """One number, or the difference of one."""

    value: float
    """The number of the data; NaN if undefined."""
    bias: float
    """How far it is above that of endlessly many images."""
    error: float
    """Its standard deviation over sets of as many images."""
    doubt: float
    """What is to be added to it for the number on endlessly many images: the standard error of the bias, and what
    classes that no image has may change."""
    df: float
    """How well the error is known, as degrees of freedom."""
    warnings: tuple[str, ...]
    """Why limits may hold less often than they say."""
    clusters: int | None = None
    """On how many clusters there are objects that count; ``None`` of a mean over data sets."""
    skewness: float = 0.0
    """How lopsided it spreads over sets of as many images: below 0 if few images lower it much."""

    def shows(self, certainty: float) -> bool:
        """Whether any data on as many clusters could show something with this certainty.

        If objects are found or not by chance, all of n clusters agree with a probability of ``0.5 ** n`` in one
        direction. No one-sided test whose error is smaller can succeed.
        """
        return self.clusters is None or 0.5**self.clusters <= 1 - certainty

    def limits(self, level: float) -> tuple[float, float]:
        """The limits for a number from 0 to 1 on endlessly many images.

        A set that lacks the few images which lower a number much is too high, and has a small error. So the lower limit
        is moved as that of a lopsided mean is. The upper one stays where few images raise a number much: that hardly
        helps AP, and costs miss rates length where images are alike (docs/uncertainty.md, "Tried and rejected").

        Source: Johnson, Modified t tests and confidence intervals for asymmetrical populations, 1978.
        """
        error = math.hypot(self.error, self.doubt)
        low, high = limits_of_share(self.value, self.value - self.bias, self._half(error, level))
        if not (self.skewness < 0 and low > 0):
            return low, high
        skewness = self.skewness * (self.error / error) ** 3  # what is added to the error is not lopsided
        return max(0.0, low + skewness / 6 * (1 + 2 * t_quantile((1 + level) / 2, self.df) ** 2) * error), high

    def limits_of_another_set(self, level: float) -> tuple[float, float]:
        """The limits for a number from 0 to 1 on another set of as many images."""
        return limits_of_share(self.value, self.value, self._half(math.sqrt(2) * self.error, level))

    def limits_of_difference(self, level: float) -> tuple[float, float]:
        """The limits for the difference of two numbers from 0 to 1 on endlessly many images."""
        half = self._half(math.hypot(self.error, self.doubt), level)
        return _within(-1.0, self.value - self.bias, half)

    def _half(self, error: float, level: float) -> float:
        return t_quantile((1 + level) / 2, self.df) * error


def limits_of_share(value: float, centre: float, half: float) -> tuple[float, float]:
    """Limits that are farther away on the side of 1/2: a number near 0 or 1 also has too small an error there.

    They are those true values from which ``centre`` is one half-width away, if the variance of a number depends on its
    value as that of a share does.

    Args:
        value: The number of the data, from 0 to 1.
        centre: What the limits are around, such as the number without its bias.
        half: The half-width of an interval around it.

    Source: Wilson, Probable inference, the law of succession, and statistical inference, 1927.
    """
    largest = value * (1 - value)  # that of one image that is right or wrong
    if not largest > 0:
        return _within(0.0, centre, half)
    square = half**2 / largest
    middle = (centre + square / 2) / (1 + square)
    return _within(0.0, middle, math.sqrt(square * (centre * (1 - centre) + square / 4)) / (1 + square))


def _within(least: float, centre: float, half: float) -> tuple[float, float]:
    if math.isnan(centre + half):
        return math.nan, math.nan
    return max(least, centre - half), min(1.0, centre + half)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Numbers of one or several evaluations of the same images, in many data sets that such images make."""

    numbers: NamedNumbers
    """(Q,) the numbers."""
    evaluations: Sequence[Evaluation]
    """The evaluations."""
    groups: ImageGroups
    """The clusters and strata of the images."""
    replicates: int
    """B, how many replicates of the bootstrap."""
    seed: int
    """Of all random numbers. Replicates are the same for all evaluations."""
    threads: int | None = None
    """How many threads; all cores if ``None``."""
    further: int = 0
    """How many data sets the caller makes besides, and adds to :attr:`progress`."""
    known_biases: Sequence[Bias] | None = None
    """(M,) that of each measure, where more images than these tell of it."""

    def __post_init__(self) -> None:
        """Check the counts."""
        check_count(replicates=self.replicates)
        check_seed(self.seed)

    @cached_property
    def progress(self) -> Progress:
        """How many data sets are made."""
        made = self.replicates + len(self._groups_left_out.stratum)
        return Progress(made * len(self.evaluations) + self.further)

    @cached_property
    def observed(self) -> tuple[Floats, ...]:
        """For each evaluation, (Q,) its numbers."""
        return tuple(self.numbers.observed(one) for one in self.evaluations)

    @cached_property
    def drawn(self) -> tuple[Floats, ...]:
        """For each evaluation, (B, W) the numbers in each replicate of the bootstrap.

        The first Q are the numbers, the others those of further classes with which some of them share a variance.
        """
        return self._resampled[0]

    @cached_property
    def undefined(self) -> Floats:
        """(Q,) the share of the replicates in which a number is undefined in one of the evaluations."""
        missing = np.isnan(sum(one[:, : len(self.numbers.keys)] for one in self.drawn))
        return np.asarray(missing.mean(axis=0))

    @cached_property
    def vanished(self) -> list[Mapping[str, float]]:
        """For each number that is a mean over classes: in which share of the replicates each class has no objects."""
        labels, found = labels_of(self._table), list[Mapping[str, float]]()
        for column, of_class in self.numbers.pairs:
            if of_class >= 0:
                found.append({})
                continue
            times = np.where(self._counted(column), self._resampled[1][self._area(column)], 0).tolist()
            found.append({label: count / self.replicates for label, count in zip(labels, times, strict=True) if count})
        return found

    @cached_property
    def biases(self) -> Sequence[Bias]:
        """(M,) that of each measure in the first evaluation."""
        return [bias_of([one]) for one in self.rises] if self.known_biases is None else self.known_biases

    @cached_property
    def rises(self) -> list[Rises]:
        """(M,) what the first evaluation tells of the bias of each measure."""
        # As many parts as replicates, about.
        parts = self.groups.parts(self.seed, min(MOST_CUTS, -(-self.replicates // 20)))
        return find_rises(self._table, self.numbers.measures, self._on, parts, self.threads)

    def clusters_of(self, column: int) -> npt.NDArray[np.intp]:
        """(K,) on how many clusters each class has objects that count for a measure."""
        return self._on[self._area(column)].counts

    @cached_property
    def estimates(self) -> list[Estimate]:
        """(Q,) the numbers of the first evaluation."""
        found = []
        values: list[float] = self.observed[0].tolist()
        spreads = self._spread(self.drawn[0], self._left[0], self._whole[0])
        lopsided = skewness(self._left[0][:, : len(spreads)], self._groups_left_out.stratum).tolist()
        parts = zip(self.numbers.pairs, values, spreads, lopsided, strict=True)
        for (column, of_class), value, spread, skewed in parts:
            bias, clusters = self.biases[column], self.clusters_of(column)
            kept = np.arange(len(clusters)) == of_class if of_class >= 0 else self._counted(column)
            on = clusters[kept & (clusters > 0)]
            shape = float(np.mean(bias_shape(on, self._table.protocol))) if len(on) else 0.0
            expected = bias.factor * shape
            warnings = self._warnings(column, of_class, spread)
            few = bias.classes < min(_FEW_CLASSES, int(np.count_nonzero(clusters)))
            if few and self.numbers.measures[column].quantity == "AP":
                known = f"estimated from only {pluralize(bias.classes, 'class')}"
                warnings.append(f"the bias is {known if bias.classes else 'unknown, as every class is on few images'}")
            rare = float(np.mean(on < _FEW_ON)) if len(on) else 0.0
            # Classes that no image has are the same doubt, and said already.
            if of_class < 0 and bias.factor and rare > _MANY_RARE and spread.share_unseen <= _MANY_UNSEEN:
                noun = "images" if self.groups.each_image else "clusters"
                warnings.append(f"{percent(rare, 0)} of classes are on 1 to {_FEW_ON - 1} {noun}")
            if abs(expected) > _LARGE_BIAS * value:
                warnings.append("the bias is more than a third of the number")
            if not _NEAR_END < value < 1 - _NEAR_END:
                warnings.append(f"the number is close to {value:.0f}")
            if spread.error < ROUNDING:
                warnings.append(_NO_CHANGE)
            least = max(min(expected, value), value - 1)  # without it, a number is from 0 to 1
            doubt = math.hypot(bias.error * shape, spread.unseen)
            error = _BOOTSTRAP_SHORT * spread.error
            rests_on = self._rests_on(column, of_class)
            found.append(Estimate(value, least, error, doubt, spread.df, tuple(warnings), rests_on, skewed))
        return found

    @cached_property
    def differences(self) -> list[Estimate]:
        """(Q,) the numbers of the second evaluation minus those of the first: their biases cancel."""
        values = (self.observed[1] - self.observed[0]).tolist()
        (a, b), (left_a, left_b), (whole_a, whole_b) = self.drawn, self._left, self._whole
        spreads = self._spread(b - a, left_b - left_a, whole_b - whole_a)
        found = []
        for (column, of_class), value, one in zip(self.numbers.pairs, values, spreads, strict=True):
            warnings = self._warnings(column, of_class, one)
            # Models that are alike have no error.
            if one.error < ROUNDING and (abs(value) > ROUNDING or self._differ(of_class)):
                warnings.append(_NO_CHANGE)
            rests_on = self._rests_on(column, of_class)
            found.append(Estimate(value, 0.0, one.error, one.unseen, one.df, tuple(warnings), rests_on))
        return found

    def _differ(self, of_class: int) -> bool:
        """Whether the first two evaluations differ in detections of a class, or of any if it is -1."""
        return bool(len(self.differing.classes) if of_class < 0 else np.any(self.differing.classes == of_class))

    @cached_property
    def differing(self) -> Differing:
        """Where the first two evaluations differ."""
        return differing_clusters([one.matches for one in self.evaluations[:2]], self.groups)

    def _rests_on(self, column: int, of_class: int) -> int:
        """On how many clusters a number has objects that count."""
        if of_class >= 0:
            return int(self.clusters_of(column)[of_class])
        return len(self._objects_on(column))

    def _objects_on(self, column: int) -> npt.NDArray[np.intp]:
        """How many objects that count for a mean over classes there are on each cluster that has any."""
        return self._on[self._area(column)].objects_on(self._counted(column))

    def _warnings(self, column: int, of_class: int, spread: _Spread) -> list[str]:
        warnings, noun = [], "image" if self.groups.each_image else "cluster"
        if of_class >= 0:
            if 0 < (on := self._rests_on(column, of_class)) < _FEW_ON:
                warnings.append(f"the class is on {pluralize(on, noun)}")
        elif self.groups.num_clusters < FEW_CLUSTERS:
            warnings.append(f"there are {pluralize(self.groups.num_clusters, noun)}")
        elif len(objects := self._objects_on(column)) < FEW_CLUSTERS:
            warnings.append(f"the objects that count are on {pluralize(len(objects), noun)}")
        elif (share := float(objects.max() / objects.sum())) > _MUCH_ON_ONE:
            warnings.append(f"one {noun} has {percent(share, 0)} of the objects that count")
        if spread.share_unseen > _MANY_UNSEEN:
            warnings.append(f"more {noun}s would show further classes, about {percent(spread.share_unseen, 0)} of all")
        return warnings

    def _spread(self, drawn: Floats, left: Floats, whole: Floats) -> list[_Spread]:
        """(Q,) how far numbers, or differences, move with the images."""
        numbers, asked = self._wide, len(self.numbers.keys)
        most = self.groups.num_clusters - len(self.groups.strata)
        variance = variances(drawn) * self.groups.num_clusters / most
        df = np.clip(jackknifed(left, self._groups_left_out.stratum)[1], 1, most)
        unseen_classes, limits = np.zeros((asked, 2)), np.full(len(df), math.inf)
        for column in range(len(numbers.measures)):
            clusters = self.clusters_of(column)
            classes = np.flatnonzero((numbers.columns == column) & (numbers.classes >= 0))
            counted = self._counted(column)
            means = (self.numbers.columns == column) & (self.numbers.classes < 0)
            limits[:asked][means] = self._rests_on(column, -1) - 1
            if len(classes):
                on = clusters[numbers.classes[classes]]
                of_classes = variance[classes], np.minimum(df[classes], on - 1)
                each_once = np.isin(classes, classes[np.unique(numbers.classes[classes], return_index=True)[1]])
                variance[classes], df[classes] = shared(*of_classes, on, each_once)
            defined = counted & (clusters > 0) & ~np.isnan(whole[:, column])
            elsewhere = int(np.count_nonzero(counted & (clusters == 0) & self._occurring))
            unseen_classes[means] = unseen(whole[defined, column], clusters[counted], elsewhere)
        df = np.minimum(df, limits)
        variance[df < 1] = math.nan  # of one cluster with objects, nothing tells how another one would differ
        df = np.maximum(df, 1)
        columns = np.sqrt(variance[:asked]), df[:asked], *unseen_classes.T
        return [_Spread(*each) for each in zip(*(column.tolist() for column in columns), strict=True)]

    @property
    def _table(self) -> MatchTable:
        return self.evaluations[0].matches

    @cached_property
    def _on(self) -> dict[str, ClassClusters]:
        """On which clusters each class has objects, by the name of the area range."""
        areas = {self._area(column) for column in range(len(self.numbers.measures))}
        return {area: ClassClusters.of(self._table, self.groups, area) for area in sorted(areas)}

    @cached_property
    def _occurring(self) -> npt.NDArray[np.bool_]:
        """(K,) which classes have objects of any size."""
        table = self._table
        of_objects = table.evaluated_category(table.objects.category).astype(np.intp)
        return np.bincount(of_objects, minlength=len(table.evaluated)) > 0

    def _area(self, column: int) -> str:
        return self._table.protocol.area_of(self.numbers.measures[column])

    def _counted(self, column: int) -> npt.NDArray[np.bool_]:
        return in_group(self._table.evaluated, self._table.protocol, self.numbers.measures[column].group)

    @cached_property
    def _wide(self) -> NamedNumbers:
        return self.numbers.with_classes(len(self._table.evaluated))

    @cached_property
    def _resampled(self) -> tuple[tuple[Floats, ...], dict[str, npt.NDArray[np.int64]]]:
        gone = {area: np.zeros(len(self._table.evaluated), np.int64) for area in self._on}

        def draw(start: int, stop: int) -> Weights:
            weights = self.groups.bootstrap(self.seed, start, stop)
            for area, count in gone.items():
                np.add(count, self._on[area].vanished(weights), out=count)
            return weights

        return self._made(self.replicates, draw), gone

    @cached_property
    def _groups_left_out(self) -> LeftOut:
        return self.groups.left_out(self.seed, min(MOST_LEFT_OUT, self.replicates))

    @cached_property
    def _left(self) -> tuple[Floats, ...]:
        """For each evaluation, (G, W) the numbers without each group of clusters."""
        groups = self._groups_left_out
        return self._made(len(groups.stratum), groups.weights)

    def _made(self, count: int, weights: Callable[[int, int], Weights]) -> tuple[Floats, ...]:
        """For each evaluation, (count, W) the numbers of data sets whose weights are asked for in batches."""
        # In the same layout for any number of batches: the last bits of a sum depend on it.
        made = tuple(np.empty((count, len(self._wide.columns))) for _ in self.evaluations)
        for start, stop in self._wide.batches(self._table, count):
            of_batch = weights(start, stop)
            for rows, one in zip(made, self.evaluations, strict=True):
                rows[start:stop] = self._wide.replicated(one.matches, of_batch, self.threads)
            self.progress.add(len(of_batch) * len(made))
        return made

    @cached_property
    def _whole(self) -> tuple[Floats, ...]:
        """For each evaluation, (K, M) the numbers of the classes."""
        weights = np.ones((1, len(self._table.image_ids)), np.uint16)
        found = []
        for one in self.evaluations:
            made = replicate(
                one.matches, weights, measures=self.numbers.measures, per_class=True, threads=self.threads
            ).per_class
            assert made is not None
            found.append(made[0])
        return tuple(found)


class _Spread(NamedTuple):
    """How far a number moves with the images."""

    error: float
    """The standard deviation over samples of this size, by the bootstrap; NaN if undefined."""
    df: float
    """How well it is known, as degrees of freedom."""
    unseen: float
    """The standard error that the classes add of which no image has an object."""
    share_unseen: float
    """Their share of all classes."""
