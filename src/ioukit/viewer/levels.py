"""What holds at an IoU threshold, whatever the score threshold: kinds, matches and errors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit.evaluation import MatchTable
from ioukit.evaluation.analysis.tide import ERROR_KINDS
from ioukit.evaluation.table import threshold_bits

__all__ = [
    "DETECTED",
    "FALSE",
    "IGNORED_DETECTION",
    "IGNORED_OBJECT",
    "MISSED",
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

_BACKGROUND = 0.1
_NEARLY_ONE = 1.0 - 1e-10  # as `error_kinds` has it

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int32]


class Overlaps(NamedTuple):
    """The highest overlaps of a table's near pairs."""

    same: Floats
    """(N,) highest IoU of each detection with an object of its class that counts; 0 for none."""
    same_object: Places
    """(N,) the first object with it; -1 for none."""
    other: Floats
    """(N,) the same with objects of other classes."""
    other_object: Places
    of_detection: Singles
    """(N,) highest IoU with any object, 0 for none."""
    of_object: Singles
    """(G,) highest IoU with any detection, 0 for none."""

    @classmethod
    def of(cls, table: MatchTable) -> Overlaps:
        """The highest overlaps of a table with near pairs."""
        near = table.near
        assert near is not None
        count = len(table)
        of_object = np.zeros(len(table.objects))
        np.maximum.at(of_object, near.object, near.iou)
        of_detection = np.zeros(count)
        np.maximum.at(of_detection, near.detection, near.iou)
        least = min(_BACKGROUND, *table.protocol.iou_thresholds)
        counts = (~table.ignores(table.protocol.main_area))[near.object] & (near.iou >= least)
        category = table.evaluated_category(table.detections.category)[near.detection]
        alike = category == table.evaluated_category(table.objects.category)[near.object]
        same, same_object = _best(table, np.flatnonzero(counts & alike))
        other, other_object = _best(table, np.flatnonzero(counts & ~alike))
        return cls(
            same, same_object, other, other_object, of_detection.astype(np.float32), of_object.astype(np.float32)
        )


def _best(table: MatchTable, pairs: npt.NDArray[np.intp]) -> tuple[Floats, Places]:
    """(N,) highest IoU of each detection among some near pairs, and the first object of the file that has it."""
    near = table.near
    assert near is not None
    highest, best = np.zeros(len(table)), np.full(len(table), -1, np.int32)
    np.maximum.at(highest, near.detection[pairs], near.iou[pairs])
    pairs = pairs[near.iou[pairs] == highest[near.detection[pairs]]]
    # The first object of the file is written last.
    pairs = pairs[np.argsort(-table.objects.row[near.object[pairs]], kind="stable")]
    best[near.detection[pairs]] = near.object[pairs]
    return highest, best


class Level(NamedTuple):
    """What holds at an IoU threshold in the main area range."""

    iou_threshold: float
    kind: Bytes
    """(N,) the kind of each detection if its score counts; NOT_COUNTED beyond the cap."""
    partner: Places
    """(N,) row of the object that each detection matches, also an ignored one; -1 for none."""
    iou: Singles
    """(N,) IoU with the partner, or else the highest IoU with any object."""
    error: Bytes
    """(N,) position in ERROR_KINDS; NO_ERROR for none."""
    error_object: Places
    """(N,) row of the object of the error; -1 for none."""
    finder: Places
    """(G,) row of the detection that matches each object; -1 for none."""
    score: Floats
    """(G,) score of the true positive that finds each object; -inf for none."""
    ignored: Flags
    """(G,) whether each object is ignored."""
    object_iou: Singles
    """(G,) IoU with the finder; 0 for none."""
    missed: Flags
    """(G,) whether each object is an error of the kind "missed"."""

    @classmethod
    def of(cls, table: MatchTable, overlaps: Overlaps, iou_threshold: float) -> Level:
        """What holds at one of the protocol's thresholds."""
        protocol, area = table.protocol, table.protocol.main_area
        within = table.is_within_cap()
        found, ignored = table.is_true_positive(iou_threshold, area), table.is_ignored(iou_threshold, area)
        kind = np.full(len(table), FALSE, np.uint8)
        kind[ignored] = IGNORED_DETECTION
        kind[found] = TRUE
        kind[~within] = NOT_COUNTED

        # As in `outcomes`: without matches to void objects, which do not count.
        at = protocol.position_of_iou(iou_threshold)
        has_match = threshold_bits(table.detections.matched[:, protocol.position_of_area(area)], at)
        pairs = table.matched_pairs(iou_threshold, area)
        pairs = pairs[(within & has_match)[table.pairs.detection[pairs]]]
        detection, place = table.pairs.detection[pairs], table.pairs.object[pairs]
        partner = np.full(len(table), -1, np.int32)
        partner[detection] = place
        iou = overlaps.of_detection.copy()
        iou[detection] = table.pairs.iou[pairs]
        finder = np.full(len(table.objects), -1, np.int32)
        finder[place[::-1]] = detection[::-1]
        object_iou = np.zeros(len(table.objects), np.float32)
        object_iou[place[::-1]] = table.pairs.iou[pairs][::-1]
        right = found[detection]
        score = np.full(len(table.objects), -np.inf)
        score[place[right]] = table.detections.score[detection[right]]
        error, error_object, missed = _errors(table, overlaps, iou_threshold, kind, np.isfinite(score))
        return cls(
            iou_threshold,
            kind,
            partner,
            iou,
            error,
            error_object,
            finder,
            score,
            table.ignores(area),
            object_iou,
            missed,
        )


def _errors(
    table: MatchTable, overlaps: Overlaps, iou_threshold: float, kind: Bytes, found: Flags
) -> tuple[Bytes, Places, Flags]:
    """The kind of error of each detection, its object, and whether each object is missed: those of `error_kinds`."""
    least, most = min(_BACKGROUND, iou_threshold), min(iou_threshold, _NEARLY_ONE)
    rows = np.flatnonzero(kind == FALSE)
    same, other = overlaps.same[rows], overlaps.other[rows]
    same = np.where(same >= least, same, 0.0)
    other = np.where(other >= least, other, 0.0)
    tests = [(least <= same) & (same <= most), other >= most, same >= most, (same <= least) & (other <= least)]
    names = ("localisation", "classification", "duplicate", "background")
    error = np.full(len(table), NO_ERROR, np.uint8)
    kinds = np.select(tests, [ERROR_KINDS.index(name) for name in names], ERROR_KINDS.index("both"))
    error[rows] = kinds
    same_object = np.where(same > 0, overlaps.same_object[rows], -1)
    other_object = np.where(other > 0, overlaps.other_object[rows], -1)
    nothing = np.full(len(rows), -1)
    target = np.select(tests, [same_object, other_object, same_object, nothing], other_object)
    error_object = np.full(len(table), -1, np.int32)
    error_object[rows] = target
    missed = ~table.ignores(table.protocol.main_area) & ~found
    blamed = (kinds == ERROR_KINDS.index("localisation")) | (kinds == ERROR_KINDS.index("classification"))
    missed[target[blamed]] = False
    return error, error_object, missed
