"""The match table of a part in Arrow files: detections by category in falling order of score, as a merge reads them.

Owns: the format of these files, and which numbers take fewer bytes in them. Does not own: checksums (kept_files.py),
the merge (merging.py), the table of all parts (stored_table.py).
The format of ioukit.evaluation.table_file is an archive that is read as a whole. Here curves are drawn from some
categories of as many parts as there are, so rows are sorted when they are written, and any of them are read from where
they lie: in blocks of one size, of which the header has the offsets. A block of a category of its own would
cost as much with one row as with thousands, and there may be 13,000 categories in each of 200 parts. For the same
reason, what there is one of per category is a column, and not JSON. A stable sort brings back the order of the table
when all of it is read. Numbers are narrowed only where no bit of them changes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._columns import Columns
from ioukit._optional import import_extra
from ioukit._output import whole_folder
from ioukit.datasets import Categories
from ioukit.errors import DatasetError
from ioukit.evaluation.protocols import Protocol
from ioukit.evaluation.table import DetectionRows, MatchTable, NearPairs, ObjectRows, PairRows
from ioukit.evaluation.table_file import COLUMN_TYPES, opened_arrays
from ioukit.scale.kept_files import checked_digest, checksum, reading, with_digest

BLOCK_ROWS = 65_536
"""Rows of one record batch."""
_GROUPS: dict[str, type[Columns]] = {"objects": ObjectRows, "pairs": PairRows, "near": NearPairs}
_RUNS = "runs.arrow"
_OF_CATEGORIES = ("num_objects", "num_detections", "ends")
_VERSION = 3


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
        "version": _VERSION,
        "ioukit": _core.__version__,
        "protocol": table.protocol.to_dict(),
        "iou_type": table.iou_type,
        "sources": list(table.sources),
        "near": None if table.near is None else table.near.least,
        "num_objects": narrowed(table.num_objects),
        "num_detections": narrowed(table.num_detections),
        "totals": dict(table.totals),
    }


def write_table(table: MatchTable, folder: str | os.PathLike[str], *, block_rows: int = BLOCK_ROWS) -> TableFile:
    """Write a match table to a new folder, and return it with its header. The folder appears complete or not at all.

    Nothing waits for the disk: if the machine stops before all is on it, the checksums find what is missing.

    Args:
        table: The matches.
        folder: The folder, which must not exist.
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
    with whole_folder(folder) as unfinished:
        header["offsets"] = _write(unfinished / _RUNS, runs, _cut(order, block_rows))
        _write(unfinished / "detections.arrow", columns, _cut(order, BLOCK_ROWS))
        for group in _GROUPS:
            of_group = getattr(table, group)
            if of_group is not None:
                spans = [slice(start, start + BLOCK_ROWS) for start in range(0, len(of_group), BLOCK_ROWS)]
                _write(unfinished / f"{group}.arrow", _columns_of(of_group), spans)
        np.savez(unfinished / "images.npz", allow_pickle=False, **arrays)
        header["checksums"] = {path.name: checksum(path) for path in sorted(unfinished.iterdir())}
        (unfinished / "header.json").write_text(with_digest(header), encoding="utf-8")
    written = TableFile(Path(folder))
    # No part is opened again for what is known of it.
    vars(written).update(header={**header, **of_categories}, protocol=table.protocol)
    return written


def _columns_of(rows: Columns) -> dict[str, npt.NDArray[Any]]:
    return {name: getattr(rows, name) for name in rows.column_names() if getattr(rows, name) is not None}


def _cut(order: npt.NDArray[np.int64], size: int) -> list[npt.NDArray[np.int64]]:
    return [order[start : start + size] for start in range(0, len(order), size)]


def _write(path: Path, given: Mapping[str, npt.NDArray[Any]], blocks: Sequence[Any]) -> list[int]:
    """Columns as an Arrow file; bytes of several axes are binary of a fixed size.

    Args:
        path: The file.
        given: The columns.
        blocks: The rows of each record batch, as slices or arrays. They are brought together one batch at a time: a
            copy of all rows would not fit into the processor's cache.
    """
    arrow = import_extra("pyarrow", extra="tables", needed_by="ioukit.scale")
    columns = {name: column if column.ndim > 1 else narrowed(column) for name, column in given.items()}

    def batch(block: slice | npt.NDArray[np.int64]) -> Any:
        taken = (one[block] if isinstance(block, slice) else one.take(block, axis=0) for one in columns.values())
        return arrow.record_batch([arrow_array(arrow, column) for column in taken], names=list(columns))

    return write_batches(path, batch(slice(0, 0)).schema, map(batch, blocks))


def write_batches(path: Path, schema: Any, batches: Iterable[Any]) -> list[int]:
    """Record batches as a stream of Arrow, which needs no list of its batches at its end.

    Returns:
        Where the batches begin, and where the last one ends.
    """
    arrow = import_extra("pyarrow", extra="tables", needed_by="ioukit.scale")
    options = arrow.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
    offsets = [schema.serialize().size]
    with arrow.OSFile(os.fsencode(path), "wb") as file, arrow.ipc.new_stream(file, schema, options=options) as writer:
        for batch in batches:
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
    arrow = import_extra("pyarrow", extra="tables", needed_by="ioukit.scale")
    with arrow.OSFile(os.fsencode(path), "rb") as file:
        schema = file.read(offsets[0])
        file.seek(offsets[numbers.start])
        blocks = file.read(offsets[numbers.stop] - offsets[numbers.start])
    # Without threads of PyArrow: they took twice the time of the work itself, as blocks are small.
    options = arrow.ipc.IpcReadOptions(use_threads=False)
    return list(arrow.ipc.open_stream(schema + blocks, options=options))


