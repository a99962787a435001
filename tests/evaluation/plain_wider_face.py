"""AP as the program of WIDER FACE computes it, in plain Python from its description."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Photo", "plain_wider_ap"]


class Photo(NamedTuple):
    """Boxes ``[x, y, width, height]`` and scores of an image."""

    faces: Any
    counts: Sequence[bool]
    detections: Any
    scores: Any


def _overlap(one: Any, other: Any) -> float:
    """IoU of boxes whose last pixels belong to them."""
    sides = [min(one[k] + one[k + 2], other[k] + other[k + 2]) - max(one[k], other[k]) + 1 for k in (0, 1)]
    if min(sides) <= 0:
        return 0.0
    shared = sides[0] * sides[1]
    areas = [(box[0] + box[2] - box[0] + 1) * (box[1] + box[3] - box[1] + 1) for box in (one, other)]
    return float(shared / (areas[0] + areas[1] - shared))


def _hits(photo: Photo) -> list[tuple[float, int, int]]:
    """Score, faces found, and proposals (0 or 1) of each detection, best first; nothing on an image without faces."""
    found: set[int] = set()
    rows = []
    for row in sorted(range(len(photo.scores)), key=lambda row: -photo.scores[row]) if len(photo.faces) else ():
        overlaps = [_overlap(photo.detections[row], face) for face in photo.faces]
        best = int(np.argmax(overlaps))
        reaches = overlaps[best] >= 0.5
        ignored = reaches and not photo.counts[best]
        new = reaches and not ignored and best not in found
        if new:
            found.add(best)
        rows.append((float(photo.scores[row]), int(new), int(not ignored)))
    return rows


def plain_wider_ap(photos: Sequence[Photo]) -> float:
    scores = [float(score) for photo in photos for score in photo.scores]
    low, high = min([1.0, *scores]), max([0.0, *scores])
    rows = [row for photo in photos for row in _hits(photo)]
    count = sum(sum(photo.counts) for photo in photos)
    recall, precision = [0.0], [0.0]
    for step in range(1, 1001):
        kept = [row for row in rows if high > low and (row[0] - low) / (high - low) >= 1 - step / 1000]
        hits, proposals = sum(row[1] for row in kept), sum(row[2] for row in kept)
        recall.append(hits / count)
        precision.append(hits / proposals if proposals else 0.0)
    recall.append(1.0)
    precision.append(0.0)
    for place in range(len(precision) - 2, -1, -1):
        precision[place] = max(precision[place], precision[place + 1])
    parts = zip(recall, recall[1:], precision[1:], strict=False)
    return sum((now - before) * best for before, now, best in parts if now != before)
