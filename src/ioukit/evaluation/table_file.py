"""Match tables in files: one ``.npz`` with columns and a header that holds the version of the format."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import threading
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._columns import Columns
from ioukit._output import write_whole
from ioukit.datasets import Categories
from ioukit.errors import DatasetError
from ioukit.evaluation.protocols import Protocol
from ioukit.evaluation.table import DetectionRows, MatchTable, NearPairs, ObjectRows, PairRows

_FORMAT = "ioukit match table"
_VERSION = 1
_one_reader = threading.Lock()

_GROUPS: dict[str, type[Columns]] = {
    "detections": DetectionRows,
    "objects": ObjectRows,
    "pairs": PairRows,
    "near": NearPairs,
}
_POSITIONS = {  # columns of positions, and the rows that they are positions of
    "detections.category": "categories",
    "detections.image": "images",
    "objects.category": "categories",
    "objects.image": "images",
    "pairs.detection": "detections",
    "pairs.object": "objects",
    "near.detection": "detections",
    "near.object": "objects",
}

_OPTIONAL = (("detections", "special"), ("detections", "outside"), ("detections", "angle"), ("objects", "angle"))


def save_table(table: MatchTable, path: str | os.PathLike[str], *, compress: bool = True) -> None:
    """Write a match table to a file. After an error the file is as it was.

    The file is NumPy's ``.npz`` without pickled objects: an array per column, integers in the smallest type that holds
    them, and a header in JSON with the protocol. :func:`load_table` returns the same table, to the last bit.

    Args:
        table: The matches.
        path: The file to write; by convention its name ends in ``.npz``.
        compress: Whether columns are compressed. Without compression the file is about three times as large, and is
            written and read in a fraction of the time.

    Raises:
        OSError: If the file cannot be written.
    """
    write_whole(Path(path), pack_table(table, compress=compress))


def pack_table(table: MatchTable, *, compress: bool = False) -> bytes:
    """A match table as bytes: the contents of the file that :func:`save_table` writes.

    This is for a column of bytes, a message or an object store. :func:`unpack_table` returns the same table, to the
    last bit.

    Args:
        table: The matches.
        compress: Whether columns are compressed, as for :func:`save_table`.
    """
    header = {
        "format": _FORMAT,
        "version": _VERSION,
        "ioukit": _core.__version__,
        "protocol": table.protocol.to_dict(),
        "iou_type": table.iou_type,
        "sources": list(table.sources),
        "repeated_images": table.repeated_images,
        "near": None if table.near is None else table.near.least,
    }
    columns: dict[str, npt.NDArray[Any]] = {
        "header": np.frombuffer(json.dumps(header).encode(), np.uint8),
        "categories.ids": table.categories.ids,
        "categories.names": np.array(table.categories.names, np.str_),
        "images.ids": table.image_ids,
        "images.detections": table.image_detections,
    }
    for name, column in table.categories.attributes.items():
        columns[f"categories.attributes.{name}"] = column
    for group, kind in _GROUPS.items():
        if (rows := getattr(table, group)) is not None:
            present = {name: getattr(rows, name) for name in kind.column_names()}
            columns |= {f"{group}.{name}": _small(column) for name, column in present.items() if column is not None}
    buffer = io.BytesIO()
    (np.savez_compressed if compress else np.savez)(buffer, allow_pickle=False, **columns)
    return buffer.getvalue()


def _small(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Integers in the smallest type that holds them."""
    if column.dtype.kind not in "iu" or not column.size:
        return column
    low, high = int(column.min()), int(column.max())
    return column.astype(np.promote_types(np.min_scalar_type(low), np.min_scalar_type(high)))


def load_table(path: str | os.PathLike[str]) -> MatchTable:
    """Read a match table that :func:`save_table` wrote.

    Raises:
        DatasetError: If the file is not a match table, is cut or damaged, or was written by a later version.
        OSError: If the file cannot be read.
    """
    with open(path, "rb") as file:
        return _read(file, os.fspath(path))


def unpack_table(packed: bytes, source: str = "bytes") -> MatchTable:
    """The match table of what :func:`pack_table` returned.

    Args:
        packed: The bytes, or the contents of a file that :func:`save_table` wrote.
        source: What messages call them, for example the name of a partition.

    Raises:
        DatasetError: If they are not a match table, are cut or damaged, or were written by a later version.
    """
    return _read(io.BytesIO(packed), source)


@contextlib.contextmanager
def opened_arrays(file: BinaryIO) -> Iterator[Mapping[str, npt.NDArray[Any]]]:
    """The arrays of an ``.npz``, read when they are asked for; other threads that open one wait.

    NumPy parses the headers of arrays by :mod:`ast`, which raises a SystemError now and then if threads of Python 3.11
    do so at once.
    """
    with _one_reader, np.load(file, allow_pickle=False) as archive:
        yield archive


def _read(file: BinaryIO, source: str) -> MatchTable:
    if file.read(4) != b"PK\x03\x04":
        raise DatasetError(f"{source}: expected a match table (.npz), found another kind of file")
    file.seek(0)
    try:
        with opened_arrays(file) as archive:
            header = _header(archive)
            return _table(header, {name: archive[name] for name in archive if name != "header"})
    except DatasetError as error:
        raise DatasetError(f"{source}: {error}") from None
    # zipfile raises RuntimeError where damage looks like a later version or a password.
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, TypeError, LookupError, RuntimeError) as error:
        raise DatasetError(f"{source}: the match table is cut or damaged: {error}") from None
    except OSError as error:
        if error.errno != errno.EINVAL:  # a damaged directory names places that no file has
            raise
        raise DatasetError(f"{source}: the match table is cut or damaged: {error}") from None


