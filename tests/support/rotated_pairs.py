"""Pairs of rotated boxes, most of them difficult, and their overlaps in rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Rows = NDArray[np.float64]
    Ring = list[tuple[Fraction, Fraction]]

__all__ = ["KINDS", "exact_intersection", "exact_ring", "make_pairs"]

_PI = Fraction(31415926535897932384626433832795028841971693993751, 10**49)
_DIGITS = 10**45


def exact_ring(row: Rows) -> Ring:
    """The corners of cx, cy, width, height and clockwise degrees: sines and cosines to 40 digits, all else exact."""
    x, y, width, height, angle = (Fraction(float(number)) for number in row)
    cos, sin = _direction(angle)
    half = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    return [
        (x + (i * width * cos - j * height * sin) / 2, y + (i * width * sin + j * height * cos) / 2) for i, j in half
    ]


def _direction(degrees: Fraction) -> tuple[Fraction, Fraction]:
    quarters = round(degrees / 90)
    angle = (degrees - 90 * quarters) * _PI / 180
    square = Fraction(round(angle * angle * _DIGITS), _DIGITS)
    cos, sin, term_cos, term_sin = Fraction(0), Fraction(0), Fraction(1), angle
    for n in range(0, 40, 2):
        cos, sin = cos + term_cos, sin + term_sin
        term_cos = Fraction(round(-term_cos * square / ((n + 1) * (n + 2)) * _DIGITS), _DIGITS)
        term_sin = Fraction(round(-term_sin * square / ((n + 2) * (n + 3)) * _DIGITS), _DIGITS)
    return ((cos, sin), (-sin, cos), (-cos, -sin), (sin, -cos))[quarters % 4]


def exact_intersection(first: Ring, second: Ring) -> Fraction:
    """The common area of two convex polygons with one direction: one is cut along each side of the other."""
    ring = list(first)
    for (x0, y0), (x1, y1) in zip(second, second[1:] + second[:1], strict=True):
        sides = [(x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) for x, y in ring]
        cut: Ring = []
        for k, (corner, side) in enumerate(zip(ring, sides, strict=True)):
            before, side_before = ring[k - 1], sides[k - 1]
            if (side > 0 > side_before) or (side < 0 < side_before):
                part = side_before / (side_before - side)
                cut.append((before[0] + part * (corner[0] - before[0]), before[1] + part * (corner[1] - before[1])))
            if side >= 0:
                cut.append(corner)
        ring = cut
    pairs = zip(ring, ring[1:] + ring[:1], strict=True)
    return sum(((x0 * y1 - x1 * y0) for (x0, y0), (x1, y1) in pairs), Fraction(0)) / 2


def _free(rng: np.random.Generator, count: int) -> tuple[Rows, Rows]:
    def rows() -> Rows:
        sides = rng.uniform(0.1, 10, (count, 2))
        return np.column_stack([rng.uniform(-5, 5, (count, 2)), sides, rng.uniform(-360, 360, count)])

    return rows(), rows()


def _identical(rng: np.random.Generator, count: int) -> tuple[Rows, Rows]:
    first, _ = _free(rng, count)
    return first, first.copy()


def _turned(rng: np.random.Generator, count: int) -> tuple[Rows, Rows]:
    """The same centre, and angles that differ by multiples of 45 degrees."""
    first, second = _free(rng, count)
    second[:, :2] = first[:, :2]
    second[::2, 2:4] = first[::2, 2:4]
    first[:, 4] = 45 * rng.integers(-8, 9, count)
    second[:, 4] = first[:, 4] + 45 * rng.integers(-8, 9, count)
    return first, second


def _contained(rng: np.random.Generator, count: int) -> tuple[Rows, Rows]:
    first, second = _free(rng, count)
    second[:, :2] = first[:, :2] + rng.uniform(-0.01, 0.01, (count, 2))
    second[:, 2:4] = first[:, 2:4].min(axis=1, keepdims=True) * rng.uniform(0.01, 0.6, (count, 2))
    return first, second


def _shared(rng: np.random.Generator, count: int) -> tuple[Rows, Rows]:
    """The same angle; the second box moved along its sides, so that edges and corners are shared."""
    first, second = _free(rng, count)
    second[:, 4] = first[:, 4]
    second[::2, 2:4] = first[::2, 2:4]
    along, across = rng.choice([-1, -0.5, 0, 0.25, 1], (2, count)) * (first[:, 2:4] + second[:, 2:4]).T / 2
    angle = np.radians(first[:, 4])
    second[:, 0] = first[:, 0] + along * np.cos(angle) - across * np.sin(angle)
    second[:, 1] = first[:, 1] + along * np.sin(angle) + across * np.cos(angle)
    return first, second


def _slivers(rng: np.random.Generator, count: int) -> tuple[Rows, Rows]:
    first, second = _free(rng, count)
    for rows in (first, second):
        rows[:, :2] *= 0.1
        rows[:, 2] *= 10.0 ** rng.uniform(-9, 1, count)
    return first, second


def _nearly_parallel(rng: np.random.Generator, count: int) -> tuple[Rows, Rows]:
    """Boxes that differ by a tiny amount: in the angle, and some also in position and size."""
    first, second = _identical(rng, count)
    hair = 10.0 ** rng.uniform(-15, -4, (count, 5)) * rng.choice([-1, 0, 1], (count, 5))
    second[:, 4] += hair[:, 4] + 90 * rng.integers(0, 4, count)
    second[::3] += hair[::3] * np.array([1, 1, 0.01, 0.01, 0])
    return first, second


def _tiny(rng: np.random.Generator, count: int) -> tuple[Rows, Rows]:
    return _scaled(rng, count, 1e-6, 0)


def _huge(rng: np.random.Generator, count: int) -> tuple[Rows, Rows]:
    return _scaled(rng, count, 1e6, 0)


def _far(rng: np.random.Generator, count: int) -> tuple[Rows, Rows]:
    return _scaled(rng, count, 1, 1e8)


def _scaled(rng: np.random.Generator, count: int, factor: float, offset: float) -> tuple[Rows, Rows]:
    first, second = _free(rng, count)
    for rows in (first, second):
        rows[:, :4] *= factor
        rows[:, :2] += offset
    return first, second


def _unequal(rng: np.random.Generator, count: int) -> tuple[Rows, Rows]:
    """Sizes that differ by factors up to 1e4."""
    first, second = _free(rng, count)
    second[:, 2:4] *= 10.0 ** rng.uniform(0, 4, (count, 1))
    return first, second


KINDS: dict[str, Callable[[np.random.Generator, int], tuple[Rows, Rows]]] = {
    "random": _free,
    "identical": _identical,
    "turned by multiples of 45 degrees": _turned,
    "contained": _contained,
    "shared edges and corners": _shared,
    "slivers": _slivers,
    "a hair from parallel": _nearly_parallel,
    "tiny (1e-6)": _tiny,
    "huge (1e6)": _huge,
    "far away (1e8)": _far,
    "unequal sizes": _unequal,
}


def make_pairs(kind: str, count: int) -> tuple[Rows, Rows]:
    """Two sets of rows of cx, cy, width, height and clockwise degrees; the same for the same arguments."""
    rng = np.random.default_rng([20261121, list(KINDS).index(kind)])
    return KINDS[kind](rng, count)
