"""Sorted runs of results in files, and their merge in bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit.scale.record_files import write_array

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["Run", "by_both", "merged", "read_run", "write_run"]


class Run(NamedTuple):
    """A file with three columns, one behind the other: two of integers, by which rows ascend, and the values."""

    path: str
    length: int
    values: np.dtype[Any]


Rows = tuple["NDArray[np.int64]", "NDArray[np.int64]", "NDArray[Any]"]


def write_run(path: str, first: NDArray[np.int64], second: NDArray[np.int64], values: NDArray[Any]) -> Run:
    """Writes rows that are sorted by ``first``, then ``second``."""
    columns = [np.ascontiguousarray(column).view(np.uint8) for column in (first, second, values)]
    write_array(path, np.concatenate(columns))
    return Run(path, len(first), values.dtype)


def read_run(run: Run) -> Rows:
    """All rows of a run."""
    columns = _columns(run)
    return np.array(columns[0]), np.array(columns[1]), np.array(columns[2])


def _columns(run: Run) -> Rows:
    whole = np.memmap(run.path, np.uint8, mode="r")
    size = 8 * run.length
    return (
        np.asarray(whole[:size]).view(np.int64),
        np.asarray(whole[size : 2 * size]).view(np.int64),
        np.asarray(whole[2 * size : 2 * size + run.length * run.values.itemsize]).view(run.values),
    )


def by_both(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.intp]:
    """The order by ``first``, then ``second``; no two rows are equal in both. Faster than `numpy.lexsort`."""
    order = np.argsort(first)
    ranked = first[order]
    tied = ranked[1:] == ranked[:-1]
    if tied.any():
        places = np.flatnonzero(np.append(tied, False) | np.append(False, tied))
        rows = order[places]
        order[places] = rows[np.lexsort((second[rows], first[rows]))]
    return order


def merged(runs: Sequence[Run], most: int) -> Iterator[Rows]:
    """The rows of all runs in one order, at most ``most`` at a time. No two rows are equal in both integers."""
    columns = [_columns(run) for run in runs if run.length]
    places = [0] * len(columns)
    while any(place < len(run[0]) for place, run in zip(places, columns, strict=True)):
        ends = _ends(columns, places, most)
        parts = [
            tuple(np.array(column[place:end]) for column in run)
            for run, place, end in zip(columns, places, ends, strict=True)
            if end > place
        ]
        places = ends
        first, second, values = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = by_both(first, second)
        yield first[order], second[order], values[order]


def _ends(columns: Sequence[Rows], places: list[int], most: int) -> list[int]:
    """Where the next rows end in each run: all rows below a bound, as many as possible and at least one."""
    left = sum(len(run[0]) - place for run, place in zip(columns, places, strict=True))
    if left <= most:
        return [len(run[0]) for run in columns]

    def before(bound: int) -> list[int]:
        return [place + int(np.searchsorted(run[0][place:], bound)) for run, place in zip(columns, places, strict=True)]

    ends = _largest(before, places, most, [int(run[0][-1]) for run in columns], _heads(columns, places, 0))
    if ends != places:
        return ends
    # One number of the first column has more rows than that: the second column decides.
    tied = min(_heads(columns, places, 0))
    until = before(tied + 1)

    def before_second(bound: int) -> list[int]:
        return [
            place + int(np.searchsorted(run[1][place:end], bound))
            for run, place, end in zip(columns, places, until, strict=True)
        ]

    lows = [int(run[1][place]) for run, place, end in zip(columns, places, until, strict=True) if end > place]
    highs = [int(run[1][end - 1]) for run, place, end in zip(columns, places, until, strict=True) if end > place]
    return _largest(before_second, places, most, highs, lows)


def _heads(columns: Sequence[Rows], places: list[int], column: int) -> list[int]:
    return [int(run[column][place]) for run, place in zip(columns, places, strict=True) if place < len(run[0])]


def _largest(before: Any, places: list[int], most: int, highs: list[int], lows: list[int]) -> list[int]:
    """`before` of the largest bound for which it takes at most ``most`` rows."""
    low, high = min(lows), max(highs) + 1  # `low` takes no row
    ends: list[int] = places
    while high - low > 1:
        middle = (low + high) // 2
        tried = before(middle)
        if sum(tried) - sum(places) <= most:
            low, ends = middle, tried
        else:
            high = middle
    return ends
