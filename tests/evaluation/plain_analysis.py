"""What curves, outcomes, images and the matrix are, in plain Python from the definitions: slow and easy to check."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit import Detections, GroundTruth

__all__ = ["Matches", "f1", "plain_curve", "plain_matches", "plain_matrix"]


class Matches(NamedTuple):
    """For each detection the row it matches or -1, and whether it counts for nothing; for each annotation likewise."""

    detection_match: list[int]
    ignored: list[bool]
    annotation_match: list[int]


def plain_iou(detection: Sequence[float], annotation: Sequence[float], *, crowd: bool) -> float:
    (x, y, w, h), (x2, y2, w2, h2) = detection, annotation
    wide, high = min(x + w, x2 + w2) - max(x, x2), min(y + h, y2 + h2) - max(y, y2)
    common = wide * high if wide > 0 and high > 0 else 0.0
    union = w * h if crowd else w * h + w2 * h2 - common
    return common / union if common else 0.0


def plain_matches(gt: GroundTruth, dt: Detections, iou: float, *, believed: float, agnostic: bool) -> Matches:
    """COCO's matching of detections with a score of `believed` or more: best first, each takes the best free object."""
    detection_match, ignored, annotation_match = [-1] * len(dt), [False] * len(dt), [-1] * len(gt)
    order = sorted(range(len(dt)), key=lambda row: -dt.scores[row])
    if agnostic:  # as COCO lists them: class by class
        order = sorted(range(len(dt)), key=lambda row: (-dt.scores[row], dt.category_ids[row]))
    for row in order:
        if dt.scores[row] < believed:
            continue
        for crowd in (False, True):
            best, best_iou = -1, iou
            candidates = sorted(range(len(gt)), key=lambda g: gt.category_ids[g]) if agnostic else range(len(gt))
            for g in candidates:
                same = gt.image_ids[g] == dt.image_ids[row] and (agnostic or gt.category_ids[g] == dt.category_ids[row])
                free = crowd or annotation_match[g] < 0
                if same and free and gt.crowd[g] == crowd:
                    overlap = plain_iou(dt.boxes[row], gt.boxes[g], crowd=crowd)
                    if overlap >= best_iou:
                        best, best_iou = g, overlap
            if best >= 0:
                detection_match[row], ignored[row] = best, crowd
                if annotation_match[best] < 0:
                    annotation_match[best] = row
                break
    return Matches(detection_match, ignored, annotation_match)


def plain_curve(gt: GroundTruth, dt: Detections, category: int, iou: float) -> list[tuple[float, int, int]]:
    """(score, TP, FP) for each score of a class, by matching anew at each."""
    rows = [row for row in range(len(dt)) if dt.category_ids[row] == category]
    points = []
    for score in sorted({float(dt.scores[row]) for row in rows}, reverse=True):
        matches = plain_matches(gt, dt, iou, believed=score, agnostic=False)
        counted = [row for row in rows if dt.scores[row] >= score and not matches.ignored[row]]
        if not any(dt.scores[row] == score for row in counted):
            continue
        found = sum(matches.detection_match[row] >= 0 for row in counted)
        points.append((score, found, len(counted) - found))
    return points


def plain_matrix(gt: GroundTruth, dt: Detections, iou: float, score: float) -> list[list[int]]:
    """The confusion matrix."""
    matches = plain_matches(gt, dt, iou, believed=score, agnostic=True)
    place = {category: k for k, category in enumerate(gt.categories.ids.tolist())}
    counts = [[0] * (len(place) + 1) for _ in range(len(place) + 1)]
    for row, match in enumerate(matches.detection_match):
        if dt.scores[row] >= score and not matches.ignored[row]:
            true = place[int(gt.category_ids[match])] if match >= 0 else len(place)
            counts[true][place[int(dt.category_ids[row])]] += 1
    for g, match in enumerate(matches.annotation_match):
        if match < 0 and not gt.crowd[g]:
            counts[place[int(gt.category_ids[g])]][-1] += 1
    return counts


def f1(tp: int, fp: int, fn: int) -> float:
    return 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else math.nan
