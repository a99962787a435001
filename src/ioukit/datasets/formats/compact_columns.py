"""Columns of tables that take little memory: each different value once, or lists of numbers as an array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


class CodedColumn(Sequence[Any]):
    """A column that keeps each different value once; every value stands in at least one row."""

    def __init__(self, values: Sequence[Any], codes: npt.NDArray[Any]) -> None:
        """Take the different values, and for each row the position of its value."""
        self.values = values
        self.codes: npt.NDArray[np.int64] = codes.astype(np.int64, copy=False)

    @classmethod
    def of(cls, column: Sequence[Any]) -> CodedColumn:
        """Code a column of Python values; the values keep the order in which they come first."""
        places: dict[Any, int] = {}
        codes = [places.setdefault(value, len(places)) for value in column]
        return cls(list(places), np.array(codes, np.int64))

    @classmethod
    def of_used(cls, values: Sequence[Any], codes: npt.NDArray[Any]) -> CodedColumn:
        """A column whose list of values may have some that stand in no row."""
        used = np.bincount(codes, minlength=len(values)) > 0
        if used.all():
            return cls(values, codes)
        return cls([values[at] for at in np.flatnonzero(used).tolist()], (np.cumsum(used) - 1)[codes])

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[Any]:
        return map(self.values.__getitem__, self.codes.tolist())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self.values[code] for code in self.codes[index].tolist()]
        return self.values[int(self.codes[index])]


class ListColumn(Sequence[list[float]]):
    """Lists of numbers, kept as an array."""

    def __init__(self, values: npt.NDArray[np.float64]) -> None:
        """Take (N, K) numbers."""
        self.values = values

    @classmethod
    def of_arrow(cls, column: Any) -> ListColumn | None:
        """The lists of an array or a chunked array of PyArrow; ``None`` if they have nulls or differ in length."""
        parts = []
        for part in getattr(column, "chunks", (column,)):
            numbers = part.flatten()
            if part.null_count or numbers.null_count:
                return None
            lengths = part.value_lengths().to_numpy(zero_copy_only=False)
            if len(lengths) and (lengths != lengths[0]).any():
                return None
            if len(lengths):
                parts.append(numbers.to_numpy(zero_copy_only=False).astype(np.float64).reshape(len(lengths), -1))
        if not parts or len({part.shape[1] for part in parts}) > 1:
            return None
        return cls(np.concatenate(parts))

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[list[float]]:
        return iter(self.values.tolist())

    def __getitem__(self, index: Any) -> Any:
        return self.values[index].tolist()
