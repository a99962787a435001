"""Why did an object or a false positive change? The error kinds of TIDE at every IoU threshold."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ioukit.comparison.part_records import CHANGE_KINDS
from ioukit.comparison.sides import NEAR, Side
from ioukit.evaluation import NearPairs

__all__ = ["false_positive_kinds", "miss_kinds"]

Kinds = npt.NDArray[np.int8]
_CLASSIFICATION, _LOCALISATION, _BOTH, _DUPLICATE, _BACKGROUND, _MISSED, _SCORE = range(len(CHANGE_KINDS))


def false_positive_kinds(side: Side, near: NearPairs, area_range: str) -> Kinds:
    """(N, T) position in :data:`CHANGE_KINDS` of each detection, as a false positive, at each IoU threshold.

    The rules are those of :func:`ioukit.evaluation.error_kinds`.
    """
    table, thresholds = side.table, _thresholds(side)
    counts = ~table.ignores(area_range)[near.object] & (near.iou >= NEAR)
    alike = _alike(side, near)
    best = [np.zeros(len(table)), np.zeros(len(table))]
    for highest, wanted in zip(best, (counts & alike, counts & ~alike), strict=True):
        np.maximum.at(highest, near.detection[wanted], near.iou[wanted])
    same, other = best[0][:, None], best[1][:, None]
    holds = [
        (same >= NEAR) & (same <= thresholds),
        other >= thresholds,
        same >= thresholds,
        (same <= NEAR) & (other <= NEAR) & np.ones(len(thresholds), np.bool_),
    ]
    kinds = [np.int8(kind) for kind in (_LOCALISATION, _CLASSIFICATION, _DUPLICATE, _BACKGROUND)]
    return np.select(holds, kinds, np.int8(_BOTH))


def miss_kinds(side: Side, near: NearPairs) -> Kinds:
    """(G, T) position in :data:`CHANGE_KINDS` of each object, as one that is not found, at each IoU threshold.

    It is an error of localisation if a false positive of its class overlaps it, of classification if a false positive
    of another class reaches the IoU threshold with it, and missed otherwise.
    """
    kinds = np.full((len(side.table.objects), side.false.shape[1]), _MISSED, np.int8)
    alike, overlaps = _alike(side, near), near.iou >= NEAR
    for at, threshold in enumerate(_thresholds(side).tolist()):
        wrong = side.false[near.detection, at] & overlaps
        kinds[near.object[wrong & ~alike & (near.iou >= threshold)], at] = _CLASSIFICATION
        kinds[near.object[wrong & alike], at] = _LOCALISATION
    return kinds


def _thresholds(side: Side) -> npt.NDArray[np.float64]:
    return np.array(side.table.protocol.iou_thresholds)


def _alike(side: Side, near: NearPairs) -> npt.NDArray[np.bool_]:
    """(Q,) whether the detection and the object of each near pair are of one class."""
    table = side.table
    of_detection = table.evaluated_category(table.detections.category[near.detection])
    same: npt.NDArray[np.bool_] = of_detection == table.evaluated_category(table.objects.category[near.object])
    return same