def _header(archive: Mapping[str, Any]) -> dict[str, Any]:
    if "header" not in archive:
        raise DatasetError("expected a match table, found an .npz without a header")
    header = json.loads(bytes(archive["header"]).decode())
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise DatasetError("expected a match table, found an .npz of another kind")
    if header["version"] > _VERSION:
        raise DatasetError(
            f"expected a match table of version {_VERSION}, found version {header['version']}, written by ioukit "
            f"{header.get('ioukit')}: update ioukit ({_core.__version__}) to read it"
        )
    return header


def _table(header: Mapping[str, Any], columns: Mapping[str, npt.NDArray[Any]]) -> MatchTable:
    protocol = Protocol.from_dict(header["protocol"])
    prefix = "categories.attributes."
    attributes = {name.removeprefix(prefix): column for name, column in columns.items() if name.startswith(prefix)}
    categories = Categories(
        columns["categories.ids"].astype(np.int64), tuple(map(str, columns["categories.names"])), attributes
    )
    image_ids = columns["images.ids"]
    if image_ids.dtype.kind != "U":
        image_ids = image_ids.astype(np.int64)
    groups: dict[str, Any] = {}
    for group, kind in _GROUPS.items():
        if group == "near" and header["near"] is None:
            continue
        shared = {"least": float(header["near"])} if group == "near" else {}
        names = [name for name in kind.column_names() if f"{group}.{name}" in columns or (group, name) not in _OPTIONAL]
        rows = {name: _typed(group, name, columns[f"{group}.{name}"]) for name in names}
        if len({len(column) for column in rows.values()}) > 1:
            raise DatasetError(f"the columns of {group} differ in length")
        groups[group] = kind(**rows, **shared)
    table = MatchTable(
        protocol=protocol,
        iou_type=header["iou_type"],
        categories=categories,
        image_ids=image_ids,
        image_detections=columns["images.detections"].astype(np.int64),
        detections=groups["detections"],
        objects=groups["objects"],
        pairs=groups["pairs"],
        near=groups.get("near"),
        sources=(int(header["sources"][0]), int(header["sources"][1])),
        repeated_images=int(header["repeated_images"]),
    )
    _check(table)
    return table


COLUMN_TYPES: dict[str, Any] = {
    "category": np.uint32,
    "image": np.uint32,
    "rank": np.uint32,
    "score": np.float64,
    "iou": np.float64,
    "matched": np.uint8,
    "ignored": np.uint8,
    "special": np.uint8,
    "outside": np.uint8,
    "angle": np.float64,
}
"""The types of columns in memory by name; the others are int64."""


def _typed(group: str, name: str, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A column, converted to its type in memory."""
    wanted = np.dtype(COLUMN_TYPES.get(name, np.int64))
    if column.dtype.kind not in ("f" if wanted.kind == "f" else "iu"):
        raise DatasetError(f"{group}.{name}: expected {wanted.name}, found {column.dtype.name}")
    return np.ascontiguousarray(column, wanted)


def _check(table: MatchTable) -> None:
    """Refuses columns that do not fit each other."""
    protocol = table.protocol
    ranges, sets = len(protocol.area_ranges), -(-len(protocol.iou_thresholds) // 8)
    shapes = {
        "detections.matched": (len(table.detections), ranges, sets),
        "detections.ignored": (len(table.detections), ranges, sets),
        "pairs.matched": (len(table.pairs), ranges, sets),
        "objects.ignored": (len(table.objects), -(-ranges // 8)),
    }
    if table.detections.outside is not None:
        shapes["detections.outside"] = (len(table.detections), -(-ranges // 8))
    sizes = {
        "categories": len(table.categories),
        "images": len(table.image_ids),
        "detections": len(table.detections),
        "objects": len(table.objects),
    }
    if len(table.image_detections) != sizes["images"] or len(table.categories.names) != sizes["categories"]:
        raise DatasetError("the columns of images or categories differ in length")
    for name, shape in shapes.items():
        found = _column(table, name).shape
        if found != shape:
            raise DatasetError(f"{name}: expected shape {shape}, found {found}")
    for name, of in _POSITIONS.items():
        if name.startswith("near.") and table.near is None:
            continue
        column = _column(table, name)
        if column.size and not (column.min() >= 0 and column.max() < sizes[of]):
            raise DatasetError(f"{name}: expected positions below {sizes[of]:,}, found {column.max():,}")
    for group, count in (("objects", table.sources[0]), ("detections", table.sources[1])):
        rows = getattr(table, group).row
        if rows.size and not (rows.min() >= 0 and rows.max() < count):
            raise DatasetError(f"{group}.row: expected rows below {count:,}, found {rows.max():,}")


def _column(table: MatchTable, name: str) -> npt.NDArray[Any]:
    group, _, column = name.partition(".")
    found: npt.NDArray[Any] = getattr(getattr(table, group), column)
    return found
