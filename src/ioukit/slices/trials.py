"""Is a slice worse than chance makes it? One trial per slice, and a correction for their number.

Owns the three comparisons, each with random data of its own: images against random sets of images, objects against the
other objects by recall, and two models against swapped ones. Does not own which slices there are, nor what is listed
(``searching.py``), nor the numbers themselves (`NamedNumbers`).
Cut here because every comparison gives the same `Trial`: a score, and the scores of B random data. All slices see the
same random data, which is what makes the correction of `adjusted` valid and cheap for slices that overlap.
Objects are compared by recall, since false positives belong to no object. AP of few images is higher than AP of many by
chance alone, so a set of images is compared with sets of its own size and not with the rest.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Flags, Floats
from ioukit.evaluation import Evaluation, MatchTable
from ioukit.statistics import interleave, permutation_swaps
from ioukit.statistics.named_numbers import NamedNumbers
from ioukit.statistics.resampling import ImageGroups, Labels

# Streams of random numbers: for signs, and for orders of clusters. The bootstrap and swaps of models have others.
_SIGNS, _ORDERS = 3, 4
_ROUNDING = 1e-12


class Chance(NamedTuple):
    """How random data without an effect are made, and the number that is compared on them."""

    numbers: NamedNumbers
    """A single number."""
    groups: ImageGroups
    """The clusters of the images of the whole data set."""
    clusters: Labels | None
    """Their labels, as they were given."""
    permutations: int
    """How many random data sets."""
    seed: int
    """The same seed gives the same random data for every slice."""
    threads: int | None
    """All cores if ``None``."""

    def observed(self, table: MatchTable) -> float:
        """The number of a table."""
        return float(self.numbers.observed(Evaluation.from_table(table, threads=self.threads))[0])

    def replicated(self, table: MatchTable, weights: npt.NDArray[np.uint16]) -> Floats:
        """(B,) the number of (B, I) weights of the images of a table."""
        return self.numbers.replicated(table, weights, self.threads)[:, 0]


@dataclass(frozen=True, eq=False)
class Trial:
    """The number of a slice, and what chance makes of it."""

    value: float
    """The number."""
    expected: float
    """What it is compared with."""
    loss: float
    """How much worse the number is than what it is compared with; above 0 if it is worse."""
    standard_error: float
    """How far other images move the difference; NaN if that is not known."""
    score: float
    """Minus the loss, in units of what chance does: the lower, the worse; NaN if it is undefined."""
    by_chance: Floats
    """(B,) the same score for each of B random data without an effect; the same data for all slices."""
    clusters: int = 0
    """Of a comparison of recalls: on how many clusters the objects of the slice are, or the others if on fewer."""


def of_random_images(table: MatchTable, chosen: Flags, value: float, chance: Chance) -> Trial:
    """Compare the number on some images with those on random sets of as many images, or of as many clusters.

    Args:
        table: The matches of the whole data set.
        chosen: (I,) the images; all images of a cluster are chosen, or none.
        value: The number on these images.
        chance: The number, the clusters, and how many random sets.
    """
    cluster = chance.groups.cluster
    of_cluster = np.zeros(chance.groups.num_clusters, np.uint16)
    of_cluster[cluster] = chosen
    sets = np.empty((chance.permutations, len(chosen)), np.uint16)
    for at, row in enumerate(sets):
        stream = np.random.default_rng(np.random.SeedSequence(chance.seed, spawn_key=(_ORDERS, at)))
        row[:] = stream.permutation(of_cluster)[cluster]
    drawn = chance.replicated(table, sets)
    # With the data itself among them, the p-value holds exactly, not only for many permutations.
    every = np.append(drawn, value)
    every = every[~np.isnan(every)]
    expected, error = (float(every.mean()), float(every.std())) if len(every) else (math.nan, math.nan)
    return _trial(value, expected, error, drawn - expected, lower_is_better=_lower_is_better(chance.numbers))


def of_recall(inside: MatchTable, rest: MatchTable, chance: Chance) -> Trial:
    """Compare the recall of some objects with that of the others, averaged over classes.

    What chance does is found by giving what each cluster adds to the difference a random sign, where both have the
    same recall (the wild bootstrap, with its null hypothesis imposed). With recalls of their own, a few clusters that
    are far from all others would look alike, and chance too small. If all objects of a side are in one cluster, it is
    not known: nothing shows how much another cluster would differ.

    Args:
        inside: The matches of the objects.
        rest: The matches of the others.
        chance: The clusters, and how many times.

    Sources: Cameron, Gelbach and Miller, Bootstrap-based improvements for inference with clustered errors, 2008.
    Chernozhukov, Chetverikov and Kato, Gaussian approximations and multiplier bootstrap for maxima of sums of
    high-dimensional random vectors, 2013.
    """
    cluster, count = chance.groups.cluster, chance.groups.num_clusters
    found = recall_difference(inside, rest, cluster)
    apart, alike = (np.bincount(cluster, each, count) for each in (found.influence, found.influence_if_alike))
    clusters = min(len(np.unique(cluster[images])) for images in found.images)
    stream = np.random.default_rng(np.random.SeedSequence(chance.seed, spawn_key=(_SIGNS,)))
    signs = (stream.integers(0, 2, count) * 2.0 - 1.0 for _ in range(chance.permutations))
    drawn = np.array([float(alike @ each) for each in signs])
    by_chance = math.sqrt(float((alike**2).sum())) if clusters > 1 else math.nan
    trial = _trial(found.recall, found.recall - found.difference, by_chance, drawn)
    error = math.sqrt(float((apart**2).sum()) * count / max(count - 1, 1)) if clusters > 1 else math.nan
    return dataclasses.replace(trial, standard_error=error, clusters=clusters)


def of_swapped_models(
    a: MatchTable, b: MatchTable, images: Flags | slice, image_ids: npt.NDArray[np.generic], chance: Chance
) -> Trial:
    """Compare two models on a slice with models whose detections are swapped on random images or clusters.

    Args:
        a: The matches of the first model on the slice.
        b: The matches of the second model.
        images: Which images of the whole data set both tables have.
        image_ids: (I,) the ids of the images of the whole data set.
        chance: The number, the clusters, and how many times.
    """
    swaps = permutation_swaps(image_ids, chance.permutations, seed=chance.seed, clusters=chance.clusters)
    swaps = swaps[:, images].astype(np.uint16)
    joint = interleave(a, b)
    weights = np.empty((len(swaps), 2 * swaps.shape[1]), np.uint16)
    drawn = []
    for swapped in (swaps, 1 - swaps):
        weights[:, ::2], weights[:, 1::2] = 1 - swapped, swapped
        drawn.append(chance.replicated(joint, weights))
    first, second = chance.observed(a), chance.observed(b)
    differences = drawn[1] - drawn[0]
    every = np.append(differences, second - first)
    every = every[~np.isnan(every)]
    error = math.sqrt(float((every**2).mean())) if len(every) else math.nan
    return _trial(second, first, error, differences, lower_is_better=_lower_is_better(chance.numbers))


def _lower_is_better(numbers: NamedNumbers) -> bool:
    """Whether a lower number is better, for the first of some numbers."""
    return numbers.measures[int(numbers.columns[0])].lower_is_better


def _trial(value: float, expected: float, error: float, drawn: Floats, *, lower_is_better: bool = False) -> Trial:
    sign = -1 if lower_is_better else 1
    loss = sign * (expected - value)
    if not error > 0:
        return Trial(value, expected, loss, error, math.nan, np.full(len(drawn), math.nan))
    return Trial(value, expected, loss, error, sign * (value - expected) / error, sign * drawn / error)


def adjusted(trials: Sequence[Trial]) -> tuple[Floats, Floats]:
    """(S,) p-values of each trial alone, and (S,) p-values for all of them together; NaN where undefined.

    The second is the share of the random data in which the lowest score of all slices is at most that of the slice. So
    the probability of even one false alarm is at most the level, and slices that hold the same images cost little:
    Holm's correction would treat them as independent.

    Source: Westfall and Young, Resampling-based multiple testing, 1993, section 2.5.
    """
    scores = np.array([one.score for one in trials])
    drawn = np.array([np.where(np.isnan(one.by_chance), np.inf, one.by_chance) for one in trials])  # (S, B)
    if not len(trials):
        return np.zeros(0), np.zeros(0)
    # Equal up to rounding counts as equal.
    reached = scores[:, np.newaxis] + 1e-9
    alone = (1 + (drawn <= reached).sum(axis=1)) / (1 + drawn.shape[1])
    lowest = drawn.min(axis=0)
    together = (1 + (lowest <= reached).sum(axis=1)) / (1 + drawn.shape[1])
    undefined = np.isnan(scores)
    return np.where(undefined, np.nan, alone), np.where(undefined, np.nan, together)


class RecallDifference(NamedTuple):
    """How much less, or more, of some objects is found."""

    recall: float
    """The recall of the objects, the mean over classes with the same weights as the difference."""
    difference: float
    """It minus the recall of the others; NaN if no class has both."""
    influence: Floats
    """(I,) what each image adds to the difference, around the recall of each side: the sum of their squares is its
    variance."""
    influence_if_alike: Floats
    """(I,) the same around the recall of both together: the sum of the squares of clusters is the variance if both
    recalls are the same."""
    images: tuple[Flags, Flags]
    """(I,) whether each image has some of the objects, and whether it has some of the others; of the classes that both
    have."""


class _Recalled(NamedTuple):
    """Objects and what is found of them, by class."""

    objects: npt.NDArray[np.int64]
    """(K,) how many there are."""
    found: Floats
    """(K,) how many are found, the mean over IoU thresholds."""
    object_class: npt.NDArray[np.intp]
    """(G,) class of each object."""
    object_image: npt.NDArray[np.intp]
    match_class: npt.NDArray[np.intp]
    """(N,) class of each detection."""
    match_image: npt.NDArray[np.intp]
    match_share: Floats
    """(N,) the share of the IoU thresholds at which it finds an object."""


def recall_difference(inside: MatchTable, rest: MatchTable, cluster: npt.NDArray[np.intp]) -> RecallDifference:
    """The difference of recalls, averaged over classes.

    The recall is the mean over the IoU thresholds, with the main cap and in the main area range. A class weighs as much
    as its ``n m / (n + m)`` objects, with ``n`` and ``m`` the numbers of its objects on either side (Mantel and
    Haenszel's weights): so a slice that has other classes than the rest is not worse for that alone, and a class with
    few objects on one side cannot decide.

    Args:
        inside: The matches of the chosen objects.
        rest: The matches of all others, of the same images.
        cluster: (I,) the cluster of each image.

    Source: Mantel and Haenszel, Statistical aspects of the analysis of data from retrospective studies of disease,
    1959; Greenland and Robins, Estimation of a common effect parameter from sparse follow-up data, 1985.
    """
    sides = [_recalled(table) for table in (inside, rest)]
    counts = [side.objects.astype(np.float64) for side in sides]
    total = counts[0] + counts[1]
    weight = np.divide(counts[0] * counts[1], total, out=np.zeros(len(total)), where=total > 0)
    images = len(inside.image_ids)
    if not weight.any():
        none = np.zeros(images, np.bool_)
        return RecallDifference(math.nan, math.nan, np.zeros(images), np.zeros(images), (none, none))
    weight /= weight.sum()
    of_both = np.divide(sides[0].found + sides[1].found, total, out=np.zeros(len(total)), where=total > 0)
    scales = _scales(sides, total, cluster)
    recalls, influences = [], []
    for side, count, (of_objects, of_matches) in zip(sides, counts, scales, strict=True):
        each = np.divide(weight, count, out=np.zeros(len(count)), where=(weight > 0) & (count > 0))
        recall = np.divide(side.found, count, out=np.zeros(len(count)), where=count > 0)
        recalls.append(float((weight * recall).sum()))
        gained, lost = each[side.match_class] * side.match_share, each[side.object_class]
        influences.append(
            [
                np.bincount(side.match_image, gained * scale_of_matches, images)
                - np.bincount(side.object_image, lost * expected[side.object_class] * scale_of_objects, images)
                for expected, scale_of_objects, scale_of_matches in (
                    (recall, 1.0, 1.0),
                    (of_both, of_objects, of_matches),
                )
            ]
        )
    with_objects = [
        np.bincount(side.object_image[weight[side.object_class] > 0], minlength=images) > 0 for side in sides
    ]
    apart, alike = (one - other for one, other in zip(*influences, strict=True))
    return RecallDifference(recalls[0], recalls[0] - recalls[1], apart, alike, (with_objects[0], with_objects[1]))


def _scales(sides: Sequence[_Recalled], total: Floats, cluster: npt.NDArray[np.intp]) -> list[tuple[Floats, Floats]]:
    """For each side, by how much residuals of its objects, and of its matches, are too small.

    Where a cluster has the share h of the objects of a class, it pulls their recall towards its own: the square of its
    distance to that is too small by the factor ``1 - 2 h + H``, with H the sum of all squares of such shares.
    """
    clusters = int(cluster.max(initial=0)) + 1
    of_objects = [one.object_class * clusters + cluster[one.object_image] for one in sides]
    places, count = np.unique(np.concatenate(of_objects), return_counts=True)
    kind = places // clusters
    share = count / total[kind]
    left = 1 - 2 * share + np.bincount(kind, share**2, len(total))[kind]
    scale = 1 / np.sqrt(np.where(left > _ROUNDING, left, 1))  # a class in one cluster has no distance
    of_matches = [one.match_class * clusters + cluster[one.match_image] for one in sides]
    return [
        (scale[np.searchsorted(places, objects)], scale[np.searchsorted(places, matches).clip(max=len(places) - 1)])
        for objects, matches in zip(of_objects, of_matches, strict=True)
    ]


def _recalled(table: MatchTable) -> _Recalled:
    protocol = table.protocol
    size = len(table.evaluated)
    within = table.is_within_cap(protocol.main_max_dets)
    share = np.zeros(len(table))
    for threshold in protocol.iou_thresholds:
        share += table.is_true_positive(threshold) & within
    share /= len(protocol.iou_thresholds)
    counted = ~table.ignores(protocol.main_area)
    category = table.evaluated_category(table.objects.category)[counted].astype(np.intp)
    of_matches = table.evaluated_category(table.detections.category).astype(np.intp)
    return _Recalled(
        np.bincount(category, minlength=size),
        np.bincount(of_matches, share, size).astype(np.float64),
        category,
        table.objects.image[counted].astype(np.intp),
        of_matches,
        table.detections.image.astype(np.intp),
        share,
    )
