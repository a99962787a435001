"""The two match tables of a comparison, and what each of them says at every IoU threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Flags, Rows
from ioukit.evaluation import MatchTable, NearPairs

if TYPE_CHECKING:
    from ioukit.evaluation import Evaluation


NEAR = 0.1
"""The lowest IoU of the near pairs: the background threshold of TIDE."""


def table_with_near_pairs(evaluation: Evaluation) -> MatchTable:
    """The match table, with near pairs if it has them or they can be made of the data."""
    matches = evaluation.matches
    if matches.near is not None and matches.near.least <= NEAR:
        return matches
    if evaluation.ground_truth is None or evaluation.detections is None:
        return matches
    return evaluation.near_matches(NEAR)


def near_pairs_of(table: MatchTable) -> NearPairs | None:
    """The near pairs of a table, if it has all that the kinds of errors need."""
    return table.near if table.near is not None and table.near.least <= NEAR else None


class Side(NamedTuple):
    """One model: its detections in one area range within one cap, at every IoU threshold."""

    table: MatchTable
    """Its matches."""
    found: Flags
    """(N, T) whether each detection is a true positive."""
    false: Flags
    """(N, T) whether each detection is a false positive."""
    object: Rows
    """(N, T) row of the object of each true positive; -1 for none."""

    @classmethod
    def of(cls, table: MatchTable, area_range: str, max_dets: int | None) -> Side:
        """The outcomes in an area range with a cap."""
        count = len(table.protocol.iou_thresholds)
        area = table.protocol.position_of_area(area_range)
        within = table.is_within_cap(max_dets)[:, None]
        matched = _unpacked(table.detections.matched[:, area], count)
        counts = within & ~_unpacked(table.detections.ignored[:, area], count)
        found = counts & matched
        objects = np.full(found.shape, -1)
        pairs = _unpacked(table.pairs.matched[:, area], count)
        pair, at = np.nonzero(pairs)
        objects[table.pairs.detection[pair], at] = table.pairs.object[pair]
        objects[~found] = -1
        return cls(table, found, counts & ~matched, objects)

    def finds(self) -> Flags:
        """(G, T) whether a detection finds each object."""
        detection, at = np.nonzero(self.found)
        flags = np.zeros((len(self.table.objects), self.found.shape[1]), np.bool_)
        flags[self.object[detection, at], at] = True
        return flags


def _unpacked(sets: npt.NDArray[np.uint8], count: int) -> Flags:
    """(..., T) sets of thresholds (..., B) as bools."""
    return np.unpackbits(sets, axis=-1, count=count, bitorder="little").astype(np.bool_)
