"""COCO results files as a source: records of an array, or a record per line."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ioukit.datasets.columns.coco_parts import CocoPart, parts_of_results
from ioukit.datasets.columns.detections import detections_of_coco
from ioukit.errors import DatasetError
from ioukit.scale.sources.source import Piece, batches_of
from ioukit.scale.sources.unpacking import UnpackedPiece, needs_unpacking

if TYPE_CHECKING:
    from ioukit.datasets import Detections
    from ioukit.datasets.columns._checks import OnInvalid
    from ioukit.datasets.formats.known_names import KnownNames
    from ioukit.datasets.formats.table_rows import Reading
    from ioukit.scale.sources.places import FilePlace
    from ioukit.scale.sources.source import Cut

__all__ = ["CocoPiece", "pieces_of_coco"]

_PART_BYTES = 32 << 20
_LEAST_ROW_BYTES = 60
"""Of a short record, which has an image, a category, a box and a score."""


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class CocoPiece(Piece):
    """Records of a results file that follow one another."""

    path: str
    part: CocoPart
    on_invalid: OnInvalid

    def _batches(self, names: KnownNames) -> Iterator[Detections]:  # noqa: ARG002 - the records have ids
        return batches_of(detections_of_coco(self.path, self.on_invalid, 1, part=self.part), self.batch_rows)


def pieces_of_coco(files: Sequence[FilePlace], reading: Reading, known: KnownNames, cut: Cut) -> list[Piece]:  # noqa: ARG001 - records have ids
    """The pieces of results files, in the order of the files. Each file is read once to find them.

    Raises:
        ValueError: If there are options for tables.
        DatasetError: If a file is no JSON, or no array of detections.
    """
    if reading.columns or reading.boxes or reading.normalized:
        raise ValueError("columns, boxes and normalized are for tables; COCO results have names of their own")
    pieces: list[Piece] = []
    for file in files:
        if needs_unpacking(file):
            pieces.append(UnpackedPiece.of(file, pieces_of_coco, reading, cut))
            continue
        size = max(1, min(_PART_BYTES, cut.piece_rows * _LEAST_ROW_BYTES))
        try:
            parts, counts = parts_of_results(file.path, reading.on_invalid, lines=file.lines, part_bytes=size)
        except OSError as error:
            raise DatasetError(f"{file.path}: cannot be read: {error}") from None
        for part, count in zip(parts, counts, strict=True):
            piece = CocoPiece(
                name=f"{file.path}: records {part.record} to {part.record + count - 1}",
                bytes=part.end - part.start,
                rows=count,
                batch_rows=cut.batch_rows,
                path=file.path,
                part=part,
                on_invalid=reading.on_invalid,
            )
            pieces.append(piece)
    return pieces
