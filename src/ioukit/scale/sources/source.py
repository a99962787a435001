"""What every source of detections has: pieces, each read in batches. Detections in memory are the plainest of them."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ioukit.datasets import Detections
    from ioukit.datasets.formats.known_names import KnownNames


_BYTES_A_ROW = 64
"""Of image, category, box and score."""


class Cut(NamedTuple):
    """How a source is cut."""

    piece_rows: int = 1 << 20
    """About how many rows a piece has, where the files allow it: 64 MB of columns."""
    batch_rows: int = 262_144
    """The most rows of a batch, where the files allow it."""


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Piece:
    """A part of a source that is read by itself, in this process or in another one. It is small and can be pickled."""

    name: str
    """The file and the place in it, for messages."""
    bytes: int
    """How many bytes of the file it has; a guess for data in memory."""
    rows: int | None
    """How many rows it has, rows that are left out included; ``None`` if that takes reading it."""
    batch_rows: int
    """The most rows of a batch, where the file allows it."""
    image_ids: tuple[int, int] | None = None
    """The least and the greatest id of an image in it, if the file says so; it may be wrong."""
    row_bytes: int = 60
    """About how many bytes of the file a row has."""
    names: KnownNames | None = dataclasses.field(default=None, repr=False)
    """The images and classes of the ground truth, the same object for all pieces of a source: a pickle of a list of
    pieces has it once."""

    def read(self) -> Iterator[Detections]:
        """The detections in order, at most about :attr:`batch_rows` at a time. Batches without detections are left out.

        Raises:
            DatasetError: If the data is invalid: names file, row and column, what was expected and what came.
            OSError: If it cannot be read.
        """
        assert self.names is not None
        return self._batches(self.names)

    def _batches(self, names: KnownNames) -> Iterator[Detections]:
        raise NotImplementedError


def _nothing() -> None:
    """Data in memory stay as they are."""


@dataclasses.dataclass(frozen=True, eq=False)
class DetectionSource:
    """Detections that need not fit into memory, as pieces.

    All batches of all pieces, one after the other, are what :func:`~ioukit.datasets.read_detections` returns for the
    whole, without further columns.
    """

    name: str
    """What was opened, for messages."""
    pieces: Sequence[Piece]
    """The pieces in the order of the data."""
    names: KnownNames
    """The images and classes of the ground truth."""
    described: Callable[[], Any]
    """Computes :attr:`fingerprint`."""
    check_unchanged: Callable[[], None] = _nothing
    """Raises a DatasetError if a file is no longer as it was when it was opened: then its pieces are of two files."""

    @property
    def bytes(self) -> int:
        """The size of the files, or of the columns in memory."""
        return sum(piece.bytes for piece in self.pieces)

    @property
    def rows(self) -> int | None:
        """How many rows there are, rows that are left out included; ``None`` if a piece does not know."""
        rows = [piece.rows for piece in self.pieces]
        return None if None in rows else sum(row for row in rows if row is not None)

    @property
    def estimated_rows(self) -> int:
        """How many rows there are; about as many if a piece does not know."""
        return sum(piece.bytes // piece.row_bytes if piece.rows is None else piece.rows for piece in self.pieces)

    @property
    def fingerprint(self) -> Any:
        """Lists of text and numbers that differ if the data or the way of reading it differ: paths, sizes and times."""
        return self.described()

    def batches(self) -> Iterator[Detections]:
        """All detections, batch by batch."""
        for piece in self.pieces:
            yield from piece.read()


def batches_of(dt: Detections, batch_rows: int) -> Iterator[Detections]:
    """Detections in batches; what was left out counts once."""
    if not len(dt):
        return iter([dataclasses.replace(dt, notes=dt.notes[:1])] if dt.dropped else [])
    if len(dt) <= batch_rows:
        return iter([dt])
    rest = dataclasses.replace(dt, dropped=0, notes=())
    return ((rest if at else dt)[at : at + batch_rows] for at in range(0, len(dt), batch_rows))


def fewer_batches(batches: Iterable[Detections], most: int) -> Iterator[Detections]:
    """The same rows, with small batches joined until they have more than half of ``most`` rows."""
    waiting, count = list[Any](), 0
    for batch in batches:
        waiting.append(batch)
        count += len(batch)
        if count > most // 2:
            yield type(batch).concat(waiting) if len(waiting) > 1 else batch
            waiting, count = [], 0
    if waiting:
        yield type(waiting[0]).concat(waiting)


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class MemoryPiece(Piece):
    """Some rows of detections in memory. A pickle of it holds these rows alone."""

    detections: Detections = dataclasses.field(repr=False)
    start: int
    end: int

    def _batches(self, names: KnownNames) -> Iterator[Detections]:  # noqa: ARG002 - the rows have ids
        return batches_of(self.detections[self.start : self.end], self.batch_rows)

    def __getstate__(self) -> dict[str, Any]:
        rows = self.detections[self.start : self.end]
        return {**vars(self), "detections": rows, "start": 0, "end": len(rows)}


def pieces_of_detections(detections: Detections, cut: Cut) -> list[Piece]:
    """Cut detections into pieces."""
    pieces: list[Piece] = []
    rest = dataclasses.replace(detections, dropped=0, notes=())  # what was left out counts once
    for start in range(0, max(len(detections), min(1, detections.dropped)), cut.piece_rows):
        end = min(start + cut.piece_rows, len(detections))
        piece = MemoryPiece(
            name=f"{detections.source}: rows {start} to {end - 1}",
            bytes=_BYTES_A_ROW * (end - start),
            rows=end - start,
            batch_rows=cut.batch_rows,
            detections=rest if start else detections,
            start=start,
            end=end,
        )
        pieces.append(piece)
    return pieces


def digest_of(detections: Detections) -> list[Any]:
    """What tells detections in memory from others."""
    found = hashlib.blake2b(digest_size=16)
    columns = [detections.image_labels(), detections.category_ids, detections.boxes, detections.scores]
    for column in [*columns, *([] if detections.areas is None else [detections.areas])]:
        found.update(np.ascontiguousarray(column).data)
    return [detections.source, len(detections), found.hexdigest()]
