"""Non-maximum suppression."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit import postprocess
from ioukit._arrays import namespace_of

if TYPE_CHECKING:
    from ioukit.typing import Array

__all__ = ["batched_nms", "nms"]


def nms(boxes: Array, scores: Array, iou_threshold: float) -> Array:
    """The rows that survive non-maximum suppression, sorted by descending score: `ioukit.nms`.

    Args:
        boxes: (N, 4) xyxy.
        scores: (N,).
        iou_threshold: A box removes another one with a lower score if their IoU is **above** this threshold.

    Returns:
        (K,) int64 rows.
    """
    return postprocess.nms(boxes, scores, iou_threshold=iou_threshold)


def batched_nms(boxes: Array, scores: Array, idxs: Array, iou_threshold: float) -> Array:
    """`nms` in which only boxes with equal ``idxs`` remove each other: `ioukit.nms` with ``labels``.

    Args:
        boxes: (N, 4) xyxy.
        scores: (N,).
        idxs: (N,) whole numbers, such as classes, in any dtype.
        iou_threshold: As in `nms`.

    Returns:
        (K,) int64 rows of all classes, sorted by descending score.
    """
    xp = namespace_of(idxs)
    labels = xp.astype(idxs, xp.int64, copy=False)
    if not bool(xp.all(labels == idxs)):
        raise ValueError("idxs must be whole numbers, such as classes")
    return postprocess.nms(boxes, scores, iou_threshold=iou_threshold, labels=labels)
