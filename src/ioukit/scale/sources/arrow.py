"""Arrow files as a source: Feather, or a stream of record batches. A file is a piece."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ioukit._optional import import_extra
from ioukit.datasets.formats.table_sources import Table, arrow_columns
from ioukit.scale.sources.arrow_types import check_same_kinds, kinds_of, reading_arrow
from ioukit.scale.sources.source import Piece
from ioukit.scale.sources.tables import (
    RowsFrom,
    columns_to_read,
    detections_of_tables,
    folder_columns,
    settled,
    with_folder_columns,
)

if TYPE_CHECKING:
    from ioukit.datasets import Detections
    from ioukit.datasets.formats.known_names import KnownNames
    from ioukit.datasets.formats.table_rows import Reading
    from ioukit.scale.sources.places import FilePlace
    from ioukit.scale.sources.source import Cut

__all__ = ["ArrowPiece", "pieces_of_arrow"]


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class ArrowPiece(Piece):
    """An Arrow file, read record batch by record batch."""

    file: FilePlace
    columns: tuple[str, ...]
    folders: Mapping[str, bool]
    reading: Reading

    def _batches(self, names: KnownNames) -> Iterator[Detections]:
        return detections_of_tables(self.tables(), self.reading, names)

    def tables(self, columns: Sequence[str] | None = None) -> Iterator[Table]:
        """The rows in batches; all columns that detections need if ``columns`` is ``None``."""
        path, row = self.file.path, 0
        wanted = [name for name in self.columns if columns is None or name in columns]
        folders = {name: whole for name, whole in self.folders.items() if columns is None or name in columns}
        with reading_arrow(path, "an Arrow file"), _opened(self.file) as (_, batches):
            for batch in batches:
                batch.validate(full=True)
                chosen = batch.select(wanted)
                for start in range(0, batch.num_rows, self.batch_rows):
                    rows = chosen.slice(start, self.batch_rows)
                    given = with_folder_columns(arrow_columns(rows), self.file, folders, rows.num_rows)
                    yield Table(path, given, RowsFrom(path, row))
                    row += rows.num_rows


def pieces_of_arrow(files: Sequence[FilePlace], reading: Reading, known: KnownNames, cut: Cut) -> list[Piece]:
    """A piece for each Arrow file; all files have the same columns.

    Raises:
        DatasetError: If a file is no Arrow file, or has other columns than the first.
    """
    pieces: list[ArrowPiece] = []
    first: dict[str, str] = {}
    wanted: list[str] = []
    folders: Mapping[str, bool] = {}
    for file in files:
        with reading_arrow(file.path, "an Arrow file"), _opened(file) as (schema, batches):
            batch = next(batches, None)
            each = 60 if batch is None or not batch.num_rows else max(1, batch.nbytes // batch.num_rows)
        kinds = kinds_of(schema)
        if not first:
            folders = folder_columns(files, schema.names)
            wanted = columns_to_read([*schema.names, *folders], file.path, reading, known)
            first = kinds
        columns = tuple(name for name in wanted if name not in folders)
        check_same_kinds(file.path, files[0].path, {name: kinds.get(name) for name in columns}, first)
        kept = {name: whole for name, whole in folders.items() if name in wanted}
        piece = ArrowPiece(
            name=file.path,
            bytes=file.size,
            rows=None,
            batch_rows=cut.batch_rows,
            row_bytes=each,
            file=file,
            columns=columns,
            folders=kept,
            reading=reading,
        )
        pieces.append(piece)
    whole = {**{name: kind == "integers" for name, kind in first.items()}, **folders}

    def tables_of(name: str) -> Iterator[Table]:
        return (table for piece in pieces for table in piece.tables([name]))

    done = settled(reading, wanted, whole.__getitem__, known, files[0].path, tables_of)
    return [dataclasses.replace(piece, reading=done) for piece in pieces]


@contextlib.contextmanager
def _opened(file: FilePlace) -> Iterator[tuple[Any, Iterator[Any]]]:
    """The schema and the record batches of a file."""
    arrow = import_extra("pyarrow", extra="tables", needed_by="reading Arrow files")
    with file.open() as source:
        start = source.read(6)
        source.seek(0)
        if start == b"ARROW1":
            listed = arrow.ipc.open_file(source)
            yield listed.schema, (listed.get_batch(number) for number in range(listed.num_record_batches))
        else:
            stream = arrow.ipc.open_stream(source)
            yield stream.schema, iter(stream)
