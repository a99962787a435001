"""Box, Boxes, Polygon and Polygons: one or many regions, which convert to the other kind.

They are in one file because a box gives polygons and a polygon gives boxes.
"""

from __future__ import annotations

import math
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

import ioukit
from ioukit._checks import check_finite, check_window
from ioukit._optional import import_extra
from ioukit.compat.docsaidkit.structures._outlines import (
    grown,
    hull_rows,
    moments_of,
    order_points_clockwise,
    smallest_circle,
)
from ioukit.compat.docsaidkit.structures.modes import BoxMode, Numbers, WithUnit, check_sets, numbers_of, unit_of
from ioukit.regions.formats import convert

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self

    from ioukit.typing import FloatArray

__all__ = ["JOIN_STYLE", "Box", "Boxes", "FourNumbers", "MinBox", "Polygon", "Polygons"]


class FourNumbers(Numbers):
    """Float32 numbers of shape (..., 4) with a mode and a unit. Every method returns a new object."""

    _mode: BoxMode

    @classmethod
    def _of(cls, array: ArrayLike, mode: BoxMode, normalized: bool) -> Self:
        made = cls.__new__(cls)
        made._set(array, mode, normalized)
        return made

    def _set(self, array: ArrayLike, mode: BoxMode, normalized: bool) -> None:
        self._array = np.array(array, np.float32)
        self._array.flags.writeable = False
        self._mode, self._normalized = mode, normalized

    def _like(self, array: ArrayLike) -> Self:
        return self._of(array, self._mode, self._normalized)

    @property
    def box_mode(self) -> BoxMode:
        """The mode of the numbers."""
        return self._mode

    def _in(self, mode: BoxMode) -> FloatArray:
        return convert(self._array, self._mode.format, mode.format)

    def _from(self, array: FloatArray, mode: BoxMode) -> Self:
        """A new object in the mode and the unit of this one, from numbers in another mode."""
        return self._like(convert(array, mode.format, self._mode.format))

    def convert(self, to_mode: int | str | BoxMode) -> Self:
        """The same boxes in another mode."""
        mode = BoxMode.align_code(to_mode)
        return self._of(self._in(mode), mode, self._normalized)

    def copy(self) -> Self:
        """A copy."""
        return self._like(self._array)

    def normalize(self, w: float, h: float) -> Self:
        """The boxes in the unit of an image of this size; ValueError if they are normalized already."""
        self._check_normalize(w, h)
        return self._of(self._array / np.array([w, h, w, h], np.float32), self._mode, True)

    def denormalize(self, w: float, h: float) -> Self:
        """The boxes in pixels of an image of this size; ValueError if they are in pixels already."""
        self._check_denormalize(w, h)
        return self._of(self._array * np.array([w, h, w, h], np.float32), self._mode, False)

    def clip(self, xmin: float, ymin: float, xmax: float, ymax: float) -> Self:
        """The part of each box inside a window, in the same mode. A box outside shrinks to the window's edge.

        Raises:
            ValueError: If the window is inverted or holds NaN, or a number of the boxes is NaN or infinite.
        """
        check_window(xmin, ymin, xmax, ymax)
        if not np.isfinite(self._array).all():
            raise ValueError(f"only finite boxes can be clipped, got {self}")
        low, high = np.array([xmin, ymin] * 2, np.float32), np.array([xmax, ymax] * 2, np.float32)
        return self._from(np.clip(self._in(BoxMode.XYXY), low, high), BoxMode.XYXY)

    def shift(self, shift_x: float, shift_y: float) -> Self:
        """The boxes moved by (shift_x, shift_y)."""
        check_finite(shift_x=shift_x, shift_y=shift_y)
        far = (shift_x, shift_y) if self._mode == BoxMode.XYXY else (0, 0)
        return self._like(self._array + np.array([shift_x, shift_y, *far], np.float32))

    def scale(self, dsize: tuple[float, float] | None = None, fx: float | None = None, fy: float | None = None) -> Self:
        """Boxes of another size with the same centres.

        Args:
            dsize: What is added to width and height; or give factors.
            fx: The factor of the width.
            fy: The factor of the height.

        Raises:
            ValueError: If both ``dsize`` and a factor are given, since their order matters.
        """
        if dsize is not None and (fx is not None or fy is not None):
            raise ValueError("scale takes dsize, or fx and fy, not both")
        centred = self._in(BoxMode.CXCYWH)
        centred[..., 2:] *= np.array([1 if fx is None else fx, 1 if fy is None else fy], np.float32)
        centred[..., 2:] += np.array(dsize or (0, 0), np.float32)
        return self._from(centred, BoxMode.CXCYWH)

    def _squared(self, side: np.ufunc) -> Self:
        centred = self._in(BoxMode.CXCYWH)
        centred[..., 2:] = side(centred[..., 2], centred[..., 3])[..., None]
        return self._from(centred, BoxMode.CXCYWH)

    def _column(self, mode: BoxMode, *columns: int) -> Any:
        numbers = self._in(mode)
        return numbers[..., columns[0]] if len(columns) == 1 else numbers[..., list(columns)]

    @property
    def width(self) -> Any:
        """x2 - x1."""
        return self._column(BoxMode.XYWH, 2)

    @property
    def height(self) -> Any:
        """y2 - y1."""
        return self._column(BoxMode.XYWH, 3)

    @property
    def area(self) -> Any:
        """Width times height."""
        return self.width * self.height

    @property
    def aspect_ratio(self) -> Any:
        """Width over height: infinite for a box without height, NaN for a point."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.width / self.height

    @property
    def center(self) -> Any:
        """The centre, (x, y)."""
        return self._column(BoxMode.CXCYWH, 0, 1)

    @property
    def left_top(self) -> Any:
        """(x, y) of the corner with the smallest x and the smallest y."""
        return self._column(BoxMode.XYXY, 0, 1)

    @property
    def right_bottom(self) -> Any:
        """(x, y) of the corner with the largest x and the largest y."""
        return self._column(BoxMode.XYXY, 2, 3)

    @property
    def left_bottom(self) -> Any:
        """(x, y) of the corner with the smallest x and the largest y."""
        return self._column(BoxMode.XYXY, 0, 3)

    @property
    def right_top(self) -> Any:
        """(x, y) of the corner with the largest x and the smallest y."""
        return self._column(BoxMode.XYXY, 2, 1)

    def _comparable(self, other: Self) -> FloatArray:
        return other._in(self._mode)

    def __repr__(self) -> str:
        return f"{super().__repr__()}, {self._mode}"


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


class Polygon(Numbers):
    """A closed path through K points in float32. Every method returns a new object.

    Args:
        array: (K, 2); (K, 1, 2) as in OpenCV's contours; (2,) for one point; ``[]``; or a `Polygon`.
        is_normalized: Whether the unit is the image; a `Polygon` keeps its own.
        normalized: The same flag, as DocsaidKit spells it.

    Raises:
        TypeError: If the data are not numbers, or their shape does not fit.
        ValueError: If the flags contradict each other or the flag of the `Polygon`.
    """

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
        self._array = np.array(points, np.float32)
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


class Boxes(FourNumbers):
    """N boxes of float32 numbers that know their mode and their unit.

    ``boxes[i]`` is a `Box`; slices, lists, masks and index arrays select `Boxes`.

    Args:
        array: (N, 4) numbers, ``[]``, `Boxes`, or a list or tuple of `Box` and rows. `Box` and `Boxes` are converted to
            ``box_mode``. The caller's list does not change.
        box_mode: The mode of the numbers: a `BoxMode`, its name or its number.
        is_normalized: Whether the unit is the image; `Box` and `Boxes` keep their own.
        normalized: The same flag, as DocsaidKit spells it.

    Raises:
        TypeError: If the data are not numbers, or their shape does not fit.
        ValueError: If the mode is unknown, or units contradict each other.
    """

    def __init__(
        self,
        array: Boxes | Sequence[Any] | ArrayLike,
        box_mode: int | str | BoxMode = BoxMode.XYXY,
        is_normalized: bool | None = None,
        *,
        normalized: bool | None = None,
    ) -> None:
        mode = BoxMode.align_code(box_mode)
        if isinstance(array, Boxes):
            self._set(array._in(mode), mode, unit_of(is_normalized, normalized, array._normalized))
            return
        sources: list[bool] = []
        if isinstance(array, (list, tuple)):
            if any(isinstance(item, Box) for item in array):
                of_rows = unit_of(is_normalized, normalized)
                sources = [item._normalized if isinstance(item, Box) else of_rows for item in array]
            array = [item._in(mode).tolist() if isinstance(item, Box) else item for item in array]
        numbers = numbers_of(array, "boxes")
        if numbers.shape == (0,):
            numbers = numbers.reshape(0, 4)
        if numbers.ndim != 2 or numbers.shape[1] != 4:
            raise TypeError(f"Boxes must have shape (N, 4), got {numbers.shape}")
        self._set(numbers, mode, unit_of(is_normalized, normalized, *sources))

    def square(self) -> Self:
        """Squares of the LONGER sides with the same centres. As upstream, `Box.square` uses the shorter side."""
        return self._squared(np.maximum)

    def get_empty_index(self) -> NDArray[np.intp]:
        """(K,) rows of the boxes whose width or height is not above 0."""
        return np.flatnonzero(~((self.width > 0) & (self.height > 0)))

    def drop_empty(self) -> Self:
        """The boxes without the rows of `get_empty_index`."""
        return self._like(np.delete(self._array, self.get_empty_index(), axis=0))

    def to_polygons(self) -> Polygons:
        """The polygons of the four corners, clockwise on the screen from the upper left corner.

        Raises:
            ValueError: If a width or a height is not above 0.
        """
        return Polygons([box.to_polygon() for box in self], is_normalized=self._normalized)

    def checked(self) -> ioukit.Boxes:
        """These boxes as `ioukit.Boxes`, which must be valid.

        Raises:
            ValueError: If a box is inverted, NaN or infinite; the message names its row.
        """
        return ioukit.Boxes(self._array, self._mode.format, normalized=self._normalized)

    def __getitem__(self, item: Any) -> Any:
        """`Box` of an integer; `Boxes` of a slice, list, mask or index array."""
        if isinstance(item, (int, np.integer)) and not isinstance(item, bool):
            return Box._of(self._array[item], self._mode, self._normalized)
        rows: Any = item
        if isinstance(item, (list, tuple, np.ndarray)):
            rows = np.asarray(item, np.intp if not len(item) else None)
        if not isinstance(rows, slice) and not (isinstance(rows, np.ndarray) and rows.dtype.kind in "iub"):
            raise TypeError(f"Boxes indices must be integers, slices, lists, masks or index arrays, got {item!r}")
        if isinstance(rows, np.ndarray) and rows.ndim != 1:
            raise TypeError(f"an index of Boxes must have one dimension, got shape {rows.shape}")
        return self._like(self._array[rows])

    def __iter__(self) -> Iterator[Box]:
        return (self[row] for row in range(len(self)))


class Polygons(WithUnit):
    """N polygons in one unit. Every method returns a new object; ``polygons[i]`` is a `Polygon`.

    Args:
        polygons: A list of `Polygon` and of points, an array (N, K, 2), ``[]``, or `Polygons`.
        is_normalized: Whether the unit is the image; `Polygon` keep their own.
        normalized: The same flag, as DocsaidKit spells it.

    Raises:
        TypeError: If the data are neither polygons nor lists of points, or the shape of a polygon does not fit.
        ValueError: If units contradict each other.
    """

    __hash__: ClassVar[None]  # type: ignore[assignment] # equality is approximate, so there is no hash

    def __init__(
        self,
        polygons: Polygons | Sequence[Polygon | ArrayLike] | NDArray[Any],
        is_normalized: bool | None = None,
        *,
        normalized: bool | None = None,
    ) -> None:
        if not isinstance(polygons, (Polygons, list, tuple, np.ndarray)):
            raise TypeError(f"polygons must be Polygons, a list or an array, got {type(polygons).__name__}")
        given = list(polygons)
        sources = [item.is_normalized for item in given if isinstance(item, Polygon)]
        if isinstance(polygons, Polygons):
            sources.append(polygons.is_normalized)
        elif sources and len(sources) < len(given):
            sources.append(unit_of(is_normalized, normalized))
        self._normalized: bool = unit_of(is_normalized, normalized, *sources)
        self._polygons = [Polygon(item, is_normalized=self._normalized) for item in given]

    def _each(self, work: Callable[[Polygon], Polygon]) -> Polygons:
        polygons = [work(polygon) for polygon in self]
        return Polygons(polygons, is_normalized=None if polygons else self._normalized)

    @classmethod
    def cat(cls, polygons_list: Sequence[Polygons]) -> Polygons:
        """The polygons of several sets, in order.

        Raises:
            TypeError: If the argument is not a list, or an element is not `Polygons`.
            ValueError: If the list is empty, or units differ.
        """
        unit = check_sets(polygons_list, Polygons, "polygons_list", "Polygons")
        return cls([polygon for item in polygons_list for polygon in item], is_normalized=unit)

    @classmethod
    def from_image(cls, image: NDArray[np.uint8], mode: int | None = None, method: int | None = None) -> Polygons:
        """The outer contours of the pixels that are not 0, by OpenCV's ``findContours`` (extra ``opencv``).

        Contours of a single point are left out.

        Args:
            image: (H, W) uint8.
            mode: OpenCV's retrieval mode, by default ``RETR_EXTERNAL``.
            method: OpenCV's approximation method, by default ``CHAIN_APPROX_SIMPLE``.

        Raises:
            TypeError: If the image is not an array.
        """
        if not isinstance(image, np.ndarray):
            raise TypeError(f"image must be a NumPy array, got {type(image).__name__}")
        cv2 = import_extra("cv2", extra="opencv", needed_by="Polygons.from_image")
        mode = cv2.RETR_EXTERNAL if mode is None else mode
        method = cv2.CHAIN_APPROX_SIMPLE if method is None else method
        contours, _ = cv2.findContours(np.ascontiguousarray(image), mode, method)
        return cls([contour for contour in contours if len(contour) > 1])

    def is_empty(self, threshold: int = 3) -> NDArray[np.bool_]:
        """(N,) whether each polygon has fewer points than the threshold."""
        return np.array([polygon.is_empty(threshold) for polygon in self], np.bool_)

    def drop_empty(self, threshold: int = 3) -> Polygons:
        """The polygons that have at least as many points as the threshold."""
        kept = [polygon for polygon in self if not polygon.is_empty(threshold)]
        return Polygons(kept, is_normalized=self._normalized)

    def copy(self) -> Polygons:
        """A copy."""
        return Polygons(self)

    def normalize(self, w: float, h: float) -> Polygons:
        """The polygons in the unit of an image of this size; ValueError if they are normalized already."""
        self._check_normalize(w, h)
        return Polygons([polygon.normalize(w, h) for polygon in self], is_normalized=True)

    def denormalize(self, w: float, h: float) -> Polygons:
        """The polygons in pixels of an image of this size; ValueError if they are in pixels already."""
        self._check_denormalize(w, h)
        return Polygons([polygon.denormalize(w, h) for polygon in self], is_normalized=False)

    def clip(self, xmin: float, ymin: float, xmax: float, ymax: float) -> Polygons:
        """Each polygon with its points moved into a window; see `Polygon.clip`."""
        return self._each(lambda polygon: polygon.clip(xmin, ymin, xmax, ymax))

    def shift(self, shift_x: float, shift_y: float) -> Polygons:
        """The polygons moved by (shift_x, shift_y)."""
        return self._each(lambda polygon: polygon.shift(shift_x, shift_y))

    def scale(self, distance: float, join_style: int | JOIN_STYLE = JOIN_STYLE.mitre) -> Polygons:
        """Each polygon grown or shrunk by a distance; see `Polygon.scale`. Polygons that vanish are left out."""
        return self._each(lambda polygon: polygon.scale(distance, join_style)).drop_empty()

    def to_convexhull(self) -> Polygons:
        """The smallest convex polygon around each; see `Polygon.to_convexhull`."""
        return self._each(Polygon.to_convexhull)

    def to_min_boxpoints(self) -> Polygons:
        """The corners of the smallest box at any angle around each; see `Polygon.to_min_boxpoints`."""
        return self._each(Polygon.to_min_boxpoints)

    def to_boxes(self, box_mode: int | str | BoxMode = BoxMode.XYXY) -> Boxes:
        """The smallest upright box around each polygon, in a mode."""
        return Boxes([polygon.to_box(box_mode) for polygon in self], box_mode, self._normalized)

    def numpy(self, flatten: bool = False) -> NDArray[Any]:
        """The points of all polygons.

        Returns:
            (N, K, 2) float32 if all polygons have K points, else an array of N objects, the points (K, 2) of each
            polygon. If flattened, the points of a polygon are (2 K,).
        """
        rows = [polygon.numpy(flatten) for polygon in self]
        if len({len(row) for row in rows}) <= 1:
            return np.array(rows, np.float32)
        array = np.empty(len(rows), object)
        array[:] = rows
        return array

    def to_list(self, flatten: bool = False) -> list[Any]:
        """The points as lists of Python floats; if flattened, ``[x1, y1, x2, y2, ...]`` for each polygon."""
        return [polygon.to_list(flatten) for polygon in self]

    tolist = to_list

    @property
    def moments(self) -> list[dict[str, float]]:
        """Moments of each polygon; see `Polygon.moments`."""
        return [polygon.moments for polygon in self]

    def _measured(self, name: str, *shape: int) -> FloatArray:
        """(N, ...) float64: one property of each polygon."""
        values = [getattr(polygon, name) for polygon in self]
        return np.array(values, np.float64).reshape(len(values), *shape)

    @property
    def area(self) -> FloatArray:
        """(N,) areas."""
        return self._measured("area")

    @property
    def arclength(self) -> FloatArray:
        """(N,) lengths of the closed paths."""
        return self._measured("arclength")

    @property
    def centroid(self) -> FloatArray:
        """(N, 2) centres of the areas; without an area, the centre of the edges; NaN without points."""
        return self._measured("centroid", 2)

    @property
    def boundingbox(self) -> FloatArray:
        """(N, 4) smallest upright boxes around the polygons, XYWH; ValueError if a polygon has no points."""
        return np.array([polygon.boundingbox.numpy() for polygon in self], np.float64).reshape(-1, 4)

    @property
    def min_circle(self) -> list[tuple[tuple[float, float], float]]:
        """Centre and radius of the smallest circle around each polygon."""
        return [polygon.min_circle for polygon in self]

    @property
    def min_box(self) -> list[MinBox]:
        """Centre, (width, height) and angle of the smallest box at any angle around each; see `Polygon.min_box`."""
        return [polygon.min_box for polygon in self]

    @property
    def min_box_wh(self) -> FloatArray:
        """(N, 2) width and height of `min_box`."""
        return self._measured("min_box_wh", 2)

    @property
    def orientation(self) -> FloatArray:
        """(N,) angles of `min_box`, in degrees within (0, 90]."""
        return self._measured("orientation")

    @property
    def extent(self) -> FloatArray:
        """(N,) areas divided by the areas of the upright bounding boxes; NaN where these are 0."""
        return self._measured("extent")

    @property
    def solidity(self) -> FloatArray:
        """(N,) areas divided by the areas of the convex hulls; NaN where these are 0."""
        return self._measured("solidity")

    def __len__(self) -> int:
        return len(self._polygons)

    def __iter__(self) -> Iterator[Polygon]:
        return iter(self._polygons)

    def __getitem__(self, item: Any) -> Any:
        """`Polygon` of an integer; `Polygons` of a slice, list, mask or index array."""
        if isinstance(item, (int, np.integer)) and not isinstance(item, bool):
            return self._polygons[item]
        rows = np.arange(len(self))[item if isinstance(item, slice) or len(item) else np.empty(0, np.intp)]
        return Polygons([self._polygons[row] for row in rows], is_normalized=self._normalized)

    def __eq__(self, other: object) -> bool:
        """Whether both have nearly the same polygons in one unit."""
        if not isinstance(other, Polygons):
            return NotImplemented
        return self._normalized == other._normalized and self._polygons == other._polygons

    def __repr__(self) -> str:
        return f"Polygons({self._polygons})"
