"""At which score does it work best? Precision, recall and F1 against the score from which detections are believed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ioukit._checks import check_number
from ioukit.datasets import Categories
from ioukit.evaluation._rows import frozen, quotient
from ioukit.evaluation.matching import MatchTable

__all__ = ["OperatingPoint", "ScoreCurve", "ScoreCurves", "score_curves"]


@dataclass(frozen=True)
class OperatingPoint:
    """What a detector does if only detections from some score on are believed.

    With TP, FP and FN for true positives, false positives and false negatives::

        precision = TP / (TP + FP)    recall = TP / (TP + FN)    F1 = 2 TP / (2 TP + FP + FN)

    each NaN where its denominator is 0. F1 is the harmonic mean of precision and recall where both are defined and not
    both 0 (van Rijsbergen, Information Retrieval, 1979).
    """

    score: float
    """The score from which detections are believed, this one too; NaN for none."""
    precision: float
    """Share of the believed detections that are right."""
    recall: float
    """Share of the objects that are found."""
    f1: float
    """Within [0, 1]."""
    true_positives: int
    """Detections that found an object."""
    false_positives: int
    """Detections that found none."""
    false_negatives: int
    """Objects that nobody found."""


@dataclass(frozen=True, eq=False, repr=False)
class ScoreCurve:
    """Precision, recall and F1 at every score that a detection has, of one class or of several pooled.

    Detections that count neither for nor against (on crowds, of another size) are left out, and so are their scores.
    """

    scores: npt.NDArray[np.float64]
    """(S,) scores, each once, falling."""
    precision: npt.NDArray[np.float64]
    """(S,) TP / (TP + FP) of the detections with this score or a higher one."""
    recall: npt.NDArray[np.float64]
    """(S,) TP / objects; NaN where there are none."""
    f1: npt.NDArray[np.float64]
    """(S,) 2 TP / (TP + FP + objects)."""
    true_positives: npt.NDArray[np.int64]
    """(S,) TP, rising."""
    false_positives: npt.NDArray[np.int64]
    """(S,) FP, rising."""
    num_ground_truth: int
    """Objects to find."""

    @property
    def best(self) -> OperatingPoint:
        """The point of the highest F1; of equal ones that of the highest score.

        Where no detection finds anything, none is believed: the point has the score NaN, and F1 is 0, or NaN if there
        is nothing to find either.
        """
        if not len(self.scores) or self.true_positives[-1] == 0:
            return self._point(math.nan, -1)
        row = int(np.argmax(self.f1))
        return self._point(float(self.scores[row]), row)

    def at(self, score: float) -> OperatingPoint:
        """The point at which detections with this score or a higher one are believed.

        Raises:
            ValueError: If the score is NaN.
        """
        check_number(score=score)
        return self._point(float(score), int(np.searchsorted(-self.scores, -score, side="right")) - 1)

    def _point(self, score: float, row: int) -> OperatingPoint:
        """The point of a row, -1 for the one before the first."""
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
    iou: float
    """The IoU from which a detection can match an object."""
    area: str
    """Label of the area range."""
    overall: ScoreCurve
    """All classes pooled: every detection and every object weighs the same (micro average)."""
    per_class: tuple[ScoreCurve, ...]
    """(K,) each class alone."""

    def __repr__(self) -> str:
        return f"ScoreCurves({len(self.per_class):,} classes, IoU {self.iou:.4g}, area {self.area!r}, {self.overall!r})"


def score_curves(table: MatchTable, *, iou: float = 0.5, area: str = "all") -> ScoreCurves:
    """Read precision, recall and F1 against score off a match table.

    A score is an operating point: detections below it are thrown away. Since a detection is matched before all with a
    lower score, throwing those away changes no match, and the table answers for every score at once.

    Args:
        table: The matches.
        iou: IoU from which a detection can match, one of the protocol's.
        area: Label of one of the protocol's area ranges.

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
    iou = protocol.iou_thresholds[protocol.position_of_iou(iou)]
    counted = np.flatnonzero(~table.is_ignored(iou, area))
    category, score = table.category[counted], table.score[counted]
    found = table.is_true_positive(iou, area)[counted]
    to_find = table.num_ground_truth[:, protocol.position_of_area(area)].astype(np.int64)
    pooled = np.argsort(-score, kind="stable")
    if len(table.categories) <= np.iinfo(np.uint16).max:
        category = category.astype(np.uint16)  # which NumPy sorts digit by digit
    order = pooled[np.argsort(category[pooled], kind="stable")]
    ends = np.cumsum([0, *np.bincount(category, minlength=len(table.categories))]).tolist()
    per_class = []
    for k, objects in enumerate(to_find.tolist()):
        rows = order[ends[k] : ends[k + 1]]
        per_class.append(_curve(score[rows], found[rows], objects))
    overall = _curve(score[pooled], found[pooled], int(to_find.sum()))
    return ScoreCurves(table.categories, iou, area, overall, tuple(per_class))


def _curve(score: npt.NDArray[np.float64], found: npt.NDArray[np.bool_], objects: int) -> ScoreCurve:
    """The curve of detections in the order of falling score."""
    last = np.flatnonzero(np.append(score[1:] != score[:-1], np.ones(min(len(score), 1), np.bool_)))
    tp = np.cumsum(found, dtype=np.int64)[last]
    fp = last + 1 - tp
    return ScoreCurve(
        **frozen(
            scores=score[last],
            precision=quotient(tp, tp + fp),
            recall=quotient(tp, np.full(len(tp), objects)),
            f1=quotient(2 * tp, tp + fp + objects),
            true_positives=tp,
            false_positives=fp,
        ),
        num_ground_truth=objects,
    )
