"""Tables in CSV files: columns by name, and messages that name the line and the column."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from ioukit.errors import DatasetError

if TYPE_CHECKING:
    import os

    import numpy.typing as npt

    from ioukit.datasets.formats.problems import Problems

__all__ = ["CsvTable", "first_row"]


def first_row(path: str | os.PathLike[str]) -> list[str]:
    """The fields of the first row of a CSV file; none if the file cannot be read as one."""
    try:
        with open(path, "rb") as file:
            line = file.readline(1 << 16)
        return next(csv.reader([line.decode("utf-8-sig")], strict=True), [])
    except (OSError, ValueError, csv.Error):
        return []


class CsvTable:
    """The rows of a CSV file as columns of text, and the line of each row."""

    def __init__(
        self, path: str | os.PathLike[str], names: Sequence[str] | None = None, *, delimiter: str = ","
    ) -> None:
        """Read a file.

        Args:
            path: The file.
            names: The names of the columns if the file has no header; its first row if ``None``.
            delimiter: What stands between fields.

        Raises:
            DatasetError: If it is no CSV file, or a row has not as many fields as there are names.
            OSError: If it cannot be read.
        """
        self.path = path
        rows: list[list[str]] = []
        self.lines: list[int] = []
        """The line at which each row ends."""
        reader = None
        try:
            with open(path, encoding="utf-8-sig", newline="") as file:
                reader = csv.reader(file, strict=True, delimiter=delimiter)
                self.names = list(next(reader, []) if names is None else names)
                for row in reader:
                    if len(row) != len(self.names) and row:
                        expected = f"expected {len(self.names)} fields: {', '.join(self.names)}"
                        raise DatasetError(f"{path}: line {reader.line_num}: {expected}; found {len(row)}")
                    if row:
                        rows.append(row)
                        self.lines.append(reader.line_num)
        except (UnicodeDecodeError, csv.Error) as error:
            line = 1 if reader is None else reader.line_num
            raise DatasetError(f"{path}: line {line}: expected CSV in UTF-8, found something else: {error}") from None
        if len(set(self.names)) < len(self.names):
            raise DatasetError(f"{path}: line 1: expected columns of different names, found {', '.join(self.names)}")
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(self.names)
        self._columns = dict(zip(self.names, columns, strict=True))

    def __len__(self) -> int:
        return len(self.lines)

    def require(self, names: Iterable[str]) -> None:
        """Refuse a file without one of the columns.

        Raises:
            DatasetError: Which column is missing.
        """
        for name in names:
            if name not in self._columns:
                found = ", ".join(self.names) or "an empty file"
                raise DatasetError(f"{self.path}: line 1: expected a column {name}, found {found}")

    def text(self, name: str) -> tuple[str, ...]:
        """A column as it is."""
        return self._columns[name]

    def numbers(self, name: str, good: npt.NDArray[np.bool_], problems: Problems) -> npt.NDArray[np.float64]:
        """A column of finite numbers. A row with another value is a problem; it gets 0, and is no longer good."""

        def is_finite(text: str) -> bool:
            try:
                return abs(float(text)) < np.inf
            except ValueError:
                return False

        texts = self._columns[name]
        try:
            values = np.array(list(map(float, texts)), np.float64)
            fine = np.isfinite(values)
        except ValueError:
            fine = np.array([is_finite(text) for text in texts], np.bool_)
            values = np.array([float(text) if kept else 0.0 for text, kept in zip(texts, fine, strict=True)])
        self.refuse(~fine, name, "a number", good, problems)
        return values

    def refuse(
        self,
        wrong: npt.NDArray[np.bool_],
        name: str,
        expected: str,
        good: npt.NDArray[np.bool_],
        problems: Problems,
        found: Callable[[int], str] | None = None,
    ) -> None:
        """Meet a problem for every row that is wrong, and mark it as not good."""
        for row in np.flatnonzero(wrong & good).tolist():
            shown = repr(self._columns[name][row]) if found is None else found(row)
            problems.meet(f"wrong {name}", self.message(row, name, expected, shown))
        good &= ~wrong

    def message(self, row: int, name: str, expected: str, found: str) -> str:
        """The message about a field."""
        return f"{self.path}: line {self.lines[row]}, {name}: expected {expected}, found {found}"

    def fail(self, row: int, name: str, expected: str) -> NoReturn:
        """Refuse the file because of a field."""
        raise DatasetError(self.message(row, name, expected, repr(self._columns[name][row])))
