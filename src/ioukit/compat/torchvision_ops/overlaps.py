"""Overlaps of every box of one set with every box of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit._arrays import as_numpy, namespace_of
from ioukit.compat._torchscript import not_for_torchscript
from ioukit.compat.torchvision_ops._inputs import ROTATED, UPRIGHT, check_arrays, in_floats
from ioukit.compat.torchvision_ops.boxes import box_convert
from ioukit.overlap import pairwise_ciou, pairwise_diou, pairwise_giou, pairwise_iou
from ioukit.regions import RotatedBoxes

if TYPE_CHECKING:
    from ioukit.typing import Array

__all__ = ["box_iou", "complete_box_iou", "distance_box_iou", "generalized_box_iou"]


@not_for_torchscript
def box_iou(boxes1: Array, boxes2: Array, fmt: str = "xyxy") -> Array:
    """IoU of every box of one set with every box of another: `ioukit.pairwise_iou`.

    Args:
        boxes1: (..., N, 4); for rotated formats (N, 5) or (N, 8).
        boxes2: (..., M, 4); for rotated formats (M, 5) or (M, 8). Batch dimensions broadcast.
        fmt: ``"xyxy"``, ``"xywh"`` or ``"cxcywh"``; for rotated boxes ``"cxcywhr"`` (centre, size, degrees
            counterclockwise), ``"xywhr"`` (the rotated upper left corner, size, degrees) or ``"xyxyxyxy"`` (the corners
            in order around the box).

    Returns:
        (..., N, M) within [0, 1]: float64 for float64, else float32. For rotated boxes always float32, without a
        gradient.

    Raises:
        ValueError: If the format is unknown, a shape does not fit, or a box is not valid.
    """
    if fmt in UPRIGHT:
        return in_floats(pairwise_iou, boxes1, boxes2, format=fmt)
    if fmt not in ROTATED:
        raise ValueError(f"unknown fmt {fmt!r}; choose from {', '.join([*UPRIGHT, *ROTATED])}")
    overlap = pairwise_iou(*(_rotated(name, boxes, fmt) for name, boxes in (("boxes1", boxes1), ("boxes2", boxes2))))
    return namespace_of(boxes1).asarray(overlap.astype("float32"), device=getattr(boxes1, "device", None))


@not_for_torchscript
def generalized_box_iou(boxes1: Array, boxes2: Array) -> Array:
    """GIoU of every xyxy box of one set with every box of another, (..., N, M): `ioukit.pairwise_giou`."""
    return in_floats(pairwise_giou, boxes1, boxes2)


@not_for_torchscript
def distance_box_iou(boxes1: Array, boxes2: Array, eps: float = 1e-7) -> Array:  # noqa: ARG001 - torchvision's
    """DIoU of every xyxy box of one set with every box of another, (..., N, M): `ioukit.pairwise_diou`.

    ``eps`` is accepted and not used, because no denominator is 0.
    """
    return in_floats(pairwise_diou, boxes1, boxes2)


@not_for_torchscript
def complete_box_iou(boxes1: Array, boxes2: Array, eps: float = 1e-7) -> Array:  # noqa: ARG001 - torchvision's
    """CIoU of every xyxy box of one set with every box of another, (..., N, M): `ioukit.pairwise_ciou`.

    ``eps`` is accepted and not used, because no denominator is 0.
    """
    return in_floats(pairwise_ciou, boxes1, boxes2)


def _rotated(name: str, boxes: Array, fmt: str) -> RotatedBoxes:
    check_arrays(**{name: boxes})
    if boxes.ndim != 2 or boxes.shape[1] != ROTATED[fmt]:
        raise ValueError(f"{name} must have shape (N, {ROTATED[fmt]}) in {fmt!r}, got {tuple(boxes.shape)}")
    xp = namespace_of(boxes)
    centred = as_numpy(box_convert(xp.astype(boxes, xp.float64), fmt, "cxcywhr"))
    if centred is None:
        raise TypeError("rotated boxes have no overlap in a traced program")
    return RotatedBoxes(centred, unit="degrees", sense="counterclockwise")