def arrow_array(arrow: Any, column: npt.NDArray[Any]) -> Any:
    """A column for Arrow, without a copy; all axes but the first are bytes of a fixed number."""
    column = np.ascontiguousarray(column)
    if column.ndim == 1:
        kind = arrow.from_numpy_dtype(column.dtype)
        return arrow.Array.from_buffers(kind, len(column), [None, arrow.py_buffer(column)])
    if column.itemsize > 1:
        kind = arrow.list_(arrow.from_numpy_dtype(column.dtype), int(np.prod(column.shape[1:])))
        values = arrow_array(arrow, column.reshape(-1))
        return arrow.FixedSizeListArray.from_arrays(values, type=kind)
    kind = arrow.binary(int(np.prod(column.shape[1:])))
    return arrow.Array.from_buffers(kind, len(column), [None, arrow.py_buffer(column)])


_INTEGERS = (np.uint8, np.uint16, np.uint32, np.int32)


def narrowed(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same numbers in fewer bytes, where these hold all of them exactly."""
    if not column.size:
        return column
    if column.dtype == np.float64:
        with np.errstate(over="ignore"):
            small = column.astype(np.float32)
        return small if (small == column).all() else column
    if column.dtype.kind in "iu":
        low, high = column.min(), column.max()
        fitting = (kind for kind in _INTEGERS if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max)
        return column.astype(next(fitting, column.dtype), copy=False)
    return column


def numpy_column(array: Any, dtype: Any, shape: tuple[int, ...] = ()) -> npt.NDArray[Any]:
    """The same back: (N, *shape), without a copy where the type is ``dtype``."""
    arrow = import_extra("pyarrow", extra="tables", needed_by="ioukit.scale")
    if arrow.types.is_fixed_size_binary(array.type):
        width = array.type.byte_width
        values = np.frombuffer(array.buffers()[1] or b"", np.uint8, len(array) * width, array.offset * width)
    else:
        values = (array.flatten() if shape else array).to_numpy()
    return values.astype(dtype, copy=False).reshape(len(array), *shape)


@dataclasses.dataclass(frozen=True)
class TableFile:
    """The match table of a part in a folder, of which only what is asked for is read."""

    folder: Path

    @cached_property
    def header(self) -> dict[str, Any]:
        """What :func:`write_table` wrote about the table."""
        with self._reading():
            header = checked_digest((self.folder / "header.json").read_text(encoding="utf-8"))
        if header["version"] != _VERSION:
            raise DatasetError(f"{self.folder}: expected a table of version {_VERSION}, found {header['version']}")
        with self._reading(), self._arrays() as arrays:
            return {**header, **{name: arrays[name] for name in _OF_CATEGORIES}}

    def check(self) -> None:
        """Compare each file with the checksum that it had when it was written. Arrow files have none themselves.

        Raises:
            DatasetError: If a file is missing or differs: names it.
        """
        checksums = self.header["checksums"]
        with self._reading():
            for name, expected in checksums.items():
                if checksum(self.folder / name) != expected:
                    raise ValueError(f"{name} does not have its checksum")

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
        protocol, size, offsets = self.protocol, self.header["block_rows"], self.header["offsets"]
        sets = (len(protocol.area_ranges), -(-len(protocol.iou_thresholds) // 8))
        shapes = {"matched": sets, "ignored": sets}
        numbers = range(first // size, max(first // size, -(-end // size)))
        found = [Run(*(np.zeros((0, *shapes.get(name, ())), COLUMN_TYPES[name]) for name in Run._fields))]
        with self._reading():
            for number, block in zip(numbers, read_batches(self.folder / _RUNS, offsets, numbers), strict=True):
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
        with self._reading(), self._arrays() as arrays:
            listed = dict(arrays)
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
        arrow = import_extra("pyarrow", extra="tables", needed_by="ioukit.scale")
        found: dict[str, Any] = {}
        for file in [f"{group}.arrow", *([_RUNS] if group == "detections" else [])]:
            with self._reading(), arrow.ipc.open_stream(arrow.OSFile(os.fsencode(self.folder / file), "rb")) as reader:
                table = reader.read_all()
                found |= zip(table.column_names, table.columns, strict=True)
        columns = {}
        for name in kind.column_names():
            if name in found:
                dtype, shape = COLUMN_TYPES.get(name, np.int64), shapes.get(name, ())
                parts = [numpy_column(chunk, dtype, shape) for chunk in found[name].chunks]
                columns[name] = np.concatenate(parts) if parts else np.zeros((0, *shape), dtype)
        return columns

    @contextlib.contextmanager
    def _arrays(self) -> Iterator[Mapping[str, npt.NDArray[Any]]]:
        with open(self.folder / "images.npz", "rb") as file, opened_arrays(file) as arrays:
            yield arrays

    def _reading(self) -> contextlib.AbstractContextManager[None]:
        return reading(f"{self.folder}: the match table of this part is")
