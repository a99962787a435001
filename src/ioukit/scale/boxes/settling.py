"""The fate of the boxes of one cell: a task of `nms` that reads boxes from files and writes survivors into files.

The boxes are taken from the best score down, in blocks that grow. A box is removed if a better box that surely survives
overlaps it. It waits if it visits the cell (another cell may know better), or if a better box that waits overlaps it.
Otherwise it survives. Only boxes that survive or wait are compared with later blocks, so few pairs are in memory.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit import _core
from ioukit.scale.boxes.record_files import Slice, concatenated, read_slices, total, write_array
from ioukit.scale.boxes.sorted_runs import Run, by_both, write_run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ioukit.scale.boxes.box_records import Records

__all__ = ["FateTask", "Settled", "settle"]

_FIRST_BLOCK = 1 << 15
_KEPT, _REMOVED = 0, 1


@dataclass(frozen=True)
class FateTask:
    """Decides the boxes that live in a cell, as far as the cell can."""

    variant: str
    least: float
    """The smallest overlap that removes a box, above 0."""
    own: tuple[Slice, ...]
    """Boxes that live in the cell."""
    border: tuple[Slice, ...]
    """One byte for each: whether it visits other cells. Empty if there are no other cells."""
    guests: tuple[Slice, ...]
    """Boxes of other cells that may overlap one of them."""
    dtype: np.dtype[Any]
    boxes: int
    """How many boxes may be in memory."""
    pairs: int
    """How many pairs may be in memory."""
    threads: int
    path: str
    """How the names of the files begin."""


class Settled(NamedTuple):
    """What a cell has decided."""

    kept: tuple[Run, ...]
    """The boxes that live in the cell and survive, by their order keys and rows, except for those known before."""
    left: tuple[Slice, ...]
    """The boxes that live in the cell and wait, and those that survive and that other cells have to know."""
    waiting: int
    """How many of them wait."""


def settle(task: FateTask) -> Settled:
    """Writes the survivors of a cell, and the boxes that wait."""
    kept: list[Run] = []
    left: list[Slice] = []
    waiting = 0
    alive = _Alive(task)
    for number, (records, guest, border) in enumerate(_by_score(task)):
        keep, wait = np.zeros(len(records), bool), np.zeros(len(records), bool)
        start, size = 0, _FIRST_BLOCK
        while start < len(records):
            part = slice(start, start + size)
            fates, pairs = _fates(task, records[part], guest[part], alive)
            keep[part], wait[part] = fates == _KEPT, fates > _REMOVED
            alive.add(np.compress(fates != _REMOVED, records[part]), (fates > _REMOVED)[fates != _REMOVED])
            start += size
            size = max(1, math.floor(size * min(2.0, math.sqrt(task.pairs / 4 / (pairs + 1)))))
        found = keep & ~guest & ~records["done"]
        if found.any():
            rows, keys = records["row"][found], records["key"][found]
            kept.append(write_run(f"{task.path}-kept-{number:04}", keys, rows, np.zeros(len(rows), np.uint8)))
        records["done"] |= keep
        stays = ~guest & (wait | (keep & border))
        if stays.any():
            path = f"{task.path}-left-{number:04}"
            write_array(path, np.compress(stays, records))
            left.append(Slice(path, 0, int(stays.sum())))
        waiting += int((wait & ~guest).sum())
    return Settled(tuple(kept), tuple(left), waiting)


class _Alive:
    """The boxes that survive or wait so far, in parts of about as many boxes as may be in memory."""

    def __init__(self, task: FateTask) -> None:
        self._path, self._most, self._dtype = f"{task.path}-alive", max(task.boxes // 2, 1), task.dtype
        self._files: list[tuple[Slice, Slice]] = []
        self._records: list[Records] = []
        self._waits: list[NDArray[np.bool_]] = []

    def add(self, records: Records, waits: NDArray[np.bool_]) -> None:
        if not len(records):
            return
        self._records.append(records)
        self._waits.append(waits)
        if sum(map(len, self._waits)) > self._most:
            records, waits = self._joined()
            names = [f"{self._path}-{len(self._files):05}{end}" for end in ("", "-waits")]
            write_array(names[0], records)
            write_array(names[1], waits)
            self._files.append((Slice(names[0], 0, len(records)), Slice(names[1], 0, len(waits))))
            self._records, self._waits = [], []

    def parts(self) -> Iterator[tuple[Records, NDArray[np.bool_]]]:
        for records, waits in self._files:
            yield read_slices([records], self._dtype), read_slices([waits], np.dtype(np.bool_))
        if self._records:
            self._records, self._waits = [[part] for part in self._joined()]
            yield self._records[0], self._waits[0]

    def _joined(self) -> tuple[Records, NDArray[np.bool_]]:
        return concatenated(self._records), np.concatenate(self._waits)


def _fates(task: FateTask, records: Records, guest: NDArray[np.bool_], alive: _Alive) -> tuple[NDArray[np.uint8], int]:
    """0 for a box that survives, 1 for one that is removed, 2 for one that waits; and how many pairs were found."""
    fates = np.full(len(records), _REMOVED, np.uint8)
    is_open, removed = guest & ~records["done"], np.zeros(len(records), bool)
    count = 0
    for better, waits in alive.parts():
        rows, columns = _pairs(task, better, records)
        count += len(rows)
        removed[columns[~waits[rows]]] = True
        is_open[columns[waits[rows]]] = True
    removed &= ~records["done"]
    left = np.flatnonzero(~removed)
    records = np.take(records, left)
    rows, columns = _pairs(task, records, None)
    count += len(rows)
    counts = ~records["done"][columns]  # what other cells know to survive is not removed
    fates[left] = _core.settle_pairs(is_open[left] & ~records["done"], rows[counts], columns[counts])
    return fates, count


def _pairs(task: FateTask, better: Records, others: Records | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    labelled = "label" in task.dtype.names  # type: ignore[operator]
    columns = [
        (records["box"].copy(), records["label"].copy() if labelled else None)  # contiguous and aligned
        for records in (better, others)
        if records is not None
    ]
    second = columns[1] if others is not None else (None, None)
    rows, places, _ = _core.overlap_join(
        task.variant, task.least, columns[0][0], second[0], columns[0][1], second[1], task.threads
    )
    return rows, places


def _by_score(task: FateTask) -> Iterator[tuple[Records, NDArray[np.bool_], NDArray[np.bool_]]]:
    """The boxes from the best score down, as many at a time as may be in memory; guests; boxes at a border."""
    count = total(task.own) + total(task.guests)
    bounds: list[tuple[int, int] | None] = [*(_splitters(task, count) if count > task.boxes else []), None]
    below: tuple[int, int] | None = None
    for bound in bounds:
        parts = []
        for slices, borders, visits in ((task.own, task.border, False), (task.guests, (), True)):
            for number, part in enumerate(slices):
                records = read_slices([part], task.dtype)
                flags = np.zeros((len(records), 2), bool)
                flags[:, 0] = visits
                if borders:
                    flags[:, 1] = read_slices([borders[number]], np.dtype(np.bool_))
                within = np.ones(len(records), bool)
                if bound is not None:
                    within &= _before(records, bound)
                if below is not None:
                    within &= ~_before(records, below)
                parts.append((np.compress(within, records), flags[within]))
        below = bound
        if not parts:
            return
        records = concatenated([part[0] for part in parts])
        flags = np.concatenate([part[1] for part in parts])
        order = by_both(records["key"], records["row"])
        yield np.take(records, order), flags[order, 0], flags[order, 1]


def _splitters(task: FateTask, count: int) -> list[tuple[int, int]]:
    """Keys and rows that divide the boxes into parts of about two thirds of what fits."""
    sample = []
    every = max(1, count // (1 << 17))
    for part in (*task.own, *task.guests):
        records = read_slices([part], task.dtype)[::every]
        sample.append(np.stack([records["key"], records["row"]], axis=1))
    ranks = np.concatenate(sample)
    ranks = ranks[np.lexsort((ranks[:, 1], ranks[:, 0]))]
    parts = math.ceil(count / (task.boxes * 2 / 3))
    places = np.unique(np.linspace(0, len(ranks), parts + 1).astype(int)[1:-1])
    return [(int(key), int(row)) for key, row in ranks[places]]


def _before(records: Records, bound: tuple[int, int]) -> NDArray[np.bool_]:
    """The boxes that are better than a bound."""
    key, row = bound
    before: NDArray[np.bool_] = (records["key"] < key) | ((records["key"] == key) & (records["row"] < row))
    return before
