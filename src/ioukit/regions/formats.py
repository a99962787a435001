"""The conversions between box formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ioukit._arrays import library_of, namespace_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ioukit.typing import Array, BoxFormat, FloatArray


_Conversion: TypeAlias = "Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]"

# From the first and the last two numbers of a box to those of another format. Every pair of formats has its own entry,
# because a conversion through a third format would round. From xywh to cxcywh the width stays exact; by way of xyxy it
# would be rounded.
_CONVERSIONS: dict[tuple[str, str], _Conversion] = {
    ("xyxy", "xywh"): lambda low, high: (low, high - low),
    ("xyxy", "cxcywh"): lambda low, high: ((low + high) / 2, high - low),
    ("xywh", "xyxy"): lambda low, size: (low, low + size),
    ("xywh", "cxcywh"): lambda low, size: (low + size / 2, size),
    ("cxcywh", "xyxy"): lambda centre, size: (centre - size / 2, centre + size / 2),
    ("cxcywh", "xywh"): lambda centre, size: (centre - size / 2, size),
}


def convert(boxes: FloatArray, source: BoxFormat, target: BoxFormat) -> FloatArray:
    """A new array with the same boxes in another format.

    Args:
        boxes: (..., 4) in the format ``source``. The result has their dtype.
        source: ``"xyxy"``, ``"xywh"`` or ``"cxcywh"``.
        target: One of the same formats.
    """
    if source == target:
        return np.array(boxes)
    return np.concatenate(_CONVERSIONS[source, target](boxes[..., :2], boxes[..., 2:]), axis=-1)


def convert_array(boxes: Array, source: BoxFormat, target: BoxFormat) -> Array:
    """`convert` for an array of any library. Gradients flow through it."""
    if library_of(boxes) == "numpy":
        return convert(boxes, source, target)
    xp = namespace_of(boxes)
    if source == target:
        return xp.asarray(boxes, copy=True)
    return convert_in(xp, boxes, source, target)


def convert_in(xp: Any, boxes: Array, source: BoxFormat, target: BoxFormat) -> Array:
    """`convert` between two different formats by the functions of an array library, through which gradients flow."""
    return xp.concat(_CONVERSIONS[source, target](boxes[..., :2], boxes[..., 2:]), axis=-1)
