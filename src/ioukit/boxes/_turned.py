"""What boxes with an angle have in common: rows of numbers that mean nothing without the unit and the sense of it."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, get_args

import numpy as np

from ioukit._arrays import as_floats, computing_dtype
from ioukit.boxes.regions import Regions
from ioukit.typing import AngleSense, AngleUnit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike, NDArray
    from typing_extensions import Self

    from ioukit.typing import FloatArray

__all__ = ["TurnedBoxes", "check_angle", "check_choice"]


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Refuses what is not among the choices."""
    if value not in choices:
        raise ValueError(f"unknown {name} {value!r}; choose from {', '.join(choices)}")


def check_angle(unit: str, sense: str) -> None:
    """Refuses what is no unit or no sense of an angle."""
    check_choice("unit", unit, get_args(AngleUnit))
    check_choice("sense", sense, get_args(AngleSense))


class TurnedBoxes(Regions):
    """N boxes whose last number is an angle: a frozen value that knows its unit and its sense."""

    __slots__ = ("_array", "_sense", "_unit")
    _array: FloatArray
    _unit: AngleUnit
    _sense: AngleSense

    _COLUMNS: ClassVar[tuple[str, ...]]
    """What the numbers of a row are, the angle last."""
    _SIDES: ClassVar[slice]
    """Which of them are sides, and not negative."""

    def _set(self, array: FloatArray, unit: AngleUnit, sense: AngleSense, **_more: Any) -> None:
        array.flags.writeable = False
        self._array, self._unit, self._sense = array, unit, sense

    @abstractmethod
    def _kind(self) -> dict[str, Any]:
        """The keywords that say what the numbers mean."""

    @classmethod
    def _trusted(cls, array: FloatArray, kind: dict[str, Any]) -> Self:
        """Boxes around an array of their own, whose rows are known to be valid."""
        boxes = cls.__new__(cls)
        boxes._set(array, **kind)
        return boxes

    def _with(self, array: FloatArray, **changed: Any) -> Self:
        """Boxes around an array of their own, computed from these: rounding may have made it overflow."""
        with np.errstate(over="ignore"):
            array = np.ascontiguousarray(array, self._array.dtype)
        self._check(array)
        return self._trusted(array, {**self._kind(), **changed})

    @classmethod
    def _rows(cls, data: object, dtype: DTypeLike | None) -> FloatArray:
        """A new checked (N, K) array of the dtype that was asked for."""
        array = as_floats(data, "boxes")
        width = len(cls._COLUMNS)
        if array.shape in {(0,), (width,)}:
            array = array.reshape(-1, width)
        if array.ndim != 2 or array.shape[1] != width:
            columns = ", ".join(cls._COLUMNS)
            raise ValueError(f"boxes must have shape (N, {width}) or ({width},), {columns}, got {array.shape}")
        kind = np.dtype(dtype) if dtype is not None else computing_dtype(array.dtype)
        if kind not in (np.float32, np.float64):
            raise ValueError(f"dtype must be float32 or float64, got {kind}")
        with np.errstate(over="ignore"):  # the check refuses what overflows, by name
            array = np.array(array, kind, order="C")
        cls._check(array)
        return array

    @classmethod
    def _check(cls, array: FloatArray) -> None:
        """Refuses rows that are not finite, too large or of negative size, naming the first."""
        largest = 2.0**126 if array.dtype == np.float32 else 2.0**500
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
            limit = "2**126 in float32" if array.dtype == np.float32 else "2**500 in float64"
            complaint = f"a coordinate is beyond {limit}, where sizes and areas overflow"
        raise ValueError(f"boxes[{place}] is {row.tolist()}: {complaint}")

    @classmethod
    def concat(cls, boxes: Sequence[Self]) -> Self:
        """All boxes of a sequence, in order, in the unit and sense of the first; dtypes promote as NumPy's do.

        Raises:
            ValueError: If the sequence is empty.
            TypeError: If an element is of another kind.
        """
        if not boxes:
            raise ValueError(f"concat needs at least one {cls.__name__}: the unit of none is unknown")
        for position, item in enumerate(boxes):
            if not isinstance(item, cls):
                given = type(item).__name__
                raise TypeError(f"boxes[{position}] must be {cls.__name__} like the others, got {given}")
        kind = boxes[0]._kind()
        return cls._trusted(np.concatenate([item._as(kind)._array for item in boxes]), kind)

    def _as(self, kind: dict[str, Any]) -> Self:
        """The same boxes, with numbers of this meaning."""
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
        """``"clockwise"`` or ``"counterclockwise"``: which way a positive angle turns, as seen on the screen."""
        return self._sense

    @property
    def dtype(self) -> np.dtype[Any]:
        """Float32 or float64."""
        return self._array.dtype

    @property
    def shape(self) -> tuple[int, int]:
        """(N, numbers of a box)."""
        return (len(self._array), len(self._COLUMNS))

    @property
    def angle(self) -> FloatArray:
        """(N,) in `unit` and `sense`."""
        return np.array(self._array[:, -1])

    @property
    def is_empty(self) -> NDArray[np.bool_]:
        """(N,), true for boxes with a side of 0."""
        empty: NDArray[np.bool_] = (self._array[:, self._SIDES] == 0).any(axis=1)
        return empty

    def drop_empty(self) -> Self:
        """Without the boxes that have a side of 0."""
        return self[~self.is_empty]

    def numpy(self) -> FloatArray:
        """(N, K) numbers: a copy that the caller may change."""
        return np.array(self._array)

    def to_list(self) -> list[list[float]]:
        """The rows of `numpy` as lists of Python floats."""
        rows: list[list[float]] = self._array.tolist()
        return rows

    def __len__(self) -> int:
        return len(self._array)

    def _select(self, rows: slice | NDArray[Any]) -> Self:
        return self._trusted(np.ascontiguousarray(self._array[rows]), self._kind())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._kind() == other._kind() and np.array_equal(self._array, other._array)

    def __hash__(self) -> int:
        numbers = self._array.astype(np.float64) + 0.0  # -0 equals 0, so both must hash the same
        return hash((*self._kind().items(), numbers.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._trusted, (self._array, self._kind())  # a pickled array forgets it is read-only

    def __repr__(self) -> str:
        name = type(self).__name__
        numbers = np.array2string(self._array, separator=", ", prefix=f"{name}(", threshold=60)
        meaning = ", ".join(f"{key}={value!r}" for key, value in self._kind().items())
        return f"{name}({numbers if len(self) else '[]'}, {meaning}, dtype={self.dtype})"
