"""IoU of rotated boxes. As ``detectron2.layers.rotated_boxes``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import ioukit
from ioukit._arrays import as_numpy, namespace_of
from ioukit.compat._torchscript import not_for_torchscript

if TYPE_CHECKING:
    from ioukit.typing import Array

__all__ = ["checked", "pairwise_iou_rotated"]


@not_for_torchscript
def pairwise_iou_rotated(boxes1: Any, boxes2: Any) -> Array:
    """IoU of rotated boxes, (N, M) float32 without a gradient: `ioukit.pairwise_iou` of `ioukit.RotatedBoxes`.

    Args:
        boxes1: A tensor (N, 5), as in ``detectron2.layers``, or `RotatedBoxes`, as in ``detectron2.structures``.
        boxes2: A tensor (M, 5) or `RotatedBoxes`.

    Raises:
        TypeError: If an argument is neither.
        ValueError: If a shape does not fit, or a box is not valid.
    """
    first, second = (getattr(boxes, "tensor", boxes) for boxes in (boxes1, boxes2))
    overlap = ioukit.pairwise_iou(checked(first, "boxes1"), checked(second, "boxes2"))
    return namespace_of(first).asarray(overlap.astype(np.float32), device=first.device)


def checked(tensor: Any, name: str) -> ioukit.RotatedBoxes:
    """The rows of a tensor as `ioukit.RotatedBoxes`."""
    if not hasattr(tensor, "dtype"):
        raise TypeError(f"{name} must be a tensor or RotatedBoxes, got {type(tensor).__name__}")
    numbers = as_numpy(tensor)
    if numbers is None:
        raise TypeError("rotated boxes have no overlap in a traced program")
    return ioukit.RotatedBoxes(numbers, unit="degrees", sense="counterclockwise")
