"""Polygons in rational arithmetic, slow and obviously right, and difficult pairs of polygons."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Point: TypeAlias = tuple[Fraction, Fraction]


def exact_ring(points: Any) -> list[Point]:
    """The points as rationals, running from x towards y."""
    ring = [(Fraction(float(x)), Fraction(float(y))) for x, y in points]
    return ring if exact_area(ring) >= 0 else ring[::-1]


def exact_area(ring: Sequence[Point]) -> Fraction:
    """The shoelace formula."""
    after = [*ring[1:], *ring[:1]]
    return sum((a[0] * b[1] - b[0] * a[1] for a, b in zip(ring, after, strict=True)), Fraction(0)) / 2


def exact_clip(ring: list[Point], window: list[Point]) -> list[Point]:
    """The part of a polygon inside a convex one; for a concave polygon, a path with the same area."""
    for a, b in zip(window, [*window[1:], *window[:1]], strict=True):
        sides = [(b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) for p in ring]
        cut: list[Point] = []
        for k, (point, side) in enumerate(zip(ring, sides, strict=True)):
            before, other = ring[k - 1], sides[k - 1]
            if (side >= 0) != (other >= 0):
                part = other / (other - side)
                cut.append((before[0] + part * (point[0] - before[0]), before[1] + part * (point[1] - before[1])))
            if side >= 0:
                cut.append(point)
        ring = cut
    return ring


def exact_iou(points: Any, convex: Any) -> float:
    """IoU of a simple polygon and a convex one."""
    first, second = exact_ring(points), exact_ring(convex)
    area1, area2 = exact_area(first), exact_area(second)
    both = abs(exact_area(exact_clip(first, second)))
    union = area1 + area2 - both
    return float(both / union) if union else 0.0


def exact_document_jaccard(pred: Any, gt: Any, size: tuple[int, int]) -> float:
    """By the homography of ``gt`` to (0, 0), (w, 0), (w, h), (0, h), from its eight equations."""
    height, width = size
    corners = [(0, 0), (width, 0), (width, height), (0, height)]
    rows: list[list[Fraction]] = []
    for (x, y), (u, v) in zip(([Fraction(float(c)) for c in p] for p in gt), corners, strict=True):
        zero, one = Fraction(0), Fraction(1)
        rows.append([x, y, one, zero, zero, zero, -u * x, -u * y, Fraction(u)])
        rows.append([zero, zero, zero, x, y, one, -v * x, -v * y, Fraction(v)])
    a, b, c, d, e, f, g, h = _solved(rows)
    mapped = []
    for x, y in ([Fraction(float(c)) for c in p] for p in pred):
        weight = g * x + h * y + 1
        mapped.append(((a * x + b * y + c) / weight, (d * x + e * y + f) / weight))
    mapped = mapped if exact_area(mapped) >= 0 else mapped[::-1]
    both = abs(exact_area(exact_clip(mapped, [(Fraction(x), Fraction(y)) for x, y in corners])))
    return float(both / (exact_area(mapped) + width * height - both))


def _solved(rows: list[list[Fraction]]) -> list[Fraction]:
    """Gauss and Jordan: the solution of equations whose last number is their right side."""
    for k in range(len(rows)):
        pivot = next(r for r in range(k, len(rows)) if rows[r][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for r in range(len(rows)):
            if r != k:
                rows[r] = [x - rows[r][k] * y for x, y in zip(rows[r], rows[k], strict=True)]
    return [row[-1] for row in rows]


KINDS = ("free", "edge", "corner", "same", "inside", "sliver", "parallel", "apart")


def ellipse_polygon(rng: np.random.Generator, corners: int, size: float) -> NDArray[np.float64]:
    """(corners, 2) points on a rotated ellipse within ten sizes of the origin, running from x towards y."""
    angles = np.sort(rng.uniform(0, 2 * np.pi, corners))
    turn = rng.uniform(0, 2 * np.pi)
    points = np.stack([np.cos(angles), rng.uniform(0.05, 1) * np.sin(angles)], axis=1)
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    return np.asarray((points @ rotation.T + rng.uniform(-10, 10, 2)) * size)


def convex_pair(rng: np.random.Generator, kind: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two convex polygons of 3 to 12 corners, of a size from 1e-6 to 1e6, in a difficult position."""
    size = 10.0 ** rng.uniform(-6, 6)
    first = ellipse_polygon(rng, int(rng.integers(3, 13)), size)
    second = ellipse_polygon(rng, int(rng.integers(3, 13)), size)
    second += first.mean(axis=0) - second.mean(axis=0) + rng.uniform(-1, 1, 2) * size
    if kind == "edge":  # the mirror image at a common edge
        a, b = first[0], first[1]
        along = (b - a) / np.hypot(*(b - a)) if (a != b).any() else np.array([1.0, 0.0])
        second = 2 * (a + np.outer((first - a) @ along, along)) - first
        second[:2] = first[:2]
    elif kind == "corner":
        second += first[0] - second[0]
        second[0] = first[0]
    elif kind == "same":
        second = np.roll(first, 1, axis=0)[:: rng.choice([-1, 1])]
    elif kind == "inside":
        second = first.mean(axis=0) + (first - first.mean(axis=0)) * 0.5
    elif kind == "sliver":
        along = rng.normal(size=2) * size
        across = np.array([-along[1], along[0]]) * 10.0 ** rng.uniform(-9, -3)
        middle = first.mean(axis=0)
        second = np.stack([middle - along, middle - along + across, middle + along + across, middle + along])
    elif kind == "parallel":  # the same polygon, turned by a tiny angle
        turn = 10.0 ** rng.uniform(-15, -3)
        second = first + np.stack([-first[:, 1], first[:, 0]], axis=1) * turn
    elif kind == "apart":
        second += 30 * size
    return first, second
