"""`Box`: one box."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._arrays import as_floats
from ioukit.compat.docsaidkit._four_numbers import FourNumbers
from ioukit.compat.docsaidkit.modes import BoxMode, unit_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from ioukit.compat.docsaidkit.polygon import Polygon

__all__ = ["Box"]


class Box(FourNumbers):
    """One box of four float32 numbers that knows its mode and its unit.

    Args:
        array: 4 numbers, or a `Box`, which is converted to the mode.
        box_mode: What the numbers are: a `BoxMode`, its name or its number.
        is_normalized: Whether the unit is the image; a `Box` keeps its own.
        normalized: The same, as DocsaidKit spells it.

    Raises:
        ValueError: If there are not 4 numbers, or the flags contradict each other or those of the `Box`.
        TypeError: If they are no numbers.
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
        numbers = as_floats(array, "box")
        if numbers.shape != (4,):
            raise ValueError(f"a Box has 4 numbers, got shape {numbers.shape}")
        self._set(numbers, mode, unit_of(is_normalized, normalized))

    def square(self) -> Self:
        """A square of the SHORTER side about the same centre; `Boxes.square` takes the longer one, as upstream."""
        return self._squared(np.minimum)

    def to_polygon(self) -> Polygon:
        """The four corners, clockwise on the screen from the upper left.

        Raises:
            ValueError: If width or height is not above 0.
        """
        from ioukit.compat.docsaidkit.polygon import Polygon  # noqa: PLC0415 - polygons know boxes, too

        if not (self.width > 0 and self.height > 0):
            raise ValueError(f"a polygon needs width and height above 0, got {self}")
        x1, y1, x2, y2 = self._in(BoxMode.XYXY).tolist()
        return Polygon(np.array([[x1, y1], [x2, y1], [x2, y2], [x1, y2]]), is_normalized=self._normalized)

    def __getitem__(self, item: Any) -> Any:
        """A number, or an array of those that a slice selects."""
        numbers = self._array[item]
        return float(numbers) if np.ndim(numbers) == 0 else np.array(numbers)
