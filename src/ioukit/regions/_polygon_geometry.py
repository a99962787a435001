"""Plane geometry of polygons: measures of many polygons in flat arrays, and algorithms on one polygon.

Many polygons are ``vertices`` (K, 2) and ``offsets`` (N + 1,). Polygon ``i`` is the closed path through
``vertices[offsets[i]:offsets[i + 1]]``, in order. A polygon without vertices is empty.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.typing import FloatArray

    Offsets = NDArray[np.int64]


_EPSILON = 2.0**-53
_ORIENTATION_BOUND = (3 + 16 * _EPSILON) * _EPSILON  # Shewchuk 1997: above it, the sign of the rounded value is right
_PAIRS_AT_ONCE = 1 << 20


def following(offsets: Offsets) -> NDArray[np.int64]:
    """(K,) for each vertex, the position of the next one on its path; the first follows the last."""
    after = np.arange(1, offsets[-1] + 1)
    filled = offsets[1:] > offsets[:-1]
    after[offsets[1:][filled] - 1] = offsets[:-1][filled]
    return after


def _sums(values: FloatArray, offsets: Offsets) -> FloatArray:
    """(N, ...) sums of the values of each polygon, 0 for an empty polygon."""
    return _reduced(np.add, values, offsets, 0.0)


def _reduced(ufunc: np.ufunc, values: FloatArray, offsets: Offsets, empty: float) -> FloatArray:
    result = np.full((len(offsets) - 1, *values.shape[1:]), empty)
    filled = offsets[1:] > offsets[:-1]  # reduceat gives nonsense for empty runs
    if filled.any():
        result[filled] = ufunc.reduceat(values, offsets[:-1][filled], axis=0)
    return result


def bounds(vertices: FloatArray, offsets: Offsets) -> FloatArray:
    """(N, 4) the smallest upright boxes around the polygons, as xyxy; NaN for empty polygons."""
    low = _reduced(np.minimum, vertices, offsets, math.nan)
    high = _reduced(np.maximum, vertices, offsets, math.nan)
    return np.concatenate([low, high], axis=1)


def local(vertices: FloatArray, offsets: Offsets) -> tuple[FloatArray, FloatArray]:
    """(K, 2) vertices less the first vertex of their polygon, and (N, 2) those first vertices.

    Products of such differences keep all digits, however far from the origin a polygon lies.
    """
    first = vertices[np.minimum(offsets[:-1], len(vertices) - 1)] if len(vertices) else np.zeros((len(offsets) - 1, 2))
    return vertices - np.repeat(first, np.diff(offsets), axis=0), first


def signed_areas(vertices: FloatArray, offsets: Offsets) -> FloatArray:
    """(N,) areas by the shoelace formula: positive for paths that turn from x to y, clockwise if y points down."""
    near, _ = local(vertices, offsets)
    after = near[following(offsets)]
    with np.errstate(over="ignore", invalid="ignore"):
        return _sums(near[:, 0] * after[:, 1] - near[:, 1] * after[:, 0], offsets) / 2


def ring_area(ring: FloatArray) -> float:
    """The area of one polygon (K, 2), never negative."""
    return abs(float(signed_areas(ring, np.array([0, len(ring)]))[0]))


def centroids(vertices: FloatArray, offsets: Offsets) -> FloatArray:
    """(N, 2) centres of the areas; without an area, of the edges; without a length, of the vertices."""
    counts = np.diff(offsets)
    near, first = local(vertices, offsets)
    size = _reduced(np.maximum, np.abs(near), offsets, 0.0).max(axis=1, initial=0.0)
    scale = np.where(size > 0, size, 1.0)  # the formula is cubic: it would overflow or underflow
    near = near / np.repeat(scale, counts)[:, None]
    after = near[following(offsets)]
    cross = (near[:, 0] * after[:, 1] - near[:, 1] * after[:, 0])[:, None]
    lengths = np.hypot(*(after - near).T)[:, None]
    area, length = _sums(cross, offsets), _sums(lengths, offsets)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_area = _sums((near + after) * cross, offsets) / (3 * area)
        of_edges = _sums((near + after) / 2 * lengths, offsets) / length
        of_points = _sums(near, offsets) / counts[:, None]
    # An area below this may be rounding alone.
    noise = 8 * _EPSILON * _sums(np.abs(near) ** 2 + np.abs(after) ** 2, offsets).sum(axis=1, keepdims=True)
    inside = np.where(np.abs(area) > noise, of_area, np.where(length > 0, of_edges, of_points))
    return np.asarray(first + inside * scale[:, None])


def perimeters(vertices: FloatArray, offsets: Offsets) -> FloatArray:
    """(N,) lengths of the paths."""
    return _sums(np.hypot(*(vertices[following(offsets)] - vertices).T), offsets)


def without_repeats(vertices: FloatArray, offsets: Offsets) -> tuple[FloatArray, Offsets, NDArray[np.bool_]]:
    """The polygons without the vertices that equal the next one, and (K,) which vertices are kept.

    If all vertices of a polygon are equal, none is kept.
    """
    kept = (vertices[following(offsets)] != vertices).any(axis=1)
    counts = np.concatenate([[0], np.cumsum(kept)])
    return vertices[kept], counts[offsets].astype(np.int64), kept


def convex(vertices: FloatArray, offsets: Offsets) -> NDArray[np.bool_]:
    """(N,) whether the polygons are convex and have an area, except for dents that rounding can make."""
    box = bounds(vertices, offsets)
    scale = np.nanmax(np.abs(box), axis=1, initial=0.0) if len(box) else np.zeros(0)
    distinct, offsets, _ = without_repeats(vertices, offsets)
    counts = np.diff(offsets)
    edge = distinct[following(offsets)] - distinct
    edge = edge / np.repeat(np.where(scale > 0, scale, 1.0), counts)[:, None]
    after = edge[following(offsets)]
    cross = edge[:, 0] * after[:, 1] - edge[:, 1] * after[:, 0]
    dot = (edge * after).sum(axis=1)
    first, second = np.hypot(*edge.T), np.hypot(*after.T)
    # What moving a vertex by four units in its last place can change, as long as the turn is tiny.
    slack = np.minimum(8 * _EPSILON * (first + second), 1e-4 * first * second)
    turn = _sums(np.arctan2(cross, dot), offsets) / (2 * math.pi)
    sign = np.repeat(np.sign(turn), counts)
    bad = (cross * sign < -slack) | ((np.abs(cross) <= slack) & (dot < 0))
    return np.asarray((counts >= 3) & (np.abs(np.abs(turn) - 1) < 1e-6) & (_sums(bad.astype(np.float64), offsets) == 0))


def _orientation(a: FloatArray, b: FloatArray, c: FloatArray) -> NDArray[np.int64]:
    """(P,) on which side of the line from a to b does c lie: 1, -1, or 0 on the line. Exact, for (P, 2) points each."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        left = (a[:, 0] - c[:, 0]) * (b[:, 1] - c[:, 1])
        right = (a[:, 1] - c[:, 1]) * (b[:, 0] - c[:, 0])
        cross = left - right
        sure = np.abs(cross) > _ORIENTATION_BOUND * (np.abs(left) + np.abs(right))
    # Two equal points, and three points with a coordinate in common, give an exact zero.
    equal = (a == b).all(axis=1) | (a == c).all(axis=1) | (b == c).all(axis=1)
    aligned = ((a == c) & (b == c)).any(axis=1)
    side = np.where(equal | aligned, 0, np.sign(np.where(sure, cross, 0))).astype(np.int64)
    unsure = np.flatnonzero(~(sure | equal | aligned))
    if len(unsure):
        from fractions import Fraction  # noqa: PLC0415 - rarely needed, and slow to import
    for row in unsure:
        (ax, ay), (bx, by), (cx, cy) = ([Fraction(x) for x in p[row].tolist()] for p in (a, b, c))
        exact = (ax - cx) * (by - cy) - (ay - cy) * (bx - cx)
        side[row] = (exact > 0) - (exact < 0)
    return side


