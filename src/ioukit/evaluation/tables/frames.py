"""Result tables as tables of PyArrow, pandas and Polars."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import _core
from ioukit._checks import check_choice
from ioukit._optional import import_extra
from ioukit.evaluation.tables.columns import Source
from ioukit.evaluation.tables.register import TABLES

if TYPE_CHECKING:
    from ioukit.evaluation.tables.columns import ResultColumn, Values

__all__ = ["Source", "arrow_table", "pandas_frame", "polars_frame", "table_values"]


def table_values(name: str, source: Source) -> dict[str, tuple[ResultColumn, Values]]:
    """The columns of a table and their values, by name.

    Raises:
        ValueError: If there is no such table, or the protocol lacks the IoU threshold or the area range of the point.
    """
    check_choice("table", name, tuple(TABLES))
    table = TABLES[name]
    if name == "per_detection":  # the others have few rows
        source.matches.announce("tables")
    return {column: (table.column(column), values) for column, values in table.values(source).items()}


def arrow_table(name: str, source: Source) -> Any:
    """A table of PyArrow. Missing values are null; the schema holds the meaning and the unit of each column."""
    arrow = import_extra("pyarrow", extra="tables", needed_by="to_arrow")
    types = {"integer": arrow.int64(), "number": arrow.float64(), "flag": arrow.bool_()}
    fields, arrays = [], []
    for key, (column, values) in table_values(name, source).items():
        absent = np.isnan(values.array) if column.type == "number" else _absent(values)
        array = arrow.array(values.array, mask=absent if absent is None or absent.any() else None)
        if values.words is not None:
            words = arrow.array(values.words, arrow.large_string())
            array = arrow.DictionaryArray.from_arrays(array, words).dictionary_decode()
        about = {"meaning": column.meaning, "unit": column.unit}
        fields.append(arrow.field(key, types.get(column.type, array.type), metadata=about))
        arrays.append(array)
    return arrow.table(arrays, schema=arrow.schema(fields, metadata={"ioukit": json.dumps(_settings(name, source))}))


def pandas_frame(name: str, source: Source) -> Any:
    """A data frame of pandas. Missing numbers are NaN, other missing values ``pd.NA`` or ``None``."""
    pandas = import_extra("pandas", extra="pandas", needed_by="to_pandas")
    columns: dict[str, Any] = {}
    for key, (column, values) in table_values(name, source).items():
        if values.words is not None:
            columns[key] = values.objects()
        elif column.optional and column.type in ("integer", "flag"):
            kind = pandas.arrays.IntegerArray if column.type == "integer" else pandas.arrays.BooleanArray
            absent = _absent(values)
            columns[key] = kind(
                values.array.copy(), np.zeros(len(values.array), np.bool_) if absent is None else absent
            )
        else:
            columns[key] = values.array.copy()
    return pandas.DataFrame(columns)


def polars_frame(name: str, source: Source) -> Any:
    """A data frame of Polars. Missing values are null."""
    polars = import_extra("polars", extra="polars", needed_by="to_polars")
    columns = []
    for key, (_, values) in table_values(name, source).items():
        series = polars.Series(key, values.array.copy(), nan_to_null=True)
        absent = _absent(values)
        if absent is not None and absent.any():
            series = series.scatter(np.flatnonzero(absent), None)
        if values.words is not None:
            series = polars.Series(key, values.words, polars.String).gather(series)
        columns.append(series)
    return polars.DataFrame(columns)


def _absent(values: Values) -> Any:
    return None if values.valid is None else ~values.valid


def _settings(name: str, source: Source) -> dict[str, Any]:
    """What the numbers of a table depend on, for the schema of files."""
    settings: dict[str, Any] = {
        "table": name,
        "protocol": source.matches.protocol.name,
        "iou_type": source.matches.iou_type,
        "version": _core.__version__,
    }
    if TABLES[name].at_point:
        became = source.outcomes
        least = None if became.score_threshold == -np.inf else became.score_threshold
        settings |= {"iou_threshold": became.iou_threshold, "area_range": became.area_range, "score_threshold": least}
    return settings
