"""What is each object and each detection at every score threshold? The outcomes at one IoU threshold, found once.

Owns: the kind of every detection, its match and its kind of error, and for every object the score up to which it is
found, or accounted for by an error. A score threshold then needs a comparison and no new analysis, because detections
with lower scores choose later: they change neither the match nor the kind of the others. (If objects choose, as in
KITTI, matches are those of all detections, as in `outcomes`.)

Does not own: matching (`matching.py`), AP without errors (`tide.py`, whose rule for kinds of errors is used here), the
confusion matrix, which matches again by another rule, and what a page makes of it: the report turns scores into
positions of its slider (`report/_by_score.py`), the viewer into columns to filter (`viewer/answers/marks.py`).

Columns are of few bytes, because the viewer keeps them for some millions of detections: bytes for kinds, 32 bits for
rows and IoU. What needs all digits of an IoU takes it from the match table.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Bytes, Flags, Floats
from ioukit.evaluation.analysis.tide import (
    BACKGROUND_THRESHOLD,
    ERROR_KINDS,
    best_overlaps,
    kinds_of_false_positives,
)
from ioukit.evaluation.table import NEARLY_ONE, OVER_DETECTION, MatchTable, threshold_bits

DETECTED, TRUE, FALSE, MISSED, IGNORED_OBJECT, IGNORED_DETECTION = range(6)
"""The kinds of objects and detections, as the scripts of the pages number them, too."""
NOT_COUNTED = 6
"""A detection below the score threshold, or beyond the cap."""
NO_ERROR = len(ERROR_KINDS)

_CLASSIFICATION, _LOCALISATION, _BACKGROUND = map(ERROR_KINDS.index, ("classification", "localisation", "background"))

Singles = npt.NDArray[np.float32]
Places = npt.NDArray[np.int32]


class Overlaps(NamedTuple):
    """The highest overlaps of a table's near pairs, whatever the thresholds."""

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
    """(N,) highest IoU with any object, 0 for none. Crowds have none: a share of the detection lies in them."""
    of_object: Singles
    """(G,) highest IoU with any detection, or the highest share of a detection that lies in a crowd; 0 for none."""

    @classmethod
    def of(cls, table: MatchTable) -> Overlaps:
        """The highest overlaps of a table with near pairs."""
        near = table.near
        assert near is not None
        of_object = np.zeros(len(table.objects), np.float32)
        np.maximum.at(of_object, near.object, near.iou.astype(np.float32))
        of_detection = np.zeros(len(table), np.float32)
        plain = table.objects.special[near.object] & OVER_DETECTION == 0
        np.maximum.at(of_detection, near.detection[plain], near.iou[plain].astype(np.float32))

        least = min(BACKGROUND_THRESHOLD, *table.protocol.iou_thresholds)
        pairs = np.flatnonzero((~table.ignores(table.protocol.main_area))[near.object] & (near.iou >= least))
        detection, place = near.detection[pairs], near.object[pairs]
        alike = table.evaluated_category(table.detections.category[detection]) == table.evaluated_category(
            table.objects.category[place]
        )
        overlaps = np.zeros(len(table), np.bool_)
        overlaps[detection] = True
        row, of_pair = np.flatnonzero(overlaps), (np.cumsum(overlaps) - 1)[detection]
        order = table.objects.row[place]
        (same, same_object), (other, other_object) = (
            best_overlaps(len(row), of_pair[chosen], place[chosen], near.iou[pairs[chosen]], order[chosen])
            for chosen in (alike, ~alike)
        )
        return cls(
            row.astype(np.int32),
            same,
            same_object.astype(np.int32),
            other,
            other_object.astype(np.int32),
            of_detection,
            of_object,
        )


