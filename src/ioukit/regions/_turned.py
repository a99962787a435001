"""What boxes with an angle have in common: numbers that mean nothing without the unit and the sense of the angle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, get_args

import numpy as np

from ioukit._arrays import as_floats, computing_dtype
from ioukit._checks import check_choice, largest_coordinate, too_large
from ioukit.regions._rows import RowsOfNumbers, floats_of
from ioukit.typing import AngleSense, AngleUnit

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray
    from typing_extensions import Self

    from ioukit.typing import FloatArray


def check_angle(unit: str, sense: str) -> None:
    """Raises `ValueError` for an unknown unit or sense of an angle."""
    check_choice("unit", unit, get_args(AngleUnit))
    check_choice("sense", sense, get_args(AngleSense))


class TurnedBoxes(RowsOfNumbers):
    """N boxes whose last number is an angle: a frozen value that knows its unit and its sense."""

    __slots__ = ("_sense", "_unit")
    _KIND: ClassVar[tuple[str, ...]] = ("unit", "sense")
    _unit: AngleUnit
    _sense: AngleSense

    _COLUMNS: ClassVar[tuple[str, ...]]
    """The names of the numbers in a row. The angle is the last."""
    _SIDES: ClassVar[slice]
    """Which of them are sides, which must not be negative."""

    @classmethod
    def _rows(cls, data: object, dtype: DTypeLike | None) -> FloatArray:
        """A new (N, K) array in the given dtype, checked."""
        array = as_floats(data, "boxes")
        width = len(cls._COLUMNS)
        if array.shape in {(0,), (width,)}:
            array = array.reshape(-1, width)
        if array.ndim != 2 or array.shape[1] != width:
            columns = ", ".join(cls._COLUMNS)
            raise ValueError(f"boxes must have shape (N, {width}) or ({width},), {columns}, got {array.shape}")
        array = floats_of(array, computing_dtype(array.dtype) if dtype is None else dtype)
        cls._check(array)
        return array

    @classmethod
    def _check(cls, array: FloatArray, **kind: Any) -> None:  # noqa: ARG003 - the unit does not matter
        """Raises `ValueError` for the first row that is not finite, too large or of negative size."""
        largest = largest_coordinate(array.dtype)
        lengths, sides = array[:, :-1], array[:, cls._SIDES]
        with np.errstate(invalid="ignore"):
            bad = ~np.isfinite(array).all(axis=1) | (np.abs(lengths) > largest).any(axis=1) | (sides < 0).any(axis=1)
        if not bad.any():
            return
        place = int(bad.argmax())
        row = array[place]
        negative = [name for name, side in zip(cls._COLUMNS[cls._SIDES], row[cls._SIDES], strict=True) if side < 0]
        if not np.isfinite(row).all():
            complaint = "every number must be finite"
        elif negative:
            complaint = f"negative {negative[0]}"
        else:
            complaint = too_large(array.dtype)
        raise ValueError(f"boxes[{place}] is {row.tolist()}: {complaint}")

    def _as(self, kind: dict[str, Any]) -> Self:
        return self._with_angle(kind["unit"], kind["sense"])

    def _with_angle(self, unit: AngleUnit, sense: AngleSense) -> Self:
        if (unit, sense) == (self._unit, self._sense):
            return self
        array = np.array(self._array)
        angle = array[:, -1].astype(np.float64)
        if unit != self._unit:
            angle = np.degrees(angle) if unit == "degrees" else np.radians(angle)
        if sense != self._sense:
            angle = 0.0 - angle
        with np.errstate(over="ignore"):
            array[:, -1] = angle
        return self._with(array, unit=unit, sense=sense)

    @property
    def unit(self) -> AngleUnit:
        """``"radians"`` or ``"degrees"``."""
        return self._unit

    @property
    def sense(self) -> AngleSense:
        """``"clockwise"`` or ``"counterclockwise"``: the way a positive angle turns, as seen on the screen."""
        return self._sense

    @property
    def angle(self) -> FloatArray:
        """(N,) the angles, in this `unit` and `sense`."""
        return np.array(self._array[:, -1])

    @property
    def is_empty(self) -> NDArray[np.bool_]:
        """(N,) true for boxes with a side of 0."""
        empty: NDArray[np.bool_] = (self._array[:, self._SIDES] == 0).any(axis=1)
        return empty
