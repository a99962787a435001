"""Chunks of boxes, as arrays, Arrow tables or Parquet files, read one after the other as checked records."""

from __future__ import annotations

import contextlib
import copy
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit._arrays import as_floats
from ioukit._checks import check_one_unit, integer_column
from ioukit._optional import import_extra
from ioukit.overlap._arguments import single_set
from ioukit.regions import Boxes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from ioukit.typing import BoxFormat

__all__ = [
    "ChunkReader",
    "Columns",
    "FilePiece",
    "Records",
    "columns_of",
    "order_keys",
    "record_dtype",
    "scores_of_keys",
]

Records = Any  # a structured NumPy array with the fields of `record_dtype`

_CORNER_NAMES = (("xmin", "ymin", "xmax", "ymax"), ("x1", "y1", "x2", "y2"), ("left", "top", "right", "bottom"))
_BATCH_ROWS = 1 << 17


class Columns(NamedTuple):
    """The columns of tables that hold boxes, scores and labels."""

    boxes: tuple[str, ...] | None
    """Four columns of numbers, or one column of lists of four; None for the names of corners."""
    scores: str
    labels: str | None


def columns_of(columns: Mapping[str, str | Sequence[str]] | None) -> Columns:
    """The checked argument ``columns``.

    Raises:
        ValueError: If a key is unknown, or a value is not the name of a column.
    """
    given: dict[str, Any] = dict(columns or {})
    unknown = sorted(set(given) - {"boxes", "scores", "labels"})
    if unknown:
        raise ValueError(f"columns has the unknown key {unknown[0]!r}; choose from boxes, scores, labels")
    boxes = given.get("boxes")
    if boxes is not None:
        boxes = (boxes,) if isinstance(boxes, str) else tuple(boxes)
        if len(boxes) not in (1, 4):
            raise ValueError(f"columns['boxes'] must name four columns, or one column of lists, got {boxes}")
    return Columns(boxes, given.get("scores", "score"), given.get("labels"))


def record_dtype(boxes: np.dtype[Any], *, labelled: bool, scored: bool) -> np.dtype[Any]:
    """One record per box: its corners, its row in the whole input, its label, and what `nms` needs."""
    fields: list[Any] = [("box", boxes, (4,)), ("row", np.int64)]
    if labelled:
        fields.append(("label", np.int64))
    if scored:
        fields += [("key", np.int64), ("done", np.bool_)]
    return np.dtype(fields, align=True)


def order_keys(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """(N,) integers that ascend where the scores descend, and are equal where scores are equal."""
    bits = np.ascontiguousarray(0.0 - scores).view(np.int64)  # 0 and -0 become the same
    return np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)


def scores_of_keys(keys: NDArray[np.int64]) -> NDArray[np.float64]:
    """(N,) the scores of `order_keys`."""
    bits = np.where(keys < 0, keys ^ np.iinfo(np.int64).max, keys)
    scores: NDArray[np.float64] = 0.0 - np.ascontiguousarray(bits).view(np.float64)
    return scores


class FilePiece(NamedTuple):
    """Some row groups of a Parquet file."""

    file: Path
    groups: range
    first_row: int
    """The row of the first box, counted over all files."""
    rows: int


