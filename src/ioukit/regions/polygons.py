"""`Polygons`: regions bounded by closed paths of straight edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from ioukit._arrays import as_floats
from ioukit._checks import check_choice, check_factors, check_finite, check_one_unit, check_positive, check_window
from ioukit.regions import _polygon_geometry as geometry
from ioukit.regions import _polygon_shapely as through_shapely
from ioukit.regions._polygon_input import OnePolygon, check_polygons, pairs_of, ragged
from ioukit.regions._polygon_paths import PolygonPaths
from ioukit.regions.boxes import Boxes
from ioukit.regions.formats import convert
from ioukit.regions.rotated import RotatedBoxes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from ioukit.regions._polygon_shapely import JoinStyle
    from ioukit.typing import FloatArray


PolygonsLike: TypeAlias = "Polygons | Sequence[OnePolygon | ArrayLike] | NDArray[Any]"
"""What `Polygons` can be made of: `Polygons`, a sequence of `Polygon` or of points (K, 2), or an array (N, K, 2)."""

Parts: TypeAlias = Literal["error", "largest"]
"""What to do with a polygon that falls into several parts."""


class Polygons(PolygonPaths):
    """N polygons, each with any number of points: a frozen value in float64.

    A polygon is the region that a closed path encloses. The path visits the points in order and returns from the last
    point to the first. It may run either way and start at any point; equality compares the points as they are. A
    polygon has one path and no holes: `Masks` can hold regions in several parts, and regions with holes.

    A polygon without points is empty. 1 or 2 points are refused. A path may have no area, or cross itself: `is_simple`
    tells, the overlaps refuse paths that cross themselves, and `make_valid` turns them into simple polygons.

    y points down, as in images: where `signed_area` is positive, the points run clockwise on the screen.
    ``polygons[i]`` is a `Polygons` of one polygon; ``list(map(Polygon, polygons))`` is a list of `Polygon`.

    Args:
        data: A list of (K, 2) points or of `Polygon`, an array (N, K, 2), or `Polygons`. The numbers are copied.
        normalized: Whether the unit is the image, whose sides are 1 then, rather than the pixel. `Polygon` and
            `Polygons` keep their own unit.

    Raises:
        ValueError: If a polygon has 1 or 2 points, a shape other than (K, 2), or a number that is not finite or beyond
            2**500; or if normalized and absolute polygons are mixed.
        TypeError: If the data are not numbers.

    Examples:
        >>> polygons = Polygons([[[0, 0], [4, 0], [0, 3]], [[0, 0], [2, 0], [2, 2], [0, 2]]])
        >>> polygons.area
        array([6., 4.])
        >>> polygons.to_boxes()
        Boxes([[0., 0., 4., 3.],
               [0., 0., 2., 2.]], format='xyxy', dtype=float64)
    """

    __slots__ = ()

    def __init__(self, data: PolygonsLike, *, normalized: bool = False) -> None:
        if isinstance(data, OnePolygon):
            raise TypeError("Polygons take a list of polygons: Polygons([polygon])")
        if isinstance(data, Polygons):
            if normalized:
                check_one_unit(data._normalized, normalized)
            self._set(data._vertices, data._offsets, data._normalized)
            return
        items = () if isinstance(data, np.ndarray) else data
        units = [item.normalized for item in items if isinstance(item, OnePolygon)]
        for unit in units:
            check_one_unit(units[0], unit)
        if units and (normalized or len(units) < len(data)):
            check_one_unit(units[0], normalized)
        vertices, offsets = ragged(data)
        check_polygons(vertices, offsets)
        self._set(vertices, offsets, units[0] if units else normalized)

    def _with(self, vertices: FloatArray, normalized: bool | None = None) -> Polygons:
        """The same polygons with other coordinates, which are checked: they may have become too large."""
        vertices = np.ascontiguousarray(vertices)
        check_polygons(vertices, self._offsets)
        return Polygons._trusted(vertices, self._offsets, self._normalized if normalized is None else normalized)

    @staticmethod
    def from_ragged(vertices: ArrayLike, offsets: ArrayLike, *, normalized: bool = False) -> Polygons:
        """Polygons from flat arrays.

        Args:
            vertices: (K, 2) the points of all polygons, one polygon after the other.
            offsets: (N + 1,) integers: polygon ``i`` has the vertices ``offsets[i]:offsets[i + 1]``.
            normalized: As in `Polygons`.

        Raises:
            ValueError: If the offsets do not rise from 0 to K, or a polygon is refused.
        """
        flat = np.array(as_floats(vertices, "vertices"), np.float64).reshape(-1, 2)
        ends = np.array(offsets, np.int64)
        if ends.ndim != 1 or not len(ends) or ends[0] != 0 or ends[-1] != len(flat) or (np.diff(ends) < 0).any():
            raise ValueError(f"offsets must rise from 0 to the number of vertices, {len(flat)}, got {ends.tolist()}")
        check_polygons(flat, ends)
        return Polygons._trusted(flat, ends, normalized)

    @staticmethod
    def from_flat(data: Sequence[ArrayLike], *, normalized: bool = False) -> Polygons:
        """Polygons from flat lists ``[x1, y1, x2, y2, ...]``, one list per polygon, as in COCO's segmentations.

        If COCO describes an object by several lists, each list becomes a polygon.
        """
        return Polygons([pairs_of(item, f"data[{row}]") for row, item in enumerate(data)], normalized=normalized)

    @staticmethod
    def from_boxes(boxes: Boxes | ArrayLike) -> Polygons:
        """The boxes as polygons of 4 corners, clockwise on the screen from the upper left corner.

        Args:
            boxes: `Boxes`, or numbers (N, 4) as xyxy.
        """
        boxes = boxes if isinstance(boxes, Boxes) else Boxes(boxes, dtype=np.float64)
        corners = convert(boxes.numpy().astype(np.float64), boxes.format, "xyxy")
        vertices = np.ascontiguousarray(corners[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 2))
        return Polygons._trusted(vertices, 4 * np.arange(len(corners) + 1, dtype=np.int64), boxes.normalized)

    @staticmethod
    def concat(polygons: Sequence[Polygons]) -> Polygons:
        """All polygons of a sequence, in order.

        Raises:
            ValueError: If the sequence is empty, or normalized and absolute polygons are mixed.
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

    def min_area_boxes(self) -> RotatedBoxes:
        """The smallest box at any angle around each polygon.

        The width is the long side, and the angle is `orientation`, in radians and clockwise.

        Raises:
            ValueError: If a polygon has no points; `drop_empty` removes such polygons.
        """
        self._check_points("smallest")
        rows = [[*centre, *sides, angle] for centre, sides, angle in self._rectangles()]
        data = np.array(rows, np.float64).reshape(-1, 5)
        return RotatedBoxes(data, unit="radians", sense="clockwise")

    def to_boxes(self) -> Boxes:
        """The smallest upright box around each polygon: float64, xyxy.

        Raises:
            ValueError: If a polygon has no points; `drop_empty` removes such polygons.
        """
        self._check_points("bounding")
        return Boxes(geometry.bounds(self._vertices, self._offsets), normalized=self._normalized, dtype=np.float64)

    def _check_points(self, kind: str) -> None:
        none = np.flatnonzero(self.num_points == 0)
        if len(none):
            raise ValueError(f"polygons[{none[0]}] has no points and hence no {kind} box; drop_empty() leaves it out")

    def normalize(self, width: float, height: float) -> Polygons:
        """The polygons in the unit of an image of this size in pixels; ValueError if they are normalized already."""
        if self._normalized:
            raise ValueError("these polygons are already normalized; denormalize(width, height) undoes it")
        check_positive(width=width, height=height)
        return self._with(self._vertices / np.array([width, height]), normalized=True)

    def denormalize(self, width: float, height: float) -> Polygons:
        """The polygons in pixels of an image of this size; ValueError if they are in pixels already."""
        if not self._normalized:
            raise ValueError("these polygons are already absolute; normalize(width, height) undoes it")
        check_positive(width=width, height=height)
        return self._with(self._vertices * np.array([width, height]), normalized=False)

    def shift(self, dx: float, dy: float) -> Polygons:
        """The polygons moved by (dx, dy)."""
        check_finite(dx=dx, dy=dy)
        return self._with(self._vertices + np.array([dx, dy]))

    def scale(self, fx: float, fy: float | None = None) -> Polygons:
        """The polygons scaled by ``fx`` along x and ``fy`` along y (``fx`` if not given), each about its centroid."""
        fx, fy = check_factors(fx, fy)
        centre = np.repeat(self.centroid, self.num_points, axis=0)
        return self._with(centre + (self._vertices - centre) * np.array([fx, fy]))

    def clockwise(self) -> Polygons:
        """The same regions with points that run clockwise on a screen, from the same first point."""
        return Polygons._of_rings(
            [np.concatenate([ring[:1], ring[:0:-1]]) if area < 0 else ring
             for ring, area in zip(self.points(), self.signed_area, strict=True)],
            self._normalized,
        )  # fmt: skip

    def clip(self, xmin: float, ymin: float, xmax: float, ymax: float, *, parts: Parts = "error") -> Polygons:
        """The part of each polygon inside a window. Polygons outside the window become empty.

        Polygons that are convex, wholly inside or wholly outside need NumPy alone. All others must be simple and need
        Shapely (extra ``polygons``).

        Args:
            xmin: Left side of the window; the sides may be infinite.
            ymin: Upper side; y points down.
            xmax: Right side.
            ymax: Lower side.
            parts: What happens where a polygon falls into several parts: ``"error"`` raises, ``"largest"`` keeps the
                largest part. `Polygon.clip` returns all parts.

        Raises:
            ValueError: If the window is inverted, or a polygon falls into parts or crosses itself.
        """
        window = check_window(xmin, ymin, xmax, ymax)
        return self._each(lambda row: self._clipped(row, window), parts, f"clip{window}", "Polygon.clip gives them all")

    def _clipped(self, row: int, window: tuple[float, float, float, float]) -> list[FloatArray]:
        points = self._ring(row)
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
        """Each polygon grown by a distance on all sides, or shrunk if it is negative; needs the extra ``polygons``.

        Args:
            distance: In the unit of the points.
            join_style: What corners become: ``"mitre"`` (corners), ``"round"`` or ``"bevel"``.
            mitre_limit: How far a mitred corner may reach, as a multiple of the distance; it is cut off there.
            parts: What happens where a polygon falls into several parts: ``"error"`` raises, ``"largest"`` keeps the
                largest part. A polygon that encloses a hole is cut into parts, too. `Polygon.buffer` returns all parts.

        Raises:
            ValueError: If a polygon falls into parts or crosses itself.
        """
        check_finite(distance=distance)
        return self._each(
            lambda row: self._buffered(row, distance, join_style, mitre_limit),
            parts, f"buffer({distance})", "Polygon.buffer gives them all",
        )  # fmt: skip

    def _buffered(self, row: int, distance: float, join_style: JoinStyle, mitre_limit: float) -> list[FloatArray]:
        points = self._ring(row)
        if not len(points) or self.is_empty[row]:
            return []
        self.check_simple(row)
        return through_shapely.buffered(points, distance, join_style, mitre_limit)

    def _each(self, work: Callable[[int], list[FloatArray]], parts: Parts, call: str, instead: str) -> Polygons:
        """One polygon per row, chosen from the parts that ``work`` gives for this row."""
        check_choice("parts", parts, get_args(Parts))
        rings: list[FloatArray] = []
        for row in range(len(self)):
            found = work(row)
            if len(found) > 1 and parts == "error":
                raise ValueError(
                    f"polygons[{row}] falls into {len(found)} parts by {call}: {instead}, "
                    "parts='largest' keeps the largest"
                )
            rings.append(max(found, key=geometry.ring_area, default=np.zeros((0, 2))))
        result = Polygons._of_rings(rings, self._normalized)
        check_polygons(result._vertices, result._offsets)
        return result

    def make_valid(self) -> tuple[Polygons, NDArray[np.int64]]:
        """Simple polygons that cover what each path encloses an odd number of times; needs the extra ``polygons``.

        Simple polygons stay as they are, and polygons without an area are left out. Any other path may become several
        polygons. A result with a hole is cut through the hole, because polygons have no holes. Shapely's ``make_valid``
        does the work; it may cover more where edges lie on one another.

        Returns:
            The M polygons, and (M,) the row in this set that each comes from, ascending.
        """
        rings, rows = [], []
        for row, points in enumerate(self.points()):
            if self.contact(row) is None:
                found = [points]
            else:
                flat = len(geometry.hull(points)) < 3
                found = [] if flat else through_shapely.valid_parts(points)
            rings += found
            rows += [row] * len(found)
        return Polygons._of_rings(rings, self._normalized), np.array(rows, np.int64)

    def simplify(self, tolerance: float) -> Polygons:
        """Polygons with fewer points; the dropped points lie within ``tolerance`` of the new path.

        Needs the extra ``polygons``. The paths stay simple.

        Raises:
            ValueError: If the tolerance is negative, or a polygon crosses itself.
        """
        check_finite(tolerance=tolerance)
        if tolerance < 0:
            raise ValueError(f"tolerance must not be negative, got {tolerance}")
        through_shapely.shapely("Polygons.simplify")  # names the extra, also where no polygon has an area
        rings: list[FloatArray] = []
        for row, points in enumerate(self.points()):
            if len(points) and not self.is_empty[row]:
                self.check_simple(row)
                rings.append(through_shapely.simplified(points, tolerance))
            else:
                rings.append(points)
        return Polygons._of_rings(rings, self._normalized)
