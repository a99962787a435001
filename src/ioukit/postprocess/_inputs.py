"""The front door: every function hands its boxes, scores, labels and image numbers to this file.

Owns: the checks and their messages, which are the same for all functions, and the way back to the caller's library.
Does not own: the checks of boxes (`overlap/_arguments.py`), options (`_options`), what is computed.
Cut here so that no function asks twice what came. Two kinds of sets leave the door, one for each place of computing:

- `HostSet` (and `RegionSet`, for regions other than upright boxes) has NumPy arrays for native code. CPU tensors share
  their memory with them; arrays of other libraries are copied to the host.
- `DeviceSet` has arrays that stay where they are, in their own library: CUDA tensors, and arrays of a traced program.

Results go back through `restored`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, TypeAlias

import numpy as np

from ioukit._array_types import Ids
from ioukit._arrays import (
    FLOATS,
    as_floats,
    as_numpy,
    computing_dtype,
    computing_dtype_in,
    in_library_of,
    library_of,
    namespace_of,
    on_host,
    one_library,
)
from ioukit._checks import check_format, integer_column
from ioukit.overlap._arguments import as_corners, check_values, floats, single_set
from ioukit.regions import Boxes
from ioukit.regions.formats import convert
from ioukit.regions.regions import Regions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ioukit.postprocess._options import Limits
    from ioukit.typing import Array, BoxFormat, FloatArray


FloatKind: TypeAlias = "np.dtype[Any] | Literal['bfloat16']"
"""The dtype that floats came in: one of NumPy's, or bfloat16, which is float32 on the host."""

NO_VALUES = (
    "is traced (jax.jit, torch.compile) or mapped. This function returns as many boxes as survive, which a traced "
    "program cannot: use nms_padded"
)


class Names(NamedTuple):
    """What messages call the arguments."""

    boxes: str = "boxes"
    scores: str = "scores"
    labels: str = "labels"
    batch: str = "batch"


_NAMES = Names()


class HostSet(NamedTuple):
    """Upright boxes on the host with their scores, and what is needed to return results as the caller's arrays."""

    boxes: FloatArray
    """(N, 4) xyxy, contiguous, float32 or float64."""
    scores: FloatArray
    """(N,) contiguous, float32 or float64, not checked for NaN."""
    labels: Ids | None
    """(N,)"""
    batch: Ids | None
    """(N,) the image of each box."""
    like: Array
    """The array whose library and device the results have."""
    box_kind: FloatKind
    score_kind: FloatKind
    names: Names

    def comparable_scores(self) -> NDArray[np.float64]:
        """(N,) scores for functions that only compare them: any number, NaN refused. -0 becomes 0."""
        return _comparable(self.scores, self.names.scores)

    def weights(self) -> NDArray[np.float64]:
        """(N,) scores for functions that multiply or average them: finite and at least 0. -0 becomes 0.

        With other scores, a product could raise a score.
        """
        scores = np.ascontiguousarray(self.scores, np.float64)
        good = np.isfinite(scores) & (scores >= 0)
        if not good.all():
            row = int(np.flatnonzero(~good)[0])
            raise ValueError(f"{self.names.scores}[{row}] is {scores[row]}: every score must be finite and at least 0")
        return scores + 0.0

    def score_limit(self, threshold: float) -> float:
        """A score threshold rounded to the dtype of the scores, as NumPy compares it."""
        return _rounded_as(self.score_kind, threshold)

    def boxes_back(self, boxes: FloatArray, fmt: BoxFormat | None) -> Array:
        """Boxes (..., 4) xyxy in the caller's format, dtype and library."""
        return restored(boxes if fmt in (None, "xyxy") else convert(boxes, "xyxy", fmt), self.like, self.box_kind)

    def scores_back(self, scores: FloatArray) -> Array:
        """Scores in the caller's dtype and library."""
        return restored(scores, self.like, self.score_kind)

    def positions_back(self, positions: NDArray[Any]) -> Array:
        """Integers in the caller's library."""
        return restored(positions, self.like)


class RegionSet(NamedTuple):
    """Regions other than upright boxes, with their scores on the host."""

    regions: Regions
    scores: FloatArray
    """(N,) contiguous, float32 or float64, without NaN."""
    labels: Ids | None
    batch: Ids | None
    like: Array
    """The scores as they came: positions are returned in their library."""
    score_kind: FloatKind


class DeviceSet(NamedTuple):
    """Upright boxes and scores as arrays of one library other than NumPy, on their device or in a traced program."""

    xp: Any
    """The functions of the library."""
    boxes: Array
    """(N, 4) xyxy, float32 or float64; float16 and bfloat16 become float32, as on the host."""
    scores: Array
    """(N,) floats."""
    labels: Array | None
    """(N,)"""
    batch: Array | None
    """(N,) the image of each box."""


