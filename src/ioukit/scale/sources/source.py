"""What every source of detections has: pieces, each read in batches. Detections in memory are the plainest of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ioukit.datasets import Detections
    from ioukit.datasets.formats.known_names import KnownNames
    from ioukit.scale.sources.places import FilePlace


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
    rows: int | None
    """How many rows it has, rows that are left out included; ``None`` if that takes reading it."""
    guessed_rows: int = 0
    """About how many rows it has, if it does not know."""
    batch_rows: int = Cut().batch_rows
    """The most rows of a batch, where the file allows it."""
    image_ids: tuple[int, int] | None = None
    """The least and the greatest id of an image in it, if the file says so; it may be wrong."""
    names: KnownNames | None = dataclasses.field(default=None, repr=False)
    """The images and classes of the ground truth, the same object for all pieces of a source: a pickle of a list of
    pieces has it once."""

    @property
    def estimated_rows(self) -> int:
        """How many rows it has; about as many if it does not know."""
        return self.guessed_rows if self.rows is None else self.rows

    def read(self) -> Iterator[Detections]:
        """The detections in order, at most about :attr:`batch_rows` at a time. Batches without detections are left out.

        Raises:
            DatasetError: If the data is invalid: names file, row and column, what was expected and what came.
            OSError: If it cannot be read.
        """
        raise NotImplementedError


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class FilePiece(Piece):
    """A part of a file, or all of it."""

    file: FilePlace


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
    fingerprint: Callable[[], Any]
    """Lists of text and numbers that differ if the data or the way of reading it differ: paths, sizes and times."""
    check_unchanged: Callable[[], None]
    """Raises a DatasetError if a file is no longer as it was when it was opened: then its pieces are of two files."""

    @property
    def rows(self) -> int | None:
        """How many rows there are, rows that are left out included; ``None`` if a piece does not know."""
        return None if any(piece.rows is None for piece in self.pieces) else self.estimated_rows

    @property
    def estimated_rows(self) -> int:
        """How many rows there are; about as many if a piece does not know."""
        return sum(piece.estimated_rows for piece in self.pieces)

    def in_batches(self, batch_rows: int) -> DetectionSource:
        """The same pieces, read in batches of at most about so many rows."""
        return dataclasses.replace(
            self, pieces=[dataclasses.replace(piece, batch_rows=batch_rows) for piece in self.pieces]
        )

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
    chosen: slice

    def read(self) -> Iterator[Detections]:
        """The rows; they have ids already."""
        return batches_of(self.detections[self.chosen], self.batch_rows)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "detections": self.detections[self.chosen], "chosen": slice(None)}


def pieces_of_detections(detections: Detections, piece_rows: int) -> list[Piece]:
    """Cut detections into pieces of so many rows."""
    rest = dataclasses.replace(detections, dropped=0, notes=())  # what was left out counts once
    count = len(detections)
    return [
        MemoryPiece(
            name=f"{detections.source}: rows {start} to {min(start + piece_rows, count) - 1}",
            rows=min(piece_rows, count - start),
            detections=rest if start else detections,
            chosen=slice(start, start + piece_rows),
        )
        for start in range(0, count or min(1, detections.dropped), piece_rows)
    ]
