"""Which boxes survive?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit import postprocess
from ioukit._arrays import namespace_of

if TYPE_CHECKING:
    from ioukit.typing import Array

__all__ = ["batched_nms", "nms"]


def nms(boxes: Array, scores: Array, iou_threshold: float) -> Array:
    """Rows that survive non-maximum suppression, by falling score: `ioukit.nms`.

    Args:
        boxes: (N, 4) xyxy.
        scores: (N,).
        iou_threshold: A box is removed by a better one whose IoU with it is **above** it.

    Returns:
        (K,) int64.
    """
    return postprocess.nms(boxes, scores, iou_threshold=iou_threshold)


def batched_nms(boxes: Array, scores: Array, idxs: Array, iou_threshold: float) -> Array:
    """`nms` among boxes of equal ``idxs`` alone: `ioukit.nms` with ``labels``.

    Args:
        boxes: (N, 4) xyxy.
        scores: (N,).
        idxs: (N,) whole numbers, such as classes, in any dtype.
        iou_threshold: As of `nms`.

    Returns:
        (K,) int64, by falling score over all.
    """
    xp = namespace_of(idxs)
    labels = xp.astype(idxs, xp.int64, copy=False)
    if not bool(xp.all(labels == idxs)):
        raise ValueError("idxs must be whole numbers, such as classes")
    return postprocess.nms(boxes, scores, iou_threshold=iou_threshold, labels=labels)
