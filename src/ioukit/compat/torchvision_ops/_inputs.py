"""The formats of torchvision, and the dtypes that it computes in."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from ioukit._arrays import namespace_of
from ioukit.typing import BoxFormat

if TYPE_CHECKING:
    from collections.abc import Callable

    from ioukit.typing import Array

__all__ = ["ROTATED", "UPRIGHT", "at_least_float32", "check_arrays", "check_numbers", "in_floats"]

UPRIGHT: tuple[str, ...] = get_args(BoxFormat)
ROTATED = {"cxcywhr": 5, "xywhr": 5, "xyxyxyxy": 8}


def check_arrays(**arrays: object) -> None:
    """Raises `TypeError` for a list, a string or anything else that is not an array."""
    for name, array in arrays.items():
        if not hasattr(array, "dtype"):
            raise TypeError(f"{name} must be a tensor or a NumPy array, got {type(array).__name__}")


def check_numbers(boxes: Array, count: int) -> None:
    """Raises `ValueError` unless the last dimension is ``count``, and `TypeError` without an array."""
    check_arrays(boxes=boxes)
    if tuple(boxes.shape[-1:]) != (count,):
        raise ValueError(f"boxes must have shape (..., {count}), got {tuple(boxes.shape)}")


def at_least_float32(boxes: Array) -> Array:
    """Half precision in float32; every other dtype as it is."""
    xp = namespace_of(boxes)
    half = xp.isdtype(boxes.dtype, "real floating") and xp.finfo(boxes.dtype).bits < 32
    return xp.astype(boxes, xp.float32) if half else boxes


def in_floats(function: Callable[..., Array], boxes1: Array, boxes2: Array, **options: str) -> Array:
    """The result of a function on boxes in float32 or float64. For integers, it is in the library's default float."""
    check_arrays(boxes1=boxes1, boxes2=boxes2)
    xp = namespace_of(boxes1)
    integers = not any(xp.isdtype(boxes.dtype, "real floating") for boxes in (boxes1, boxes2))
    result = function(at_least_float32(boxes1), at_least_float32(boxes2), **options)
    return xp.astype(result, xp.asarray(0.0).dtype, copy=False) if integers else result
