"""Columns with a list of as many numbers in every row, such as boxes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

__all__ = ["ListColumn"]


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

    @overload
    def __getitem__(self, index: int) -> list[float]: ...
    @overload
    def __getitem__(self, index: slice) -> list[list[float]]: ...
    def __getitem__(self, index: int | slice) -> Any:
        return self.values[index].tolist()
