"""Overlaps of polygons: of two convex ones in native code, of others through Shapely (the extra ``polygons``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import _core
from ioukit._checks import check_one_unit
from ioukit.boxes import Polygons
from ioukit.boxes._polygon_shapely import geometries, shapely

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.typing import FloatArray

    Rows = NDArray[np.int64]
    Mask = NDArray[np.bool_]

__all__ = ["elementwise", "pairs", "pairwise"]

_NAMES = ("boxes1[{}]", "boxes2[{}]")  # what messages call a row of each set
_NEEDED_BY = "the overlap of polygons that are not convex"
_SAME_AREA = 1e-9  # a path that only touches itself has the area of what it encloses, up to rounding


def pairwise(measure: str, first: Polygons, second: Polygons, threads: int) -> FloatArray:
    """(N, M)."""
    a, b = _sides(first, second)
    values = _core.polygon_pairwise(measure, *a.convex, *b.convex, threads)
    if len(a.concave) or len(b.concave):
        rows, columns = _near(a, b)
        values[rows, columns] = _through_shapely(measure, a, b, rows, columns)
    return values


def elementwise(
    measure: str,
    first: Polygons,
    second: Polygons,
    threads: int,
    names: tuple[str, str] = _NAMES,
) -> FloatArray:
    """(N,); ``names`` is what messages call a row of each set."""
    a, b = _sides(first, second, names)
    values = _core.polygon_elementwise(measure, *a.convex, *b.convex, threads)
    rows = np.union1d(a.concave, b.concave)
    if len(rows):
        values[rows] = _through_shapely(measure, a, b, rows, rows)
    return values


def pairs(measure: str, first: Polygons, second: Polygons, rows: Rows, columns: Rows, threads: int) -> FloatArray:
    """(P,) of the polygons at these positions."""
    a, b = _sides(first, second)
    rows, columns = (np.ascontiguousarray(positions, np.int64) for positions in (rows, columns))
    values = _core.polygon_pairs(measure, *a.convex, *b.convex, rows, columns, threads)
    at = np.flatnonzero(np.isin(rows, a.concave) | np.isin(columns, b.concave))
    if len(at):
        values[at] = _through_shapely(measure, a, b, rows[at], columns[at])
    return values


class _Side:
    """One set, its convex polygons apart from the others; ``name`` is what messages call a row."""

    def __init__(self, polygons: Polygons, name: str) -> None:
        self.polygons, self.name = polygons, name
        self.area = polygons.area
        odd = np.flatnonzero(~polygons.is_convex)
        self.convex = (np.asarray(polygons.vertices, np.float64), polygons.offsets)
        self.concave: Rows = odd
        self._drawn: NDArray[Any] | None = None
        if len(odd):
            self.concave = odd[~_flat(polygons[odd])]
            others = np.where(
                polygons.is_convex, polygons.num_points, 0
            )  # the rest is empty there, so it overlaps nothing
            kept = np.repeat(polygons.is_convex, polygons.num_points)
            offsets = np.concatenate([[0], np.cumsum(others)]).astype(np.int64)
            self.convex = (np.ascontiguousarray(polygons.vertices[kept], np.float64), offsets)
        if len(self.concave):
            self._check()

    @property
    def drawn(self) -> NDArray[Any]:
        """(N,) as Shapely has them."""
        if self._drawn is None:
            self._drawn = geometries(self.polygons.vertices, self.polygons.offsets, _NEEDED_BY)
        return self._drawn

    def _check(self) -> None:
        """Refuses paths that cross themselves; of those that touch themselves, draws what they enclose."""
        module = shapely(_NEEDED_BY)
        rows = self.concave
        bad = rows[~module.is_valid(self.drawn[rows])]
        if not len(bad):
            return
        mended = module.make_valid(self.drawn[bad])
        crossing = np.abs(module.area(mended) - self.area[bad]) > _SAME_AREA * self.area[bad]
        if crossing.any():
            row = int(bad[np.argmax(crossing)])
            self.polygons.check_simple(row, self.name.format(row))
        self.drawn[bad] = mended


def _sides(first: Polygons, second: Polygons, names: tuple[str, str] = _NAMES) -> tuple[_Side, _Side]:
    check_one_unit(first.normalized, second.normalized)
    a = _Side(first, names[0])
    return a, a if second is first else _Side(second, names[1])


def _flat(polygons: Polygons) -> Mask:
    """(N,) whether all points lie on one line."""
    return np.array([len(points) == 0 for points in polygons.convex_hull().points()], np.bool_)


def _near(a: _Side, b: _Side) -> tuple[Rows, Rows]:
    """The pairs with a polygon that is not convex whose bounding boxes meet."""
    module = shapely(_NEEDED_BY)
    every_a, every_b = np.arange(len(a.polygons)), np.arange(len(b.polygons))
    convex_a = np.setdiff1d(every_a, a.concave)
    found = []
    for rows, columns in ((a.concave, every_b), (convex_a, b.concave)):
        if len(rows) and len(columns):
            at = module.STRtree(b.drawn[columns]).query(a.drawn[rows])
            found.append((rows[at[0]], columns[at[1]]))
    both = [np.concatenate([pair[side] for pair in found]).astype(np.int64) for side in (0, 1)]
    return both[0], both[1]


def _through_shapely(measure: str, a: _Side, b: _Side, rows: Rows, columns: Rows) -> FloatArray:
    """(P,) the measure of pairs."""
    module = shapely(_NEEDED_BY)
    first, second = a.drawn[rows], b.drawn[columns]
    area1, area2 = a.area[rows], b.area[columns]
    smaller = np.minimum(area1, area2)
    turned = area1 > area2  # so that the last bits are those of the other order
    shared = module.intersection(np.where(turned, second, first), np.where(turned, first, second))
    intersection = np.minimum(module.area(shared), smaller)
    intersection = np.where(module.equals_exact(first, second, 0), smaller, intersection)
    return _of_areas(measure, intersection, area1, area2)


def _of_areas(measure: str, intersection: FloatArray, area1: FloatArray, area2: FloatArray) -> FloatArray:
    """What the core makes of three areas (``AreaMeasure``), 0 where the divisor is 0."""
    smaller, larger = np.minimum(area1, area2), np.maximum(area1, area2)
    divisor = {
        "iou": larger - intersection + smaller,
        "jaccard_distance": larger - intersection + smaller,
        "ioa_first": area1,
        "ioa_second": area2,
        "iom": smaller,
        "intersection": np.ones_like(area1),
    }[measure]
    value = np.divide(intersection, divisor, out=np.zeros_like(intersection), where=divisor > 0)
    return np.asarray(1 - value if measure == "jaccard_distance" else value)
