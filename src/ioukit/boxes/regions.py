"""`Regions`: what all sets of regions have in common, upright boxes included."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, DTypeLike, NDArray
    from typing_extensions import Self

    from ioukit.boxes.findings import Diagnosis
    from ioukit.typing import FloatArray

__all__ = ["Regions"]


class Regions(ABC):
    """N regions of one kind: a frozen value with a length, indexed like an array, whose rows are sets of one.

    A set is no array: its numbers mean nothing without what they stand for.
    """

    __slots__ = ()
    __array_ufunc__ = None  # `array + boxes` is an error, not an addition of numbers whose format nobody asked for

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def area(self) -> FloatArray:
        """(N,)."""

    @abstractmethod
    def diagnose(self) -> Diagnosis:
        """What looks wrong with these regions; it changes nothing."""

    @abstractmethod
    def _select(self, rows: slice | NDArray[Any]) -> Self:
        """The regions of these rows: a slice, or an array of one dimension of integers or of bools."""

    def __getitem__(self, index: int | slice | ArrayLike) -> Self:
        if isinstance(index, slice):
            return self._select(index)
        if isinstance(index, (list, tuple)) and not len(index):
            index = np.empty(0, np.intp)
        rows = np.asarray(index)
        if rows.ndim > 1 or rows.dtype.kind not in "iub" or (rows.ndim == 0 and rows.dtype.kind == "b"):
            raise TypeError(
                f"{type(self).__name__} are indexed by integers, slices, masks and index arrays, got {index!r}"
            )
        return self._select(np.atleast_1d(rows))

    def __iter__(self) -> Iterator[Self]:
        return (self[row] for row in range(len(self)))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} are not an array, since the numbers mean nothing without the format: "
            "use boxes.numpy()"
        )
