"""The outlines of the shapes: functions that say which points of the square from -1 to 1 a shape covers."""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ioukit._optional import import_extra

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from numpy.typing import NDArray

    from ioukit.typing import FloatArray

    Outline: TypeAlias = Callable[[FloatArray, FloatArray], NDArray[np.bool_]]


def disc() -> Outline:
    """The unit disc: a circle, or an ellipse if the axes are scaled."""
    return lambda u, v: u * u + v * v <= 1


def regular_polygon(sides: int) -> Outline:
    """A regular polygon with corners on the unit circle."""
    turns = 2 * np.pi * (np.arange(sides) + 0.5) / sides
    depth = np.cos(np.pi / sides)

    def covers(u: FloatArray, v: FloatArray) -> NDArray[np.bool_]:
        inside = np.ones(np.broadcast_shapes(u.shape, v.shape), bool)
        for cos, sin in zip(np.cos(turns), np.sin(turns), strict=True):
            inside &= u * cos + v * sin <= depth
        return inside

    return covers


def star(points: int = 5, inner: float = 0.45) -> Outline:
    """A star with its points on the unit circle and the notches between them at ``inner``."""
    half = np.pi / points
    # The edge from a point, at angle 0, to the next notch: inside, `normal @ (x, y) <= level`.
    tip, notch = np.array([1.0, 0.0]), inner * np.array([np.cos(half), np.sin(half)])
    normal = np.array([notch[1] - tip[1], tip[0] - notch[0]])
    level = normal @ tip

    def covers(u: FloatArray, v: FloatArray) -> NDArray[np.bool_]:
        radius, angle = np.hypot(u, v), np.arctan2(v, u)
        folded = np.abs((angle + half) % (2 * half) - half)
        inside: NDArray[np.bool_] = radius * (normal[0] * np.cos(folded) + normal[1] * np.sin(folded)) <= level
        return inside

    return covers


def digit(number: int, *, handwritten: bool | None = None) -> Outline:
    """A digit of a font, or one of scikit-learn's 1,797 handwritten digits.

    Args:
        number: The number of the digit, modulo how many there are.
        handwritten: Whether to take a handwritten digit; by default if scikit-learn is installed.
    """
    glyphs = _handwritten() if (has_handwritten() if handwritten is None else handwritten) else _typeset()
    glyph = glyphs[number % len(glyphs)]  # (S, S) ink within [0, 1]
    side = len(glyph)

    def covers(u: FloatArray, v: FloatArray) -> NDArray[np.bool_]:
        x, y = ((np.clip(w, -1, 1) + 1) / 2 * (side - 1) for w in np.broadcast_arrays(u, v))
        column, row = (np.minimum(w.astype(int), side - 2) for w in (x, y))
        right, low = x - column, y - row
        ink = (1 - low) * ((1 - right) * glyph[row, column] + right * glyph[row, column + 1])
        ink += low * ((1 - right) * glyph[row + 1, column] + right * glyph[row + 1, column + 1])
        inside: NDArray[np.bool_] = (ink >= 0.4) & (np.abs(u) <= 1) & (np.abs(v) <= 1)
        return inside

    return covers


def has_handwritten() -> bool:
    """Whether scikit-learn, which brings the handwritten digits, is installed."""
    return importlib.util.find_spec("sklearn") is not None


@lru_cache(maxsize=1)
def _handwritten() -> list[FloatArray]:
    datasets = import_extra("sklearn.datasets", extra="digits", needed_by="handwritten digits")
    return [_framed(image / 16) for image in datasets.load_digits().images]


@lru_cache(maxsize=1)
def _typeset() -> list[FloatArray]:
    image, draw, font = (
        import_extra(f"PIL.{name}", extra="shapes", needed_by="digits") for name in ("Image", "ImageDraw", "ImageFont")
    )
    glyphs = []
    for text in "0123456789":
        canvas = image.new("L", (64, 64))
        draw.Draw(canvas).text((12, 6), text, fill=255, font=font.load_default(44))
        glyphs.append(_framed(np.asarray(canvas, np.float64) / 255))
    return glyphs


def _framed(ink: FloatArray) -> FloatArray:
    """The part of the image with ink, in the middle of a square with an empty margin of one pixel."""
    rows, columns = np.flatnonzero(ink.max(axis=1) > 0), np.flatnonzero(ink.max(axis=0) > 0)
    ink = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    side = max(ink.shape) + 2
    framed = np.zeros((side, side))
    top, left = ((side - length) // 2 for length in ink.shape)
    framed[top : top + ink.shape[0], left : left + ink.shape[1]] = ink
    return framed
