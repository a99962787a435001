"""`Boxes`: axis-aligned boxes that know their format and their unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from ioukit._arrays import as_floats, computing_dtype
from ioukit._checks import (
    check_boxes,
    check_factors,
    check_finite,
    check_format,
    check_one_unit,
    check_positive,
    check_window,
)
from ioukit.regions._rows import RowsOfNumbers, floats_of
from ioukit.regions.formats import convert

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from ioukit.regions.regions import Regions
    from ioukit.typing import BoxFormat, FloatArray, TensorLike


BoxesLike: TypeAlias = "Regions | Sequence[Boxes] | ArrayLike | TensorLike"
"""What functions on boxes accept: `Boxes`, numbers of shape (..., 4), and other regions where a function says so."""

HostBoxes: TypeAlias = "Regions | Sequence[Any] | NDArray[Any]"
"""Those of them with results in NumPy, for type checkers; with the tensors of another library, results are tensors."""

_LARGEST_IN_FLOAT32 = 2**24  # up to here every integer is a float32


class Boxes(RowsOfNumbers):
    """N axis-aligned boxes: a frozen value that knows its format and its unit.

    A box is a half-open region of the plane, so its area is ``(x2 - x1) * (y2 - y1)``. Every method returns new boxes
    in the same format, dtype and unit, unless it says otherwise. Two `Boxes` are equal, and have the same hash, if
    their formats, units and numbers are equal. The dtype does not matter. Boxes in different formats are never equal,
    even if they cover the same region.

    ``boxes[i]`` is a `Boxes` of one box, and so is each step of an iteration, because a row of numbers without its
    format means nothing. Slices, boolean masks and index arrays select boxes.

    Args:
        data: (N, 4) numbers, one box of 4 numbers, ``[]``, `Boxes`, or a list of `Boxes`. The numbers are copied.
        format: What the numbers are: ``"xyxy"`` (two corners), ``"xywh"`` (the corner with the smallest x and y, and
            the size) or ``"cxcywh"`` (centre and size). `Boxes` are converted to this format.
        normalized: Whether the unit is the image, whose sides are 1 then, rather than the pixel. `Boxes` keep their
            own unit.
        dtype: ``np.float32`` or ``np.float64``. By default float32 and float64 arrays keep their dtype, float16 becomes
            float32, integer arrays become float64, and Python lists become float32.

    Raises:
        ValueError: If the shape is not (N, 4) or (4,); if a box is not finite, beyond 2**126 in float32 or 2**500 in
            float64, inverted or of negative size; or if a list holds a number beyond 2**24, where float32 skips
            integers.
        TypeError: If the data are not numbers.

    Examples:
        >>> boxes = Boxes([[10, 20, 40, 60]], "xywh")
        >>> boxes.convert("xyxy")
        Boxes([[10., 20., 50., 80.]], format='xyxy', dtype=float32)
        >>> boxes.clip(0, 0, 30, 30).area
        array([200.], dtype=float32)
    """

    __slots__ = ("_format", "_normalized")
    _KIND: ClassVar[tuple[str, ...]] = ("format", "normalized")
    _format: BoxFormat
    _normalized: bool

    def __init__(
        self,
        data: BoxesLike,
        format: BoxFormat = "xyxy",
        *,
        normalized: bool = False,
        dtype: DTypeLike | None = None,
    ) -> None:
        check_format(format)
        if isinstance(data, (list, tuple)) and any(isinstance(item, Boxes) for item in data):
            data = Boxes.concat(data)
        if isinstance(data, Boxes):
            if normalized:
                check_one_unit(data._normalized, normalized)
            normalized = data._normalized
            array = floats_of(convert(data._array, data._format, format), dtype or data.dtype)
        else:
            array = _rows(data, dtype)
        check_boxes(array, format, "boxes")
        self._set(array, format, bool(normalized))

    @classmethod
    def _check(cls, array: FloatArray, **kind: Any) -> None:
        check_boxes(array, kind["format"], "boxes")

    def _as(self, kind: dict[str, Any]) -> Boxes:
        check_one_unit(kind["normalized"], self._normalized)
        return self.convert(kind["format"])

    @property
    def format(self) -> BoxFormat:
        """``"xyxy"``, ``"xywh"`` or ``"cxcywh"``."""
        return self._format

    @property
    def normalized(self) -> bool:
        """Whether the unit is the image rather than the pixel."""
        return self._normalized

    def convert(self, format: BoxFormat) -> Boxes:
        """The same boxes in another format."""
        check_format(format)
        if format == self._format:
            return self
        return self._with(convert(self._array, self._format, format), format=format)

    def to_boxes(self) -> Boxes:
        """These boxes, as `to_boxes` of other regions gives the boxes around them."""
        return self

    def normalize(self, width: float, height: float) -> Boxes:
        """The boxes in the unit of an image of this size in pixels; ValueError if they are normalized already."""
        if self._normalized:
            raise ValueError("these boxes are already normalized; denormalize(width, height) undoes it")
        return self._with(self._array / self._image(width, height), normalized=True)

    def denormalize(self, width: float, height: float) -> Boxes:
        """The boxes in pixels of an image of this size; ValueError if they are in pixels already."""
        if not self._normalized:
            raise ValueError("these boxes are already absolute; normalize(width, height) undoes it")
        return self._with(self._array * self._image(width, height), normalized=False)

    def _image(self, width: float, height: float) -> FloatArray:
        """(4,) the size of an image, for each of the numbers of a box."""
        check_positive(width=width, height=height)
        return np.array([width, height, width, height], self._array.dtype)

    def clip(self, xmin: float, ymin: float, xmax: float, ymax: float) -> Boxes:
        """The part of each box inside a window, whose sides may be infinite; a box outside shrinks to its edge."""
        xmin, ymin, xmax, ymax = check_window(xmin, ymin, xmax, ymax)
        corners = convert(self._array, self._format, "xyxy").reshape(-1, 2, 2)
        low, high = np.array([[xmin, ymin], [xmax, ymax]], self._array.dtype)
        return self._with(convert(corners.clip(low, high).reshape(-1, 4), "xyxy", self._format))

    def shift(self, dx: float, dy: float) -> Boxes:
        """The boxes moved by (dx, dy)."""
        check_finite(dx=dx, dy=dy)
        moves = [dx, dy, dx, dy] if self._format == "xyxy" else [dx, dy, 0, 0]
        return self._with(self._array + np.array(moves, self._array.dtype))

    def scale(self, fx: float, fy: float | None = None) -> Boxes:
        """Boxes with the same centres, widths multiplied by ``fx`` and heights by ``fy`` (``fx`` if not given)."""
        fx, fy = check_factors(fx, fy)
        return self._with_sides(lambda sides: sides * np.array([fx, fy], sides.dtype))

    def square(self) -> Boxes:
        """Squares with the same centres and the longer side of each box."""
        return self._with_sides(lambda sides: np.repeat(sides.max(axis=1, keepdims=True), 2, axis=1))

    def _with_sides(self, change: Callable[[FloatArray], FloatArray]) -> Boxes:
        centred = convert(self._array, self._format, "cxcywh")
        with np.errstate(over="ignore"):
            centred[:, 2:] = change(centred[:, 2:])
        return self._with(convert(centred, "cxcywh", self._format))

    @property
    def width(self) -> FloatArray:
        """(N,) x2 - x1."""
        return self._sides()[:, 0]

    @property
    def height(self) -> FloatArray:
        """(N,) y2 - y1."""
        return self._sides()[:, 1]

    @property
    def area(self) -> FloatArray:
        """(N,) width times height; infinite where the dtype cannot hold it."""
        sides = self._sides()
        with np.errstate(over="ignore"):
            return sides[:, 0] * sides[:, 1]

    @property
    def aspect_ratio(self) -> FloatArray:
        """(N,) width over height: infinite for a box without height, NaN for a point."""
        sides = self._sides()
        with np.errstate(divide="ignore", invalid="ignore"):
            return sides[:, 0] / sides[:, 1]

    def _sides(self) -> FloatArray:
        return convert(self._array, self._format, "xywh")[:, 2:]

    @property
    def center(self) -> FloatArray:
        """(N, 2) x and y of the centres."""
        return convert(self._array, self._format, "cxcywh")[:, :2]

    @property
    def left_top(self) -> FloatArray:
        """(N, 2) smallest x and smallest y: the upper left corners where y points down."""
        return self._corners()[:, [0, 1]]

    @property
    def right_top(self) -> FloatArray:
        """(N, 2) largest x and smallest y."""
        return self._corners()[:, [2, 1]]

    @property
    def right_bottom(self) -> FloatArray:
        """(N, 2) largest x and largest y."""
        return self._corners()[:, [2, 3]]

    @property
    def left_bottom(self) -> FloatArray:
        """(N, 2) smallest x and largest y."""
        return self._corners()[:, [0, 3]]

    def _corners(self) -> FloatArray:
        return convert(self._array, self._format, "xyxy")

    @property
    def is_empty(self) -> NDArray[np.bool_]:
        """(N,) true for boxes whose width or height is 0."""
        empty: NDArray[np.bool_] = (self._sides() == 0).any(axis=1)
        return empty


def _rows(data: object, dtype: DTypeLike | None) -> FloatArray:
    """A new (N, 4) array, in the given dtype or the default for this kind of data."""
    array = as_floats(data, "boxes")
    if array.shape in {(0,), (4,)}:
        array = array.reshape(-1, 4)
    if array.ndim != 2 or array.shape[1] != 4:
        raise ValueError(f"boxes must have shape (N, 4) or (4,), got {array.shape}")
    if dtype is None and not isinstance(data, np.ndarray):
        if (np.isfinite(array) & (np.abs(array) > _LARGEST_IN_FLOAT32)).any():
            raise ValueError(
                "a list becomes float32, which holds whole numbers up to 2**24 only, and boxes has one beyond: "
                "pass dtype=np.float64"
            )
        dtype = np.float32
    return floats_of(array, dtype or computing_dtype(array.dtype))
