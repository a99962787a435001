"""Detections in memory, as a source."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.datasets import Detections
from ioukit.scale.sources.source import BATCH_ROWS, Piece

if TYPE_CHECKING:
    from ioukit.datasets.formats.known_names import KnownNames

__all__ = ["MemoryPiece", "pieces_of_detections"]

_BYTES_A_ROW = 64
"""Of image, category, box and score."""


@dataclasses.dataclass(frozen=True, eq=False)
class MemoryPiece(Piece):
    """Some rows of detections in memory. A pickle of it holds these rows alone."""

    detections: Detections
    start: int
    end: int

    def read(self, names: KnownNames, batch_rows: int = BATCH_ROWS) -> Iterator[Detections]:  # noqa: ARG002 - they have ids
        """The rows as they are, see :meth:`Piece.read`."""
        for first in range(self.start, self.end, batch_rows):
            yield self.detections[first : min(first + batch_rows, self.end)]

    def version(self) -> str:
        """The values, as a checksum."""
        import zlib  # noqa: PLC0415 - only runs that can go on later need it

        dt, found, rows = self.detections, 0, slice(self.start, self.end)
        for column in (dt.image_labels(), dt.category_ids, dt.boxes, dt.scores, dt.areas):
            found = found if column is None else zlib.crc32(np.ascontiguousarray(column[rows]).tobytes(), found)
        return str(found)

    def __reduce__(self) -> tuple[Any, ...]:
        rows = self.detections[self.start : self.end]
        return MemoryPiece, (self.name, self.bytes, self.rows, rows, 0, len(rows))


def pieces_of_detections(detections: Detections, piece_rows: int) -> list[Piece]:
    """Cut detections into pieces."""
    pieces: list[Piece] = []
    for start in range(0, len(detections), piece_rows):
        end = min(start + piece_rows, len(detections))
        name = f"{detections.source}: rows {start} to {end - 1}"
        pieces.append(MemoryPiece(name, _BYTES_A_ROW * (end - start), end - start, detections, start, end))
    return pieces
