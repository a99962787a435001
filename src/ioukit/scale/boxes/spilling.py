"""Sets of boxes as record files in a work folder, with a sample of each."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit.scale.boxes.record_files import Slice, concatenated, total, write_array

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from ioukit.scale.boxes.box_records import Records

__all__ = ["Sampler", "Stored", "grouped", "joined_samples", "mixed", "slice_files", "store", "temporary_folder"]


@contextlib.contextmanager
def temporary_folder(folder: str | os.PathLike[str] | None) -> Iterator[Path]:
    """A new folder inside ``folder``, or where temporary files are; it is removed at the end, also after errors.

    Raises:
        ValueError: If there is no such folder.
    """
    if folder is not None and not Path(folder).is_dir():
        raise ValueError(f"there is no folder {folder} for the work")
    made = Path(tempfile.mkdtemp(prefix="ioukit-boxes-", dir=folder))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


class Sampler:
    """A sample of rows, by their numbers: the same rows whatever the chunks are."""

    def __init__(self, most: int, limit: int = 1 << 24) -> None:
        self._most, self._limit = most, limit
        self._parts: list[Records] = []

    @classmethod
    def for_rows(cls, most: int, rows: int) -> Sampler:
        """A sampler of one of several parts of a set with ``rows`` rows: together, they sample about ``most``."""
        limit = 1 << 24
        while limit > 1 and rows * limit > most << 24:
            limit //= 2
        return cls(most, limit)

    def add(self, records: Records) -> None:
        """Looks at more records."""
        self._parts.append(np.compress(mixed(records["row"]) < self._limit, records))
        while sum(map(len, self._parts)) > self._most:
            self._limit //= 2
            self._parts = [np.compress(mixed(part["row"]) < self._limit, part) for part in self._parts]

    @property
    def share(self) -> float:
        """How many of all records are in the sample, in (0, 1]."""
        return max(self._limit, 1) / 2.0**24

    def records(self, dtype: np.dtype[Any]) -> Records:
        """The sample, of records of this dtype."""
        return np.concatenate([np.zeros(0, dtype), *self._parts])


def mixed(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """(N,) numbers below 2**24 that look random."""
    mixed: NDArray[np.int64] = (rows.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(40)).astype(
        np.int64
    )
    return mixed


class Stored(NamedTuple):
    """A set of boxes in files."""

    dtype: np.dtype[Any]
    chunks: tuple[tuple[Slice, ...], ...]
    """Few enough boxes each; their rows ascend from chunk to chunk if they ascend in the input."""
    sample: Records
    share: float

    @property
    def size(self) -> int:
        """How many boxes are in the files."""
        return sum(map(total, self.chunks))


def joined_samples(parts: Sequence[Stored], most: int) -> Sampler:
    """The sample of a set from those of its parts."""
    limits = [round(part.share * (1 << 24)) for part in parts]
    sampler = Sampler(most, min(limits, default=1 << 24))
    for part in parts:
        if len(part.sample):
            sampler.add(part.sample)
    return sampler


def store(
    chunks: Iterable[Records], without_chunks: np.dtype[Any], folder: Path, name: str, most: int, sampler: Sampler
) -> Stored:
    """Writes chunks as files of about ``most`` boxes.

    Args:
        chunks: Records.
        without_chunks: The dtype of the set if no chunk comes. Otherwise it is that of the chunks.
        folder: Where the files go.
        name: How the names of the files begin.
        most: Boxes per file.
        sampler: Takes the sample.
    """
    slices: list[Slice] = []
    waiting: list[Records] = []

    def write() -> None:
        path = str(folder / f"{name}-{len(slices):05}")
        records = waiting[0] if len(waiting) == 1 else concatenated(waiting)
        write_array(path, records)
        slices.append(Slice(path, 0, len(records)))
        waiting.clear()

    dtype = without_chunks
    for chunk in chunks:
        dtype = chunk.dtype
        sampler.add(chunk)
        for start in range(0, len(chunk), most):
            part = chunk[start : start + most]
            if waiting and sum(map(len, waiting)) + len(part) > most:
                write()
            waiting.append(part)
    if waiting:
        write()
    return Stored(dtype, tuple((part,) for part in slices), sampler.records(dtype), sampler.share)


def grouped(slices: Iterable[Slice], most: int) -> list[tuple[Slice, ...]]:
    """Slices in groups of at most ``most`` items, in their order. Slices with more items are divided."""
    groups: list[tuple[Slice, ...]] = []
    group: list[Slice] = []
    free = most
    for part in slices:
        done = 0
        while done < part.length:
            taken = min(part.length - done, free)
            group.append(Slice(part.path, part.start + done, taken))
            done, free = done + taken, free - taken
            if not free:
                groups.append(tuple(group))
                group, free = [], most
    return [*groups, tuple(group)] if group else groups


def slice_files(slices: Iterable[Slice]) -> set[str]:
    """The files of slices."""
    return {part.path for part in slices}
