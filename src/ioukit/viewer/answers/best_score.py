"""The score threshold that a page starts with, without the curves of all classes."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ioukit.evaluation import MatchTable

__all__ = ["best_score"]

_STEPS = 1000  # scores that are tried first


def best_score(table: MatchTable) -> float:
    """The score threshold with the best F1 of all classes at the main IoU threshold: ``score_curves(table).overall``'s.

    The lowest score if there is no true positive, as in the report; 0 without detections. F1 of ``n`` detections is at
    most ``2 G / (n + G)`` with ``G`` objects. So F1 at a thousand scores tells how many detections the best threshold
    can have at most, and only these are sorted.
    """
    if not len(table):
        return 0.0
    counted = ~table.is_ignored()
    found: npt.NDArray[np.bool_] = table.is_true_positive()[counted]
    score: npt.NDArray[np.float64] = table.detections.score[counted]
    objects = int(table.num_objects[:, table.protocol.position_of_area(table.protocol.main_area)].sum())
    if not found.any():
        return float(table.detections.score.min())
    order = np.argsort(-score[found])
    of_found = score[found][order]
    tried = np.unique(of_found[:: max(1, len(of_found) // _STEPS)])
    tp = np.searchsorted(-of_found, -tried, side="right")
    total = _at_least(score, tried)
    best = float((2 * tp / (total + objects)).max())
    most = min(len(score), math.ceil(2 * max(objects, len(of_found)) / best - objects) + 1)
    if most < len(score):
        least = np.partition(score, len(score) - most)[len(score) - most]
        score, found = score[score >= least], found[score >= least]
    order = np.argsort(-score, kind="stable")
    score, found = score[order], found[order]
    last = np.flatnonzero(np.append(score[1:] != score[:-1], True))
    tp = np.cumsum(found, dtype=np.int64)[last]
    return float(score[last[np.argmax(2 * tp / (last + 1 + objects))]])


def _at_least(score: npt.NDArray[np.float64], thresholds: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """How many scores reach each of some ascending thresholds."""
    below = np.zeros(len(thresholds) + 1, np.int64)
    for start in range(0, len(score), 1 << 18):
        below += np.bincount(
            np.searchsorted(thresholds, score[start : start + (1 << 18)], side="right"), minlength=len(below)
        )
    return np.cumsum(below[::-1])[::-1][1:]
