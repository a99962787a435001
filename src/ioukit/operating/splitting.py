"""Images in halves and in parts, with clusters whole and by a seed."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit.statistics.resampling import ImageGroups

_HALVES, _PARTS = 2, 3  # streams of random numbers; the bootstrap and permutations have 0 and 1

Numbers: TypeAlias = npt.NDArray[np.intp]


def halves(groups: ImageGroups, splits: int, seed: int) -> npt.NDArray[np.bool_]:
    """(splits, I) whether each image is in the first half: half of the clusters, rounded down."""
    first = np.zeros((splits, groups.num_clusters), np.bool_)
    for number, row in enumerate(first):
        row[_shuffled(groups, seed, _HALVES, number)[: groups.num_clusters // 2]] = True
    return first[:, groups.cluster]


def parts(groups: ImageGroups, count: int, seed: int) -> Numbers:
    """(I,) the part of each image, 0 to ``count - 1``; parts differ by at most one cluster."""
    of_cluster = np.empty(groups.num_clusters, np.intp)
    of_cluster[_shuffled(groups, seed, _PARTS, 0)] = np.arange(groups.num_clusters) % count
    return of_cluster[groups.cluster]


def _shuffled(groups: ImageGroups, seed: int, kind: int, number: int) -> Numbers:
    stream = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(kind, number))))
    return stream.permutation(groups.num_clusters)
