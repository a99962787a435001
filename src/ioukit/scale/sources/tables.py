"""What all pieces of tables share: the columns that are read, what is settled for all pieces, and the batches."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.datasets.formats.compact_columns import CodedColumn
from ioukit.datasets.formats.table_columns import choose_columns
from ioukit.datasets.formats.table_detections import detections_of_rows
from ioukit.datasets.formats.table_sources import Table
from ioukit.errors import DatasetError
from ioukit.scale.sources.places import kind_of_values

if TYPE_CHECKING:
    from ioukit.datasets import Detections
    from ioukit.datasets.formats.known_names import KnownNames
    from ioukit.datasets.formats.table_rows import Reading
    from ioukit.scale.sources.places import FilePlace

__all__ = [
    "RowsFrom",
    "check_same_columns",
    "columns_to_read",
    "detections_of_tables",
    "folder_columns",
    "settled",
    "with_folder_columns",
]

_UNUSED = ("id",)
_NUMBER = re.compile(r"-?\d+")


def columns_to_read(names: Sequence[str], source: str, reading: Reading, known: KnownNames) -> list[str]:
    """The columns of a table that detections are made of.

    Raises:
        DatasetError: If columns are missing or not clear.
    """
    chosen = choose_columns(names, source, columns=reading.columns, boxes=reading.boxes)
    empty: dict[str, Sequence[Any]] = {name: CodedColumn((), np.zeros(0, np.int64)) for name in names}
    detections_of_rows(Table(source, empty, str), reading, known)  # refuses a table without scores
    roles = dict(chosen.roles)
    given = reading.columns or {}
    key = next(role for role in ("image_id", "image", "file_name") if role in roles)
    unused = {*_UNUSED, "image_id", "image", "file_name"} - {key}
    unused |= {"category"} if "category_id" in roles else set()
    wanted = {*chosen.box, *(name for role, name in roles.items() if role not in unused or role in given)}
    return [name for name in names if name in wanted]


def settled(
    reading: Reading,
    names: Sequence[str],
    whole: Callable[[str], bool],
    known: KnownNames,
    source: str,
    tables_of: Callable[[str], Iterator[Table]],
) -> Reading:
    """The reading with all that the whole data decides, so that every batch is read in the same way.

    Args:
        reading: What the caller says.
        names: The columns.
        whole: Whether the type of a column is one of integers.
        known: The images and classes.
        source: The name of the data in messages.
        tables_of: Reads one column of all pieces, in batches. It is called if types do not decide.
    """
    roles = choose_columns(names, source, columns=reading.columns, boxes=reading.boxes).roles
    ids: bool | None = None
    if "image_id" in roles:
        name = roles["image_id"]
        ids = True if whole(name) else _all_whole(tables_of(name), name) if known.numbers_are_names else None
    classes: bool | None = None
    if "category_id" not in roles:
        name, listed = roles["category"], known.classes.keys()
        if whole(name) and not any(map(_NUMBER.fullmatch, listed)):
            classes = True
        else:
            classes = _all_whole(tables_of(name), name, but=listed)
    return reading._replace(ids_are_numbers=ids, classes_are_numbers=classes, attributes=False)


def _all_whole(tables: Iterable[Table], name: str, but: Iterable[str] = ()) -> bool:
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


def folder_columns(files: Sequence[FilePlace], names: Sequence[str]) -> Mapping[str, bool]:
    """The columns that the folders give and the files do not have, and whether they are whole numbers."""
    return {name: whole for name, whole in kind_of_values(files).items() if name not in names}


class RowsFrom:
    """The places of the rows of a batch, for messages."""

    def __init__(self, path: str, first: int) -> None:
        """Take the file, and the row of it with which the batch begins."""
        self.path, self.first = path, first

    def __call__(self, row: int) -> str:
        """The place of a row of the batch."""
        return f"{self.path}: row {self.first + row}"


def check_same_columns(path: str, first: str, found: Sequence[str], expected: Sequence[str]) -> None:
    """Refuse a file whose detections would be made of other columns than those of the first file."""
    if sorted(found) != sorted(expected):
        raise DatasetError(
            f"{path}: expected the columns {', '.join(expected)}, as {first} has them, found {', '.join(found)}"
        )


def with_folder_columns(
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


def detections_of_tables(tables: Iterable[Table], reading: Reading, known: KnownNames) -> Iterator[Detections]:
    """The detections of each table that has some, or of which some were left out."""
    for table in tables:
        dt = detections_of_rows(table, reading, known)
        if len(dt):
            yield dt
        elif dt.dropped:
            yield dataclasses.replace(dt, notes=dt.notes[:1])
