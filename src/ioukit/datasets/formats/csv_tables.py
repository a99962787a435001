"""Tables in CSV files: columns by name, and messages that name the line and the column."""

from __future__ import annotations

import contextlib
import csv
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from ioukit import _core
from ioukit._checks import check_threads
from ioukit.datasets.columns.lazy import Names
from ioukit.datasets.formats.compact_columns import CodedColumn
from ioukit.datasets.formats.text_files import abbreviate, refuse, shortened
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    import numpy.typing as npt

    from ioukit.datasets.formats.problems import Problems


class Codes(NamedTuple):
    """A column of text in which the same strings come again and again."""

    rows: npt.NDArray[np.int64]
    """(N,) the position of the string of each row."""
    names: Names
    """The strings, in ascending order."""


def first_row(path: str | os.PathLike[str], delimiter: str = ",") -> list[str]:
    """The fields of the first row of a CSV file; none if the file cannot be read as one, or is not a regular file."""
    try:
        if not os.path.isfile(path):  # a pipe can be read only once, and a device need not have lines
            return []
        with open(path, "rb") as file:
            line = file.readline(1 << 16)
        return next(csv.reader([line.decode("utf-8-sig")], strict=True, delimiter=delimiter), [])
    except (OSError, ValueError, csv.Error):
        return []


def delimiter_of(path: str | os.PathLike[str]) -> str:
    """What stands between the fields of a CSV file, by its name: tabs in a ``.tsv`` file."""
    return "\t" if os.fspath(path).lower().endswith(".tsv") else ","


@contextlib.contextmanager
def _fields_named(names: Sequence[str]) -> Iterator[None]:
    """Say which fields a row should have, if it has another number of them."""
    try:
        yield
    except DatasetError as error:
        listed = shortened(", ".join(names))
        raise DatasetError(str(error).replace(" fields, found ", f" fields: {listed}; found ")) from None


def csv_rows(
    path: str,
    text: bytes,
    lines: int,
    names: Sequence[str],
    *,
    header: bool,
    wanted: Sequence[str],
    numbers: Collection[str],
) -> tuple[dict[str, CodedColumn | npt.NDArray[np.float64]], npt.NDArray[np.int64]]:
    """Columns of rows of a CSV file that are in memory, and the line at which each row ends.

    Args:
        path: The file, for messages and for what stands between fields.
        text: The rows.
        lines: How many lines are before them.
        names: The names of all columns.
        header: Whether the first row has the names.
        wanted: The columns to read.
        numbers: Those of them that are read as numbers if all their values are finite numbers.

    Raises:
        DatasetError: If the text is no CSV, or a row has not as many fields as there are names.
    """
    shape, columns = (len(names), ord(delimiter_of(path)), header), {}
    left, ends = list(wanted), np.zeros(0, np.int64)
    with _fields_named(names):
        while left:
            chosen = [(names.index(name), name in numbers and name not in columns) for name in left]
            read, ends = _core.read_csv_rows(path, text, lines, shape, chosen)
            for name, column in zip(left, read, strict=True):
                columns[name] = (
                    CodedColumn.of_used(Names(*column[1:])[:], column[0]) if isinstance(column, tuple) else column
                )
            # A column with another value is read again as text, which messages show.
            left = [name for name in left if isinstance(columns[name], np.ndarray) and np.isnan(columns[name]).any()]
    return columns, ends


