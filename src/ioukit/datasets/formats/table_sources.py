"""Tables as columns: from CSV, Parquet and Arrow files, and from data frames in memory."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ioukit._optional import import_extra
from ioukit.datasets.columns._checks import existing_file
from ioukit.datasets.formats.compact_columns import CodedColumn, ListColumn
from ioukit.datasets.formats.csv_tables import CsvTable, delimiter_of, first_row
from ioukit.datasets.formats.text_files import FARTHEST, abbreviate, refuse
from ioukit.errors import DatasetError

_FLOAT_LIST = re.compile(r"(?:large_list|list|fixed_size_list)<\w+: (?:float|double)(?: not null)?>(?:\[\d+\])?")
_TEXT_TYPES = {"string", "large_string"}
_PLAIN_TYPES = {"float", "double", "bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}


class Table:
    """Columns by name, and the place of each row for messages."""

    def __init__(
        self,
        source: str,
        columns: Mapping[str, Sequence[Any] | npt.NDArray[Any]],
        where: Callable[[int], str],
        *,
        all_text: bool = False,
    ) -> None:
        """Take columns of one length, and whether all of them are text because the file has no types."""
        self.all_text = all_text
        self.source = source
        self.columns = columns
        self.where = where
        self.names = list(columns)
        self.length = len(next(iter(columns.values()), ()))

    def __len__(self) -> int:
        return self.length

    def is_missing(self, name: str) -> npt.NDArray[np.bool_]:
        """(N,) whether a row has no value in a column: it is null, NaN or empty text."""
        column = self.columns[name]
        if isinstance(column, np.ndarray) and column.dtype.kind in "biuf":
            return np.isnan(column) if column.dtype.kind == "f" else np.zeros(len(self), np.bool_)
        if isinstance(column, ListColumn):
            return np.zeros(len(self), np.bool_)
        values = column.values if isinstance(column, CodedColumn) else column
        missing = np.array([_is_missing(value) for value in values], np.bool_).reshape(len(values))
        return missing[column.codes] if isinstance(column, CodedColumn) else missing

    def numbers(self, name: str) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
        """(N,) a column of numbers, NaN where a row has none; and (N,) whether the value is a number or missing."""
        column = self.columns[name]
        if isinstance(column, np.ndarray) and column.dtype.kind in "biuf":
            values = column.astype(np.float64)
            return values, ~(np.abs(values) > FARTHEST)  # NaN is a value that is missing
        listed = column.values if isinstance(column, CodedColumn) else column
        quick = _numbers(listed) if self.all_text else None
        values = np.array([_number(value) for value in listed] if quick is None else quick, np.float64)
        values = values.reshape(len(listed))
        missing = np.array([_is_missing(value) for value in listed], np.bool_).reshape(len(listed))
        good = ~(np.abs(values) > FARTHEST) & (~np.isnan(values) | missing)
        return (values[column.codes], good[column.codes]) if isinstance(column, CodedColumn) else (values, good)

    def texts(self, name: str) -> list[str]:
        """(N,) a column as text: whole numbers without a point, ``""`` where a row has no value."""
        column = self.columns[name]
        if isinstance(column, CodedColumn):
            return list(self.coded_texts(name))
        values = column.tolist() if isinstance(column, np.ndarray) else column
        return ["" if _is_missing(value) else _text(value) for value in values]

    def coded_texts(self, name: str) -> CodedColumn:
        """(N,) a column as text, as :meth:`texts` has it, with each different text once."""
        column = self.columns[name]
        if not isinstance(column, CodedColumn):
            return CodedColumn.of(self.texts(name))
        if self.all_text:
            return column
        return CodedColumn(["" if _is_missing(value) else _text(value) for value in column.values], column.codes)

    def is_whole(self, name: str) -> bool:
        """Whether all values that there are are whole numbers, spelled as such."""
        column = self.columns[name]
        if isinstance(column, np.ndarray) and column.dtype.kind in "biu":
            return column.dtype.kind != "b"
        texts = set(self.coded_texts(name).values) - {""}
        return bool(texts) and all(map(_is_whole, texts))

    def value(self, name: str, row: int) -> str:
        """A value for a message."""
        value = self.columns[name][row]
        return abbreviate(value.item() if isinstance(value, np.generic) else value)


def _is_missing(value: Any) -> bool:
    if value is None or isinstance(value, str):
        return not value
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return type(value).__name__ in ("NAType", "NaTType")  # of pandas


def _numbers(texts: Sequence[str] | npt.NDArray[Any]) -> list[float] | None:
    """The numbers of texts, NaN for an empty one; ``None`` if one of them could be anything but a plain number."""
    joined = "".join(texts)
    if not joined.isascii() or "_" in joined:
        return None
    try:
        return [float(text) if text else np.nan for text in texts]
    except ValueError:
        return None


def _number(value: Any) -> float:
    """The number of a value, NaN if it is none, and infinite beyond what a float can hold."""
    if isinstance(value, str):
        # Python reads 1_000 and digits of other scripts as numbers, which no tool writes.
        if not value.isascii() or "_" in value:
            return np.nan
    elif isinstance(value, bool | np.timedelta64) or not isinstance(value, int | float | np.integer | np.floating):
        return np.nan  # NumPy counts spans of time among its integers
    try:
        return float(value)
    except ValueError:
        return np.nan
    except OverflowError:
        return np.inf


def _text(value: Any) -> str:
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def _is_whole(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdecimal() and len(digits) < 19 and (digits == "0" or digits[0] != "0")


def csv_table(path: str | os.PathLike[str], header: Sequence[str] | None, numbers: Collection[str] = ()) -> Table:
    """A CSV file; a file named ``.tsv`` has tabs in the place of commas.

    Args:
        path: The file.
        header: The names of the columns, if the file has none.
        numbers: Columns that are read as numbers if all their values are finite numbers. Texts of them are those of
            the numbers, not those of the file.
    """
    name = existing_file(path)
    delimiter = delimiter_of(path)
    listed = first_row(path, delimiter) if header is None else header
    as_text = [one for one in listed if one not in numbers]
    table = CsvTable(path, header, delimiter=delimiter, text=as_text, numbers=[one for one in listed if one in numbers])
    return Table(
        name,
        {one: _csv_column(table, one, as_number=one in numbers) for one in table.names},
        lambda row: f"{name}: line {table.lines[row]}",
        all_text=True,
    )


def _csv_column(table: CsvTable, name: str, *, as_number: bool) -> CodedColumn | npt.NDArray[np.float64]:
    if as_number and (values := table.all_numbers(name)) is not None:
        return values
    rows, names = table.codes(name)
    return CodedColumn.of_used(names[:], rows)


def arrow_table(path: str | os.PathLike[str]) -> Table:
    """A Parquet file, or a file of Arrow's: Feather, or a stream of record batches.

    Raises:
        DatasetError: If it is no such file.
        MemoryError: If its rows do not fit into memory.
        ModuleNotFoundError: If PyArrow is not installed.
    """
    name = existing_file(path)
    arrow = import_extra("pyarrow", extra="tables", needed_by="reading Parquet and Arrow files")
    if not os.path.isfile(name):
        refuse(name, "a table in a file, which is read more than once", "a pipe or a device")
    with open(path, "rb") as opened:
        start = opened.read(6)
    # A file of Arrow's own: its threads would need the interpreter to let go of a file of Python's, and the process
    # aborts if the interpreter is ending by then.
    with arrow.OSFile(os.fsencode(path)) as file, reading_arrow(name, "a Parquet or Arrow file"):
        if start[:4] == b"PAR1":
            table = import_extra("pyarrow.parquet", extra="tables", needed_by="Parquet").read_table(file)
        else:
            schema, batches = record_batches(file)
            table = arrow.Table.from_batches(batches, schema)
        table.validate(full=True)
        columns = arrow_columns(table)
    return Table(name, columns, lambda row: f"{name}: row {row}")


def record_batches(opened: Any) -> tuple[Any, Iterator[Any]]:
    """The schema and the record batches of an Arrow file: Feather, or a stream.

    Args:
        opened: The file, opened by PyArrow.
    """
    arrow = import_extra("pyarrow", extra="tables", needed_by="reading Arrow files")
    start = opened.read(6)
    opened.seek(0)
    if start == b"ARROW1":
        listed = arrow.ipc.open_file(opened)
        return listed.schema, (listed.get_batch(number) for number in range(listed.num_record_batches))
    stream = arrow.ipc.open_stream(opened)
    return stream.schema, iter(stream)


@contextlib.contextmanager
def reading_arrow(place: str, expected: str) -> Iterator[None]:
    """Word the errors of PyArrow.

    Args:
        place: Where it reads, for messages.
        expected: What must be there.

    Raises:
        DatasetError: If something else is there.
        MemoryError: If its rows do not fit into memory.
    """
    arrow = import_extra("pyarrow", extra="tables", needed_by="reading Parquet and Arrow files")
    try:
        yield
    except DatasetError:
        raise
    except MemoryError:  # PyArrow's is an ArrowException, too
        raise MemoryError(f"{place}: not enough memory for its rows") from None
    except (arrow.ArrowException, OSError, ValueError, NotImplementedError) as error:
        refuse(place, expected, f"something else: {first_line(error)}")


def first_line(error: BaseException) -> str:
    """What an error says first, for a message."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


