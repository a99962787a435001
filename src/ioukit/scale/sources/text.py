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
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ioukit import _core
from ioukit.datasets.columns.coco_parts import CocoPart, parts_of_results
from ioukit.datasets.columns.detections import detections_of_coco
from ioukit.datasets.formats.csv_tables import csv_rows, delimiter_of, first_row
from ioukit.datasets.formats.table_detections import detections_of_text
from ioukit.datasets.formats.table_sources import Table
from ioukit.datasets.formats.text_files import refuse
from ioukit.errors import DatasetError
from ioukit.scale.sources.source import FilePiece, batches_of
from ioukit.scale.sources.tables import TablePiece

if TYPE_CHECKING:
    from ioukit.datasets import Detections
    from ioukit.datasets.columns._checks import OnInvalid
    from ioukit.datasets.formats.known_names import KnownNames
    from ioukit.datasets.formats.table_rows import Reading
    from ioukit.scale.sources.places import FilePlace
    from ioukit.scale.sources.source import Cut
    from ioukit.scale.sources.tables import Head


_CSV_PART_BYTES = 16 << 20
_LEAST_CSV_ROW_BYTES = 30
_COCO_PART_BYTES = 32 << 20
_LEAST_RECORD_BYTES = 60
"""Of a short record, which has an image, a category, a box and a score."""
_PACKED_ROW_BYTES = 25
"""Of a record in a packed file, about."""


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class CsvPiece(TablePiece):
    """Rows of a CSV file that follow one another."""

    start: int
    end: int
    lines: int
    """How many lines are before the first row."""
    listed: tuple[str, ...]
    """The names of all columns."""

    def read(self) -> Iterator[Detections]:
        """The detections, see :meth:`Piece.read`."""
        table_of = functools.partial(self._table, self._text(), self.columns)
        return batches_of(detections_of_text(table_of, self.columns, self.reading, self.names), self.batch_rows)

    def tables(self, columns: Iterable[str]) -> Iterator[Table]:
        """Some columns of all rows."""
        yield self._table(self._text(), columns)

    def _text(self) -> bytes:
        with self.file.open() as file:
            file.seek(self.start)
            text: bytes = file.read(self.end - self.start)
        if len(text) < self.end - self.start:
            found = f"{self.start + len(text):,}: it was cut"
            refuse(self.file.path, f"{self.end:,} bytes", found)
        return text

    def _table(self, text: bytes, columns: Iterable[str], numbers: Collection[str] = ()) -> Table:
        path = self.file.path
        found, lines = csv_rows(
            path,
            text,
            self.lines,
            self.listed,
            delimiter_of(path),
            header=self.start == 0,
            wanted=self.in_file(columns),
            numbers=numbers,
        )
        found |= self.from_folders(columns, len(lines))
        return Table(path, found, lambda row: f"{path}: line {lines[row]}", all_text=True)


def head_of_csv(file: FilePlace, _: Reading, cut: Cut) -> Head:
    """The head of a CSV file: its columns, and parts that are pieces. The file is read once to find them.

    Raises:
        DatasetError: If it has no row with names, or one with the same name twice.
        OSError: If it cannot be read.
    """
    names = first_row(file.path, delimiter_of(file.path))
    if len(set(names)) < len(names):
        refuse(f"{file.path}: line 1", "columns of different names", ", ".join(names))
    size = max(1, min(_CSV_PART_BYTES, cut.piece_rows * _LEAST_CSV_ROW_BYTES))
    parts, rows = _core.find_csv_parts(file.path, ord(delimiter_of(file.path)), size)
    pieces = [
        CsvPiece(
            name=f"{file.path}: from line {lines + 1}",
            rows=rows - 1 if len(parts) == 1 else None,
            guessed_rows=(end - start) * rows // file.size,
            batch_rows=cut.batch_rows,
            file=file,
            start=start,
            end=end,
            lines=lines,
            listed=tuple(names),
        )
        for (start, lines), (end, _) in itertools.pairwise([*parts.tolist(), [file.size, 0]])
    ]
    return dict.fromkeys(names, "text"), pieces


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class CocoPiece(FilePiece):
    """Records of a results file that follow one another."""

    part: CocoPart
    on_invalid: OnInvalid

    def read(self) -> Iterator[Detections]:
        """The detections, see :meth:`Piece.read`; records have ids."""
        return batches_of(detections_of_coco(self.file.path, self.on_invalid, 1, part=self.part), self.batch_rows)


