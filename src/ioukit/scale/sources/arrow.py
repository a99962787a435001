"""Parquet and Arrow files as sources: tables whose types PyArrow knows before a row is read.

Owns: which columns of the files and of the names of their folders are read, the pieces, and PyArrow's errors in our
words. Does not own: where files are (places.py), what a column means and what all pieces settle (tables.py).
Both kinds stand in one file because they differ only in how a file is opened and cut: a few row groups of a Parquet
file are a piece, with the least and the greatest image id that its statistics state; an Arrow file is one piece.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ioukit._optional import import_extra
from ioukit.datasets.formats.compact_columns import CodedColumn
from ioukit.datasets.formats.table_columns import choose_columns
from ioukit.datasets.formats.table_detections import detections_of_rows
from ioukit.datasets.formats.table_sources import Table, arrow_columns
from ioukit.errors import DatasetError
from ioukit.scale.sources.source import Piece, batches_of
from ioukit.scale.sources.tables import columns_to_read, settled

if TYPE_CHECKING:
    from ioukit.datasets import Detections
    from ioukit.datasets.formats.known_names import KnownNames
    from ioukit.datasets.formats.table_rows import Reading
    from ioukit.scale.sources.places import FilePlace
    from ioukit.scale.sources.source import Cut


_HEADS_AT_A_TIME = 16
"""Files whose heads are read at a time."""


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class _TypedPiece(Piece):
    """A part of a file that PyArrow reads in record batches."""

    expected: ClassVar[str]
    """What the file must be, for messages."""
    file: FilePlace
    first_row: int = 0
    """The row of the file with which the piece begins."""
    columns: tuple[str, ...]
    """The columns of the file that detections are made of."""
    folders: Mapping[str, bool]
    """The columns that the folders give, and whether they are whole numbers."""
    reading: Reading

    def _batches(self, names: KnownNames) -> Iterator[Detections]:
        for table in self.tables():
            yield from batches_of(detections_of_rows(table, self.reading, names), self.batch_rows)

    def tables(self, columns: Sequence[str] | None = None) -> Iterator[Table]:
        """The rows in batches; all columns that detections need if ``columns`` is ``None``."""
        path, row = self.file.path, self.first_row
        wanted = [name for name in self.columns if columns is None or name in columns]
        folders = {name: whole for name, whole in self.folders.items() if columns is None or name in columns}
        for place, batches in self._sections(wanted):
            with _reading(place, self.expected):
                for batch in batches:
                    given = _with_folder_columns(arrow_columns(batch), self.file, folders, batch.num_rows)
                    yield Table(path, given, functools.partial(_name_row, path, row))
                    row += batch.num_rows

    def _sections(self, wanted: Sequence[str]) -> Iterator[tuple[str, Iterator[Any]]]:
        """Some columns in record batches that are checked, behind their place in messages."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class ParquetPiece(_TypedPiece):
    """Row groups of a Parquet file that follow one another."""

    expected = "a Parquet file"
    groups: tuple[int, int]
    """The first row group, and the one behind the last."""

    def _sections(self, wanted: Sequence[str]) -> Iterator[tuple[str, Iterator[Any]]]:
        # Opened once: a store answers two requests before the first row.
        with _reading(self.file.path, self.expected), _opened_parquet(self.file) as file:
            for group in range(*self.groups):
                yield f"{self.file.path}: row group {group}", self._rows(file, group, wanted)

    def _rows(self, file: Any, group: int, wanted: Sequence[str]) -> Iterator[Any]:
        for batch in file.iter_batches(batch_size=self.batch_rows, row_groups=[group], columns=list(wanted)):
            batch.validate(full=True)
            yield batch


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class ArrowPiece(_TypedPiece):
    """An Arrow file (Feather, or a stream of record batches), read record batch by record batch."""

    expected = "an Arrow file"

    def _sections(self, wanted: Sequence[str]) -> Iterator[tuple[str, Iterator[Any]]]:
        yield self.file.path, self._rows(wanted)

    def _rows(self, wanted: Sequence[str]) -> Iterator[Any]:
        with _opened_arrow(self.file) as (_, batches):
            for batch in batches:
                batch.validate(full=True)
                chosen = batch.select(wanted)
                for start in range(0, batch.num_rows, self.batch_rows):
                    yield chosen.slice(start, self.batch_rows)


