"""LRP and oLRP: one error for localisation, recall and precision together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit._checks import check_number, pluralize
from ioukit._columns import Frozen, frozen, record
from ioukit._notebook import Shown
from ioukit.datasets import Categories
from ioukit.evaluation.analysis._quotient import quotient
from ioukit.evaluation.analysis._ranking import last_of_equal, ranking
from ioukit.evaluation.table import MatchTable


@dataclass(frozen=True)
class LRPPoint:
    """The LRP error if only detections with at least some score count, and its three parts.

    With TP, FP and FN for true positives, false positives and false negatives, the sum over the true positives, and the
    IoU threshold ``t``::

        localisation = sum(1 - IoU) / TP    false_positive = FP / (TP + FP)    false_negative = FN / (TP + FN)
        LRP = (sum(1 - IoU) / (1 - t) + FP + FN) / (TP + FP + FN)

    Each is NaN where its denominator is 0 (Oksuz et al., Localization Recall Precision, ECCV 2018, arXiv:1807.01696).
    """

    score: float
    """The score threshold: detections with this score or a higher one count. NaN if no detection counts."""
    lrp: float
    """The error, within [0, 1]: 0 is perfect."""
    localisation: float
    """Mean of 1 - IoU over the true positives, within [0, 1 - t]."""
    false_positive: float
    """Share of false positives among the detections that count: 1 - precision."""
    false_negative: float
    """Share of the objects that are missed: 1 - recall."""
    true_positives: int
    """Detections that match an object."""
    false_positives: int
    """Detections that match no object."""
    false_negatives: int
    """Objects that no detection matches."""


@record(frozen=True, eq=False, repr=False)
class LRPCurve(Frozen):
    """The LRP error and its parts at the score of every detection, for one class or for several classes pooled.

    The formulas are those of :class:`LRPPoint`. Ignored detections are left out.
    """

    scores: Floats
    """(S,) scores, each once, in descending order."""
    lrp: Floats
    """(S,) the error of the detections with this score or a higher one."""
    localisation: Floats
    """(S,) mean of 1 - IoU over the true positives; NaN if there are none."""
    false_positive: Floats
    """(S,) FP / (TP + FP)."""
    false_negative: Floats
    """(S,) FN / (TP + FN); NaN if there are no objects."""
    true_positives: npt.NDArray[np.int64]
    """(S,) TP, in ascending order."""
    false_positives: npt.NDArray[np.int64]
    """(S,) FP, in ascending order."""
    num_ground_truth: int
    """Objects to find."""

    @property
    def best(self) -> LRPPoint:
        """The point with the smallest error, which is oLRP; among several, the one with the highest score.

        Without true positives it is the point at which no detection counts: its score is NaN, and its error is 1, or
        NaN if there are no objects.
        """
        if not len(self.scores) or self.true_positives[-1] == 0:
            return self._point(math.nan, -1)
        row = int(np.argmin(self.lrp))
        return self._point(float(self.scores[row]), row)

    def at(self, score: float) -> LRPPoint:
        """The point at which detections with this score or a higher one count.

        Raises:
            ValueError: If the score is NaN.
        """
        check_number(score=score)
        return self._point(float(score), int(np.searchsorted(-self.scores, -score, side="right")) - 1)

    def _point(self, score: float, row: int) -> LRPPoint:
        """The point of a row; row -1 is the point at which no detection counts."""
        if row < 0:
            missed = 1.0 if self.num_ground_truth else math.nan
            return LRPPoint(score, missed, math.nan, math.nan, missed, 0, 0, self.num_ground_truth)
        tp = int(self.true_positives[row])
        return LRPPoint(
            score=score,
            lrp=float(self.lrp[row]),
            localisation=float(self.localisation[row]),
            false_positive=float(self.false_positive[row]),
            false_negative=float(self.false_negative[row]),
            true_positives=tp,
            false_positives=int(self.false_positives[row]),
            false_negatives=self.num_ground_truth - tp,
        )

    def __repr__(self) -> str:
        best = self.best
        return f"LRPCurve({len(self.scores):,} scores, oLRP {best.lrp:.4f} at {best.score:.4g})"


@dataclass(frozen=True, eq=False, repr=False)
class LRPErrors(Shown):
    """The result of :func:`lrp_errors`."""

    categories: Categories
    """(K,) the categories."""
    iou_threshold: float
    """The lowest IoU of a match."""
    area_range: str
    """Label of the area range."""
    overall: LRPCurve
    """All classes pooled: one score threshold for all, and every object weighs the same."""
    per_class: tuple[LRPCurve, ...]
    """(K,) each class alone."""

    @property
    def olrp(self) -> Floats:
        """(K,) the smallest error of each class; 1 without true positives, NaN without objects."""
        return frozen(np.array([curve.best.lrp for curve in self.per_class]))

    @property
    def best_thresholds(self) -> Floats:
        """(K,) the score threshold with that error; NaN if the error is smallest without detections."""
        return frozen(np.array([curve.best.score for curve in self.per_class]))

    @property
    def mean(self) -> Mapping[str, float]:
        """The means over the classes that have an object, each class at its own best threshold.

        ``oLRP`` and its parts ``oLRP_localisation``, ``oLRP_false_positive`` and ``oLRP_false_negative``. A class
        without a true positive has no error of localisation and no share of false positives: it is left out of these
        two means. A mean over no classes is NaN.
        """
        points = [curve.best for curve in self.per_class if curve.num_ground_truth]
        return {
            "oLRP": _mean([point.lrp for point in points]),
            "oLRP_localisation": _mean([point.localisation for point in points]),
            "oLRP_false_positive": _mean([point.false_positive for point in points]),
            "oLRP_false_negative": _mean([point.false_negative for point in points]),
        }

    def __repr__(self) -> str:
        return (
            f"LRPErrors(oLRP={self.mean['oLRP']:.4f}, {pluralize(len(self.per_class), 'class')}, "
            f"IoU {self.iou_threshold:.4g}, area {self.area_range!r})"
        )


def lrp_errors(table: MatchTable, *, iou_threshold: float | None = None, area_range: str | None = None) -> LRPErrors:
    """The localisation-recall-precision error at every score threshold, and the best threshold of each class.

    oLRP is the smallest LRP over the score thresholds. It depends on the IoU of the matches, and it belongs to one
    score threshold. All detections with equal scores count, or none of them.

    Args:
        table: The matches.
        iou_threshold: One of the protocol's IoU thresholds, below 1; its main one if ``None``.
        area_range: Label of one of the protocol's area ranges; its main one if ``None``.

    Raises:
        ValueError: If the protocol has no such threshold or area range, or the threshold is 1.

    Examples:
        One object is found with IoU 0.8, another one is missed: ``(0.2 / 0.5 + 0 + 1) / 2``.

        >>> from ioukit import Detections, GroundTruth
        >>> from ioukit.evaluation import match
        >>> ground_truth = GroundTruth.from_arrays(
        ...     image_ids=[1, 1], category_ids=[1, 1], boxes=[[0, 0, 10, 10], [20, 0, 10, 10]]
        ... )
        >>> detections = Detections.from_arrays(
        ...     image_ids=[1, 1], category_ids=[1, 1], boxes=[[0, 0, 10, 8], [50, 0, 10, 10]], scores=[0.9, 0.3]
        ... )
        >>> errors = lrp_errors(match(ground_truth, detections))
        >>> best = errors.per_class[0].best
        >>> round(best.lrp, 6), round(best.localisation, 6), best.false_positive, best.false_negative, best.score
        (0.7, 0.2, 0.0, 0.5, 0.9)

    Reference: Oksuz, Cam, Akbas, Kalkan, Localization Recall Precision (LRP): A New Performance Metric for Object
    Detection, ECCV 2018, arXiv:1807.01696.
    """
    ranked = ranking(table, iou_threshold, area_range)
    least = ranked.iou_threshold
    if least >= 1:
        raise ValueError("LRP divides by 1 - iou_threshold: it needs an IoU threshold below 1, got 1")
    found = table.is_true_positive(least, ranked.area_range)
    apart = 1 - np.where(found, table.matched_iou(least, ranked.area_range), 1.0)
    score = table.detections.score
    overall, *per_class = (
        _curve(score[rows], found[rows], apart[rows], objects, least) for rows, objects in ranked.curves()
    )
    return LRPErrors(ranked.categories, least, ranked.area_range, overall, tuple(per_class))


def _curve(score: Floats, found: npt.NDArray[np.bool_], apart: Floats, objects: int, least: float) -> LRPCurve:
    """The curve of detections in descending order of score; ``apart`` is 1 - IoU, 0 for false positives."""
    last = last_of_equal(score)
    tp = np.cumsum(found, dtype=np.int64)[last]
    fp = last + 1 - tp
    total = np.cumsum(apart)[last]
    fn = objects - tp
    return LRPCurve(
        scores=score[last],
        lrp=quotient(total / (1 - least) + fp + fn, tp + fp + fn),
        localisation=quotient(total, tp),
        false_positive=quotient(fp, tp + fp),
        false_negative=quotient(fn, np.full(len(fn), objects)),
        true_positives=tp,
        false_positives=fp,
        num_ground_truth=objects,
    )


def _mean(values: list[float]) -> float:
    """The mean of the defined values."""
    defined = [value for value in values if not math.isnan(value)]
    return float(np.mean(defined)) if defined else math.nan
