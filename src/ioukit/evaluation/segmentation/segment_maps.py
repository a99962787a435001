"""The areas that segments of two maps share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit.datasets.formats.panoptic_png import HIGHEST_ID, SegmentMap

__all__ = ["PairAreas", "pair_areas"]


class PairAreas(NamedTuple):
    """The pixels that segments of two maps share: one row per pair that shares any, in ascending order."""

    first: npt.NDArray[np.int64]
    """(P,) ids in the first map, 0 for void."""
    second: npt.NDArray[np.int64]
    """(P,) ids in the second map, 0 for void."""
    area: npt.NDArray[np.int64]
    """(P,) pixels."""


def pair_areas(first: SegmentMap, second: SegmentMap) -> PairAreas:
    """How many pixels each pair of segments shares.

    Raises:
        DatasetError: If an id is out of range.
    """
    height, width = first.size
    count = height * width
    if not count:
        return PairAreas(*np.zeros((3, 0), np.int64))
    begins = np.zeros(count, np.bool_)
    begins[0] = True
    begins[first.run_starts()] = True
    begins[second.run_starts()] = True
    starts = np.flatnonzero(begins)
    keys = first.ids_at(starts) << np.uint64(32) | second.ids_at(starts)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    groups = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    area = np.add.reduceat(np.diff(starts, append=count)[order], groups)
    pairs = keys[groups]
    second_ids = (pairs & np.uint64(HIGHEST_ID)).astype(np.int64)
    return PairAreas((pairs >> np.uint64(32)).astype(np.int64), second_ids, area.astype(np.int64))
