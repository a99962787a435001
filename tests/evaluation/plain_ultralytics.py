"""Ultralytics' AP in plain Python, from what its validator does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.plain_analysis import plain_iou

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit import Detections, GroundTruth

__all__ = ["plain_trapezoid", "plain_ultralytics"]


def plain_trapezoid(points: list[tuple[float, float]], recalls: Sequence[float], *, slopes: bool) -> float:
    """The area under straight lines between the heights of a curve at some recalls.

    Args:
        points: Recall and precision after each detection.
        recalls: Where the curve is read.
        slopes: Whether precision falls along a line to 0 at recall 1, instead of at once.
    """
    if not points:
        return 0.0
    curve = [(0.0, 1.0), *points, *([] if slopes else [(points[-1][0], 0.0)]), (1.0, 0.0)]
    best = [max(precision for _, precision in curve[at:]) for at in range(len(curve))]

    def height(recall: float) -> float:
        last = max(at for at, (reached, _) in enumerate(curve) if reached <= recall)
        reached = curve[last][0]
        if last + 1 == len(curve) or reached == recall:
            return best[last]
        return best[last] + (best[last + 1] - best[last]) * (recall - reached) / (curve[last + 1][0] - reached)

    heights = [height(recall) for recall in recalls]
    return sum((recalls[at] - recalls[at - 1]) * (heights[at] + heights[at - 1]) / 2 for at in range(1, len(recalls)))


def plain_ultralytics(gt: GroundTruth, dt: Detections, iou_threshold: float, *, until_8_3: bool) -> dict[int, float]:
    """AP of each category that has objects, at one threshold. No scores may be equal."""
    best_first = sorted(range(len(dt)), key=lambda row: -dt.scores[row])
    hits: dict[int, bool] = {}
    for image in gt.images.ids.tolist():
        taken: set[int] = set()
        for row in [row for row in best_first if dt.image_ids[row] == image][:300]:
            overlaps = {
                place: plain_iou(dt.boxes[row], gt.boxes[place], crowd=False)
                for place in range(len(gt))
                if gt.image_ids[place] == image and gt.category_ids[place] == dt.category_ids[row]
            }
            if not until_8_3:  # only what no better detection has taken
                overlaps = {place: iou for place, iou in overlaps.items() if place not in taken}
            best = max(overlaps, key=lambda place: overlaps[place], default=None)
            hits[row] = best is not None and best not in taken and overlaps[best] >= iou_threshold
            if hits[row] and best is not None:
                taken.add(best)
    recalls = [at / 100 for at in range(101)]
    result = {}
    for category in sorted(set(gt.category_ids.tolist())):
        objects = int((gt.category_ids == category).sum())
        points = []
        true = 0
        for count, row in enumerate([row for row in best_first if row in hits and dt.category_ids[row] == category], 1):
            true += hits[row]
            points.append((true / objects, true / count))
        result[category] = plain_trapezoid(points, recalls, slopes=until_8_3)
    return result
