"""`Box` and `Polygon`: one region, which converts to the other kind."""

from __future__ import annotations

import math
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

import ioukit
from ioukit._checks import check_finite, check_window
from ioukit.compat.docsaidkit.structures._four_numbers import FourNumbers
from ioukit.compat.docsaidkit.structures._outlines import (
    grown,
    hull_rows,
    moments_of,
    order_points_clockwise,
    smallest_circle,
)
from ioukit.compat.docsaidkit.structures.modes import BoxMode, WithUnit, numbers_of, unit_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from ioukit.typing import FloatArray

__all__ = ["JOIN_STYLE", "Box", "MinBox", "Polygon"]

MinBox = tuple[tuple[float, float], tuple[float, float], float]
"""Centre, (width, height) and degrees of a box at any angle."""


class Box(FourNumbers):
    """One box of four float32 numbers that knows its mode and its unit.

    Args:
        array: 4 numbers, or a `Box`, which is converted to the mode.
        box_mode: The mode of the numbers: a `BoxMode`, its name or its number.
        is_normalized: Whether the unit is the image; a `Box` keeps its own.
        normalized: The same flag, as DocsaidKit spells it.

    Raises:
        TypeError: If the data are not 4 numbers.
        ValueError: If the mode is unknown, or the flags contradict each other or the flag of the `Box`.
    """

    def __init__(
        self,
        array: Box | ArrayLike,
        box_mode: int | str | BoxMode = BoxMode.XYXY,
        is_normalized: bool | None = None,
        *,
        normalized: bool | None = None,
    ) -> None:
        mode = BoxMode.align_code(box_mode)
        if isinstance(array, Box):
            self._set(array._in(mode), mode, unit_of(is_normalized, normalized, array._normalized))
            return
        numbers = numbers_of(array, "box")
        if numbers.shape != (4,):
            raise TypeError(f"a Box has 4 numbers, got shape {numbers.shape}")
        self._set(numbers, mode, unit_of(is_normalized, normalized))

    def square(self) -> Self:
        """A square of the SHORTER side with the same centre. As upstream, `Boxes.square` uses the longer side."""
        return self._squared(np.minimum)

    def to_polygon(self) -> Polygon:
        """The polygon of the four corners, clockwise on the screen from the upper left corner.

        Raises:
            ValueError: If the width or the height is not above 0.
        """
        if not (self.width > 0 and self.height > 0):
            raise ValueError(f"a polygon needs width and height above 0, got {self}")
        x1, y1, x2, y2 = self._in(BoxMode.XYXY).tolist()
        return Polygon(np.array([[x1, y1], [x2, y1], [x2, y2], [x1, y2]]), is_normalized=self._normalized)

    def __getitem__(self, item: Any) -> Any:
        """One of the numbers, or an array of the numbers in a slice."""
        numbers = self._array[item]
        return float(numbers) if np.ndim(numbers) == 0 else np.array(numbers)


class JOIN_STYLE(IntEnum):  # noqa: N801 - its name there
    """What the corners of a grown polygon look like, with Shapely's numbers."""

    round = 1
    mitre = 2
    bevel = 3


