"""`Polygons`: regions bounded by closed paths of straight edges."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from ioukit._arrays import as_floats
from ioukit._checks import check_choice, check_factors, check_finite, check_one_unit, check_positive, check_window
from ioukit.regions import _polygon_geometry as geometry
from ioukit.regions import _polygon_shapely as through_shapely
from ioukit.regions._polygon_input import OnePolygon, check_polygons, pairs_of, ragged
from ioukit.regions.boxes import Boxes
from ioukit.regions.formats import convert
from ioukit.regions.regions import Regions
from ioukit.regions.rotated import RotatedBoxes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from ioukit.regions._polygon_shapely import JoinStyle
    from ioukit.regions.polygon import Polygon
    from ioukit.typing import FloatArray

__all__ = ["Polygons", "PolygonsLike"]

PolygonsLike: TypeAlias = "Polygons | Sequence[Polygon | ArrayLike] | NDArray[Any]"
"""What `Polygons` are made of: themselves, a sequence of polygons or of their points, or an array (N, K, 2)."""

Parts: TypeAlias = Literal["error", "largest"]
"""What to do with a polygon that falls into parts."""


class Polygons(Regions):
    """N polygons of any number of points each: a frozen value in float64.

    A polygon is what its path encloses: the points in order, the last joined to the first. Either sense of turning and
    any starting point are fine; equality compares the points as they are. There are no holes and no polygons of several
    parts (masks can do that). A polygon of no points is empty; 1 or 2 points are refused. A path may have no area, or
    cross itself, and still be kept: `is_simple` tells, the overlaps refuse what crosses itself, `make_valid` mends it.

    y points down, as in images: a positive `signed_area` turns clockwise on the screen. ``polygons[i]`` is a `Polygons`
    of one; `to_polygons` gives a `Polygon` each.

    Args:
        data: A list of (K, 2) points or of `Polygon`, an array (N, K, 2), or `Polygons`. It is copied.
        normalized: Whether the unit is the image, its sides being 1, rather than the pixel. `Polygons` keep their own.

    Raises:
        ValueError: If a polygon has 1 or 2 points, a shape that is not (K, 2), or a number that is not finite or beyond
            2**500; or if polygons of both units come together.
        TypeError: If the data are not numbers.

    Examples:
        >>> polygons = Polygons([[[0, 0], [4, 0], [0, 3]], [[0, 0], [2, 0], [2, 2], [0, 2]]])
        >>> polygons.area
        array([6., 4.])
        >>> polygons.to_boxes()
        Boxes([[0., 0., 4., 3.],
               [0., 0., 2., 2.]], format='xyxy', dtype=float64)
    """

    __slots__ = ("_cache", "_normalized", "_offsets", "_vertices")
    _vertices: FloatArray
    _offsets: NDArray[np.int64]
    _normalized: bool
    _cache: dict[str, NDArray[Any]]

    def __init__(self, data: PolygonsLike, *, normalized: bool = False) -> None:
        if isinstance(data, OnePolygon):
            raise TypeError("Polygons take a list of polygons: Polygons([polygon])")
        if isinstance(data, Polygons):
            if normalized:
                check_one_unit(data._normalized, normalized)
            self._set(data._vertices, data._offsets, data._normalized)
            return
        given = (
            [item.normalized for item in data if isinstance(item, OnePolygon)]
            if not isinstance(data, np.ndarray)
            else []
        )
        for unit in given:
            check_one_unit(given[0], unit)
        if given and (normalized or len(given) < len(data)):
            check_one_unit(given[0], normalized)
        vertices, offsets = ragged(data)
        check_polygons(vertices, offsets)
        self._set(vertices, offsets, given[0] if given else normalized)

    def _set(self, vertices: FloatArray, offsets: NDArray[np.int64], normalized: bool) -> None:
        vertices.flags.writeable = False
        offsets.flags.writeable = False
        self._vertices, self._offsets, self._normalized, self._cache = vertices, offsets, bool(normalized), {}

    @classmethod
    def _trusted(cls, vertices: FloatArray, offsets: NDArray[np.int64], normalized: bool) -> Polygons:
        """Polygons around arrays of their own that are known to be valid."""
        polygons = cls.__new__(cls)
        polygons._set(vertices, offsets, normalized)
        return polygons

    @classmethod
    def _of_rings(cls, rings: Sequence[FloatArray], normalized: bool) -> Polygons:
        offsets = np.concatenate([[0], np.cumsum([len(ring) for ring in rings], dtype=np.int64)]).astype(np.int64)
        vertices = np.concatenate([np.zeros((0, 2)), *rings])
        return cls._trusted(vertices, offsets, normalized)

    def _with(self, vertices: FloatArray, normalized: bool | None = None) -> Polygons:
        """The same polygons with other coordinates, which rounding may have made overflow."""
        vertices = np.ascontiguousarray(vertices)
        check_polygons(vertices, self._offsets)
        return Polygons._trusted(vertices, self._offsets, self._normalized if normalized is None else normalized)

    @staticmethod
    def from_ragged(vertices: ArrayLike, offsets: ArrayLike, *, normalized: bool = False) -> Polygons:
        """Polygons from their vertices (K, 2) in a row and (N + 1,) positions where each begins and the last ends."""
        flat = np.array(as_floats(vertices, "vertices"), np.float64).reshape(-1, 2)
        ends = np.array(offsets, np.int64)
        if ends.ndim != 1 or not len(ends) or ends[0] != 0 or ends[-1] != len(flat) or (np.diff(ends) < 0).any():
            raise ValueError(f"offsets must rise from 0 to the number of vertices, {len(flat)}, got {ends.tolist()}")
        check_polygons(flat, ends)
        return Polygons._trusted(flat, ends, normalized)

    @staticmethod
    def from_flat(data: Sequence[ArrayLike], *, normalized: bool = False) -> Polygons:
        """Polygons from lists ``[x1, y1, x2, y2, ...]``, one each, as COCO's segmentations have them.

        An object that COCO describes by several lists becomes as many polygons.
        """
        return Polygons([pairs_of(item, f"data[{row}]") for row, item in enumerate(data)], normalized=normalized)

    @staticmethod
    def from_boxes(boxes: Boxes | ArrayLike) -> Polygons:
        """The four corners of each box, from the upper left one clockwise on the screen; arrays are xyxy."""
        boxes = boxes if isinstance(boxes, Boxes) else Boxes(boxes, dtype=np.float64)
        corners = convert(boxes.numpy().astype(np.float64), boxes.format, "xyxy")
        vertices = np.ascontiguousarray(corners[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 2))
        return Polygons._trusted(vertices, 4 * np.arange(len(corners) + 1, dtype=np.int64), boxes.normalized)

    @staticmethod
    def concat(polygons: Sequence[Polygons]) -> Polygons:
        """All polygons of a sequence, in order.

        Raises:
            ValueError: If the sequence is empty, or mixes normalized and absolute polygons.
            TypeError: If an element is not `Polygons`.
        """
        if not polygons:
            raise ValueError("concat needs at least one Polygons: the unit of none is unknown")
        Polygons._check_parts(polygons, "polygons")
        for item in polygons:
            check_one_unit(polygons[0]._normalized, item._normalized)
        return Polygons._of_counts(
            np.concatenate([item._vertices for item in polygons]),
            np.concatenate([item.num_points for item in polygons]),
            polygons[0]._normalized,
        )

    @classmethod
    def _of_counts(cls, vertices: FloatArray, counts: NDArray[np.int64], normalized: bool) -> Polygons:
        return cls._trusted(vertices, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), normalized)

    @property
    def vertices(self) -> FloatArray:
        """(K, 2) the points of all polygons in a row, read-only."""
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
        """(N,)."""
        return np.diff(self._offsets)

    def points(self) -> list[FloatArray]:
        """(K, 2) points of each polygon: views that cannot be written to."""
        return np.split(self._vertices, self._offsets[1:-1]) if len(self) else []

    def to_list(self) -> list[list[list[float]]]:
        """The points as nested lists of Python floats, which `Polygons` takes back."""
        return [points.tolist() for points in self.points()]

    def to_flat(self) -> list[list[float]]:
        """``[x1, y1, x2, y2, ...]`` for each polygon, as COCO's segmentations have them."""
        return [points.reshape(-1).tolist() for points in self.points()]

    def to_polygons(self) -> list[Polygon]:
        """Each as a `Polygon`."""
        from ioukit.regions.polygon import Polygon  # noqa: PLC0415 - it is made of these

        return [Polygon(self[row]) for row in range(len(self))]

    @property
    def area(self) -> FloatArray:
        """(N,) never negative. Of a path that crosses itself, what it encloses twice counts twice or cancels."""
        area: FloatArray = np.abs(self.signed_area)
        return area

    @property
    def signed_area(self) -> FloatArray:
        """(N,) positive where the points turn clockwise on a screen, whose y points down."""
        areas: FloatArray = self._once("signed_area", lambda: geometry.signed_areas(self._vertices, self._offsets))
        return areas

    @property
    def is_clockwise(self) -> NDArray[np.bool_]:
        """(N,) whether the points turn clockwise on a screen, whose y points down; false without an area."""
        return np.asarray(self.signed_area > 0)

    @property
    def centroid(self) -> FloatArray:
        """(N, 2) the centre of the area; of the edges where there is no area; NaN for an empty polygon."""
        return geometry.centroids(self._vertices, self._offsets)

    @property
    def perimeter(self) -> FloatArray:
        """(N,) the length of the path."""
        return geometry.perimeters(self._vertices, self._offsets)

    @property
    def is_empty(self) -> NDArray[np.bool_]:
        """(N,) true without an area: no points, all on one line, or parts that cancel."""
        return np.asarray(self.area == 0)

    @property
    def is_convex(self) -> NDArray[np.bool_]:
        """(N,) whether the polygons have an area and no dent; what rounding of the points can make is no dent."""
        convex: NDArray[np.bool_] = self._once("is_convex", lambda: geometry.convex(self._vertices, self._offsets))
        return convex

    @property
    def is_simple(self) -> NDArray[np.bool_]:
        """(N,) whether the edges meet only at the ends of neighbours, decided by exact arithmetic; so are convex ones.

        A path that touches itself is not simple, nor is one that goes back on itself, which a path on one line must,
        nor an empty one.
        """

        def compute() -> NDArray[np.bool_]:
            return np.array([self.contact(row) is None for row in range(len(self))], np.bool_)

        simple: NDArray[np.bool_] = self._once("is_simple", compute)
        return simple

    @property
    def is_valid(self) -> NDArray[np.bool_]:
        """(N,) whether the polygons are simple, have an area and hence a well-defined overlap."""
        return self.is_simple & ~self.is_empty

    def contact(self, row: int) -> tuple[int, int] | None:
        """The first two edges of a polygon that cross or touch where they should not; None if it is simple.

        Edge ``i`` goes from point ``i`` to the next. A polygon without points has ``(0, 0)``.
        """
        points = self._vertices[self._offsets[row] : self._offsets[row + 1]]
        if not len(points):
            return 0, 0
        return None if self.is_convex[row] else geometry.first_contact(points)

    @property
    def extent(self) -> FloatArray:
        """(N,) area over that of the upright bounding box; NaN where that is 0."""
        low, high = np.split(geometry.bounds(self._vertices, self._offsets), 2, axis=1)
        return _ratio(self.area, (high - low).prod(axis=1))

    @property
    def solidity(self) -> FloatArray:
        """(N,) area over that of the convex hull; NaN where that is 0."""
        return _ratio(self.area, self.convex_hull().area)

    @property
    def aspect_ratio(self) -> FloatArray:
        """(N,) width over height of the upright bounding box, as of `Boxes`; NaN for an empty polygon."""
        sides = np.diff(geometry.bounds(self._vertices, self._offsets).reshape(-1, 2, 2), axis=1)[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(sides[:, 0] / sides[:, 1])

    def _rectangles(self) -> list[tuple[FloatArray, FloatArray, float]]:
        return [geometry.min_area_rectangle(geometry.hull(points)) for points in self.points()]

    @property
    def min_area_sides(self) -> FloatArray:
        """(N, 2) long and short side of the smallest box of any angle; NaN for an empty polygon."""
        return np.array([sides for _, sides, _ in self._rectangles()]).reshape(-1, 2)

    @property
    def orientation(self) -> FloatArray:
        """(N,) radians in [0, pi) from the x axis to the long side of the smallest box, clockwise on a screen.

        In [0, pi / 2) where that box is a square; 0 for a point; NaN for an empty polygon.
        """
        return np.array([angle for _, _, angle in self._rectangles()], np.float64)

    def min_area_corners(self) -> FloatArray:
        """(N, 4, 2) corners of the smallest box of any angle, clockwise on a screen; the first edge is a long one."""
        result = np.empty((len(self), 4, 2))
        for row, (centre, sides, angle) in enumerate(self._rectangles()):
            along = np.array([math.cos(angle), math.sin(angle)]) * sides[0] / 2
            across = np.array([-math.sin(angle), math.cos(angle)]) * sides[1] / 2
            result[row] = centre + np.stack([-along - across, along - across, along + across, across - along])
        return result

    def min_area_boxes(self) -> RotatedBoxes:
        """The smallest boxes of any angle: width the long side, `orientation` the angle, in clockwise radians.

        Raises:
            ValueError: If a polygon has no points; `drop_empty` leaves them out.
        """
        self._check_points("smallest")
        rows = [[*centre, *sides, angle] for centre, sides, angle in self._rectangles()]
        data = np.array(rows, np.float64).reshape(-1, 5)
        return RotatedBoxes(data, unit="radians", sense="clockwise")

    def to_boxes(self) -> Boxes:
        """The least upright boxes around the polygons: float64, xyxy. An empty polygon has none.

        Raises:
            ValueError: If a polygon has no points; `drop_empty` leaves them out.
        """
        self._check_points("bounding")
        return Boxes(geometry.bounds(self._vertices, self._offsets), normalized=self._normalized, dtype=np.float64)

    def _check_points(self, kind: str) -> None:
        none = np.flatnonzero(self.num_points == 0)
        if len(none):
            raise ValueError(f"polygons[{none[0]}] has no points and hence no {kind} box; drop_empty() leaves it out")

    def convex_hull(self) -> Polygons:
        """The least convex polygons around these, clockwise on a screen; empty where there is no area."""
        rings = [geometry.hull(points) for points in self.points()]
        return Polygons._of_rings([ring if len(ring) > 2 else ring[:0] for ring in rings], self._normalized)

    def normalize(self, width: float, height: float) -> Polygons:
        """In the unit of an image of this size, given in pixels; an error if they are already."""
        if self._normalized:
            raise ValueError("these polygons are already normalized; denormalize(width, height) undoes it")
        check_positive(width=width, height=height)
        return self._with(self._vertices / np.array([width, height]), normalized=True)

    def denormalize(self, width: float, height: float) -> Polygons:
        """In pixels of an image of this size; an error if they are already."""
        if not self._normalized:
            raise ValueError("these polygons are already absolute; normalize(width, height) undoes it")
        check_positive(width=width, height=height)
        return self._with(self._vertices * np.array([width, height]), normalized=False)

    def shift(self, dx: float, dy: float) -> Polygons:
        """Moved by (dx, dy)."""
        check_finite(dx=dx, dy=dy)
        return self._with(self._vertices + np.array([dx, dy]))

    def scale(self, fx: float, fy: float | None = None) -> Polygons:
        """Multiplied by ``fx`` and ``fy`` (``fx`` for both if not given) about the centroid of each."""
        fx, fy = check_factors(fx, fy)
        centre = np.repeat(self.centroid, self.num_points, axis=0)
        return self._with(centre + (self._vertices - centre) * np.array([fx, fy]))

    def clockwise(self) -> Polygons:
        """The same regions with their points clockwise on a screen, from the same first point on."""
        return Polygons._of_rings(
            [np.concatenate([ring[:1], ring[:0:-1]]) if area < 0 else ring
             for ring, area in zip(self.points(), self.signed_area, strict=True)],
            self._normalized,
        )  # fmt: skip

    def clip(self, xmin: float, ymin: float, xmax: float, ymax: float, *, parts: Parts = "error") -> Polygons:
        """The parts inside a window, whose sides may be infinite; those outside become empty.

        A convex polygon, and one that lies inside or outside as a whole, is clipped here; others need the extra
        ``polygons`` and must be simple.

        Args:
            xmin: Left side.
            ymin: Upper side, y pointing down.
            xmax: Right side.
            ymax: Lower side.
            parts: What becomes of a polygon that falls into several parts: an ``"error"``, or its ``"largest"``.
                `Polygon.clip` gives them all.
        """
        window = check_window(xmin, ymin, xmax, ymax)
        return self._each(lambda row: self._clipped(row, window), parts, f"clip{window}", "Polygon.clip gives them all")

    def _clipped(self, row: int, window: tuple[float, float, float, float]) -> list[FloatArray]:
        points = self._vertices[self._offsets[row] : self._offsets[row + 1]]
        low, high = (points.min(axis=0), points.max(axis=0)) if len(points) else (np.zeros(2), np.zeros(2))
        if len(points) and (low >= window[:2]).all() and (high <= window[2:]).all():
            return [points]
        if (high <= window[:2]).any() or (low >= window[2:]).any() or self.is_convex[row]:
            ring = geometry.clip_to_window(points, window)
            return [ring] if len(ring) else []
        self.check_simple(row)
        return through_shapely.clipped(points, window)

    def buffer(
        self, distance: float, *, join_style: JoinStyle = "mitre", mitre_limit: float = 5.0, parts: Parts = "error"
    ) -> Polygons:
        """Grown by a distance all around, or shrunk if it is negative; needs the extra ``polygons``.

        Args:
            distance: In the unit of the points.
            join_style: ``"mitre"`` (corners stay corners), ``"round"`` or ``"bevel"``.
            mitre_limit: How far a mitred corner may reach, in distances; beyond, it is cut off.
            parts: What becomes of a polygon that falls into several parts, or encloses a hole, which cuts it: an
                ``"error"``, or the ``"largest"`` part. `Polygon.buffer` gives them all.
        """
        check_finite(distance=distance)
        return self._each(
            lambda row: self._buffered(row, distance, join_style, mitre_limit),
            parts, f"buffer({distance})", "Polygon.buffer gives them all",
        )  # fmt: skip

    def _buffered(self, row: int, distance: float, join_style: JoinStyle, mitre_limit: float) -> list[FloatArray]:
        points = self._vertices[self._offsets[row] : self._offsets[row + 1]]
        if not len(points) or self.is_empty[row]:
            return []
        self.check_simple(row)
        return through_shapely.buffered(points, distance, join_style, mitre_limit)

    def _each(self, work: Callable[[int], list[FloatArray]], parts: Parts, call: str, instead: str) -> Polygons:
        """One polygon for each, of the parts that ``work`` gives for a row."""
        check_choice("parts", parts, get_args(Parts))
        rings: list[FloatArray] = []
        for row in range(len(self)):
            found = work(row)
            if len(found) > 1 and parts == "error":
                raise ValueError(
                    f"polygons[{row}] falls into {len(found)} parts by {call}: {instead}, "
                    "parts='largest' keeps the largest"
                )
            rings.append(max(found, key=_area, default=np.zeros((0, 2))))
        result = Polygons._of_rings(rings, self._normalized)
        check_polygons(result._vertices, result._offsets)
        return result

    def make_valid(self) -> tuple[Polygons, NDArray[np.int64]]:
        """Simple polygons that cover what the paths enclose an odd number of times; needs the extra ``polygons``.

        That is Shapely's ``make_valid``, which may cover more where edges lie on one another.

        Valid polygons stay as they are, those without an area vanish, others may become several; one with a hole is
        cut through the hole, since there are no polygons with holes.

        Returns:
            The M polygons and, (M,), the row of `self` from which each comes, ascending.
        """
        rings, rows = [], []
        for row, points in enumerate(self.points()):
            if self.contact(row) is None:
                found = [points]
            else:
                flat = len(geometry.hull(points)) < 3
                found = [] if flat else through_shapely.mended(points)
            rings += found
            rows += [row] * len(found)
        return Polygons._of_rings(rings, self._normalized), np.array(rows, np.int64)

    def check_simple(self, row: int, name: str | None = None) -> None:
        """Refuses a path that crosses or touches itself, naming its edges."""
        contact = self.contact(row)
        if contact is not None:
            points = self._vertices[self._offsets[row] : self._offsets[row + 1]]
            edges = [f"{k} {points[k].tolist()} -> {points[(k + 1) % len(points)].tolist()}" for k in contact]
            raise ValueError(
                f"{name or f'polygons[{row}]'} crosses or touches itself: edge {edges[0]} meets edge {edges[1]}; "
                "make_valid() gives simple polygons that cover the same"
            )

    def simplify(self, tolerance: float) -> Polygons:
        """With fewer points, none of the dropped ones farther than ``tolerance`` from the new path.

        Needs the extra ``polygons``; the path of a simple polygon stays simple.
        """
        check_finite(tolerance=tolerance)
        if tolerance < 0:
            raise ValueError(f"tolerance must not be negative, got {tolerance}")
        module = through_shapely.shapely("Polygons.simplify")
        rings: list[FloatArray] = []
        for row, points in enumerate(self.points()):
            if len(points) and not self.is_empty[row]:
                self.check_simple(row)
                simpler = module.simplify(module.Polygon(points), tolerance, preserve_topology=True)
                rings.append(np.asarray(simpler.exterior.coords, np.float64)[:-1])
            else:
                rings.append(points)
        return Polygons._of_rings(rings, self._normalized)

    def _once(self, name: str, compute: Callable[[], NDArray[Any]]) -> Any:
        """What ``compute`` gives, kept: the points never change."""
        if name not in self._cache:
            value = compute()
            value.flags.writeable = False
            self._cache[name] = value
        return self._cache[name]

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def _state(self) -> tuple[Any, ...]:
        return self._vertices, self._offsets, self._normalized

    def _select(self, rows: slice | NDArray[Any]) -> Polygons:
        numbers = np.arange(len(self))[rows]
        counts = self.num_points[numbers]
        begin = np.repeat(self._offsets[numbers] - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
        return Polygons._of_counts(self._vertices[begin + np.arange(len(begin))], counts, self._normalized)

    def __repr__(self) -> str:
        unit = ", normalized=True" if self._normalized else ""
        if len(self) == 1 or len(self._vertices) <= 12:
            return f"Polygons({self.to_list()}{unit})"
        return f"<Polygons: {len(self):,} of {len(self._vertices):,} points{unit}>"


def _area(ring: FloatArray) -> float:
    return abs(float(geometry.signed_areas(ring, np.array([0, len(ring)]))[0]))


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, part / whole, math.nan)
