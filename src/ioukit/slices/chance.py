"""What chance alone does: the numbers of random sets of images."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit.evaluation import MatchTable
from ioukit.statistics.named_numbers import NamedNumbers

__all__ = ["RandomSplits", "mean_of_defined"]

Floats: TypeAlias = npt.NDArray[np.float64]

_SPLITS = 50


class RandomSplits:
    """The mean difference of the numbers of random sets of images to those of the rest.

    Under a fair coin, it would be 0 for a mean over images. AP is not such a mean: of few images, it is higher.
    """

    def __init__(self, table: MatchTable, numbers: NamedNumbers, seed: int, threads: int | None) -> None:
        """Take the matches of the whole data set and the numbers."""
        self._table, self._numbers, self._seed, self._threads = table, numbers, seed, threads
        self._known: dict[int, Floats] = {}

    def difference(self, count: int) -> Floats:
        """(Q,) the mean difference to the rest, of random sets of this many images."""
        if count not in self._known:
            images = len(self._table.image_ids)
            stream = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(2, count)))
            chosen = np.zeros((_SPLITS, images), np.uint16)
            for row in chosen:
                row[stream.choice(images, count, replace=False)] = 1
            made = [self._numbers.replicated(self._table, one, self._threads) for one in (chosen, 1 - chosen)]
            self._known[count] = mean_of_defined(made[0] - made[1])  # an empty set has no numbers
        return self._known[count]


def mean_of_defined(replicates: Floats) -> Floats:
    """(Q,) the mean of the numbers of (B, Q) replicates that are defined; NaN if none is."""
    known = ~np.isnan(replicates)
    sums = np.where(known, replicates, 0.0).sum(axis=0)
    none = np.full(replicates.shape[1], np.nan)
    found: Floats = np.divide(sums, known.sum(axis=0), out=none, where=known.any(axis=0))
    return found