class OutcomesByScore:
    """The outcomes at one of the protocol's IoU thresholds, in the main area range.

    Args:
        table: The matches.
        iou_threshold: One of the protocol's thresholds.
        overlaps: The highest overlaps of its near pairs; without them, errors are not known.
    """

    def __init__(self, table: MatchTable, iou_threshold: float, overlaps: Overlaps | None = None) -> None:
        self.table, self.iou_threshold = table, iou_threshold
        self._overlaps = overlaps
        protocol = table.protocol
        at, area = protocol.position_of_iou(iou_threshold), protocol.position_of_area(protocol.main_area)
        # As in `outcomes`: without matches to void objects, which do not count.
        has_match = threshold_bits(table.detections.matched[:, area], at)
        ignored = threshold_bits(table.detections.ignored[:, area], at)
        kind = np.full(len(table), FALSE, np.uint8)
        kind -= has_match.view(np.uint8)  # TRUE
        kind[ignored] = IGNORED_DETECTION
        kind[~table.is_within_cap()] = NOT_COUNTED
        self.kind: Bytes = kind
        """(N,) the kind of each detection if its score counts; NOT_COUNTED beyond the cap."""
        pairs = np.flatnonzero(threshold_bits(table.pairs.matched[:, area], at))
        detection = table.pairs.detection[pairs]
        self.matched_pair: npt.NDArray[np.int64] = pairs[has_match[detection] & (kind[detection] != NOT_COUNTED)]
        """(M,) the pairs of the table that match, also with an ignored object, by detection in ascending order."""
        self.matched_detection: Places = table.pairs.detection[self.matched_pair].astype(np.int32)
        """(M,) their detections."""
        self.matched_object: Places = table.pairs.object[self.matched_pair].astype(np.int32)
        """(M,) their objects."""
        self.matched_iou: Singles = table.pairs.iou[self.matched_pair].astype(np.float32)
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

    @cached_property
    def _errors(self) -> tuple[Bytes, Places, Places]:
        """The kind of error of each detection; the detections that overlap an object, and the object of the error."""
        overlaps = self._overlaps
        assert overlaps is not None
        false = np.flatnonzero(self.kind[overlaps.row] == FALSE)
        kinds, about = kinds_of_false_positives(
            *(overlaps.same[false], overlaps.same_object[false], overlaps.other[false], overlaps.other_object[false]),
            most=min(self.iou_threshold, NEARLY_ONE),
            least=min(BACKGROUND_THRESHOLD, self.iou_threshold),
        )
        error = np.where(self.kind == FALSE, np.uint8(_BACKGROUND), np.uint8(NO_ERROR))
        error[overlaps.row[false]] = kinds
        return error, overlaps.row[false], about

    @property
    def error(self) -> Bytes:
        """(N,) position in ERROR_KINDS, that of `error_kinds`; NO_ERROR for none."""
        return self._errors[0]

    @cached_property
    def error_object(self) -> Places:
        """(N,) row of the object that the error of each detection is about; -1 for none."""
        _, row, about = self._errors
        found = np.full(len(self.kind), -1, np.int32)
        found[row] = about
        return found

    @cached_property
    def accounted(self) -> Floats:
        """(G,) up to this score threshold, each object is no error of the kind "missed".

        It is the highest score of the detections that find the object or are an error of classification or localisation
        of it; -inf for none, inf for ignored objects.
        """
        error, row, about = self._errors
        blamed = (error[row] == _LOCALISATION) | (error[row] == _CLASSIFICATION)
        found: Floats = self.score.copy()
        np.maximum.at(found, about[blamed], self.table.detections.score[row[blamed]])
        found[self.ignored] = np.inf
        return found

    @cached_property
    def partner(self) -> Places:
        """(N,) row of the object that each detection matches, also an ignored one; -1 for none."""
        partner = np.full(len(self.kind), -1, np.int32)
        partner[self.matched_detection] = self.matched_object
        return partner

    @cached_property
    def iou(self) -> Singles:
        """(N,) overlap with the partner, or else the highest IoU with any object, whether or not it counts."""
        assert self._overlaps is not None
        iou: Singles = self._overlaps.of_detection.copy()
        iou[self.matched_detection] = self.matched_iou
        return iou
