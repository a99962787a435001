"""Columns of result tables: what is documented of each, and its values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["ColumnType", "ResultColumn", "Values", "missing", "numbers", "of_rows", "texts"]

ColumnType: TypeAlias = Literal["integer", "number", "text", "flag", "id"]


@dataclass(frozen=True)
class ResultColumn:
    """A column of a result table."""

    name: str
    """Its name in data frames and files. A part in ``<...>`` stands for a name that the data or the protocol gives."""
    type: ColumnType
    """``"integer"`` (int64), ``"number"`` (float64), ``"text"``, ``"flag"`` (bool), or ``"id"``: integers, or text if
    the data set identifies its images by text."""
    meaning: str
    """What it holds, in a sentence or two."""
    unit: str = ""
    """The unit of its numbers; empty if they have none."""
    optional: bool = False
    """Whether values may be missing."""
    needs_data: bool = False
    """Whether all values are missing if the evaluation holds a match table alone."""


class Values(NamedTuple):
    """The values of a column. NaN in numbers is a missing value."""

    array: NDArray[Any]
    """(N,) int64, float64 or bool; with :attr:`words`, positions in these."""
    valid: NDArray[np.bool_] | None = None
    """(N,) whether there is a value; ``None`` if all are there, and for numbers."""
    words: Sequence[str] | None = None
    """The texts that the positions stand for."""

    def taken(self, rows: slice) -> Values:
        """The values of some rows."""
        return Values(self.array[rows], None if self.valid is None else self.valid[rows], self.words)

    def objects(self) -> NDArray[np.object_]:
        """(N,) the texts of the positions as Python objects; ``None`` where there is none."""
        assert self.words is not None
        objects = np.array([*self.words, None], np.object_)
        array = self.array if self.valid is None else np.where(self.valid, self.array, -1)
        found: NDArray[np.object_] = objects[array]
        return found


def numbers(array: Any) -> Values:
    """A column of numbers; NaN is a missing value."""
    return Values(np.asarray(array, np.float64))


def texts(words: Sequence[str], positions: NDArray[Any], *, empty: bool = True) -> Values:
    """A column of texts, each a position in a list. Position -1, and without `empty` also "", is a missing value.

    Characters that are no Unicode, such as half of a surrogate pair, become escapes, because files cannot hold them.
    """
    writable = [word.encode("utf-8", "backslashreplace").decode("utf-8") for word in words]
    known = np.array([empty or bool(word) for word in writable] + [False], np.bool_)
    return Values(np.asarray(positions, np.int64), known[positions], writable)


def of_rows(array: NDArray[Any], rows: NDArray[np.int64]) -> Values:
    """The values of rows of another column; a missing value for row -1."""
    if array.dtype.kind == "f":
        return numbers(np.append(array, np.nan)[rows])
    return Values(np.append(array, array.dtype.type())[rows], rows >= 0)


def missing(count: int, type: ColumnType) -> Values:
    """So many missing values."""
    if type == "number":
        return numbers(np.full(count, np.nan))
    array = np.zeros(count, np.bool_ if type == "flag" else np.int64)
    return Values(array, np.zeros(count, np.bool_), [""] if type == "text" else None)
