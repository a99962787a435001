"""What all kinds of boxes have in common: a box is a row of numbers, as long as every other row of its kind."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ioukit.regions.regions import Regions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike, NDArray
    from typing_extensions import Self

    from ioukit.typing import FloatArray


class RowsOfNumbers(Regions):
    """N rows of K numbers: a frozen value that knows what the numbers mean."""

    __slots__ = ("_array",)
    _array: FloatArray

    _KIND: ClassVar[tuple[str, ...]]
    """The keywords that say what the numbers mean. Each is kept in a slot of the same name with an underscore."""

    def _set(self, array: FloatArray, *kind: Any) -> None:
        array.flags.writeable = False
        self._array = array
        for name, value in zip(self._KIND, kind, strict=True):
            setattr(self, f"_{name}", value)

    def _kind(self) -> dict[str, Any]:
        """What the numbers mean, by keyword."""
        return {name: getattr(self, f"_{name}") for name in self._KIND}

    def _state(self) -> tuple[Any, ...]:
        return (self._array, *self._kind().values())

    @classmethod
    def _trusted(cls, array: FloatArray, *kind: Any) -> Self:
        boxes = cls.__new__(cls)
        boxes._set(array, *kind)
        return boxes

    def _with(self, array: FloatArray, **changed: Any) -> Self:
        """Boxes that own an array computed from these. The numbers are checked, since they may have overflowed."""
        with np.errstate(over="ignore"):
            array = np.ascontiguousarray(array, self._array.dtype)
        kind = {**self._kind(), **changed}
        self._check(array, **kind)
        return self._trusted(array, *kind.values())

    @classmethod
    @abstractmethod
    def _check(cls, array: FloatArray, **kind: Any) -> None:
        """Raises `ValueError` for the first row that is not valid."""

    @abstractmethod
    def _as(self, kind: dict[str, Any]) -> Self:
        """The same boxes, in numbers with this meaning."""

    @classmethod
    def concat(cls, boxes: Sequence[Self]) -> Self:
        """All boxes of a sequence, in order.

        They are converted to the format of the first set. Dtypes promote as in NumPy.

        Raises:
            ValueError: If the sequence is empty, or normalized and absolute boxes are mixed.
            TypeError: If an element is of another kind.
        """
        if not boxes:
            raise ValueError(f"concat needs at least one {cls.__name__}: the {cls._KIND[0]} of none is unknown")
        cls._check_parts(boxes, "boxes")
        kind = boxes[0]._kind()
        return cls._trusted(np.concatenate([item._as(kind)._array for item in boxes]), *kind.values())

    @property
    def dtype(self) -> np.dtype[Any]:
        """Float32 or float64."""
        return self._array.dtype

    @property
    def shape(self) -> tuple[int, int]:
        """(N, K): the number of boxes, and of numbers per box."""
        count, width = self._array.shape
        return count, width

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
        return self._trusted(np.ascontiguousarray(self._array[rows]), *self._kind().values())

    def __repr__(self) -> str:
        name = type(self).__name__
        shown = 10 * self._array.shape[1]
        numbers = np.array2string(self._array, separator=", ", prefix=f"{name}(", threshold=shown)
        kind = ", ".join(f"{key}={value!r}" for key, value in self._kind().items() if value is not False)
        return f"{name}({numbers if len(self) else '[]'}, {kind}, dtype={self.dtype})"


def floats_of(array: FloatArray, dtype: DTypeLike) -> FloatArray:
    """A contiguous copy in float32 or float64, the two dtypes of boxes."""
    dtype = np.dtype(dtype)
    if dtype not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, got {dtype}")
    with np.errstate(over="ignore"):  # the check of the boxes names the row that overflows
        return np.array(array, dtype, order="C")