def pieces_of_parquet(files: Sequence[FilePlace], reading: Reading, known: KnownNames, cut: Cut) -> list[Piece]:
    """The pieces of Parquet files of one schema, in the order of the files.

    Raises:
        DatasetError: If a file is no Parquet file, or has other columns than the first; or as for
            :func:`~ioukit.datasets.read_detections`.
    """

    def head(file: FilePlace) -> tuple[Any, Any]:
        with _opened_parquet(file) as parquet:
            return parquet.schema_arrow, parquet.metadata

    def cut_file(file: FilePlace, about: Any, image_column: str | None, shared: dict[str, Any]) -> Iterator[Piece]:
        start, row = 0, 0
        rows = [about.row_group(group).num_rows for group in range(about.num_row_groups)]
        sizes = [about.row_group(group).total_byte_size for group in range(about.num_row_groups)]
        while start < len(rows):
            end, count = start + 1, rows[start]
            while end < len(rows) and count + rows[end] <= cut.piece_rows:
                count += rows[end]
                end += 1
            yield ParquetPiece(
                name=f"{file.path}: row group {start}" + (f" to {end - 1}" if end > start + 1 else ""),
                bytes=file.size * sum(sizes[start:end]) // max(sum(sizes), 1),
                rows=count,
                image_ids=_image_ids(about, image_column, range(start, end)),
                file=file,
                groups=(start, end),
                first_row=row,
                **shared,
            )
            start, row = end, row + count

    return _pieces(files, reading, known, cut, ParquetPiece.expected, head, cut_file)


