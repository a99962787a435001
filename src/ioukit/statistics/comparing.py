"""Is one model better than another, or was it the choice of images?

Owns: `compare`, and the permutation test: which clusters are exchanged, and its p-values. Does not own: limits
(`evidence.py`), the match table of both models (`copies.py`), corrections for the number of tests (`correction.py`),
how large a difference a test detects (`detectable.py`), and the records (`differences.py`).

Cut here because a test needs no standard error, and limits need no permutation. The gate, and means over data sets
(`over_sets.py`), test evidence of their own.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit._checks import check_choice, check_count, check_result
from ioukit.evaluation import Evaluation, MatchTable
from ioukit.evaluation._same_scene import check_same_ground_truth
from ioukit.statistics.copies import interleave
from ioukit.statistics.correction import ROUNDING, adjust_p_values, stepped_down
from ioukit.statistics.detectable import (
    alarm,
    check_power,
    detectable_difference,
    fewest_permutations,
    images_needed,
    smallest_p_value,
)
from ioukit.statistics.differences import ClassDifference, ComparedNumber, Comparison, Difference
from ioukit.statistics.estimating import check_level, enough_groups
from ioukit.statistics.evidence import Estimate, Evidence
from ioukit.statistics.named_numbers import chosen_keys, labels_of, named_numbers
from ioukit.statistics.replicates import find_measure
from ioukit.statistics.resampling import Labels, check_seed
from ioukit.statistics.spread import shared, variances

ClassCorrection: TypeAlias = Literal["westfall-young", "holm", "benjamini-hochberg", "none"]


def compare(
    a: Evaluation,
    b: Evaluation,
    *,
    keys: str | Sequence[str] | None = None,
    per_class: str | Sequence[str] = (),
    level: float = 0.95,
    power: float = 0.8,
    replicates: int = 1000,
    permutations: int = 1000,
    seed: int = 0,
    strata: Labels | None = None,
    clusters: Labels | None = None,
    correction: ClassCorrection = "westfall-young",
    names: tuple[str, str] = ("A", "B"),
    threads: int | None = None,
) -> Comparison:
    """The differences between two models, with intervals and p-values.

    Both models are evaluated on the same images, and a hard image is hard for both. So the difference is known better
    than each of the two numbers: the bootstrap draws the same images for both. The p-value comes from a permutation
    test: if the models are equally good, the detections of an image could as well be those of the other model, each
    with its rank among the scores of its model and class (with its score, if the models are alike on most images; where
    they are alike, nothing is exchanged). Where limits and p-value disagree, the p-value decides: it needs no standard
    error.

    Args:
        a: The evaluation of the first model.
        b: The evaluation of the second model, on the same ground truth.
        keys: The numbers to compare, as for :func:`intervals`; all of the summary if ``None``.
        per_class: Keys of the summary that are compared for every category, too, such as ``"AP"``.
        level: The probability with which an interval should hold the true difference, within (0, 1).
        power: The probability with which :attr:`Difference.detectable` would be found, within [0.5, 1).
        replicates: How many replicates of the bootstrap.
        permutations: How many permutations, at most: if there are not more ways to swap the images, or clusters, on
            which the models differ, all of them are made. The smallest p-value is ``1 / (1 + permutations)``; that of n
            such images is ``2 / 2**n``.
        seed: A whole number of at least 0. The same seed gives the same bits, for any number of threads.
        strata: The stratum of each image, see :func:`intervals`.
        clusters: The cluster of each image, see :func:`intervals`. Clusters are swapped as a whole, too.
        correction: How p-values of categories are corrected for their number. ``"westfall-young"`` keeps the chance of
            even one false alarm below the level, by the permutations themselves; the others as in
            :func:`adjust_p_values`, where many categories need as many more permutations.
        names: What messages call the two.
        threads: How many threads; all cores if ``None``.

    Returns:
        The differences ``b - a``. Exchanging the models changes their signs and no other bit.

    Raises:
        ValueError: If the models were not evaluated on the same ground truth, there is no such number, there are fewer
            than two clusters, or a value is out of range.
        TypeError: If a count or the seed is not a whole number.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 15. The p-value counts the
    data itself as one permutation: Phipson and Smyth, Permutation p-values should never be zero, 2010.
    """
    check_level(level)
    check_choice("correction", correction, get_args(ClassCorrection))
    check_power(power)
    check_count(replicates=replicates, permutations=permutations)
    for given in (a, b):
        check_result(given, "matches", "ioukit.evaluate")
    listed = chosen_keys(keys, a)
    of_classes = [per_class] if isinstance(per_class, str) else list(per_class)
    labels = labels_of(a.matches)
    for key in of_classes:
        check_choice("number of per_class", key, tuple(a.summary))
    every = [*listed, *(f"{key}/{label}" for key in of_classes for label in labels)]
    numbers = named_numbers(a, every)
    values = (replicates + permutations) * len(every)
    for one, other in ((a, b), (b, a)):
        one.matches.announce("comparison", other.matches, threads=threads, values=values)
    check_same_ground_truth(a, b, names=names)
    groups = enough_groups(a.matches, strata, clusters)
    permutations = operator.index(permutations)
    evidence = Evidence(numbers, (a, b), groups, replicates, check_seed(seed), threads, 2 * permutations)
    tests = permutation_tests(evidence, permutations, all_if_few=True)
    of_a, of_b = (observed.tolist() for observed in evidence.observed)
    undefined = evidence.undefined.tolist()
    parts = zip(every, of_a, of_b, evidence.differences, tests.p_values, undefined, strict=True)
    rows = [compared(level, *each) for each in parts]
    images = len(a.matches.image_ids)
    differences = [
        difference_of(row, vanished, tests, at, groups.num_clusters - 1, power, images)
        for at, (row, vanished) in enumerate(zip(rows[: len(listed)], evidence.vanished, strict=False))
    ]
    classes = {}
    for at, key in enumerate(of_classes):
        part = slice(len(listed) + at * len(labels), len(listed) + (at + 1) * len(labels))
        adjusted = tests.adjusted(part, correction, level)
        classes[key] = _of_classes(key, a.matches, rows[part], adjusted)
    return Comparison(
        tuple(differences),
        classes,
        images,
        groups.num_clusters,
        operator.index(replicates),
        len(tests.swapped),
        tests.is_every,
        operator.index(seed),
        correction,
    )


def compared(
    level: float, key: str, a: float, b: float, one: Estimate, p_value: float, undefined: float
) -> dict[str, Any]:
    """What `Difference` and `ClassDifference` both say of a number, by their fields."""
    number = ComparedNumber(key, a, b, one.value, *one.limits_of_difference(level), level, one.error, p_value)
    return {**vars(number), "method": "t", "undefined": undefined, "warnings": one.warnings}


@dataclass(frozen=True, eq=False)
class PermutationTests:
    """The differences, and what becomes of them if the detections of clusters are swapped at random."""

    observed: Floats
    """(Q,) the differences."""
    reached: npt.NDArray[np.int64]
    """(Q,) in how many permutations the difference is at least as large."""
    errors: Floats
    """(Q,) the standard errors of differences as the test sees them: it decides what is detected."""
    swapped: Floats
    """(P, Q) the differences in each permutation."""
    clusters: npt.NDArray[np.intp]
    """(Q,) on how many clusters the classes of numbers of classes are."""
    differing: npt.NDArray[np.intp]
    """(Q,) on how many clusters the models differ."""
    num_clusters: int
    """How many clusters there are."""
    asked: int
    """How many permutations were asked for; there are fewer if these are all ways to swap the clusters."""
    is_every: bool = False
    """Whether these are all ways to swap the clusters on which the models differ, besides the data itself."""

    @property
    def p_values(self) -> list[float]:
        """(Q,) two-sided p-values; NaN where undefined."""
        p_values = np.maximum((1 + self.reached) / (1 + len(self.swapped)), self._least)
        return [float(one) for one in np.where(np.isnan(self.observed), np.nan, p_values)]

    @cached_property
    def smallest(self) -> list[float]:
        """(Q,) the smallest p-values that the difference of any permutation could have.

        They are large, too, if the models differ in few images: most permutations are then equal.
        """
        sizes = np.abs(self.swapped)
        most = np.fmax(np.abs(self.observed), np.fmax.reduce(sizes, axis=0))
        shares = (1 + (~(sizes < most - ROUNDING)).sum(axis=0)) / (1 + len(sizes))  # undefined ones, too
        return [float(one) for one in np.maximum(shares, self._least)]

    @cached_property
    def _least(self) -> Floats:
        # Random permutations of few clusters may by chance hold the data itself less often than all of them do.
        made = len(self.swapped)
        return np.array([smallest_p_value(made, max(differing, 1)) for differing in self.differing.tolist()])

    def adjusted(self, part: slice, correction: ClassCorrection, level: float) -> list[float]:
        """The p-values of some numbers of classes, corrected for their number."""
        if correction != "westfall-young":
            return [float(one) for one in adjust_p_values(self.p_values[part], correction)]
        drawn, clusters = self.swapped[:, part], self.clusters[part]
        # The unit is the standard deviation over permutations. A class of which few images differ takes a part of it
        # from all, or a tiny difference would look large beside it.
        spread, _ = shared(variances(drawn), np.zeros(len(clusters)), clusters, clusters > 0)
        hopeless = np.array(self.smallest[part]) > alarm(level)
        adjusted = stepped_down(self.observed[part], drawn, np.sqrt(np.nan_to_num(spread)), hopeless)
        return [float(one) for one in np.maximum(adjusted, self._least[part])]


def permutation_tests(evidence: Evidence, permutations: int, *, all_if_few: bool = False) -> PermutationTests:
    """Swaps the detections of clusters on which the models differ: at random, or in all ways if there are so few.

    Args:
        evidence: The numbers and the clusters.
        permutations: How many, at most.
        all_if_few: Whether all ways are made if there are not more than permutations.
    """
    numbers, groups = evidence.numbers, evidence.groups
    observed = evidence.observed[1] - evidence.observed[0]
    reached, drawn = np.zeros(len(observed), np.int64), []
    # Clusters on which the models do not differ stay: to swap them would only move the ranks of their detections.
    tables = tuple(one.matches for one in evidence.evaluations)
    differs = evidence.differing
    some = np.zeros(groups.num_clusters, np.bool_)
    some[differs.clusters] = True
    # Models that are alike in most of what they find have scores on one scale, and ranks would move.
    both = interleave(*tables, same_scale=2 * len(differs.classes) < differs.places)
    count, of_classes = int(some.sum()), np.bincount(differs.classes, minlength=len(tables[0].evaluated))
    differing = np.where(numbers.classes < 0, count, of_classes[numbers.classes])
    every = all_if_few and 0 < 2**count - 1 <= permutations
    made = 2**count - 1 if every else permutations
    for start, stop in numbers.batches(both, made, replicates=2):
        if every:
            swaps = groups.all_swaps(1 + start, 1 + stop, some)
        else:
            swaps = groups.swaps(evidence.seed, start, stop) & some[groups.cluster]
        # What takes the place of `a` has the images of `a` that are not swapped and those of `b` that are.
        place_of_a = np.stack([~swaps, swaps], axis=2).reshape(len(swaps), -1)
        weights = np.concatenate([place_of_a, ~place_of_a]).astype(np.uint16)
        found = numbers.replicated(both, weights, evidence.threads)
        swapped = found[len(swaps) :] - found[: len(swaps)]
        # A permutation whose number is undefined counts as reached, so that it cannot make anything significant.
        reached += (~(np.abs(swapped) < np.abs(observed) - ROUNDING)).sum(axis=0)
        drawn.append(swapped)
        evidence.progress.add(evidence.further * (stop - start) / made)
    clusters = np.array([evidence.clusters_of(column)[max(at, 0)] for column, at in numbers.pairs], np.intp)
    permuted, count = np.ascontiguousarray(np.concatenate(drawn)), groups.num_clusters  # sums depend on the layout
    # A difference d of n clusters spreads its own permutations: their variance is larger by d ** 2 / n.
    spread = np.maximum(np.nan_to_num(permuted**2).mean(axis=0) - observed**2 / count, 0)
    errors = np.sqrt(spread * count / (count - 1))
    return PermutationTests(observed, reached, errors, permuted, clusters, differing, count, permutations, every)


def difference_of(
    row: Mapping[str, Any],
    vanished: Mapping[str, float],
    tests: PermutationTests,
    at: int,
    df: float,
    power: float,
    images: int,
) -> Difference:
    """The record of a difference, with what could be detected by the test.

    Args:
        row: What is known of it, see :func:`compared`.
        vanished: See :attr:`Difference.vanished`.
        tests: The tests of several numbers.
        at: Which of them this is.
        df: How well the standard error is known, as degrees of freedom.
        power: As for :func:`compare`.
        images: How many images there are.
    """
    level, error = row["level"], float(tests.errors[at])
    detectable = detectable_difference(error, level=level, power=power, df=df)
    if tests.smallest[at] > alarm(level) or detectable > 1:
        detectable = math.nan
    needed = None
    if tests.asked >= fewest_permutations(level):  # fewer would not show it on any number of images
        share = max(int(tests.differing[at]), 1) / tests.num_clusters
        clusters = images_needed(
            row["difference"],
            error,
            tests.num_clusters,
            level=level,
            power=power,
            df=df,
            p_value=row["p_value"],
            differing=share,
        )
        needed = None if clusters is None else math.ceil(clusters * images / tests.num_clusters)
    return Difference(detectable=detectable, power=power, images_needed=needed, vanished=vanished, **row)


def _of_classes(
    key: str, table: MatchTable, rows: Sequence[Mapping[str, Any]], adjusted: Sequence[float]
) -> tuple[ClassDifference, ...]:
    """The differences of one number for every category."""
    protocol = table.protocol
    area = protocol.area_of(find_measure(protocol, key))
    objects = table.num_objects[:, protocol.position_of_area(area)].tolist()
    return tuple(
        ClassDifference(
            category=label, category_id=number, num_objects=count, p_adjusted=corrected, **{**row, "key": key}
        )
        for label, number, count, row, corrected in zip(
            labels_of(table), table.evaluated.ids.tolist(), objects, rows, adjusted, strict=True
        )
    )
