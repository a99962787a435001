"""What every object and every detection of a report is, at each position of the score threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ioukit.evaluation import Outcome, confusion_matrix, error_kinds, outcomes

if TYPE_CHECKING:
    from ioukit.evaluation import ConfusionMatrix, ErrorKinds, MatchTable, NearPairs, Outcomes

__all__ = ["BACKGROUND", "LEFT_OUT", "Marks", "NearMarks", "found_marks", "near_marks"]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

BACKGROUND, LEFT_OUT = -1, -2
_LOCALISATION, _CLASSIFICATION = 1, 0  # positions in ERROR_KINDS


@dataclass(frozen=True)
class Marks:
    """The outcomes of the detections and objects of a match table. ``P`` is the number of positions.

    The position of a score threshold is its place among :attr:`scores`. A detection matches the same object at every
    threshold at which it counts, because detections with lower scores choose later.
    """

    scores: Floats
    """(P,) the score thresholds that the page can show, in descending order."""
    outcomes: Outcomes
    """The outcomes at the lowest threshold, at which all detections count."""
    reach: Rows
    """(N,) the first position at which each detection counts, P for never."""
    found: Rows
    """(G,) the first position at which each object is found, P for never."""


@dataclass(frozen=True)
class NearMarks:
    """What the near pairs say about the detections and objects of a match table."""

    reach: Rows
    """(N,) the first position at which the score of each detection is high enough, whatever the cap on detections."""
    confusion: ConfusionMatrix
    """The matrix at the lowest threshold."""
    pair: Rows
    """(N,) row of the object that each detection matches in the matrix, or :data:`BACKGROUND`, or :data:`LEFT_OUT`."""
    paired: Rows
    """(G,) the first position at which each object has a match in the matrix, P for never; -1 if it is not in it."""
    errors: ErrorKinds
    """The kinds of errors of all detections."""
    covered: Rows
    """(G,) the first position at which a detection finds each object or is an error of localisation or classification
    of it, P for never: until then it is missed. -1 for an object that does not count."""
    iou: Floats
    """(N,) IoU of each detection with its match or with the object of its error, otherwise the highest IoU with any
    object; 0 if the near pairs do not list one."""
    pair_iou: Floats
    """(N,) IoU of each detection with the object that it matches in the matrix, 0 for none."""


def found_marks(table: MatchTable, scores: Floats, *, iou: float, area: str) -> Marks:
    """The outcomes of a match table.

    Args:
        table: The matches.
        scores: (P,) the score thresholds, in descending order.
        iou: One of the protocol's IoU thresholds.
        area: Label of one of the protocol's area ranges.
    """
    became = outcomes(table, iou_threshold=iou, area_range=area)
    reach = np.where(became.detections == Outcome.NOT_COUNTED, len(scores), _reach(table, scores))
    found = np.full(len(table.objects), len(scores))
    right = np.flatnonzero(became.detections == Outcome.TRUE_POSITIVE)
    np.minimum.at(found, became.matched_object[right], reach[right])
    return Marks(scores, became, reach, found)


def near_marks(marks: Marks, near: MatchTable, *, background: float, threads: int | None) -> NearMarks:
    """What the near pairs say.

    Args:
        marks: The outcomes.
        near: The match table with near pairs.
        background: The IoU below which a detection is on background.
        threads: How many threads; all cores if ``None``.
    """
    became, count, reach = marks.outcomes, len(marks.scores), _reach(near, marks.scores)
    lowest = float(marks.scores[-1])
    confusion = confusion_matrix(near, iou_threshold=became.iou_threshold, score_threshold=lowest, threads=threads)
    pair = np.full(len(near), LEFT_OUT)
    entries = np.flatnonzero(confusion.detection >= 0)
    pair[confusion.detection[entries]] = confusion.object[entries]
    paired = np.full(len(near.objects), -1)
    paired[confusion.object[confusion.object >= 0]] = count
    with_object = np.flatnonzero(pair >= 0)
    paired[pair[with_object]] = reach[with_object]
    errors = error_kinds(
        near,
        iou_threshold=became.iou_threshold,
        area_range=became.area_range,
        background_threshold=background,
        threads=threads,
    )
    covered = np.where(became.objects == Outcome.IGNORED, -1, marks.found)
    able = np.isin(errors.detection_kind, (_LOCALISATION, _CLASSIFICATION)) & (errors.detection_object >= 0)
    np.minimum.at(covered, errors.detection_object[able], marks.reach[able])
    target = np.where(became.matched_object >= 0, became.matched_object, errors.detection_object)
    pairs = near.near
    assert pairs is not None
    iou = np.where(target >= 0, _iou_of(pairs, target), _best(pairs, len(near)))
    iou = np.where(np.isnan(became.match_iou), iou, became.match_iou)
    return NearMarks(reach, confusion, pair, paired, errors, covered, iou, _iou_of(pairs, pair))


def _reach(table: MatchTable, scores: Floats) -> Rows:
    return np.searchsorted(-scores, -table.detections.score, side="left").astype(np.int64)


def _iou_of(near: NearPairs, objects: Rows) -> Floats:
    """(N,) IoU of each detection with one object; 0 for a negative one or a pair that is not listed."""
    wanted = objects[near.detection] == near.object
    found = np.zeros(len(objects))
    found[near.detection[wanted]] = near.iou[wanted]
    return found


def _best(near: NearPairs, count: int) -> Floats:
    """(N,) the highest IoU of each detection."""
    highest = np.zeros(count)
    np.maximum.at(highest, near.detection, near.iou)
    return highest
