"""At which score threshold does a detector work best? Precision, recall and F1 over the threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ioukit._checks import check_number
from ioukit._columns import Frozen, record
from ioukit.datasets import Categories
from ioukit.evaluation.analysis._quotient import quotient
from ioukit.evaluation.table import MatchTable

__all__ = ["OperatingPoint", "ScoreCurve", "ScoreCurves", "score_curves"]


@dataclass(frozen=True)
class OperatingPoint:
    """The precision and recall of a detector if only detections with at least some score count.

    With TP, FP and FN for true positives, false positives and false negatives::

        precision = TP / (TP + FP)    recall = TP / (TP + FN)    F1 = 2 TP / (2 TP + FP + FN)

    Each is NaN where its denominator is 0. F1 is the harmonic mean of precision and recall where both are defined and
    not both 0 (van Rijsbergen, Information Retrieval, 1979).
    """

    score: float
    """The score threshold: detections with this score or a higher one count. NaN if no detection counts."""
    precision: float
    """Share of true positives among the detections that count."""
    recall: float
    """Share of the objects that are found."""
    f1: float
    """Within [0, 1]."""
    true_positives: int
    """Detections that match an object."""
    false_positives: int
    """Detections that match no object."""
    false_negatives: int
    """Objects that no detection matches."""


@record(frozen=True, eq=False, repr=False)
class ScoreCurve(Frozen):
    """Precision, recall and F1 at the score of every detection, for one class or for several classes pooled.

    Ignored detections (on crowds, outside the area range) are left out, and so are their scores.
    """

    scores: npt.NDArray[np.float64]
    """(S,) scores, each once, in descending order."""
    precision: npt.NDArray[np.float64]
    """(S,) TP / (TP + FP) of the detections with this score or a higher one."""
    recall: npt.NDArray[np.float64]
    """(S,) TP / objects; NaN if there are no objects."""
    f1: npt.NDArray[np.float64]
    """(S,) 2 TP / (TP + FP + objects)."""
    true_positives: npt.NDArray[np.int64]
    """(S,) TP, in ascending order."""
    false_positives: npt.NDArray[np.int64]
    """(S,) FP, in ascending order."""
    num_ground_truth: int
    """Objects to find."""

    @property
    def best(self) -> OperatingPoint:
        """The point with the highest F1; among several, the one with the highest score.

        Without true positives it is the point at which no detection counts: its score is NaN, and its F1 is 0, or NaN
        if there are no objects.
        """
        if not len(self.scores) or self.true_positives[-1] == 0:
            return self._point(math.nan, -1)
        row = int(np.argmax(self.f1))
        return self._point(float(self.scores[row]), row)

    def at(self, score: float) -> OperatingPoint:
        """The point at which detections with this score or a higher one count.

        Raises:
            ValueError: If the score is NaN.
        """
        check_number(score=score)
        return self._point(float(score), int(np.searchsorted(-self.scores, -score, side="right")) - 1)

    def _point(self, score: float, row: int) -> OperatingPoint:
        """The point of a row; row -1 is the point at which no detection counts."""
        tp, fp = (int(self.true_positives[row]), int(self.false_positives[row])) if row >= 0 else (0, 0)
        objects = self.num_ground_truth
        return OperatingPoint(
            score=score,
            precision=tp / (tp + fp) if tp + fp else math.nan,
            recall=tp / objects if objects else math.nan,
            f1=2 * tp / (tp + fp + objects) if tp + fp + objects else math.nan,
            true_positives=tp,
            false_positives=fp,
            false_negatives=objects - tp,
        )

    def __repr__(self) -> str:
        best = self.best
        return f"ScoreCurve({len(self.scores):,} scores, best F1 {best.f1:.4f} at {best.score:.4g})"


@dataclass(frozen=True, eq=False, repr=False)
class ScoreCurves:
    """The result of :func:`score_curves`."""

    categories: Categories
    """(K,) the categories."""
    iou_threshold: float
    """The lowest IoU of a match."""
    area_range: str
    """Label of the area range."""
    overall: ScoreCurve
    """All classes pooled: every detection and every object weighs the same (micro average)."""
    per_class: tuple[ScoreCurve, ...]
    """(K,) each class alone."""

    def __repr__(self) -> str:
        return (
            f"ScoreCurves({len(self.per_class):,} classes, IoU {self.iou_threshold:.4g}, area {self.area_range!r}, "
            f"{self.overall!r})"
        )


def score_curves(
    table: MatchTable, *, iou_threshold: float | None = None, area_range: str | None = None
) -> ScoreCurves:
    """Precision, recall and F1 at every score threshold, from a match table.

    Detections below a score threshold are left out. A detection is matched before all detections with a lower score.
    So leaving those out changes no match, and one table is enough for all thresholds.

    Args:
        table: The matches.
        iou_threshold: One of the protocol's IoU thresholds; its main one if ``None``.
        area_range: Label of one of the protocol's area ranges; its main one if ``None``.

    Raises:
        ValueError: If the protocol has no such threshold or area range.

    Examples:
        >>> from ioukit import Detections, GroundTruth
        >>> from ioukit.evaluation import match
        >>> ground_truth = GroundTruth.from_arrays(
        ...     image_ids=[1, 1], category_ids=[1, 1], boxes=[[0, 0, 9, 9], [20, 0, 9, 9]]
        ... )
        >>> detections = Detections.from_arrays(
        ...     image_ids=[1, 1], category_ids=[1, 1], boxes=[[0, 0, 9, 9], [50, 0, 9, 9]], scores=[0.9, 0.3]
        ... )
        >>> curve = score_curves(match(ground_truth, detections)).overall
        >>> curve.precision.tolist(), curve.recall.tolist()
        ([1.0, 0.5], [0.5, 0.5])
        >>> curve.best.score, curve.at(0.5).false_negatives
        (0.9, 1)
    """
    protocol = table.protocol
    area_range = protocol.main_area if area_range is None else area_range
    iou_threshold = protocol.main_iou if iou_threshold is None else iou_threshold
    iou_threshold = protocol.iou_thresholds[protocol.position_of_iou(iou_threshold)]
    evaluated = table.evaluated
    counted = np.flatnonzero(~table.is_ignored(iou_threshold, area_range))
    category = table.evaluated_category(table.detections.category[counted])
    score = table.detections.score[counted]
    found = table.is_true_positive(iou_threshold, area_range)[counted]
    to_find = table.num_objects[:, protocol.position_of_area(area_range)]
    pooled = np.argsort(-score, kind="stable")
    if len(evaluated) <= np.iinfo(np.uint16).max:
        category = category.astype(np.uint16)  # NumPy sorts 16-bit integers by radix sort
    order = pooled[np.argsort(category[pooled], kind="stable")]
    ends = np.cumsum([0, *np.bincount(category, minlength=len(evaluated))]).tolist()
    per_class = []
    for k, objects in enumerate(to_find.tolist()):
        rows = order[ends[k] : ends[k + 1]]
        per_class.append(_curve(score[rows], found[rows], objects))
    overall = _curve(score[pooled], found[pooled], int(to_find.sum()))
    return ScoreCurves(evaluated, iou_threshold, area_range, overall, tuple(per_class))


def _curve(score: npt.NDArray[np.float64], found: npt.NDArray[np.bool_], objects: int) -> ScoreCurve:
    """The curve of detections in descending order of score."""
    last = np.flatnonzero(np.append(score[1:] != score[:-1], np.ones(min(len(score), 1), np.bool_)))
    tp = np.cumsum(found, dtype=np.int64)[last]
    fp = last + 1 - tp
    return ScoreCurve(
        scores=score[last],
        precision=quotient(tp, tp + fp),
        recall=quotient(tp, np.full(len(tp), objects)),
        f1=quotient(2 * tp, tp + fp + objects),
        true_positives=tp,
        false_positives=fp,
        num_ground_truth=objects,
    )
