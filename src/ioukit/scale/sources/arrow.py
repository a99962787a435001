"""Parquet and Arrow files as sources: tables whose types PyArrow knows before a row is read.

A few row groups of a Parquet file are a piece, with the least and the greatest image id that its statistics state; an
Arrow file (Feather, or a stream of record batches) is one piece.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ioukit._optional import import_extra
from ioukit.datasets.formats.table_columns import choose_columns
from ioukit.datasets.formats.table_sources import Table, arrow_columns, reading_arrow, record_batches
from ioukit.errors import DatasetError
from ioukit.scale.sources.tables import TablePiece

if TYPE_CHECKING:
    from ioukit.datasets.formats.table_rows import Reading
    from ioukit.scale.sources.places import FilePlace
    from ioukit.scale.sources.source import Cut
    from ioukit.scale.sources.tables import Head

_KINDS = {
    "integers": re.compile(r"u?int\d+"),
    "numbers": re.compile(r"halffloat|float|double"),
    "text": re.compile(r"(large_)?string"),
    "lists": re.compile(r"(large_|fixed_size_)?list<.*"),
}


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class ParquetPiece(TablePiece):
    """Row groups of a Parquet file that follow one another."""

    groups: range
    first_row: int
    """The row of the file with which the piece begins."""

    def tables(self, columns: Iterable[str]) -> Iterator[Table]:
        """Some columns of the rows, in batches."""
        row, wanted = self.first_row, self.in_file(columns)
        with _opened_parquet(self.file) as parquet:  # once: a store answers two requests before the first row
            for group in self.groups:
                with reading_arrow(f"{self.file.path}: row group {group}", "a Parquet file"):
                    for batch in parquet.iter_batches(self.batch_rows, row_groups=[group], columns=wanted):
                        yield _table(self, columns, batch, row)
                        row += batch.num_rows


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class ArrowPiece(TablePiece):
    """An Arrow file, read record batch by record batch."""

    def tables(self, columns: Iterable[str]) -> Iterator[Table]:
        """Some columns of the rows, in batches."""
        row, wanted = 0, self.in_file(columns)
        with self.file.open() as opened, reading_arrow(self.file.path, "an Arrow file"):
            for batch in record_batches(opened)[1]:
                for start in range(0, batch.num_rows, self.batch_rows):
                    yield _table(self, columns, batch.select(wanted).slice(start, self.batch_rows), row + start)
                row += batch.num_rows


def _table(piece: TablePiece, columns: Iterable[str], batch: Any, first: int) -> Table:
    """A record batch with the columns of the folders, of which the first row is ``first`` in messages."""
    batch.validate(full=True)
    given = arrow_columns(batch) | piece.from_folders(columns, batch.num_rows)
    return Table(piece.file.path, given, lambda row: f"{piece.file.path}: row {first + row}")


def head_of_parquet(file: FilePlace, reading: Reading, cut: Cut) -> Head:
    """The columns of a Parquet file, and row groups that are pieces.

    Raises:
        DatasetError: If it is no such file.
    """
    with _opened_parquet(file) as parquet:
        kinds, about = _kinds(parquet.schema_arrow), parquet.metadata
    before = [0, *itertools.accumulate(about.row_group(group).num_rows for group in range(about.num_row_groups))]
    starts: list[int] = []
    for group, end in enumerate(before[1:]):
        if not starts or end - before[starts[-1]] > cut.piece_rows:
            starts.append(group)
    image_column = _image_column([*kinds, *dict(file.folders)], reading)
    pieces = [
        ParquetPiece(
            name=f"{file.path}: row group {start}" + (f" to {end - 1}" if end > start + 1 else ""),
            rows=before[end] - before[start],
            batch_rows=cut.batch_rows,
            image_ids=_image_ids(about, image_column, range(start, end)),
            file=file,
            groups=range(start, end),
            first_row=before[start],
        )
        for start, end in itertools.pairwise([*starts, len(before) - 1])
    ]
    return kinds, pieces


def _image_column(names: Sequence[str], reading: Reading) -> str | None:
    with contextlib.suppress(DatasetError):  # whoever compares the columns of the files says what is missing
        return choose_columns(names, "", columns=reading.columns, boxes=reading.boxes).roles.get("image_id")
    return None


def _image_ids(about: Any, column: str | None, groups: range) -> tuple[int, int] | None:
    """The least and the greatest image id of some row groups, by the statistics of the file."""
    at = next((at for at in range(about.num_columns) if about.schema.column(at).path == column), None)
    filled = [group for group in map(about.row_group, groups) if group.num_rows]
    found = [] if at is None else [group.column(at).statistics for group in filled]
    if not found or not all(one and one.has_min_max and isinstance(one.min, int) for one in found):
        return None
    return max(min(one.min for one in found), -(2**63)), min(max(one.max for one in found), 2**63 - 1)


def head_of_arrow(file: FilePlace, _: Reading, cut: Cut) -> Head:
    """The columns of an Arrow file, and the whole as a piece.

    Raises:
        DatasetError: If it is no such file.
    """
    with file.open() as opened, reading_arrow(file.path, "an Arrow file"):
        schema, batches = record_batches(opened)
        batch = next(batches, None)
        row_bytes = max(1, batch.nbytes // batch.num_rows) if batch is not None and batch.num_rows else 60
    guess = file.size // row_bytes
    return _kinds(schema), [
        ArrowPiece(name=file.path, rows=None, guessed_rows=guess, batch_rows=cut.batch_rows, file=file)
    ]


def _kinds(schema: Any) -> dict[str, str]:
    """What the columns of a schema have, as in :data:`Head`."""
    found = {}
    for field in schema:
        text = str(field.type.value_type if hasattr(field.type, "index_type") else field.type)  # of a dictionary
        found[field.name] = next((name for name, kind in _KINDS.items() if kind.fullmatch(text)), text)
    return found


@contextlib.contextmanager
def _opened_parquet(file: FilePlace) -> Iterator[Any]:
    parquet = import_extra("pyarrow.parquet", extra="tables", needed_by="reading Parquet files")
    with file.open() as source, reading_arrow(file.path, "a Parquet file"):
        # The columns of a row group in one request of a store, not in one each.
        yield parquet.ParquetFile(source, pre_buffer=file.address is not None)