def first_contact(points: FloatArray) -> tuple[int, int] | None:
    """The first two edges of a closed path that share more than the vertex between neighbours; None if it is simple.

    Args:
        points: (N, 2). Edge ``i`` begins at point ``i``; a point that equals the next one has no edge.
    """
    distinct, _, kept = without_repeats(points, np.array([0, len(points)]))
    number = np.flatnonzero(kept)
    count = len(distinct)
    if count < 3:
        return (int(number[0]), int(number[-1])) if count else (0, 0)
    ends = np.roll(distinct, -1, axis=0)
    beyond = np.roll(distinct, -2, axis=0)
    back = (_orientation(distinct, ends, beyond) == 0) & (((ends - distinct) * (beyond - ends)).sum(axis=1) < 0)
    found = [tuple(sorted((int(number[i]), int(number[(i + 1) % count])))) for i in np.flatnonzero(back)[:1]]
    low, high = np.minimum(distinct, ends), np.maximum(distinct, ends)
    step = max(1, _PAIRS_AT_ONCE // count)
    for start in range(0, count - 2, step):
        rows = slice(start, min(start + step, count))
        near = np.logical_and.reduce(
            [
                (low[rows, None, k] <= high[None, start:, k]) & (low[None, start:, k] <= high[rows, None, k])
                for k in (0, 1)
            ]
        )
        i, j = np.nonzero(near)
        i, j = i + start, j + start
        apart = (j > i + 1) & ~((i == 0) & (j == count - 1))
        i, j = i[apart], j[apart]
        a, b, c, d = distinct[i], ends[i], distinct[j], ends[j]
        touch = _orientation(a, b, c) * _orientation(a, b, d) <= 0
        i, j, a, b, c, d = (x[touch] for x in (i, j, a, b, c, d))
        touch = _orientation(c, d, a) * _orientation(c, d, b) <= 0
        if touch.any():
            at = int(np.flatnonzero(touch)[0])
            found.append((int(number[i[at]]), int(number[j[at]])))
            break
    first = min(found, default=None)
    return None if first is None else (first[0], first[1])


def hull(points: FloatArray) -> FloatArray:
    """(H, 2) the corners of the convex hull, running from x towards y; fewer than 3 if it has no area.

    The corner with the smallest x comes first.

    Reference: Andrew, Another Efficient Algorithm for Convex Hulls in Two Dimensions, IPL 1979.
    """
    ordered = np.unique(points, axis=0).tolist()
    if len(ordered) < 3:
        return np.array(ordered, np.float64).reshape(-1, 2)

    def chain(path: list[list[float]]) -> list[list[float]]:
        corners: list[list[float]] = []
        for point in path:
            while len(corners) > 1 and _turn(corners[-2], corners[-1], point) <= 0:
                corners.pop()
            corners.append(point)
        return corners[:-1]

    return np.array(chain(ordered) + chain(ordered[::-1]), np.float64)


def _turn(a: list[float], b: list[float], c: list[float]) -> float:
    left, right = (b[0] - a[0]) * (c[1] - b[1]), (b[1] - a[1]) * (c[0] - b[0])
    cross = left - right
    if abs(cross) > 4 * _EPSILON * (abs(left) + abs(right)):
        return cross
    from fractions import Fraction  # noqa: PLC0415 - as above

    (ax, ay), (bx, by), (cx, cy) = ([Fraction(x) for x in p] for p in (a, b, c))
    exact = (bx - ax) * (cy - by) - (by - ay) * (cx - bx)
    return float((exact > 0) - (exact < 0))


def min_area_rectangle(corners: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """The rectangle of smallest area around a convex polygon: its centre, its sides and its angle.

    One of its sides lies on an edge of the polygon (Freeman and Shapira 1975), so every edge is tried.

    Args:
        corners: (H, 2) as `hull` returns them: 2 for a segment, 1 for a point, 0 for nothing, where all is NaN.

    Returns:
        (2,) the centre; (2,) the long and the short side; and the angle of the long side from x towards y, in [0, pi).
        For a square the angle is in [0, pi / 2), for a point it is 0.
    """
    if not len(corners):
        return np.full(2, math.nan), np.full(2, math.nan), math.nan
    origin = corners[0]
    near = corners - origin
    edge = np.roll(near, -1, axis=0) - near
    lengths = np.hypot(*edge.T)
    if not lengths.any():
        return origin.copy(), np.zeros(2), 0.0
    along = edge[lengths > 0] / lengths[lengths > 0, None]  # (E, 2)
    across = np.stack([-along[:, 1], along[:, 0]], axis=1)
    u, v = near @ along.T, near @ across.T  # (H, E)
    wide, high = np.ptp(u, axis=0), np.ptp(v, axis=0)
    best = int(np.argmin(wide * high))
    middle = (u[:, best].max() + u[:, best].min()) / 2, (v[:, best].max() + v[:, best].min()) / 2
    centre = origin + middle[0] * along[best] + middle[1] * across[best]
    sides = np.array([wide[best], high[best]])
    if len(corners) == 2:
        sides[1] = 0.0  # a segment has no width, except for rounding
    direction = along[best] if sides[0] >= sides[1] else across[best]
    angle = math.atan2(direction[1], direction[0]) % math.pi
    if math.isclose(sides[0], sides[1], rel_tol=1e-12):
        angle %= math.pi / 2
    return centre, np.sort(sides)[::-1], angle if angle < math.pi else 0.0


def clip_to_window(points: FloatArray, window: tuple[float, float, float, float]) -> FloatArray:
    """(M, 2) the part of a polygon inside an upright window; (0, 2) if it has no area.

    Where a concave polygon falls into parts, the result is still one path: edges along the window connect the parts. It
    has the right area, and is not simple.

    Reference: Sutherland and Hodgman, Reentrant Polygon Clipping, CACM 1974.
    """
    path: list[Any] = points.tolist()
    for axis, limit, sign in ((0, window[0], 1), (1, window[1], 1), (0, window[2], -1), (1, window[3], -1)):
        if math.isinf(limit):
            continue
        inside = [sign * (point[axis] - limit) >= 0 for point in path]
        if all(inside):
            continue
        cut = []
        for i, point in enumerate(path):
            before = path[i - 1]
            if inside[i] != inside[i - 1]:
                cut.append(_crossing(*((before, point) if inside[i] else (point, before)), axis, limit))
            if inside[i]:
                cut.append(point)
        path = cut
    clipped = np.array(path, np.float64).reshape(-1, 2)
    kept = without_repeats(clipped, np.array([0, len(clipped)]))[0]
    if len(kept) < 3 or len(hull(kept)) < 3:
        return np.zeros((0, 2))
    return kept


def _crossing(outside: list[float], inside: list[float], axis: int, limit: float) -> list[float]:
    """Where an edge meets the line of the window. It starts at the inner end, so both directions give the same bits."""
    other = 1 - axis
    part = (limit - inside[axis]) / (outside[axis] - inside[axis])
    value = inside[other] + part * (outside[other] - inside[other])
    point = [limit, limit]
    point[other] = min(max(value, min(inside[other], outside[other])), max(inside[other], outside[other]))
    return point
