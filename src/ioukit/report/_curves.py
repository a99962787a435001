"""The positions of the score slider: few enough for a page, with exact counts at each position."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, TypedDict

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.evaluation import ScoreCurve, ScoreCurves


MOST_POSITIONS = 512
"""More positions would be useless: sliders and charts are not wider than this number of pixels."""


class CurveCounts(TypedDict):
    """One curve of the page."""

    n: int
    """The objects."""
    tp: list[int]
    """(P,) the true positives that are new at each position."""
    fp: list[int]
    best: int
    """The position with the best F1; -1 without true positives."""


class SliderCurves(TypedDict):
    """The curves of all classes together, and those of each."""

    iou: float
    scores: list[float]
    """(P,) the positions, highest first."""
    rows: list[CurveCounts]
    start: int
    """The position of the slider when the page is opened."""


def slider_scores(curves: ScoreCurves, wanted: float = math.nan) -> npt.NDArray[np.float64]:
    """(P,) scores of detections in descending order, at most :data:`MOST_POSITIONS`.

    All scores, if they are few enough. Otherwise the first and the last, those with the best F1 for all classes
    together and for the classes with the most objects, and some of the rest: half of these are spread evenly by score,
    half evenly by rank, because many scores are close to 0.

    Args:
        curves: The curves of all classes.
        wanted: A score threshold that must have its own position, if a detection reaches it: that of the lowest score
            that is at least as high.
    """
    scores = curves.overall.scores
    if len(scores) <= MOST_POSITIONS:
        return scores
    by_objects = sorted(curves.per_class, key=lambda curve: -curve.num_ground_truth)[: MOST_POSITIONS // 2]
    best = [curve.best.score for curve in (curves.overall, *by_objects)]
    chosen = {float(scores[0]), float(scores[-1]), *(score for score in best if not math.isnan(score))}
    rising = scores[::-1]
    if rising[-1] >= wanted:
        chosen.add(float(rising[np.searchsorted(rising, wanted)]))
    even = math.ceil((MOST_POSITIONS - len(chosen)) / 2)
    by_rank = scores[np.linspace(0, len(scores) - 1, even).round().astype(np.int64)]
    places = np.linspace(scores[-1], scores[0], even)
    by_score = rising[np.minimum(np.searchsorted(rising, places), len(rising) - 1)]
    for score in np.stack([by_score, by_rank], axis=1).ravel().tolist():
        if len(chosen) == MOST_POSITIONS:
            break
        chosen.add(score)
    return np.array(sorted(chosen, reverse=True))


def page_scores(curves: ScoreCurves, threshold: float) -> npt.NDArray[np.float64]:
    """(P,) the score thresholds of a page, in descending order: those of a slider and the one of the report."""
    limit = sys.float_info.max  # JSON has no infinity
    known = min(max(threshold, -limit), limit)
    return np.array(sorted({*slider_scores(curves).tolist(), known}, reverse=True))


def slider(
    curves: ScoreCurves,
    classes: Sequence[int] | None = None,
    wanted: float = math.nan,
    scores: npt.NDArray[np.float64] | None = None,
) -> SliderCurves | None:
    """The data for the curves of the page, with counts as differences between scores; ``None`` without scores.

    Args:
        curves: The curves of all classes.
        classes: Positions of the classes that have curves; all if ``None``.
        wanted: A score threshold that must have its own position, see :func:`slider_scores`.
        scores: (P,) the positions, if they are known.
    """
    if not len(curves.overall.scores):
        return None
    scores = slider_scores(curves, wanted) if scores is None else scores
    listed = range(len(curves.per_class)) if classes is None else classes
    rows = [_row(curve, scores) for curve in (curves.overall, *(curves.per_class[place] for place in listed))]
    return {"iou": curves.iou_threshold, "scores": scores.tolist(), "rows": rows, "start": max(rows[0]["best"], 0)}


def _row(curve: ScoreCurve, scores: npt.NDArray[np.float64]) -> CurveCounts:
    last = np.searchsorted(-curve.scores, -scores, side="right")  # how many scores of the curve are at least as high
    tp, fp = (np.append(0, counts)[last] for counts in (curve.true_positives, curve.false_positives))
    objects = curve.num_ground_truth
    best = -1
    if tp[-1]:
        # With very many classes, the best score of a class may not be a position. Then this is the best position.
        best = int(np.argmax(2 * tp / np.maximum(tp + fp + objects, 1)))
    return {"n": objects, "tp": np.diff(tp, prepend=0).tolist(), "fp": np.diff(fp, prepend=0).tolist(), "best": best}
