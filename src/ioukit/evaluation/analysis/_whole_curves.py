"""Numbers of curves that need every point of them, in the layout of the core's arrays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ioukit.evaluation.analysis.jaccard import jaccard_indices
from ioukit.evaluation.analysis.miss_rate import miss_rate_curves
from ioukit.evaluation.table import MatchTable

__all__ = ["whole_curves"]

Floats = npt.NDArray[np.float64]


def whole_curves(table: MatchTable) -> dict[str, Floats]:
    """(K, A, M, T) arrays by what they hold: ``"area"`` under trapezoids, ``"MR"`` and ``"JI"``, as the protocol asks.

    The Jaccard index is NaN at all but the main IoU threshold.
    """
    protocol = table.protocol
    wanted = {measure.quantity for measure in protocol.measures} & {"MR", "JI"}
    names = [*sorted(wanted), *(["area"] if protocol.integral == "trapezoid_from_first" else [])]
    shape = len(table.evaluated), len(protocol.area_ranges), len(protocol.max_dets), len(protocol.iou_thresholds)
    arrays: dict[str, Floats] = {name: np.full(shape, np.nan) for name in names}
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
                    if "MR" in arrays:
                        arrays["MR"][k, a, m, t] = curve.log_average
                    if "area" in arrays:
                        arrays["area"][k, a, m, t] = _trapezoids(curve.miss_rate, curve.num_ground_truth)
    return arrays


def _trapezoids(miss_rate: Floats, objects: int) -> float:
    """The area under precision over recall, both as they are after each detection, added up one by one."""
    if not objects:
        return float("nan")
    # The miss rate falls at each true positive.
    found = np.diff(miss_rate, prepend=1.0) < 0
    tp = np.cumsum(found)
    precision = tp / np.arange(1, len(tp) + 1)
    recall = tp / objects
    parts = np.diff(recall) * ((precision[:-1] + precision[1:]) / 2)
    total = 0.0
    for part in parts.tolist():
        total += part
    return total
