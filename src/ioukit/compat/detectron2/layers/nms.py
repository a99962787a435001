"""Non-maximum suppression of upright and rotated boxes. As ``detectron2.layers.nms``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ioukit import postprocess
from ioukit._arrays import as_numpy, namespace_of
from ioukit.compat import torchvision_ops
from ioukit.compat._torchscript import not_for_torchscript
from ioukit.compat.detectron2.layers.rotated_boxes import checked
from ioukit.compat.torchvision_ops import nms

if TYPE_CHECKING:
    from ioukit.typing import Array

__all__ = ["batched_nms", "batched_nms_rotated", "nms", "nms_rotated"]


@not_for_torchscript
def batched_nms(boxes: Array, scores: Array, idxs: Array, iou_threshold: float) -> Array:
    """`nms` in which only boxes with equal ``idxs`` remove each other.

    Args:
        boxes: (N, 4) xyxy.
        scores: (N,).
        idxs: (N,) classes.
        iou_threshold: A box removes another one with a lower score if their IoU is **above** this threshold.

    Returns:
        (K,) int64 rows of all classes, sorted by descending score.
    """
    return torchvision_ops.batched_nms(boxes, scores, idxs, iou_threshold)


@not_for_torchscript
def nms_rotated(boxes: Array, scores: Array, iou_threshold: float) -> Array:
    """The rows of rotated boxes that survive non-maximum suppression: `ioukit.nms` of `ioukit.RotatedBoxes`.

    Args:
        boxes: (N, 5) centre x and y, width, height, degrees counterclockwise. Angles that differ by half a turn are the
            same box, and so are a square and the square a quarter of a turn further.
        scores: (N,).
        iou_threshold: A box removes another one with a lower score if their IoU is **above** this threshold.

    Returns:
        (K,) int64 rows, sorted by descending score.

    Raises:
        TypeError: If an argument is not an array.
        ValueError: If a shape does not fit, or a box or a score is not valid.
    """
    return _rotated(boxes, scores, None, iou_threshold)


@not_for_torchscript
def batched_nms_rotated(boxes: Array, scores: Array, idxs: Array, iou_threshold: float) -> Array:
    """`nms_rotated` in which only boxes with equal ``idxs`` remove each other.

    Args:
        boxes: (N, 5), as in `nms_rotated`.
        scores: (N,).
        idxs: (N,) classes: whole numbers in any dtype. They do not shift the boxes, so no coordinate is rounded.
        iou_threshold: As in `nms_rotated`.

    Returns:
        (K,) int64 rows of all classes, sorted by descending score.

    Raises:
        TypeError: If an argument is not an array.
        ValueError: If a shape does not fit, an index is not a whole number, or a box or a score is not valid.
    """
    return _rotated(boxes, scores, idxs, iou_threshold)


def _rotated(boxes: Any, scores: Any, idxs: Any, iou_threshold: float) -> Array:
    regions = checked(boxes, "boxes")
    for name, values in (("scores", scores), ("idxs", idxs)):
        if values is not None and not hasattr(values, "dtype"):
            raise TypeError(f"{name} must be a tensor or a NumPy array, got {type(values).__name__}")
    host_idxs = None if idxs is None else as_numpy(idxs)
    if host_idxs is not None:
        labels = host_idxs.astype("int64")
        if (labels != host_idxs).any():
            raise ValueError("idxs must be whole numbers, such as classes")
        host_idxs = labels
    host_scores: Any = as_numpy(scores)
    kept = postprocess.nms(regions, host_scores, iou_threshold=iou_threshold, labels=host_idxs)
    return namespace_of(boxes).asarray(kept, device=getattr(boxes, "device", None))
