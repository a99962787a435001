"""Columns and match tables as arrays of bytes: tensors of bytes can be moved, saved and gathered like any other.

There is a table per update, so packing one must take microseconds. It has neither the archive nor the protocol that a
file of `evaluation.table_file` has.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Bytes
from ioukit.datasets import Categories
from ioukit.evaluation.protocols import Protocol
from ioukit.evaluation.table import DetectionRows, MatchTable, NearPairs, ObjectRows, PairRows

_ALIGNED = 8  # columns begin at multiples of this number, so that they are read in place
_ROWS: dict[str, Any] = {"detections": DetectionRows, "objects": ObjectRows, "pairs": PairRows, "near": NearPairs}


class Packed(NamedTuple):
    """What :func:`packed` put together."""

    header: dict[str, Any]
    """Values that JSON can hold."""
    columns: dict[str, npt.NDArray[Any]]
    """Arrays by name. They share the memory of the bytes."""


def packed(header: Mapping[str, Any], columns: Mapping[str, npt.NDArray[Any]]) -> Bytes:
    """Values and arrays as bytes.

    The bytes say how long they are. So several of them can be joined, and :func:`unpacked` takes them apart.
    """
    arrays = {name: np.ascontiguousarray(column) for name, column in columns.items()}
    described = [[name, array.dtype.str, list(array.shape)] for name, array in arrays.items()]
    text = json.dumps([dict(header), described]).encode()
    parts = [text, *(array.tobytes() for array in arrays.values())]
    parts = [part + bytes(-len(part) % _ALIGNED) for part in parts]
    lengths = np.array([2 * _ALIGNED + sum(map(len, parts)), len(text)], np.int64)
    return np.frombuffer(bytearray().join([lengths.tobytes(), *parts]), np.uint8)


def unpacked(stream: Bytes) -> Iterator[Packed]:
    """Take joined results of :func:`packed` apart, in order."""
    stream = np.ascontiguousarray(stream)
    start = 0
    while start < len(stream):
        length, text = stream[start : start + 2 * _ALIGNED].view(np.int64).tolist()
        at = start + 2 * _ALIGNED
        header, described = json.loads(stream[at : at + text].tobytes())
        at += text + -text % _ALIGNED
        columns = {}
        for name, dtype, shape in described:
            size = np.dtype(dtype).itemsize * math.prod(shape)
            columns[name] = stream[at : at + size].view(dtype).reshape(shape)
            at += size + -size % _ALIGNED
        yield Packed(header, columns)
        start += length


def table_columns(table: MatchTable, prefix: str) -> dict[str, npt.NDArray[Any]]:
    """The columns of a match table by name. The protocol, the kind of region and the categories are not among them."""
    columns: dict[str, npt.NDArray[Any]] = {f"{prefix}image_detections": table.image_detections}
    for group, rows in _ROWS.items():
        side = getattr(table, group)
        if side is not None:
            named = {name: getattr(side, name) for name in rows.column_names()}
            columns |= {f"{prefix}{group}.{name}": column for name, column in named.items() if column is not None}
    return columns


def joined_table(
    parts: Sequence[Mapping[str, npt.NDArray[Any]]],
    prefix: str,
    *,
    protocol: Protocol,
    iou_type: str,
    categories: Categories,
    places: Sequence[npt.NDArray[np.uint32]],
    image_ids: npt.NDArray[np.int64],
    near: float | None,
) -> MatchTable:
    """The sum of the match tables of which :func:`table_columns` took the columns, image after image.

    Args:
        parts: The columns of each table.
        prefix: What their names begin with.
        protocol: The rules that the tables were matched with.
        iou_type: The kind of region that was compared.
        categories: The categories of the sum.
        places: For each table, the positions of its categories in ``categories``, in ascending order.
        image_ids: The ids that the images get, in ascending order.
        near: The IoU that near pairs have at least; ``None`` if the tables have none.
    """
    counts = [part[f"{prefix}image_detections"] for part in parts]
    shifts = {
        "image": _shifts([len(count) for count in counts]),
        "detection": _shifts([len(part[f"{prefix}detections.score"]) for part in parts]),
        "object": _shifts([len(part[f"{prefix}objects.id"]) for part in parts]),
    }
    rows_of = {"detections": _shifts([int(count.sum()) for count in counts]), "objects": shifts["object"]}
    groups: dict[str, Any] = {"near": None}
    for group, rows in _ROWS.items():
        if group == "near" and near is None:
            continue
        found = {}
        for name in rows.column_names():
            if f"{prefix}{group}.{name}" not in parts[0]:
                continue
            columns = [part[f"{prefix}{group}.{name}"] for part in parts]
            if name == "category":
                columns = [place[column] for place, column in zip(places, columns, strict=True)]
            joined = np.concatenate(columns)
            shift = rows_of[group] if name == "row" else shifts.get(name)
            if shift is not None:
                joined += np.repeat(shift, list(map(len, columns))).astype(joined.dtype)
            found[name] = joined
        groups[group] = rows(**found, **({"least": near} if group == "near" else {}))
    return MatchTable(
        protocol=protocol,
        iou_type=iou_type,
        categories=categories,
        image_ids=image_ids,
        image_detections=np.concatenate(counts),
        **groups,
        sources=(len(groups["objects"]), int(sum(count.sum() for count in counts))),
    )


def _shifts(lengths: Sequence[int]) -> npt.NDArray[np.int64]:
    """(P,) where the rows of each part begin."""
    return np.cumsum([0, *lengths[:-1]], dtype=np.int64)
