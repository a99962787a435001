"""`Regions`: what all sets of regions have in common, upright boxes included."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray
    from typing_extensions import Self

    from ioukit.typing import FloatArray

__all__ = ["Regions"]


class Regions(ABC):
    """N regions of one kind: a frozen value with a length, indexed like an array, whose rows are sets of one.

    A set is no array: its numbers mean nothing without what they stand for. Two sets are equal, and hash the same, if
    their kinds, their numbers and what is said of these are; the dtype does not matter.
    """

    __slots__ = ()
    __array_ufunc__ = None  # `array + boxes` is an error, not an addition of numbers whose format nobody asked for

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def area(self) -> FloatArray:
        """(N,)."""

    @property
    @abstractmethod
    def is_empty(self) -> NDArray[np.bool_]:
        """(N,), true for regions without an area."""

    def drop_empty(self) -> Self:
        """Without the regions that have no area."""
        return self[~self.is_empty]

    @abstractmethod
    def _select(self, rows: slice | NDArray[Any]) -> Self:
        """The regions of these rows: a slice, or an array of one dimension of integers or of bools."""

    @abstractmethod
    def _state(self) -> tuple[Any, ...]:
        """All that this set is: arrays, and what is said of them; the arguments of `_trusted`."""

    @classmethod
    @abstractmethod
    def _trusted(cls, *state: Any) -> Self:
        """A set around arrays of its own, which are known to be valid and become read-only."""

    @classmethod
    def _check_parts(cls, parts: Sequence[object], name: str) -> None:
        """Refuses to put together what is not all of this kind."""
        for position, part in enumerate(parts):
            if not isinstance(part, cls):
                given = type(part).__name__
                raise TypeError(f"{name}[{position}] must be {cls.__name__} like the others, got {given}")

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

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return all(np.array_equal(mine, its) for mine, its in zip(self._state(), other._state(), strict=True))

    def __hash__(self) -> int:
        return hash(tuple(_hashable(part) for part in self._state()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._trusted, self._state()  # a pickled array forgets it is read-only

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} are not an array, since the numbers mean nothing without the format: "
            "use boxes.numpy()"
        )


def _hashable(part: Any) -> Any:
    if not isinstance(part, np.ndarray):
        return part
    # -0 equals 0, so both must hash the same; and so must float32 and float64.
    return (part.astype(np.float64) + 0.0 if part.dtype.kind == "f" else part).tobytes()