def pieces_of_arrow(files: Sequence[FilePlace], reading: Reading, known: KnownNames, cut: Cut) -> list[Piece]:
    """A piece for each Arrow file; all files have the same columns.

    Raises:
        DatasetError: If a file is no Arrow file, or has other columns than the first.
    """

    def head(file: FilePlace) -> tuple[Any, int]:
        with _opened_arrow(file) as (schema, batches):
            batch = next(batches, None)
            return schema, 60 if batch is None or not batch.num_rows else max(1, batch.nbytes // batch.num_rows)

    def cut_file(file: FilePlace, row_bytes: int, _: str | None, shared: dict[str, Any]) -> Iterator[Piece]:
        yield ArrowPiece(name=file.path, bytes=file.size, rows=None, row_bytes=row_bytes, file=file, **shared)

    return _pieces(files, reading, known, cut, ArrowPiece.expected, head, cut_file)


def _pieces(
    files: Sequence[FilePlace],
    reading: Reading,
    known: KnownNames,
    cut: Cut,
    expected: str,
    head: Callable[[FilePlace], tuple[Any, Any]],
    cut_file: Callable[[FilePlace, Any, str | None, dict[str, Any]], Iterator[Piece]],
) -> list[Piece]:
    """The pieces of files of one kind, read with the columns of the first file.

    Args:
        files: The files, at least one.
        reading: What the caller says.
        known: The images and classes.
        cut: How the source is cut.
        expected: What the files must be, for messages.
        head: The schema of a file, and what ``cut_file`` needs to know of it.
        cut_file: Cuts a file; it also takes the name of the column of image ids, and what all pieces share.
    """
    with _reading(files[0].path, expected):
        heads: dict[FilePlace, Any] = {files[0]: head(files[0])}
        schema, _ = heads[files[0]]
    first = {field.name: _kind(field.type) for field in schema}
    folders = {name: whole for name, whole in _folder_columns(files).items() if name not in first}
    names = [*first, *folders]
    wanted = columns_to_read(names, files[0].path, reading, known)
    roles = choose_columns(names, files[0].path, columns=reading.columns, boxes=reading.boxes).roles
    shared: dict[str, Any] = {
        "batch_rows": cut.batch_rows,
        "columns": tuple(name for name in wanted if name not in folders),
        "folders": {name: whole for name, whole in folders.items() if name in wanted},
        "reading": reading,
    }

    def pieces_of(file: FilePlace) -> list[Any]:
        with _reading(file.path, expected):
            found, about = heads.pop(file, None) or head(file)
        kinds = {field.name: _kind(field.type) for field in found}
        _check_same_kinds(file.path, files[0].path, {name: kinds.get(name) for name in shared["columns"]}, first)
        return list(cut_file(file, about, roles.get("image_id"), shared))

    with ThreadPoolExecutor(_HEADS_AT_A_TIME) as pool:  # each takes three answers of a store, one after the other
        pieces = [piece for of_file in pool.map(pieces_of, files) for piece in of_file]
    whole = {**{name: kind == "integers" for name, kind in first.items()}, **folders}

    def tables_of(name: str) -> Iterator[Table]:
        return (table for piece in pieces for table in piece.tables([name]))

    done = settled(reading, wanted, whole.__getitem__, known, files[0].path, tables_of)
    return [dataclasses.replace(piece, reading=done) for piece in pieces]


def _kind(kind: Any) -> str:
    """The kind of a column: ``integers``, ``numbers``, ``text``, ``lists``, or the name of the type."""
    types = import_extra("pyarrow.types", extra="tables", needed_by="reading Parquet and Arrow files")
    if types.is_dictionary(kind):
        return _kind(kind.value_type)
    tests = {
        "integers": types.is_integer,
        "numbers": types.is_floating,
        "text": lambda one: types.is_string(one) or types.is_large_string(one),
        "lists": lambda one: types.is_list(one) or types.is_large_list(one) or types.is_fixed_size_list(one),
    }
    return next((name for name, test in tests.items() if test(kind)), str(kind))


def _check_same_kinds(path: str, first: str, kinds: Mapping[str, str | None], expected: Mapping[str, str]) -> None:
    """Refuse a file that lacks a column of the first file, or has another kind of values in it."""
    for name, kind in kinds.items():
        if kind != expected[name]:
            found = "no such column" if kind is None else f"one of {kind}"
            raise DatasetError(
                f"{path}: expected a column {name} of {expected[name]}, as {first} has it, found {found}"
            )


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


def _folder_columns(files: Sequence[FilePlace]) -> dict[str, bool]:
    """The columns that the names of all folders give, and whether all their values are whole numbers.

    Raises:
        DatasetError: If some files lie in such a folder and others do not.
    """
    names = [name for name, _ in files[0].partition]
    for file in files:
        if [name for name, _ in file.partition] != names:
            expected = "/".join(f"{name}=..." for name in names) or "no folders with names such as camera=3"
            raise DatasetError(f"{file.path}: expected folders as those of {files[0].path}: {expected}")
    whole = re.compile(r"-?\d{1,18}")
    values = {name: {dict(file.partition)[name] for file in files} - {None} for name in names}
    return {name: bool(of) and all(whole.fullmatch(value or "") for value in of) for name, of in values.items()}


def _with_folder_columns(
    columns: dict[str, Any], file: FilePlace, wanted: Mapping[str, bool], length: int
) -> dict[str, Any]:
    """The columns of a batch with those of the folders of its file."""
    for name, value in file.partition:
        if name in wanted:
            if wanted[name] and value is not None:
                columns[name] = np.full(length, int(value), np.int64)
            else:
                columns[name] = CodedColumn([value] if length else [], np.zeros(length, np.int64))
    return columns


def _name_row(path: str, first: int, row: int) -> str:
    """The place of a row of a batch that begins with the row ``first`` of a file, for messages."""
    return f"{path}: row {first + row}"


@contextlib.contextmanager
def _reading(place: str, expected: str) -> Iterator[None]:
    """Word the errors of PyArrow: what was expected at a place."""
    arrow = import_extra("pyarrow", extra="tables", needed_by="reading Parquet and Arrow files")
    try:
        yield
    except DatasetError:
        raise
    except (arrow.ArrowException, OSError, ValueError, NotImplementedError) as error:
        text = (str(error).splitlines() or ["nothing"])[0][:200]
        raise DatasetError(f"{place}: expected {expected}, found something else: {text}") from None


@contextlib.contextmanager
def _opened_parquet(file: FilePlace) -> Iterator[Any]:
    parquet = import_extra("pyarrow.parquet", extra="tables", needed_by="reading Parquet files")
    with file.open() as source:
        # The columns of a row group in one request of a store, not in one each.
        yield parquet.ParquetFile(source, pre_buffer=not file.is_local)


@contextlib.contextmanager
def _opened_arrow(file: FilePlace) -> Iterator[tuple[Any, Iterator[Any]]]:
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
