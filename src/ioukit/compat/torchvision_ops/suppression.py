"""Non-maximum suppression."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit import postprocess
from ioukit._arrays import namespace_of
from ioukit.compat._torchscript import not_for_torchscript
from ioukit.compat.torchvision_ops._inputs import check_arrays

if TYPE_CHECKING:
    from ioukit.typing import Array

__all__ = ["batched_nms", "nms"]


@not_for_torchscript
def nms(boxes: Array, scores: Array, iou_threshold: float) -> Array:
    """The rows that survive non-maximum suppression, sorted by descending score: `ioukit.nms`.

    Args:
        boxes: (N, 4) xyxy.
        scores: (N,).
        iou_threshold: A box removes another one with a lower score if their IoU is **above** this threshold.

    Returns:
        (K,) int64 rows.

    Raises:
        TypeError: If boxes or scores are not arrays.
        ValueError: If a shape does not fit, or a box or a score is not valid.
    """
    check_arrays(boxes=boxes, scores=scores)
    return postprocess.nms(_plain(boxes), _plain(scores), iou_threshold=iou_threshold)


@not_for_torchscript
def batched_nms(boxes: Array, scores: Array, idxs: Array, iou_threshold: float) -> Array:
    """`nms` in which only boxes with equal ``idxs`` remove each other: `ioukit.nms` with ``labels``.

    Args:
        boxes: (N, 4) xyxy. Without any numbers, the result is empty and nothing else is read.
        scores: (N,).
        idxs: (N,) whole numbers, such as classes, in any dtype.
        iou_threshold: As in `nms`.

    Returns:
        (K,) int64 rows of all classes, sorted by descending score.

    Raises:
        TypeError: If an argument is not an array.
        ValueError: If a shape does not fit, an index is not a whole number, or a box or a score is not valid.
    """
    check_arrays(boxes=boxes)
    if 0 in boxes.shape:
        return namespace_of(boxes).zeros(0, dtype=namespace_of(boxes).int64, device=getattr(boxes, "device", None))
    check_arrays(scores=scores, idxs=idxs)
    xp = namespace_of(idxs)
    labels = xp.astype(idxs, xp.int64, copy=False)
    if not bool(xp.all(labels == idxs)):
        raise ValueError("idxs must be whole numbers, such as classes")
    return postprocess.nms(_plain(boxes), _plain(scores), iou_threshold=iou_threshold, labels=labels)


def _plain(array: Array) -> Array:
    """The numbers of a quantized tensor; every other array as it is."""
    return array.dequantize() if getattr(array, "is_quantized", False) else array
