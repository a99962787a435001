"""From what a caller passes to what the native module takes: contiguous corners in one dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit._arrays import as_floats, computing_dtype
from ioukit._checks import check_boxes, check_format, check_one_unit
from ioukit.regions import Boxes, BoxesLike
from ioukit.regions.formats import convert

if TYPE_CHECKING:
    from ioukit.typing import BoxFormat, FloatArray

__all__ = ["Corners", "check_last", "corners", "finish", "paired_shape", "result_array", "single_set", "table_shape"]


class Corners(NamedTuple):
    """Both sets as (..., 4) corners in the computing dtype, and the dtype of the result."""

    boxes1: FloatArray
    boxes2: FloatArray
    dtype: np.dtype[Any]


def corners(boxes1: BoxesLike, boxes2: BoxesLike, fmt: BoxFormat | None, check: bool) -> Corners:
    """Both sets, checked and converted."""
    if fmt is not None:
        check_format(fmt)
    if isinstance(boxes1, Boxes) and isinstance(boxes2, Boxes):
        check_one_unit(boxes1.normalized, boxes2.normalized)
    first, second = _numbers("boxes1", boxes1, fmt), _numbers("boxes2", boxes2, fmt)
    dtype = first.dtype if first.dtype == second.dtype else np.promote_types(first.dtype, second.dtype)
    computed = computing_dtype(dtype)
    first = _corners("boxes1", boxes1, np.ascontiguousarray(first, computed), fmt, check)
    return Corners(first, _corners("boxes2", boxes2, np.ascontiguousarray(second, computed), fmt, check), dtype)


def _numbers(name: str, boxes: BoxesLike, fmt: BoxFormat | None) -> FloatArray:
    if isinstance(boxes, Boxes):
        if fmt is not None and fmt != boxes.format:
            raise ValueError(f"{name} are Boxes in {boxes.format!r}, which format={fmt!r} contradicts: leave it out")
        return boxes.convert("xyxy")._array
    array = as_floats(boxes, name)
    if array.shape == (0,):
        return array.reshape(0, 4)
    check_last(name, array.shape)
    return array


def check_last(name: str, shape: tuple[int, ...]) -> None:
    """Raises `ValueError` unless a box has 4 numbers; the message says which function takes 2, 5, 7 or 8."""
    if shape[-1:] == (4,):
        return
    kinds = {
        2: "points of 2 numbers are passed as Polygons(...)",
        5: "rows of 5 with an angle are passed as RotatedBoxes(..., unit=, sense=)",
        7: "rows of 7 with an angle are passed as Boxes3D(..., z=, unit=, sense=)",
        8: "rows of 4 points are passed as Polygons.from_flat(...)",
    }
    kind = kinds.get(shape[-1]) if len(shape) > 1 else None
    hint = f"; {kind}" if kind else ""
    raise ValueError(f"{name} must have shape (..., 4), got {tuple(shape)}{hint}")


def table_shape(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    """The shape (..., N, M) of the table of all pairs, from the shapes (..., N, 4) and (..., M, 4) of both sets."""
    for name, shape in (("boxes1", first), ("boxes2", second)):
        if len(shape) < 2:
            raise ValueError(f"{name} must have shape (..., N, 4), got {shape}")
    if len(first) == len(second) == 2:
        return first[0], second[0]
    try:
        batch = np.broadcast_shapes(first[:-2], second[:-2])
    except ValueError:
        raise ValueError(f"the batch dimensions of boxes1 {first} and boxes2 {second} do not broadcast") from None
    return (*batch, first[-2], second[-2])


def paired_shape(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    """The shape (...) of all boxes with their counterparts, from the shapes (..., 4) of both sets."""
    if first == second:
        return first[:-1]
    # Not with NumPy's broadcast_shapes, which PyTorch 2.7 cannot compile.
    count = max(len(first), len(second))
    sides = [((1,) * (count - len(shape)) + shape)[:-1] for shape in (first, second)]
    if any(a not in (1, b) and b != 1 for a, b in zip(*sides, strict=True)):
        raise ValueError(f"boxes1 {first} and boxes2 {second} do not broadcast")
    return tuple(b if a == 1 else a for a, b in zip(*sides, strict=True))


def _corners(name: str, boxes: BoxesLike, array: FloatArray, fmt: BoxFormat | None, check: bool) -> FloatArray:
    if isinstance(boxes, Boxes):
        return array
    if not array.flags.aligned:
        array = array.copy()
    if check:
        check_boxes(array, fmt or "xyxy", name)
    return array if fmt in (None, "xyxy") else np.ascontiguousarray(convert(array, fmt, "xyxy"))


def result_array(out: FloatArray | None, shape: tuple[int, ...], sets: Corners) -> FloatArray:
    """The array that the native module fills: ``out`` if it has the computing dtype, else a new array."""
    computed = sets.boxes1.dtype
    if out is None:
        return np.empty(shape, computed)
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be a NumPy array, got {type(out).__name__}")
    flags = out.flags
    usable = flags.c_contiguous and flags.writeable and flags.aligned
    if out.shape != shape or out.dtype != sets.dtype or not usable:
        layout = "" if usable else ", not contiguous, aligned and writeable"
        raise ValueError(
            f"out must be a writeable, C-contiguous array of shape {shape} and dtype {sets.dtype}, "
            f"got shape {out.shape} and dtype {out.dtype}{layout}"
        )
    if np.may_share_memory(out, sets.boxes1) or np.may_share_memory(out, sets.boxes2):
        raise ValueError("out must not share memory with the boxes")
    return out if sets.dtype == computed else np.empty(shape, computed)


def finish(result: FloatArray, out: FloatArray | None, dtype: np.dtype[Any]) -> FloatArray:
    """The result in its own dtype, in ``out`` if that is given."""
    if result.dtype == dtype:
        return result
    with np.errstate(over="ignore"):  # intersections beyond 65504 become infinite in float16
        if out is None:
            return result.astype(dtype)
        out[...] = result
    return out


def single_set(name: str, boxes: BoxesLike, fmt: BoxFormat | None, check: bool) -> tuple[FloatArray, np.dtype[Any]]:
    """One set of boxes as (..., 4) corners in the computing dtype, and the dtype of results."""
    if fmt is not None:
        check_format(fmt)
    numbers = _numbers(name, boxes, fmt)
    dtype = numbers.dtype
    return _corners(name, boxes, np.ascontiguousarray(numbers, computing_dtype(dtype)), fmt, check), dtype
