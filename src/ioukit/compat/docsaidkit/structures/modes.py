"""`BoxMode`, and the unit of a structure."""

from __future__ import annotations

import operator
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ioukit._arrays import as_floats
from ioukit._checks import check_one_unit, check_positive
from ioukit.regions.formats import convert

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ioukit.typing import BoxFormat, FloatArray

__all__ = ["BoxMode", "Numbers", "UnknownModeError", "WithUnit", "check_sets", "numbers_of", "one_unit", "unit_of"]


class UnknownModeError(KeyError, ValueError):
    """A name or a number that is no `BoxMode`.

    Upstream raises KeyError for a name and ValueError for a number; this error is caught as either.
    """

    __str__ = Exception.__str__  # a KeyError would show its message in quotes


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
        """The format of `ioukit.Boxes` for this mode."""
        formats: tuple[BoxFormat, ...] = ("xyxy", "xywh", "cxcywh")
        return formats[self.value]

    @staticmethod
    def align_code(box_mode: int | str | BoxMode) -> BoxMode:
        """The mode for its number, its name in any case, or itself.

        Raises:
            UnknownModeError: If there is no such mode. It is a KeyError and a ValueError.
            TypeError: If the argument is neither an integer, a string nor a `BoxMode`.
        """
        if isinstance(box_mode, BoxMode):
            return box_mode
        names = ", ".join(f"{mode.name} ({mode.value})" for mode in BoxMode)
        if isinstance(box_mode, str):
            if box_mode.upper() in BoxMode.__members__:
                return BoxMode[box_mode.upper()]
            raise UnknownModeError(f"unknown box mode {box_mode!r}; choose from {names}")
        try:
            code = operator.index(box_mode)
        except TypeError:
            raise TypeError(f"a box mode that is not int, str, or BoxMode: got {type(box_mode).__name__}") from None
        if code not in range(len(BoxMode)):
            raise UnknownModeError(f"unknown box mode {code}; choose from {names}")
        return BoxMode(code)

    @staticmethod
    def convert(array: ArrayLike, from_mode: int | str | BoxMode, to_mode: int | str | BoxMode) -> NDArray[Any]:
        """The same boxes in another mode, in a new array.

        Args:
            array: (..., 4).
            from_mode: The mode of the array.
            to_mode: The mode of the result.

        Returns:
            (..., 4). A floating array keeps its dtype. Integers become int64 where halves cannot occur, else float64.

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


def numbers_of(data: object, name: str) -> FloatArray:
    """The data as a floating array; lists of unequal lengths raise TypeError, as every wrong shape does upstream."""
    if isinstance(data, (list, tuple)):
        try:
            data = np.asarray(data)
        except ValueError as error:
            raise TypeError(f"{name} must be a regular array of numbers: {error}") from None
    return as_floats(data, name)


def unit_of(is_normalized: bool | None, normalized: bool | None, *sources: bool) -> bool:
    """Whether a new structure is in the unit of the image.

    Args:
        is_normalized: The caller's flag as Capybara spells it, or None.
        normalized: The same flag as DocsaidKit spells it, or None.
        sources: The flags of the structures that the new one is made of.

    Raises:
        ValueError: If two of these contradict each other.
    """
    given = {bool(flag) for flag in (is_normalized, normalized) if flag is not None}
    if len(given) > 1:
        raise ValueError(f"is_normalized={is_normalized} and normalized={normalized} contradict each other")
    if sources:
        for flag in (*sources, *given):
            check_one_unit(sources[0], flag)
        return sources[0]
    return given == {True}


def one_unit(first: Any, second: Any) -> None:
    """Raises `ValueError` if one structure is in pixels and the other in the unit of the image."""
    check_one_unit(first.is_normalized, second.is_normalized)


def check_sets(sets: Any, kind: type, name: str, one: str) -> bool:
    """The unit of sets that are to be joined.

    Raises:
        TypeError: If the argument is not a list, or an element is not of the class.
        ValueError: If the list is empty, or units differ.
    """
    if not isinstance(sets, (list, tuple)):
        raise TypeError(f"{name} should be a list of {kind.__name__}, got {type(sets).__name__}")
    if not sets:
        raise ValueError(f"cat needs at least one {kind.__name__}")
    for position, item in enumerate(sets):
        if not isinstance(item, kind):
            raise TypeError(f"{name}[{position}] must be {one}, got {type(item).__name__}")
    return unit_of(None, None, *(item.is_normalized for item in sets))


class WithUnit:
    """A structure with one unit, and a flag under both of its names."""

    _normalized: bool

    @property
    def is_normalized(self) -> bool:
        """Whether the unit is the image, whose sides are 1 then, rather than the pixel."""
        return self._normalized

    @property
    def normalized(self) -> bool:
        """`is_normalized`, as DocsaidKit calls it."""
        return self._normalized

    def _check_normalize(self, w: float, h: float) -> None:
        """Raises `ValueError` if the structure is normalized already, or the size of the image is not positive."""
        if self._normalized:
            raise ValueError("already normalized: dividing twice would lose the numbers; denormalize(w, h) undoes it")
        check_positive(w=w, h=h)

    def _check_denormalize(self, w: float, h: float) -> None:
        """Raises `ValueError` if the structure is in pixels already, or the size of the image is not positive."""
        if not self._normalized:
            raise ValueError("not normalized: multiplying would lose the numbers; normalize(w, h) comes first")
        check_positive(w=w, h=h)


class Numbers(WithUnit):
    """A structure of float32 numbers in one array, which no method changes."""

    _array: FloatArray
    __hash__: ClassVar[None]  # type: ignore[assignment] # equality is approximate, so there is no hash

    def numpy(self) -> FloatArray:
        """The numbers, a copy that the caller may change."""
        return np.array(self._array)

    def to_list(self) -> Any:
        """The numbers as Python floats."""
        return self._array.tolist()

    tolist = to_list

    def __eq__(self, other: object) -> bool:
        """Whether both have nearly the same numbers (``np.allclose``) in one unit."""
        if not isinstance(other, type(self)):
            return NotImplemented
        if self._normalized != other._normalized or self._array.shape != other._array.shape:
            return False
        return bool(np.allclose(self._array, self._comparable(other)))

    def _comparable(self, other: Any) -> FloatArray:
        """The numbers of another structure of this class, in the mode of this one."""
        found: FloatArray = other._array
        return found

    def __getitem__(self, item: Any) -> Any:
        """A copy of the numbers of the selected points."""
        return np.array(self._array[item])

    def __len__(self) -> int:
        return len(self._array)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._array})"
