"""The engine of `Polygons`: native code for two convex polygons in one pass, for others by cuts and triangles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit import _core
from ioukit._array_types import Rows
from ioukit._checks import check_one_unit
from ioukit.overlap.engines.engine import Outlined, giou_of
from ioukit.regions._polygon_geometry import bounds, hull

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.regions import Polygons
    from ioukit.typing import FloatArray


_NAMES = ("boxes1[{}]", "boxes2[{}]")  # what messages call a row of each set
_CROSSED = 1e-9  # a path may go around this part of its area twice, or the wrong way, because of rounding
_MAYBE_FLAT = 1e-12  # an area below this part of the squared diameter may be rounding alone


def pairwise(measure: str, first: Polygons, second: Polygons, threads: int) -> FloatArray:
    """(N, M) overlaps."""
    a, b = _sides(first, second)
    values = _core.polygon_pairwise(measure, a.convex, b.convex, threads)
    if len(a.concave) or len(b.concave):
        rows, columns = _near(a, b)
        values[rows, columns] = _simple(measure, a, b, rows, columns, threads)
    return values


def elementwise(
    measure: str, first: Polygons, second: Polygons, threads: int, names: tuple[str, str] = _NAMES
) -> FloatArray:
    """(N,) overlaps; ``names`` is what messages call a row of each set."""
    a, b = _sides(first, second, names)
    values = _core.polygon_elementwise(measure, a.convex, b.convex, threads)
    at = np.flatnonzero(_any_concave(a, b, np.arange(len(first)), np.arange(len(first))))
    if len(at):
        values[at] = _simple(measure, a, b, at, at, threads)
    return values


def pairs(measure: str, first: Polygons, second: Polygons, rows: Rows, columns: Rows, threads: int) -> FloatArray:
    """(P,) overlaps of the polygons ``first[rows]`` with the polygons ``second[columns]``."""
    a, b = _sides(first, second)
    rows, columns = (np.ascontiguousarray(positions, np.int64) for positions in (rows, columns))
    values = _core.polygon_pairs(measure, a.convex, b.convex, rows, columns, threads)
    at = np.flatnonzero(_any_concave(a, b, rows, columns))
    if len(at):
        values[at] = _simple(measure, a, b, rows[at], columns[at], threads)
    return values


def giou(first: Polygons, second: Polygons, paired: bool, threads: int) -> FloatArray:
    """(N, M) generalized IoU, with the convex hull around two polygons; with ``paired`` (N,)."""
    function = elementwise if paired else pairwise
    one, other = map(_outlined, (first, second))
    return giou_of(function("intersection", first, second, threads), one, other, paired=paired, threads=threads)


def _outlined(polygons: Polygons) -> Outlined:
    vertices, areas = (np.asarray(values, np.float64) for values in (polygons.vertices, polygons.area))
    return Outlined(vertices, polygons.offsets, areas, np.zeros((len(polygons), 2)))


def check(polygons: Polygons, name: str) -> None:
    """Raises `ValueError` for a polygon that crosses itself, as ``name`` with its position."""
    _Side(polygons, f"{name}[{{}}]")


class _Side:
    """One set of polygons: all of them, the convex ones alone, and the rows of those that are concave."""

    def __init__(self, polygons: Polygons, name: str) -> None:
        self.all = np.asarray(polygons.vertices, np.float64), polygons.offsets
        self.box = bounds(*self.all)
        self.is_convex = polygons.is_convex
        self.convex = self.all
        self.concave: Rows = np.flatnonzero(~self.is_convex)
        if not len(self.concave):
            return
        # In the arrays for convex polygons, all others are empty and overlap nothing.
        counts = np.where(self.is_convex, polygons.num_points, 0)
        kept = np.repeat(self.is_convex, polygons.num_points)
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.convex = np.ascontiguousarray(self.all[0][kept]), offsets
        others = polygons[self.concave]
        flat = _flat(others)
        _check_crossings(polygons, self.concave[~flat], name)
        self.concave = self.concave[~flat]


def _sides(first: Polygons, second: Polygons, names: tuple[str, str] = _NAMES) -> tuple[_Side, _Side]:
    check_one_unit(first.normalized, second.normalized)
    a = _Side(first, names[0])
    return a, a if second is first else _Side(second, names[1])


def _flat(polygons: Polygons) -> NDArray[np.bool_]:
    """(N,) whether all points lie on one line."""
    low, high = np.split(bounds(polygons.vertices, polygons.offsets), 2, axis=1)
    flat = ~(polygons.area > _MAYBE_FLAT * ((high - low) ** 2).sum(axis=1))
    points = polygons.points()
    for row in np.flatnonzero(flat):
        flat[row] = len(hull(points[row])) < 3
    return np.asarray(flat)


def _check_crossings(polygons: Polygons, rows: Rows, name: str) -> None:
    """Raises `ValueError` for a path that crosses itself. A path that only touches itself encloses its area.

    The area is the integral of the winding number w. The integral of w * w is larger, unless w is 0 or 1 everywhere.
    """
    some = polygons[rows]
    squared = _core.simple_polygon_squared_windings((np.asarray(some.vertices, np.float64), some.offsets))
    for row in rows[~(np.abs(squared - some.area) <= _CROSSED * some.area)]:
        polygons.check_simple(int(row), name.format(row))


def _any_concave(a: _Side, b: _Side, rows: Rows, columns: Rows) -> NDArray[np.bool_]:
    """(P,) whether a pair has a concave polygon, and both polygons have an area."""
    drawn = [side.is_convex.copy() for side in (a, b)]
    drawn[0][a.concave] = drawn[1][b.concave] = True
    convex = a.is_convex[rows] & b.is_convex[columns]
    return np.asarray(~convex & drawn[0][rows] & drawn[1][columns])


def _near(a: _Side, b: _Side) -> tuple[Rows, Rows]:
    """The pairs with a concave polygon whose bounding boxes overlap."""
    found = []
    for rows, columns in ((a.concave, None), (np.flatnonzero(a.is_convex), b.concave)):
        others = np.union1d(np.flatnonzero(b.is_convex), b.concave) if columns is None else columns
        one, other = a.box[rows, None], b.box[others]
        overlap = (one[..., :2] < other[..., 2:]) & (other[..., :2] < one[..., 2:])  # (R, C, 2)
        at = np.nonzero(overlap[..., 0] & overlap[..., 1])
        found.append((rows[at[0]], others[at[1]]))
    return np.concatenate([found[0][0], found[1][0]]), np.concatenate([found[0][1], found[1][1]])


def _simple(measure: str, a: _Side, b: _Side, rows: Rows, columns: Rows, threads: int) -> FloatArray:
    """(P,) the measure for pairs of polygons of any shape."""
    positions = (np.ascontiguousarray(rows, np.int64), np.ascontiguousarray(columns, np.int64))
    return _core.simple_polygon_pairs(measure, (a.all, a.is_convex), (b.all, b.is_convex), *positions, threads)
