"""Tables as sources: Parquet, Arrow and CSV files, with one set of columns for all files and one way to read them.

Owns: how a kind of file is opened and cut, which columns are read, those that the names of folders give included, and
what the whole data decides. Does not own: where files are (places.py), and what a column means (datasets/formats).
A few row groups of a Parquet file are a piece, with the least and the greatest image id that its statistics state. An
Arrow file (Feather, or a stream of record batches) is one piece. Each CSV file is walked once when it is opened, to
find where pieces begin, so lines keep their numbers in messages.
Tried: `pyarrow.dataset`. Its scanner decodes whole row groups, with three times the memory of reading in batches. And
it fills a column that a file lacks with nulls.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import _core
from ioukit._optional import import_extra
from ioukit.datasets.formats.compact_columns import CodedColumn
from ioukit.datasets.formats.csv_tables import csv_rows, delimiter_of, first_row
from ioukit.datasets.formats.table_columns import IMAGE_ROLES, choose_columns
from ioukit.datasets.formats.table_detections import detections_of_rows, detections_of_text
from ioukit.datasets.formats.table_rows import Reading
from ioukit.datasets.formats.table_sources import Table, arrow_columns, reading_arrow, record_batches
from ioukit.datasets.formats.text_files import refuse
from ioukit.errors import DatasetError
from ioukit.scale.sources.source import FilePiece, batches_of

if TYPE_CHECKING:
    from ioukit.datasets import Detections
    from ioukit.datasets.formats.known_names import KnownNames
    from ioukit.scale.sources.places import FilePlace


_HEADS_AT_A_TIME = 16
"""Files whose heads are read at a time."""
_CSV_PART_BYTES = 16 << 20
_LEAST_CSV_ROW_BYTES = 30
_NUMBER = re.compile(r"-?\d+")
_FOLDER_NUMBER = re.compile(r"-?\d{1,18}")
_KINDS = {
    "integers": re.compile(r"u?int\d+"),
    "numbers": re.compile(r"halffloat|float|double"),
    "text": re.compile(r"(large_)?string"),
    "lists": re.compile(r"(large_|fixed_size_)?list<.*"),
}
"""What a column has, by the name of its type."""


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class TablePiece(FilePiece):
    """Rows of a table that follow one another."""

    columns: tuple[str, ...] = ()
    """The columns of the file that detections are made of; those of ``file.folders`` come on top."""
    reading: Reading = dataclasses.field(default_factory=Reading)

    def read(self) -> Iterator[Detections]:
        """The detections, see :meth:`Piece.read`."""
        for table in self.tables(self.columns):
            yield from batches_of(detections_of_rows(table, self.reading, self.names), self.batch_rows)

    def tables(self, columns: Sequence[str]) -> Iterator[Table]:
        """Some columns of the file and those of its folders, in batches."""
        raise NotImplementedError

    def of_folders(self, count: int) -> dict[str, Any]:
        """The columns of the folders, for so many rows."""
        return {
            name: CodedColumn([text] if count else [], np.zeros(count, np.int64))
            for name, text in self.file.folders.items()
        }

    def of_batch(self, batch: Any, first: int) -> Table:
        """A record batch of PyArrow, whose first row is called ``first`` in messages."""
        batch.validate(full=True)
        columns = arrow_columns(batch) | self.of_folders(batch.num_rows)
        return Table(self.file.path, columns, lambda row: f"{self.file.path}: row {first + row}")


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class ParquetPiece(TablePiece):
    """Row groups of a Parquet file that follow one another."""

    groups: range
    first_row: int
    """The row of the file with which the piece begins."""

    def tables(self, columns: Sequence[str]) -> Iterator[Table]:
        """Some columns of the file and those of its folders, in batches."""
        row = self.first_row
        with _opened_parquet(self.file) as parquet:  # once: a store answers two requests before the first row
            for group in self.groups:
                with reading_arrow(f"{self.file.path}: row group {group}", "a Parquet file"):
                    for batch in parquet.iter_batches(self.batch_rows, row_groups=[group], columns=columns):
                        yield self.of_batch(batch, row)
                        row += batch.num_rows


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class ArrowPiece(TablePiece):
    """An Arrow file, read record batch by record batch."""

    def tables(self, columns: Sequence[str]) -> Iterator[Table]:
        """Some columns of the file and those of its folders, in batches."""
        row = 0
        with self.file.open() as opened, reading_arrow(self.file.path, "an Arrow file"):
            for batch in record_batches(opened)[1]:
                for start in range(0, batch.num_rows, self.batch_rows):
                    yield self.of_batch(batch.select(columns).slice(start, self.batch_rows), row + start)
                row += batch.num_rows


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
        names = [*self.columns, *self.file.folders]
        table_of = functools.partial(self._table, self._text(), self.columns)
        return batches_of(detections_of_text(table_of, names, self.reading, self.names), self.batch_rows)

    def tables(self, columns: Sequence[str]) -> Iterator[Table]:
        """Some columns of the file and those of its folders."""
        yield self._table(self._text(), columns)

    def _text(self) -> bytes:
        with self.file.open() as file:
            file.seek(self.start)
            text: bytes = file.read(self.end - self.start)
        if len(text) < self.end - self.start:
            refuse(self.file.path, f"{self.end:,} bytes", f"{self.start + len(text):,}: it was cut")
        return text

    def _table(self, text: bytes, columns: Sequence[str], numbers: Collection[str] = ()) -> Table:
        path, with_names = self.file.path, self.start == 0
        found, lines = csv_rows(path, text, self.lines, self.listed, header=with_names, wanted=columns, numbers=numbers)
        found |= self.of_folders(len(lines))
        return Table(path, found, lambda row: f"{path}: line {lines[row]}", all_text=True)


Head = tuple[Mapping[str, str], Sequence[TablePiece]]
"""What the columns of a file have (``integers``, ``numbers``, ``text``, ``lists`` or another type), and its pieces."""


def head_of_parquet(file: FilePlace, reading: Reading, piece_rows: int) -> Head:
    """The columns of a Parquet file, and row groups that are pieces.

    Raises:
        DatasetError: If it is no such file.
    """
    with _opened_parquet(file) as parquet:
        kinds, about = _kinds(parquet.schema_arrow), parquet.metadata
    before = [0, *itertools.accumulate(about.row_group(group).num_rows for group in range(about.num_row_groups))]
    starts: list[int] = []
    for group, end in enumerate(before[1:]):
        if not starts or end - before[starts[-1]] > piece_rows:
            starts.append(group)
    image_column = _image_column([*kinds, *file.folders], reading)
    pieces = [
        ParquetPiece(
            name=f"{file.path}: row group {start}" + (f" to {end - 1}" if end > start + 1 else ""),
            rows=before[end] - before[start],
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


def head_of_arrow(file: FilePlace, *_: Any) -> Head:
    """The columns of an Arrow file, and the whole as a piece.

    Raises:
        DatasetError: If it is no such file.
    """
    with file.open() as opened, reading_arrow(file.path, "an Arrow file"):
        schema, batches = record_batches(opened)
        batch = next(batches, None)
        row_bytes = max(1, batch.nbytes // batch.num_rows) if batch is not None and batch.num_rows else 60
    guess = file.size // row_bytes
    return _kinds(schema), [ArrowPiece(name=file.path, rows=None, guessed_rows=guess, file=file)]


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
    # Arrow keeps what it has freed, in huge pages where the system has them.
    import_extra("pyarrow", extra="tables", needed_by="reading Parquet files").default_memory_pool().release_unused()


def head_of_csv(file: FilePlace, _: Reading, piece_rows: int) -> Head:
    """The columns of a CSV file, and parts that are pieces. The file is read once to find them.

    Raises:
        DatasetError: If two columns have the same name, or it is no CSV.
        OSError: If it cannot be read.
    """
    names = first_row(file.path, delimiter_of(file.path))
    if not names:
        refuse(file.path, "a first line with the names of columns", "none that can be read")
    if len(set(names)) < len(names):
        refuse(f"{file.path}: line 1", "columns of different names", ", ".join(names))
    size = max(1, min(_CSV_PART_BYTES, piece_rows * _LEAST_CSV_ROW_BYTES))
    parts, rows = _core.find_csv_parts(file.path, ord(delimiter_of(file.path)), size)
    pieces = [
        CsvPiece(
            name=f"{file.path}: from line {lines + 1}",
            rows=rows - 1 if len(parts) == 1 else None,
            guessed_rows=(end - start) * rows // file.size,
            file=file,
            start=start,
            end=end,
            lines=lines,
            listed=tuple(names),
        )
        for (start, lines), (end, _) in itertools.pairwise([*parts.tolist(), [file.size, 0]])
    ]
    return dict.fromkeys(names, "text"), pieces


def pieces_of_tables(
    head_of: Callable[[FilePlace, Reading, int], Head],
    files: Sequence[FilePlace],
    reading: Reading,
    known: KnownNames,
    piece_rows: int,
) -> list[TablePiece]:
    """The pieces of files of one kind, in the order of the files, read with the columns of the first one.

    Args:
        head_of: Reads the head of a file, and cuts it.
        files: The files, at least one.
        reading: What the caller says.
        known: The images and classes.
        piece_rows: About how many rows a piece has.

    Raises:
        DatasetError: If columns are missing or not clear, a file has other columns than the first one, or is damaged.
    """
    first = files[0].path
    heads = {first: head_of(files[0], reading, piece_rows)}
    own, _ = heads[first]
    folders = {name: kind for name, kind in _kinds_of_folders(files).items() if name not in own}
    kinds = {**own, **folders}
    wanted = _columns_to_read([*kinds], first, reading, known)
    columns = tuple(name for name in wanted if name not in folders)

    def pieces_of(file: FilePlace) -> list[TablePiece]:
        head = heads.pop(file.path, None) or head_of(file, reading, piece_rows)
        found, pieces = head
        for name in columns:
            if name not in found:
                refuse(file.path, f"a column {name}, as {first} has it", f"the columns {', '.join(found)}")
            if found[name] != kinds[name]:
                refuse(file.path, f"a column {name} of {kinds[name]}, as {first} has it", f"one of {found[name]}")
        used = {name: text for name, text in file.folders.items() if name in folders and name in wanted}
        file = dataclasses.replace(file, folders=used)
        return [dataclasses.replace(piece, file=file, columns=columns) for piece in pieces]

    with ThreadPoolExecutor(_HEADS_AT_A_TIME) as pool:  # each takes three answers of a store, one after the other
        pieces = [piece for of_file in pool.map(pieces_of, files) for piece in of_file]

    def tables_of(name: str) -> Iterator[Table]:
        for piece in pieces:
            yield from [Table(first, piece.of_folders(1), str)] if name in folders else piece.tables([name])

    done = _settled(reading, kinds, known, first, tables_of)
    return [dataclasses.replace(piece, reading=done) for piece in pieces]


def _kinds_of_folders(files: Sequence[FilePlace]) -> dict[str, str]:
    """The columns that the names of all folders give, as in :data:`Head`.

    Raises:
        DatasetError: If some files lie in such a folder and others do not.
    """
    names, kinds = [*files[0].folders], {}
    for file in files:
        if [*file.folders] != names:
            expected = "/".join(f"{name}=..." for name in names) or "no folders with names such as camera=3"
            raise DatasetError(f"{file.path}: expected folders as those of {files[0].path}: {expected}")
    for name in names:
        texts = {file.folders[name] for file in files} - {""}
        kinds[name] = "integers" if texts and all(map(_FOLDER_NUMBER.fullmatch, texts)) else "text"
    return kinds


def _columns_to_read(names: Sequence[str], source: str, reading: Reading, known: KnownNames) -> tuple[str, ...]:
    """The columns of a table that detections are made of."""
    chosen = choose_columns(names, source, columns=reading.columns, boxes=reading.boxes)
    empty: dict[str, Sequence[Any]] = {name: CodedColumn((), np.zeros(0, np.int64)) for name in names}
    detections_of_rows(Table(source, empty, str), reading, known)  # refuses one whose scores have another name
    roles = dict(chosen.roles)
    given = reading.columns or {}
    key = next((role for role in IMAGE_ROLES if role in roles), "frame")
    unused = {"id", "track", *IMAGE_ROLES} - {key}
    images = known.ground_truth.images
    if images.keys is not None or images.made_up_ids:
        unused -= {"image", "file_name"}  # names tell more than ids of another ground truth
    wanted = {*chosen.box, *(name for role, name in roles.items() if role not in unused or role in given)}
    return tuple(name for name in names if name in wanted)


def _settled(
    reading: Reading,
    kinds: Mapping[str, str],
    known: KnownNames,
    source: str,
    tables_of: Callable[[str], Iterator[Table]],
) -> Reading:
    """The reading with all that the whole data decides, so that every batch is read in the same way.

    Args:
        reading: What the caller says.
        kinds: The columns, as in :data:`Head`.
        known: The images and classes.
        source: The name of the data in messages.
        tables_of: Reads one column of all pieces, in batches. It is called if types do not decide.
    """
    roles = choose_columns([*kinds], source, columns=reading.columns, boxes=reading.boxes).roles
    ids = classes = None
    if name := roles.get("image_id"):
        needs_all = known.numbers_are_names and kinds[name] != "integers"
        ids = _are_numbers(tables_of(name), name) if needs_all else kinds[name] == "integers" or None
    if "category_id" not in roles:
        name, listed = roles["category"], known.classes.keys()
        clear = kinds[name] == "integers" and not any(map(_NUMBER.fullmatch, listed))
        classes = clear or _are_numbers(tables_of(name), name, but=listed)
    return reading._replace(ids_are_numbers=ids, classes_are_numbers=classes, attributes=False)


def _are_numbers(tables: Iterable[Table], name: str, but: Iterable[str] = ()) -> bool:
    """Whether all values of a column are whole numbers, and none is one of the texts ``but``."""
    found, refused = False, set(but)
    for table in tables:
        missing = table.is_missing(name)
        if missing.all():
            continue
        if not table.is_whole(name) or (refused and refused & set(table.coded_texts(name).values)):
            return False
        found = True
    return found
