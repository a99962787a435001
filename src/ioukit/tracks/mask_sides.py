"""The masks of both sides as the rules of a protocol see them: pairs, and detections that regions cover."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ioukit import _core
from ioukit.evaluation.kinds.kind import measured_pairs
from ioukit.evaluation.kinds.masks import masks_of_both
from ioukit.regions.masks import Masks
from ioukit.tracks.identities import rows_by_frame
from ioukit.tracks.measures import EPSILON, MATCH_THRESHOLD
from ioukit.tracks.overlaps import compared_sides, frame_tables

if TYPE_CHECKING:
    from ioukit._array_types import Flags, Positions, Rows
    from ioukit.datasets import Detections, GroundTruth


class MaskSides:
    """What `protocols.py` asks of boxes, for masks. All regions of a frame are one, as in MOTS."""

    def __init__(
        self,
        gt: GroundTruth,
        dt: Detections,
        is_region: Flags,
        places: tuple[Positions, Positions],
        frame_count: int,
        threads: int,
    ) -> None:
        """Take both sides, which objects are regions, and the places of the frames of both."""
        self._gt, self._dt, self._places, self._frame_count, self._threads = gt, dt, places, frame_count, threads
        self._is_region = is_region
        self._compared = compared_sides(gt, dt, dt.image_ids_in(gt.images), threads, all_categories=True)

    @cached_property
    def _masks(self) -> tuple[Masks, Masks]:
        """Those of both sides, read when they are asked for: many data have no regions that take detections away."""
        return masks_of_both(self._compared, "segm")

    def pairs(self, objects: Rows, found: Rows) -> tuple[Rows, Rows]:
        """The rows of objects and detections that are pairs in their frame: those of CLEAR in a sequence of one."""
        pairs = measured_pairs(self._compared, *self._masks)
        objects, of_objects = rows_by_frame(self._gt, objects, self._places[0], self._frame_count)
        found, of_found = rows_by_frame(self._dt, found, self._places[1], self._frame_count)
        counts = len(self._gt), len(self._dt)
        tables, begins = frame_tables(pairs, (objects, of_objects), (found, of_found), counts)
        numbers = (np.arange(self._frame_count), np.diff(of_objects.starts), np.diff(of_found.starts), begins[:-1])
        sequences = np.ascontiguousarray(np.stack(numbers, axis=1), np.int64)
        limits = (np.array([MATCH_THRESHOLD]), MATCH_THRESHOLD, MATCH_THRESHOLD)
        counted = _core.count_tracks(sequences, of_objects, of_found, tables, *limits, self._threads)
        return objects[counted["match_object"]], found[counted["match_found"]]

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
