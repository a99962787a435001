"""The first step of joins and NMS: boxes as record files. Parquet files are read by tasks, chunks in memory are not."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit.scale.boxes.box_records import record_dtype
from ioukit.scale.boxes.sorted_runs import write_run
from ioukit.scale.boxes.spilling import Sampler, Stored, joined_samples, store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ioukit.scale.boxes.box_records import ChunkReader, FilePiece, Records
    from ioukit.scale.boxes.box_room import Room
    from ioukit.scale.boxes.cutting import Runner
    from ioukit.scale.boxes.sorted_runs import Run

__all__ = ["ReadTask", "StoredBoxes", "read_boxes", "stored_boxes"]


class StoredBoxes(NamedTuple):
    """A set of boxes in files."""

    stored: Stored
    """The boxes that have an area, so that they can have an overlap."""
    flat: tuple[Run, ...]
    """If boxes have scores: those without an area, which survive."""


class ReadTask(NamedTuple):
    """The reading of some row groups."""

    reader: ChunkReader
    """How they are read; it has no source."""
    piece: FilePiece
    name: str
    """The path with which the names of the files begin."""
    room: Room
    rows: int
    """Rows of the whole set."""


def stored_boxes(reader: ChunkReader, folder: Path, room: Room, run: Runner) -> StoredBoxes:
    """Read a set of boxes and write it as record files.

    Args:
        reader: The set. Afterwards, it knows the number of rows and their kind.
        folder: Where the files go.
        room: How many boxes are in memory at a time.
        run: Runs the tasks that read Parquet files, unless it is the ``map`` of Python.
    """
    pieces = None if run is builtins.map else reader.pieces(room.chunk)
    if pieces is None:
        return _stored(reader, folder / reader.name, room, Sampler(room.sample))
    rows = pieces[-1].first_row + pieces[-1].rows if pieces else 0
    tasks = [
        ReadTask(reader.like(None), piece, str(folder / f"{reader.name}-{number:05}"), room, rows)
        for number, piece in enumerate(pieces)
    ]
    parts: list[StoredBoxes] = []
    dtype = _dtype(reader)
    for piece, (part, read) in zip(pieces, run(read_boxes, tasks), strict=True):
        reader.add(str(piece.file), read)
        if read.boxes_dtype is not None:
            dtype = part.stored.dtype
        parts.append(part)
    chunks = tuple(slices for part in parts for slices in part.stored.chunks)
    sampler = joined_samples([part.stored for part in parts], room.sample)
    return StoredBoxes(
        Stored(dtype, chunks, sampler.records(dtype), sampler.share), tuple(run for part in parts for run in part.flat)
    )


def read_boxes(task: ReadTask) -> tuple[StoredBoxes, ChunkReader]:
    """Run a task. The reader that comes back has no source; it knows the number of rows and their kind."""
    reader = task.reader.of_piece(task.piece)
    part = _stored(reader, Path(task.name), task.room, Sampler.for_rows(task.room.sample, task.rows))
    return part, reader.like(None)


def _stored(reader: ChunkReader, path: Path, room: Room, sampler: Sampler) -> StoredBoxes:
    flat: list[Run] = []
    chunks = _with_area(reader, path, flat)
    stored = store(chunks, _dtype(reader), path.parent, path.name, room.chunk, sampler)
    return StoredBoxes(stored, tuple(flat))


def _dtype(reader: ChunkReader) -> np.dtype[Any]:
    return record_dtype(np.dtype(np.float64), labelled=False, scored=reader.is_scored)


def _with_area(reader: Iterable[Records], path: Path, flat: list[Run]) -> Iterator[Records]:
    """The boxes that have an area. If they have scores, the others are written."""
    for number, records in enumerate(reader):
        box = records["box"]
        solid = (box[:, 2] > box[:, 0]) & (box[:, 3] > box[:, 1])
        if "key" in records.dtype.names and not solid.all():
            rest = np.compress(~solid, records)
            rest = rest[np.argsort(rest["key"], kind="stable")]
            flat.append(write_run(f"{path}-flat-{number:06}", rest["key"], rest["row"], np.zeros(len(rest), np.uint8)))
        yield np.compress(solid, records)