def receive(
    boxes: Any, scores: Any, labels: Any, batch: Any, *, format: BoxFormat | None, check: bool, on_host: bool
) -> HostSet | RegionSet | DeviceSet:
    """The set of `nms` for the way that it goes.

    Args:
        boxes: Upright boxes or other regions.
        scores: (N,)
        labels: (N,)
        batch: (N,)
        format: The format of plain arrays.
        check: Whether plain arrays are checked.
        on_host: Whether tensors on a device are copied to the host, too.

    Raises:
        ValueError, TypeError: As `host_set`, `region_set` and `device_set`.
    """
    if type(boxes) is not np.ndarray:
        if isinstance(boxes, Regions) and not isinstance(boxes, Boxes):
            return region_set(boxes, scores, labels, batch)
        if not on_host and library_of(boxes) == "torch" and boxes.device.type != "cpu":
            return device_set(boxes, scores, labels, batch, format=format, check=check)
    return host_set(boxes, scores, labels, batch, format=format, check=check)


def host_set(
    boxes: Any,
    scores: Any,
    labels: Any = None,
    batch: Any = None,
    *,
    format: BoxFormat | None,
    check: bool,
    names: Names = _NAMES,
) -> HostSet:
    """Checked boxes, scores, labels and image numbers on the host.

    Raises:
        ValueError: If a shape does not fit or a box is not valid.
        TypeError: If an argument has the wrong type, boxes and scores are of different libraries, or a program is
            traced.
    """
    if not (type(boxes) is type(scores) is np.ndarray):
        if isinstance(scores, float):
            raise TypeError(f"{names.scores} must be an array with a number per box, got {scores!r}")
        check_one_library(**{names.boxes: boxes, names.scores: scores})
    like = scores if isinstance(boxes, Boxes) else boxes
    corners, box_kind = host_boxes(boxes, format, check, names.boxes)
    columns = _columns(scores, labels, batch, len(corners), names)
    return HostSet(corners, columns[0], columns[2], columns[3], like, box_kind, columns[1], names)


def region_set(regions: Regions, scores: Any, labels: Any = None, batch: Any = None) -> RegionSet:
    """Regions with checked scores, labels and image numbers on the host.

    Raises:
        ValueError: If a shape does not fit or a score is NaN.
        TypeError: If an argument has the wrong type.
    """
    numbers, kind, labels, batch = _columns(scores, labels, batch, len(regions), _NAMES)
    _comparable(numbers, _NAMES.scores)
    return RegionSet(regions, numbers, labels, batch, scores, kind)


def device_set(
    boxes: Array, scores: Array, labels: Any = None, batch: Any = None, *, format: BoxFormat | None, check: bool
) -> DeviceSet:
    """Checked boxes, scores, labels and image numbers, without a gradient, on the device of the boxes.

    ``check`` copies boxes and scores to the host to look at their values. In a traced program there are none to check.

    Raises:
        ValueError: If a shape does not fit, a box is not valid or a score is NaN.
        TypeError: If an argument has the wrong type.
    """
    check_one_library(boxes=boxes, scores=scores)
    library = library_of(boxes)
    if library == "torch":
        boxes, scores = boxes.detach(), scores.detach()
    if format is not None:
        check_format(format)
    xp = namespace_of(boxes)
    numbers = floats(xp, "boxes", boxes)
    if numbers.ndim != 2:
        raise ValueError(f"boxes must have shape (N, 4), got {tuple(boxes.shape)}")
    count = numbers.shape[0]
    _check_length("scores", scores, count)
    dtype = numbers.dtype
    computed = computing_dtype_in(xp, dtype)
    if check:
        check_values("boxes", boxes, format or "xyxy", in_float32=computed == xp.float32)
        if (values := as_numpy(scores)) is not None:
            _comparable(values, "scores")
    corners = as_corners(xp, xp.astype(numbers, computed, copy=False), format or "xyxy")
    if not xp.isdtype(scores.dtype, "real floating"):
        scores = xp.astype(scores, dtype)
    labels, batch = (_device_column(xp, name, c, boxes, count) for name, c in (("labels", labels), ("batch", batch)))
    return DeviceSet(xp, corners, scores, labels, batch)


def host_boxes(boxes: Any, fmt: BoxFormat | None, check: bool, name: str = "boxes") -> tuple[FloatArray, FloatKind]:
    """(N, 4) checked boxes as xyxy on the host, and the dtype they came in."""
    values = boxes if isinstance(boxes, (np.ndarray, Boxes)) else on_host(boxes, name, NO_VALUES)
    corners, dtype = single_set(name, values, fmt, check)
    if corners.ndim != 2:
        raise ValueError(f"{name} must have shape (N, 4), got {corners.shape}")
    return corners, dtype if values is boxes else _kind(boxes, dtype)


