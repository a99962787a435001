"""Detections in memory, as a source."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.scale.sources.source import Piece, batches_of

if TYPE_CHECKING:
    from ioukit.datasets import Detections
    from ioukit.datasets.formats.known_names import KnownNames
    from ioukit.scale.sources.source import Cut

__all__ = ["MemoryPiece", "digest", "pieces_of_detections"]

_BYTES_A_ROW = 64
"""Of image, category, box and score."""


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


def digest(detections: Detections) -> list[Any]:
    """What tells detections in memory from others."""
    found = hashlib.blake2b(digest_size=16)
    columns = [detections.image_labels(), detections.category_ids, detections.boxes, detections.scores]
    for column in [*columns, *([] if detections.areas is None else [detections.areas])]:
        found.update(np.ascontiguousarray(column).data)
    return [detections.source, len(detections), found.hexdigest()]
