"""Closed paths in flat arrays, and what is measured of each of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.regions import _polygon_geometry as geometry
from ioukit.regions.regions import Regions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from typing_extensions import Self

    from ioukit.typing import FloatArray


class PolygonPaths(Regions):
    """N closed paths: the points of all in one array, and the position where each path begins."""

    __slots__ = ("_cache", "_normalized", "_offsets", "_vertices")
    _vertices: FloatArray
    _offsets: NDArray[np.int64]
    _normalized: bool
    _cache: dict[str, NDArray[Any]]

    def _set(self, vertices: FloatArray, offsets: NDArray[np.int64], normalized: bool) -> None:
        vertices.flags.writeable = False
        offsets.flags.writeable = False
        self._vertices, self._offsets, self._normalized, self._cache = vertices, offsets, bool(normalized), {}

    @classmethod
    def _trusted(cls, vertices: FloatArray, offsets: NDArray[np.int64], normalized: bool) -> Self:
        paths = cls.__new__(cls)
        paths._set(vertices, offsets, normalized)
        return paths

    @classmethod
    def _of_counts(cls, vertices: FloatArray, counts: NDArray[np.int64], normalized: bool) -> Self:
        return cls._trusted(vertices, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), normalized)

    @classmethod
    def _of_rings(cls, rings: Sequence[FloatArray], normalized: bool) -> Self:
        counts = np.array([len(ring) for ring in rings], np.int64)
        return cls._of_counts(np.concatenate([np.zeros((0, 2)), *rings]), counts, normalized)

    def _ring(self, row: int) -> FloatArray:
        """(K, 2) points of one polygon, a view."""
        return self._vertices[self._offsets[row] : self._offsets[row + 1]]

    def _once(self, name: str, compute: Callable[[], NDArray[Any]]) -> Any:
        """What ``compute`` returns, kept for the next call: the points never change."""
        if name not in self._cache:
            value = compute()
            value.flags.writeable = False
            self._cache[name] = value
        return self._cache[name]

    @property
    def vertices(self) -> FloatArray:
        """(K, 2) the points of all polygons, one polygon after the other; read-only."""
        return self._vertices

    @property
    def offsets(self) -> NDArray[np.int64]:
        """(N + 1,) polygon ``i`` has the vertices ``offsets[i]:offsets[i + 1]``; read-only."""
        return self._offsets

    @property
    def normalized(self) -> bool:
        """Whether the unit is the image rather than the pixel."""
        return self._normalized

    @property
    def num_points(self) -> NDArray[np.int64]:
        """(N,) the number of points of each polygon."""
        return np.diff(self._offsets)

    def points(self) -> list[FloatArray]:
        """(K, 2) points of each polygon: read-only views."""
        return np.split(self._vertices, self._offsets[1:-1]) if len(self) else []

    def to_list(self) -> list[list[list[float]]]:
        """The points as nested lists of Python floats, which `Polygons` accepts again."""
        return [points.tolist() for points in self.points()]

    def to_flat(self) -> list[list[float]]:
        """``[x1, y1, x2, y2, ...]`` for each polygon, as in COCO's segmentations."""
        return [points.reshape(-1).tolist() for points in self.points()]

    @property
    def area(self) -> FloatArray:
        """(N,) never negative. Where a path crosses itself, parts count twice or cancel each other."""
        area: FloatArray = np.abs(self.signed_area)
        return area

    @property
    def signed_area(self) -> FloatArray:
        """(N,) positive where the points run clockwise on a screen, whose y points down."""
        areas: FloatArray = self._once("signed_area", lambda: geometry.signed_areas(self._vertices, self._offsets))
        return areas

    @property
    def is_clockwise(self) -> NDArray[np.bool_]:
        """(N,) whether the points run clockwise on a screen, whose y points down; false without an area."""
        return np.asarray(self.signed_area > 0)

    @property
    def centroid(self) -> FloatArray:
        """(N, 2) the centre of the area; without an area, the centre of the edges; NaN for an empty polygon."""
        return geometry.centroids(self._vertices, self._offsets)

    @property
    def perimeter(self) -> FloatArray:
        """(N,) the length of the path."""
        return geometry.perimeters(self._vertices, self._offsets)

    @property
    def is_empty(self) -> NDArray[np.bool_]:
        """(N,) true where the area is 0: no points, all points on one line, or parts that cancel each other."""
        return np.asarray(self.area == 0)

    @property
    def is_convex(self) -> NDArray[np.bool_]:
        """(N,) whether the polygon has an area and no dent, except for dents that rounding of its points can make."""
        convex: NDArray[np.bool_] = self._once("is_convex", lambda: geometry.convex(self._vertices, self._offsets))
        return convex

    @property
    def is_simple(self) -> NDArray[np.bool_]:
        """(N,) whether edges meet only at the common point of two neighbours. Exact arithmetic decides.

        Every convex polygon is simple. A path that touches itself is not simple, nor is a path that goes back along
        itself, such as any path on one line, nor an empty one.
        """

        def compute() -> NDArray[np.bool_]:
            return np.array([self.contact(row) is None for row in range(len(self))], np.bool_)

        simple: NDArray[np.bool_] = self._once("is_simple", compute)
        return simple

    @property
    def is_valid(self) -> NDArray[np.bool_]:
        """(N,) whether the polygon is simple and has an area, so that its overlaps are well defined."""
        return self.is_simple & ~self.is_empty

    def contact(self, row: int) -> tuple[int, int] | None:
        """The first two edges of a polygon that cross or touch where they should not; None if it is simple.

        Edge ``i`` goes from point ``i`` to the next. A polygon without points gives ``(0, 0)``.
        """
        points = self._ring(row)
        if not len(points):
            return 0, 0
        return None if self.is_convex[row] else geometry.first_contact(points)

    def check_simple(self, row: int, name: str | None = None) -> None:
        """Raises `ValueError` if a path crosses or touches itself; the message names the two edges."""
        contact = self.contact(row)
        if contact is not None:
            points = self._ring(row)
            edges = [f"{k} {points[k].tolist()} -> {points[(k + 1) % len(points)].tolist()}" for k in contact]
            raise ValueError(
                f"{name or f'polygons[{row}]'} crosses or touches itself: edge {edges[0]} meets edge {edges[1]}; "
                "make_valid() gives simple polygons that cover the same"
            )

    def convex_hull(self) -> Self:
        """The smallest convex polygon around each, clockwise on a screen; empty where there is no area."""
        rings = [geometry.hull(points) for points in self.points()]
        return self._of_rings([ring if len(ring) > 2 else ring[:0] for ring in rings], self._normalized)

    @property
    def extent(self) -> FloatArray:
        """(N,) the area divided by the area of the upright bounding box; NaN where that is 0."""
        low, high = np.split(geometry.bounds(self._vertices, self._offsets), 2, axis=1)
        return _ratio(self.area, (high - low).prod(axis=1))

    @property
    def solidity(self) -> FloatArray:
        """(N,) the area divided by the area of the convex hull; NaN where that is 0."""
        return _ratio(self.area, self.convex_hull().area)

    @property
    def aspect_ratio(self) -> FloatArray:
        """(N,) width over height of the upright bounding box, as in `Boxes`; NaN for an empty polygon."""
        sides = np.diff(geometry.bounds(self._vertices, self._offsets).reshape(-1, 2, 2), axis=1)[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(sides[:, 0] / sides[:, 1])

    def _rectangles(self) -> list[tuple[FloatArray, FloatArray, float]]:
        return [geometry.min_area_rectangle(geometry.hull(points)) for points in self.points()]

    @property
    def min_area_sides(self) -> FloatArray:
        """(N, 2) long and short side of the smallest box at any angle; NaN for an empty polygon."""
        return np.array([sides for _, sides, _ in self._rectangles()]).reshape(-1, 2)

    @property
    def orientation(self) -> FloatArray:
        """(N,) radians in [0, pi) from the x axis to the long side of the smallest box, clockwise on a screen.

        In [0, pi / 2) where that box is a square; 0 for a point; NaN for an empty polygon.
        """
        return np.array([angle for _, _, angle in self._rectangles()], np.float64)

    def min_area_corners(self) -> FloatArray:
        """(N, 4, 2) corners of the smallest box at any angle, clockwise on a screen; the first edge is a long one."""
        result = np.empty((len(self), 4, 2))
        for row, (centre, sides, angle) in enumerate(self._rectangles()):
            along = np.array([math.cos(angle), math.sin(angle)]) * sides[0] / 2
            across = np.array([-math.sin(angle), math.cos(angle)]) * sides[1] / 2
            result[row] = centre + np.stack([-along - across, along - across, along + across, across - along])
        return result

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def _state(self) -> tuple[Any, ...]:
        return self._vertices, self._offsets, self._normalized

    def _select(self, rows: slice | NDArray[Any]) -> Self:
        numbers = np.arange(len(self))[rows]
        counts = self.num_points[numbers]
        begin = np.repeat(self._offsets[numbers] - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
        return self._of_counts(self._vertices[begin + np.arange(len(begin))], counts, self._normalized)

    def __repr__(self) -> str:
        name, unit = type(self).__name__, ", normalized=True" if self._normalized else ""
        if len(self) == 1 or len(self._vertices) <= 12:
            return f"{name}({self.to_list()}{unit})"
        return f"<{name}: {len(self):,} of {len(self._vertices):,} points{unit}>"


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, part / whole, math.nan)
