"""What became of every detection and every object at one operating point?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from ioukit._checks import check_number
from ioukit.datasets import Detections, GroundTruth
from ioukit.evaluation._rows import check_data, frozen, objects
from ioukit.evaluation.matching import MatchTable

__all__ = ["Outcome", "Outcomes", "outcomes"]


class Outcome(IntEnum):
    """What became of a detection or an object."""

    NOT_COUNTED = 0
    """Below the score, beyond the cap on detections, or of an image or category that is not evaluated."""
    TRUE_POSITIVE = 1
    """A detection that found an object; an object that was found."""
    FALSE_POSITIVE = 2
    """A detection that found nothing."""
    FALSE_NEGATIVE = 3
    """An object that nobody found."""
    IGNORED = 4
    """It counts neither for nor against: a crowd, an object outside the area range, a detection matched to one of
    these, or one that matches nothing and is itself outside the area range."""


@dataclass(frozen=True, eq=False, repr=False)
class Outcomes:
    """The result of :func:`outcomes`. Rows are those of the data that was matched."""

    iou: float
    """The IoU from which a detection can match an object."""
    area: str
    """Label of the area range."""
    score_threshold: float
    """The score from which detections count."""
    detections: npt.NDArray[np.int8]
    """(N,) an :class:`Outcome` for each detection."""
    ground_truth: npt.NDArray[np.int8]
    """(G,) an :class:`Outcome` for each annotation."""
    matched_ground_truth: npt.NDArray[np.int64]
    """(N,) row of the annotation that each detection matches, an ignored one too; -1 for none."""
    matched_detection: npt.NDArray[np.int64]
    """(G,) row of the detection that matches each annotation, the best one where several match a crowd; -1 for none."""
    match_iou: npt.NDArray[np.float64]
    """(N,) IoU of each detection with its match, over the area of the detection where that is a crowd; NaN for none."""

    def __repr__(self) -> str:
        tp, fp = (int((self.detections == kind).sum()) for kind in (Outcome.TRUE_POSITIVE, Outcome.FALSE_POSITIVE))
        fn = int((self.ground_truth == Outcome.FALSE_NEGATIVE).sum())
        return f"Outcomes({tp:,} true positives, {fp:,} false positives, {fn:,} false negatives)"


def outcomes(
    table: MatchTable,
    ground_truth: GroundTruth,
    detections: Detections,
    *,
    iou: float = 0.5,
    area: str = "all",
    score_threshold: float = -math.inf,
) -> Outcomes:
    """Say of every detection and every annotation what became of it.

    The true positives of detections and of objects are equally many, and with the false positives and false negatives
    they are those that :meth:`ScoreCurve.at` counts at ``score_threshold``.

    Args:
        table: The matches.
        ground_truth: The annotations that were matched.
        detections: The detections that were matched.
        iou: IoU from which a detection can match, one of the protocol's.
        area: Label of one of the protocol's area ranges.
        score_threshold: Detections with this score or a higher one count; by default all do.

    Raises:
        ValueError: If the protocol has no such threshold or area range, the data is not what the table was made of, or
            the score threshold is NaN.
    """
    check_data(table, ground_truth, detections)
    check_number(score_threshold=score_threshold)
    iou = table.protocol.iou_thresholds[table.protocol.position_of_iou(iou)]
    believed = table.score >= score_threshold
    found, ignored = table.is_true_positive(iou, area), table.is_ignored(iou, area)
    kind = np.where(found, Outcome.TRUE_POSITIVE, np.where(ignored, Outcome.IGNORED, Outcome.FALSE_POSITIVE))
    dt_kind = np.zeros(len(detections), np.int8)
    dt_kind[table.detection[believed]] = kind[believed]

    to_find, category = objects(table, ground_truth, area)
    gt_kind = np.where(to_find, Outcome.FALSE_NEGATIVE, Outcome.IGNORED).astype(np.int8)
    gt_kind[category < 0] = Outcome.NOT_COUNTED

    # The pairs at this threshold whose match counts (pycocotools' id 0 takes an annotation without one).
    pairs = np.flatnonzero(table._bits(table.pair_matched, iou, area))
    rows = table.pair_row[pairs]
    pairs = pairs[believed[rows] & table._bits(table.matched, iou, area)[rows]]
    rows, gt_rows = table.pair_row[pairs], table.pair_ground_truth[pairs]
    dt_rows = table.detection[rows]
    gt_kind[gt_rows[found[rows]]] = Outcome.TRUE_POSITIVE
    matched_ground_truth = np.full(len(detections), -1)
    matched_ground_truth[dt_rows] = gt_rows
    match_iou = np.full(len(detections), np.nan)
    match_iou[dt_rows] = table.pair_iou[pairs]
    matched_detection = np.full(len(ground_truth), -1)
    # Only a crowd has several, and they stand best first: the first is written last.
    matched_detection[gt_rows[::-1]] = dt_rows[::-1]
    return Outcomes(
        iou,
        area,
        float(score_threshold),
        **frozen(
            detections=dt_kind,
            ground_truth=gt_kind,
            matched_ground_truth=matched_ground_truth,
            matched_detection=matched_detection,
            match_iou=match_iou,
        ),
    )