def pieces_of_coco(files: Sequence[FilePlace], reading: Reading, known: KnownNames, cut: Cut) -> list[CocoPiece]:
    """The pieces of results files, in the order of the files. Each file is read once to find them.

    Raises:
        DatasetError: If a file is no JSON, or no array of detections.
        OSError: If it cannot be read.
    """
    pieces: list[CocoPiece] = []
    size = max(1, min(_COCO_PART_BYTES, cut.piece_rows * _LEAST_RECORD_BYTES))
    for file in files:
        parts, counts = parts_of_results(file.path, reading.on_invalid, lines=None, part_bytes=size)
        for part, count in zip(parts, counts, strict=True):
            piece = CocoPiece(
                name=f"{file.path}: records {part.record} to {part.record + count - 1}",
                rows=count,
                batch_rows=cut.batch_rows,
                names=known,
                file=file,
                part=part,
                on_invalid=reading.on_invalid,
            )
            pieces.append(piece)
    return pieces


Opener = Callable[["Sequence[FilePlace]", "Reading", "KnownNames", "Cut"], "Sequence[FilePiece]"]
"""What cuts files into pieces."""


def pieces_of_text(
    opener: Opener, files: Sequence[FilePlace], reading: Reading, known: KnownNames, cut: Cut
) -> list[FilePiece]:
    """The pieces of files of text, in their order: what ``opener`` makes, and each packed file as a whole."""
    plain = [file for file in files if file.address is None and not _is_packed(file)]
    pieces = [*opener(plain, reading, known, cut)] if plain else []
    for file in {*files} - {*plain}:
        rows = file.size // (_PACKED_ROW_BYTES if _is_packed(file) else _LEAST_RECORD_BYTES)
        pieces.append(
            UnpackedPiece(
                name=file.path,
                rows=None,
                guessed_rows=rows,
                batch_rows=cut.batch_rows,
                names=known,
                file=file,
                opener=opener,
                reading=reading,
                cut=cut,
            )
        )
    order = {file.path: at for at, file in enumerate(files)}
    return sorted(pieces, key=lambda piece: order[piece.file.path])


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class UnpackedPiece(FilePiece):
    """A whole file that is packed or in a store. While it is read, its text is in the folder of temporary files."""

    opener: Opener
    """What cuts the unpacked file."""
    reading: Reading
    cut: Cut

    def read(self) -> Iterator[Detections]:
        """The detections, see :meth:`Piece.read`."""
        assert self.names is not None
        with tempfile.TemporaryDirectory(prefix="ioukit-") as folder:
            name = os.path.basename(self.file.path)
            path = os.path.join(folder, name[:-3] if _is_packed(self.file) else name)
            self._unpack(path)
            text = dataclasses.replace(self.file, path=path, size=os.path.getsize(path), address=None)
            try:
                for piece in self.opener([text], self.reading, self.names, self.cut):
                    for batch in piece.read():
                        # The regions of COCO's files are read when they are asked for, and then this file is gone.
                        notes = tuple(note.replace(path, self.file.path) for note in batch.notes)
                        yield dataclasses.replace(batch, source=self.file.path, notes=notes, regions={})
            except DatasetError as error:
                raise DatasetError(str(error).replace(path, self.file.path)) from None

    def _unpack(self, path: str) -> None:
        try:
            with self.file.open() as packed, open(path, "wb") as out:
                text: Any = gzip.GzipFile(fileobj=packed) if _is_packed(self.file) else packed
                shutil.copyfileobj(text, out, 1 << 20)
        except EOFError:
            raise DatasetError(f"{self.file.path}: the gzip file ends too early (is it truncated?)") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise DatasetError(f"{self.file.path}: the gzip file is damaged: {error}") from None


def _is_packed(file: FilePlace) -> bool:
    return file.path.lower().endswith(".gz")
