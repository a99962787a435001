"""The sparse join of regions other than upright boxes: a join of the boxes around them, then the exact overlaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit import _core
from ioukit.regions import Boxes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ioukit.regions import Regions
    from ioukit.typing import FloatArray

    Ids = NDArray[np.int64]
    PairsOf = Callable[[str, Any, Any, Ids, Ids, int], FloatArray]

__all__ = ["RegionSet", "join", "region_set"]

CANDIDATES = 1 << 20
"""The number of candidate pairs in memory at a time, roughly."""

FIRST_ROWS = 1 << 12
"""The number of rows in the first block, which shows how many candidates a row has."""

AREAS = (2.0**-100, 2.0**120)
"""Between these bounds an area is exact except for a few roundings, also in float32."""

LEAST = 5e-324
"""The smallest positive threshold: with it, a join finds every pair of boxes with an intersection."""


class RegionSet(NamedTuple):
    """Regions, (N, 4) corners of the boxes around them, and their labels."""

    regions: Regions
    bounds: FloatArray
    labels: Ids | None


def region_set(regions: Regions, labels: Ids | None) -> RegionSet:
    """Regions with boxes around them, which are widened: rounding may have made them too small."""
    bounds = Boxes(regions.to_boxes(), dtype=np.float64).numpy()
    margin = (np.abs(bounds[:, :2]) + np.abs(bounds[:, 2:])) * 2.0**-48
    bounds[:, :2] -= margin
    bounds[:, 2:] += margin
    return RegionSet(regions, bounds, labels)


def join(
    pairs: PairsOf, measure: str, least: float, first: RegionSet, second: RegionSet | None, threads: int
) -> tuple[Ids, Ids, FloatArray]:
    """Rows, columns and values of the pairs whose overlap is above 0 and at least ``least``.

    The values have the bits of the dense table.

    Args:
        pairs: `Engine.pairs` of the engine for this kind.
        measure: ``"iou"``, ``"ioa_first"``, ``"ioa_second"`` or ``"iom"``.
        least: Within (0, 1].
        first: The regions that the rows count.
        second: The regions that the columns count; None for the pairs ``row < column`` of the first set with itself.
        threads: 0 for one per core.
    """
    found: list[tuple[Ids, Ids, FloatArray]] = []
    count, start, size = len(first.bounds), 0, FIRST_ROWS
    areas = [np.asarray(part.regions.area, np.float64) for part in (first, second or first)]
    while start < count:
        stop = min(start + size, count)
        rows, columns = _candidates(first, second, start, stop, threads)
        # The next block should have about the wanted number of candidates.
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
    """The pairs whose boxes have an intersection, of the rows from ``start`` to ``stop``."""
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
    # Only the regions of this block, because an engine may prepare every region it is given.
    low, high = int(rows[0]), int(rows[-1]) + 1
    used = np.zeros(len(regions2), np.bool_)
    used[columns] = True
    places = np.cumsum(used) - 1
    return pairs(measure, regions1[low:high], regions2[used], rows - low, places[columns], threads)


def _may_reach(measure: str, least: float, first: FloatArray, second: FloatArray) -> NDArray[np.bool_]:
    """(P,) false where the two areas alone show that the overlap is too small: no intersection exceeds an area."""
    if measure == "iom":
        return np.ones(len(first), np.bool_)
    enough = least * (1 - 2.0**-20)  # areas may be rounded to float32
    smaller, larger = np.minimum(first, second), np.maximum(first, second)
    unsure = (smaller < AREAS[0]) | (larger > AREAS[1])
    if measure == "iou":
        return unsure | (smaller >= enough * larger)
    divisor, other = (first, second) if measure == "ioa_first" else (second, first)
    return unsure | (other >= enough * divisor)
