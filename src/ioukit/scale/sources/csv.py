"""CSV files as a source: rows that follow one another are a piece."""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from ioukit import _core
from ioukit.datasets.formats.csv_tables import csv_rows, first_row
from ioukit.datasets.formats.table_detections import detections_of_text
from ioukit.datasets.formats.table_sources import Table
from ioukit.errors import DatasetError
from ioukit.scale.sources.source import Piece, batches_of
from ioukit.scale.sources.tables import check_same_columns, columns_to_read, settled
from ioukit.scale.sources.unpacking import UnpackedPiece, needs_unpacking

if TYPE_CHECKING:
    from ioukit.datasets import Detections
    from ioukit.datasets.formats.known_names import KnownNames
    from ioukit.datasets.formats.table_rows import Reading
    from ioukit.scale.sources.places import FilePlace
    from ioukit.scale.sources.source import Cut

__all__ = ["CsvPiece", "pieces_of_csv"]

_PART_BYTES = 16 << 20
_LEAST_ROW_BYTES = 30


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class CsvPiece(Piece):
    """Rows of a CSV file that follow one another."""

    path: str
    start: int
    end: int
    lines: int
    """How many lines are before the first row."""
    listed: tuple[str, ...]
    """The names of all columns."""
    columns: tuple[str, ...]
    """The columns that detections are made of."""
    delimiter: str
    reading: Reading

    def _batches(self, names: KnownNames) -> Iterator[Detections]:
        text = self._text()

        def table_of(numbers: Collection[str]) -> Table:
            return self._table(text, self.columns, numbers)

        return batches_of(detections_of_text(table_of, self.columns, self.reading, names), self.batch_rows)

    def table(self, name: str) -> Table:
        """One column."""
        return self._table(self._text(), [name], ())

    def _text(self) -> bytes:
        try:
            with open(self.path, "rb") as file:
                file.seek(self.start)
                text = file.read(self.end - self.start)
        except OSError as error:
            raise DatasetError(f"{self.path}: cannot be read: {error}") from None
        if len(text) < self.end - self.start:
            raise DatasetError(
                f"{self.path}: expected {self.end:,} bytes, found {self.start + len(text):,}: it was cut"
            )
        return text

    def _table(self, text: bytes, wanted: Sequence[str], numbers: Collection[str]) -> Table:
        columns, lines = csv_rows(
            self.path,
            text,
            self.lines,
            self.listed,
            self.delimiter,
            header=self.start == 0,
            wanted=wanted,
            numbers=numbers,
        )
        return Table(self.path, columns, lambda row: f"{self.path}: line {lines[row]}", all_text=True)


def pieces_of_csv(files: Sequence[FilePlace], reading: Reading, known: KnownNames, cut: Cut) -> list[Piece]:
    """The pieces of CSV files with the same columns, in the order of the files. Each file is read once to find them.

    Raises:
        DatasetError: If a file has no row with names, or other columns than the first.
    """
    pieces: list[Piece] = []
    parts: list[CsvPiece] = []
    for file in files:
        if needs_unpacking(file):
            pieces.append(UnpackedPiece.of(file, pieces_of_csv, reading, cut))
            continue
        delimiter = "\t" if file.path.lower().endswith(".tsv") else ","
        names = first_row(file.path, delimiter)
        if not names:
            found = "an empty file" if not file.size else "none"
            raise DatasetError(f"{file.path}: line 1: expected the names of columns, found {found}")
        if len(set(names)) < len(names):
            raise DatasetError(f"{file.path}: line 1: expected columns of different names, found {', '.join(names)}")
        wanted = columns_to_read(names, file.path, reading, known)
        if parts:
            check_same_columns(file.path, parts[0].path, wanted, parts[0].columns)
        size = max(1, min(_PART_BYTES, cut.piece_rows * _LEAST_ROW_BYTES))
        try:
            found_parts, rows = _core.find_csv_parts(file.path, ord(delimiter), size)
        except OSError as error:
            raise DatasetError(f"{file.path}: cannot be read: {error}") from None
        edges = [*found_parts.tolist(), [os.path.getsize(file.path), 0]]
        for (start, lines), (end, _) in itertools.pairwise(edges):
            piece = CsvPiece(
                name=f"{file.path}: from line {lines + 1}",
                bytes=end - start,
                rows=rows - 1 if len(edges) == 2 else None,
                batch_rows=cut.batch_rows,
                row_bytes=max(1, file.size // max(rows, 1)),
                path=file.path,
                start=start,
                end=end,
                lines=lines,
                listed=tuple(names),
                columns=tuple(wanted),
                delimiter=delimiter,
                reading=reading,
            )
            parts.append(piece)
            pieces.append(piece)
    if not parts:
        return pieces

    def tables_of(name: str) -> Iterator[Table]:
        return (piece.table(name) for piece in parts)

    done = settled(reading, parts[0].columns, lambda _: False, known, parts[0].path, tables_of)
    return [dataclasses.replace(piece, reading=done) for piece in pieces]  # type: ignore[call-arg]
