"""Generalized IoU of rotated boxes and polygons against exact hulls, and against Shapely."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from ioukit import (
    Boxes,
    Polygons,
    RotatedBoxes,
    elementwise_giou,
    elementwise_intersection,
    elementwise_iou,
    pairwise_giou,
    pairwise_iou,
)
from support.polygon_oracles import KINDS as POLYGON_KINDS
from support.polygon_oracles import convex_pair
from support.rotated_pairs import KINDS, exact_intersection, exact_ring, make_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    Exact = tuple[Fraction, Fraction]


def clockwise(rows: Any) -> RotatedBoxes:
    return RotatedBoxes(np.array(rows, np.float64).reshape(-1, 5), unit="degrees", sense="clockwise")


def exact_area(points: Sequence[Exact]) -> Fraction:
    ends = zip(points, [*points[1:], *points[:1]], strict=True)
    return abs(sum((x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in ends), Fraction(0))) / 2


def exact_hull(points: Sequence[Exact]) -> list[Exact]:
    """Gift wrapping: from a corner, the next is the one with all other points on one side."""
    start = at = min(points)
    hull = [start]
    while True:
        best = None
        for point in points:
            if point == at:
                continue
            if best is None:
                best = point
                continue
            turn = (best[0] - at[0]) * (point[1] - at[1]) - (best[1] - at[1]) * (point[0] - at[0])
            farther = max(abs(point[0] - at[0]), abs(point[1] - at[1])) > max(
                abs(best[0] - at[0]), abs(best[1] - at[1])
            )
            if turn < 0 or (turn == 0 and farther):
                best = point
        if best is None or best == start:
            return hull
        hull.append(best)
        at = best


def exact_giou(intersection: Fraction, first: Sequence[Exact], second: Sequence[Exact]) -> Fraction:
    hull = exact_area(exact_hull([*first, *second]))
    union = exact_area(first) + exact_area(second) - intersection
    iou = intersection / union if union else Fraction(0)
    return iou - (hull - union) / hull if hull else iou


@pytest.mark.parametrize("kind", KINDS)
def test_rotated_boxes_against_exact_hulls(kind: str) -> None:
    rows = make_pairs(kind, 40)
    first, second = map(clockwise, rows)
    found, turned = elementwise_giou(first, second), elementwise_giou(second, first)
    assert_array_equal(found, turned)
    for k, (a, b) in enumerate(zip(*rows, strict=True)):
        rings = exact_ring(a), exact_ring(b)
        hull = exact_area(exact_hull([*rings[0], *rings[1]]))
        # A hull far longer than wide is off by a rounding of the square of its length.
        points = np.array([[float(x), float(y)] for ring in rings for x, y in ring])
        length = float(np.ptp(points, axis=0).max())
        allowed = 1e-13 + 1e-14 * length**2 / float(hull)
        exact = exact_giou(exact_intersection(*rings), *rings)
        assert abs(found[k] - float(exact)) <= allowed, (k, float(exact), allowed)


def test_boxes_without_width_against_exact_hulls() -> None:
    """Their corners have zeros of both signs, which are one place."""
    rng = np.random.default_rng(8)
    rows = np.concatenate([rng.integers(-9, 10, (2, 100, 2)), rng.integers(1, 9, (2, 100, 3))], axis=-1).astype(float)
    rows[0, :, 2] = 0
    rows[:, :, 4] = rng.choice([0, 90, 180], (2, 100))
    found = elementwise_giou(*map(clockwise, rows))
    for k, (a, b) in enumerate(zip(*rows, strict=True)):
        rings = exact_ring(a), exact_ring(b)
        exact = exact_giou(exact_intersection(*rings), *rings)
        assert abs(found[k] - float(exact)) <= 1e-13, (a, b, found[k], float(exact))


@pytest.mark.parametrize("kind", POLYGON_KINDS)
def test_convex_polygons_against_shapely(kind: str) -> None:
    shapely = pytest.importorskip("shapely")
    rng = np.random.default_rng(3)
    pairs = [convex_pair(rng, kind) for _ in range(500)]
    first, second = (Polygons([pair[side] for pair in pairs]) for side in (0, 1))
    one, other = (np.array([shapely.Polygon(p) for p in set_.points()]) for set_ in (first, second))
    hull = shapely.area(shapely.convex_hull(shapely.union(one, other)))
    union = shapely.area(one) + shapely.area(other) - elementwise_intersection(first, second)
    found = elementwise_giou(first, second)
    assert_allclose(found, elementwise_iou(first, second) - (hull - union) / hull, rtol=0, atol=1e-9)
    assert (found >= -1).all()
    assert (found <= elementwise_iou(first, second) + 1e-15).all()
    assert_array_equal(found, elementwise_giou(second, first))


def test_polygons_of_any_shape_against_shapely() -> None:
    shapely = pytest.importorskip("shapely")
    rng = np.random.default_rng(5)
    stars = []
    for _ in range(60):
        count = int(rng.integers(3, 40))
        angles = np.sort(rng.uniform(0, 2 * np.pi, count))
        radii = rng.uniform(1, 10, count)[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        stars.append(rng.uniform(-15, 15, 2) + radii)
    polygons = Polygons([star for star in stars if shapely.Polygon(star).is_valid])
    shapes = np.array([shapely.Polygon(points) for points in polygons.points()])
    unions = shapely.union(shapes[:, None], shapes.copy())  # shapely locks both, and cannot unlock views beside NumPy 1
    hull = shapely.area(shapely.convex_hull(unions))
    union = shapely.area(unions)
    expected = (shapely.area(shapes[:, None]) + shapely.area(shapes) - union) / union - (hull - union) / hull
    assert not polygons.is_convex.all()
    assert_allclose(pairwise_giou(polygons, polygons), expected, rtol=0, atol=1e-9)


corners = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=3, max_size=6)


@given(corners, corners)
def test_hulls_of_degenerate_points(one: Any, other: Any) -> None:
    """Points of a small grid: on one line, repeated, in any order."""
    rings = [exact_hull([(Fraction(x), Fraction(y)) for x, y in points]) for points in (one, other)]
    first, second = (
        Polygons([[[float(x), float(y)] for x, y in ring] * (1 if len(ring) > 2 else 3)]) for ring in rings
    )
    intersection = Fraction(elementwise_intersection(first, second).item())
    found = elementwise_giou(first, second).item()
    assert abs(found - float(exact_giou(intersection, *rings))) < 1e-13


def test_values_one_can_check_in_the_head() -> None:
    # Two squares of side 2 that touch at a corner: their hull is a hexagon of 12, their smallest upright box has 16.
    rows = np.array([[1.0, 1, 2, 2, 0], [3, 3, 2, 2, 90]])
    upright = Boxes([[0, 0, 2, 2], [2, 2, 4, 4]], dtype=np.float64)
    for regions in (clockwise(rows), Polygons.from_boxes(upright)):
        table = pairwise_giou(regions, regions)
        assert_allclose(table, [[1, -1 / 3], [-1 / 3, 1]], rtol=0, atol=1e-15)
    assert pairwise_giou(upright, upright)[0, 1] == -0.5
    flat = clockwise([[0, 0, 0, 2, 30], [0, 0, 0, 0, 0], [0, 0, 2, 2, 0]])
    assert_allclose(pairwise_giou(flat, flat), [[0, 0, 0], [0, 0, 0], [0, 0, 1]], atol=1e-15)
    far = clockwise([[1e8, -1e8, 3, 2, 17], [1e8 + 1, -1e8, 3, 2, 80]])
    near = clockwise([[0, 0, 3, 2, 17], [1, 0, 3, 2, 80]])
    assert_allclose(pairwise_giou(far, far), pairwise_giou(near, near), rtol=0, atol=1e-14)


def test_layout_threads_and_refusals() -> None:
    a, b = (clockwise(rows) for rows in make_pairs("random", 300))
    table = pairwise_giou(a, b, threads=2)
    assert_array_equal(table, pairwise_giou(a, b, threads=1))
    assert_array_equal(np.diag(table), elementwise_giou(a, b))
    assert_array_equal(table[0], elementwise_giou(a[0], b))
    assert_array_equal(table, pairwise_giou(b, a).T)
    assert table.dtype == np.float64
    assert (table <= pairwise_iou(a, b) + 1e-15).all()
    none = clockwise([])
    assert pairwise_giou(none, b).shape == (0, 300)
    assert elementwise_giou(none, none).shape == (0,)
    assert pairwise_giou(Polygons([]), Polygons([[[0, 0], [1, 0], [0, 1]], []])).shape == (0, 2)
    radians = b.convert(unit="radians", sense="counterclockwise")
    assert_allclose(pairwise_giou(a, radians), table, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="normalized and absolute"):
        pairwise_giou(Polygons([[[0, 0], [1, 0], [0, 1]]]), Polygons([[[0, 0], [1, 0], [0, 1]]], normalized=True))
    with pytest.raises(ValueError, match="one length, got 300 and 2"):
        elementwise_giou(a, b[:2])
    with pytest.raises(ValueError, match="format and out are for upright boxes, not for RotatedBoxes"):
        pairwise_giou(a, b, format="xywh")
