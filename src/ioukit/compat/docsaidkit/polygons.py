"""`Polygons`: many polygons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ioukit._optional import import_extra
from ioukit.compat.docsaidkit.boxes import Boxes
from ioukit.compat.docsaidkit.modes import BoxMode, WithUnit, unit_of
from ioukit.compat.docsaidkit.polygon import JOIN_STYLE, Polygon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from ioukit.compat.docsaidkit.box import Box
    from ioukit.compat.docsaidkit.polygon import MinBox
    from ioukit.typing import FloatArray

__all__ = ["Polygons"]


class Polygons(WithUnit):
    """N polygons of one unit. Every method returns a new object; ``polygons[i]`` is a `Polygon`.

    Args:
        polygons: A list of `Polygon` and of points, an array (N, K, 2), nothing, or `Polygons`.
        is_normalized: Whether the unit is the image; `Polygon` keep their own.
        normalized: The same, as DocsaidKit spells it.

    Raises:
        ValueError: If a polygon has another shape, or units contradict each other.
    """

    __hash__: ClassVar[None]  # type: ignore[assignment] # equality is approximate, and approximate values have no hash

    def __init__(
        self,
        polygons: Polygons | Sequence[Polygon | ArrayLike] | NDArray[Any],
        is_normalized: bool | None = None,
        *,
        normalized: bool | None = None,
    ) -> None:
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
        """All of several, in order.

        Raises:
            TypeError: If an element is no `Polygons`.
            ValueError: If there is none, or units differ.
        """
        if not polygons_list:
            raise ValueError("cat needs at least one Polygons")
        for position, item in enumerate(polygons_list):
            if not isinstance(item, Polygons):
                raise TypeError(f"polygons_list[{position}] must be Polygons, got {type(item).__name__}")
        unit = unit_of(None, None, *(item._normalized for item in polygons_list))
        return cls([polygon for item in polygons_list for polygon in item], is_normalized=unit)

    @classmethod
    def from_image(cls, image: NDArray[np.uint8], mode: int | None = None, method: int | None = None) -> Polygons:
        """The outer contours of what is not 0 in a grey image, by OpenCV's ``findContours`` (extra ``opencv``).

        Args:
            image: (H, W) uint8.
            mode: OpenCV's, ``RETR_EXTERNAL`` by default.
            method: OpenCV's, ``CHAIN_APPROX_SIMPLE`` by default.
        """
        cv2 = import_extra("cv2", extra="opencv", needed_by="Polygons.from_image")
        mode = cv2.RETR_EXTERNAL if mode is None else mode
        method = cv2.CHAIN_APPROX_SIMPLE if method is None else method
        contours, _ = cv2.findContours(np.ascontiguousarray(image), mode, method)
        return cls(list(contours))

    def is_empty(self, threshold: int = 3) -> list[bool]:
        """For each, whether it has fewer points than the threshold."""
        return [polygon.is_empty(threshold) for polygon in self]

    def drop_empty(self, threshold: int = 3) -> Polygons:
        """Without those that are empty."""
        kept = [polygon for polygon in self if not polygon.is_empty(threshold)]
        return Polygons(kept, is_normalized=self._normalized)

    def copy(self) -> Polygons:
        """The same."""
        return Polygons(self)

    def normalize(self, w: float, h: float) -> Polygons:
        """In the unit of an image of this size; ValueError if they are already."""
        polygons = [polygon.normalize(w, h) for polygon in self]
        if not polygons and self._normalized:
            raise ValueError("already normalized; denormalize(w, h) undoes it")
        return Polygons(polygons, is_normalized=True)

    def denormalize(self, w: float, h: float) -> Polygons:
        """In pixels of an image of this size; ValueError if they are already."""
        polygons = [polygon.denormalize(w, h) for polygon in self]
        if not polygons and not self._normalized:
            raise ValueError("not normalized; normalize(w, h) comes first")
        return Polygons(polygons, is_normalized=False)

    def clip(self, xmin: float, ymin: float, xmax: float, ymax: float) -> Polygons:
        """As `Polygon.clip`."""
        return self._each(lambda polygon: polygon.clip(xmin, ymin, xmax, ymax))

    def shift(self, shift_x: float, shift_y: float) -> Polygons:
        """Moved."""
        return self._each(lambda polygon: polygon.shift(shift_x, shift_y))

    def scale(self, distance: float, join_style: int | JOIN_STYLE = JOIN_STYLE.mitre) -> Polygons:
        """As `Polygon.scale`; what vanishes stays as an empty polygon."""
        return self._each(lambda polygon: polygon.scale(distance, join_style))

    def to_convexhull(self) -> Polygons:
        """As `Polygon.to_convexhull`."""
        return self._each(Polygon.to_convexhull)

    def to_min_boxpoints(self) -> Polygons:
        """As `Polygon.to_min_boxpoints`."""
        return self._each(Polygon.to_min_boxpoints)

    def to_boxes(self, box_mode: int | str | BoxMode = BoxMode.XYXY) -> Boxes:
        """The least upright boxes around each, in a mode."""
        return Boxes([polygon.to_box(box_mode) for polygon in self], box_mode, self._normalized)

    def numpy(self, flatten: bool = False) -> NDArray[Any]:
        """(N, K, 2) float32 if all have as many points, else (N,) objects, the points of each; rows of 2 K if flat."""
        rows = [polygon.numpy(flatten) for polygon in self]
        if len({len(row) for row in rows}) <= 1:
            return np.array(rows, np.float32)
        array = np.empty(len(rows), object)
        array[:] = rows
        return array

    def to_list(self, flatten: bool = False) -> list[Any]:
        """The points as lists of Python floats, ``[x1, y1, x2, y2, ...]`` of each if flattened."""
        return [polygon.to_list(flatten) for polygon in self]

    tolist = to_list

    @property
    def moments(self) -> list[dict[str, float]]:
        """As of `Polygon`, as are all that follow."""
        return [polygon.moments for polygon in self]

    @property
    def area(self) -> list[float]:
        """Of each."""
        return [polygon.area for polygon in self]

    @property
    def arclength(self) -> list[float]:
        """Of each."""
        return [polygon.arclength for polygon in self]

    @property
    def centroid(self) -> list[FloatArray]:
        """Of each."""
        return [polygon.centroid for polygon in self]

    @property
    def boundingbox(self) -> list[Box]:
        """Of each."""
        return [polygon.boundingbox for polygon in self]

    @property
    def min_circle(self) -> list[tuple[tuple[float, float], float]]:
        """Of each."""
        return [polygon.min_circle for polygon in self]

    @property
    def min_box(self) -> list[MinBox]:
        """Of each."""
        return [polygon.min_box for polygon in self]

    @property
    def min_box_wh(self) -> list[tuple[float, float]]:
        """Of each."""
        return [polygon.min_box_wh for polygon in self]

    @property
    def orientation(self) -> list[float]:
        """Of each."""
        return [polygon.orientation for polygon in self]

    @property
    def extent(self) -> list[float]:
        """Of each."""
        return [polygon.extent for polygon in self]

    @property
    def solidity(self) -> list[float]:
        """Of each."""
        return [polygon.solidity for polygon in self]

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
        """Whether both have about the same polygons in one unit."""
        if not isinstance(other, Polygons):
            return NotImplemented
        return self._normalized == other._normalized and self._polygons == other._polygons

    def __repr__(self) -> str:
        unit = ", is_normalized=True" if self._normalized else ""
        return f"Polygons({self.to_list()}{unit})"
