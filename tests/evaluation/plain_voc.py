"""AP as PASCAL VOC's programs compute it, written from their description: one class, one detection at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Overlaps = Callable[[npt.NDArray[np.int64], int], Floats]

__all__ = ["pixel_overlaps", "plain_voc_ap"]


def pixel_overlaps(objects: Floats, box: Floats) -> Floats:
    """(G,) IoU of boxes by their first and last pixels, both within, with one box."""
    low, high = np.maximum(objects[:, :2], box[:2]), np.minimum(objects[:, 2:], box[2:])
    sides = np.maximum(high - low + 1.0, 0.0)
    shared = sides[:, 0] * sides[:, 1]
    of_box = (box[2] - box[0] + 1.0) * (box[3] - box[1] + 1.0)
    of_objects = (objects[:, 2] - objects[:, 0] + 1.0) * (objects[:, 3] - objects[:, 1] + 1.0)
    quotient: Floats = shared / (of_box + of_objects - shared)
    return quotient


def plain_voc_ap(
    object_images: npt.NDArray[np.int64],
    difficult: npt.NDArray[np.bool_],
    detection_images: npt.NDArray[np.int64],
    scores: Floats,
    overlaps: Overlaps,
    *,
    eleven: bool,
    at_least: bool = False,
) -> float:
    """AP of one class at IoU 0.5.

    Args:
        object_images: (G,) image of each object.
        difficult: (G,) objects that are ignored.
        detection_images: (N,) image of each detection.
        scores: (N,) of equal ones the first comes first.
        overlaps: The overlaps of some objects, given by their rows, with a detection.
        eleven: Whether precision is read at 11 recalls, instead of taking the area.
        at_least: Whether IoU 0.5 is enough.
    """
    found: set[int] = set()
    hits, misses = np.zeros(len(scores)), np.zeros(len(scores))
    for place, row in enumerate(np.argsort(-scores, kind="stable").tolist()):
        objects = np.flatnonzero(object_images == detection_images[row])
        of_objects = overlaps(objects, row) if len(objects) else np.zeros(1)
        best = int(np.argmax(of_objects))
        if not (of_objects[best] > 0.5 or (at_least and of_objects[best] == 0.5)):
            misses[place] = 1
        elif not difficult[objects[best]]:
            (misses if int(objects[best]) in found else hits)[place] = 1
            found.add(int(objects[best]))
    true, false = np.cumsum(hits), np.cumsum(misses)
    recall = true / np.count_nonzero(~difficult)
    precision = true / np.maximum(true + false, 2.0**-52)
    if eleven:
        ap = 0.0
        for least in np.arange(0.0, 1.1, 0.1):
            ap += max(precision[recall >= least], default=0.0) / 11.0
        return float(ap)
    recall, precision = np.concatenate([[0.0], recall, [1.0]]), np.concatenate([[0.0], precision, [0.0]])
    best_beyond = np.maximum.accumulate(precision[::-1])[::-1]
    steps = np.flatnonzero(recall[1:] != recall[:-1]) + 1
    return float(np.sum((recall[steps] - recall[steps - 1]) * best_beyond[steps]))
