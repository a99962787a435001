"""The match table of a part in Arrow files: detections by category in falling order of score, as a merge reads them.

Owns: the format of these files, and which numbers take fewer bytes in them. Does not own: checksums (kept_files.py),
the merge (merging.py), the table of all parts (stored_table.py).
The format of ioukit.evaluation.table_file is an archive that is read as a whole. Here a merge reads a block of one
category at a time, of as many parts as there are, so rows are sorted when they are written. A stable sort brings back
the order of the table when all of it is read. Numbers are narrowed only where no bit of them changes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import typing
from collections.abc import Iterable, Iterator, Sequence
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
"""Rows of one record batch: what a merge holds of each part at a time."""
_GROUPS: dict[str, type[Columns]] = {"objects": ObjectRows, "pairs": PairRows, "near": NearPairs}
_VERSION = 2


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
        "num_objects": table.num_objects.tolist(),
        "num_detections": table.num_detections.tolist(),
        "totals": dict(table.totals),
        "categories": {"ids": table.categories.ids.tolist(), "names": list(table.categories.names)},
    }


def write_table(table: MatchTable, folder: str | os.PathLike[str], *, block_rows: int = BLOCK_ROWS) -> None:
    """Write a match table to a new folder. The folder appears complete or not at all.

    Args:
        table: The matches.
        folder: The folder, which must not exist.
        block_rows: How many detections of a category are read at a time when curves are drawn.

    Raises:
        OSError: If it cannot be written.
    """
    arrow = import_extra("pyarrow", extra="tables", needed_by="ioukit.scale")
    evaluated = table.evaluated_category(table.detections.category)
    order, ends = _core.order_by_category(evaluated, table.detections.score, len(table.evaluated), 1)
    blocks = [
        [(start, min(start + block_rows, end)) for start in range(first, end, block_rows)]
        for first, end in zip([0, *ends.tolist()], ends.tolist(), strict=False)
    ]
    present = [name for name in DetectionRows.column_names() if getattr(table.detections, name) is not None]
    header = {**header_of(table), "blocks": [len(of_category) for of_category in blocks], "columns": present}
    with whole_folder(folder) as unfinished:
        sorted_blocks = [order[start:end] for each in blocks for start, end in each]
        _write(arrow, unfinished / "detections.arrow", table.detections, sorted_blocks)
        for group in _GROUPS:
            columns = getattr(table, group)
            if columns is not None:
                spans = [slice(start, start + BLOCK_ROWS) for start in range(0, len(columns), BLOCK_ROWS)]
                _write(arrow, unfinished / f"{group}.arrow", columns, spans)
        arrays = {"ids": table.image_ids, "detections": table.image_detections}
        arrays |= {f"attribute.{name}": column for name, column in table.categories.attributes.items()}
        np.savez(unfinished / "images.npz", allow_pickle=False, **arrays)
        header["checksums"] = {path.name: checksum(path) for path in sorted(unfinished.iterdir())}
        (unfinished / "header.json").write_text(with_digest(header), encoding="utf-8")
        for path in unfinished.iterdir():
            with open(path, "rb+") as file:  # before the folder gets its name
                os.fsync(file.fileno())


def _write(arrow: Any, path: Path, rows: Columns, blocks: Sequence[slice | npt.NDArray[np.int64]]) -> None:
    """Columns as an Arrow file; bytes of several axes are binary of a fixed size.

    Args:
        arrow: PyArrow.
        path: The file.
        rows: The columns.
        blocks: The rows of each record batch. They are brought together one batch at a time: a copy of all rows would
            not fit into the processor's cache.
    """
    given = {name: getattr(rows, name) for name in rows.column_names() if getattr(rows, name) is not None}
    columns = {name: column if column.ndim > 1 else narrowed(column) for name, column in given.items()}

    def batch(block: slice | npt.NDArray[np.int64]) -> Any:
        taken = (one[block] if isinstance(block, slice) else one.take(block, axis=0) for one in columns.values())
        return arrow.record_batch([arrow_array(arrow, column) for column in taken], names=list(columns))

    write_batches(path, batch(slice(0, 0)).schema, map(batch, blocks))


def write_batches(path: Path, schema: Any, batches: Iterable[Any]) -> None:
    """Record batches as an Arrow file."""
    arrow = import_extra("pyarrow", extra="tables", needed_by="ioukit.scale")
    options = arrow.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
    with arrow.OSFile(str(path), "wb") as file, arrow.ipc.new_file(file, schema, options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)


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
        return dict(header)

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

    @cached_property
    def _first_blocks(self) -> list[int]:
        """For each evaluated category, the number of its first block, and that behind the last one."""
        return [0, *itertools.accumulate(self.header["blocks"])]

    def blocks(self, category: int) -> Iterator[Run]:
        """The detections of one evaluated category, a block at a time, in falling order of score.

        No file is open between two blocks: there may be more parts than files that a process may open.
        """
        sets = (len(self.protocol.area_ranges), -(-len(self.protocol.iou_thresholds) // 8))
        fields = [at for at, name in enumerate(self.header["columns"]) if name in Run._fields]
        for number in range(*self._first_blocks[category : category + 2]):
            with self._reading(), self._open("detections", included_fields=fields) as reader:
                batch = reader.get_batch(number)
                run = Run(
                    numpy_column(batch["rank"], np.uint32),
                    numpy_column(batch["score"], np.float64),
                    numpy_column(batch["matched"], np.uint8, sets),
                    numpy_column(batch["ignored"], np.uint8, sets),
                )
            yield run

    def read(self) -> MatchTable:
        """The whole table, as it was."""
        self.check()
        header, protocol = self.header, self.protocol
        ranges, sets = len(protocol.area_ranges), -(-len(protocol.iou_thresholds) // 8)
        shapes = {"matched": (ranges, sets), "ignored": (ranges, sets), "outside": (-(-ranges // 8),)}
        with self._reading(), open(self.folder / "images.npz", "rb") as file, opened_arrays(file) as arrays:
            listed = dict(arrays)
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
            categories=Categories(
                np.array(header["categories"]["ids"], np.int64), tuple(header["categories"]["names"]), attributes
            ),
            image_ids=listed["ids"],
            image_detections=listed["detections"],
            sources=(header["sources"][0], header["sources"][1]),
            **groups,
        )

    def _columns(self, group: str, kind: type[Columns], shapes: dict[str, tuple[int, ...]]) -> dict[str, Any]:
        with self._reading(), self._open(group) as reader:
            table = reader.read_all()
        columns = {}
        for name in kind.column_names():
            if name in table.column_names:
                dtype, shape = COLUMN_TYPES.get(name, np.int64), shapes.get(name, ())
                parts = [numpy_column(chunk, dtype, shape) for chunk in table.column(name).chunks]
                columns[name] = np.concatenate(parts) if parts else np.zeros((0, *shape), dtype)
        return columns

    def _open(self, group: str, **options: Any) -> Any:
        arrow = import_extra("pyarrow", extra="tables", needed_by="ioukit.scale")
        file = arrow.OSFile(str(self.folder / f"{group}.arrow"), "rb")
        return arrow.ipc.open_file(file, options=arrow.ipc.IpcReadOptions(**options))

    def _reading(self) -> contextlib.AbstractContextManager[None]:
        return reading(f"{self.folder}: the match table of this part is")
