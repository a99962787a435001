"""Columns that stay as the file has them until somebody looks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from ioukit import _core

__all__ = ["Names", "Segmentations"]


class Names(Sequence[str]):
    """Strings in one piece of UTF-8, decoded one at a time."""

    def __init__(self, text: bytes, ends: npt.NDArray[np.uint64]) -> None:
        """Take the bytes of all strings and the position behind each."""
        self._text = text
        self._starts = np.concatenate([np.zeros(1, np.uint64), ends[:-1]]) if len(ends) else ends
        self._ends = ends

    @classmethod
    def of(cls, names: Sequence[str]) -> Names:
        """Pack strings."""
        parts = [name.encode("utf-8", "surrogatepass") for name in names]
        return cls(b"".join(parts), np.cumsum([len(part) for part in parts], dtype=np.uint64))

    def take(self, rows: npt.NDArray[np.intp]) -> Names:
        """Choose and order strings by position."""
        chosen = Names(self._text, self._ends)
        chosen._starts, chosen._ends = self._starts[rows], self._ends[rows]
        return chosen

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self[row] for row in range(*index.indices(len(self))))
        # A lone surrogate, which JSON can spell and UTF-8 cannot, comes in the three bytes that surrogatepass reads.
        return self._text[int(self._starts[index]) : int(self._ends[index])].decode("utf-8", "surrogatepass")

    def __repr__(self) -> str:
        return f"Names({', '.join(map(repr, self[:3]))}{', ...' if len(self) > 3 else ''})"


class Segmentations(Sequence[Any]):
    """The value of ``segmentation`` of every row as JSON has it (polygons or RLE), ``None`` where there is none.

    It is parsed on access; only positions in the file are kept. A file that changes in between is an error where that
    shows (:class:`OSError`, :class:`ValueError`), so keep it as it is while these are in use.
    """

    def __init__(self, path: str, spans: npt.NDArray[np.uint64]) -> None:
        """Take the file and, for each row, the first byte and the byte behind the value: (N, 2)."""
        self._path = path
        self._spans = spans
        self._text: bytes | None = None

    def take(self, rows: npt.NDArray[np.intp]) -> Segmentations:
        """Choose and order values by row."""
        return Segmentations(self._path, self._spans[rows])

    def __len__(self) -> int:
        return len(self._spans)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[row] for row in range(*index.indices(len(self)))]
        start, end = (int(position) for position in self._spans[index])
        import json  # noqa: PLC0415 - rarely needed, and import ioukit is to be quick

        return json.loads(self._read(start, end)) if end > start else None

    def _read(self, start: int, end: int) -> bytes:
        if self._path.lower().endswith(".gz"):
            if self._text is None:
                self._text = _core.read_text(self._path)
            return self._text[start:end]
        with open(self._path, "rb") as file:
            file.seek(start)
            return file.read(end - start)
