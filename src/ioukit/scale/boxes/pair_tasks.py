"""The pairs of one cell: a task that reads boxes from files and writes pairs into files."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit.overlap.join import join_corners
from ioukit.scale.boxes.record_files import Slice, read_slices, total
from ioukit.scale.boxes.sorted_runs import Run, write_run
from ioukit.scale.boxes.spilling import mixed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ioukit.overlap.variants import Measure
    from ioukit.scale.boxes.box_records import Records

__all__ = ["Block", "JoinRule", "PairTask", "find_pairs"]

_FIRST_SAMPLE, _SAMPLE = 512, 1 << 15
"""Boxes of the first and of the last sample that says where pairs are."""
_ENOUGH = 2000
"""Pairs of a sample that need no larger sample."""
_RESOLUTION = 8
"""Pairs of a sample that a piece has at least."""
_SAFETY = 1.5
_ALL = 1 << 24
"""The numbers of `mixed`."""


class JoinRule(NamedTuple):
    """Which boxes are pairs."""

    measure: Measure
    least: float
    """The smallest value of a pair."""
    values: np.dtype[Any]
    """The dtype of the values."""


class Block(NamedTuple):
    """Some boxes of a cell."""

    own: tuple[Slice, ...]
    """Boxes that live in the cell."""
    guests: tuple[Slice, ...] = ()
    """Boxes that visit it."""

    @property
    def size(self) -> int:
        """How many boxes there are."""
        return total(self.own) + total(self.guests)


@dataclass(frozen=True)
class PairTask:
    """Finds the pairs of a block with itself or with another one.

    Of a set that is joined with itself, a pair counts unless both boxes are guests.
    """

    rule: JoinRule
    first: Block
    second: Block | None
    """None if the block is joined with itself. All rows of a second block of the same set are larger."""
    dtypes: tuple[np.dtype[Any], np.dtype[Any]]
    """Of the records of both blocks."""
    pairs: int
    """How many pairs may be in memory."""
    threads: int
    path: str
    """How the names of the files begin."""


class _Boxes(NamedTuple):
    """Boxes in the order of their rows."""

    corners: NDArray[Any]
    rows: NDArray[np.int64]
    labels: NDArray[np.int64] | None
    guest: NDArray[np.bool_]

    def take(self, places: Any) -> _Boxes:
        return _Boxes(*(None if column is None else column[places] for column in self))  # type: ignore[arg-type]


def find_pairs(task: PairTask) -> list[Run]:
    """Writes the pairs in runs, each sorted by the first row and then the second."""
    kind = np.promote_types(task.dtypes[0]["box"].base, task.dtypes[1]["box"].base)
    first = _boxes(task.first, task.dtypes[0], kind)
    second = None if task.second is None else _boxes(task.second, task.dtypes[1], kind)
    runs: list[Run] = []
    for rows, others, values in _pieces(task, first, second):
        if len(rows):
            runs.append(write_run(f"{task.path}-{len(runs):04}", rows, others, values))
    return runs


def _boxes(block: Block, dtype: np.dtype[Any], kind: np.dtype[Any]) -> _Boxes:
    records: Records = read_slices([*block.own, *block.guests], dtype)
    order = np.argsort(records["row"], kind="stable")
    records = np.take(records, order)
    labels = records["label"].copy() if "label" in dtype.names else None  # type: ignore[operator]
    return _Boxes(records["box"].astype(kind), records["row"].copy(), labels, order >= total(block.own))


def _pieces(
    task: PairTask, first: _Boxes, second: _Boxes | None
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]]:
    """The pairs, about as many at a time as there is room for."""
    count = len(first.rows)
    if not count:
        return
    starts = _starts(task, first, second)
    for start, end in zip(starts, [*starts[1:], count], strict=True):
        piece = first.take(slice(start, end))
        if second is not None or len(starts) == 1:
            whole = piece if second is None else second
            yield _kept(piece, whole, *_joined(task, piece, second))
            continue
        rest = first.take(slice(end, None))
        parts = [
            _kept(piece, piece, *_joined(task, piece, None)),
            _kept(piece, rest, *_joined(task, piece, rest)),
        ]
        rows, others, values = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.lexsort((others, rows))
        yield rows[order], others[order], values[order]


def _joined(task: PairTask, first: _Boxes, second: _Boxes | None) -> tuple[Any, Any, Any]:
    rule = task.rule
    corners, labels = (None, None) if second is None else (second.corners, second.labels)
    return join_corners(
        rule.measure, rule.least, rule.values, first.corners, corners, first.labels, labels, task.threads
    )


def _kept(
    first: _Boxes, second: _Boxes, rows: NDArray[np.int64], columns: NDArray[np.int64], values: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """The pairs that count, with their rows in the input."""
    if first.guest.any():
        counts = ~(first.guest[rows] & second.guest[columns])
        rows, columns, values = rows[counts], columns[counts], values[counts]
    return first.rows[rows], second.rows[columns], values


def _starts(task: PairTask, first: _Boxes, second: _Boxes | None) -> list[int]:
    """Where pieces of ``first`` begin, so that each has about as many pairs as there is room for, by a sample."""
    count, other_count = len(first.rows), len((second or first).rows)
    size = _FIRST_SAMPLE
    while True:
        limits = [min(_ALL, size * _ALL // each) for each in (count, max(other_count, 1))]
        places = np.flatnonzero(mixed(first.rows) < limits[0])
        other = None if second is None else second.take(mixed(second.rows) < limits[1])
        found = _joined(task, first.take(places), other)[0]
        if len(found) > _ENOUGH or size >= min(_SAMPLE, max(count, other_count)):
            break
        size *= 4
    shares = (limits[0] / _ALL) * (limits[1] / _ALL)
    weight = 1.0 if shares == 1 else _SAFETY / shares
    step = math.floor(task.pairs / weight)
    if step < _RESOLUTION and shares < 1:  # the sample is too small to say where the pairs are
        most = max(1, math.floor(count * task.pairs / (weight * (len(found) + 1))))
        return list(range(0, count, most))
    ends = places[found[max(step, 1) :: max(step, 1)]]
    return [int(start) for start in np.unique(np.append(0, ends))]
