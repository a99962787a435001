"""`Keypoints` and `KeypointsList`: the points of one object, and of many objects."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ioukit._arrays import as_floats
from ioukit._checks import check_finite
from ioukit._optional import import_extra
from ioukit.compat.docsaidkit.structures.modes import Numbers, check_sets, unit_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from ioukit.typing import FloatArray

__all__ = ["Keypoints", "KeypointsList"]

Color = tuple[int, int, int]


class _Points(Numbers):
    """Float32 numbers of shape (..., K, 2) or (..., K, 3): x, y and, as a third number, a visibility within [0, 2]."""

    _ndim: ClassVar[int]
    _cmap: str

    def _set(self, array: FloatArray, cmap: str, normalized: bool) -> None:
        if array.shape == (0,):  # no object: upstream keeps this shape for a list of objects
            array = array.reshape((0, 2) if self._ndim == 2 else (0,))
        elif array.ndim != self._ndim or array.shape[-1] not in (2, 3):
            shape = "(N, K, 2 or 3)" if self._ndim == 3 else "(K, 2 or 3)"
            raise ValueError(f"{type(self).__name__} must have shape {shape}, got {array.shape}")
        elif array.shape[-1] == 3 and not ((array[..., 2] >= 0) & (array[..., 2] <= 2)).all():
            raise ValueError("the third number of a keypoint is its visibility, from 0 to 2")
        self._array, self._cmap, self._normalized = np.array(array, np.float32), cmap, normalized
        self.set_point_colors(cmap)

    def _with(self, factor: Sequence[float], offset: Sequence[float], normalized: bool | None = None) -> Self:
        """Coordinates times a factor plus an offset; the visibility stays."""
        array = np.array(self._array)
        if array.ndim > 1:
            array[..., :2] = array[..., :2] * np.array(factor, np.float32) + np.array(offset, np.float32)
        made = self.__class__.__new__(self.__class__)
        made._set(array, self._cmap, self._normalized if normalized is None else normalized)
        return made

    def copy(self) -> Self:
        """A copy."""
        return self._with((1, 1), (0, 0))

    def shift(self, shift_x: float, shift_y: float) -> Self:
        """The points moved by (shift_x, shift_y)."""
        check_finite(shift_x=shift_x, shift_y=shift_y)
        return self._with((1, 1), (shift_x, shift_y))

    def scale(self, fx: float, fy: float) -> Self:
        """The points with x multiplied by ``fx`` and y by ``fy``."""
        check_finite(fx=fx, fy=fy)
        return self._with((fx, fy), (0, 0))

    def normalize(self, w: float, h: float) -> Self:
        """The points in the unit of an image of this size; ValueError if they are normalized already."""
        self._check_normalize(w, h)
        return self._with((1 / w, 1 / h), (0, 0), normalized=True)

    def denormalize(self, w: float, h: float) -> Self:
        """The points in pixels of an image of this size; ValueError if they are in pixels already."""
        self._check_denormalize(w, h)
        return self._with((w, h), (0, 0), normalized=False)

    @property
    def point_colors(self) -> list[Color]:
        """(red, green, blue) within [0, 255] for each of the K points.

        They are set by the name of a colour map; see `set_point_colors`.
        """
        return list(self._colors)

    @point_colors.setter
    def point_colors(self, cmap: str) -> None:
        self.set_point_colors(cmap)

    def set_point_colors(self, cmap: str) -> None:
        """Sets `point_colors` by a colour map: ``"rainbow"``, or the name of a map of Matplotlib (extra ``plots``)."""
        places = np.linspace(0, 1, self._array.shape[-2] if self._array.ndim > 1 else 0)
        if cmap == "rainbow":
            colors = [_rainbow(place) for place in places.tolist()]
        else:
            matplotlib = import_extra("matplotlib", extra="plots", needed_by=f"the colour map {cmap!r}")
            colors = [(r, g, b) for r, g, b, _ in matplotlib.colormaps[cmap](places, bytes=True).tolist()]
        self._cmap = cmap
        self._colors: list[Color] = colors


class Keypoints(_Points):
    """The K keypoints of one object.

    Args:
        array: (K, 2) x and y, or (K, 3) with a visibility within [0, 2]; or `Keypoints`.
        cmap: The colour map of `point_colors`.
        is_normalized: Whether the unit is the image; `Keypoints` keep their own.
        normalized: The same flag, as DocsaidKit spells it.

    Raises:
        ValueError: If the shape does not fit, a visibility is out of range, or units contradict each other.
    """

    _ndim = 2

    def __init__(
        self,
        array: Keypoints | ArrayLike,
        cmap: str = "rainbow",
        is_normalized: bool | None = None,
        *,
        normalized: bool | None = None,
    ) -> None:
        if isinstance(array, Keypoints):
            self._set(array._array, cmap, unit_of(is_normalized, normalized, array._normalized))
        else:
            self._set(as_floats(array, "keypoints"), cmap, unit_of(is_normalized, normalized))


class KeypointsList(_Points):
    """The K keypoints of each of N objects.

    Args:
        array: (N, K, 2) or (N, K, 3), a list of `Keypoints` of one length, or `KeypointsList`. ``[]`` has shape (0,).
        cmap: The colour map of `point_colors`.
        is_normalized: Whether the unit is the image; `Keypoints` keep their own.
        normalized: The same flag, as DocsaidKit spells it.

    Raises:
        ValueError: If the shape does not fit, a visibility is out of range, or units contradict each other.
    """

    _ndim = 3

    def __init__(
        self,
        array: KeypointsList | Sequence[Keypoints] | ArrayLike,
        cmap: str = "rainbow",
        is_normalized: bool | None = None,
        *,
        normalized: bool | None = None,
    ) -> None:
        sources = []
        if isinstance(array, KeypointsList):
            sources, array = [array._normalized], array._array
        elif isinstance(array, (list, tuple)):
            if any(isinstance(item, Keypoints) for item in array):
                of_rows = unit_of(is_normalized, normalized)
                sources = [item._normalized if isinstance(item, Keypoints) else of_rows for item in array]
            array = [item.tolist() if isinstance(item, Keypoints) else item for item in array]
        self._set(as_floats(array, "keypoints"), cmap, unit_of(is_normalized, normalized, *sources))

    @classmethod
    def cat(cls, keypoints_lists: Sequence[KeypointsList]) -> KeypointsList:
        """The keypoints of several lists, in order.

        Raises:
            TypeError: If the argument is not a list, or an element is not a `KeypointsList`.
            ValueError: If the sequence is empty, or units or numbers of points differ.
        """
        unit = check_sets(keypoints_lists, KeypointsList, "keypoints_lists", "a KeypointsList")
        filled = [item for item in keypoints_lists if item._array.ndim > 1]
        shapes = {item._array.shape[1:] for item in filled}
        if len(shapes) > 1:
            raise ValueError(f"all keypoints must have one shape, got {sorted(shapes)}")
        arrays = np.concatenate([item._array for item in filled or keypoints_lists])
        return cls(arrays, keypoints_lists[0]._cmap, is_normalized=unit)

    def __getitem__(self, item: Any) -> Any:
        """`Keypoints` of an integer; `KeypointsList` of a slice, list, mask or index array."""
        if isinstance(item, (int, np.integer)) and not isinstance(item, bool):
            return Keypoints(self._array[item], self._cmap, self._normalized)
        rows = item if isinstance(item, slice) else np.asarray(item)
        return KeypointsList(self._array[rows], self._cmap, self._normalized)

    def __setitem__(self, item: Any, value: Keypoints | KeypointsList | ArrayLike) -> None:
        """Replaces the selected points.

        Raises:
            ValueError: If the new points are in another unit, or their visibility is out of range.
        """
        if isinstance(value, _Points):
            unit_of(self._normalized, None, value._normalized)
        numbers = value._array if isinstance(value, _Points) else as_floats(value, "keypoints")
        changed = np.array(self._array)
        changed[item] = numbers
        self._set(changed, self._cmap, self._normalized)

    def __iter__(self) -> Iterator[Keypoints]:
        return (self[row] for row in range(len(self)))


def _rainbow(place: float) -> Color:
    """Red, green and blue of the rainbow of Matplotlib, which has 256 steps (gnuplot's formulas 33, 13 and 10)."""
    step = min(int(place * 256), 255) / 255
    shares = min(abs(2 * step - 0.5), 1.0), math.sin(math.pi * step), math.cos(math.pi / 2 * step)
    red, green, blue = (int(share * 255) for share in shares)
    return red, green, blue
