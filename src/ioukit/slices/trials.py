"""Is a slice worse than chance makes it? One trial per slice, and a correction for their number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit.evaluation import Evaluation, MatchTable
from ioukit.slices.recalls import recall_difference
from ioukit.statistics import interleave, permutation_swaps
from ioukit.statistics.drawing import ImageGroups, Labels
from ioukit.statistics.named_numbers import NamedNumbers

__all__ = ["Trial", "adjusted", "of_random_images", "of_recall", "of_swapped_models"]

Bools: TypeAlias = npt.NDArray[np.bool_]
Floats: TypeAlias = npt.NDArray[np.float64]

_SIGNS = 3  # the stream of random numbers for signs; the bootstrap and the permutations of models have others
_ORDERS = 4


@dataclass(frozen=True, eq=False)
class Trial:
    """The number of a slice, and what chance makes of it."""

    value: float
    """The number."""
    expected: float
    """What it is compared with."""
    standard_error: float
    """How far chance moves the difference."""
    score: float
    """The difference over its standard error: the lower, the worse; NaN if it is undefined."""
    by_chance: Floats
    """(B,) the same score for each of B random data without an effect; the same data for all slices."""


def of_random_images(
    table: MatchTable,
    chosen: Bools,
    numbers: NamedNumbers,
    groups: ImageGroups,
    permutations: int,
    seed: int,
    value: float,
    threads: int | None,
) -> Trial:
    """Compare the number on some images with those on random sets of as many images, or of as many clusters.

    Args:
        table: The matches of the whole data set.
        chosen: (I,) the images; all images of a cluster are chosen, or none.
        numbers: The number.
        groups: The clusters.
        permutations: How many random sets.
        seed: The seed; the same seed gives the same order of the clusters for every slice.
        value: The number on these images.
        threads: How many threads; all cores if ``None``.
    """
    of_cluster = np.zeros(groups.num_clusters, np.uint16)
    of_cluster[groups.cluster] = chosen
    sets = np.empty((permutations, len(chosen)), np.uint16)
    for at, row in enumerate(sets):
        stream = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_ORDERS, at)))
        row[:] = stream.permutation(of_cluster)[groups.cluster]
    drawn = numbers.replicated(table, sets, threads)[:, 0]
    # With the data itself among them, the p-value holds exactly, not only for many permutations.
    every = np.append(drawn, value)
    every = every[~np.isnan(every)]
    expected, error = (float(every.mean()), float(every.std())) if len(every) else (math.nan, math.nan)
    return _trial(value, expected, error, drawn - expected)


def of_recall(inside: MatchTable, rest: MatchTable, groups: ImageGroups, permutations: int, seed: int) -> Trial:
    """Compare the recall of some objects with that of the others, averaged over classes.

    What chance does is found by giving what each cluster adds to the difference a random sign (the wild bootstrap).

    Args:
        inside: The matches of the objects.
        rest: The matches of the others.
        groups: The clusters.
        permutations: How many times.
        seed: The seed.

    Source: Chernozhukov, Chetverikov and Kato, Gaussian approximations and multiplier bootstrap for maxima of sums of
    high-dimensional random vectors, 2013.
    """
    found = recall_difference(inside, rest)
    count = groups.num_clusters
    influence = np.bincount(groups.cluster, found.influence, count)
    error = math.sqrt(float((influence**2).sum()) * count / max(count - 1, 1))
    stream = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_SIGNS,)))
    drawn = np.array([float(influence @ (stream.integers(0, 2, count) * 2.0 - 1.0)) for _ in range(permutations)])
    return _trial(found.recall, found.recall - found.difference, error, drawn)


def of_swapped_models(
    a: MatchTable,
    b: MatchTable,
    images: Bools | slice,
    numbers: NamedNumbers,
    image_ids: npt.NDArray[np.generic],
    permutations: int,
    seed: int,
    clusters: Labels | None,
    threads: int | None,
) -> Trial:
    """Compare two models on a slice with models whose detections are swapped on random images or clusters.

    Args:
        a: The matches of the first model on the slice.
        b: The matches of the second model.
        images: Which images of the whole data set both tables have.
        numbers: The number.
        image_ids: (I,) the ids of the images of the whole data set.
        permutations: How many times.
        seed: The seed.
        clusters: The clusters of the images.
        threads: How many threads; all cores if ``None``.
    """
    swaps = permutation_swaps(image_ids, permutations, seed=seed, clusters=clusters)[:, images].astype(np.uint16)
    joint = interleave(a, b)
    weights = np.empty((len(swaps), 2 * swaps.shape[1]), np.uint16)
    drawn = []
    for swapped in (swaps, 1 - swaps):
        weights[:, ::2], weights[:, 1::2] = 1 - swapped, swapped
        drawn.append(numbers.replicated(joint, weights, threads)[:, 0])
    first, second = (float(numbers.observed(Evaluation.from_table(one, threads=threads))[0]) for one in (a, b))
    differences = drawn[1] - drawn[0]
    every = np.append(differences, second - first)
    every = every[~np.isnan(every)]
    error = math.sqrt(float((every**2).mean())) if len(every) else math.nan
    return _trial(second, first, error, differences)


def _trial(value: float, expected: float, error: float, drawn: Floats) -> Trial:
    if not error > 0:
        return Trial(value, expected, error, math.nan, np.full(len(drawn), math.nan))
    return Trial(value, expected, error, (value - expected) / error, drawn / error)


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