def host_floats(values: Any, name: str) -> tuple[FloatArray, FloatKind]:
    """Numbers of any shape on the host as float16, float32 or float64, and the dtype they came in."""
    if type(values) is np.ndarray and values.dtype in FLOATS:
        return values, values.dtype
    array = as_floats(on_host(values, name, NO_VALUES), name)
    return array, _kind(values, array.dtype)


def check_one_library(**arrays: Any) -> None:
    """Raises `TypeError` if the arrays come from different libraries. `Boxes` and None fit all of them."""
    if all(type(array) is np.ndarray or array is None for array in arrays.values()):  # the common case
        return
    one_library(**{name: None if isinstance(array, Boxes) else array for name, array in arrays.items()})


def refuse_nan(row: int, name: str = "scores") -> NoReturn:
    """Raises `ValueError` for a score that is NaN."""
    raise ValueError(f"{name}[{row}] is NaN, which is neither better nor worse than another: remove the row first")


def least_score(given: HostSet | RegionSet, limits: Limits) -> float | None:
    """The score below which `nms` leaves a box out, in the dtype of the scores."""
    threshold = limits.score_threshold
    return None if threshold is None else _rounded_as(given.score_kind, threshold)


def as_kind(array: FloatArray, kind: FloatKind) -> FloatArray:
    """The array in this dtype; in float32 for bfloat16."""
    return array.astype(_numpy_dtype(kind), copy=False)


def common_kind(kinds: Sequence[FloatKind]) -> FloatKind:
    """The dtype that several dtypes promote to."""
    if len(set(kinds)) == 1:
        return kinds[0]
    promoted: np.dtype[Any] = np.result_type(*map(_numpy_dtype, kinds))
    return promoted


def restored(array: NDArray[Any], like: Array, kind: FloatKind | None = None) -> Array:
    """A NumPy array in the library and on the device of ``like``.

    Args:
        array: The values.
        like: An array of the caller; or a list, `Boxes` or None for NumPy.
        kind: The dtype of floats; None leaves the dtype as it is.
    """
    if kind is not None and (isinstance(kind, str) or kind != array.dtype):
        array = as_kind(array, kind)
    return in_library_of(array, like, bfloat16=kind == "bfloat16")


def _columns(
    scores: Any, labels: Any, batch: Any, count: int, names: Names
) -> tuple[FloatArray, FloatKind, Ids | None, Ids | None]:
    """Scores with the dtype they came in, labels and image numbers, on the host."""
    numbers, kind = host_floats(scores, names.scores)
    if numbers.shape != (count,):
        _check_length(names.scores, numbers, count)
    numbers = np.ascontiguousarray(numbers, computing_dtype(numbers.dtype))
    if not numbers.flags.aligned:
        numbers = numbers.copy()
    if labels is not None:
        labels = integer_column(names.labels, on_host(labels, names.labels, NO_VALUES), count)
    if batch is not None:
        batch = integer_column(names.batch, on_host(batch, names.batch, NO_VALUES), count)
    return numbers, kind, labels, batch


def _check_length(name: str, column: Array, count: int) -> None:
    if tuple(column.shape) != (count,):
        raise ValueError(f"{name} must have shape ({count},), one per box, got {tuple(column.shape)}")


def _device_column(xp: Any, name: str, column: Any, boxes: Array, count: int) -> Array | None:
    """Labels or image numbers on the device of the boxes."""
    if column is None:
        return None
    if library_of(column) == library_of(boxes):
        if not xp.isdtype(column.dtype, ("integral", "bool")):
            raise TypeError(f"{name} must be integers, got dtype {column.dtype}")
        _check_length(name, column, count)
        return column
    return restored(integer_column(name, on_host(column, name, NO_VALUES), count), boxes)


def _comparable(scores: FloatArray, name: str) -> NDArray[np.float64]:
    column = np.ascontiguousarray(scores, np.float64)
    nan = np.isnan(column)
    if nan.any():
        refuse_nan(int(nan.argmax()), name)
    # -0 sorts like 0, so that equal scores keep the order of the boxes.
    return column + 0.0


def _kind(given: Any, dtype: np.dtype[Any]) -> FloatKind:
    """The dtype that an array came in, whose values on the host have ``dtype``."""
    return "bfloat16" if str(getattr(given, "dtype", "")).removeprefix("torch.") == "bfloat16" else dtype


def _rounded_as(kind: FloatKind, threshold: float) -> float:
    return float(_numpy_dtype(kind).type(threshold))


def _numpy_dtype(kind: FloatKind) -> np.dtype[Any]:
    return np.dtype(np.float32) if isinstance(kind, str) else kind
