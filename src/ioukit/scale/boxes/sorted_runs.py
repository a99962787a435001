"""Sorted runs of results in files, and their merge in bounded memory."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit.scale.boxes.record_files import write_array

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
    return _part(run, 0, run.length)


def _part(run: Run, start: int, end: int) -> Rows:
    """Some rows of a run, read and not mapped: mapped pages would count as memory of the process."""
    count, size = end - start, run.length * 8
    return (
        np.fromfile(run.path, np.int64, count, offset=start * 8),
        np.fromfile(run.path, np.int64, count, offset=size + start * 8),
        np.fromfile(run.path, run.values, count, offset=2 * size + start * run.values.itemsize),
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
    runs = [run for run in runs if run.length]
    places, lengths = [0] * len(runs), [run.length for run in runs]
    while places != lengths:
        ends = _ends(runs, places, lengths, most)
        parts = [_part(run, place, end) for run, place, end in zip(runs, places, ends, strict=True) if end > place]
        places = ends
        first, second, values = (np.concatenate(column) for column in zip(*parts, strict=True))
        del parts
        order = by_both(first, second)
        yield first[order], second[order], values[order]


def _ends(runs: Sequence[Run], places: list[int], lengths: list[int], most: int) -> list[int]:
    """Where the next rows end in each run: all rows below a bound, as many as possible and at least one."""
    if sum(lengths) - sum(places) <= most:
        return lengths
    ends, after = _below(runs, 0, places, lengths, most)
    if ends != places:
        return ends
    # One number of the first column has more rows than that: the second column decides.
    return _below(runs, 1, places, after, most)[0]


def _below(
    runs: Sequence[Run], column: int, places: list[int], lasts: list[int], most: int
) -> tuple[list[int], list[int]]:
    """Where the rows below a bound end, for the largest bound with at most ``most`` rows; and for the next bound.

    The numbers of the column ascend in each run between its place and its last row.
    """
    left = [(run, place, last) for run, place, last in zip(runs, places, lasts, strict=True) if last > place]
    low = min(_number(run, column, place) for run, place, _ in left)  # takes no row
    high = max(_number(run, column, last - 1) for run, _, last in left) + 1
    ends, after = places, lasts
    while high - low > 1:
        middle = (low + high) // 2
        tried = [_search(run, column, middle, *ends_of) for run, *ends_of in zip(runs, ends, after, strict=True)]
        if sum(tried) - sum(places) <= most:
            low, ends = middle, tried
        else:
            high, after = middle, tried
    return ends, after


def _number(run: Run, column: int, row: int) -> int:
    return int(np.fromfile(run.path, np.int64, 1, offset=8 * (column * run.length + row))[0])


def _search(run: Run, column: int, bound: int, low: int, high: int) -> int:
    """The first row from ``low`` on with a number of at least ``bound``, or ``high``.

    It reads single numbers: mapped pages would count as memory of the process.
    """
    if low == high:
        return low
    start = 8 * column * run.length
    with open(run.path, "rb", buffering=0) as file:
        while low < high:
            middle = (low + high) // 2
            file.seek(start + 8 * middle)
            if int.from_bytes(file.read(8), sys.byteorder, signed=True) < bound:
                low = middle + 1
            else:
                high = middle
    return low
