"""The front door of the overlap functions: what came, where is it computed, and in which format and dtype?

Owns: these questions, and the checks of boxes and of ``out``. `receive` asks each of them once; its answer, an
`Engine`, an `OnHost` or an `OnDevice`, goes on to whoever computes, who asks nothing again. `nms`, the losses and the
rules of assignment take the parts that they need.
Does not own: the arithmetic (native code, `_array_formulas`, `engines`), the measures (`variants`).
Cut here because all measures ask the same. For a few boxes these questions take longer than the arithmetic, so two
NumPy arrays, the common case, go straight to `corners_on_host`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from ioukit._arrays import (
    FLOATS,
    as_floats,
    as_numpy,
    as_tensor,
    computing_dtype,
    computing_dtype_in,
    namespace_of,
    one_library,
    shared_with_numpy,
)
from ioukit._checks import check_boxes, check_format, check_one_unit
from ioukit.overlap.engines.engine import engine_of
from ioukit.regions import Boxes, BoxesLike
from ioukit.regions.formats import convert, convert_in

if TYPE_CHECKING:
    from ioukit.overlap.engines.engine import Engine
    from ioukit.typing import Array, BoxFormat, FloatArray


_LARGEST_IN_FLOAT32 = 2**24  # up to here every integer is a float32, the widest that JAX has by default


class OnHost(NamedTuple):
    """Both sets for native code: (..., 4) corners, contiguous, in the computing dtype."""

    boxes1: FloatArray
    boxes2: FloatArray
    dtype: np.dtype[Any]
    """The dtype of the result."""
    out: FloatArray | None = None
    """The caller's array for the result."""
    tensors: tuple[Array, Array] | None = None
    """The tensors in whose memory the boxes are; None for NumPy arrays."""

    def result_array(self, shape: tuple[int, ...]) -> FloatArray:
        """The array that native code fills: ``out`` if it has the computing dtype, else a new array."""
        out, computed = self.out, self.boxes1.dtype
        if out is None:
            return np.empty(shape, computed)
        if not isinstance(out, np.ndarray):
            raise TypeError(f"out must be a NumPy array, got {type(out).__name__}")
        flags = out.flags
        usable = flags.c_contiguous and flags.writeable and flags.aligned
        if out.shape != shape or out.dtype != self.dtype or not usable:
            layout = "" if usable else ", not contiguous, aligned and writeable"
            raise ValueError(
                f"out must be a writeable, C-contiguous array of shape {shape} and dtype {self.dtype}, "
                f"got shape {out.shape} and dtype {out.dtype}{layout}"
            )
        if np.may_share_memory(out, self.boxes1) or np.may_share_memory(out, self.boxes2):
            raise ValueError("out must not share memory with the boxes")
        return out if self.dtype == computed else np.empty(shape, computed)

    def back(self, result: FloatArray) -> Array:
        """The result in its own dtype, in ``out`` if that was given, else in the caller's library."""
        if result.dtype != self.dtype:
            with np.errstate(over="ignore"):  # intersections beyond 65504 become infinite in float16
                if self.out is None:
                    result = result.astype(self.dtype)
                else:
                    self.out[...] = result
        return result if self.tensors is None else as_tensor(result, *self.tensors)


class OnDevice(NamedTuple):
    """Both sets as arrays that native code cannot read: (..., 4) corners in float32, float64 or a wider dtype."""

    xp: Any
    """The functions of their library."""
    boxes1: Array
    boxes2: Array
    dtype: Any
    """The dtype of the result."""


