"""Columns that the parts of a match table add up to, see :meth:`ioukit.evaluation.MatchTable.parts`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


class Gathered:
    """Columns of one length, to which each part adds its rows.

    They are written to where they stay. Kept part by part and joined at the end, they took up to twice the memory: the
    system gets nothing back of what lies between other arrays.
    """

    def __init__(self, most: int, *types: type[np.generic]) -> None:
        """Begin without rows.

        Args:
            most: At most how many rows there will be. Memory is taken when rows are written.
            types: The types of the columns.
        """
        self._columns = [np.empty(most, kind) for kind in types]
        self._count = 0

    def add(self, *columns: npt.NDArray[Any]) -> None:
        """Add rows behind the others."""
        end = self._count + len(columns[0])
        for whole, part in zip(self._columns, columns, strict=True):
            whole[self._count : end] = part
        self._count = end

    def __len__(self) -> int:
        return self._count

    def columns(self) -> list[npt.NDArray[Any]]:
        """The columns so far."""
        return [whole[: self._count] for whole in self._columns]
