"""The image to draw in, and what every function that draws asks of its arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["GREEN", "Color", "Image", "canvas", "colors_of", "in_image", "in_pixels", "thicknesses_of", "truncated"]

Image = Any  # NDArray[np.uint8], (H, W) or (H, W, C)
Color = tuple[int, ...] | list[int] | int
GREEN: Color = (0, 255, 0)


def canvas(img: Image) -> NDArray[np.uint8]:
    """A copy of the image to draw in."""
    if not isinstance(img, np.ndarray) or img.dtype != np.uint8 or img.ndim not in (2, 3):
        what = f"{img.dtype} of shape {img.shape}" if isinstance(img, np.ndarray) else type(img).__name__
        raise TypeError(f"img must be a uint8 array of shape (H, W) or (H, W, C), got {what}")
    return np.array(img)


def in_pixels(structure: Any, image: NDArray[Any]) -> Any:
    """The structure in pixels of the image."""
    height, width = image.shape[:2]
    return structure.denormalize(width, height) if structure.is_normalized else structure


def truncated(numbers: NDArray[Any]) -> NDArray[np.int64]:
    """Whole pixels; a number that rounding left just below a pixel counts as that pixel."""
    return np.asarray(np.round(numbers, 3).astype(np.int64))


def in_image(color: Color, image: NDArray[Any]) -> Color:
    """The colour for the channels of the image: its mean in a grey image."""
    return color if image.ndim == 3 or isinstance(color, int) else int(np.mean(color))


def colors_of(color: Any, count: int) -> list[Any]:
    """One colour per structure, from one for all or a list."""
    one = np.isscalar(color) or all(np.isscalar(item) for item in color)
    return _each(color, count, "color", one=bool(one))


def thicknesses_of(thickness: Any, count: int) -> list[Any]:
    """One thickness per structure, from one for all or a list."""
    return _each(thickness, count, "thickness", one=bool(np.isscalar(thickness)))


def _each(value: Any, count: int, name: str, *, one: bool) -> list[Any]:
    values = [value] * count if one else list(value)
    if len(values) != count:
        raise ValueError(f"{name} must be one for all or one each, got {len(values)} for {count}")
    return values
