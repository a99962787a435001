"""What Shapely does for polygons (the extra ``polygons``): cutting, growing and mending those that are not convex."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from ioukit._optional import import_extra
from ioukit.regions._polygon_geometry import without_repeats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.typing import FloatArray

__all__ = ["JoinStyle", "buffered", "clipped", "geometries", "mended", "shapely"]

JoinStyle: TypeAlias = Literal["mitre", "round", "bevel"]


def shapely(needed_by: str) -> Any:
    """The module, or an error that names the extra."""
    return import_extra("shapely", extra="polygons", needed_by=needed_by)


def geometries(vertices: FloatArray, offsets: NDArray[np.int64], needed_by: str) -> NDArray[Any]:
    """(N,) Shapely's polygons; empty where there are fewer than 3 different neighbours."""
    module = shapely(needed_by)
    distinct, ends, _ = without_repeats(vertices, offsets)
    counts = np.diff(ends)
    drawn = counts >= 3
    result = np.full(len(counts), module.Polygon())
    rows = np.repeat(np.arange(len(counts)), counts)
    used = np.repeat(drawn, counts)
    ring = (np.cumsum(drawn) - 1)[rows[used]]
    if drawn.any():
        result[drawn] = module.polygons(module.linearrings(distinct[used], indices=ring))
    return np.asarray(result)


def clipped(points: FloatArray, window: tuple[float, float, float, float]) -> list[FloatArray]:
    """The parts of a simple polygon inside an upright window."""
    module = shapely("the clipping of polygons that are not convex")
    largest = float(np.abs(points).max()) * 2 + 1  # an infinite side: beyond all points
    box = module.box(*np.clip(window, -largest, largest))
    return _rings(module.intersection(module.Polygon(points), box))


def buffered(points: FloatArray, distance: float, join_style: JoinStyle, mitre_limit: float) -> list[FloatArray]:
    """The parts of a simple polygon grown, or shrunk, by a distance; holes are cut open."""
    module = shapely("Polygon.buffer")
    grown = module.buffer(module.Polygon(points), distance, join_style=join_style, mitre_limit=mitre_limit)
    return _rings(grown)


def mended(points: FloatArray) -> list[FloatArray]:
    """Simple polygons that cover what a path encloses an odd number of times; holes are cut open."""
    module = shapely("make_valid")
    if len(without_repeats(points, np.array([0, len(points)]))[0]) < 3:
        return []
    return _rings(module.make_valid(module.Polygon(points)))


def _rings(geometry: Any) -> list[FloatArray]:
    """The outlines of the polygons in a geometry, turning from x towards y; lines and points are left out.

    A polygon with a hole is cut in two through the hole until none is left, since an outline alone would cover it.
    """
    module = shapely("polygons")
    rings: list[FloatArray] = []
    waiting = [geometry]
    while waiting:
        part = waiting.pop()
        if part.geom_type != "Polygon":
            waiting += list(getattr(part, "geoms", ()))[::-1]
        elif part.is_empty or not part.area:
            continue
        elif len(part.interiors):
            xmin, ymin, xmax, ymax = part.bounds
            low, _, high, _ = part.interiors[0].bounds
            middle = low + (high - low) / 2
            halves = module.box(xmin, ymin, middle, ymax), module.box(middle, ymin, xmax, ymax)
            waiting += [module.intersection(part, half) for half in halves[::-1]]
        else:
            ring = np.asarray(part.exterior.coords, np.float64)[:-1, :2]
            rings.append(np.ascontiguousarray(ring[::-1] if part.exterior.is_ccw is False else ring))
    return rings
