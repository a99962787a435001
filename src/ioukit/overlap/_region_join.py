"""The sparse join of regions that are no upright boxes: a join of the boxes around them, then the exact overlaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit import _core

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ioukit.typing import FloatArray

    Ids = NDArray[np.int64]
    PairsOf = Callable[[str, Any, Any, Ids, Ids, int], FloatArray]

__all__ = ["RegionSet", "join", "region_set"]

CANDIDATES = 1 << 20
"""About so many pairs of boxes are held at a time."""

FIRST_ROWS = 1 << 12
"""So many rows are tried first, to see how many candidates a row has."""

AREAS = (2.0**-100, 2.0**120)
"""Between these an area is exact to a few roundings, also in float32."""

LEAST = 5e-324
"""Any intersection of two boxes is more than this part of the smaller one."""


class RegionSet(NamedTuple):
    """Regions, (N, 4) boxes around them, and their labels."""

    regions: Any
    bounds: FloatArray
    labels: Ids | None


def region_set(regions: Any, labels: Ids | None) -> RegionSet:
    """With boxes widened by more than what rounding may have taken from them."""
    bounds = np.ascontiguousarray(regions.to_boxes().numpy(), np.float64)
    margin = (np.abs(bounds[:, :2]) + np.abs(bounds[:, 2:])) * 2.0**-48
    bounds[:, :2] -= margin
    bounds[:, 2:] += margin
    return RegionSet(regions, bounds, labels)


def join(
    pairs: PairsOf, measure: str, least: float, first: RegionSet, second: RegionSet | None, threads: int
) -> tuple[Ids, Ids, FloatArray]:
    """Rows, columns and values of the pairs whose overlap is above 0 and at least ``least``, as a dense table has them.

    Args:
        pairs: What `Engine.pairs` of their kind is.
        measure: ``"iou"``, ``"ioa_first"``, ``"ioa_second"`` or ``"iom"``.
        least: Within (0, 1].
        first: Whose positions are the rows.
        second: Whose positions are the columns; None for pairs ``row < column`` of the first with itself.
        threads: 0 for all cores.
    """
    found: list[tuple[Ids, Ids, FloatArray]] = []
    count, start, size = len(first.bounds), 0, FIRST_ROWS
    areas = [np.asarray(part.regions.area, np.float64) for part in (first, second or first)]
    while start < count:
        stop = min(start + size, count)
        rows, columns = _candidates(first, second, start, stop, threads)
        # However large the blocks may be, they stay near the wanted number of candidates.
        size = max(64, min(8 * size, int((stop - start) * CANDIDATES / max(len(rows), 1))))
        near = _may_reach(measure, least, areas[0][rows], areas[1][columns])
        rows, columns = rows[near], columns[near]
        values = _measured(pairs, measure, first, second or first, rows, columns, threads)
        reached = (values >= least) & (values > 0)
        found.append((rows[reached], columns[reached], values[reached]))
        start = stop
    if not found:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    rows, columns, values = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return rows, columns, values


def _candidates(first: RegionSet, second: RegionSet | None, start: int, stop: int, threads: int) -> tuple[Ids, Ids]:
    """The pairs of the rows from ``start`` on whose boxes have an intersection."""
    others, before = (first, start) if second is None else (second, 0)
    rows, columns, _ = _core.overlap_join(
        "iom",
        LEAST,
        first.bounds[start:stop],
        others.bounds[before:],
        None if first.labels is None else first.labels[start:stop],
        None if others.labels is None else others.labels[before:],
        threads,
    )
    rows += start
    columns += before
    if second is None:
        ascending = rows < columns
        rows, columns = rows[ascending], columns[ascending]
    return rows, columns


def _measured(
    pairs: PairsOf, measure: str, first: RegionSet, second: RegionSet, rows: Ids, columns: Ids, threads: int
) -> FloatArray:
    regions1, regions2 = first.regions, second.regions
    if not len(rows) or 2 * (int(rows[-1]) - int(rows[0])) >= len(regions1):
        return pairs(measure, regions1, regions2, rows, columns, threads)
    # Only the regions of this block: an engine may prepare all it is given. The columns may be anywhere.
    low, high = int(rows[0]), int(rows[-1]) + 1
    used = np.zeros(len(regions2), np.bool_)
    used[columns] = True
    places = np.cumsum(used) - 1
    return pairs(measure, regions1[low:high], regions2[used], rows - low, places[columns], threads)


def _may_reach(measure: str, least: float, first: FloatArray, second: FloatArray) -> NDArray[np.bool_]:
    """(P,) false where the areas alone say that the overlap is less; the intersection is no larger than either."""
    if measure == "iom":
        return np.ones(len(first), np.bool_)
    enough = least * (1 - 2.0**-20)  # float32 areas included
    smaller, larger = np.minimum(first, second), np.maximum(first, second)
    unsure = (smaller < AREAS[0]) | (larger > AREAS[1])
    if measure == "iou":
        return unsure | (smaller >= enough * larger)
    divisor, other = (first, second) if measure == "ioa_first" else (second, first)
    return unsure | (other >= enough * divisor)
