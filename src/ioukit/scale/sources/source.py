"""What every source of detections has: pieces, each read in batches."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ioukit.datasets.formats.known_names import KnownNames

if TYPE_CHECKING:
    from ioukit.datasets import Detections

__all__ = ["BATCH_ROWS", "DetectionSource", "Piece"]

BATCH_ROWS = 262_144
"""Rows of a batch unless the caller says otherwise: about 15 MB of columns."""
BYTES_OF_A_ROW = 100
"""A detection in a text file, about."""


@dataclasses.dataclass(frozen=True)
class Piece:
    """A part of a source that is read by itself, in this process or in another one. It is small and can be pickled."""

    name: str
    """The file and the place in it, for messages."""
    bytes: int
    """How many bytes of the file it has; a guess for data in memory."""
    rows: int | None
    """How many rows it has, rows that are left out included; ``None`` if that takes reading it."""

    def read(self, names: KnownNames, batch_rows: int = BATCH_ROWS) -> Iterator[Detections]:
        """The detections in order, at most about ``batch_rows`` at a time; batches without detections are left out.

        Args:
            names: The images and classes of the ground truth: :attr:`DetectionSource.names`.
            batch_rows: The most rows of a batch, where the file allows it.

        Raises:
            DatasetError: If the data is invalid: names file, row and column, what was expected and what came.
            OSError: If it cannot be read.
        """
        raise NotImplementedError

    def version(self) -> str:
        """A text that differs if what :meth:`read` gives may differ, although name and size are the same."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
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
    """The images and classes of the ground truth, which :meth:`Piece.read` takes."""
    batch_rows: int = BATCH_ROWS
    """The most rows of a batch, where the files allow it."""

    @property
    def bytes(self) -> int:
        """The size of the files, or of the columns in memory."""
        return sum(piece.bytes for piece in self.pieces)

    @property
    def rows(self) -> int | None:
        """How many rows there are; ``None`` if a piece does not know."""
        rows = [piece.rows for piece in self.pieces]
        return None if None in rows else sum(row for row in rows if row is not None)

    @property
    def estimated_rows(self) -> int:
        """:attr:`rows`, or about how many these are, by the sizes of the files."""
        return sum(-(-piece.bytes // BYTES_OF_A_ROW) if piece.rows is None else piece.rows for piece in self.pieces)

    @property
    def fingerprint(self) -> str:
        """A text that differs if the detections do: of the names, sizes and times of files, or of values in memory."""
        import hashlib  # noqa: PLC0415 - only runs that can go on later need it

        found = hashlib.sha256()
        for piece in self.pieces:
            found.update(repr((piece.name, piece.bytes, piece.rows)).encode())
            found.update(piece.version().encode())
        return found.hexdigest()

    def read(self, piece: int) -> Iterator[Detections]:
        """The detections of one piece, batch by batch."""
        return self.pieces[piece].read(self.names, self.batch_rows)

    def batches(self) -> Iterator[Detections]:
        """All detections, batch by batch."""
        for piece in range(len(self.pieces)):
            yield from self.read(piece)
