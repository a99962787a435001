"""Numbers of curves that need every point of them, in the layout of the core's arrays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit.evaluation.analysis.jaccard import jaccard_indices
from ioukit.evaluation.analysis.miss_rate import MissRateCurve, miss_rate_curves
from ioukit.evaluation.protocols.measures import Measure
from ioukit.evaluation.table import MatchTable

_STEPS = 1000


def whole_curves(table: MatchTable) -> dict[str, Floats]:
    """(K, A, M, T) arrays by what they hold: ``"area"`` under trapezoids and quantities of measures, as the rules ask.

    The Jaccard index is NaN at all but the main IoU threshold.
    """
    protocol = table.protocol
    quantities = {measure.quantity for measure in protocol.measures}
    froc = [measure for measure in protocol.measures if measure.quantity == "FROC"]
    froc += [replace(measure, pooled=False) for measure in froc]  # classes have their own numbers beside the pooled one
    wanted = (quantities & {"MR", "JI"}) | {measure.column for measure in froc}
    names = [*sorted(wanted), *(["area"] if protocol.integral in ("trapezoid_from_first", "score_steps") else [])]
    shape = len(table.evaluated), len(protocol.area_ranges), len(protocol.max_dets), len(protocol.iou_thresholds)
    arrays: dict[str, Floats] = {name: np.full(shape, np.nan) for name in names}
    counted = [measure for measure in protocol.measures if measure.quantity != "FROC"]
    if quantities & {"precision", "F1", "IoU", "LRP"} or any(measure.pooled for measure in counted):
        arrays |= _of_counts(table)
    if not names:
        return arrays
    limits = _score_limits(table)
    for a, area in enumerate(protocol.area_labels):
        for m, cap in enumerate(protocol.max_dets):
            if "JI" in arrays:
                at = protocol.position_of_iou(protocol.main_iou)
                arrays["JI"][:, a, m, at] = jaccard_indices(table, area_range=area, max_dets=cap).best
            if names == ["JI"]:
                continue
            for t, iou in enumerate(protocol.iou_thresholds):
                curves = miss_rate_curves(table, iou_threshold=iou, area_range=area, max_dets=cap)
                for k, curve in enumerate(curves.per_class):
                    for measure in froc:
                        arrays[measure.column][k, a, m, t] = _froc(curves.overall if measure.pooled else curve, measure)
                    if "MR" in arrays:
                        arrays["MR"][k, a, m, t] = curve.log_average
                    if protocol.integral == "trapezoid_from_first":
                        arrays["area"][k, a, m, t] = _trapezoids(curve)
                    elif protocol.integral == "score_steps":
                        arrays["area"][k, a, m, t] = _steps(curve, *limits[k])
    return arrays


def _of_counts(table: MatchTable) -> dict[str, Floats]:
    """Quantities of all detections that count, which need no rank; those that pool the categories are alike in all."""
    right, wrong = table.count_positives(np.arange(len(table)))
    objects = np.broadcast_to(table.num_objects[:, :, None, None], right.shape)
    counts = [count.astype(np.float64) for count in (right, wrong, objects, table.sum_ious())]
    of_each = {name: np.where(objects > 0, values, np.nan) for name, values in _quotients(table, *counts).items()}
    together = _quotients(table, *(count.sum(axis=0, keepdims=True) for count in counts))
    return of_each | {f"pooled {name}": np.broadcast_to(one, right.shape) for name, one in together.items()}


def _quotients(table: MatchTable, right: Floats, wrong: Floats, objects: Floats, ious: Floats) -> dict[str, Floats]:
    """What follows from true positives, false positives, objects and the sum of IoU over the true positives."""
    most = 1 - np.array(table.protocol.iou_thresholds)
    with np.errstate(invalid="ignore", divide="ignore"):
        localisation = np.where((right > 0) & (most > 0), (right - ious) / most, 0.0)
        return {
            "precision": right / (right + wrong),
            "AR": right / objects,
            "F1": 2 * right / (right + wrong + objects),
            "IoU": ious / right,
            # TP + FP + FN: each object is found or missed.
            "LRP": (localisation + wrong + objects - right) / (wrong + objects),
        }


def _froc(curve: MissRateCurve, measure: Measure) -> float:
    return curve.froc if measure.fppi is None else float(curve.sensitivity(measure.fppi)[0])


def _found(curve: MissRateCurve) -> npt.NDArray[np.int64]:
    """(N,) true positives after each detection: the miss rate falls at each of them."""
    return np.cumsum(np.diff(curve.miss_rate, prepend=1.0) < 0, dtype=np.int64)


def _trapezoids(curve: MissRateCurve) -> float:
    """The area under precision over recall, both as they are after each detection, added up one by one."""
    objects, tp = curve.num_ground_truth, _found(curve)
    if not objects:
        return float("nan")
    precision = tp / np.arange(1, len(tp) + 1)
    recall = tp / objects
    parts = np.diff(recall) * ((precision[:-1] + precision[1:]) / 2)
    total = 0.0
    for part in parts.tolist():
        total += part
    return total


def _score_limits(table: MatchTable) -> list[tuple[float, float]]:
    """(K,) the lowest score of each category, at most 1, and the highest, at least 0."""
    rows, count = table.detections, len(table.evaluated)
    category = table.evaluated_category(rows.category)
    low, high = np.ones(count), np.zeros(count)
    np.minimum.at(low, category, rows.score)
    np.maximum.at(high, category, rows.score)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def _steps(curve: MissRateCurve, low: float, high: float) -> float:
    """The area under the curve of the best precision at each recall or a higher one, read at scores from high to low.

    Scores are brought to [0, 1] first. The parts are summed as NumPy adds them.
    """
    if not curve.num_ground_truth:
        return float("nan")
    with np.errstate(invalid="ignore", divide="ignore"):
        scores = (curve.scores - low) / np.float64(high - low)
    least = 1 - np.arange(1, _STEPS + 1) / _STEPS
    # Scores fall. A score of NaN, if all are equal, is below every step.
    counts = np.searchsorted(-scores, -least, side="right")
    if np.isnan(scores).any():
        counts = np.zeros(_STEPS, np.int64)
    tp = np.concatenate([[0], _found(curve)])[counts]
    recall = np.concatenate([[0.0], tp / curve.num_ground_truth, [1.0]])
    precision = np.concatenate([[0.0], tp / np.maximum(counts, 1), [0.0]])
    best = np.maximum.accumulate(precision[::-1])[::-1]
    rises = np.flatnonzero(recall[1:] != recall[:-1])
    return float(np.sum((recall[rises + 1] - recall[rises]) * best[rises + 1]))
