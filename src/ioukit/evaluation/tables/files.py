"""Result tables in files: a folder with a CSV or a Parquet file for each."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from ioukit._checks import check_choice
from ioukit._optional import import_extra
from ioukit._output import spreadsheet_text, whole_folder
from ioukit.evaluation.results import Evaluation
from ioukit.evaluation.tables.columns import Source
from ioukit.evaluation.tables.frames import arrow_table, table_values
from ioukit.evaluation.tables.register import TABLES

if TYPE_CHECKING:
    from ioukit.evaluation.tables.columns import Values


TableFormat: TypeAlias = Literal["csv", "parquet"]

MOST_POINTS = 10_000_000
"""Rows of the table of curves that are written without being asked for."""

_ROWS_AT_ONCE = 65_536
_QUOTED = frozenset(',"\r\n')


def write_tables(
    evaluation: Evaluation,
    folder: str | os.PathLike[str],
    *,
    format: TableFormat = "csv",
    tables: Sequence[str] | None = None,
    iou_threshold: float | None = None,
    area_range: str | None = None,
    score_threshold: float = -math.inf,
) -> list[Path]:
    """Write results as tables: a file for each, ``per_class.csv`` for example.

    In CSV files a missing value is an empty field, and numbers have all digits that they need to be read back with the
    same bits. A text that a spreadsheet would run as a formula gets an apostrophe before it, and so does a text that
    begins with an apostrophe. Parquet files hold the types of the columns, their meaning, and the settings of the
    evaluation.

    Args:
        evaluation: The results.
        folder: A new or an empty folder. It appears with all files in it, or not at all.
        format: ``"csv"``, or ``"parquet"``, which needs PyArrow (``pip install 'ioukit[tables]'``).
        tables: Names of tables, keys of :data:`TABLES`. All if ``None``, but ``"curves"`` only if it has at most ten
            million rows: with 13,000 classes it has 160 million, 20 GB.
        iou_threshold: As for :meth:`Evaluation.to_pandas`, and so are the next two.
        area_range: Label of an area range.
        score_threshold: The lowest score of detections that count.

    Returns:
        The paths of the files.

    Raises:
        FileExistsError: If the folder exists and is not an empty folder.
        OSError: If a file cannot be written.
        TypeError: If ``tables`` is one name instead of a list.
        ValueError: If the format or a table is unknown, or for the reasons of :meth:`Evaluation.to_pandas`.

    Examples:
        >>> import tempfile
        >>> from ioukit import Detections, GroundTruth, evaluate
        >>> ground_truth = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 10, 10]])
        >>> detections = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 10, 8]], scores=[0.9])
        >>> evaluation = evaluate(ground_truth, detections)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path, *_ = write_tables(evaluation, folder, tables=["per_image"])
        ...     print(path.name, path.read_text().splitlines()[1])
        per_image.csv 1,,,,1,1,1,0,0,1.0,1.0,1.0,0.8
    """
    check_choice("format", format, get_args(TableFormat))
    if isinstance(tables, str):
        raise TypeError(f"expected a list of names of tables, got {tables!r}; write [{tables!r}]")
    names = [name for name in TABLES if name != "curves" or curve_points(evaluation) <= MOST_POINTS]
    if tables is not None:
        names = list(dict.fromkeys(tables))
    for name in names:
        check_choice("table", name, tuple(TABLES))
    path = Path(folder)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise FileExistsError(f"{path} exists: expected a new or an empty folder")
    write = _WRITERS[format]
    source = Source(evaluation, iou_threshold, area_range, score_threshold)
    with whole_folder(path) as unfinished:
        for name in names:
            write(name, source, unfinished / f"{name}.{format}")
    return [path / f"{name}.{format}" for name in names]


def curve_points(evaluation: Evaluation) -> int:
    """How many rows the table of all curves has."""
    defined = np.count_nonzero(~np.isnan(evaluation.recall))
    return int(defined) * len(evaluation.protocol.recall_thresholds)


def _write_parquet(name: str, source: Source, path: Path) -> None:
    parquet = import_extra("pyarrow.parquet", extra="tables", needed_by="writing Parquet files")
    parquet.write_table(arrow_table(name, source), path)


def _write_csv(name: str, source: Source, path: Path) -> None:
    found = table_values(name, source)
    columns = [_with_fields(values) for _, values in found.values()]
    count = len(columns[0].array)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(map(_field, found)) + "\n")
        for start in range(0, count, _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            fields = [_fields(values.taken(rows)) for values in columns]
            file.write("\n".join(map(",".join, zip(*fields, strict=True))) + "\n")


_WRITERS: dict[str, Callable[[str, Source, Path], None]] = {"csv": _write_csv, "parquet": _write_parquet}


def _with_fields(values: Values) -> Values:
    """The values, with texts as fields of a CSV file."""
    if values.words is None:
        return values
    return values._replace(words=[_field(spreadsheet_text(word)) for word in values.words])


def _field(text: str) -> str:
    """A text as a field: quoted if it is empty, because an empty field is a missing value, or if it must be."""
    if text and not _QUOTED.intersection(text) and text.strip() == text:
        return text
    return '"' + text.replace('"', '""') + '"'


def _fields(values: Values) -> list[str]:
    """The fields of a column."""
    array, valid = values.array, values.valid
    if values.words is not None:
        fields: list[str] = np.array(values.words, np.object_)[array].tolist()
    elif array.dtype.kind == "f":
        fields = list(map(repr, array.tolist()))  # the shortest text that is read back with the same bits
        valid = ~np.isnan(array)
    elif array.dtype.kind == "b":
        fields = ["true" if value else "false" for value in array.tolist()]
    else:
        fields = list(map(str, array.tolist()))
    for row in [] if valid is None else np.flatnonzero(~valid).tolist():
        fields[row] = ""
    return fields
