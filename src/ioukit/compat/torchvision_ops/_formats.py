"""Conversions between the formats of torchvision, including those of rotated boxes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

from ioukit.compat.torchvision_ops._inputs import UPRIGHT
from ioukit.regions.formats import convert_array

if TYPE_CHECKING:
    from ioukit.typing import Array, BoxFormat

__all__ = ["convert"]


def convert(xp: Any, boxes: Array, in_fmt: str, out_fmt: str) -> Array:
    """The boxes in another format: floats, or integers between formats in which halves cannot occur."""
    if in_fmt == out_fmt or in_fmt in UPRIGHT:
        return convert_array(boxes, cast("BoxFormat", in_fmt), cast("BoxFormat", out_fmt))
    x, y, width, height, degrees = _centred(xp, boxes, in_fmt)
    if out_fmt == "cxcywhr":
        return xp.stack([x, y, width, height, degrees], axis=-1)
    right, up = _half_sides(xp, width, height, degrees)
    if out_fmt == "xywhr":
        return xp.stack([x - right[0] + up[0], y - right[1] + up[1], width, height, degrees], axis=-1)
    ring = ((-1, 1), (1, 1), (1, -1), (-1, -1))  # upper left, upper right, lower right, lower left, before the turn
    corners = [(x + i * right[0] + j * up[0], y + i * right[1] + j * up[1]) for i, j in ring]
    return xp.stack([number for corner in corners for number in corner], axis=-1)


def _centred(xp: Any, boxes: Array, fmt: str) -> tuple[Array, ...]:
    """X and y of the centres, widths, heights and degrees of rotated boxes."""
    if fmt == "xyxyxyxy":
        x1, y1, x2, y2, x3, y3, x4, y4 = (boxes[..., k] for k in range(8))
        degrees = xp.atan2(y1 - y2, x2 - x1) * (180 / math.pi)
        return (x1 + x3) / 2, (y1 + y3) / 2, xp.hypot(x2 - x1, y2 - y1), xp.hypot(x4 - x1, y4 - y1), degrees
    x, y, width, height, degrees = (boxes[..., k] for k in range(5))
    if fmt == "xywhr":
        right, up = _half_sides(xp, width, height, degrees)
        x, y = x + right[0] - up[0], y + right[1] - up[1]
    return x, y, width, height, degrees


def _half_sides(xp: Any, width: Array, height: Array, degrees: Array) -> tuple[tuple[Array, Array], ...]:
    """The vectors from the centre to the middle of the right side and of the upper side; y points down."""
    cos, sin = xp.cos(degrees * (math.pi / 180)) / 2, xp.sin(degrees * (math.pi / 180)) / 2
    return (width * cos, -width * sin), (-height * sin, -height * cos)
