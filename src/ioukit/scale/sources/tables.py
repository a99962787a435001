"""What all kinds of tables share as sources: one set of columns for all files, and one way to read all pieces.

Owns: which columns are read, those that the names of folders give included, and what the whole data decides. Does not
own: how a kind of file is opened and cut (arrow.py, text.py), and what a column means (datasets/formats).
Not `pyarrow.dataset`: its scanner decodes whole row groups, three to four times the memory of reading in batches, and
fills a column that a file lacks with nulls.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.datasets.formats.compact_columns import CodedColumn
from ioukit.datasets.formats.table_columns import IMAGE_ROLES, choose_columns
from ioukit.datasets.formats.table_detections import detections_of_rows
from ioukit.datasets.formats.table_rows import Reading
from ioukit.datasets.formats.table_sources import Table
from ioukit.datasets.formats.text_files import refuse
from ioukit.errors import DatasetError
from ioukit.scale.sources.source import FilePiece, batches_of

if TYPE_CHECKING:
    from ioukit.datasets import Detections
    from ioukit.datasets.formats.known_names import KnownNames
    from ioukit.scale.sources.places import FilePlace
    from ioukit.scale.sources.source import Cut


_HEADS_AT_A_TIME = 16
"""Files whose heads are read at a time."""
_NUMBER = re.compile(r"-?\d+")
_FOLDER_NUMBER = re.compile(r"-?\d{1,18}")


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class TablePiece(FilePiece):
    """Rows of a table that follow one another."""

    columns: tuple[str, ...] = ()
    """The columns that detections are made of. Those that are in ``file.folders`` are not in the file."""
    reading: Reading = dataclasses.field(default_factory=Reading)

    def read(self) -> Iterator[Detections]:
        """The detections, see :meth:`Piece.read`."""
        for table in self.tables(self.columns):
            yield from batches_of(detections_of_rows(table, self.reading, self.names), self.batch_rows)

    def tables(self, columns: Iterable[str]) -> Iterator[Table]:
        """Some columns of the rows, in batches."""
        raise NotImplementedError

    def in_file(self, columns: Iterable[str]) -> list[str]:
        """Those of some columns that the file has itself."""
        return [name for name in columns if name not in dict(self.file.folders)]

    def from_folders(self, columns: Iterable[str], count: int) -> dict[str, Any]:
        """Those of some columns that the folders give, for so many rows."""
        codes, given = np.zeros(count, np.int64), dict(self.file.folders)
        return {name: CodedColumn([given[name]] if count else [], codes) for name in columns if name in given}


Head = tuple[Mapping[str, str], Sequence[TablePiece]]
"""What the columns of a file have (``integers``, ``numbers``, ``text``, ``lists`` or another type), and its pieces."""


def pieces_of_tables(
    head_of: Callable[[FilePlace, Reading, Cut], Head],
    files: Sequence[FilePlace],
    reading: Reading,
    known: KnownNames,
    cut: Cut,
) -> list[TablePiece]:
    """The pieces of files of one kind, in the order of the files, read with the columns of the first one.

    Args:
        head_of: Reads the head of a file, and cuts it.
        files: The files, at least one.
        reading: What the caller says.
        known: The images and classes.
        cut: How the source is cut.

    Raises:
        DatasetError: If columns are missing or not clear, a file has other columns than the first one, or is damaged.
    """
    first = files[0].path
    heads = {files[0]: head_of(files[0], reading, cut)}
    own, _ = heads[files[0]]
    folders = {name: kind for name, kind in _kinds_of_folders(files).items() if name not in own}
    kinds = {**own, **folders}
    columns = _columns_to_read([*kinds], first, reading, known)

    def pieces_of(file: FilePlace) -> list[TablePiece]:
        found, pieces = heads.pop(file) if file in heads else head_of(file, reading, cut)
        for name in columns:
            if name not in folders and found.get(name) != kinds[name]:
                said = f"one of {found[name]}" if name in found else "no such column"
                refuse(file.path, f"a column {name} of {kinds[name]}, as {first} has it", said)
        used = tuple(pair for pair in file.folders if pair[0] in folders and pair[0] in columns)
        file = dataclasses.replace(file, folders=used)
        return [dataclasses.replace(piece, file=file, columns=columns) for piece in pieces]

    with ThreadPoolExecutor(_HEADS_AT_A_TIME) as pool:  # each takes three answers of a store, one after the other
        pieces = [piece for of_file in pool.map(pieces_of, files) for piece in of_file]
    done = _settled(
        reading, kinds, known, first, lambda name: (one for piece in pieces for one in piece.tables([name]))
    )
    return [dataclasses.replace(piece, reading=done, names=known) for piece in pieces]


def _kinds_of_folders(files: Sequence[FilePlace]) -> dict[str, str]:
    """The columns that the names of all folders give, as in :data:`Head`.

    Raises:
        DatasetError: If some files lie in such a folder and others do not.
    """
    values: dict[str, set[str]] = {name: set() for name, _ in files[0].folders}
    for file in files:
        if [name for name, _ in file.folders] != [*values]:
            expected = "/".join(f"{name}=..." for name in values) or "no folders with names such as camera=3"
            raise DatasetError(f"{file.path}: expected folders as those of {files[0].path}: {expected}")
        for name, value in file.folders:
            values[name] |= {value} - {""}
    return {
        name: "integers" if texts and all(map(_FOLDER_NUMBER.fullmatch, texts)) else "text"
        for name, texts in values.items()
    }


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
