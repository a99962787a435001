"""The cut of a set of boxes into cells of space and size, so that each pair belongs to one cell.

A box lives in one cell, by its low corner, its sides and its label. A pair belongs to the cell of one of its boxes, and
the other box visits that cell as a guest. The extents of the boxes that live in a cell say which boxes have to visit
it, one extent per layer of sizes (see `reach`). `plan_cells` cuts a sample until each cell with its guests has few
enough boxes. It cuts at the median of the key that makes the fewest guests.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from ioukit.scale.boxes.reach import Extents, Reach, box_extents, group_extents, joined_extents
from ioukit.scale.boxes.record_files import Slice, read_slices, write_array
from ioukit.scale.boxes.spilling import slice_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ioukit.scale.boxes.box_records import Records
    from ioukit.scale.boxes.spilling import Stored

__all__ = [
    "Cells",
    "CutFile",
    "CutTask",
    "GuestFile",
    "GuestTask",
    "Guests",
    "Runner",
    "cut",
    "cut_stored",
    "find_guests",
    "guests_of",
    "hosts_of",
    "plan_cells",
]

Guests: TypeAlias = Literal["all", "others", "lower"]
"""To which cells a box comes as a guest: to all, to all but its own, or to those before its own."""

Runner: TypeAlias = "Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]"
"""Calls a function for each task, as `map` does: results in the order of the tasks."""

_MOST_CELLS = 8192
_LEAST_SAMPLE = 16  # boxes of a sample that say how a cell is cut
_SMALLER = 0.75  # a cut must leave at most this part of the boxes in the larger half


class Cells(NamedTuple):
    """A binary tree of cuts. Node 0 is the whole; a node is a cell if its left node is 0."""

    key: NDArray[np.int8]
    """(N,) which `_key` is cut."""
    value: NDArray[np.float64]
    """(N,) boxes with a lesser key go left."""
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    cell: NDArray[np.int64]
    """(N,) the number of the cell, from left to right; -1 for other nodes."""
    number: int
    """How many cells there are."""

    def of(self, records: Records) -> NDArray[np.int64]:
        """(N,) the cell of each box."""
        cells = np.zeros(len(records), np.int64)
        keys: list[Any] = [
            _key(records, number) if number in self.key[self.left > 0] else None for number in range(_KEYS)
        ]
        waiting = [(0, np.arange(len(records)))]
        while waiting:
            node, places = waiting.pop()
            if not self.left[node]:
                cells[places] = self.cell[node]
            elif len(places):
                lesser = keys[self.key[node]][places] < self.value[node]
                waiting.append((int(self.left[node]), places[lesser]))
                waiting.append((int(self.right[node]), places[~lesser]))
        return cells


_KEYS = 5


def _key(records: Records, number: int) -> NDArray[np.float64]:
    """What boxes are cut by: the low corner, the sides and the label, which is 0 for boxes without labels."""
    if number == _KEYS - 1:
        labels = records["label"] if "label" in records.dtype.names else np.zeros(len(records))
        return np.asarray(labels, np.float64)  # monotone, so equal labels stay together
    low = np.asarray(records["box"][:, number % 2], np.float64)
    return low if number < 2 else np.asarray(records["box"][:, number], np.float64) - low


class _Part(NamedTuple):
    """The boxes of the samples that live in a cell, and those that are its guests."""

    own: NDArray[np.int64]
    guests: NDArray[np.int64]


def plan_cells(
    sample: Records, share: float, guests: Records | None, guest_share: float, reach: Reach, most: int
) -> Cells:
    """Cells that have about ``most`` boxes with their guests.

    Args:
        sample: Some of the boxes.
        share: How many of all boxes they are, in (0, 1].
        guests: Some of the boxes that may be guests; None if they are the same.
        guest_share: How many of all guests they are.
        reach: Who may be a guest.
        most: How many boxes a cell should have.
    """
    boxes = box_extents(sample)
    others = boxes if guests is None else box_extents(guests)
    both = guests is None

    def load(part: _Part) -> float:
        return len(part.own) / share + len(part.guests) / guest_share

    layers = _layers(boxes)

    def half(part: _Part, own: NDArray[np.int64]) -> _Part:
        own = own[np.argsort(layers[own], kind="stable")]
        extents = group_extents(boxes.take(own), _starts(layers[own]))
        around = np.concatenate([part.guests, np.setdiff1d(part.own, own)]) if both else part.guests
        candidates = others.take(around)
        visits = np.zeros(len(around), bool)
        for group in range(len(extents.area)):
            visits |= reach.meets(extents.take(slice(group, group + 1)), candidates)
        return _Part(own, around[visits])

    whole = _Part(np.arange(len(sample)), np.arange(0 if guests is None else len(guests)))
    keys = [_key(sample, number) for number in range(_KEYS)]
    key, value, left, right = [0], [0.0], [0], [0]
    waiting, leaves = [(0, whole)], 1
    while waiting:
        node, part = waiting.pop()
        if load(part) <= most or len(part.own) < 2 * _LEAST_SAMPLE or leaves >= _MOST_CELLS:
            continue
        best = None
        for number, column in enumerate(keys):
            own = column[part.own]
            at = _middle(own)
            if at is None:
                continue
            halves = half(part, part.own[own < at]), half(part, part.own[own >= at])
            cost = load(halves[0]) + load(halves[1])
            if max(map(load, halves)) <= _SMALLER * load(part) and (best is None or cost < best[0]):
                best = cost, number, at, halves
        if best is None:
            continue
        _, key[node], value[node], halves = best
        left[node], right[node] = len(key), len(key) + 1
        for new in halves:
            waiting.append((len(key), new))
            for column_of_nodes, zero in ((key, 0), (value, 0.0), (left, 0), (right, 0)):
                column_of_nodes.append(zero)  # type: ignore[arg-type]
        leaves += 1
    return _numbered(key, value, left, right)


def _middle(values: NDArray[Any]) -> float | None:
    """A value with about as many values below as from it on; None if all are equal."""
    at = np.partition(values, len(values) // 2)[len(values) // 2]
    if values.min() < at:
        return float(at)
    above = values[values > at]
    return float(above.min()) if len(above) else None


def _numbered(key: list[int], value: list[float], left: list[int], right: list[int]) -> Cells:
    cell, count, waiting = np.full(len(key), -1), 0, [0]
    while waiting:
        node = waiting.pop()
        if left[node]:
            waiting += [right[node], left[node]]
        else:
            cell[node] = count
            count += 1
    return Cells(np.array(key, np.int8), np.array(value), np.array(left), np.array(right), cell, count)


@dataclass(frozen=True)
class CutTask:
    """Sorts some records by cell."""

    slices: tuple[Slice, ...]
    dtype: np.dtype[Any]
    cells: Cells
    path: str
    """Where the sorted records go."""


class CutFile(NamedTuple):
    """Records sorted by cell, and within a cell by size."""

    path: str
    cells: NDArray[np.int64]
    """(G,) the cell of each group of boxes of one size, ascending."""
    layers: NDArray[np.int64]
    """(G,) the size of the boxes of each group."""
    starts: NDArray[np.int64]
    """(G + 1,) where the groups begin."""
    extents: Extents
    """(G,)"""

    def slice_of(self, cell: int) -> Slice:
        """The records of a cell."""
        first, last = np.searchsorted(self.cells, [cell, cell + 1])
        return Slice(self.path, int(self.starts[first]), int(self.starts[last] - self.starts[first]))


def cut(task: CutTask) -> CutFile:
    """Writes the records in the order of their cells. Equal cells and sizes keep their order."""
    records = read_slices(task.slices, task.dtype)
    cells, layers = task.cells.of(records), _layers(box_extents(records))
    order = np.argsort(_small(cells * (1 << 20) + layers), kind="stable")
    records, cells, layers = np.take(records, order), cells[order], layers[order]  # faster than records[order]
    starts = _starts(cells, layers)
    write_array(task.path, records)
    extents = group_extents(box_extents(records), starts)
    return CutFile(task.path, cells[starts], layers[starts], np.append(starts, len(records)), extents)


def _layers(boxes: Extents) -> NDArray[np.int64]:
    """(N,) the layer of each box: its sides are within a factor of sixteen along each axis, as in the core."""
    exponents = np.frexp(boxes.least)[1].astype(np.int64) >> 2
    layers: NDArray[np.int64] = (exponents[:, 0] + 512) * 1024 + exponents[:, 1] + 512
    return layers


def _small(codes: NDArray[np.int64]) -> NDArray[Any]:
    """(N,) the codes as numbers that sort in the same way, and fast if there are few different ones."""
    different = np.unique(codes[:: max(1, len(codes) >> 12)])
    places = np.minimum(np.searchsorted(different, codes), max(len(different) - 1, 0))
    if len(codes) and len(different) < 1 << 15 and (different[places] == codes).all():
        return places.astype(np.int16)
    return codes


def _starts(*sorted_columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where runs of equal numbers begin."""
    new = np.zeros(len(sorted_columns[0]), bool)
    new[:1] = True
    for column in sorted_columns:
        new[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(new)


@dataclass(frozen=True)
class GuestTask:
    """Finds the cells that each box of a file visits."""

    file: CutFile
    dtype: np.dtype[Any]
    hosts: Extents
    """The extents of the boxes that live in cells: one for each cell and size."""
    host_cells: NDArray[np.int64]
    """The cell of each."""
    cells: int
    reach: Reach
    guests: Guests
    path: str
    """Where the guests go, sorted by the cell that they visit."""


class GuestFile(NamedTuple):
    """Records sorted by the cell that they visit."""

    path: str
    starts: NDArray[np.int64]
    """(C + 1,) where the guests of each cell begin."""
    border: str
    """A file with one byte per record of the cut file: 1 if it visits any cell."""

    def slice_of(self, cell: int) -> Slice:
        """The guests of a cell."""
        return Slice(self.path, int(self.starts[cell]), int(self.starts[cell + 1] - self.starts[cell]))


def find_guests(task: GuestTask) -> GuestFile:
    """Writes each box once for every cell that it visits."""
    file, hosts = task.file, task.hosts
    records = read_slices([Slice(file.path, 0, int(file.starts[-1]))], task.dtype)
    boxes = box_extents(records)
    border = np.zeros(len(records), np.uint8)
    visits: list[tuple[int, NDArray[np.int64]]] = []
    for group, own in enumerate(file.cells):
        start, end = int(file.starts[group]), int(file.starts[group + 1])
        near = task.reach.meets(hosts, file.extents.take(slice(group, group + 1)))
        if task.guests == "others":
            near &= task.host_cells != own
        elif task.guests == "lower":
            near &= task.host_cells < own
        here = boxes.take(slice(start, end))
        found: dict[int, list[NDArray[np.int64]]] = {}
        for host in np.flatnonzero(near):
            places = _visitors(task.reach, hosts, int(host), here)
            if len(places):
                found.setdefault(int(task.host_cells[host]), []).append(places + start)
        for cell, parts in found.items():
            places = parts[0] if len(parts) == 1 else np.unique(np.concatenate(parts))
            border[places] = 1
            visits.append((cell, places))
    visits.sort(key=lambda visit: visit[0])  # stable: within a cell in the order of the file
    counts = np.zeros(task.cells + 1, np.int64)
    for cell, places in visits:
        counts[cell + 1] += len(places)
    order = np.concatenate([places for _, places in visits]) if visits else np.zeros(0, np.int64)
    write_array(task.path, np.take(records, order))
    write_array(f"{task.path}.border", border)
    return GuestFile(task.path, np.cumsum(counts), f"{task.path}.border")


def _visitors(reach: Reach, hosts: Extents, host: int, boxes: Extents) -> NDArray[np.int64]:
    """The places of the boxes that may form a pair with a box of a host group."""
    low, high = hosts.low[host], hosts.high[host]
    near = (boxes.high[:, 0] >= low[0]) & (boxes.low[:, 0] <= high[0])
    near &= (boxes.high[:, 1] >= low[1]) & (boxes.low[:, 1] <= high[1])
    places = np.flatnonzero(near)
    return places[reach.meets(hosts.take(slice(host, host + 1)), boxes.take(places))]


def hosts_of(files: Sequence[CutFile]) -> tuple[Extents, NDArray[np.int64]]:
    """The extents of the groups of all files, those of one cell and size as one; and the cell of each."""
    cells = np.concatenate([file.cells for file in files])
    layers = np.concatenate([file.layers for file in files])
    order = np.lexsort((layers, cells))
    cells, layers = cells[order], layers[order]
    starts = _starts(cells, layers)
    return group_extents(joined_extents([file.extents for file in files]).take(order), starts), cells[starts]


def cut_stored(stored: Stored, cells: Cells, folder: Path, name: str, run: Runner) -> list[CutFile]:
    """The set cut by cells, one file per chunk. The files of the set are removed."""
    tasks = [
        CutTask(slices, stored.dtype, cells, str(folder / f"{name}-cut-{number:05}"))
        for number, slices in enumerate(stored.chunks)
    ]
    files = list(run(cut, tasks))
    for path in slice_files(part for slices in stored.chunks for part in slices):
        os.unlink(path)
    return files


def guests_of(
    files: Sequence[CutFile],
    dtype: np.dtype[Any],
    hosts: Sequence[CutFile],
    cells: Cells,
    reach: Reach,
    guests: Guests,
    run: Runner,
) -> list[GuestFile]:
    """The boxes of each file that visit cells in which the boxes of ``hosts`` live."""
    extents, host_cells = hosts_of(hosts)
    tasks = [
        GuestTask(file, dtype, extents, host_cells, cells.number, reach, guests, f"{file.path}-guests")
        for file in files
    ]
    return list(run(find_guests, tasks))
