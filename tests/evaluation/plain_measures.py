"""LRP, F-beta and averages in plain Python, from the formulas of the papers: matching anew at every score."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from evaluation.plain_analysis import plain_iou, plain_matches

if TYPE_CHECKING:
    from ioukit import Detections, GroundTruth

__all__ = ["PlainCounts", "plain_counts", "plain_f_beta", "plain_lrp"]


class PlainCounts(NamedTuple):
    """What counts of one category, or of all, with a score of at least some threshold."""

    overlaps: list[float]
    """The IoU of each true positive."""
    false_positives: int
    false_negatives: int


def plain_counts(gt: GroundTruth, dt: Detections, categories: set[int], iou: float, score: float) -> PlainCounts:
    """TP with their IoU, FP and FN of some categories."""
    matches = plain_matches(gt, dt, iou, believed=score, agnostic=False)
    overlaps, false_positives = [], 0
    for row, found in enumerate(matches.detection_match):
        if int(dt.category_ids[row]) in categories and dt.scores[row] >= score and not matches.ignored[row]:
            if found >= 0:
                overlaps.append(plain_iou(dt.boxes[row], gt.boxes[found], crowd=False))
            else:
                false_positives += 1
    objects = sum(int(gt.category_ids[g]) in categories and not gt.crowd[g] for g in range(len(gt)))
    return PlainCounts(overlaps, false_positives, objects - len(overlaps))


def plain_lrp(counts: PlainCounts, iou: float) -> tuple[float, float, float, float]:
    """LRP as the paper weighs it, (w_loc L_loc + w_fp L_fp + w_fn L_fn) / Z, and its three parts."""
    tp, fp, fn = len(counts.overlaps), counts.false_positives, counts.false_negatives
    localisation = sum(1 - overlap for overlap in counts.overlaps) / tp if tp else math.nan
    share_false = fp / (tp + fp) if tp + fp else math.nan
    share_missed = fn / (tp + fn) if tp + fn else math.nan
    parts = [(tp / (1 - iou), localisation), (tp + fp, share_false), (tp + fn, share_missed)]
    weighed = sum(weight * part for weight, part in parts if weight)
    return weighed / (tp + fp + fn) if tp + fp + fn else math.nan, localisation, share_false, share_missed


def plain_f_beta(tp: int, fp: int, fn: int, beta: float) -> float:
    """The weighted harmonic mean of precision and recall, where both exist and are not both 0."""
    if not tp:
        return 0.0 if fp + beta * fn else math.nan
    precision, recall = tp / (tp + fp), tp / (tp + fn)
    return (1 + beta**2) / (1 / precision + beta**2 / recall)
