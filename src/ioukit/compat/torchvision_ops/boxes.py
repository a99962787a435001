"""Functions of one set of boxes, or of masks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit._arrays import namespace_of
from ioukit.compat._torchscript import not_for_torchscript
from ioukit.compat.torchvision_ops._formats import convert
from ioukit.compat.torchvision_ops._inputs import ROTATED, UPRIGHT, at_least_float32, check_arrays, check_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.typing import Array

__all__ = [
    "box_area",
    "box_convert",
    "clip_boxes_to_image",
    "masks_to_boxes",
    "remove_small_boxes",
]


@not_for_torchscript
def box_convert(boxes: Array, in_fmt: str, out_fmt: str) -> Array:
    """The same boxes in another format, in a new array of the same dtype.

    Args:
        boxes: (..., 4); for rotated formats (..., 5) or (..., 8).
        in_fmt: The format of the boxes, as ``fmt`` of `box_iou`.
        out_fmt: The format of the result. Both formats are upright, or both are rotated.

    Returns:
        The boxes in their dtype. Integers become int64 between ``xyxy`` and ``xywh``, else the library's default float.

    Raises:
        ValueError: If a format is unknown or does not fit the shape.
        NotImplementedError: If one format is rotated and the other is not, as in torchvision.
    """
    for fmt in (in_fmt, out_fmt):
        if fmt not in UPRIGHT and fmt not in ROTATED:
            raise ValueError(f"unknown format {fmt!r}; choose from {', '.join([*UPRIGHT, *ROTATED])}")
    if (in_fmt in ROTATED) != (out_fmt in ROTATED):
        raise NotImplementedError(f"{in_fmt!r} to {out_fmt!r}: a rotated box is not an upright one")
    check_numbers(boxes, ROTATED.get(in_fmt, 4))
    xp = namespace_of(boxes)
    if not xp.isdtype(boxes.dtype, "real floating"):
        exact = {in_fmt, out_fmt} <= {"xyxy", "xywh"} or in_fmt == out_fmt
        converted = convert(xp, xp.astype(boxes, xp.int64 if exact else xp.float64), in_fmt, out_fmt)
        return converted if exact else xp.astype(converted, xp.asarray(0.0).dtype)
    return xp.astype(convert(xp, at_least_float32(boxes), in_fmt, out_fmt), boxes.dtype, copy=False)


@not_for_torchscript
def box_area(boxes: Array, fmt: str = "xyxy") -> Array:
    """Areas of upright boxes.

    Args:
        boxes: (..., 4).
        fmt: ``"xyxy"``, ``"xywh"`` or ``"cxcywh"``.

    Returns:
        (...) areas: int64 for integers, float32 for half precision, where squares beyond 65504 would overflow, else in
        the dtype of ``boxes``.
    """
    if fmt not in UPRIGHT:
        raise ValueError(f"unknown fmt {fmt!r}; choose from {', '.join(UPRIGHT)}")
    check_numbers(boxes, 4)
    sides = _sides(boxes, fmt)
    return sides[..., 0] * sides[..., 1]


@not_for_torchscript
def clip_boxes_to_image(boxes: Array, size: Sequence[float]) -> Array:
    """The part of each xyxy box inside an image.

    Args:
        boxes: (..., 4). A box outside shrinks to the edge of the image; NaN stays NaN.
        size: (height, width) of the image.

    Returns:
        (..., 4), in the same dtype.
    """
    check_numbers(boxes, 4)
    height, width = size
    xp = namespace_of(boxes)
    sides = [xp.clip(boxes[..., k], 0, (width, height)[k % 2]) for k in range(4)]
    return xp.stack(sides, axis=-1)


@not_for_torchscript
def remove_small_boxes(boxes: Array, min_size: float) -> Array:
    """The rows of the xyxy boxes whose width and height are both at least ``min_size``.

    Args:
        boxes: (N, 4).
        min_size: In the unit of the boxes.

    Returns:
        (K,) int64 rows, ascending.
    """
    check_numbers(boxes, 4)
    sides = _sides(boxes, "xyxy")
    xp = namespace_of(boxes)
    return xp.nonzero((sides[..., 0] >= min_size) & (sides[..., 1] >= min_size))[0]


@not_for_torchscript
def masks_to_boxes(masks: Array) -> Array:
    """The boxes around masks, from the first to the last pixel that is not 0.

    Args:
        masks: (N, H, W) of any dtype.

    Returns:
        (N, 4) float32 xyxy; zeros for a mask without pixels. x2 and y2 are those of the last pixel, not of the edge
        behind it, so the box of a single pixel has no area. Add 1 to x2 and y2 for the half-open boxes of ioukit.
    """
    check_arrays(masks=masks)
    if masks.ndim != 3:
        raise ValueError(f"masks must have shape (N, H, W), got {tuple(masks.shape)}")
    xp = namespace_of(masks)
    count, height, width = masks.shape
    if 0 in masks.shape:
        return xp.zeros((count, 4), dtype=xp.float32, device=getattr(masks, "device", None))
    members = masks != 0
    columns, rows = xp.any(members, axis=1), xp.any(members, axis=2)  # (N, W), (N, H)
    x1, y1 = (xp.argmax(xp.astype(line, xp.uint8), axis=1) for line in (columns, rows))
    x2 = width - 1 - xp.argmax(xp.astype(xp.flip(columns, axis=1), xp.uint8), axis=1)
    y2 = height - 1 - xp.argmax(xp.astype(xp.flip(rows, axis=1), xp.uint8), axis=1)
    boxes = xp.astype(xp.stack([x1, y1, x2, y2], axis=1), xp.float32)
    return xp.where(xp.any(rows, axis=1)[:, None], boxes, xp.zeros_like(boxes))


def _sides(boxes: Array, fmt: str) -> Array:
    """(..., 2) widths and heights; int64 for integers, float32 for half precision."""
    xp = namespace_of(boxes)
    floating = xp.isdtype(boxes.dtype, "real floating")
    wide = at_least_float32(boxes) if floating else xp.astype(boxes, xp.int64)
    return wide[..., 2:] - wide[..., :2] if fmt == "xyxy" else wide[..., 2:]
