"""The match table of a part in a file: detections by category in falling order of score, as a merge reads them.

Owns: the format of this file, and which numbers take fewer bytes in them. Does not own: checksums (kept_files.py),
the merge (merging.py), the table of all parts (stored_table.py).
The format of ioukit.evaluation.table_file is an archive that is read as a whole. Here curves are drawn from some
categories of as many parts as there are, so rows are sorted when they are written, and any of them are read from where
they lie: in blocks of one size, of which the header has the offsets. A block of a category of its own would
cost as much with one row as with thousands, and there may be 13,000 categories in each of 200 parts. For the same
reason, what there is one of per category is a column, and not JSON. A stable sort brings back the order of the table
when all of it is read. Numbers are narrowed only where no bit of them changes.
A file is streams of Arrow, some arrays, a header as JSON, and the length of this header. Tried: a folder with a file
for each of them. To make seven files took more time of a small part than to fill them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import math
import os
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._columns import Columns
from ioukit._output import whole_file
from ioukit.datasets import Categories
from ioukit.evaluation.protocols import Protocol
from ioukit.evaluation.table import DetectionRows, MatchTable, NearPairs, ObjectRows, PairRows
from ioukit.evaluation.table_file import COLUMN_TYPES
from ioukit.scale.kept_files import checked_digest, checksum, pyarrow, reading, with_digest

BLOCK_ROWS = 65_536
"""Rows of one record batch."""
_GROUPS: dict[str, type[Columns]] = {"objects": ObjectRows, "pairs": PairRows, "near": NearPairs}
_LENGTH = 4
"""Bytes at the end of a file that say how long its header is."""
_OF_CATEGORIES = ("num_objects", "num_detections", "ends")


class Run(NamedTuple):
    """Detections of one category of one part, in falling order of score: what curves are drawn from."""

    rank: npt.NDArray[np.uint32]
    """(n,) ranks within the scope of the cap."""
    score: npt.NDArray[np.float64]
    """(n,) scores."""
    matched: npt.NDArray[np.uint8]
    """(n, A, B) thresholds at which each has a match."""
    ignored: npt.NDArray[np.uint8]
    """(n, A, B) thresholds at which each is ignored."""

    def cut(self, first: int, end: int) -> Run:
        """The rows from ``first`` to before ``end``."""
        rows = slice(first, end)
        return Run(self.rank[rows], self.score[rows], self.matched[rows], self.ignored[rows])

    @staticmethod
    def joined(runs: Sequence[Run]) -> Run:
        """The rows of several, in order."""
        if len(runs) == 1:
            return runs[0]
        rank, score, matched, ignored = map(np.concatenate, zip(*runs, strict=True))
        return Run(rank, score, matched, ignored)


class Runs(typing.Protocol):
    """What curves are drawn from: the rows of a part by category, in files or in memory."""

    @property
    def header(self) -> dict[str, Any]:
        """What is known without the rows: ``num_objects`` (E, A)."""

    def blocks(self, category: int) -> Iterator[Run]:
        """The detections of one evaluated category, a block at a time, in falling order of score."""


class PartTable(typing.Protocol):
    """The match table of a part, wherever its rows are."""

    @property
    def header(self) -> dict[str, Any]:
        """What :func:`header_of` says."""

    @property
    def protocol(self) -> Protocol:
        """The rules."""

    def read(self) -> MatchTable:
        """The whole table."""


def header_of(table: MatchTable) -> dict[str, Any]:
    """What is known of a table without its rows."""
    return {
        "ioukit": _core.__version__,
        "protocol": table.protocol.to_dict(),
        "iou_type": table.iou_type,
        "sources": list(table.sources),
        "near": None if table.near is None else table.near.least,
        "num_objects": narrowed(table.num_objects),
        "num_detections": narrowed(table.num_detections),
        "totals": dict(table.totals),
    }


def write_table(table: MatchTable, path: str | os.PathLike[str], *, block_rows: int = BLOCK_ROWS) -> TableFile:
    """Write a match table to a file, and return it with its header. The file appears complete or not at all.

    Nothing waits for the disk: if the machine stops before all is on it, the checksum finds what is missing.

    Args:
        table: The matches.
        path: The file.
        block_rows: How many detections are read at a time when curves are drawn.

    Raises:
        OSError: If it cannot be written.
    """
    rows, categories = table.detections, table.categories
    order, ends = _core.order_by_category(table.evaluated_category(rows.category), rows.score, len(table.evaluated), 1)
    header = {**header_of(table), "ends": narrowed(np.append(0, ends)), "block_rows": block_rows}
    of_categories = {name: header.pop(name) for name in _OF_CATEGORIES}
    arrays = {
        "ids": table.image_ids,
        "detections": table.image_detections,
        "category_ids": categories.ids,
        "category_names": np.frombuffer(json.dumps(categories.names).encode(), np.uint8),
        **{f"attribute.{name}": column for name, column in categories.attributes.items()},
        **of_categories,
    }
    columns = _columns_of(rows)
    runs = {name: columns.pop(name) for name in Run._fields}
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path, durable=False) as unfinished, pyarrow().OSFile(os.fsencode(unfinished), "wb") as file:
        offsets = {"runs": _write(file, runs, _cut(order, block_rows))}
        offsets["detections"] = _write(file, columns, _cut(order, BLOCK_ROWS))
        for group in _GROUPS:
            of_group = getattr(table, group)
            if of_group is not None:
                spans = [slice(start, start + BLOCK_ROWS) for start in range(0, max(len(of_group), 1), BLOCK_ROWS)]
                offsets[group] = _write(file, _columns_of(of_group), spans)
        offsets["arrays"] = [file.tell()]
        file.write(b"".join(array.tobytes() for array in arrays.values()))
        file.flush()
        header |= {"offsets": offsets, "size": file.tell(), "checksum": checksum(unfinished)}
        header["arrays"] = {name: [array.dtype.str, list(array.shape)] for name, array in arrays.items()}
        text = with_digest(header).encode()
        file.write(text + len(text).to_bytes(_LENGTH, "little"))
    written = TableFile(Path(path))
    # No part is opened again for what is known of it.
    vars(written).update(header={**header, **of_categories}, protocol=table.protocol)
    return written


def _columns_of(rows: Columns) -> dict[str, npt.NDArray[Any]]:
    return {name: getattr(rows, name) for name in rows.column_names() if getattr(rows, name) is not None}


def _cut(order: npt.NDArray[np.int64], size: int) -> list[npt.NDArray[np.int64]]:
    """Some rows in blocks: one without rows, if there are none."""
    return [order[start : start + size] for start in range(0, max(len(order), 1), size)]


def _write(file: Any, given: Mapping[str, npt.NDArray[Any]], blocks: Sequence[Any]) -> list[int]:
    """Columns as a stream of Arrow; those of several axes are binary of a fixed size.

    Args:
        file: The open file.
        given: The columns.
        blocks: The rows of each record batch, as slices or arrays. They are brought together one batch at a time: a
            copy of all rows would not fit into the processor's cache.
    """
    arrow = pyarrow()
    columns = {name: column if column.ndim > 1 else narrowed(column) for name, column in given.items()}

    def batch(block: slice | npt.NDArray[np.int64]) -> Any:
        taken = (one[block] if isinstance(block, slice) else one.take(block, axis=0) for one in columns.values())
        return arrow.record_batch([arrow_array(arrow, column) for column in taken], names=list(columns))

    return write_batches(file, map(batch, blocks), "lz4")


def write_batches(file: Any, batches: Iterable[Any], compression: Literal["lz4"] | None = None) -> list[int]:
    """Record batches as a stream of Arrow, which needs no list of its batches at its end.

    Args:
        file: The open file.
        batches: The batches, at least one.
        compression: Boxes and scores get 5% smaller, which takes half as much time again.

    Returns:
        Where the schema begins, where the batches begin, and where the last one ends.
    """
    arrow = pyarrow()
    options = arrow.ipc.IpcWriteOptions(compression=compression, use_threads=False)
    rest = iter(batches)
    first = next(rest)
    offsets = [file.tell(), file.tell() + first.schema.serialize().size]
    with arrow.ipc.new_stream(file, first.schema, options=options) as writer:
        for batch in itertools.chain([first], rest):
            writer.write_batch(batch)
            offsets.append(file.tell())
    return offsets


def read_batches(path: Path, offsets: Sequence[int], numbers: range) -> list[Any]:
    """Some record batches of a stream that follow one another.

    Args:
        path: The file.
        offsets: What :func:`write_batches` returned.
        numbers: The batches.
    """
    arrow = pyarrow()
    with arrow.OSFile(os.fsencode(path), "rb") as file:
        schema = file.read_at(offsets[1] - offsets[0], offsets[0])
        first, end = offsets[1 + numbers.start], offsets[1 + numbers.stop]
        blocks = file.read_at(end - first, first)
    # Without threads of PyArrow: they took twice the time of the work itself, as blocks are small.
    options = arrow.ipc.IpcReadOptions(use_threads=False)
    return list(arrow.ipc.open_stream(schema + blocks, options=options))


def arrow_array(arrow: Any, column: npt.NDArray[Any]) -> Any:
    """A column for Arrow, without a copy; all axes but the first are bytes of a fixed number."""
    column = np.ascontiguousarray(column)
    row = column.itemsize * math.prod(column.shape[1:])
    kind = arrow.from_numpy_dtype(column.dtype) if column.ndim == 1 else arrow.binary(row)
    return arrow.Array.from_buffers(kind, len(column), [None, arrow.py_buffer(column)])


_INTEGERS = [(kind, np.iinfo(kind).min, np.iinfo(kind).max) for kind in (np.uint8, np.uint16, np.uint32, np.int32)]


def narrowed(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same numbers in fewer bytes, where these hold all of them exactly."""
    if not column.size or column.itemsize == 1:
        return column
    if column.dtype == np.float64:
        with np.errstate(over="ignore"):
            small = column.astype(np.float32)
        return small if (small == column).all() else column
    if column.dtype.kind in "iu":
        low, high = column.min(), column.max()
        fitting = (kind for kind, least, most in _INTEGERS if least <= low and high <= most)
        return column.astype(next(fitting, column.dtype), copy=False)
    return column


