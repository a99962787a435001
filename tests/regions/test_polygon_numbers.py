"""What polygons measure: area, perimeter, centroid, hull, and where they cross or touch themselves."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal

from ioukit import Polygon, Polygons
from support.capybara import CAPYBARA
from support.paths import ROOT
from support.polygon_cases import ARROW, BOW_TIE, COMB, LINE, SQUARE, TRIANGLE, rings
from support.polygon_oracles import exact_area, exact_ring

COCO = json.loads((ROOT / "tests/data/coco_val2014_100/instances_val2014_100.json").read_text())


class TestNumbers:
    def test_in_the_head(self) -> None:
        polygons = Polygons([SQUARE, SQUARE[::-1], TRIANGLE, ARROW, LINE, BOW_TIE])
        assert_array_equal(polygons.area, [16, 16, 6, 6, 0, 0])
        assert_array_equal(polygons.signed_area, [16, -16, 6, 6, 0, 0])
        assert_array_equal(polygons.is_clockwise, [True, False, True, True, False, False])
        assert_array_equal(polygons.is_convex, [True, True, True, False, False, False])
        assert_array_equal(polygons.is_simple, [True, True, True, True, False, False])
        assert_array_equal(polygons.is_valid, [True, True, True, True, False, False])
        assert_allclose(polygons.perimeter[:3], [16, 16, 12])
        assert_allclose(polygons.centroid[[0, 2, 4]], np.array([[2, 2], [4 / 3, 1], [2, 2]]), rtol=1e-15)
        assert_allclose(polygons.extent[:4], [1, 1, 0.5, 6 / 16])
        assert_allclose(polygons.solidity[[0, 3]], [1, 6 / 8])
        assert_allclose(polygons.min_area_sides[[0, 4]], np.array([[4, 4], [math.hypot(4, 4), 0]]), atol=1e-15)
        assert_allclose(polygons.orientation[[0, 4]], [0, math.pi / 4])
        assert polygons.clockwise()[1] == Polygons([[SQUARE[3], *SQUARE[:3]]])

    def test_values_of_capybara(self) -> None:
        """Its centroid is biased by 1e-5, and its `boundingbox` counts pixels as OpenCV does. Ours are exact."""
        case = CAPYBARA["polygon"]["diamond"]
        diamond = Polygon(case["points"])
        assert diamond.area == case["area"]
        assert diamond.perimeter == pytest.approx(case["arclength"])
        assert diamond.to_boxes().to_list() == [case["boundingbox_upstream_test"]]
        assert diamond.min_area_sides == pytest.approx(case["min_box_wh"])
        assert math.degrees(diamond.orientation) == pytest.approx(case["orientation_upstream"])
        assert diamond.extent == case["extent"]
        assert diamond.centroid.tolist() == [5, 5]
        assert_allclose(diamond.centroid, case["centroid"], atol=1e-5)
        grown = CAPYBARA["polygon"]["scale_square"]
        pytest.importorskip("shapely")
        (part,) = Polygon(grown["points"]).buffer(grown["distance"]).to_list()
        assert sorted(part) == sorted(grown["expected"])
        box = CAPYBARA["polygon"]["to_box"]
        assert Polygon(box["points"]).to_boxes().to_list() == [box["xyxy"]]

    @given(rings)
    def test_area_is_exact_where_it_can_be(self, ring: Any) -> None:
        for shift in (0, 2.0**40):
            polygon = Polygon(ring + shift)
            assert polygon.area == abs(exact_area(exact_ring(ring)))

    @pytest.mark.parametrize("size", [1e-140, 1e-6, 1.0, 1e6, 1e149])
    def test_size_and_place_do_not_matter(self, size: float) -> None:
        polygon = Polygon(np.array(ARROW) * size)
        assert polygon.area == pytest.approx(6 * size**2, rel=1e-14)
        assert_allclose(polygon.centroid, Polygon(ARROW).centroid * size, rtol=1e-14)
        assert polygon.contact() is None
        assert not polygon.is_convex
        assert Polygon(np.array(SQUARE) * size).is_convex
        assert Polygon(np.array(BOW_TIE) * size).contact() == (0, 2)
        assert polygon.convex_hull().area == pytest.approx(8 * size**2)

    def test_far_away(self) -> None:
        polygon = Polygon(ARROW).shift(2.0**40, -(2.0**40))
        assert polygon.area == 6
        assert_allclose(polygon.centroid - [2.0**40, -(2.0**40)], Polygon(ARROW).centroid, atol=2.0**-12)

    @given(rings)
    def test_shapely_agrees(self, ring: Any) -> None:
        shapely = pytest.importorskip("shapely")
        ours, theirs = Polygon(ring), shapely.Polygon(ring)
        assert ours.is_valid == theirs.is_valid
        hull = ours.convex_hull()
        assert hull.area == theirs.convex_hull.area
        assert hull.is_convex == (hull.area > 0)
        if theirs.is_valid:
            assert_allclose(ours.centroid, theirs.centroid.coords[0], atol=1e-12)
            assert ours.perimeter == pytest.approx(theirs.length)
        if hull.area:
            assert math.prod(ours.min_area_sides) == pytest.approx(theirs.minimum_rotated_rectangle.area)
        mended = ours.make_valid()
        assert mended.is_valid.all()
        assert float(mended.area.sum()) == pytest.approx(shapely.make_valid(theirs).area)

    def test_rounding_makes_no_dents(self) -> None:
        rng = np.random.default_rng(1)
        for _ in range(200):
            a, b, c = rng.normal(size=(3, 2)) + rng.uniform(-1e6, 1e6, 2)
            part = rng.uniform()
            assert Polygon([a, a + part * (b - a), b, c]).is_convex
        assert not Polygon([[0.0, 0.0], [1.0, 1e-7], [2.0, 0.0], [1.0, 1.0]]).is_convex
        assert not Polygon([[math.cos(k * 0.8 * math.pi), math.sin(k * 0.8 * math.pi)] for k in range(5)]).is_convex

    def test_real_polygons(self) -> None:
        shapely = pytest.importorskip("shapely")
        flat = [ring for a in COCO["annotations"] if not a["iscrowd"] for ring in a["segmentation"]]
        polygons = Polygons.from_flat(flat)
        assert len(polygons) == 939
        theirs = [shapely.Polygon(points) for points in polygons.points()]
        assert_array_equal(polygons.is_simple, shapely.is_valid(theirs))
        assert_allclose(polygons.area, shapely.area(theirs), rtol=1e-11)
        assert_allclose(polygons.to_boxes().numpy(), shapely.bounds(theirs))
        assert polygons.to_flat() == flat
        corners = Polygons(polygons.min_area_corners())
        assert_allclose(corners.area, polygons.min_area_sides.prod(axis=1))
        assert_allclose(polygons.min_area_boxes().area, corners.area)
        assert_allclose(polygons.min_area_boxes().corners(), polygons.min_area_corners(), atol=1e-9)


class TestContact:
    @pytest.mark.parametrize(
        ("points", "edges"),
        [
            (BOW_TIE, (0, 2)),
            (LINE, (1, 2)),
            (COMB, None),
            ([[0, 0], [4, 0], [4, 4], [2, 0], [0, 4]], (0, 2)),  # a point on an edge
            ([[0, 0], [4, 0], [6, 0], [2, 0], [2, 4]], (0, 2)),  # back over itself
            ([[0, 0], [0, 0], [4, 4], [4, 0], [4, 0], [0, 4]], (1, 4)),  # repeated points make no edges
            ([[1, 1], [1, 1], [1, 1]], (0, 0)),
            ([], (0, 0)),
        ],
    )
    def test_edges(self, points: Any, edges: Any) -> None:
        assert Polygon(points).contact() == edges
        assert Polygons([SQUARE, points]).contact(1) == edges

    def test_a_hair_decides(self) -> None:
        """Exact arithmetic tells whether a corner is on an edge, or a unit in the last place above or below it."""
        for height, touches in ((np.nextafter(0.3, 1), False), (0.3, True), (np.nextafter(0.3, 0), True)):
            points = [[0.0, 0.3], [0.9, 0.3], [0.9, 1.0], [0.45, height], [0.0, 1.0]]
            assert (Polygon(points).contact() is not None) == touches
