"""`BoxMode`, and the unit that structures are in."""

from __future__ import annotations

import operator
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._arrays import as_floats
from ioukit._checks import check_one_unit
from ioukit.regions.formats import convert

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ioukit.typing import BoxFormat

__all__ = ["BoxMode", "WithUnit", "one_unit", "unit_of"]


class BoxMode(Enum):
    """What the four numbers of a box are."""

    XYXY = 0
    """Two corners."""
    XYWH = 1
    """The corner of least x and y, and the size."""
    CXCYWH = 2
    """Centre and size."""

    @property
    def format(self) -> BoxFormat:
        """What `ioukit.Boxes` calls it."""
        formats: tuple[BoxFormat, ...] = ("xyxy", "xywh", "cxcywh")
        return formats[self.value]

    @staticmethod
    def align_code(box_mode: int | str | BoxMode) -> BoxMode:
        """The mode of a number, a name in any case, or a mode.

        Raises:
            ValueError: If there is no such mode.
            TypeError: If it is another kind of object.
        """
        if isinstance(box_mode, BoxMode):
            return box_mode
        names = ", ".join(f"{mode.name} ({mode.value})" for mode in BoxMode)
        if isinstance(box_mode, str):
            if box_mode.upper() in BoxMode.__members__:
                return BoxMode[box_mode.upper()]
            raise ValueError(f"unknown box mode {box_mode!r}; choose from {names}")
        try:
            code = operator.index(box_mode)
        except TypeError:
            raise TypeError(f"a box mode is an int, a str or a BoxMode, got {type(box_mode).__name__}") from None
        if code not in range(len(BoxMode)):
            raise ValueError(f"unknown box mode {code}; choose from {names}")
        return BoxMode(code)

    @staticmethod
    def convert(array: ArrayLike, from_mode: int | str | BoxMode, to_mode: int | str | BoxMode) -> NDArray[Any]:
        """The same boxes in another mode, in a new array.

        Args:
            array: (..., 4).
            from_mode: What they are.
            to_mode: What they should be.

        Returns:
            (..., 4) of the dtype of a floating array; int64 of integers where no half can appear, else float64.

        Raises:
            ValueError: If the last axis is not 4, or a mode is unknown.
        """
        source, target = BoxMode.align_code(from_mode), BoxMode.align_code(to_mode)
        numbers = np.asarray(array)
        if numbers.shape[-1:] != (4,):
            raise ValueError(f"boxes must have shape (..., 4), got {numbers.shape}")
        if numbers.dtype.kind in "iu" and (source == target or BoxMode.CXCYWH not in (source, target)):
            numbers = numbers.astype(np.int64)
        else:
            numbers = as_floats(numbers, "boxes")
        return convert(numbers, source.format, target.format)


def unit_of(is_normalized: bool | None, normalized: bool | None, *sources: bool) -> bool:
    """Whether a new structure is in the unit of the image.

    Args:
        is_normalized: As Capybara spells what the caller says, None for nothing.
        normalized: As DocsaidKit spells it.
        sources: What structures say that it is made of.

    Raises:
        ValueError: If two of these contradict each other.
    """
    said = {bool(flag) for flag in (is_normalized, normalized) if flag is not None}
    if len(said) > 1:
        raise ValueError(f"is_normalized={is_normalized} and normalized={normalized} contradict each other")
    if sources:
        for flag in (*sources, *said):
            check_one_unit(sources[0], flag)
        return sources[0]
    return said == {True}


def one_unit(first: Any, second: Any) -> None:
    """Refuses two structures of which one is in pixels and the other in the unit of the image."""
    check_one_unit(first.is_normalized, second.is_normalized)


class WithUnit:
    """What has one unit, under both names of the flag."""

    _normalized: bool

    @property
    def is_normalized(self) -> bool:
        """Whether the unit is the image, its sides being 1, rather than the pixel."""
        return self._normalized

    @property
    def normalized(self) -> bool:
        """`is_normalized`, as DocsaidKit calls it."""
        return self._normalized
