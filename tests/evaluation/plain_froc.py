"""FROC as nnDetection and MONAI describe it, in plain Python: one threshold of the score after another."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["plain_hits", "plain_sensitivity"]

Mark = tuple[float, str]


def plain_hits(
    order: Sequence[int], scores: Sequence[float], overlaps: Callable[[int], dict[int, float]], *, once: bool
) -> list[Mark]:
    """The detections of one image and class that count: their scores, and ``"hit"`` or ``"false"``.

    Args:
        order: The detections, best first.
        scores: The score of each detection.
        overlaps: The objects that a detection may match, with their overlaps, in the order of the data.
        once: Whether further detections of an object are false positives; else they are left out.
    """
    taken: set[int] = set()
    marks: list[Mark] = []
    for detection in order:
        possible = overlaps(detection)
        free = {place: overlap for place, overlap in possible.items() if place not in taken}
        if not possible or (once and not free):
            marks.append((scores[detection], "false"))
        elif free or once:
            # Of equal overlaps, the last object is taken, as in COCO.
            taken.add(max(free, key=lambda place: (free[place], place)))
            marks.append((scores[detection], "hit"))
    return marks


def plain_sensitivity(marks: Sequence[Mark], objects: int, images: int, fppi: float) -> float:
    """The sensitivity at some false positives per image, along straight lines between the thresholds of the score."""
    points = [(0.0, 0.0)]
    for threshold in sorted({score for score, _ in marks}, reverse=True):
        kept = [mark for score, mark in marks if score >= threshold]
        points.append((kept.count("false") / images, kept.count("hit") / objects))
    below = [point for point in points if point[0] <= fppi][-1]
    above = next((point for point in points if point[0] > fppi), None)
    if above is None:
        return below[1]
    return below[1] + (above[1] - below[1]) * (fppi - below[0]) / (above[0] - below[0])
