"""What `ioukit.Polygon` does not have: moments, the smallest circle, and corners in the order of OpenCV."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from ioukit._optional import import_extra
from ioukit.regions._polygon_geometry import hull

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from ioukit.typing import FloatArray

__all__ = ["grown", "hull_rows", "moments_of", "order_points_clockwise", "smallest_circle"]

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


def hull_rows(points: FloatArray) -> list[int]:
    """The rows of the corners of the convex hull, in the order in which OpenCV's ``convexHull`` returns the corners.

    The corners run from x towards y. If the rows, read around the hull, rise or fall with a single jump, the first
    corner is the one behind the jump. Otherwise it is the corner with the largest x, and of these with the largest y.
    Points without an area have two corners, or one.
    """
    corners = [(x, y) for x, y in hull(points).tolist()]
    if len(corners) < 3:
        places = [(x, y) for x, y in points.tolist()]
        ends = [max(places), min(places)] if places else []
        return [places.index(end) for end in dict.fromkeys(ends)]
    start = corners.index(max(corners))
    corners = corners[start:] + corners[:start]
    rows = _rows_of_corners(points, corners)
    rising = sum(row > before for row, before in zip(rows, [rows[-1], *rows[:-1]], strict=True))
    if rising in (1, len(rows) - 1):
        start = rows.index(max(rows) if rising == 1 else min(rows))
        rows = rows[start:] + rows[:start]
    return rows


def _rows_of_corners(points: FloatArray, corners: list[tuple[float, float]]) -> list[int]:
    """The row of each corner; where points coincide, the first or the last of them, as OpenCV's search meets them."""
    first: dict[tuple[float, float], int] = {}
    last: dict[tuple[float, float], int] = {}
    for row, (x, y) in enumerate(points.tolist()):
        first.setdefault((x, y), row)
        last[x, y] = row
    low = corners.index(min(corners, key=lambda corner: (-corner[1], corner[0])))
    left = corners.index(min(corners))
    high = corners.index(min(corners, key=lambda corner: (corner[1], corner[0])))
    met_last = {*range(low + 1, left), *range(left + 1, high)} | ({0} - {low})
    return [(last if position in met_last else first)[corner] for position, corner in enumerate(corners)]


def grown(points: FloatArray, distance: float, join_style: str) -> FloatArray:
    """(K, 2) points of a polygon that grows by a distance on all sides; (0, 2) if nothing is left.

    Each corner of the grown polygon goes to the point next to it, and a later corner replaces an earlier one. A point
    that gets no corner moves to the corner next to it. If the polygon falls into parts, the largest part counts.
    """
    shapely = import_extra("shapely", extra="polygons", needed_by="Polygon.scale")
    shape = shapely.Polygon(points).buffer(distance, join_style=join_style)
    shape = max(getattr(shape, "geoms", [shape]), key=lambda part: part.area)
    corners = shapely.get_coordinates(shapely.get_exterior_ring(shape))
    if not len(corners):
        return points[:0]
    apart = np.linalg.norm(corners[:, None] - points, axis=2)  # (G, K)
    moved = corners[apart.argmin(axis=0)]
    for corner, nearest in zip(corners, apart.argmin(axis=1).tolist(), strict=True):
        moved[nearest] = corner
    return np.asarray(moved, np.float64)


def order_points_clockwise(pts: ArrayLike, inverse: bool = False) -> FloatArray:
    """Four corners in the order upper left, upper right, lower right, lower left.

    The two points with the smallest x are the left ones. This is ambiguous for diamonds;
    `ioukit.order_points_clockwise` sorts by the direction from the middle.

    Args:
        pts: (4, 2), where y points down. If two points have the same x, the upper one counts as left of the other.
        inverse: The opposite direction: upper left, lower left, lower right, upper right.

    Returns:
        (4, 2) in the dtype of the points.
    """
    points = np.asarray(pts)
    if points.shape != (4, 2):
        raise ValueError(f"pts must have shape (4, 2), got {points.shape}")
    ordered = points[np.lexsort([points[:, 1], points[:, 0]])]
    left, right = (side[np.argsort(side[:, 1], kind="stable")] for side in (ordered[:2], ordered[2:]))
    corners = [left[0], right[0], right[1], left[1]]
    return np.array([corners[0], *corners[:0:-1]] if inverse else corners)
