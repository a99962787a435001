"""Is one model better than another, or was it the choice of images?"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ioukit._array_types import Floats
from ioukit._checks import check_choice, check_count
from ioukit.evaluation import Evaluation, MatchTable
from ioukit.evaluation._same_scene import check_same_ground_truth
from ioukit.statistics.copies import interleave
from ioukit.statistics.correction import Correction, adjust_p_values, check_correction
from ioukit.statistics.detectable import check_power, detectable_difference, images_needed
from ioukit.statistics.differences import ClassDifference, Comparison, Difference
from ioukit.statistics.estimating import check_options, enough_groups, left_out, resampled
from ioukit.statistics.limits import Method, find_limits
from ioukit.statistics.named_numbers import NamedNumbers, chosen_keys, labels_of, named_numbers
from ioukit.statistics.resampling import ImageGroups, Labels, check_seed


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
    method: Method = "percentile",
    strata: Labels | None = None,
    clusters: Labels | None = None,
    correction: Correction = "holm",
    threads: int | None = None,
) -> Comparison:
    """The differences between two models, with intervals and p-values.

    Both models are evaluated on the same images, and a hard image is hard for both. So the difference is known better
    than each of the two numbers: the bootstrap draws the same images for both. The p-value comes from a permutation
    test: if the models are equally good, the detections of an image could as well be those of the other model.

    Args:
        a: The evaluation of the first model.
        b: The evaluation of the second model, on the same ground truth.
        keys: The numbers to compare, as for :func:`intervals`; all of the summary if ``None``.
        per_class: Keys of the summary that are compared for every category, too, such as ``"AP"``.
        level: The probability with which an interval should hold the true difference, within (0, 1).
        power: The probability with which :attr:`Difference.detectable` would be found, within [0.5, 1).
        replicates: How many replicates of the bootstrap.
        permutations: How many permutations. The smallest p-value is ``1 / (1 + permutations)``.
        seed: A whole number of at least 0. The same seed gives the same bits, for any number of threads.
        method: ``"percentile"`` or ``"bca"``, see :func:`intervals`. AP is biased upwards, which BCa corrects; in a
            difference the biases of both models cancel, so percentiles are as good here, and need less time.
        strata: The stratum of each image, see :func:`intervals`.
        clusters: The cluster of each image, see :func:`intervals`. Clusters are swapped as a whole, too.
        correction: How p-values of categories are corrected for their number, see :func:`adjust_p_values`.
        threads: How many threads; all cores if ``None``.

    Returns:
        The differences ``b - a``. Exchanging the models changes their signs and no other bit.

    Raises:
        ValueError: If the models were not evaluated on the same ground truth, there is no such number, there are fewer
            than two clusters, or a value is out of range.
        TypeError: If a count or the seed is not a whole number.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapters 14 and 15. The p-value counts the
    data itself as one permutation: Phipson and Smyth, Permutation p-values should never be zero, 2010.
    """
    check_options(level, method)
    check_correction(correction)
    check_power(power)
    check_count(replicates=replicates, permutations=permutations)
    check_same_ground_truth(a, b)
    listed = chosen_keys(keys, a)
    of_classes = [per_class] if isinstance(per_class, str) else list(per_class)
    labels = labels_of(a.matches)
    for key in of_classes:
        check_choice("number of per_class", key, tuple(a.summary))
    every = [*listed, *(f"{key}/{label}" for key in of_classes for label in labels)]
    groups = enough_groups(a.matches, strata, clusters)
    options = _Options(level, replicates, permutations, check_seed(seed), method, threads)
    rows, vanished = _tested(a, b, named_numbers(a, every), options, groups)
    images = len(a.matches.image_ids)
    differences = [_difference(*each, power, images) for each in zip(listed, rows, vanished, strict=False)]
    classes = {}
    for at, key in enumerate(of_classes):
        start = len(listed) + at * len(labels)
        classes[key] = _of_classes(key, a.matches, rows[start : start + len(labels)], correction)
    return Comparison(
        tuple(differences),
        classes,
        images,
        groups.num_clusters,
        operator.index(replicates),
        operator.index(permutations),
        operator.index(seed),
        correction,
    )


class _Options(NamedTuple):
    level: float
    replicates: int
    permutations: int
    seed: int
    method: str
    threads: int | None


class _Row(NamedTuple):
    """What `Difference` and `ClassDifference` both say of a number."""

    a: float
    b: float
    difference: float
    low: float
    high: float
    level: float
    standard_error: float
    p_value: float
    method: str
    undefined: float


def _tested(
    a: Evaluation, b: Evaluation, numbers: NamedNumbers, options: _Options, groups: ImageGroups
) -> tuple[list[_Row], Sequence[Mapping[str, float]]]:
    """The differences of some numbers of two models, with limits and p-values; and which categories vanished."""
    tables = (a.matches, b.matches)
    drawn = resampled(tables, numbers, groups, options.replicates, options.seed, options.threads)
    replicates = drawn.values[1] - drawn.values[0]
    left = None
    if options.method == "bca":
        of_a, of_b = left_out(tables, numbers, groups, options.threads)
        left = of_b - of_a
    observed = numbers.observed(a), numbers.observed(b)
    differences = observed[1] - observed[0]
    p_values = _permuted(*tables, numbers, differences, options, groups)
    rows = []
    for at, difference in enumerate(differences.tolist()):
        without = None if left is None else left[:, at]
        limits = find_limits(difference, replicates[:, at], options.level, left_out=without, groups=groups.strata)
        values = float(observed[0][at]), float(observed[1][at]), difference, limits.low, limits.high, options.level
        rows.append(_Row(*values, limits.standard_error, float(p_values[at]), limits.method, limits.undefined))
    return rows, drawn.vanished


def _permuted(
    a: MatchTable, b: MatchTable, numbers: NamedNumbers, observed: Floats, options: _Options, groups: ImageGroups
) -> Floats:
    """(Q,) two-sided p-values of the differences, by swapping the detections of clusters; NaN where undefined."""
    both = interleave(a, b)
    reached = np.zeros(len(observed), np.int64)
    for start, stop in numbers.batches(both, options.permutations, replicates=2):
        swaps = groups.swaps(options.seed, start, stop)
        # What takes the place of `a` has the images of `a` that are not swapped and those of `b` that are.
        place_of_a = np.stack([~swaps, swaps], axis=2).reshape(len(swaps), -1)
        found = numbers.replicated(both, np.concatenate([place_of_a, ~place_of_a]).astype(np.uint16), options.threads)
        swapped = found[len(swaps) :] - found[: len(swaps)]
        # A permutation whose number is undefined counts as reached, so that it cannot make anything significant.
        reached += (~(np.abs(swapped) < np.abs(observed))).sum(axis=0)
    return np.where(np.isnan(observed), np.nan, (1 + reached) / (1 + options.permutations))


def _difference(key: str, row: _Row, vanished: Mapping[str, float], power: float, images: int) -> Difference:
    error, level = row.standard_error, row.level
    return Difference(
        key=key,
        detectable=detectable_difference(error, level=level, power=power),
        power=power,
        images_needed=images_needed(row.difference, error, images, level=level, power=power, p_value=row.p_value),
        vanished=vanished,
        **row._asdict(),
    )


def _of_classes(
    key: str, table: MatchTable, rows: Sequence[_Row], correction: Correction
) -> tuple[ClassDifference, ...]:
    """The differences of one number for every category."""
    adjusted = adjust_p_values([row.p_value for row in rows], correction).tolist()
    protocol = table.protocol
    (measure,) = (measure for measure in protocol.measures if measure.key == key)
    area = protocol.area_of(measure)
    objects = table.num_objects[:, protocol.position_of_area(area)].tolist()
    return tuple(
        ClassDifference(
            key=key, category=label, category_id=number, num_objects=count, p_adjusted=corrected, **row._asdict()
        )
        for label, number, count, row, corrected in zip(
            labels_of(table), table.evaluated.ids.tolist(), objects, rows, adjusted, strict=True
        )
    )
