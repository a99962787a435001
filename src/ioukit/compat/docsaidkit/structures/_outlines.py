"""Moments of a polygon, and the smallest circle around points, which `ioukit.Polygon` does not have."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.typing import FloatArray

__all__ = ["moments_of", "smallest_circle"]

_ORDERS = [(p, q) for total in range(4) for p, q in ((total - q, q) for q in range(total + 1))]


def moments_of(points: FloatArray) -> dict[str, float]:
    """Moments of a polygon's area up to the third order. The direction of the path does not matter.

    ``m_pq`` is the integral of ``x**p y**q``, which Green's theorem turns into a sum over the edges. ``mu_pq`` is the
    same integral about the centroid, and ``nu_pq = mu_pq / m00**((p + q) / 2 + 1)``. All are 0 without an area.
    """
    spatial = _raw_moments(points)
    area = spatial[0, 0]
    centre = np.array([spatial[1, 0], spatial[0, 1]]) / area if area else np.zeros(2)
    central = _raw_moments(points - centre) if area else spatial
    result = {f"m{p}{q}": spatial[p, q] for p, q in _ORDERS}
    higher = [(p, q) for p, q in _ORDERS if p + q > 1]
    result |= {f"mu{p}{q}": central[p, q] for p, q in higher}
    return result | {f"nu{p}{q}": central[p, q] / area ** ((p + q) / 2 + 1) if area else 0.0 for p, q in higher}


def _raw_moments(points: FloatArray) -> dict[tuple[int, int], float]:
    """Integrals over triangles of the origin and an edge, each a closed form in the two ends of the edge."""
    after = np.roll(points, -1, axis=0)
    cross = points[:, 0] * after[:, 1] - after[:, 0] * points[:, 1]
    moments = {}
    for p, q in _ORDERS:
        total = 0.0
        for i, j in itertools.product(range(p + 1), range(q + 1)):
            weight = math.comb(i + j, j) * math.comb(p + q - i - j, q - j)
            term = after[:, 0] ** i * points[:, 0] ** (p - i) * after[:, 1] ** j * points[:, 1] ** (q - j)
            total += weight * float((cross * term).sum())
        moments[p, q] = total / ((p + q + 2) * (p + q + 1) * math.comb(p + q, p))
    sign = -1.0 if moments[0, 0] < 0 else 1.0
    return {order: sign * value for order, value in moments.items()}


def smallest_circle(points: FloatArray) -> tuple[tuple[float, float], float]:
    """Centre and radius of the smallest circle around points; without points, NaN and 0.

    A point outside the circle around the points before it lies on the circle around them all.

    Reference: Welzl, Smallest Enclosing Disks (Balls and Ellipsoids), 1991.
    """
    places = [(x, y) for x, y in np.unique(points, axis=0).tolist()]
    if not places:
        return (math.nan, math.nan), 0.0
    # Sorted points would take cubic time.
    places = [places[k] for k in np.random.default_rng(0).permutation(len(places))]
    return _circle(places, ())


def _circle(
    places: Sequence[tuple[float, float]], border: tuple[tuple[float, float], ...]
) -> tuple[tuple[float, float], float]:
    """The smallest circle around the places that goes through those of the border, which are at most 2."""
    circle = _through(border)
    for position, place in enumerate(places):
        if circle is None or math.dist(circle[0], place) > circle[1] * (1 + 1e-12):
            on = (*border, place)
            circle = _through(on) if len(on) == 3 else _circle(places[:position], on)
    return circle or ((math.nan, math.nan), 0.0)


def _through(border: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], float] | None:
    """The smallest circle through all places of the border; None if there are none."""
    if not border:
        return None
    (x0, y0), *others = border
    if not others:
        return (x0, y0), 0.0
    if len(others) == 1:
        ((x1, y1),) = others
        return ((x0 + x1) / 2, (y0 + y1) / 2), math.dist(border[0], border[1]) / 2
    (ax, ay), (bx, by) = ((x - x0, y - y0) for x, y in others)
    cross = 2 * (ax * by - ay * bx)
    if cross == 0:  # all on one line: the circle of the two that are farthest apart
        return max((_through(pair) for pair in itertools.combinations(border, 2)), key=lambda c: c[1] if c else 0)
    a, b = ax * ax + ay * ay, bx * bx + by * by
    x, y = (by * a - ay * b) / cross, (ax * b - bx * a) / cross
    return (x0 + x, y0 + y), math.hypot(x, y)
