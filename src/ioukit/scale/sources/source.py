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

    @property
    def bytes(self) -> int:
        """The size of the files, or of the columns in memory."""
        return sum(piece.bytes for piece in self.pieces)

    @property
    def rows(self) -> int | None:
        """How many rows there are; ``None`` if a piece does not know."""
        rows = [piece.rows for piece in self.pieces]
        return None if None in rows else sum(row for row in rows if row is not None)

    def batches(self, batch_rows: int = BATCH_ROWS) -> Iterator[Detections]:
        """All detections, batch by batch."""
        for piece in self.pieces:
            yield from piece.read(self.names, batch_rows)
