"""What `Box` and `Boxes` have in common: numbers of shape (..., 4) with a mode and a unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ioukit._checks import check_finite, check_window
from ioukit.compat.docsaidkit.structures.modes import BoxMode, WithUnit
from ioukit.regions.formats import convert

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from ioukit.typing import FloatArray

__all__ = ["FourNumbers"]


class FourNumbers(WithUnit):
    """Float32 numbers of shape (..., 4) with a mode and a unit. Every method returns a new object."""

    _array: FloatArray
    _mode: BoxMode
    __hash__: ClassVar[None]  # type: ignore[assignment] # equality is approximate, so there is no hash

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

    def numpy(self) -> FloatArray:
        """The numbers, a copy that the caller may change."""
        return np.array(self._array)

    def to_list(self) -> Any:
        """The numbers as Python floats."""
        return self._array.tolist()

    tolist = to_list

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

    def __eq__(self, other: object) -> bool:
        """Whether both cover nearly the same regions (``np.allclose``) in one unit; the modes may differ."""
        if not isinstance(other, type(self)):
            return NotImplemented
        if self._normalized != other._normalized or self._array.shape != other._array.shape:
            return False
        return bool(np.allclose(self._array, other._in(self._mode)))

    def __len__(self) -> int:
        return len(self._array)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._array}), {self._mode}"