def receive(
    boxes1: BoxesLike, boxes2: BoxesLike, fmt: BoxFormat | None, check: bool, out: Array | None = None
) -> Engine | OnHost | OnDevice:
    """Both sets, checked, for whoever computes; the engine alone for regions other than upright boxes."""
    if type(boxes1) is type(boxes2) is np.ndarray and (out is None or type(out) is np.ndarray):
        return corners_on_host(boxes1, boxes2, fmt, check, out)
    if (engine := engine_of(boxes1, boxes2)) is not None:
        if fmt is not None or out is not None:
            raise ValueError(f"format and out are for upright boxes, not for {type(boxes1).__name__}")
        return engine
    library = one_library(boxes1=boxes1, boxes2=boxes2, out=out)
    if library == "numpy":
        return corners_on_host(boxes1, boxes2, fmt, check, out)
    if library == "torch":
        shared = shared_with_numpy(boxes1, boxes2, *([] if out is None else [out]))
        if shared is not None:
            on_host = corners_on_host(shared[0], shared[1], fmt, check)
            return on_host._replace(out=None if out is None else shared[2], tensors=(boxes1, boxes2))
    if out is not None:
        raise ValueError("out is for NumPy arrays, and for tensors on the CPU without a gradient")
    return corners_on_device(boxes1, boxes2, fmt, check)


def corners_on_host(
    boxes1: BoxesLike, boxes2: BoxesLike, fmt: BoxFormat | None, check: bool, out: FloatArray | None = None
) -> OnHost:
    """Both sets, checked and converted: `Boxes`, NumPy arrays or lists."""
    if fmt is not None:
        check_format(fmt)
    if isinstance(boxes1, Boxes) and isinstance(boxes2, Boxes):
        check_one_unit(boxes1.normalized, boxes2.normalized)
    first, second = _numbers("boxes1", boxes1, fmt), _numbers("boxes2", boxes2, fmt)
    dtype = first.dtype if first.dtype == second.dtype else np.promote_types(first.dtype, second.dtype)
    computed = computing_dtype(dtype)
    first, second = _contiguous(first, computed), _contiguous(second, computed)
    if check:
        if not isinstance(boxes1, Boxes):
            check_boxes(first, fmt or "xyxy", "boxes1")
        if not isinstance(boxes2, Boxes):
            check_boxes(second, fmt or "xyxy", "boxes2")
    if fmt not in (None, "xyxy"):
        first, second = _converted(boxes1, first, fmt), _converted(boxes2, second, fmt)
    return OnHost(first, second, dtype, out)


def single_set(name: str, boxes: BoxesLike, fmt: BoxFormat | None, check: bool) -> tuple[FloatArray, np.dtype[Any]]:
    """One set of boxes as (..., 4) corners in the computing dtype, and the dtype of results."""
    if fmt is not None:
        check_format(fmt)
    array = _numbers(name, boxes, fmt)
    dtype = array.dtype
    array = _contiguous(array, computing_dtype(dtype))
    if check and not isinstance(boxes, Boxes):
        check_boxes(array, fmt or "xyxy", name)
    return array if fmt in (None, "xyxy") else _converted(boxes, array, fmt), dtype


def corners_on_device(boxes1: Array, boxes2: Array, fmt: BoxFormat | None, check: bool) -> OnDevice:
    """Both sets, checked and converted in their own library, as far as they have values to check."""
    if fmt is not None:
        check_format(fmt)
    xp = namespace_of(boxes1)
    devices = {str(getattr(boxes, "device", None)) for boxes in (boxes1, boxes2)}
    if len(devices) > 1 and xp.__name__.endswith("torch"):
        raise ValueError(f"boxes1 is on {boxes1.device} and boxes2 on {boxes2.device}: move both to one device first")
    first, second = floats(xp, "boxes1", boxes1), floats(xp, "boxes2", boxes2)
    dtype = xp.result_type(first, second)
    computed = computing_dtype_in(xp, dtype)
    if check:
        for name, boxes in (("boxes1", boxes1), ("boxes2", boxes2)):
            check_values(name, boxes, fmt or "xyxy", in_float32=computed == xp.float32)
    first, second = (as_corners(xp, xp.astype(boxes, computed, copy=False), fmt or "xyxy") for boxes in (first, second))
    return OnDevice(xp, first, second, dtype)


