"""Ids that no other data set has."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

__all__ = ["free_ids", "looked_up"]

Ids = npt.NDArray[np.int64]


def free_ids(ids: Ids, used: Ids) -> Ids:
    """(N,) the ids, with new ones in the place of those that are used: the next numbers behind all of both."""
    taken = np.isin(ids, used)
    count = int(taken.sum())
    if not count:
        return ids
    start = int(max(ids.max(), used.max())) + 1
    made: Ids = ids.copy()
    if start + count <= np.iinfo(np.int64).max:
        made[taken] = np.arange(start, start + count)
    else:  # there are no numbers behind these
        candidates = np.arange(1, len(ids) + len(used) + 1)
        made[taken] = np.setdiff1d(candidates, np.union1d(ids, used))[:count]
    return made


def looked_up(ids: Ids, new: Mapping[int, int], *, others: bool = False) -> Ids:
    """(N,) the new ids; with ``others``, ids that have no new one stay."""
    unique, places = np.unique(ids, return_inverse=True)
    listed = [new.get(old, old) if others else new[old] for old in unique.tolist()]
    values = np.array(listed, np.int64)
    found: Ids = values[places.reshape(-1)]
    return found
