"""CSV files and COCO results as sources: text, of which rows or records that follow one another are a piece.

Owns: where pieces begin, and the reading of one. Does not own: what a row or a record means (datasets/formats,
datasets/columns). Each file is walked once when it is opened, to find where pieces begin, so lines and records keep
their numbers in messages. Text that is packed or lies in a store cannot be read from the middle: such a file is one
piece, which is unpacked into a temporary file while it is read.
"""

from __future__ import annotations

import dataclasses
import functools
import gzip
import itertools
import os
import shutil
import tempfile
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ioukit import _core
from ioukit.datasets.columns.coco_parts import CocoPart, parts_of_results
from ioukit.datasets.columns.detections import detections_of_coco
from ioukit.datasets.formats.csv_tables import csv_rows, first_row
from ioukit.datasets.formats.table_detections import detections_of_text
from ioukit.datasets.formats.table_sources import Table
from ioukit.errors import DatasetError
from ioukit.scale.sources.source import Piece, batches_of
from ioukit.scale.sources.tables import columns_to_read, settled

if TYPE_CHECKING:
    from ioukit.datasets import Detections
    from ioukit.datasets.columns._checks import OnInvalid
    from ioukit.datasets.formats.known_names import KnownNames
    from ioukit.datasets.formats.table_rows import Reading
    from ioukit.scale.sources.places import FilePlace
    from ioukit.scale.sources.source import Cut


_CSV_PART_BYTES = 16 << 20
_LEAST_CSV_ROW_BYTES = 30
_COCO_PART_BYTES = 32 << 20
_LEAST_RECORD_BYTES = 60
"""Of a short record, which has an image, a category, a box and a score."""
_PACKED_ROW_BYTES = 25
"""Of a record in a packed file, about."""


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
        table_of = functools.partial(self._table, self._text(), self.columns)
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
        if _needs_unpacking(file):
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
        if parts and sorted(wanted) != sorted(parts[0].columns):
            raise DatasetError(
                f"{file.path}: expected the columns {', '.join(parts[0].columns)}, as {parts[0].path} has them, found "
                f"{', '.join(wanted)}"
            )
        size = max(1, min(_CSV_PART_BYTES, cut.piece_rows * _LEAST_CSV_ROW_BYTES))
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
        if _needs_unpacking(file):
            pieces.append(UnpackedPiece.of(file, pieces_of_coco, reading, cut))
            continue
        size = max(1, min(_COCO_PART_BYTES, cut.piece_rows * _LEAST_RECORD_BYTES))
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


def _needs_unpacking(file: FilePlace) -> bool:
    """Whether a file of text cannot be read in parts where it lies."""
    return not file.is_local or file.path.lower().endswith(".gz")


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class UnpackedPiece(Piece):
    """A whole file. It needs room for its text in the folder of temporary files while it is read."""

    file: FilePlace
    opener: Callable[[Sequence[FilePlace], Reading, KnownNames, Cut], list[Piece]]
    """What cuts the unpacked file."""
    reading: Reading
    cut: Cut

    @classmethod
    def of(cls, file: FilePlace, opener: Any, reading: Reading, cut: Cut) -> UnpackedPiece:
        """The only piece of a file."""
        return cls(
            name=file.path,
            bytes=file.size,
            rows=None,
            batch_rows=cut.batch_rows,
            row_bytes=_PACKED_ROW_BYTES if file.path.lower().endswith(".gz") else 60,
            file=file,
            opener=opener,
            reading=reading,
            cut=cut,
        )

    def _batches(self, names: KnownNames) -> Iterator[Detections]:
        with tempfile.TemporaryDirectory(prefix="ioukit-") as folder:
            name = os.path.basename(self.file.path)
            path = os.path.join(folder, name[:-3] if name.lower().endswith(".gz") else name)
            self._unpack(path)
            text = dataclasses.replace(self.file, path=path, size=os.path.getsize(path), address=None, inner="")
            try:
                for piece in self.opener([text], self.reading, names, self.cut):
                    for batch in dataclasses.replace(piece, names=names).read():
                        # The regions of COCO's files are read when they are asked for, and then this file is gone.
                        notes = tuple(note.replace(path, self.file.path) for note in batch.notes)
                        yield dataclasses.replace(batch, source=self.file.path, notes=notes, regions={})
            except DatasetError as error:
                raise DatasetError(str(error).replace(path, self.file.path)) from None

    def _unpack(self, path: str) -> None:
        try:
            with self.file.open() as packed, open(path, "wb") as out:
                if not self.file.path.lower().endswith(".gz"):
                    shutil.copyfileobj(packed, out, 1 << 20)
                    return
                if packed.read(2) != b"\x1f\x8b":
                    raise DatasetError(
                        f"{self.file.path}: expected a gzip file, as the name says, found something else"
                    )
                packed.seek(0)
                with gzip.open(packed) as unpacked:
                    shutil.copyfileobj(unpacked, out, 1 << 20)
        except EOFError:
            raise DatasetError(f"{self.file.path}: the gzip file ends too early (is it truncated?)") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise DatasetError(f"{self.file.path}: the gzip file is damaged: {error}") from None
