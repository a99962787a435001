"""What holds at an IoU threshold, whatever the score threshold: kinds, matches and errors."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit.evaluation import MatchTable
from ioukit.evaluation.analysis.tide import BACKGROUND_THRESHOLD, ERROR_KINDS
from ioukit.evaluation.table import NEARLY_ONE, threshold_bits
from ioukit.viewer.answers.bins import IOU_EDGES, bins_of

__all__ = [
    "DETECTED",
    "FALSE",
    "IGNORED_DETECTION",
    "IGNORED_OBJECT",
    "MISSED",
    "NOT_COUNTED",
    "NO_ERROR",
    "TRUE",
    "Level",
    "Overlaps",
]

DETECTED, TRUE, FALSE, MISSED, IGNORED_OBJECT, IGNORED_DETECTION = range(6)
"""The kinds of marks."""
NOT_COUNTED = 6
"""A detection that is no mark: below the score threshold, or beyond the cap."""
NO_ERROR = len(ERROR_KINDS)

_CLASSIFICATION, _LOCALISATION, _BOTH, _DUPLICATE, _ALONE = map(
    ERROR_KINDS.index, ("classification", "localisation", "both", "duplicate", "background")
)

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int32]


class Overlaps(NamedTuple):
    """The highest overlaps of a table's near pairs."""

    within: Flags | None
    """(N,) whether each detection is within the cap; ``None`` if all are."""
    row: Places
    """(D,) the detections that overlap an object that counts; the next four columns are theirs."""
    same: Floats
    """Highest IoU with an object of the same class; 0 for none."""
    same_object: Places
    """The first object of the file with it; -1 for none."""
    other: Floats
    """Highest IoU with an object of another class; 0 for none."""
    other_object: Places
    of_detection: Singles
    """(N,) highest IoU with any object, 0 for none."""
    bins: Bytes
    """(N,) the bin of each of them."""
    of_object: Singles
    """(G,) highest IoU with any detection, 0 for none."""

    @classmethod
    def of(cls, table: MatchTable) -> Overlaps:
        """The highest overlaps of a table with near pairs."""
        near = table.near
        assert near is not None
        within = table.is_within_cap()
        of_object = np.zeros(len(table.objects), np.float32)
        np.maximum.at(of_object, near.object, near.iou.astype(np.float32))
        of_detection = np.zeros(len(table), np.float32)
        np.maximum.at(of_detection, near.detection, near.iou.astype(np.float32))
        near_rows = np.flatnonzero(of_detection)
        bins = np.zeros(len(table), np.uint8)
        bins[near_rows] = bins_of(of_detection[near_rows], IOU_EDGES)

        least = min(BACKGROUND_THRESHOLD, *table.protocol.iou_thresholds)
        pairs = np.flatnonzero((~table.ignores(table.protocol.main_area))[near.object] & (near.iou >= least))
        detection, place = near.detection[pairs], near.object[pairs]
        alike = table.evaluated_category(table.detections.category[detection]) == table.evaluated_category(
            table.objects.category[place]
        )
        row, of_pair = np.unique(detection, return_inverse=True)
        order = table.objects.row[place]
        best = [
            _best(len(row), of_pair[chosen], place[chosen], near.iou[pairs[chosen]], order[chosen])
            for chosen in (alike, ~alike)
        ]
        (same, same_object), (other, other_object) = best
        return cls(
            None if within.all() else within,
            row.astype(np.int32),
            same,
            same_object,
            other,
            other_object,
            of_detection,
            bins,
            of_object,
        )


def _best(
    count: int, row: npt.NDArray[np.intp], place: npt.NDArray[np.int64], iou: Floats, order: npt.NDArray[np.int64]
) -> tuple[Floats, Places]:
    """(count,) highest IoU of each row, and among the objects that have it the first of the file."""
    highest, best = np.zeros(count), np.full(count, -1, np.int32)
    np.maximum.at(highest, row, iou)
    top = np.flatnonzero(iou == highest[row])
    top = top[np.argsort(-order[top], kind="stable")]  # the first one is written last
    best[row[top]] = place[top]
    return highest, best


