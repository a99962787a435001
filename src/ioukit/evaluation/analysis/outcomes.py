"""Is each detection a true positive, and is each object found? The outcomes at one operating point."""

from __future__ import annotations

import math
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from ioukit._checks import check_number
from ioukit._columns import Frozen, record
from ioukit.evaluation.table import MatchTable, threshold_bits


class Outcome(IntEnum):
    """The outcome of a detection or an object."""

    NOT_COUNTED = 0
    """A detection below the score threshold, or beyond the cap on detections."""
    TRUE_POSITIVE = 1
    """A detection that matches an object; an object that a detection matches."""
    FALSE_POSITIVE = 2
    """A detection that matches no object."""
    FALSE_NEGATIVE = 3
    """An object that no detection matches."""
    IGNORED = 4
    """Not counted: a crowd, an object outside the area range, a detection that matches one of these, or a detection
    that matches no object and is itself outside the area range."""


@record(frozen=True, eq=False, repr=False)
class Outcomes(Frozen):
    """The result of :func:`outcomes`. Rows are those of the match table.

    ``table.detections.row`` and ``table.objects.row`` lead to the rows of the data that was matched.
    """

    iou_threshold: float
    """The lowest IoU of a match."""
    area_range: str
    """Label of the area range."""
    score_threshold: float
    """Detections with this score or a higher one count."""
    detections: npt.NDArray[np.int8]
    """(N,) an :class:`Outcome` for each detection."""
    objects: npt.NDArray[np.int8]
    """(G,) an :class:`Outcome` for each object."""
    matched_object: npt.NDArray[np.int64]
    """(N,) row of the object that each detection matches, including ignored objects; -1 for none."""
    matched_detection: npt.NDArray[np.int64]
    """(G,) row of the detection that matches each object, the best one if several match a crowd; -1 for none."""
    match_iou: npt.NDArray[np.float64]
    """(N,) IoU of each detection with its match; for a crowd, the intersection over the area of the detection; NaN for
    none."""

    def __repr__(self) -> str:
        tp, fp = (int((self.detections == kind).sum()) for kind in (Outcome.TRUE_POSITIVE, Outcome.FALSE_POSITIVE))
        fn = int((self.objects == Outcome.FALSE_NEGATIVE).sum())
        return f"Outcomes({tp:,} true positives, {fp:,} false positives, {fn:,} false negatives)"


def outcomes(
    table: MatchTable,
    *,
    iou_threshold: float | None = None,
    area_range: str | None = None,
    score_threshold: float = -math.inf,
) -> Outcomes:
    """The outcome of every detection and every object.

    Detections and objects have the same number of true positives. The numbers of true positives, false positives and
    false negatives are those of :meth:`ScoreCurve.at` at ``score_threshold``.

    Args:
        table: The matches.
        iou_threshold: One of the protocol's IoU thresholds; its main one if ``None``.
        area_range: Label of one of the protocol's area ranges; its main one if ``None``.
        score_threshold: Detections with this score or a higher one count; by default all of them.

    Raises:
        ValueError: If the protocol has no such threshold or area range, or the score threshold is NaN.
    """
    check_number(score_threshold=score_threshold)
    protocol = table.protocol
    area = protocol.main_area if area_range is None else area_range
    at = protocol.position_of_iou(protocol.main_iou if iou_threshold is None else iou_threshold)
    iou = protocol.iou_thresholds[at]
    counts = (table.detections.score >= score_threshold) & table.is_within_cap()
    found, ignored = table.is_true_positive(iou, area), table.is_ignored(iou, area)
    kind = np.where(found, Outcome.TRUE_POSITIVE, np.where(ignored, Outcome.IGNORED, Outcome.FALSE_POSITIVE))
    detections = np.where(counts, kind, Outcome.NOT_COUNTED).astype(np.int8)
    objects = np.where(table.ignores(area), Outcome.IGNORED, Outcome.FALSE_NEGATIVE).astype(np.int8)

    # The pairs that match at this threshold, without matches to void objects, which do not count.
    pairs = table.matched_pairs(iou, area)
    has_match = threshold_bits(table.detections.matched[:, protocol.position_of_area(area)], at)
    pairs = pairs[(counts & has_match)[table.pairs.detection[pairs]]]
    dt_rows, object_rows = table.pairs.detection[pairs], table.pairs.object[pairs]
    objects[object_rows[found[dt_rows]]] = Outcome.TRUE_POSITIVE
    matched_object = np.full(len(table), -1)
    matched_object[dt_rows] = object_rows
    match_iou = np.full(len(table), np.nan)
    match_iou[dt_rows] = table.pairs.iou[pairs]
    matched_detection = np.full(len(table.objects), -1)
    # Only a crowd has several detections, sorted best first. Writing in reverse order leaves the best one.
    matched_detection[object_rows[::-1]] = dt_rows[::-1]
    return Outcomes(
        iou,
        area,
        float(score_threshold),
        detections=detections,
        objects=objects,
        matched_object=matched_object,
        matched_detection=matched_detection,
        match_iou=match_iou,
    )