class ChunkReader:
    """Reads the chunks of one set of boxes. It can be used once.

    Args:
        source: Chunks, one chunk, or a Parquet file or a folder of them.
        name: The name of the argument in messages.
        scored: Whether each chunk has scores.
        format: The format of plain boxes.
        columns: The columns of tables.
        score_threshold: Boxes with a lower score are left out, but counted as rows.
    """

    def __init__(
        self,
        source: Any,
        name: str,
        *,
        scored: bool,
        format: BoxFormat | None,
        columns: Columns,
        score_threshold: float | None = None,
    ) -> None:
        self._source, self.name, self._scored, self._format = source, name, scored, format
        self._columns, self._score_threshold = columns, score_threshold
        self.rows = 0
        """The row behind the last one that was read."""
        self.boxes_dtype: np.dtype[Any] | None = None
        """The dtype of the boxes as they came, once a chunk was read."""
        self.labelled: bool | None = None
        """Whether chunks have labels, once a chunk was read."""
        self.normalized: bool | None = None
        """Whether boxes are relative to the image, once a chunk was read; None for plain arrays."""

    @property
    def is_scored(self) -> bool:
        """Whether each chunk has scores."""
        return self._scored

    def __iter__(self) -> Iterator[Records]:
        for number, chunk in enumerate(_chunks(self._source, self.name, self._columns, self._scored)):
            yield self._records(chunk, f"chunk {number} of {self.name}")

    def pieces(self, most: int) -> list[FilePiece] | None:
        """The Parquet files of the source in pieces of about ``most`` rows; None if it has chunks in memory."""
        given = [self._source] if isinstance(self._source, (str, os.PathLike)) else self._source
        if not isinstance(given, (list, tuple)) or not all(isinstance(one, (str, os.PathLike)) for one in given):
            return None
        pieces: list[FilePiece] = []
        row = 0
        for file in (file for one in given for file in _parquet_files(Path(one), self.name)):
            with _opened_parquet(file, self.name) as opened:
                rows = [opened.metadata.row_group(group).num_rows for group in range(opened.num_row_groups)]
            first = count = 0
            for group, of_group in enumerate(rows):
                count += of_group
                if group == len(rows) - 1 or count + rows[group + 1] > most:
                    pieces.append(FilePiece(file.absolute(), range(first, group + 1), row, count))
                    row, first, count = row + count, group + 1, 0
        return pieces

    def of_piece(self, piece: FilePiece) -> ChunkReader:
        """A reader of one of the pieces."""
        batches = _parquet_batches(piece.file, self.name, self._columns, self._scored, piece.groups)
        reader = self.like(batches)
        reader.name, reader.rows = f"{self.name} ({piece.file}, from row group {piece.groups.start})", piece.first_row
        return reader

    def like(self, source: Any) -> ChunkReader:
        """The same reader of another source; None for one that only says how to read, and what was read."""
        reader = copy.copy(self)
        reader._source = source
        return reader

    def add(self, where: str, read: ChunkReader) -> None:
        """Count what another reader has read, which must be of the same kind.

        Raises:
            ValueError: If it is not: says where.
        """
        if read.boxes_dtype is not None:
            self._check_alike(where, read.boxes_dtype, read.normalized, bool(read.labelled))
        self.rows = read.rows

    def _records(self, chunk: Any, where: str) -> Records:
        boxes, scores, labels = self._parts(chunk, where)
        corners, dtype = single_set(f"the boxes of {where}", boxes, self._format, True)
        if corners.ndim != 2:
            raise ValueError(f"the boxes of {where} must have shape (N, 4), got {corners.shape}")
        normalized = boxes.normalized if isinstance(boxes, Boxes) else None
        self._check_alike(where, dtype, normalized, labels is not None)
        records = np.empty(len(corners), record_dtype(corners.dtype, labelled=labels is not None, scored=self._scored))
        records["box"] = corners
        records["row"] = np.arange(self.rows, self.rows + len(corners))
        self.rows += len(corners)
        if labels is not None:
            records["label"] = integer_column(f"the labels of {where}", labels, len(corners))
        if not self._scored:
            return records
        numbers = as_floats(scores, f"the scores of {where}")
        if numbers.shape != (len(corners),):
            raise ValueError(
                f"the scores of {where} must have shape ({len(corners)},), one per box, got {numbers.shape}"
            )
        nan = np.flatnonzero(np.isnan(numbers))
        if len(nan):
            raise ValueError(f"the scores of {where} hold NaN, first at [{nan[0]}]")
        records["key"] = order_keys(numbers.astype(np.float64))
        records["done"] = False
        if self._score_threshold is None:
            return records
        return np.compress(numbers >= numbers.dtype.type(self._score_threshold), records)

    def _parts(self, chunk: Any, where: str) -> tuple[Any, Any, Any]:
        """Boxes, scores and labels of a chunk."""
        if _is_arrow(chunk):
            return _from_table(chunk, self._columns, self._scored, where)
        if not isinstance(chunk, tuple):
            if self._scored:
                raise TypeError(
                    f"{where} must be a tuple (boxes, scores) or (boxes, scores, labels), got {_kind(chunk)}"
                )
            return chunk, None, None
        wanted = (2, 3) if self._scored else (2,)
        if len(chunk) not in wanted:
            expected = "(boxes, scores) or (boxes, scores, labels)" if self._scored else "(boxes, labels)"
            raise ValueError(f"{where} must be a tuple {expected}, got a tuple of {len(chunk)}")
        if self._scored:
            return chunk[0], chunk[1], chunk[2] if len(chunk) == 3 else None
        return chunk[0], None, chunk[1]

    def _check_alike(self, where: str, dtype: np.dtype[Any], normalized: bool | None, labelled: bool) -> None:
        """Raises `ValueError` unless the chunk is of the same kind as those before it."""
        if self.boxes_dtype is None or self.labelled is None:
            self.boxes_dtype, self.labelled, self.normalized = dtype, labelled, normalized
            return
        if dtype != self.boxes_dtype:
            raise ValueError(f"the boxes of {where} are {dtype}, those before are {self.boxes_dtype}: use one dtype")
        if labelled != self.labelled:
            raise ValueError(f"{where} has {'labels' if labelled else 'no labels'}: label all chunks, or none")
        if normalized is not None and self.normalized is not None:
            check_one_unit(normalized, self.normalized)


