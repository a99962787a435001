"""`RotatedBoxes`: rotated rectangles that know the unit and the sense of their angles."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np

from ioukit import _core
from ioukit._arrays import as_floats
from ioukit._checks import check_choice, check_factors, check_finite
from ioukit.regions._turned import TurnedBoxes, check_angle
from ioukit.regions.boxes import Boxes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from ioukit.typing import AngleSense, AngleUnit, FloatArray


Range = Literal["quarter", "half"]


class RotatedBoxes(TurnedBoxes):
    """N rectangles, each rotated about its centre: a frozen value that knows the unit and the sense of its angles.

    A row is ``cx, cy, width, height, angle`` in an image, where x points right and y down. A box with angle 0 is
    upright. With ``sense="clockwise"``, a positive angle turns the box clockwise as seen on the screen; with
    ``sense="counterclockwise"``, it turns the box the other way. The numbers do not show the unit and the sense, and
    both differ between libraries, so both must be given. Detectron2 uses counterclockwise degrees; mmcv, mmrotate and
    Ultralytics use clockwise radians; OpenCV's ``RotatedRect`` and powerboxes use clockwise degrees.

    Every method returns new boxes in the same dtype, unit and sense, unless it says otherwise. Two `RotatedBoxes` are
    equal, and have the same hash, if their units, senses and numbers are equal. One region can be written in several
    ways, which are not equal; `canonical` gives equal numbers for equal regions. Overlaps are computed in float64,
    whatever the dtype.

    There is no ``clip``, because the part of a rotated rectangle inside a window is not a rectangle. There is no
    ``normalized`` either: if x and y had different units, a rotated rectangle would have no right angles.

    Args:
        data: (N, 5) numbers, one box of 5 numbers, ``[]``, or `RotatedBoxes`, which are converted to this unit and
            sense. The numbers are copied.
        unit: ``"radians"`` or ``"degrees"``.
        sense: ``"clockwise"`` or ``"counterclockwise"``, as seen on the screen.
        dtype: ``np.float32`` or ``np.float64``. By default float32 and float64 arrays keep their dtype, float16 becomes
            float32, and everything else becomes float64.

    Raises:
        ValueError: If the shape is not (N, 5) or (5,); if the unit or the sense is unknown; or if a box is not finite,
            beyond 2**126 in float32 or 2**500 in float64, or of negative size. The message names the first such row.
        TypeError: If the data are not numbers, or the unit or the sense is missing.

    Examples:
        >>> boxes = RotatedBoxes([[50, 40, 20, 10, 90]], unit="degrees", sense="clockwise")
        >>> boxes.to_boxes()
        Boxes([[45., 30., 55., 50.]], format='xyxy', dtype=float64)
        >>> boxes.canonical()
        RotatedBoxes([[50., 40., 10., 20.,  0.]], unit='degrees', sense='clockwise', dtype=float64)
    """

    __slots__ = ()
    _COLUMNS: ClassVar[tuple[str, ...]] = ("cx", "cy", "width", "height", "angle")
    _SIDES: ClassVar[slice] = slice(2, 4)

    def __init__(
        self,
        data: RotatedBoxes | ArrayLike,
        *,
        unit: AngleUnit,
        sense: AngleSense,
        dtype: DTypeLike | None = None,
    ) -> None:
        check_angle(unit, sense)
        if isinstance(data, RotatedBoxes):
            data = data.convert(unit=unit, sense=sense)._array
        self._set(self._rows(data, dtype), unit, sense)

    @staticmethod
    def from_boxes(boxes: Boxes, *, unit: AngleUnit = "radians", sense: AngleSense = "clockwise") -> RotatedBoxes:
        """Upright boxes as rotated boxes with angle 0.

        Args:
            boxes: Upright boxes in pixels.
            unit: The unit of the angles in the result; angles of 0 are the same in both.
            sense: The sense of the angles in the result.

        Raises:
            ValueError: If the boxes are normalized: rotated boxes are in pixels.
            TypeError: If they are not `Boxes`.
        """
        if not isinstance(boxes, Boxes):
            raise TypeError(f"boxes must be Boxes, got {type(boxes).__name__}")
        if boxes.normalized:
            raise ValueError("rotated boxes are in pixels: denormalize(width, height) these first")
        check_angle(unit, sense)
        centred = boxes.convert("cxcywh").numpy()
        array = np.concatenate([centred, np.zeros((len(boxes), 1), centred.dtype)], axis=1)
        return RotatedBoxes._trusted(array, unit, sense)

    @staticmethod
    def from_corners(
        corners: ArrayLike,
        *,
        unit: AngleUnit,
        sense: AngleSense,
        tolerance: float = 1e-4,
        dtype: DTypeLike | None = None,
    ) -> RotatedBoxes:
        """The rectangles with these corners.

        Args:
            corners: (N, 4, 2) x and y of the corners, in order around the rectangle in either direction. The side from
                the first to the second corner is the width, and its direction is the angle. The method `corners`
                returns this order.
            unit: The unit of the angles in the result.
            sense: The sense of the angles in the result.
            tolerance: How far a given corner may lie from the corner of the rectangle, as a fraction of the diagonal.
            dtype: As in `RotatedBoxes`.

        Raises:
            ValueError: If the shape is not (N, 4, 2), or four corners are not those of a rectangle; the message names
                the first such row.
        """
        check_angle(unit, sense)
        points = as_floats(corners, "corners")
        kind = dtype or points.dtype
        points = points.astype(np.float64)
        if points.shape == (0,):
            points = points.reshape(0, 4, 2)
        if points.ndim != 3 or points.shape[1:] != (4, 2):
            raise ValueError(f"corners must have shape (N, 4, 2), got {points.shape}")
        if not np.isfinite(points).all():
            place = int((~np.isfinite(points)).any(axis=(1, 2)).argmax())
            raise ValueError(f"corners[{place}] is {points[place].tolist()}: every number must be finite")
        first, second, third, fourth = np.moveaxis(points - points[:, :1], 1, 0)
        along, across = (second - first + third - fourth) / 2, (third - second + fourth - first) / 2  # (N, 2)
        width, height = np.hypot(*along.T), np.hypot(*across.T)
        across_angle = np.arctan2(-across[:, 0], across[:, 1])  # where a box without width turns by its height
        angle = np.where(width > 0, np.arctan2(along[:, 1], along[:, 0]), across_angle)
        centre = points[:, 0] + (first + second + third + fourth) / 4
        array = np.concatenate([centre, np.stack([width, height, angle], axis=1)], axis=1)
        fitted = RotatedBoxes(array, unit="radians", sense="clockwise")
        rebuilt = fitted.corners()
        mirrored = along[:, 0] * across[:, 1] < along[:, 1] * across[:, 0]
        rebuilt[mirrored] = rebuilt[mirrored][:, [3, 2, 1, 0]]  # the corners run the other way around
        off = np.abs(rebuilt - points).max(axis=(1, 2), initial=0) > tolerance * np.hypot(width, height)
        if off.any():
            place = int(off.argmax())
            raise ValueError(
                f"corners[{place}] is {points[place].tolist()}: no rectangle within {tolerance:g} of its diagonal"
            )
        return RotatedBoxes(fitted, unit=unit, sense=sense, dtype=None if kind == np.float16 else kind)

    def convert(self, *, unit: AngleUnit | None = None, sense: AngleSense | None = None) -> RotatedBoxes:
        """The same boxes with angles in another unit, another sense, or both. None keeps the current one."""
        unit, sense = unit or self._unit, sense or self._sense
        check_angle(unit, sense)
        return self._with_angle(unit, sense)

    def canonical(self, range: Range = "quarter") -> RotatedBoxes:
        """The same regions, each with its smallest angle that is not negative: equal regions get equal numbers.

        Args:
            range: ``"quarter"`` gives angles in [0, a quarter turn), and swaps width and height where the angle changes
                by an odd number of quarter turns. ``"half"`` gives angles in [0, half a turn) and never swaps them.
        """
        check_choice("range", range, get_args(Range))
        turn = (90.0 if self._unit == "degrees" else np.pi / 2) * (1 if range == "quarter" else 2)
        array = np.array(self._array)
        times, rest = np.divmod(array[:, 4].astype(np.float64), turn)
        angle = rest.astype(array.dtype)
        over = angle >= array.dtype.type(turn)  # rounding gave a whole turn, which is angle 0
        array[:, 4] = np.where(over, 0, angle) + 0.0
        if range == "quarter":
            odd = (times + over) % 2 == 1
            array[odd, 2:4] = array[odd][:, [3, 2]]
        return self._with(array)

    def corners(self) -> FloatArray:
        """(N, 4, 2) x and y of the corners in float64, clockwise on the screen.

        The order is: left top, right top, right bottom, left bottom, as seen before the box is rotated.
        """
        return _core.rotated_corners(*self._native())

    def to_boxes(self) -> Boxes:
        """The upright boxes around these, in float64; exact for angles that are multiples of 90 in degrees."""
        return Boxes(_core.rotated_bounds(*self._native()), dtype=np.float64)

    def _native(self) -> tuple[NDArray[np.float64], bool, bool]:
        """The arguments of the native module: numbers, whether in degrees, whether clockwise."""
        array = np.ascontiguousarray(self._array, np.float64)
        return array, self._unit == "degrees", self._sense == "clockwise"

    def shift(self, dx: float, dy: float) -> RotatedBoxes:
        """The boxes moved by (dx, dy)."""
        check_finite(dx=dx, dy=dy)
        return self._with(self._array + np.array([dx, dy, 0, 0, 0], self._array.dtype))

    def scale(self, fx: float, fy: float | None = None) -> RotatedBoxes:
        """Boxes with widths multiplied by ``fx`` and heights by ``fy`` (``fx`` if not given); the rest stays."""
        fx, fy = check_factors(fx, fy)
        with np.errstate(over="ignore"):
            return self._with(self._array * np.array([1, 1, fx, fy, 1], self._array.dtype))

    @property
    def center(self) -> FloatArray:
        """(N, 2) x and y of the centres."""
        return np.array(self._array[:, :2])

    @property
    def width(self) -> FloatArray:
        """(N,) the side along the x axis before the box is rotated."""
        return np.array(self._array[:, 2])

    @property
    def height(self) -> FloatArray:
        """(N,) the side along the y axis before the box is rotated."""
        return np.array(self._array[:, 3])

    @property
    def area(self) -> FloatArray:
        """(N,) width times height; infinite where the dtype cannot hold it."""
        with np.errstate(over="ignore"):
            return self._array[:, 2] * self._array[:, 3]
