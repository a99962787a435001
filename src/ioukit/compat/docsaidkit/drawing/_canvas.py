"""The image to draw in, and coordinates in its pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.compat.docsaidkit.drawing.arguments import prepare_img

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Image", "canvas", "in_pixels", "truncated"]

Image = Any  # NDArray[np.uint8], (H, W), (H, W, 1) or (H, W, 3)


def canvas(img: Image) -> NDArray[np.uint8]:
    """(H, W, 3) a copy of the image to draw in."""
    image = prepare_img(img)
    if image.dtype != np.uint8:
        raise TypeError(f"img must be a uint8 array, got {image.dtype}")
    return np.array(image)


def in_pixels(structure: Any, image: NDArray[Any]) -> Any:
    """The structure in pixels of the image."""
    height, width = image.shape[:2]
    return structure.denormalize(width, height) if structure.is_normalized else structure


def truncated(numbers: NDArray[Any]) -> NDArray[np.int64]:
    """Whole pixels; a number that rounding left just below a pixel counts as that pixel."""
    return np.asarray(np.round(numbers, 3).astype(np.int64))
