"""Counts of a page at every position of the score threshold: by size, by kind of error, by score and by IoU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit.evaluation import ERROR_KINDS, Outcome
from ioukit.operating.calibration import judged, pooled_reliability
from ioukit.operating.sweeps import scene_of

if TYPE_CHECKING:
    from ioukit.evaluation import MatchTable
    from ioukit.report._marks import Marks, NearMarks

__all__ = ["errors_by_score", "iou_histogram", "reliability", "score_histogram", "sizes_by_score"]

_SCORE_BINS = 25
_RELIABILITY_BINS = 10
_IOU_STEP = 0.05
_LOWEST_IOU = 0.1  # lower ones are not looked for

Rows = npt.NDArray[np.int64]


def sizes_by_score(table: MatchTable, marks: Marks) -> list[dict[str, Any]]:
    """For each area range its objects, and the true and false positives that are new at each position."""
    positions, iou = len(marks.scores), marks.outcomes.iou_threshold
    rows = []
    for k, area in enumerate(table.protocol.area_ranges):
        # Area ranges share the cap on detections, so those beyond it are left out in each.
        counts = (marks.reach < positions) & ~table.is_ignored(iou, area.label)
        right = counts & table.is_true_positive(iou, area.label)
        tp, fp = (_new(marks.reach[chosen], positions) for chosen in (right, counts & ~right))
        rows.append({"n": int(table.num_objects[:, k].sum()), "tp": tp, "fp": fp})
    return rows


def errors_by_score(marks: Marks, near: NearMarks) -> dict[str, Any]:
    """The errors of each kind that are new at each position; for missed objects, those that no longer are."""
    positions, kind = len(marks.scores), near.errors.detection_kind
    new = [_new(marks.reach[kind == number], positions) for number in range(len(ERROR_KINDS) - 1)]
    return {"new": new, "objects": int((near.covered >= 0).sum()), "gone": _new(near.covered, positions)}


def score_histogram(table: MatchTable, marks: Marks) -> dict[str, Any] | None:
    """True and false positives in ranges of the score, of all classes and of each one; ``None`` without any."""
    kind = marks.outcomes.detections
    rows = np.flatnonzero((kind == Outcome.TRUE_POSITIVE) | (kind == Outcome.FALSE_POSITIVE))
    if not len(rows):
        return None
    score = table.detections.score[rows]
    low, high = (0.0, 1.0) if score.min() >= 0 and score.max() <= 1 else (float(score.min()), float(score.max()))
    if not np.isfinite(high - low) or high <= low:
        return None
    place = np.minimum(((score - low) / (high - low) * _SCORE_BINS).astype(np.int64), _SCORE_BINS - 1)
    category = table.evaluated_category(table.detections.category[rows]).astype(np.int64)
    count = table.num_objects.shape[0]
    wrong = (kind[rows] == Outcome.FALSE_POSITIVE).astype(np.int64)
    flat = (category * 2 + wrong) * _SCORE_BINS + place
    counts = np.bincount(flat, minlength=count * 2 * _SCORE_BINS).reshape(count, 2, _SCORE_BINS)
    every = np.concatenate([counts.sum(axis=0, keepdims=True), counts])
    return {"low": low, "high": high, "rows": [{"tp": tp, "fp": fp} for tp, fp in every.tolist()]}


def iou_histogram(marks: Marks, near: NearMarks) -> dict[str, Any]:
    """True and false positives in ranges of the IoU, those that are new at each position."""
    positions = len(marks.scores)
    edges = [0.0, *(round(_LOWEST_IOU + _IOU_STEP * k, 2) for k in range(round((1 - _LOWEST_IOU) / _IOU_STEP) + 1))]
    place = np.clip(np.searchsorted(edges, near.iou, side="right") - 1, 0, len(edges) - 2)
    found: dict[str, Any] = {"edges": edges}
    for key, kind in (("tp", Outcome.TRUE_POSITIVE), ("fp", Outcome.FALSE_POSITIVE)):
        of_kind = marks.outcomes.detections == kind
        found[key] = [_new(marks.reach[of_kind & (place == number)], positions) for number in range(len(edges) - 1)]
    return found


def reliability(table: MatchTable, *, iou: float, area: str) -> dict[str, Any] | str:
    """The reliability diagram, or the reason why there is none."""
    try:
        compared = judged(scene_of(table, iou, area))
    except ValueError:
        return "Scores outside of 0 to 1 cannot be compared with shares."
    if not len(compared.score):
        return "There are no detections to compare with their scores."
    shown = pooled_reliability(compared, _RELIABILITY_BINS)
    filled = shown.counts > 0
    distance = np.abs(shown.mean_scores - shown.precision)[filled]
    error = float((distance * shown.counts[filled]).sum() / shown.counts.sum())
    numbers = {"score": shown.mean_scores, "precision": shown.precision}
    return {
        "edges": np.round(shown.edges, 6).tolist(),
        "counts": shown.counts.tolist(),
        **{
            key: [None if np.isnan(value) else round(value, 5) for value in column.tolist()]
            for key, column in numbers.items()
        },
        "dece": round(error, 5),
    }


def _new(positions_of: Rows, positions: int) -> list[int]:
    """How many there are at each position; those outside of the positions are left out."""
    inside = positions_of[(positions_of >= 0) & (positions_of < positions)]
    counts: list[int] = np.bincount(inside, minlength=positions).tolist()
    return counts
