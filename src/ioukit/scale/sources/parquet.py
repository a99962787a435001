"""Parquet files as a source: a few row groups are a piece."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ioukit._optional import import_extra
from ioukit.datasets.formats.table_columns import choose_columns
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

__all__ = ["ParquetPiece", "pieces_of_parquet"]


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class ParquetPiece(Piece):
    """Row groups of a Parquet file that follow one another."""

    file: FilePlace
    groups: tuple[int, int]
    """The first row group, and the one behind the last."""
    first_row: int
    """The row of the file with which the piece begins."""
    columns: tuple[str, ...]
    folders: Mapping[str, bool]
    reading: Reading

    def _batches(self, names: KnownNames) -> Iterator[Detections]:
        return detections_of_tables(self.tables(), self.reading, names)

    def tables(self, columns: Sequence[str] | None = None) -> Iterator[Table]:
        """The rows in batches; all columns that detections need if ``columns`` is ``None``."""
        path, row = self.file.path, self.first_row
        wanted = self.columns if columns is None else tuple(name for name in columns if name in self.columns)
        folders = {name: whole for name, whole in self.folders.items() if columns is None or name in columns}
        for group in range(*self.groups):
            with reading_arrow(f"{path}: row group {group}", "a Parquet file"), _opened(self.file) as file:
                batches = file.iter_batches(batch_size=self.batch_rows, row_groups=[group], columns=list(wanted))
                while (batch := next(batches, None)) is not None:
                    batch.validate(full=True)
                    given = with_folder_columns(arrow_columns(batch), self.file, folders, batch.num_rows)
                    yield Table(path, given, RowsFrom(path, row))
                    row += batch.num_rows


def pieces_of_parquet(files: Sequence[FilePlace], reading: Reading, known: KnownNames, cut: Cut) -> list[Piece]:
    """The pieces of Parquet files of one schema, in the order of the files.

    Raises:
        DatasetError: If a file is no Parquet file, or has other columns than the first; or as for
            :func:`~ioukit.datasets.read_detections`.
    """
    pieces: list[ParquetPiece] = []
    first: dict[str, str] = {}
    wanted: list[str] = []
    folders: Mapping[str, bool] = {}
    image_column: str | None = None
    for file in files:
        with reading_arrow(file.path, "a Parquet file"), _opened(file) as parquet:
            about, schema = parquet.metadata, parquet.schema_arrow
        kinds = kinds_of(schema)
        if not first:
            folders = folder_columns(files, schema.names)
            names = [*schema.names, *folders]
            wanted = columns_to_read(names, file.path, reading, known)
            roles = choose_columns(names, file.path, columns=reading.columns, boxes=reading.boxes).roles
            image_column = roles.get("image_id")
            first = kinds
        columns = tuple(name for name in wanted if name not in folders)
        check_same_kinds(file.path, files[0].path, {name: kinds.get(name) for name in columns}, first)
        kept = {name: whole for name, whole in folders.items() if name in wanted}
        start, row = 0, 0
        rows = [about.row_group(group).num_rows for group in range(about.num_row_groups)]
        sizes = [about.row_group(group).total_byte_size for group in range(about.num_row_groups)]
        while start < len(rows):
            end, count = start + 1, rows[start]
            while end < len(rows) and count + rows[end] <= cut.piece_rows:
                count += rows[end]
                end += 1
            name = f"{file.path}: row group {start}" + (f" to {end - 1}" if end > start + 1 else "")
            share = file.size * sum(sizes[start:end]) // max(sum(sizes), 1)
            piece = ParquetPiece(
                name=name,
                bytes=share,
                rows=count,
                image_ids=_image_ids(about, image_column, range(start, end)),
                batch_rows=cut.batch_rows,
                file=file,
                groups=(start, end),
                first_row=row,
                columns=columns,
                folders=kept,
                reading=reading,
            )
            pieces.append(piece)
            start, row = end, row + count
    whole = {**{name: kind == "integers" for name, kind in first.items()}, **folders}

    def tables_of(name: str) -> Iterator[Table]:
        return (table for piece in pieces for table in piece.tables([name]))

    done = settled(reading, wanted, whole.__getitem__, known, files[0].path, tables_of)
    return [dataclasses.replace(piece, reading=done) for piece in pieces]


def _image_ids(about: Any, column: str | None, groups: range) -> tuple[int, int] | None:
    """The least and the greatest image id of some row groups, by the statistics of the file."""
    found: list[tuple[int, int]] = []
    for group in groups:
        one = about.row_group(group)
        at = next((at for at in range(one.num_columns) if one.column(at).path_in_schema == column), None)
        statistics = None if at is None else one.column(at).statistics
        if one.num_rows:
            if statistics is None or not statistics.has_min_max or not isinstance(statistics.min, int):
                return None
            found.append((max(statistics.min, -(2**63)), min(statistics.max, 2**63 - 1)))
    return (min(low for low, _ in found), max(high for _, high in found)) if found else None


@contextlib.contextmanager
def _opened(file: FilePlace) -> Iterator[Any]:
    parquet = import_extra("pyarrow.parquet", extra="tables", needed_by="reading Parquet files")
    with file.open() as source:
        yield parquet.ParquetFile(source)
