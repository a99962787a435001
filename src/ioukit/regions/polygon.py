"""`Polygon`: one region bounded by a closed path of straight edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._checks import check_finite, check_window
from ioukit.regions._polygon_input import OnePolygon, check_polygons, pairs_of, points_of
from ioukit.regions.polygons import Polygons

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ioukit.regions._polygon_shapely import JoinStyle
    from ioukit.regions.boxes import Boxes
    from ioukit.regions.rotated import RotatedBoxes
    from ioukit.typing import FloatArray


class Polygon(OnePolygon):
    """One polygon: a frozen value in float64 with the conventions of `Polygons`.

    Args:
        points: (K, 2); (K, 1, 2) as in OpenCV's contours; ``[]`` for the empty polygon; a `Polygon`; or `Polygons` of
            one. The numbers are copied.
        normalized: Whether the unit is the image, whose sides are 1 then, rather than the pixel. `Polygon` and
            `Polygons` keep their own unit.

    Raises:
        ValueError: If there are 1 or 2 points, the shape is not (K, 2), or a number is not finite or beyond 2**500.
        TypeError: If the points are not numbers.

    Examples:
        >>> diamond = Polygon([[5, 0], [10, 5], [5, 10], [0, 5]])
        >>> diamond.area, diamond.centroid.tolist(), diamond.extent
        (50.0, [5.0, 5.0], 0.5)
    """

    __slots__ = ("_one",)
    __array_ufunc__ = None
    _one: Polygons

    def __init__(self, points: Polygon | Polygons | ArrayLike, *, normalized: bool = False) -> None:
        if isinstance(points, Polygon):
            points = points._one
        if isinstance(points, Polygons):
            if len(points) != 1:
                raise ValueError(f"a Polygon is one, got Polygons of {len(points)}")
            self._one = Polygons(points, normalized=normalized)
            return
        ring = points_of(points, "points")
        offsets = np.array([0, len(ring)], np.int64)
        check_polygons(ring, offsets, "points")
        self._one = Polygons._trusted(ring, offsets, normalized)

    @staticmethod
    def from_flat(data: ArrayLike, *, normalized: bool = False) -> Polygon:
        """The polygon of a flat list ``[x1, y1, x2, y2, ...]``."""
        return Polygon(pairs_of(data, "data"), normalized=normalized)

    @property
    def points(self) -> FloatArray:
        """(K, 2), read-only."""
        return self._one.vertices

    @property
    def normalized(self) -> bool:
        """Whether the unit is the image rather than the pixel."""
        return self._one.normalized

    def numpy(self) -> FloatArray:
        """(K, 2) points: a copy that the caller may change."""
        return np.array(self._one.vertices)

    def to_list(self) -> list[list[float]]:
        """The points as lists of Python floats."""
        return self._one.to_list()[0]

    def to_flat(self) -> list[float]:
        """``[x1, y1, x2, y2, ...]``."""
        return self._one.to_flat()[0]

    def to_polygons(self) -> Polygons:
        """This polygon as `Polygons` of one."""
        return self._one

    @property
    def area(self) -> float:
        """The area, never negative."""
        return float(self._one.area[0])

    @property
    def signed_area(self) -> float:
        """The area, positive if the points run clockwise on a screen, whose y points down, and negative if not."""
        return float(self._one.signed_area[0])

    @property
    def is_clockwise(self) -> bool:
        """Whether the points run clockwise on a screen, whose y points down; false without an area."""
        return bool(self._one.is_clockwise[0])

    @property
    def centroid(self) -> FloatArray:
        """(2,) the centre of the area; without an area, the centre of the edges; NaN for an empty polygon."""
        centroid: FloatArray = self._one.centroid[0]
        return centroid

    @property
    def perimeter(self) -> float:
        """The length of the path."""
        return float(self._one.perimeter[0])

    @property
    def is_empty(self) -> bool:
        """Whether the area is 0."""
        return bool(self._one.is_empty[0])

    @property
    def is_convex(self) -> bool:
        """Whether the polygon has an area and no dent; see `Polygons.is_convex`."""
        return bool(self._one.is_convex[0])

    @property
    def is_simple(self) -> bool:
        """Whether edges meet only at the common point of two neighbours; see `Polygons.is_simple`."""
        return bool(self._one.is_simple[0])

    @property
    def is_valid(self) -> bool:
        """Whether the polygon is simple and has an area."""
        return bool(self._one.is_valid[0])

    def contact(self) -> tuple[int, int] | None:
        """The first two edges that cross or touch where they should not; None if the polygon is simple."""
        return self._one.contact(0)

    @property
    def extent(self) -> float:
        """The area divided by the area of the upright bounding box; NaN if that is 0."""
        return float(self._one.extent[0])

    @property
    def solidity(self) -> float:
        """The area divided by the area of the convex hull; NaN if that is 0."""
        return float(self._one.solidity[0])

    @property
    def aspect_ratio(self) -> float:
        """Width over height of the upright bounding box."""
        return float(self._one.aspect_ratio[0])

    @property
    def min_area_sides(self) -> tuple[float, float]:
        """Long and short side of the smallest box at any angle."""
        long, short = self._one.min_area_sides[0].tolist()
        return long, short

    @property
    def orientation(self) -> float:
        """Radians in [0, pi) from the x axis to the long side of the smallest box; see `Polygons.orientation`."""
        return float(self._one.orientation[0])

    def min_area_corners(self) -> FloatArray:
        """(4, 2) corners of the smallest box at any angle, clockwise on a screen."""
        corners: FloatArray = self._one.min_area_corners()[0]
        return corners

    def min_area_boxes(self) -> RotatedBoxes:
        """The smallest box at any angle, as `RotatedBoxes` of one; see `Polygons.min_area_boxes`."""
        return self._one.min_area_boxes()

    def to_boxes(self) -> Boxes:
        """The smallest upright box around the polygon, as `Boxes` of one."""
        return self._one.to_boxes()

    def convex_hull(self) -> Polygon:
        """The smallest convex polygon around this one."""
        return Polygon(self._one.convex_hull())

    def normalize(self, width: float, height: float) -> Polygon:
        """The polygon in the unit of an image of this size in pixels; ValueError if it is normalized already."""
        return Polygon(self._one.normalize(width, height))

    def denormalize(self, width: float, height: float) -> Polygon:
        """The polygon in pixels of an image of this size; ValueError if it is in pixels already."""
        return Polygon(self._one.denormalize(width, height))

    def shift(self, dx: float, dy: float) -> Polygon:
        """The polygon moved by (dx, dy)."""
        return Polygon(self._one.shift(dx, dy))

    def scale(self, fx: float, fy: float | None = None) -> Polygon:
        """The polygon scaled by ``fx`` along x and ``fy`` along y (``fx`` if not given) about its centroid."""
        return Polygon(self._one.scale(fx, fy))

    def clockwise(self) -> Polygon:
        """The same region with points that run clockwise on a screen, from the same first point."""
        return Polygon(self._one.clockwise())

    def simplify(self, tolerance: float) -> Polygon:
        """A polygon with fewer points; see `Polygons.simplify`."""
        return Polygon(self._one.simplify(tolerance))

    def clip(self, xmin: float, ymin: float, xmax: float, ymax: float) -> Polygons:
        """All parts of the polygon inside a window, no part if it is outside; see `Polygons.clip`."""
        parts = self._one._clipped(0, check_window(xmin, ymin, xmax, ymax))
        return Polygons._of_rings(parts, self.normalized)

    def buffer(self, distance: float, *, join_style: JoinStyle = "mitre", mitre_limit: float = 5.0) -> Polygons:
        """All parts of the polygon grown by a distance, or shrunk if it is negative; see `Polygons.buffer`.

        Growing may enclose a hole. The result is then cut through the hole, so that the parts do not cover it.
        """
        check_finite(distance=distance)
        return Polygons._of_rings(self._one._buffered(0, distance, join_style, mitre_limit), self.normalized)

    def make_valid(self) -> Polygons:
        """Simple polygons that cover what the path encloses an odd number of times; see `Polygons.make_valid`."""
        return self._one.make_valid()[0]

    def __len__(self) -> int:
        return len(self.points)

    def __eq__(self, other: object) -> bool:
        return self._one == other._one if isinstance(other, Polygon) else NotImplemented

    def __hash__(self) -> int:
        return hash(("Polygon", self._one))

    def __reduce__(self) -> tuple[Any, ...]:
        return Polygon, (self._one,)

    def __repr__(self) -> str:
        unit = ", normalized=True" if self.normalized else ""
        return f"Polygon({self.to_list()}{unit})"