class Polygon(WithUnit):
    """A closed path through K points in float32. Every method returns a new object.

    Args:
        array: (K, 2); (K, 1, 2) as in OpenCV's contours; (2,) for one point; ``[]``; or a `Polygon`.
        is_normalized: Whether the unit is the image; a `Polygon` keeps its own.
        normalized: The same flag, as DocsaidKit spells it.

    Raises:
        TypeError: If the data are not numbers, or their shape does not fit.
        ValueError: If the flags contradict each other or the flag of the `Polygon`.
    """

    __hash__: ClassVar[None]  # type: ignore[assignment] # equality is approximate, so there is no hash

    def __init__(
        self, array: Polygon | ArrayLike, is_normalized: bool | None = None, *, normalized: bool | None = None
    ) -> None:
        if isinstance(array, Polygon):
            points, sources = array._array, [array.is_normalized]
        else:
            points, sources = numbers_of(array, "polygon"), []
        if points.shape == (0,):
            points = points.reshape(0, 2)
        elif points.shape == (2,):
            points = points.reshape(1, 2)
        elif points.ndim == 3 and points.shape[1] == 1:
            points = points[:, 0]
        if points.ndim != 2 or points.shape[1] != 2:
            raise TypeError(f"a Polygon must have shape (K, 2), (K, 1, 2), (2,) or (0,), got {points.shape}")
        self._array: FloatArray = np.array(points, np.float32)
        self._array.flags.writeable = False
        self._normalized: bool = unit_of(is_normalized, normalized, *sources)

    def _like(self, array: ArrayLike) -> Polygon:
        return Polygon(np.asarray(array), is_normalized=self._normalized)

    def checked(self) -> ioukit.Polygon:
        """This polygon as `ioukit.Polygon`, in float64. One or two points become a path that goes there and back.

        Raises:
            ValueError: If a point is NaN or infinite.
        """
        points = self._array.astype(np.float64)
        if 0 < len(points) < 3:
            points = np.concatenate([points, np.repeat(points[-1:], 3 - len(points), axis=0)])
        return ioukit.Polygon(points, normalized=self._normalized)

    def is_empty(self, threshold: int = 3) -> bool:
        """Whether the polygon has fewer points than the threshold; TypeError if the threshold is not an integer."""
        if not isinstance(threshold, (int, np.integer)):
            raise TypeError(f'wrong type of threshold: expected "int", got "{type(threshold).__name__}"')
        return len(self) < threshold

    def numpy(self, flatten: bool = False) -> FloatArray:
        """(K, 2), or (2 K,) if flattened: a copy that the caller may change."""
        return np.array(self._array.reshape(-1) if flatten else self._array)

    def to_list(self, flatten: bool = False) -> Any:
        """The points as lists of Python floats, or ``[x1, y1, x2, y2, ...]`` if flattened."""
        return self.numpy(flatten).tolist()

    tolist = to_list

    def copy(self) -> Polygon:
        """A copy."""
        return Polygon(self)

    def normalize(self, w: float, h: float) -> Polygon:
        """The polygon in the unit of an image of this size; ValueError if it is normalized already."""
        self._check_normalize(w, h)
        return Polygon(self._array / np.array([w, h], np.float32), is_normalized=True)

    def denormalize(self, w: float, h: float) -> Polygon:
        """The polygon in pixels of an image of this size; ValueError if it is in pixels already."""
        self._check_denormalize(w, h)
        return Polygon(self._array * np.array([w, h], np.float32), is_normalized=False)

    def clip(self, xmin: float, ymin: float, xmax: float, ymax: float) -> Polygon:
        """The polygon with each point moved to the nearest place inside a window, as upstream.

        The number of points stays the same. `ioukit.Polygon.clip` gives the part of the polygon inside the window,
        which has another shape where an edge crosses the window.

        Raises:
            ValueError: If the window is inverted or holds NaN, or a point is NaN or infinite.
        """
        check_window(xmin, ymin, xmax, ymax)
        self.checked()
        return self._like(np.clip(self._array, np.array([xmin, ymin]), np.array([xmax, ymax])))

    def shift(self, shift_x: float, shift_y: float) -> Polygon:
        """The polygon moved by (shift_x, shift_y)."""
        check_finite(shift_x=shift_x, shift_y=shift_y)
        return self._like(self._array + np.array([shift_x, shift_y], np.float32))

    def scale(self, distance: float, join_style: int | JOIN_STYLE = JOIN_STYLE.mitre) -> Polygon:
        """The polygon grown by a distance on all sides, or shrunk if it is negative; needs the extra ``polygons``.

        The number of points stays the same. Each corner of the grown polygon goes to the point next to it. If several
        corners go to one point, the last of them counts; if none does, the point moves to the corner next to it. If
        the polygon falls into parts, the largest part counts. If nothing is left, the result has no points.

        Args:
            distance: In the unit of the polygon.
            join_style: What corners become: round, mitre or bevel, as a member of `JOIN_STYLE` or as its number.

        Raises:
            ValueError: If the polygon has fewer than 3 points, or a point is NaN or infinite.
        """
        if self.is_empty():
            raise ValueError(f"a polygon needs at least 3 points to grow, got {len(self)}")
        check_finite(distance=distance)
        self.checked()
        return self._like(grown(self._array.astype(np.float64), distance, JOIN_STYLE(join_style).name))

    def to_convexhull(self) -> Polygon:
        """The corners of the smallest convex polygon around the points, clockwise on the screen.

        The first corner is that of OpenCV: the one with the largest x, unless the points are in the order of the hull
        or in the opposite order. Points on one line have two corners.
        """
        points = self._array.astype(np.float64)
        self.checked()
        return self._like(self._array[hull_rows(points)])

    def to_min_boxpoints(self) -> Polygon:
        """The four corners of the smallest box at any angle, in the order of `order_points_clockwise`.

        They are rounded to 4 decimals, as upstream, and to 7 decimals if the polygon is normalized.
        """
        corners = self.checked().min_area_corners()
        return self._like(order_points_clockwise(corners.round(7 if self._normalized else 4) + 0.0))

    def to_box(self, box_mode: int | str | BoxMode = BoxMode.XYXY) -> Box:
        """The smallest upright box around the points, in a mode.

        Raises:
            ValueError: If there are no points.
        """
        return Box(self.checked().to_boxes().numpy()[0], is_normalized=self._normalized).convert(box_mode)

    @property
    def moments(self) -> dict[str, float]:
        """Spatial, central and normalized central moments of the area, by OpenCV's names (``m00`` ... ``nu03``)."""
        return moments_of(self._array.astype(np.float64))

    @property
    def area(self) -> float:
        """The area, never negative."""
        return self.checked().area

    @property
    def arclength(self) -> float:
        """The length of the closed path."""
        return self.checked().perimeter

    @property
    def centroid(self) -> FloatArray:
        """(2,) float64 the centre of the area; without an area, the centre of the edges; NaN without points."""
        return self.checked().centroid

    @property
    def boundingbox(self) -> Box:
        """The smallest upright box around the points, XYWH, in the polygon's unit."""
        return self.to_box(BoxMode.XYWH)

    @property
    def min_circle(self) -> tuple[tuple[float, float], float]:
        """Centre and radius of the smallest circle around the points."""
        return smallest_circle(self._array.astype(np.float64))

    @property
    def min_box(self) -> MinBox:
        """Centre, (width, height) and angle of the smallest box at any angle.

        The angle is in degrees within (0, 90], clockwise on the screen from the x axis to the side called width, as
        OpenCV gives it since version 4.5.1.
        """
        polygon = self.checked()
        x, y = polygon.min_area_corners().mean(axis=0).tolist()
        long, short = polygon.min_area_sides
        degrees = math.degrees(polygon.orientation)
        if 0 < degrees <= 90:
            return (x, y), (long, short), degrees
        return (x, y), (short, long), degrees - 90 if degrees > 90 else 90.0

    @property
    def min_box_wh(self) -> tuple[float, float]:
        """Width and height of `min_box`."""
        return self.min_box[1]

    @property
    def orientation(self) -> float:
        """The angle of `min_box`, in degrees within (0, 90]."""
        return self.min_box[2]

    @property
    def extent(self) -> float:
        """The area divided by the area of the upright bounding box; NaN if that is 0."""
        return self.checked().extent

    @property
    def solidity(self) -> float:
        """The area divided by the area of the convex hull; NaN if that is 0."""
        return self.checked().solidity

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, item: Any) -> Any:
        """A copy of the selected points."""
        return np.array(self._array[item])

    def __eq__(self, other: object) -> bool:
        """Whether both have nearly the same points (``np.allclose``) in one unit."""
        if not isinstance(other, Polygon):
            return NotImplemented
        if self._normalized != other._normalized or len(self) != len(other):
            return False
        return bool(np.allclose(self._array, other._array))

    def __repr__(self) -> str:
        return f"Polygon({self._array})"