class Level:
    """What holds at one of the protocol's IoU thresholds, in the main area range."""

    def __init__(self, table: MatchTable, overlaps: Overlaps, iou_threshold: float) -> None:
        """Find it.

        Args:
            table: The matches, with near pairs.
            overlaps: Their highest overlaps.
            iou_threshold: One of the protocol's thresholds.
        """
        self.table, self.overlaps, self.iou_threshold = table, overlaps, iou_threshold
        protocol = table.protocol
        at, area = protocol.position_of_iou(iou_threshold), protocol.position_of_area(protocol.main_area)
        # As in `outcomes`: without matches to void objects, which do not count.
        has_match = threshold_bits(table.detections.matched[:, area], at)
        ignored = threshold_bits(table.detections.ignored[:, area], at)
        kind = np.full(len(table), FALSE, np.uint8)
        kind -= has_match.view(np.uint8)  # TRUE
        kind[ignored] = IGNORED_DETECTION
        if overlaps.within is not None:
            kind[~overlaps.within] = NOT_COUNTED
        self.kind: Bytes = kind
        """(N,) the kind of each detection if its score counts; NOT_COUNTED beyond the cap."""
        pairs = np.flatnonzero(threshold_bits(table.pairs.matched[:, area], at))
        detection = table.pairs.detection[pairs]
        counts = has_match[detection] & (kind[detection] != NOT_COUNTED)
        self.matched_detection: Places = detection[counts].astype(np.int32)
        """(M,) the detections that match an object, also an ignored one, in ascending order."""
        self.matched_object: Places = table.pairs.object[pairs[counts]].astype(np.int32)
        """(M,) their objects."""
        self.matched_iou: Singles = table.pairs.iou[pairs[counts]].astype(np.float32)
        """(M,) their IoU."""
        count = len(table.objects)
        detection, place = self.matched_detection, self.matched_object
        self.finder: Places = np.full(count, -1, np.int32)
        """(G,) row of the best detection that matches each object; -1 for none."""
        self.object_iou: Singles = np.zeros(count, np.float32)
        """(G,) IoU with the finder; 0 for none."""
        self.finder[place[::-1]] = detection[::-1]
        self.object_iou[place[::-1]] = self.matched_iou[::-1]
        right = np.flatnonzero(kind[detection] == TRUE)
        self.score: Floats = np.full(count, -np.inf)
        """(G,) score of the true positive that finds each object; -inf for none."""
        self.score[place[right]] = table.detections.score[detection[right]]
        self.ignored: Flags = table.ignores(protocol.main_area)
        """(G,) whether each object is ignored."""
        self._sort_errors()

    def _sort_errors(self) -> None:
        """Find the kinds of errors: those of `error_kinds`."""
        overlaps, most = self.overlaps, min(self.iou_threshold, NEARLY_ONE)
        least = min(BACKGROUND_THRESHOLD, self.iou_threshold)
        false = np.flatnonzero(self.kind[overlaps.row] == FALSE)
        row, same, other = overlaps.row[false], overlaps.same[false], overlaps.other[false]
        tests = [
            (least <= same) & (same <= most),
            other >= most,
            same >= most,
            (same <= least) & (other <= least),
        ]
        kinds = np.select(tests, [_LOCALISATION, _CLASSIFICATION, _DUPLICATE, _ALONE], _BOTH).astype(np.uint8)
        self.error: Bytes = np.where(self.kind == FALSE, np.uint8(_ALONE), np.uint8(NO_ERROR))
        """(N,) position in ERROR_KINDS; NO_ERROR for none."""
        self.error[row] = kinds
        same_object, other_object = overlaps.same_object[false], overlaps.other_object[false]
        none = np.full(len(false), -1, np.int32)
        target = np.select(tests, [same_object, other_object, same_object, none], other_object)
        blamed = (kinds == _LOCALISATION) | (kinds == _CLASSIFICATION)
        # (G,) highest score of the detections that find each object or are such an error of it: up to this score
        # threshold it is not missed. -inf for none, inf for ignored objects.
        self._accounted: Floats = self.score.copy()
        np.maximum.at(self._accounted, target[blamed], self.table.detections.score[row[blamed]])
        self._accounted[self.ignored] = np.inf

    def missed(self, at_score: float) -> Flags:
        """(G,) whether each object is an error of the kind "missed" at a score threshold.

        No detection with such a score finds it, and none is an error of classification or localisation of it. The kinds
        of detections need no score threshold: detections with lower scores choose later, so they change none. (If
        objects choose, as in KITTI, matches are those of all detections, as in `outcomes`.)
        """
        missed: Flags = self._accounted < at_score
        return missed

    @cached_property
    def partner(self) -> Places:
        """(N,) row of the object that each detection matches, also an ignored one; -1 for none."""
        partner = np.full(len(self.kind), -1, np.int32)
        partner[self.matched_detection] = self.matched_object
        return partner

    @cached_property
    def iou(self) -> Singles:
        """(N,) IoU with the partner, or else the highest IoU with any object."""
        iou: Singles = self.overlaps.of_detection.copy()
        iou[self.matched_detection] = self.matched_iou
        return iou

    @cached_property
    def iou_bins(self) -> Bytes:
        """(N,) the bin of each of these IoUs."""
        found: Bytes = self.overlaps.bins.copy()
        found[self.matched_detection] = bins_of(self.matched_iou, IOU_EDGES)
        return found
