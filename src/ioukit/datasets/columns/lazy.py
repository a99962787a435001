"""Columns that keep the bytes of a file and decode them on access.

Owns: where the text of each value is, in which file, and how one value, a slice or all of them are read again.
Does not own: what the values mean. `masks.py` and `keypoints.py` decode whole columns, in the core and by all threads.
Cut here because boxes are evaluated without segmentations and keypoints: these are most of the bytes of COCO's files,
and many programs never look at them. The writers copy the text, so that digits stay. Files are read and not mapped: a
process that reads a mapped file is killed if another one makes the file shorter. So a changed file may go unnoticed.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._columns import frozen
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from typing_extensions import Self


class Names(Sequence[str]):
    """Strings in one piece of UTF-8, decoded one at a time."""

    def __init__(self, text: bytes, ends: npt.NDArray[np.uint64]) -> None:
        """Take the bytes of all strings, and for each string the position behind its last byte."""
        self._text = text
        self._starts = np.concatenate([np.zeros(1, np.uint64), ends[:-1]]) if len(ends) else ends
        self._ends = ends

    @classmethod
    def of(cls, names: Sequence[str]) -> Names:
        """Pack strings."""
        parts = [name.encode("utf-8", "surrogatepass") for name in names]
        return cls(b"".join(parts), np.cumsum([len(part) for part in parts], dtype=np.uint64))

    @classmethod
    def concat(cls, parts: Sequence[Names]) -> Names:
        """All strings of several, in order."""
        return cls.of([name for part in parts for name in part])

    def take(self, rows: slice | npt.NDArray[np.intp]) -> Names:
        """Choose and order strings by position."""
        chosen = Names(self._text, self._ends)
        chosen._starts, chosen._ends = self._starts[rows], self._ends[rows]
        return chosen

    def array(self) -> npt.NDArray[np.str_]:
        """(N,) the strings as an array of NumPy."""
        lengths = self._ends - self._starts
        width = int(lengths.max(initial=0))
        if not width or lengths.min() != width or not self._text.isascii():
            return np.array(self[:], np.str_)
        # Names of images are often equally long.
        letters = np.frombuffer(self._text, np.uint8)[self._starts[:, None] + np.arange(width, dtype=np.uint64)]
        return letters.astype(np.uint32).view(f"U{width}")[:, 0]

    def __len__(self) -> int:
        return len(self._ends)

    def __iter__(self) -> Iterator[str]:
        spans = zip(self._starts.tolist(), self._ends.tolist(), strict=True)
        if self._text.isascii():
            text = self._text.decode("ascii")
            return (text[start:end] for start, end in spans)
        return (self._text[start:end].decode("utf-8", "surrogatepass") for start, end in spans)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self.take(index))
        # A lone surrogate, which JSON can spell and UTF-8 cannot, comes in the three bytes that surrogatepass reads.
        return self._text[int(self._starts[index]) : int(self._ends[index])].decode("utf-8", "surrogatepass")

    def __repr__(self) -> str:
        return f"Names({', '.join(map(repr, self[:3]))}{', ...' if len(self) > 3 else ''})"


def texts_at(path: str, spans: npt.NDArray[np.uint64]) -> Iterator[bytes]:
    """The bytes at (N, 2) positions of a file, unpacked if its name ends in ``.gz``: N texts.

    The file is read and not mapped: a process that reads a mapped file which another one makes shorter is killed.

    Raises:
        OSError: If the file cannot be read.
        DatasetError: If the file ends before one of the positions.
    """
    packed = path.lower().endswith(".gz")
    with io.BytesIO(_core.read_text(path)) if packed else open(path, "rb") as file:
        for start, end in spans.tolist():
            file.seek(start)
            text = file.read(end - start)
            if len(text) < end - start:
                found = f"found {file.seek(0, io.SEEK_END)}: it has changed since it was read"
                raise DatasetError(f"{path}: expected at least {end} bytes, {found}")
            yield text


class ValuesOfFiles(Sequence[Any]):
    """The value of one member of every record as in the JSON file; ``None`` if a record has none.

    Values are parsed on access; only their positions in the file are kept. Do not change the file while these are in
    use: a change may raise :class:`OSError` or :class:`ValueError`, or go unnoticed.
    """

    def __init__(self, path: str, spans: npt.NDArray[np.uint64]) -> None:
        """Take the file and, for each row, the first byte and the byte behind the value: (N, 2)."""
        self._paths: tuple[str, ...] = (path,)
        self._which = np.zeros(len(spans), np.uint32)
        self._spans = frozen(spans)
        self._texts: dict[str, bytes] = {}
        self.decoded: Any = None
        """All values together, as masks or an array, if a reader needed them already. They are not pickled."""

    @classmethod
    def concat(cls, parts: Sequence[Self]) -> Self:
        """All values of several, in order."""
        paths = list(dict.fromkeys(path for part in parts for path in part._paths))
        which = [np.array([paths.index(path) for path in part._paths] or [0], np.uint32)[part._which] for part in parts]
        return cls._of(tuple(paths), np.concatenate(which), np.concatenate([part._spans for part in parts]))

    @classmethod
    def empty(cls, count: int) -> Self:
        """So many rows without a value."""
        return cls._of((), np.zeros(count, np.uint32), np.zeros((count, 2), np.uint64))

    @classmethod
    def _of(cls, paths: tuple[str, ...], which: npt.NDArray[np.uint32], spans: npt.NDArray[np.uint64]) -> Self:
        made = cls("", spans)
        made._paths, made._which = paths, which
        return made

    def take(self, rows: slice | npt.NDArray[np.intp]) -> Self:
        """Choose and order values by row."""
        chosen = self._of(self._paths, self._which[rows], self._spans[rows])
        chosen._texts = self._texts  # a packed file is unpacked once for all rows that are looked at
        return chosen

    def files(self) -> list[tuple[str, npt.NDArray[np.intp], npt.NDArray[np.uint64]]]:
        """For each file: its path, the rows whose values it holds, and the (n, 2) positions of their bytes."""
        if len(self._paths) == 1:
            return [(self._paths[0], np.arange(len(self)), self._spans)]
        rows = [np.flatnonzero(self._which == number) for number in range(len(self._paths))]
        return [(path, of_file, self._spans[of_file]) for path, of_file in zip(self._paths, rows, strict=True)]

    def texts(self) -> list[bytes]:
        """The JSON text of every value; empty where a record has none.

        Raises:
            OSError: If a file cannot be read.
            DatasetError: If a file is shorter than it was.
        """
        texts = [b""] * len(self)
        for path, rows, spans in self.files():
            there = spans[:, 1] > spans[:, 0]
            for row, text in zip(rows[there].tolist(), texts_at(path, spans[there]), strict=True):
                texts[row] = text
        return texts

    def __iter__(self) -> Iterator[Any]:
        import json  # noqa: PLC0415 - rarely needed, and import ioukit is to be quick

        return (json.loads(text) if text else None for text in self.texts())

    def values(self) -> list[Any]:
        """All values, parsed together, which is faster than one after the other; but an error does not say its row."""
        import json  # noqa: PLC0415 - rarely needed, and import ioukit is to be quick

        values: list[Any] = json.loads(b"[" + b",".join([text or b"null" for text in self.texts()]) + b"]")
        return values

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

        return json.loads(self._read(self._paths[self._which[index]], start, end)) if end > start else None

    def _read(self, path: str, start: int, end: int) -> bytes:
        if path.lower().endswith(".gz"):
            if path not in self._texts:
                self._texts[path] = _core.read_text(path)
            return self._texts[path][start:end]
        (text,) = texts_at(path, np.array([[start, end]], np.uint64))
        return text

    def __getstate__(self) -> dict[str, Any]:
        """What to pickle: everything but what can be read again."""
        return {**vars(self), "_texts": {}, "decoded": None}


class Segmentations(ValuesOfFiles):
    """(N,) the masks of COCO's records: polygons or RLE."""


class Keypoints(ValuesOfFiles):
    """(N,) the keypoints of COCO's records: x, y and visibility of one point after the other."""
