"""What Shapely (extra ``polygons``) does for polygons: it clips, grows, simplifies and makes valid single polygons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from ioukit._optional import import_extra
from ioukit.regions._polygon_geometry import without_repeats

if TYPE_CHECKING:
    from ioukit.typing import FloatArray


JoinStyle: TypeAlias = Literal["mitre", "round", "bevel"]


def shapely(needed_by: str) -> Any:
    """The module, or an error that names the extra."""
    return import_extra("shapely", extra="polygons", needed_by=needed_by)


def clipped(points: FloatArray, window: tuple[float, float, float, float]) -> list[FloatArray]:
    """The parts of a simple polygon inside an upright window, each (K, 2)."""
    module = shapely("the clipping of polygons that are not convex")
    largest = float(np.abs(points).max()) * 2 + 1  # beyond all points, in place of an infinite side
    box = module.box(*np.clip(window, -largest, largest))
    return _rings(module.intersection(module.Polygon(points), box))


def buffered(points: FloatArray, distance: float, join_style: JoinStyle, mitre_limit: float) -> list[FloatArray]:
    """The parts of a simple polygon that is grown, or shrunk, by a distance; holes are cut open."""
    module = shapely("Polygon.buffer")
    grown = module.buffer(module.Polygon(points), distance, join_style=join_style, mitre_limit=mitre_limit)
    return _rings(grown)


def simplified(points: FloatArray, tolerance: float) -> FloatArray:
    """(K, 2) a simple polygon with fewer points; the dropped points lie within the tolerance of the new path."""
    module = shapely("Polygons.simplify")
    simpler = module.simplify(module.Polygon(points), tolerance, preserve_topology=True)
    return np.asarray(simpler.exterior.coords, np.float64)[:-1]


def valid_parts(points: FloatArray) -> list[FloatArray]:
    """Simple polygons that cover what a path encloses an odd number of times; holes are cut open."""
    module = shapely("make_valid")
    if len(without_repeats(points, np.array([0, len(points)]))[0]) < 3:
        return []
    return _rings(module.make_valid(module.Polygon(points)))


def _rings(geometry: Any) -> list[FloatArray]:
    """The outlines of the polygons in a geometry, running from x towards y; lines and points are left out.

    A polygon with a hole is cut in two through the hole, again and again until no hole is left: its outline alone would
    cover the hole.
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
