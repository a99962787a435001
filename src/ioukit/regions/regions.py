"""`Regions`: what all sets of regions have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray
    from typing_extensions import Self

    from ioukit.typing import FloatArray


class Regions(ABC):
    """N regions of one kind: a frozen value with a length. ``regions[i]`` is a set of one region.

    A set of regions is not an array, because its numbers mean nothing without their format. Two sets are equal, and
    have the same hash, if they are of one kind and hold the same numbers with the same meaning. The dtype does not
    matter.

    A new kind of region is a subclass that implements:

    - ``__len__``, `area`, `is_empty` and `to_boxes`;
    - ``_select(rows)``: the regions at these rows, which are a slice or a one-dimensional array of integers or bools;
    - ``_state()``: all that the set holds, a tuple of arrays and of what their numbers mean;
    - ``_trusted(*state)``, a class method: the set with this state, without a check.

    Indexing, iteration, equality, hashing and pickling follow from these. `ioukit.overlap.register_engine` says how
    such regions overlap; after that, `pairwise_iou`, `elementwise_iou`, `overlap_join` and `nms` accept them.
    """

    __slots__ = ()
    __array_ufunc__ = None  # `array + boxes` is an error: the format of the array is unknown

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def area(self) -> FloatArray:
        """(N,) the measure that IoU divides by."""

    @property
    @abstractmethod
    def is_empty(self) -> NDArray[np.bool_]:
        """(N,) true for regions without an area."""

    @abstractmethod
    def to_boxes(self) -> Regions:
        """The upright boxes around the regions, as `Boxes`."""

    def drop_empty(self) -> Self:
        """The regions that have an area."""
        return self[~self.is_empty]

    @abstractmethod
    def _select(self, rows: slice | NDArray[Any]) -> Self:
        """The regions at these rows: a slice, or a one-dimensional array of integers or bools."""

    @abstractmethod
    def _state(self) -> tuple[Any, ...]:
        """All that this set holds: arrays, and what their numbers mean. These are the arguments of `_trusted`."""

    @classmethod
    @abstractmethod
    def _trusted(cls, *state: Any) -> Self:
        """A set that owns these arrays. They are known to be valid and become read-only."""

    @classmethod
    def _check_parts(cls, parts: Sequence[object], name: str) -> None:
        """Raises `TypeError` if one of several sets is of another kind."""
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
        return type(self)._trusted, self._state()  # which makes the arrays read-only again: a pickle forgets that

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} are not an array, since the numbers mean nothing without the format: "
            "use boxes.numpy()"
        )


def _hashable(part: Any) -> Any:
    if not isinstance(part, np.ndarray):
        return part
    # -0 equals 0, and float32 equals float64, so they must have the same hash.
    return (part.astype(np.float64) + 0.0 if part.dtype.kind == "f" else part).tobytes()
