"""Overlaps of boxes, and the distances of points from the sides of boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import ioukit
from ioukit._arrays import as_numpy, namespace_of
from ioukit.compat.detectron2.boxes import Boxes
from ioukit.compat.detectron2.rotated_boxes import RotatedBoxes

if TYPE_CHECKING:
    from ioukit.typing import Array

__all__ = [
    "matched_pairwise_iou",
    "pairwise_intersection",
    "pairwise_ioa",
    "pairwise_iou",
    "pairwise_iou_rotated",
    "pairwise_point_box_distance",
]


def pairwise_intersection(boxes1: Boxes, boxes2: Boxes) -> Array:
    """Areas of the intersections, (N, M): `ioukit.pairwise_intersection`."""
    return ioukit.pairwise_intersection(*_tensors(boxes1, boxes2))


def pairwise_iou(boxes1: Boxes, boxes2: Boxes) -> Array:
    """IoU of every box of one set with every box of another, (N, M): `ioukit.pairwise_iou`."""
    return ioukit.pairwise_iou(*_tensors(boxes1, boxes2))


def pairwise_ioa(boxes1: Boxes, boxes2: Boxes) -> Array:
    """Intersection over the area of the second box, (N, M): `ioukit.pairwise_ioa`."""
    return ioukit.pairwise_ioa(*_tensors(boxes1, boxes2))


def matched_pairwise_iou(boxes1: Boxes, boxes2: Boxes) -> Array:
    """IoU of each box with its counterpart, (N,): `ioukit.elementwise_iou`.

    Raises:
        ValueError: If the two sets have different lengths.
    """
    if len(boxes1) != len(boxes2):
        raise ValueError(f"boxes1 and boxes2 must have one length, got {len(boxes1)} and {len(boxes2)}")
    return ioukit.elementwise_iou(*_tensors(boxes1, boxes2))


def pairwise_iou_rotated(boxes1: RotatedBoxes | Array, boxes2: RotatedBoxes | Array) -> Array:
    """IoU of rotated boxes, (N, M) float32 without a gradient: `ioukit.pairwise_iou` of `ioukit.RotatedBoxes`.

    Args:
        boxes1: `RotatedBoxes`, or a tensor (N, 5).
        boxes2: `RotatedBoxes`, or a tensor (M, 5).
    """
    tensors = [boxes.tensor if isinstance(boxes, RotatedBoxes) else boxes for boxes in (boxes1, boxes2)]
    overlap = ioukit.pairwise_iou(*(_checked(tensor) for tensor in tensors))
    return namespace_of(tensors[0]).asarray(overlap.astype(np.float32), device=tensors[0].device)


def _checked(tensor: Array) -> ioukit.RotatedBoxes:
    numbers = as_numpy(tensor)
    if numbers is None:
        raise TypeError("rotated boxes have no overlap in a traced program")
    return ioukit.RotatedBoxes(numbers, unit="degrees", sense="counterclockwise")


def pairwise_point_box_distance(points: Array, boxes: Boxes) -> Array:
    """The distances of points from the sides of boxes.

    Args:
        points: (N, 2) x and y.
        boxes: M boxes.

    Returns:
        (N, M, 4) distances from the left, upper, right and lower side, which are all positive for a point inside.
    """
    x, y = (points[:, None, k] for k in range(2))  # (N, 1)
    x1, y1, x2, y2 = boxes.tensor.unbind(dim=1)  # (M,)
    return namespace_of(boxes.tensor).stack([x - x1, y - y1, x2 - x, y2 - y], axis=2)


def _tensors(boxes1: Boxes, boxes2: Boxes) -> tuple[Array, Array]:
    for name, boxes in (("boxes1", boxes1), ("boxes2", boxes2)):
        if not isinstance(boxes, Boxes):
            raise TypeError(f"{name} must be ioukit.compat.detectron2.Boxes, got {type(boxes).__name__}")
    return boxes1.tensor, boxes2.tensor
