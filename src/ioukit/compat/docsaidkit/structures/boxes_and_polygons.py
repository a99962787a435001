"""`Boxes` and `Polygons`: many regions, which convert to the other kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

import ioukit
from ioukit._optional import import_extra
from ioukit.compat.docsaidkit.structures._four_numbers import FourNumbers
from ioukit.compat.docsaidkit.structures.box_and_polygon import JOIN_STYLE, Box, Polygon
from ioukit.compat.docsaidkit.structures.modes import BoxMode, WithUnit, numbers_of, unit_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self

    from ioukit.compat.docsaidkit.structures.box_and_polygon import MinBox
    from ioukit.typing import FloatArray

__all__ = ["Boxes", "Polygons"]


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
        if not isinstance(polygons_list, (list, tuple)):
            raise TypeError(f"polygons_list should be a list of Polygons, got {type(polygons_list).__name__}")
        if not polygons_list:
            raise ValueError("cat needs at least one Polygons")
        for position, item in enumerate(polygons_list):
            if not isinstance(item, Polygons):
                raise TypeError(f"polygons_list[{position}] must be Polygons, got {type(item).__name__}")
        unit = unit_of(None, None, *(item._normalized for item in polygons_list))
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