def numpy_column(array: Any, dtype: Any, shape: tuple[int, ...] = ()) -> npt.NDArray[Any]:
    """The same back: (N, *shape), without a copy where the type is ``dtype``; rows of bytes are of its kind."""
    row, numbers = array.type.bit_width // 8, math.prod(shape)
    stored = f"{np.dtype(dtype).kind}{row // numbers}" if shape else array.type.to_pandas_dtype()
    values = np.frombuffer(array.buffers()[1] or b"", stored, len(array) * numbers, array.offset * row)
    return values.astype(dtype, copy=False).reshape(len(array), *shape)


@dataclasses.dataclass(frozen=True)
class TableFile:
    """The match table of a part in a file, of which only what is asked for is read."""

    path: Path

    @cached_property
    def header(self) -> dict[str, Any]:
        """What :func:`write_table` wrote about the table."""
        with self._reading(), open(self.path, "rb") as file:
            end = file.seek(-_LENGTH, os.SEEK_END)
            start = file.seek(end - int.from_bytes(file.read(_LENGTH), "little"))
            header = checked_digest(file.read(end - start).decode())
            if start != header["size"]:
                raise ValueError("it does not have its length")
            arrays = self._arrays(header)
            return {**header, **{name: arrays[name] for name in _OF_CATEGORIES}}

    def check(self) -> None:
        """Compare the file with the checksum that it had when it was written. Streams of Arrow have none themselves.

        Raises:
            DatasetError: If it is missing or differs.
        """
        header = self.header
        with self._reading():
            if checksum(self.path, header["size"]) != header["checksum"]:
                raise ValueError("it does not have its checksum")

    @cached_property
    def protocol(self) -> Protocol:
        """The rules."""
        return Protocol.from_dict(self.header["protocol"])

    def blocks(self, category: int) -> Iterator[Run]:
        """The detections of one evaluated category, a block at a time, in falling order of score.

        No file is open between two blocks: there may be more parts than files that a process may open.
        """
        first, end = self.header["ends"][category : category + 2].tolist()
        size = self.header["block_rows"]
        while first < end:
            behind = min(end, (first // size + 1) * size)
            yield from self.rows(first, behind)
            first = behind

    def rows(self, first: int, end: int) -> list[Run]:
        """The detections from one place to before another one, where they are sorted by evaluated category and score.

        Only the blocks that hold them are read; the rows of each are apart, so that a join copies them once.
        """
        protocol, size, offsets = self.protocol, self.header["block_rows"], self.header["offsets"]["runs"]
        sets = (len(protocol.area_ranges), -(-len(protocol.iou_thresholds) // 8))
        shapes = {"matched": sets, "ignored": sets}
        numbers = range(first // size, max(first // size, -(-end // size)))
        found = [Run(*(np.zeros((0, *shapes.get(name, ())), COLUMN_TYPES[name]) for name in Run._fields))]
        with self._reading():
            for number, block in zip(numbers, read_batches(self.path, offsets, numbers), strict=True):
                start = max(first - number * size, 0)
                batch = block.slice(start, end - number * size - start)
                columns = (numpy_column(batch[name], COLUMN_TYPES[name], shapes.get(name, ())) for name in Run._fields)
                found.append(Run(*columns))
        return found[1:] or found

    def read(self) -> MatchTable:
        """The whole table, as it was."""
        self.check()
        header, protocol = self.header, self.protocol
        ranges, sets = len(protocol.area_ranges), -(-len(protocol.iou_thresholds) // 8)
        shapes = {"matched": (ranges, sets), "ignored": (ranges, sets), "outside": (-(-ranges // 8),)}
        with self._reading():
            listed = self._arrays(header)
            names = tuple(json.loads(listed["category_names"].tobytes()))
        groups: dict[str, Any] = {}
        rows = DetectionRows(**self._columns("detections", DetectionRows, shapes))
        # A stable sort undoes a stable sort: the rows of an image and category were in falling order of score, too.
        category = np.zeros_like(rows.category) if protocol.class_agnostic else rows.category
        groups["detections"] = rows.take(np.lexsort((category, rows.image)))
        for group, kind in _GROUPS.items():
            if group == "near" and header["near"] is None:
                groups[group] = None
                continue
            of_group = {**shapes, "ignored": (-(-ranges // 8),)} if group == "objects" else shapes
            shared = {"least": float(header["near"])} if group == "near" else {}
            groups[group] = kind(**self._columns(group, kind, of_group), **shared)
        attributes = {name[10:]: column for name, column in listed.items() if name.startswith("attribute.")}
        return MatchTable(
            protocol=protocol,
            iou_type=header["iou_type"],
            categories=Categories(listed["category_ids"], names, attributes),
            image_ids=listed["ids"],
            image_detections=listed["detections"],
            sources=(header["sources"][0], header["sources"][1]),
            **groups,
        )

    def _columns(self, group: str, kind: type[Columns], shapes: dict[str, tuple[int, ...]]) -> dict[str, Any]:
        arrow = pyarrow()
        found: dict[str, Any] = {}
        for stream in [group, *(["runs"] if group == "detections" else [])]:
            with self._reading(), arrow.OSFile(os.fsencode(self.path), "rb") as file:
                file.seek(self.header["offsets"][stream][0])
                table = arrow.ipc.open_stream(file).read_all()
                found |= zip(table.column_names, table.columns, strict=True)
        columns = {}
        for name in kind.column_names():
            if name in found:
                dtype, shape = COLUMN_TYPES.get(name, np.int64), shapes.get(name, ())
                columns[name] = np.concatenate([numpy_column(chunk, dtype, shape) for chunk in found[name].chunks])
        return columns

    def _arrays(self, header: Mapping[str, Any]) -> dict[str, npt.NDArray[Any]]:
        found: dict[str, npt.NDArray[Any]] = {}
        with open(self.path, "rb") as file:
            file.seek(header["offsets"]["arrays"][0])
            for name, (kind, shape) in header["arrays"].items():
                values = file.read(np.dtype(kind).itemsize * math.prod(shape))
                found[name] = np.frombuffer(values, kind).reshape(shape)
        return found

    def _reading(self) -> contextlib.AbstractContextManager[None]:
        return reading(f"{self.path}: the match table of this part is")