class CsvTable:
    """The rows of a CSV file as columns, and the line of each row. Columns are read when they are asked for."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        names: Sequence[str] | None = None,
        *,
        delimiter: str = ",",
        text: Iterable[str] = (),
        numbers: Iterable[str] = (),
        threads: int | None = None,
    ) -> None:
        """Read a file.

        Args:
            path: The file.
            names: The names of the columns if the file has no header; its first row if ``None``.
            delimiter: What stands between fields.
            text: Columns of text that will be asked for, so that the file is read once. Others are read later.
            numbers: Columns of numbers, in the same way. The file need not have them.
            threads: How many threads read; all cores if ``None``.

        Raises:
            DatasetError: If it is no CSV file, or a row has not as many fields as there are names.
            OSError: If it cannot be read.
        """
        self.path = path
        self._delimiter = delimiter
        self._header = names is None
        self._threads = check_threads(threads)
        self._text: dict[str, Codes] = {}
        self._numbers: dict[str, npt.NDArray[np.float64]] = {}
        self.names = first_row(path, delimiter) if names is None else list(names)
        if len(set(self.names)) < len(self.names):
            refuse(f"{path}: line 1", "columns of different names", self._listed())
        self.lines: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        """(N,) the line at which each row ends."""
        self._read([name for name in text if name in self.names], [name for name in numbers if name in self.names])

    def _read(self, text: Sequence[str], numbers: Sequence[str]) -> None:
        """Read columns, in one pass over the file."""
        chosen = [(self.names.index(name), name in numbers) for name in (*text, *numbers)]
        path, fields = os.fspath(self.path), len(self.names)
        if os.path.isdir(path):
            refuse(str(path), "a CSV file", "a folder")
        if not fields and os.path.getsize(path):
            # Say what is wrong with the text, if that is the reason that the first row has no fields.
            _core.read_csv(path, 1, ord(self._delimiter), True, [], self._threads)
            refuse(f"{path}: line 1", "the names of columns", "none")
        with _fields_named(self.names):
            columns, lines = _core.read_csv(path, fields, ord(self._delimiter), self._header, chosen, self._threads)
        self.lines = lines
        for name, column in zip((*text, *numbers), columns, strict=True):
            if isinstance(column, tuple):
                self._text[name] = Codes(column[0], Names(*column[1:]))
            else:
                self._numbers[name] = column

    def _listed(self) -> str:
        return shortened(", ".join(self.names))

    def __len__(self) -> int:
        return len(self.lines)

    def require(self, names: Iterable[str]) -> None:
        """Refuse a file without one of the columns.

        Raises:
            DatasetError: Which column is missing.
        """
        for name in names:
            if name not in self.names:
                refuse(f"{self.path}: line 1", f"a column {name}", self._listed() or "an empty file")

    def codes(self, name: str) -> Codes:
        """A column of text, as the positions of strings."""
        if name not in self._text:
            self._read([name], [])
        return self._text[name]

    def text(self, name: str) -> tuple[str, ...]:
        """A column as it is."""
        rows, names = self.codes(name)
        return tuple(map(names[:].__getitem__, rows.tolist()))

    def all_numbers(self, name: str) -> npt.NDArray[np.float64] | None:
        """A column of finite numbers; ``None`` if a row has another value."""
        if name not in self._numbers:
            self._read([], [name])
        values = self._numbers[name]
        return None if np.isnan(values).any() else values

    def numbers(self, name: str, good: npt.NDArray[np.bool_], problems: Problems) -> npt.NDArray[np.float64]:
        """A column of finite numbers. A row with another value is a problem; it gets 0, and is no longer good."""
        if name not in self._numbers:
            self._read([], [name])
        values = self._numbers[name]
        wrong = np.isnan(values)
        if not wrong.any():
            return values
        self.refuse(wrong, name, "a number", good, problems)
        return np.where(wrong, 0.0, values)

    def refuse(
        self,
        wrong: npt.NDArray[np.bool_],
        name: str,
        expected: str,
        good: npt.NDArray[np.bool_],
        problems: Problems,
        found: Callable[[int], str] | None = None,
    ) -> None:
        """Meet a problem for all rows that are wrong, and mark them as not good."""
        if not wrong.any():
            return
        rows = np.flatnonzero(wrong & good)
        if len(rows):
            first = int(rows[0])
            text = self._field(first, name) if found is None else found(first)
            problems.meet(f"wrong {name}", self.message(first, name, expected, text), len(rows))
        good &= ~wrong

    def message(self, row: int, name: str, expected: str, found: str) -> str:
        """The message about a field."""
        return f"{self.path}: line {self.lines[row]}, {name}: expected {expected}, found {found}"

    def fail(self, row: int, name: str, expected: str) -> NoReturn:
        """Refuse the file because of a field."""
        raise DatasetError(self.message(row, name, expected, self._field(row, name)))

    def _field(self, row: int, name: str) -> str:
        """A field for a message, as it is in the file: numbers are not kept as text."""
        if name in self._text:
            column = self._text[name]
            return abbreviate(column.names[int(column.rows[row])])
        with open(self.path, encoding="utf-8-sig", newline="") as file:
            visible = (line.replace("\0", "\N{SYMBOL FOR NULL}") for line in file)  # Python 3.10 refuses zero bytes
            reader: Any = csv.reader(visible, strict=True, delimiter=self._delimiter)
            fields = next((fields for fields in reader if reader.line_num == self.lines[row]), None)
        return abbreviate(fields[self.names.index(name)] if fields else None)
