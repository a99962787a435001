"""Lines, discs, rings and filled polygons in the pixels of an array, by NumPy alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["disc", "fill", "ring", "segment"]

Color = tuple[int, ...] | list[int] | int


def segment(
    image: NDArray[Any], start: Sequence[float], end: Sequence[float], color: Color, thickness: int = 1
) -> None:
    """Paints the pixels whose centre is at most `reach_of` the thickness away from a segment."""
    (x1, y1), (x2, y2) = start, end
    reach = reach_of(thickness)
    window = _window(image, min(x1, x2) - reach, min(y1, y2) - reach, max(x1, x2) + reach, max(y1, y2) + reach)
    if window is None:
        return
    rows, columns, y, x = window
    dx, dy = x2 - x1, y2 - y1
    length2 = dx * dx + dy * dy
    along = np.clip(((x - x1) * dx + (y - y1) * dy) / length2, 0, 1) if length2 else 0.0
    apart2 = (x - x1 - along * dx) ** 2 + (y - y1 - along * dy) ** 2
    image[rows, columns][apart2 <= reach**2] = color


def reach_of(thickness: int) -> float:
    """How far a line reaches to either side: a thickness of 1, 2, 3, 4, 5 paints 1, 3, 5, 5, 7 pixels, as in OpenCV."""
    return 0.5 if thickness <= 1 else (thickness + 1) // 2


def disc(image: NDArray[Any], centre: Sequence[float], radius: float, color: Color) -> None:
    """Paints the pixels whose centre is at most the radius away from a point."""
    cx, cy = centre
    window = _window(image, cx - radius, cy - radius, cx + radius, cy + radius)
    if window is not None:
        rows, columns, y, x = window
        image[rows, columns][(x - cx) ** 2 + (y - cy) ** 2 <= radius**2] = color


def ring(image: NDArray[Any], centre: Sequence[float], radius: float, color: Color, thickness: int) -> None:
    """Paints the pixels whose centre is at most `reach_of` the thickness away from a circle."""
    (cx, cy), reach = centre, reach_of(thickness)
    outer = radius + reach
    window = _window(image, cx - outer, cy - outer, cx + outer, cy + outer)
    if window is not None:
        rows, columns, y, x = window
        image[rows, columns][np.abs(np.hypot(x - cx, y - cy) - radius) <= reach] = color


def fill(image: NDArray[Any], points: NDArray[Any], color: Color) -> None:
    """Paints the pixels whose centre the path encloses an odd number of times."""
    if len(points) < 3:
        return
    low, high = points.min(axis=0), points.max(axis=0)
    window = _window(image, low[0], low[1], high[0], high[1])
    if window is None:
        return
    rows, columns, y, x = window
    inside = np.zeros(np.broadcast_shapes(x.shape, y.shape), np.bool_)
    for (x1, y1), (x2, y2) in zip(points, np.roll(points, -1, axis=0), strict=True):
        if y1 != y2:
            crossed = (y1 <= y) != (y2 <= y)
            inside ^= crossed & (x < x1 + (y - y1) * ((x2 - x1) / (y2 - y1)))
    image[rows, columns][inside] = color


def _window(
    image: NDArray[Any], x1: float, y1: float, x2: float, y2: float
) -> tuple[slice, slice, NDArray[Any], NDArray[Any]] | None:
    """Rows and columns of a part of the image, with their coordinates to broadcast; None if it is outside."""
    height, width = image.shape[:2]
    left, top = max(int(np.floor(x1)), 0), max(int(np.floor(y1)), 0)
    right, bottom = min(int(np.ceil(x2)) + 1, width), min(int(np.ceil(y2)) + 1, height)
    if left >= right or top >= bottom:
        return None
    return slice(top, bottom), slice(left, right), np.arange(top, bottom)[:, None], np.arange(left, right)[None]