def check_values(name: str, boxes: Array, fmt: BoxFormat, *, in_float32: bool = False) -> None:
    """Raises `ValueError` for a box on a device that is not valid. In a traced program there are no values to check.

    Args:
        name: What the message calls the boxes.
        boxes: (..., 4), of any library.
        fmt: Their format.
        in_float32: Whether they are computed in float32, so that large integers are errors.
    """
    values = boxes if type(boxes) is np.ndarray else as_numpy(boxes)
    if values is None:
        return
    numbers = as_floats(values, name)
    if in_float32 and values.dtype.kind in "iu" and (abs(numbers) > _LARGEST_IN_FLOAT32).any():
        raise ValueError(f"{name} holds an integer beyond 2**24, which has no exact float32: enable float64")
    check_boxes(_contiguous(numbers, computing_dtype(numbers.dtype)), fmt, name)


def floats(xp: Any, name: str, boxes: Array) -> Array:
    """The boxes in their floating dtype; integers and bools in float64 if the library has it, else in float32."""
    if tuple(boxes.shape) == (0,):
        boxes = xp.reshape(boxes, (0, 4))
    if tuple(boxes.shape[-1:]) != (4,):
        _refuse_shape(name, tuple(boxes.shape))
    if xp.isdtype(boxes.dtype, "real floating"):
        return boxes
    if not xp.isdtype(boxes.dtype, ("integral", "bool")):
        raise TypeError(f"{name} must hold real numbers, got dtype {boxes.dtype}")
    widest = xp.__array_namespace_info__().dtypes(kind="real floating")
    return xp.astype(boxes, widest.get("float64", xp.float32))


def as_corners(xp: Any, boxes: Array, fmt: BoxFormat) -> Array:
    """Boxes of any format as xyxy; the same array if they are xyxy already."""
    return boxes if fmt == "xyxy" else convert_in(xp, boxes, fmt, "xyxy")


def table_shape(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    """The shape (..., N, M) of the table of all pairs, from the shapes (..., N, 4) and (..., M, 4) of both sets."""
    for name, shape in (("boxes1", first), ("boxes2", second)):
        if len(shape) < 2:
            hint = ": write [[x1, y1, x2, y2]] for one box" if shape == (4,) else ""
            raise ValueError(f"{name} must have shape (..., N, 4), got {shape}{hint}")
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


def _numbers(name: str, boxes: BoxesLike, fmt: BoxFormat | None) -> FloatArray:
    """(..., 4) the numbers of one set on the host; `Boxes` are xyxy already."""
    if isinstance(boxes, Boxes):
        if fmt is not None and fmt != boxes.format:
            raise ValueError(f"{name} are Boxes in {boxes.format!r}, which format={fmt!r} contradicts: leave it out")
        return boxes.convert("xyxy")._array
    array = boxes if type(boxes) is np.ndarray and boxes.dtype in FLOATS else as_floats(boxes, name)
    if array.shape == (0,):
        return array.reshape(0, 4)
    if array.shape[-1:] != (4,):
        _refuse_shape(name, array.shape)
    return array


def _contiguous(array: FloatArray, computed: np.dtype[Any]) -> FloatArray:
    array = np.ascontiguousarray(array, computed)
    return array if array.flags.aligned else array.copy()


def _converted(boxes: BoxesLike, array: FloatArray, fmt: BoxFormat) -> FloatArray:
    return array if isinstance(boxes, Boxes) else np.ascontiguousarray(convert(array, fmt, "xyxy"))


def _refuse_shape(name: str, shape: tuple[int, ...]) -> NoReturn:
    """Raises `ValueError` for boxes that have not 4 numbers; the message says which function takes 2, 5, 7 or 8."""
    kinds = {
        2: "points of 2 numbers are passed as Polygons(...)",
        5: "rows of 5 with an angle are passed as RotatedBoxes(..., unit=, sense=)",
        7: "rows of 7 with an angle are passed as Boxes3D(..., z=, unit=, sense=)",
        8: "rows of 4 points are passed as Polygons.from_flat(...)",
    }
    kind = kinds.get(shape[-1]) if len(shape) > 1 else None
    if len(shape) == 1 and name == "boxes":
        kind = "are these scores? boxes come first"
    hint = f"; {kind}" if kind else ""
    raise ValueError(f"{name} must have shape (..., 4), got {tuple(shape)}{hint}")
