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

__all__ = ["Polygon"]


class Polygon(OnePolygon):
    """One polygon, a frozen value: what the path through its points encloses; see `Polygons` for all conventions.

    Args:
        points: (K, 2), (K, 1, 2) as OpenCV's contours, ``[]`` for the empty polygon, `Polygon`, or `Polygons` of one.
            It is copied.
        normalized: Whether the unit is the image, its sides being 1, rather than the pixel. `Polygon` keeps its own.

    Raises:
        ValueError: If there are 1 or 2 points, another shape, or a number that is not finite or beyond 2**500.
        TypeError: If the points are not numbers.

    Examples:
        >>> diamond = Polygon([[5, 0], [10, 5], [5, 10], [0, 5]])
        >>> diamond.area, diamond.centroid.tolist(), diamond.extent
        (50.0, [5.0, 5.0], 0.5)
    """

    __slots__ = ()
    __array_ufunc__ = None

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
        """A polygon from ``[x1, y1, x2, y2, ...]``."""
        return Polygon(pairs_of(data, "data"), normalized=normalized)

    def numpy(self) -> FloatArray:
        """(K, 2): a copy that the caller may change."""
        return np.array(self._one.vertices)

    def to_list(self) -> list[list[float]]:
        """The points as lists of Python floats."""
        return self._one.to_list()[0]

    def to_flat(self) -> list[float]:
        """``[x1, y1, x2, y2, ...]``."""
        return self._one.to_flat()[0]

    def to_polygons(self) -> Polygons:
        """As `Polygons` of one."""
        return self._one

    @property
    def area(self) -> float:
        """Never negative."""
        return float(self._one.area[0])

    @property
    def signed_area(self) -> float:
        """Positive where the points turn clockwise on a screen, whose y points down."""
        return float(self._one.signed_area[0])

    @property
    def is_clockwise(self) -> bool:
        """Whether the points turn clockwise on a screen, whose y points down; false without an area."""
        return bool(self._one.is_clockwise[0])

    @property
    def centroid(self) -> FloatArray:
        """(2,) the centre of the area; of the edges where there is no area; NaN for an empty polygon."""
        centroid: FloatArray = self._one.centroid[0]
        return centroid

    @property
    def perimeter(self) -> float:
        """The length of the path."""
        return float(self._one.perimeter[0])

    @property
    def is_empty(self) -> bool:
        """Whether there is no area."""
        return bool(self._one.is_empty[0])

    @property
    def is_convex(self) -> bool:
        """As `Polygons.is_convex`."""
        return bool(self._one.is_convex[0])

    @property
    def is_simple(self) -> bool:
        """As `Polygons.is_simple`."""
        return bool(self._one.is_simple[0])

    @property
    def is_valid(self) -> bool:
        """As `Polygons.is_valid`."""
        return bool(self._one.is_valid[0])

    def contact(self) -> tuple[int, int] | None:
        """The first two edges that cross or touch where they should not; None if the polygon is simple."""
        return self._one.contact(0)

    @property
    def extent(self) -> float:
        """Area over that of the upright bounding box; NaN where that is 0."""
        return float(self._one.extent[0])

    @property
    def solidity(self) -> float:
        """Area over that of the convex hull; NaN where that is 0."""
        return float(self._one.solidity[0])

    @property
    def aspect_ratio(self) -> float:
        """Width over height of the upright bounding box."""
        return float(self._one.aspect_ratio[0])

    @property
    def min_area_sides(self) -> tuple[float, float]:
        """Long and short side of the smallest box of any angle."""
        long, short = self._one.min_area_sides[0].tolist()
        return long, short

    @property
    def orientation(self) -> float:
        """As `Polygons.orientation`: radians in [0, pi), clockwise on a screen from the x axis to the long side."""
        return float(self._one.orientation[0])

    def min_area_corners(self) -> FloatArray:
        """(4, 2) corners of the smallest box of any angle, clockwise on a screen."""
        corners: FloatArray = self._one.min_area_corners()[0]
        return corners

    def min_area_boxes(self) -> RotatedBoxes:
        """The smallest box of any angle, as `RotatedBoxes` of one; see `Polygons.min_area_boxes`."""
        return self._one.min_area_boxes()

    def to_boxes(self) -> Boxes:
        """The least upright box around the polygon, as `Boxes` of one."""
        return self._one.to_boxes()

    def convex_hull(self) -> Polygon:
        """The least convex polygon around this one."""
        return Polygon(self._one.convex_hull())

    def normalize(self, width: float, height: float) -> Polygon:
        """In the unit of an image of this size, given in pixels; an error if it is already."""
        return Polygon(self._one.normalize(width, height))

    def denormalize(self, width: float, height: float) -> Polygon:
        """In pixels of an image of this size; an error if it is already."""
        return Polygon(self._one.denormalize(width, height))

    def shift(self, dx: float, dy: float) -> Polygon:
        """Moved by (dx, dy)."""
        return Polygon(self._one.shift(dx, dy))

    def scale(self, fx: float, fy: float | None = None) -> Polygon:
        """Multiplied by ``fx`` and ``fy`` (``fx`` for both if not given) about the centroid."""
        return Polygon(self._one.scale(fx, fy))

    def clockwise(self) -> Polygon:
        """The same region with its points clockwise on a screen, from the same first point on."""
        return Polygon(self._one.clockwise())

    def simplify(self, tolerance: float) -> Polygon:
        """As `Polygons.simplify`."""
        return Polygon(self._one.simplify(tolerance))

    def clip(self, xmin: float, ymin: float, xmax: float, ymax: float) -> Polygons:
        """All parts inside a window, none if the polygon is outside; see `Polygons.clip`."""
        parts = self._one._clipped(0, check_window(xmin, ymin, xmax, ymax))
        return Polygons._of_rings(parts, self.normalized)

    def buffer(self, distance: float, *, join_style: JoinStyle = "mitre", mitre_limit: float = 5.0) -> Polygons:
        """All parts of the polygon grown by a distance, or shrunk if it is negative; see `Polygons.buffer`.

        A hole that growing encloses is cut open, so that the parts cover what is grown and nothing else.
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