class _ArrowTable(Protocol):
    @property
    def column_names(self) -> list[str]: ...
    def column(self, name: int) -> Any: ...


def arrow_columns(table: _ArrowTable) -> dict[str, Any]:
    """The columns of a table or a record batch of PyArrow, by name.

    Raises:
        ValueError: If two of them have the same name.
    """
    names = [str(name) for name in table.column_names]
    if len(set(names)) < len(names):
        raise ValueError(f"columns of the same name: {', '.join(names)}")
    return {name: _arrow_values(table.column(at)) for at, name in enumerate(names)}


def _arrow_values(column: Any) -> Any:
    kind = str(column.type)
    if not column.null_count and kind in _PLAIN_TYPES:
        return column.to_numpy() if hasattr(column, "chunks") else column.to_numpy(zero_copy_only=False)
    if kind in _TEXT_TYPES:
        parts = [part.dictionary_encode(null_encoding="encode") for part in getattr(column, "chunks", (column,))]
        places: dict[Any, int] = {}
        codes = [np.zeros(0, np.int64)]
        for part in parts:
            of_part = [places.setdefault(value, len(places)) for value in part.dictionary.to_pylist()]
            codes.append(np.array(of_part, np.int64)[part.indices.to_numpy(zero_copy_only=False)])
        return CodedColumn(list(places), np.concatenate(codes))
    if _FLOAT_LIST.fullmatch(kind) and (lists := ListColumn.of_arrow(column)) is not None:
        return lists
    return column.to_pylist()


