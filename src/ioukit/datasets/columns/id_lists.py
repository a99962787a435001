"""A column of lists of ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from ioukit._columns import frozen

if TYPE_CHECKING:
    from typing_extensions import Self


class IdLists(Sequence[npt.NDArray[np.int64]]):
    """(N,) lists of ids, each of its own length: the categories that were looked for on each image, for example.

    ``lists[row]`` is one list, as a read-only array.

    Examples:
        >>> lists = IdLists.of([[3, 1], [], [2]])
        >>> lists[0].tolist(), len(lists[1]), lists.take([2, 0]).tolist()
        ([3, 1], 0, [[2], [3, 1]])
    """

    def __init__(self, ids: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> None:
        """Take the ids of all lists, one list after another, and where each list ends."""
        if (len(ends) and int(ends[-1]) != len(ids)) or (not len(ends) and len(ids)) or (np.diff(ends) < 0).any():
            raise ValueError(f"ends must rise to the number of ids, {len(ids):,}, got {ends}")
        self.ids = frozen(ids)
        """(L,) the ids of all lists."""
        self.ends = frozen(ends)
        """(N,) where each list ends."""

    @classmethod
    def of(cls, lists: Iterable[Iterable[int]]) -> Self:
        """The column with one list of integers per row.

        Raises:
            TypeError: If a row is not a list of integers.
        """
        rows = []
        for row, each in enumerate(lists):
            array = np.asarray(list(each) if not isinstance(each, np.ndarray) else each)
            if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
                raise TypeError(f"row {row} must be a list of integers, got {each!r}")
            rows.append(array.astype(np.int64))
        ends = np.cumsum([len(row) for row in rows], dtype=np.int64)
        return cls(np.concatenate([np.zeros(0, np.int64), *rows]), ends)

    @classmethod
    def concat(cls, parts: Sequence[IdLists]) -> Self:
        """The lists of several columns, in order."""
        shifts = np.cumsum([0, *(len(part.ids) for part in parts)])
        ends = [part.ends + shift for part, shift in zip(parts, shifts.tolist(), strict=False)]
        return cls(np.concatenate([part.ids for part in parts]), np.concatenate(ends))

    def take(self, rows: slice | npt.NDArray[np.intp] | Sequence[int]) -> Self:
        """Choose and order lists by row."""
        sizes = np.diff(self.ends, prepend=0)[rows]
        new_ends = np.cumsum(sizes)
        at = np.arange(int(sizes.sum())) + np.repeat(self.ends[rows] - new_ends, sizes)
        return type(self)(self.ids[at], new_ends)

    def tolist(self) -> list[list[int]]:
        """The lists as Python lists."""
        return [row.tolist() for row in self]

    def __len__(self) -> int:
        return len(self.ends)

    @overload
    def __getitem__(self, index: int) -> npt.NDArray[np.int64]: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> npt.NDArray[np.int64] | Self:
        if isinstance(index, slice):
            return self.take(index)
        row = range(len(self))[index]
        return self.ids[int(self.ends[row - 1]) if row else 0 : int(self.ends[row])]

    def __repr__(self) -> str:
        return f"IdLists({len(self):,} lists, {len(self.ids):,} ids)"

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the columns and freeze them again: NumPy does not pickle that an array is read-only."""
        vars(self).update({name: frozen(column) for name, column in state.items()})
