"""At which score threshold does a detector work best? Precision, recall and F-beta over the threshold."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._checks import check_choice, check_number, pluralize
from ioukit._columns import Frozen, frozen, record
from ioukit._notebook import Shown, values_of
from ioukit.datasets import Categories
from ioukit.evaluation.analysis._parts import Gathered
from ioukit.evaluation.analysis._quotient import quotient
from ioukit.evaluation.analysis._ranking import last_of_equal, rows_by_class, threshold_and_range
from ioukit.evaluation.table import MatchTable

Average: TypeAlias = Literal["micro", "macro", "weighted"]

_MOST_BETA = 1e100  # its square times a count is finite


@dataclass(frozen=True)
class OperatingPoint(Shown):
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

    def f_beta(self, beta: float) -> float:
        """``(1 + b^2) TP / ((1 + b^2) TP + b^2 FN + FP)`` for ``b = beta``; NaN where the denominator is 0.

        Recall weighs ``beta`` times as much as precision: ``f_beta(1)`` is F1, ``f_beta(0)`` is precision (van
        Rijsbergen, Information Retrieval, 1979).

        Raises:
            ValueError: If ``beta`` is not within [0, 1e100].
        """
        tp, fp, fn = (np.array(count) for count in (self.true_positives, self.false_positives, self.false_negatives))
        return float(_f_beta(tp, fp, fn, beta))


@dataclass(frozen=True)
class AveragedPoint:
    """Precision, recall and F-beta of several classes as one number each, see :meth:`ScoreCurves.average`."""

    average: str
    """``"micro"``, ``"macro"`` or ``"weighted"``."""
    beta: float
    """The weight of recall in F-beta, relative to precision."""
    precision: float
    """Within [0, 1], or NaN."""
    recall: float
    """Within [0, 1], or NaN."""
    f_beta: float
    """Within [0, 1], or NaN. As an average over classes it is the mean of F-beta, not F-beta of the means."""


@record(frozen=True, eq=False, repr=False)
class ScoreCurve(Frozen):
    """Precision, recall and F1 at the score of every detection, for one class or for several classes pooled.

    Ignored detections (on crowds, outside the area range) are left out, and so are their scores.
    """

    scores: npt.NDArray[np.float64]
    """(S,) scores, each once, in descending order."""
    true_positives: npt.NDArray[np.int64]
    """(S,) TP, in ascending order."""
    false_positives: npt.NDArray[np.int64]
    """(S,) FP, in ascending order."""
    num_ground_truth: int
    """Objects to find."""

    # Half of a curve: made when they are asked for.
    @cached_property
    def precision(self) -> npt.NDArray[np.float64]:
        """(S,) TP / (TP + FP) of the detections with this score or a higher one."""
        return frozen(quotient(self.true_positives, self.true_positives + self.false_positives))

    @cached_property
    def recall(self) -> npt.NDArray[np.float64]:
        """(S,) TP / objects; NaN if there are no objects."""
        return frozen(quotient(self.true_positives, np.full(len(self.scores), self.num_ground_truth)))

    @cached_property
    def f1(self) -> npt.NDArray[np.float64]:
        """(S,) 2 TP / (TP + FP + objects)."""
        tp = self.true_positives
        return frozen(quotient(2 * tp, tp + self.false_positives + self.num_ground_truth))

    def f_beta(self, beta: float) -> npt.NDArray[np.float64]:
        """(S,) F-beta at each score, see :meth:`OperatingPoint.f_beta`; ``f_beta(1)`` is :attr:`f1`.

        Raises:
            ValueError: If ``beta`` is not within [0, 1e100].
        """
        return _f_beta(self.true_positives, self.false_positives, self.num_ground_truth - self.true_positives, beta)

    @property
    def best(self) -> OperatingPoint:
        """The point with the highest F1; among several, the one with the highest score.

        Without true positives it is the point at which no detection counts: its score is NaN, and its F1 is 0, or NaN
        if there are no objects.
        """
        return self.best_point()

    def best_point(self, beta: float = 1.0) -> OperatingPoint:
        """The point with the highest F-beta, otherwise like :attr:`best`.

        Raises:
            ValueError: If ``beta`` is not within [0, 1e100].
        """
        tp, fp = self.true_positives, self.false_positives
        rows = np.flatnonzero(np.diff(tp, prepend=0))  # more false positives alone are never better
        values = _f_beta(tp[rows], fp[rows], self.num_ground_truth - tp[rows], beta)
        if not len(rows):
            return self._point(math.nan, -1)
        row = int(rows[np.argmax(values)])
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
class ScoreCurves(Shown):
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

    def notebook_rows(self) -> tuple[Iterable[Any], int]:
        """The point with the best F1 of each class."""
        curves = zip(("all classes", *self.categories.names), (self.overall, *self.per_class), strict=True)
        return [{"class": name, **values_of(curve.best)} for name, curve in curves], 1 + len(self.per_class)

    def best_thresholds(self, beta: float = 1.0) -> npt.NDArray[np.float64]:
        """(K,) the score threshold of each class with the highest F-beta; NaN if F-beta is best without detections.

        Among several, the highest threshold. Choose thresholds on one set of images, and report numbers of another.

        Raises:
            ValueError: If ``beta`` is not within [0, 1e100].
        """
        return frozen(np.array([curve.best_point(beta).score for curve in self.per_class]))

    def average(
        self,
        score: float | npt.ArrayLike,
        average: Average = "macro",
        *,
        beta: float = 1.0,
        undefined: float = math.nan,
    ) -> AveragedPoint:
        """Precision, recall and F-beta of all classes as one number each.

        ``"micro"`` adds up TP, FP and FN of all classes, and applies the formulas to the sums. ``"macro"`` applies the
        formulas to each class, and takes the mean over the classes that have objects. ``"weighted"`` is that mean with
        the numbers of objects as weights.

        Args:
            score: The score threshold: one for all classes, or (K,) one for each. In an array, NaN says that no
                detection of the class counts, as in :meth:`best_thresholds`.
            average: ``"micro"``, ``"macro"`` or ``"weighted"``.
            beta: The weight of recall in F-beta, relative to precision.
            undefined: The precision of a class in which no detection counts. NaN leaves such a class out of the mean of
                precision. This is ``zero_division`` of scikit-learn, which is 0 by default.

        Raises:
            ValueError: If ``beta`` is not within [0, 1e100], the average is unknown, a single score is NaN, or
                there is not one score for each class.
        """
        check_choice("average", average, get_args(Average))
        thresholds: npt.NDArray[np.float64] = np.asarray(score, np.float64)
        if thresholds.ndim == 0:
            check_number(score=float(thresholds))
            thresholds = np.full(len(self.per_class), thresholds)
        if thresholds.shape != (len(self.per_class),):
            raise ValueError(
                f"expected one score, or one for each of {len(self.per_class):,} classes, got {thresholds.tolist()}"
            )
        points = [
            curve._point(math.nan, -1) if math.isnan(each) else curve.at(each)
            for curve, each in zip(self.per_class, thresholds.tolist(), strict=True)
        ]
        tp, fp, fn = np.array(
            [(point.true_positives, point.false_positives, point.false_negatives) for point in points], np.int64
        ).reshape(-1, 3).T  # fmt: skip
        if average == "micro":
            tp, fp, fn = (np.array([count.sum()]) for count in (tp, fp, fn))
        else:
            tp, fp, fn = (count[tp + fn > 0] for count in (tp, fp, fn))
        precision = quotient(tp, tp + fp)
        if not math.isnan(undefined):
            precision[np.isnan(precision)] = undefined
        weights = tp + fn if average == "weighted" else np.ones(len(tp))
        columns = (precision, quotient(tp, tp + fn), _f_beta(tp, fp, fn, beta))
        return AveragedPoint(average, float(beta), *(_weighted_mean(column, weights) for column in columns))

    def __repr__(self) -> str:
        return (
            f"ScoreCurves({pluralize(len(self.per_class), 'class')}, IoU {self.iou_threshold:.4g}, "
            f"area {self.area_range!r}, {self.overall!r})"
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
    iou_threshold, area_range = threshold_and_range(table.protocol, iou_threshold, area_range)
    counted = Gathered(table.totals["detections"], np.uint32, np.float64, np.bool_)
    for columns in map(partial(_counted, iou_threshold=iou_threshold, area_range=area_range), table.parts()):
        counted.add(*columns)
    category, score, found = counted.columns()
    del counted
    order, _ = _core.order_by_category(np.zeros(len(score), np.uint32), score, 1, 1)
    category, score, found = category[order], score[order], found[order]
    del order  # as large as a column of the result
    objects = table.num_objects[:, table.protocol.position_of_area(area_range)]
    overall = pooled_curve(score, found, int(objects.sum()))
    by_class = zip(rows_by_class(category, len(objects)), objects.tolist(), strict=True)
    per_class = (pooled_curve(score[rows], found[rows], count) for rows, count in by_class)
    return ScoreCurves(table.evaluated, iou_threshold, area_range, overall, tuple(per_class))


def _counted(
    table: MatchTable, iou_threshold: float, area_range: str
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """The category and score of the detections that count, and whether they are right."""
    rows, counted = table.detections, ~table.is_ignored(iou_threshold, area_range)
    found = table.is_true_positive(iou_threshold, area_range)
    return table.evaluated_category(rows.category[counted]), rows.score[counted], found[counted]


def pooled_curve(score: npt.NDArray[np.float64], found: npt.NDArray[np.bool_], objects: int) -> ScoreCurve:
    """The curve of detections in descending order of score: which of them find one of some objects."""
    last = last_of_equal(score)
    tp = np.cumsum(found, dtype=np.int64)[last]
    return ScoreCurve(scores=score[last], true_positives=tp, false_positives=last + 1 - tp, num_ground_truth=objects)


def _f_beta(
    tp: npt.NDArray[np.int64], fp: npt.NDArray[np.int64], fn: npt.NDArray[np.int64], beta: float
) -> npt.NDArray[np.float64]:
    """F-beta; NaN where its denominator is 0."""
    check_number(beta=beta)
    if not 0 <= beta <= _MOST_BETA:
        raise ValueError(f"beta must be within [0, {_MOST_BETA:g}], got {beta}")
    weight = float(beta) ** 2
    return quotient((1 + weight) * tp, (1 + weight) * tp + weight * fn + fp)


def _weighted_mean(values: npt.NDArray[np.float64], weights: npt.NDArray[Any]) -> float:
    """The mean of the values that are defined; NaN if none is, or a single value as it is."""
    defined = ~np.isnan(values)
    if not defined.any():
        return math.nan
    if defined.sum() == 1:
        return float(values[defined][0])
    return float(np.sum(values[defined] * weights[defined]) / np.sum(weights[defined]))