def _kind(value: object) -> str:
    return type(value).__name__


def _chunks(source: Any, name: str, columns: Columns, scored: bool) -> Iterator[Any]:
    """The chunks of a source; each Parquet file gives one chunk per batch of rows."""
    if isinstance(source, (str, os.PathLike, np.ndarray, Boxes)) or _is_arrow(source):
        source = [source]
    try:
        chunks: Iterable[Any] = iter(source)
    except TypeError:
        raise TypeError(
            f"{name} must be an iterable of chunks, an array, Boxes, or a Parquet file, got {_kind(source)}"
        ) from None
    for chunk in chunks:
        if isinstance(chunk, (str, os.PathLike)):
            for file in _parquet_files(Path(chunk), name):
                yield from _parquet_batches(file, name, columns, scored)
        else:
            yield chunk


def _parquet_files(path: Path, name: str) -> list[Path]:
    """The Parquet files of a path, in the order of their names."""
    if path.is_dir():
        files = sorted(path.glob("**/*.parquet"))
        if not files:
            raise ValueError(f"{name}: the folder {path} holds no file *.parquet")
        return files
    if not path.is_file():
        raise ValueError(f"{name}: there is no file {path}")
    return [path]


def _parquet_batches(
    file: Path, name: str, columns: Columns, scored: bool, groups: Iterable[int] | None = None
) -> Iterator[Any]:
    """The rows of a file, or of some of its row groups."""
    with _opened_parquet(file, name) as opened:
        names = opened.schema_arrow.names
        used = _used_columns(names, columns, scored, f"{name}: {file}")
        chosen = None if groups is None else list(groups)
        yield from opened.iter_batches(batch_size=_BATCH_ROWS, row_groups=chosen, columns=used)


@contextlib.contextmanager
def _opened_parquet(file: Path, name: str) -> Iterator[Any]:
    parquet = import_extra("pyarrow.parquet", extra="tables", needed_by="ioukit.scale")
    arrow = import_extra("pyarrow", extra="tables", needed_by="ioukit.scale")
    try:
        with parquet.ParquetFile(file) as opened:
            yield opened
    except arrow.ArrowInvalid as error:
        raise ValueError(f"{name}: {file} cannot be read as Parquet: {error}") from None


def _is_arrow(chunk: object) -> bool:
    return type(chunk).__module__.partition(".")[0] == "pyarrow" and hasattr(chunk, "schema")


def _used_columns(names: Sequence[str], columns: Columns, scored: bool, where: str) -> list[str]:
    """The columns of boxes, then that of scores, then that of labels, checked to be there."""
    boxes = columns.boxes
    if boxes is None:
        boxes = next((corners for corners in _CORNER_NAMES if set(corners) <= set(names)), None)
        if boxes is None:
            raise ValueError(
                f"{where} has no columns {', '.join(_CORNER_NAMES[0])}; name those of the boxes by columns=, "
                f"it has {', '.join(names)}"
            )
    used = [*boxes, *([columns.scores] if scored else []), *([columns.labels] if columns.labels else [])]
    for column in used:
        if column not in names:
            raise ValueError(f"{where} has no column {column!r}, it has {', '.join(names)}")
    return used


def _from_table(table: Any, columns: Columns, scored: bool, where: str) -> tuple[Any, Any, Any]:
    """Boxes, scores and labels of an Arrow table or record batch."""
    used = _used_columns(table.schema.names, columns, scored, where)
    count = len(used) - scored - bool(columns.labels)
    arrays = [_column(table, column, where) for column in used]
    boxes = arrays[0] if count == 1 else np.stack(arrays[:count], axis=1)
    if count == 1 and boxes.dtype == object:
        boxes = np.array(boxes.tolist()) if len(boxes) else np.empty((0, 4))
    scores = arrays[count] if scored else None
    return np.ascontiguousarray(boxes), scores, arrays[-1] if columns.labels else None


def _column(table: Any, name: str, where: str) -> NDArray[Any]:
    column = table.column(name)
    if column.null_count:
        raise ValueError(f"{where}: column {name!r} has {column.null_count} empty cells")
    values = column.to_numpy() if hasattr(column, "chunks") else column.to_numpy(zero_copy_only=False)
    array: NDArray[Any] = np.asarray(values)
    return array
