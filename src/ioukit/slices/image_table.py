"""Columns of images from a table: CSV, JSON lines, Parquet and Arrow files, data frames and mappings."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit.datasets.formats.compact_columns import CodedColumn, ListColumn
from ioukit.datasets.formats.table_sources import Table, arrow_table, csv_table, frame_table, is_frame
from ioukit.datasets.formats.text_files import parse_json_line, read_lines, refuse, shortened
from ioukit.errors import DatasetError
from ioukit.slices.columns import Values, missing_values

_KEYS = ("image_id", "image", "file_name", "filename", "file", "name", "path", "id")
_TRUTHS = {"true": True, "false": False}
_ARROW = (".parquet", ".pq", ".arrow", ".feather", ".ipc")
_JSON_LINES = (".jsonl", ".ndjson")


class ImageColumns(NamedTuple):
    """What a table says about images."""

    columns: Mapping[str, Values]
    """(I,) values by name."""
    notes: tuple[str, ...]
    """What a user should know: images without a row, rows without an image."""


class ImageRows(NamedTuple):
    """The rows of a table that are about images."""

    table: Table
    key: str
    """The column with the image of each row."""
    rows: npt.NDArray[np.int64]
    """(I,) the row of each image; -1 for none."""
    notes: tuple[str, ...]
    """What a user should know: rows without an image."""

    @property
    def names(self) -> list[str]:
        """The other columns."""
        return [name for name in self.table.names if name != self.key]

    @property
    def without(self) -> int:
        """How many images have no row."""
        return int((self.rows < 0).sum())


def image_columns(
    source: Any, labels: npt.NDArray[Any], names: Sequence[str] | None, key: str | None = None
) -> ImageColumns:
    """The columns of a table, a value per image.

    Args:
        source: The path of a CSV, JSON lines, Parquet or Arrow file, a data frame, or (N,) values by name. Columns of
            lists are left out.
        labels: (I,) ids of the images: integers or strings.
        names: (I,) file names of the images; ``None`` if unknown.
        key: The column with the id or the file name of the image of each row; found by its name if ``None``.

    Raises:
        DatasetError: If the table cannot be read, has no such column, has two rows about an image, or none of its rows
            is about an image of the data set.
        OSError: If the file cannot be read.
    """
    found = image_rows(source, labels, names, key)
    table, listed = found.table, [name for name in found.names if not is_list(found.table.columns[name])]
    columns = {name: column_values(table, name).take(found.rows) for name in listed}
    if not columns:
        others = "only lists" if found.names else "none"
        raise DatasetError(f"{table.source}: expected another column than {found.key!r}, found {others}")
    notes = []
    if found.without:
        notes.append(
            f"{table.source}: {found.without:,} of {len(labels):,} images have no row, so they are in no slice of it"
        )
    return ImageColumns(columns, (*notes, *found.notes))


def image_rows(source: Any, labels: npt.NDArray[Any], names: Sequence[str] | None, key: str | None = None) -> ImageRows:
    """The rows of a table, an image each. For arguments and errors, see :func:`image_columns`."""
    table = _table(source)
    key = _key(table, key)
    place, by = _places(table, key, labels, names)
    found = place >= 0
    _check_once(table, key, place)
    row = np.full(len(labels), -1)
    row[place[found]] = np.flatnonzero(found)
    notes = []
    foreign = int((~found).sum())
    if foreign:
        first = table.texts(key)[int(np.flatnonzero(~found)[0])]
        notes.append(
            f"{table.source}: {foreign:,} of {len(table):,} rows are about images that are not evaluated, "
            f"such as {shortened(first, 60)!r} ({by})"
        )
    return ImageRows(table, key, row, tuple(notes))


def is_list(column: Any) -> bool:
    """Whether the values of a column of a table are lists."""
    if isinstance(column, ListColumn):
        return True
    if isinstance(column, np.ndarray | CodedColumn):
        return isinstance(column, np.ndarray) and column.ndim > 1
    first = next((value for value in column if value is not None), None)
    return isinstance(first, list | tuple | np.ndarray)


def _table(source: Any) -> Table:
    if isinstance(source, str | os.PathLike):
        suffix = os.path.splitext(os.fspath(source))[1].lower()
        if suffix in _JSON_LINES:
            return _json_lines(source)
        return arrow_table(source) if suffix in _ARROW else csv_table(source, None)
    if isinstance(source, Mapping):
        columns = {str(name): np.asarray(values) for name, values in source.items()}
        lengths = {len(values) if values.ndim in (1, 2) else -1 for values in columns.values()}
        if len(lengths) != 1 or -1 in lengths:
            raise DatasetError("the table: expected columns of one length, each (N,), or (N, K) for lists")
        return Table("the table", columns, lambda row: f"the table: row {row}")
    if is_frame(source):
        return frame_table(source)
    raise TypeError(f"a table is a path, a data frame or a mapping of columns, got {type(source).__name__}")


def _json_lines(path: str | os.PathLike[str]) -> Table:
    """A file with an object per line. Objects within an object become columns ``outer.inner``."""
    source = os.fspath(path)
    rows, lines = [], []
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            record = parse_json_line(line.encode(), f"{source}: line {number}")
            if not isinstance(record, Mapping):
                refuse(f"{source}: line {number}", "an object", f"a {type(record).__name__}")
            rows.append(_flat(record))
            lines.append(number)
    names = dict.fromkeys(name for row in rows for name in row)
    return Table(
        source,
        {name: [row.get(name) for row in rows] for name in names},
        lambda row: f"{source}: line {lines[row]}",
    )


def _flat(record: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{before}{name}.")
        else:
            found[before + name] = value
    return found


def _key(table: Table, key: str | None) -> str:
    listed = shortened(", ".join(table.names)) or "none"
    if key is not None:
        if key not in table.names:
            raise DatasetError(f"{table.source}: expected a column {key!r} with the image of each row, found {listed}")
        return key
    found = next((name for name in _KEYS if name in table.names), None)
    if found is None:
        raise DatasetError(
            f"{table.source}: expected a column with the image of each row, named {', '.join(_KEYS)}, or chosen by "
            f"image_column; found {listed}"
        )
    return found


def _places(
    table: Table, key: str, labels: npt.NDArray[Any], names: Sequence[str] | None
) -> tuple[npt.NDArray[np.int64], str]:
    """(N,) the image of each row, -1 for none; and by what it was found: the way that finds the most rows."""
    keys = table.texts(key)
    ways = {"by id": [str(label) for label in labels.tolist()]}
    if names is not None:
        paths = list(names)
        ways["by file name"] = paths
        ways["by the last part of the path"] = [PurePosixPath(path).name for path in paths]
        ways["by file name without suffix"] = [PurePosixPath(path).stem for path in paths]
    best, by, several = np.full(len(keys), -1), "by id", list[int]()
    for way, known in ways.items():
        asked = keys
        if way == "by the last part of the path":
            asked = [PurePosixPath(one.replace("\\", "/")).name for one in keys]
        elif way == "by file name without suffix":
            asked = [PurePosixPath(one.replace("\\", "/")).stem for one in keys]
        repeated = {name for name, count in Counter(known).items() if count > 1 or not name}
        place = {name: at for at, name in enumerate(known) if name not in repeated}
        found = np.array([place.get(one, -1) for one in asked], np.int64).reshape(len(keys))
        shared = [at for at, one in enumerate(asked) if one in repeated and one]
        if (found >= 0).sum() > (best >= 0).sum() or (shared and not (best >= 0).any()):
            best, by, several = found, way, shared
    if several:
        raise DatasetError(
            f"{table.where(several[0])}, {key}: expected the id or the file name of one image, found "
            f"{shortened(keys[several[0]], 60)!r}, which is that of several images ({by})"
        )
    if len(keys) and not (best >= 0).any():
        example = f", the data set has {shortened(str(labels[0]), 40)!r}" if len(labels) else ""
        raise DatasetError(
            f"{table.where(0)}, {key}: expected the id or the file name of an image, found "
            f"{shortened(keys[0], 60)!r}{example}"
        )
    return best, by


def _check_once(table: Table, key: str, place: npt.NDArray[np.int64]) -> None:
    rows = np.flatnonzero(place >= 0)
    order = rows[np.argsort(place[rows], kind="stable")]
    again = np.flatnonzero(place[order][1:] == place[order][:-1])
    if len(again):
        first, second = order[again[0]], order[again[0] + 1]
        raise DatasetError(
            f"{table.where(int(second))}, {key}: expected one row per image, found a second one about "
            f"{shortened(table.texts(key)[int(second)], 60)!r}; the first is {table.where(int(first))}"
        )


def column_values(table: Table, name: str) -> Values:
    """A column as numbers, flags or texts, in this order, whichever all its values are."""
    column, missing = table.columns[name], table.is_missing(name)
    no = np.zeros(len(table), np.bool_)
    if missing.all():
        return missing_values(len(table), np.str_)
    numbers = table.numbers(name)[0] + 0.0  # so that -0 is 0; infinite numbers are numbers here, too
    if (~np.isnan(numbers) | missing).all() and not (isinstance(column, np.ndarray) and column.dtype.kind == "b"):
        return Values(numbers, missing, no)
    texts = table.texts(name)
    truths = [_TRUTHS.get(text.lower()) for text in texts]
    if all(truth is not None or absent for truth, absent in zip(truths, missing.tolist(), strict=True)):
        return Values(np.array([bool(truth) for truth in truths], np.bool_), missing, no)
    return Values(np.array(texts, np.str_), missing, no)
