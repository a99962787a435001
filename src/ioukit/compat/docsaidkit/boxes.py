"""`Boxes`: many boxes of one mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import ioukit
from ioukit._arrays import as_floats
from ioukit.compat.docsaidkit._four_numbers import FourNumbers
from ioukit.compat.docsaidkit.box import Box
from ioukit.compat.docsaidkit.modes import BoxMode, unit_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self

    from ioukit.compat.docsaidkit.polygons import Polygons

__all__ = ["Boxes"]


class Boxes(FourNumbers):
    """N boxes of float32 numbers that know their mode and their unit.

    ``boxes[i]`` is a `Box`; slices, lists, masks and index arrays select `Boxes`.

    Args:
        array: (N, 4) numbers, nothing, `Boxes`, or a list or tuple of `Box` and rows. Whatever knows its mode is
            converted to ``box_mode``, and the caller's list stays as it is.
        box_mode: What the numbers are: a `BoxMode`, its name or its number.
        is_normalized: Whether the unit is the image; `Box` and `Boxes` keep their own.
        normalized: The same, as DocsaidKit spells it.

    Raises:
        ValueError: If the shape is another, or units contradict each other.
        TypeError: If they are no numbers.
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
            said = unit_of(is_normalized, normalized)
            knowing = [isinstance(item, Box) for item in array]
            sources = [item._normalized if isinstance(item, Box) else said for item in array if any(knowing)]
            array = [item._in(mode).tolist() if isinstance(item, Box) else item for item in array]
        numbers = as_floats(array, "boxes")
        if numbers.shape == (0,):
            numbers = numbers.reshape(0, 4)
        if numbers.ndim != 2 or numbers.shape[1] != 4:
            raise ValueError(f"Boxes must have shape (N, 4), got {numbers.shape}")
        self._set(numbers, mode, unit_of(is_normalized, normalized, *sources))

    def square(self) -> Self:
        """Squares of the LONGER sides about the same centres; `Box.square` takes the shorter one, as upstream."""
        return self._squared(np.maximum)

    def get_empty_index(self) -> NDArray[np.intp]:
        """(K,) rows of the boxes whose width or height is not above 0."""
        return np.flatnonzero(~((self.width > 0) & (self.height > 0)))

    def drop_empty(self) -> Self:
        """Without the rows of `get_empty_index`."""
        return self._like(np.delete(self._array, self.get_empty_index(), axis=0))

    def to_polygons(self) -> Polygons:
        """The corners of each box, clockwise on the screen from the upper left.

        Raises:
            ValueError: If a width or height is not above 0.
        """
        from ioukit.compat.docsaidkit.polygons import Polygons  # noqa: PLC0415 - polygons know boxes, too

        return Polygons([box.to_polygon() for box in self], is_normalized=self._normalized)

    def checked(self) -> ioukit.Boxes:
        """As `ioukit.Boxes`, which know only valid boxes.

        Raises:
            ValueError: If a box is inverted, NaN or infinite, naming its row.
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
            raise TypeError(f"Boxes are indexed by integers, slices, lists, masks and index arrays, got {item!r}")
        if isinstance(rows, np.ndarray) and rows.ndim != 1:
            raise TypeError(f"an index of Boxes must have one dimension, got shape {rows.shape}")
        return self._like(self._array[rows])

    def __iter__(self) -> Iterator[Box]:
        return (self[row] for row in range(len(self)))
