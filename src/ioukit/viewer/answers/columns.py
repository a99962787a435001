"""Columns of images from a table of the user's; lists of numbers become two coordinates."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit._checks import pluralize
from ioukit.datasets.formats.compact_columns import CodedColumn, ListColumn
from ioukit.errors import DatasetError
from ioukit.slices.image_table import ImageRows, column_values, image_rows, is_list
from ioukit.viewer.answers.values import LeftOutError, Value

if TYPE_CHECKING:
    from ioukit.datasets import GroundTruth
    from ioukit.datasets.formats.table_sources import Table
    from ioukit.slices.columns import Values


MOST_COLUMNS = 64
"""The most columns of a table that are shown."""

_NO_VARIANCE = 1e-6
"""The share of the largest standard deviation below which there is no variance in a direction."""


class UserColumns(NamedTuple):
    """What a table says about images."""

    values: tuple[Value, ...]
    """The columns, in the order of the table. An embedding is two of them: ``NAME.x`` and ``NAME.y``."""
    notes: tuple[str, ...]
    """What a user should know, such as how many images have no row, and which columns are left out."""


def user_columns(
    source: Any, ground_truth: GroundTruth, image_ids: npt.NDArray[Any] | None = None, *, key: str | None = None
) -> UserColumns:
    """The columns of a table: numbers and texts as they are, lists of numbers by their two principal components.

    Lists of two numbers stay as they are, because they are coordinates already. Lists may also be texts, such as
    ``"[0.1, 0.2]"`` in a CSV file.

    Args:
        source: The path of a CSV, JSON lines, Parquet or Arrow file, a data frame, or (N,) or (N, K) values by name.
        ground_truth: The data set.
        image_ids: (I,) the ids of the images, in the order of the values; all of the data set if ``None``.
        key: The column with the id or the file name of the image of each row; found by its name if ``None``.

    Raises:
        DatasetError: If the table cannot be read, has no such column, has two rows about an image, none of its rows is
            about an image of the data set, or it has no other column.
        OSError: If the file cannot be read.
    """
    images = ground_truth.images
    ids = images.labels if image_ids is None else image_ids
    names = images.names.take(images.positions(ids))[:]
    found = image_rows(source, ids, names if any(names) else None, key)
    table, notes = found.table, list(found.notes)
    if not found.names:
        raise DatasetError(f"{table.source}: expected another column than {found.key!r}, found none")
    if found.without:
        notes.insert(0, f"{table.source}: {found.without:,} of {pluralize(len(ids), 'image')} have no row")
    values = [value for name in found.names for value in _values_or_note(table, name, found, notes)]
    if len(values) > MOST_COLUMNS:
        notes.append(f"{table.source}: the first {MOST_COLUMNS} of {len(values):,} columns are shown")
    return UserColumns(tuple(values[:MOST_COLUMNS]), tuple(notes))


def principal_components(points: Floats) -> Floats:
    """(N, 2) the coordinates of points along the two directions of their largest variance.

    Each direction points to where its largest component is positive, the first of equal ones. So the result does not
    depend on the order of the points, up to rounding. Rows with a NaN are NaN, and do not count. If all variance lies
    in one direction, the second coordinate is 0.

    Args:
        points: (N, K) numbers, finite or NaN.
    """
    known = ~np.isnan(points).any(axis=1)
    found = np.full((len(points), 2), np.nan)
    rows = points[known]
    if not len(rows):
        return found
    scale = float(np.abs(rows).max()) or 1.0  # so that no square is too large
    rows = rows / scale
    rows -= rows.mean(axis=0)
    if len(rows) > rows.shape[1]:
        # The eigenvectors of a small matrix are the right singular vectors of the points, many times faster.
        sizes, directions = np.linalg.eigh(rows.T @ rows)
        sizes, directions = np.sqrt(np.maximum(sizes[::-1], 0.0)), directions.T[::-1]
    else:
        _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
    kept = directions[:2] * (sizes[:2, None] > sizes[:1] * _NO_VARIANCE)
    largest = np.abs(kept).argmax(axis=1)
    kept *= np.where(kept[np.arange(len(kept)), largest] < 0, -1.0, 1.0)[:, None]
    found[known] = 0.0
    found[known, : len(kept)] = rows @ kept.T * scale
    return found


def _values_or_note(table: Table, name: str, rows: ImageRows, notes: list[str]) -> Iterable[Value]:
    try:
        return _values(table, name, rows)
    except LeftOutError as error:
        notes.append(f"{table.source}: the column {name!r} is left out: {error}")
        return ()


def _values(table: Table, name: str, rows: ImageRows) -> Iterable[Value]:
    column = table.columns[name]
    points = _points(column) if is_list(column) or _has_list_texts(table, name) else None
    if points is None and isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        numbers = np.append(column.astype(np.float64), np.nan)  # the row -1 takes the last value
        return [Value.of_numbers(name, "image", numbers[rows.rows])]
    if points is None:
        return [_value(name, column_values(table, name).take(rows.rows))]
    chosen = np.full((len(rows.rows), points.shape[1]), np.nan)
    chosen[rows.rows >= 0] = points[rows.rows[rows.rows >= 0]]
    if chosen.shape[1] != 2:
        chosen = principal_components(chosen)
    return [Value.of_numbers(f"{name}.{axis}", "image", chosen[:, at]) for at, axis in enumerate("xy")]


def _value(name: str, values: Values) -> Value:
    if values.kind == "number":
        return Value.of_numbers(name, "image", np.where(values.known, values.data, np.nan))
    if values.kind == "flag":
        return Value(name, "image", np.where(values.known, values.data, -1).astype(np.int32), ("no", "yes"))
    return Value.of_texts(name, "image", np.where(values.known, values.data, "").tolist())


def _has_list_texts(table: Table, name: str) -> bool:
    """Whether all values of a column are texts of lists."""
    column = table.columns[name]
    if isinstance(column, np.ndarray) and column.dtype.kind not in "OUT":
        return False
    texts = column.values if isinstance(column, CodedColumn) else column
    stated = [text for text in texts if text is not None and text != ""]
    return bool(stated) and all(isinstance(text, str) and text[:1] == "[" and text[-1:] == "]" for text in stated)


def _points(column: Any) -> Floats:
    """(N, K) the numbers of lists; NaN where a row has no list.

    Raises:
        LeftOutError: If they are not lists of equally many numbers.
    """
    if isinstance(column, ListColumn):
        return _finite(column.values)
    if isinstance(column, np.ndarray) and column.ndim == 2:
        if column.dtype.kind not in "iuf" or not column.shape[1]:
            raise LeftOutError("its lists hold no numbers")
        return _finite(column.astype(np.float64))
    listed = [_list(column[row]) for row in range(len(column))]
    lengths = {len(one) for one in listed if one is not None}
    if len(lengths) != 1 or lengths == {0}:
        raise LeftOutError(f"its lists have different lengths: {', '.join(map(str, sorted(lengths)[:5]))}")
    none = np.full(lengths.pop(), np.nan)
    return _finite(np.array([none if one is None else one for one in listed]))


def _finite(points: Floats) -> Floats:
    return np.where(np.isfinite(points), points, np.nan)


def _list(value: Any) -> Floats | None:
    if value is None or (isinstance(value, str) and not value):
        return None
    if isinstance(value, float) and np.isnan(value):  # what data frames have for a missing list
        return None
    try:
        if isinstance(value, str):
            # NumPy writes spaces in the place of commas.
            value = json.loads(value) if "," in value else [float(part) for part in value.strip("[]").split()]
        found = np.array(value, np.float64)
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise LeftOutError("its lists hold other values than numbers") from None
    if found.ndim != 1:
        raise LeftOutError("its lists hold other values than numbers")
    return found