def is_frame(given: object) -> bool:
    """Whether an object is a table in memory, by what it can do: pandas, Polars, PyArrow, or Arrow's interface."""
    kind = type(given)  # a lazy frame would compute its columns to answer
    return (
        hasattr(kind, "__arrow_c_stream__")
        or all(hasattr(kind, name) for name in ("columns", "shape", "__getitem__"))
        or _is_lazy(kind)
    )


def _is_lazy(kind: type) -> bool:
    return hasattr(kind, "collect_schema") and hasattr(kind, "collect")


def frame_table(frame: Any) -> Table:
    """A data frame of pandas or Polars, a table of PyArrow, or what hands out an Arrow stream, without importing these.

    Raises:
        TypeError: If it is no table.
        DatasetError: If two columns have the same name.
    """
    kind = f"{type(frame).__module__.partition('.')[0]} table"
    if _is_lazy(type(frame)):
        raise TypeError("expected a frame in memory, got a lazy one: pass frame.collect()")
    if hasattr(frame, "column_names") and hasattr(frame, "column"):
        names = [str(name) for name in frame.column_names]
        values = [_arrow_values(frame.column(at)) for at in range(len(names))]
    elif hasattr(frame, "columns") and hasattr(frame, "shape"):
        given = list(frame.columns)
        names = [str(name) for name in given]
        if len(set(names)) == len(names):
            values = [_series_values(frame[name]) for name in given]
    elif hasattr(frame, "__arrow_c_stream__"):
        arrow = import_extra("pyarrow", extra="tables", needed_by=f"reading a {type(frame).__name__}")
        return frame_table(arrow.table(frame))
    else:
        raise TypeError(f"expected a table of pandas, Polars or PyArrow, got {type(frame).__name__}")
    if len(set(names)) < len(names):
        refuse(kind, "columns of different names", ", ".join(names))
    columns = dict(zip(names, values, strict=True))
    return Table(kind, columns, lambda row: f"{kind}: row {row}")


def _series_values(series: Any) -> Any:
    values = series.to_numpy()
    return (
        values if values.dtype.kind in "biuf" else series.to_list() if hasattr(series, "to_list") else values.tolist()
    )
