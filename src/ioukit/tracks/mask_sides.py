"""The masks of both sides as the rules of a protocol see them: pairs, and detections that regions cover."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ioukit import _core
from ioukit.evaluation.kinds.kind import measured_pairs
from ioukit.evaluation.kinds.masks import masks_of_both
from ioukit.regions.masks import Masks
from ioukit.tracks.measures import EPSILON, MATCH_THRESHOLD
from ioukit.tracks.overlaps import compared_sides, frame_tables

if TYPE_CHECKING:
    from ioukit._array_types import Flags, Positions, Rows
    from ioukit.datasets import Detections, GroundTruth
    from ioukit.tracks.identities import FrameRows


class MaskSides:
    """What `protocols.py` asks of boxes, for masks. All regions of a frame are one, as in MOTS."""

    def __init__(
        self,
        gt: GroundTruth,
        dt: Detections,
        is_region: Flags,
        places: tuple[Positions, Positions],
        threads: int,
    ) -> None:
        """Take both sides, which objects are regions, and the places of the frames of both."""
        self._is_region, self._places, self._threads = is_region, places, threads
        self._compared = compared_sides(gt, dt, dt.image_ids_in(gt.images), threads, all_categories=True)

    @cached_property
    def _masks(self) -> tuple[Masks, Masks]:
        """Those of both sides, read when they are asked for: many data have no regions that take detections away."""
        return masks_of_both(self._compared, "segm")

    def pairs(self, objects: FrameRows, found: FrameRows) -> tuple[Rows, Rows]:
        """The rows of objects and detections that are pairs in their frame: those of CLEAR in a sequence of one."""
        counts = len(self._compared.ground_truth), len(self._compared.detections)
        tables, begins = frame_tables(measured_pairs(self._compared, *self._masks), objects, found, counts)
        numbers = (np.arange(len(begins) - 1), *(np.diff(columns.starts) for _, columns in (objects, found)))
        sequences = np.ascontiguousarray(np.stack([*numbers, begins[:-1]], axis=1), np.int64)
        limits = (np.array([MATCH_THRESHOLD]), MATCH_THRESHOLD, MATCH_THRESHOLD)
        counted = _core.count_tracks(sequences, objects[1], found[1], tables, *limits, self._threads)
        return objects[0][counted["match_object"]], found[0][counted["match_found"]]

    def are_covered(self, rows: Rows) -> Flags:
        """(N,) whether more than half of each of these detections lies in the regions of its frame together."""
        from ioukit.overlap.engines import masks as engine  # noqa: PLC0415 - comparing boxes should not load this

        regions, masks = self._masks[0][self._is_region], self._masks[1][rows]
        frames, of_region = np.unique(self._places[0][self._is_region], return_inverse=True)
        covered = np.zeros(len(rows), np.bool_)
        if not len(frames):
            return covered
        merged = Masks.concat([regions[of_region == at].merge() for at in range(len(frames))])
        at = np.minimum(np.searchsorted(frames, self._places[1][rows]), len(frames) - 1)
        near = np.flatnonzero(frames[at] == self._places[1][rows])
        shares = engine.pairs("ioa_first", masks, merged, near, at[near], self._threads)
        covered[near] = shares > MATCH_THRESHOLD + EPSILON
        return covered
