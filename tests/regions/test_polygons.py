"""`Polygon` and `Polygons`: which data they accept and refuse, and what their methods return."""

from __future__ import annotations

import copy
import json
import math
import pickle
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from ioukit import Boxes, Polygon, Polygons, diagnose, is_inside_box, order_points_clockwise
from support.paths import ROOT
from support.polygon_oracles import exact_area, exact_ring

CAPYBARA = json.loads((ROOT / "tests/data/overlap/capybara_structures.json").read_text())
COCO = json.loads((ROOT / "tests/data/coco_val2014_100/instances_val2014_100.json").read_text())

SQUARE = [[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]]
TRIANGLE = [[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]]
ARROW = [[0.0, 0.0], [4.0, 2.0], [0.0, 4.0], [1.0, 2.0]]  # concave
BOW_TIE = [[0.0, 0.0], [4.0, 4.0], [4.0, 0.0], [0.0, 4.0]]
LINE = [[0.0, 0.0], [2.0, 2.0], [4.0, 4.0]]
COMB = [[0, 0], [6, 0], [6, 4], [4, 4], [4, 1], [2, 1], [2, 4], [0, 4]]  # two teeth down

rings = st.lists(st.tuples(*[st.integers(-4, 4)] * 2), min_size=3, max_size=8).map(lambda p: np.array(p, np.float64))


class TestConstruction:
    @pytest.mark.parametrize(
        "data",
        [
            [SQUARE, TRIANGLE],
            (np.array(SQUARE, np.float32), tuple(map(tuple, TRIANGLE))),
            [np.array(SQUARE, np.int16), np.array(TRIANGLE, ">f8")],
            [Polygon(SQUARE), TRIANGLE],
            [np.array(SQUARE)[:, None], TRIANGLE],
        ],
    )
    def test_polygons_of_any_length(self, data: Any) -> None:
        polygons = Polygons(data)
        assert len(polygons) == 2
        assert polygons.to_list() == [SQUARE, TRIANGLE]
        assert polygons.vertices.dtype == np.float64
        assert polygons.vertices.dtype.isnative
        assert_array_equal(polygons.offsets, [0, 4, 7])
        assert_array_equal(polygons.num_points, [4, 3])

    def test_one_array(self) -> None:
        assert Polygons(np.array([SQUARE, SQUARE])) == Polygons([SQUARE, SQUARE])
        assert Polygons(np.zeros((0, 4, 2))) == Polygons([])

    def test_nothing(self) -> None:
        none = Polygons([])
        assert len(none) == 0
        for name in ("area", "perimeter", "extent", "orientation", "is_convex", "is_simple", "is_empty", "solidity"):
            assert getattr(none, name).shape == (0,)
        assert none.centroid.shape == (0, 2)
        assert none.min_area_corners().shape == (0, 4, 2)
        assert len(none.to_boxes()) == len(none.min_area_boxes()) == len(none.convex_hull()) == 0
        assert none.to_list() == list(map(Polygon, none)) == none.points() == []
        assert none.clip(0, 0, 1, 1) == none.shift(1, 1) == none.scale(2) == none.clockwise() == none.drop_empty()

    def test_an_empty_polygon(self) -> None:
        polygons = Polygons([[], SQUARE])
        assert_array_equal(polygons.area, [0, 16])
        assert_array_equal(polygons.is_empty, [True, False])
        assert_array_equal(polygons.is_valid, [False, True])
        assert np.isnan(polygons.centroid[0]).all()
        assert_array_equal(polygons.extent, [math.nan, 1])
        assert_array_equal(polygons.aspect_ratio, [math.nan, 1])
        assert polygons.drop_empty() == Polygons([SQUARE])
        for get in (polygons.to_boxes, polygons.min_area_boxes):
            with pytest.raises(ValueError, match=r"polygons\[0\] has no points"):
                get()

    def test_other_forms(self) -> None:
        flat = [[0, 0, 4, 0, 0, 3]]
        assert Polygons.from_flat(flat) == Polygons([TRIANGLE])
        assert Polygons.from_flat(flat).to_flat() == flat
        assert Polygon.from_flat(flat[0]).to_flat() == flat[0]
        assert Polygons.from_ragged(SQUARE + TRIANGLE, [0, 4, 7]) == Polygons([SQUARE, TRIANGLE])
        assert Polygons(Polygons([SQUARE], normalized=True)).normalized

    def test_boxes_and_back(self) -> None:
        boxes = Boxes([[1, 2, 3, 5], [0, 0, 0, 4]], "xywh", normalized=True)
        polygons = Polygons.from_boxes(boxes)
        assert polygons.to_list()[0] == [[1, 2], [4, 2], [4, 7], [1, 7]]
        assert polygons.to_boxes() == boxes.convert("xyxy")
        assert_array_equal(polygons.is_empty, [False, True])
        for fmt, case in CAPYBARA["box_by_mode"].items():
            box = Boxes([case["input"]], fmt.lower())
            assert Polygons.from_boxes(box).to_list() == [case["to_polygon"]]
        assert len(Polygons.from_boxes(np.zeros((0, 4)))) == 0

    def test_later_changes_of_the_array_do_not_show(self) -> None:
        points = np.array(SQUARE)
        polygon, polygons = Polygon(points), Polygons([points])
        points[:] = 0
        polygon.numpy()[:] = 0
        assert polygon.to_list() == SQUARE
        assert polygons.to_list() == [SQUARE]
        for array in (polygon.points, polygons.vertices, polygons.offsets, polygons.points()[0], polygons.is_convex):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0

    @pytest.mark.parametrize(
        ("data", "error", "message"),
        [
            ([SQUARE, SQUARE[:2]], ValueError, r"polygons\[1\] must have at least 3 points, .* got 2"),
            ([SQUARE, [[0, 0], [1, math.nan], [2, 0]]], ValueError, r"polygons\[1\]\[1\] is \[1.0, nan\]: .* finite"),
            ([[[0, 0], [1, 0], [math.inf, 0]]], ValueError, r"polygons\[0\]\[2\] .* finite"),
            ([[[0, 0], [1, 0], [1e151, 0]]], ValueError, r"beyond 2\*\*500"),
            ([np.zeros((3, 3))], ValueError, r"polygons\[0\] must have shape \(K, 2\), got \(3, 3\)"),
            (np.zeros((4, 2)), ValueError, r"\(N, K, 2\), got \(4, 2\); one polygon is Polygon"),
            (SQUARE, ValueError, r"polygons\[0\] must have shape \(K, 2\), got \(2,\)"),
            ([[0, 0, 1, 1, 2, 0]], ValueError, "from_flat"),
            ([["a", "b", "c"]], TypeError, r"polygons\[0\] must hold"),
            (Polygon(SQUARE), TypeError, r"Polygons\(\[polygon\]\)"),
            ("abc", TypeError, "must be a list of points or an array"),
            ([None], TypeError, r"polygons\[0\] must be points"),
            ([Polygon(SQUARE, normalized=True), SQUARE], ValueError, "normalized and absolute"),
            ([Polygon(SQUARE, normalized=True), Polygon(SQUARE)], ValueError, "normalized and absolute"),
        ],
    )
    def test_refused(self, data: Any, error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=message):
            Polygons(data)

    def test_refused_of_one(self) -> None:
        with pytest.raises(ValueError, match="points must have at least 3 points"):
            Polygon([[0, 0], [1, 1]])
        with pytest.raises(ValueError, match=r"points\[1\] is \[1.0, nan\]"):
            Polygon([[0.0, 0.0], [1.0, math.nan], [2.0, 0.0]])
        with pytest.raises(ValueError, match="a Polygon is one, got Polygons of 2"):
            Polygon(Polygons([SQUARE, SQUARE]))
        with pytest.raises(ValueError, match=r"x and y in turn.*shape \(5,\)"):
            Polygon.from_flat([0, 0, 1, 1, 2])
        for offsets in ([0, 3], [1, 4], [0, 5, 4], []):
            with pytest.raises(ValueError, match="offsets must rise from 0 to the number of vertices, 4"):
                Polygons.from_ragged(SQUARE, offsets)

    def test_concat(self) -> None:
        parts = Polygons([SQUARE]), Polygons([]), Polygons([TRIANGLE, ARROW])
        assert Polygons.concat(parts) == Polygons([SQUARE, TRIANGLE, ARROW])
        with pytest.raises(ValueError, match="normalized and absolute"):
            Polygons.concat([parts[0], Polygons([SQUARE], normalized=True)])
        with pytest.raises(ValueError, match="at least one"):
            Polygons.concat([])
        with pytest.raises(TypeError, match=r"polygons\[1\] must be Polygons"):
            Polygons.concat([parts[0], SQUARE])  # type: ignore[list-item]


class TestValue:
    def test_index(self) -> None:
        polygons = Polygons([SQUARE, [], TRIANGLE, ARROW])
        assert polygons[0] == Polygons([SQUARE])
        assert polygons[-1] == Polygons([ARROW])
        assert polygons[[2, 0, 2]] == Polygons([TRIANGLE, SQUARE, TRIANGLE])
        assert polygons[polygons.area > 5] == Polygons([SQUARE, TRIANGLE, ARROW])[[0, 1, 2]]
        assert polygons[::-2] == Polygons([ARROW, []])
        assert polygons[[]] == Polygons([])
        assert [len(one) for one in polygons] == [1, 1, 1, 1]
        with pytest.raises(IndexError):
            polygons[4]
        with pytest.raises(TypeError, match="not an array"):
            np.asarray(polygons)

    def test_equality_and_hash(self) -> None:
        one = Polygons([SQUARE, TRIANGLE])
        same = Polygons([np.array(SQUARE) * -1 * -1, TRIANGLE])
        assert one == same
        assert hash(one) == hash(same)
        assert hash(Polygons([[[-0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]])) == hash(
            Polygons([[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]])
        )
        others = [Polygons([TRIANGLE, SQUARE]), Polygons([SQUARE]), Polygons([SQUARE, TRIANGLE], normalized=True), 3]
        assert all(one != other for other in others)
        assert Polygons([SQUARE[1:] + SQUARE[:1]]) != Polygons([SQUARE])  # the same region, other points
        assert Polygon(SQUARE) == Polygon(SQUARE)
        assert len({Polygon(SQUARE), Polygon(SQUARE), Polygon(TRIANGLE)}) == 2
        assert Polygon(SQUARE) != one[0]

    @pytest.mark.parametrize("value", [Polygons([SQUARE, [], ARROW], normalized=True), Polygon(ARROW, normalized=True)])
    def test_pickle_and_copy(self, value: Any) -> None:
        for again in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
            assert again == value
            assert again.normalized
            array = again.points if isinstance(again, Polygon) else again.vertices
            assert not array.flags.writeable

    def test_repr(self) -> None:
        assert eval(repr(Polygons([SQUARE, []], normalized=True))) == Polygons([SQUARE, []], normalized=True)
        assert eval(repr(Polygon(ARROW))) == Polygon(ARROW)
        assert repr(Polygons([SQUARE] * 9)) == "<Polygons: 9 of 36 points>"


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


class TestChange:
    def test_shift_scale_units(self) -> None:
        polygons = Polygons([SQUARE, TRIANGLE])
        assert polygons.shift(1, 2).to_boxes().to_list() == [[1, 2, 5, 6], [1, 2, 5, 5]]
        assert polygons.scale(2, 0.5)[0] == Polygons([[[-2, 1], [6, 1], [6, 3], [-2, 3]]])
        assert_allclose(polygons.scale(3).area, polygons.area * 9)
        assert_allclose(polygons.scale(3).centroid, polygons.centroid)
        relative = polygons.normalize(8, 4)
        assert relative.normalized
        assert relative.denormalize(8, 4) == polygons
        with pytest.raises(ValueError, match="already normalized"):
            relative.normalize(8, 4)
        with pytest.raises(ValueError, match="already absolute"):
            polygons.denormalize(8, 4)
        with pytest.raises(ValueError, match="factors must not be negative"):
            polygons.scale(-1)
        with pytest.raises(ValueError, match="dx must be finite"):
            polygons.shift(math.nan, 0)
        for keeps in (relative.shift(1, 1), relative.scale(2), relative[:1], relative.clip(0, 0, 1, 1)):
            assert keeps.normalized
        assert Polygon(SQUARE, normalized=True).shift(1, 1).normalized

    def test_clip_convex(self) -> None:
        polygons = Polygons([SQUARE, np.array(SQUARE) + 9, SQUARE])
        clipped = polygons.clip(2, 1, 9, math.inf)
        assert clipped.area.tolist() == [6, 0, 6]
        assert clipped[0].to_boxes().to_list() == [[2, 1, 4, 4]]
        assert clipped.to_list()[1] == []
        assert polygons.clip(-9, -9, 99, 99) == polygons
        assert polygons.clip(-math.inf, -math.inf, math.inf, math.inf) == polygons
        assert len(Polygon(SQUARE).clip(4, 0, 9, 9)) == 0
        with pytest.raises(ValueError, match="xmin <= xmax"):
            polygons.clip(2, 0, 1, 1)

    @given(rings, st.tuples(*[st.integers(-4, 4)] * 4))
    def test_clip_as_shapely(self, ring: Any, window: Any) -> None:
        shapely = pytest.importorskip("shapely")
        x, y = sorted(window[:2]), sorted(window[2:])
        polygon, theirs = Polygon(ring), shapely.Polygon(ring)
        if not theirs.is_valid:
            return
        parts = polygon.clip(x[0], y[0], x[1], y[1])
        expected = shapely.intersection(theirs, shapely.box(x[0], y[0], x[1], y[1]))
        assert float(parts.area.sum()) == pytest.approx(expected.area, abs=1e-12)
        assert parts.is_valid.all()
        if len(parts) <= 1:
            assert float(Polygons([ring]).clip(x[0], y[0], x[1], y[1]).area[0]) == parts.area.sum()

    def test_clip_in_parts(self) -> None:
        pytest.importorskip("shapely")
        comb = Polygon(COMB)
        parts = comb.clip(0, 2, 6, 4)
        assert sorted(parts.area) == [4, 4]
        with pytest.raises(ValueError, match=r"polygons\[1\] falls into 2 parts by clip.*Polygon.clip gives them all"):
            Polygons([SQUARE, COMB]).clip(0, 2, 6, 4)
        assert Polygons([SQUARE, COMB]).clip(0, 2, 6, 4, parts="largest").area.tolist() == [8, 4]
        with pytest.raises(ValueError, match="unknown parts 'all'"):
            Polygons([COMB]).clip(0, 2, 6, 4, parts="all")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=r"polygons\[0\] crosses or touches itself: edge 0 .* meets edge 2"):
            Polygon(BOW_TIE).clip(1, 0, 3, 4)

    def test_buffer(self) -> None:
        pytest.importorskip("shapely")
        square = Polygon(SQUARE)
        assert square.buffer(1).area.tolist() == [36]
        assert square.buffer(-1).area.tolist() == [4]
        assert len(square.buffer(-2)) == 0
        assert square.buffer(1, join_style="bevel").area.tolist() == [34]
        assert 34 < square.buffer(1, join_style="round").area[0] < 36
        assert Polygons([SQUARE, SQUARE]).buffer(-3).to_list() == [[], []]
        assert square.buffer(1).is_clockwise.all()
        narrow: Any = [[0, 0], [4, 0], [4, 4], [1, 4], [1, 3.5], [3, 3.5], [3, 1], [1, 1], [1, 3], [0, 3]]
        with pytest.raises(ValueError, match=r"polygons\[0\] falls into 2 parts by buffer"):
            Polygons([narrow]).buffer(0.4)
        around = Polygon(narrow).buffer(0.4)  # encloses a hole, which is cut open
        shapely = sys.modules["shapely"]
        grown = shapely.Polygon(narrow).buffer(0.4, join_style="mitre")
        assert len(grown.interiors) == 1
        assert float(around.area.sum()) == pytest.approx(grown.area)
        assert around.is_valid.all()

    def test_make_valid(self) -> None:
        pytest.importorskip("shapely")
        polygons, rows = Polygons([SQUARE, BOW_TIE, LINE, ARROW, []]).make_valid()
        assert_array_equal(rows, [0, 1, 1, 3])
        assert_array_equal(polygons.area, [16, 4, 4, 6])
        assert polygons[0] == Polygons([SQUARE])

    def test_simplify(self) -> None:
        pytest.importorskip("shapely")
        noisy: Any = [[0, 0], [2, 0.01], [4, 0], [4, 4], [0, 4]]
        simpler = Polygon(noisy).simplify(0.1)
        assert len(simpler) == 4
        assert simpler.area == 16
        with pytest.raises(ValueError, match="must not be negative"):
            Polygon(noisy).simplify(-1)

    def test_without_shapely(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "shapely", None)
        assert Polygon(SQUARE).clip(1, 1, 2, 2).area.tolist() == [1]
        assert len(Polygons([ARROW]).clip(9, 9, 10, 10)) == 1
        for call in (
            lambda: Polygon(ARROW).clip(0, 0, 2, 2),
            lambda: Polygon(SQUARE).buffer(1),
            lambda: Polygon(BOW_TIE).make_valid(),
            lambda: Polygon(SQUARE).simplify(1),
        ):
            with pytest.raises(ModuleNotFoundError, match=r"needs shapely: pip install 'ioukit\[polygons\]'"):
                call()


class TestDiagnosis:
    def test_findings(self) -> None:
        rows: list[Any] = [
            BOW_TIE,
            [*TRIANGLE, TRIANGLE[0]],
            [[0, 0], [1, 0], [0, 0]],
            LINE,
            SQUARE[::-1],
            [],
            SQUARE,
            SQUARE,
        ]
        report = diagnose(Polygons([*rows, np.array(SQUARE) + 50]), image_size=(4, 3))
        assert report.num_boxes == 9
        found = {finding.code: list(finding.rows) for finding in report}
        assert found == {
            "no_points": [5],
            "too_few_points": [2],
            "zero_area": [3],
            "self_crossing": [0],
            "repeated_points": [1],
            "mixed_orientation": [4],
            "wholly_outside": [2, 8],
            "partly_outside": [0, 3, 4, 6, 7],
            "duplicate": [7],
        }
        assert str(report).startswith("9 polygons: 9 findings\nwarning no_points")
        assert "such as edges 0 and 2 in row 0" in str(report)
        assert report.to_dict()["findings"][0]["count"] == 1

    def test_units(self) -> None:
        def codes(polygons: Polygons, **options: Any) -> list[str]:
            return [finding.code for finding in diagnose(polygons, **options)]

        small = np.array(SQUARE) / 5
        assert codes(Polygons([small])) == ["normalized_not_declared"]
        assert codes(Polygons([small], normalized=True)) == []
        assert codes(Polygons([SQUARE], normalized=True)) == ["not_normalized"]
        assert codes(Polygons([SQUARE])) == []
        assert codes(Polygons([np.array(SQUARE) - 1])) == ["negative"]
        assert codes(Polygons([])) == []
        with pytest.raises(ValueError, match="width must be positive"):
            codes(Polygons([SQUARE]), image_size=(0, 1))


class TestPoints:
    def test_order_of_capybara(self) -> None:
        for case in CAPYBARA["order_points_clockwise"]:
            assert order_points_clockwise(case["points"]).tolist() == case["order"]

    @given(st.permutations(range(4)), st.sampled_from(["square", "diamond", "thin"]), st.integers(0, 3))
    def test_any_order_comes_to_one(self, order: Any, kind: str, where: int) -> None:
        shape = {
            "square": SQUARE,
            "diamond": [[5.0, 0.0], [10.0, 5.0], [5.0, 10.0], [0.0, 5.0]],
            "thin": [[0.0, 1.0], [9.0, 0.0], [9.5, 0.5], [0.5, 1.5]],
        }[kind]
        assert order_points_clockwise(np.array(shape)[order]).tolist() == shape
        first = order_points_clockwise(np.array(shape)[order], start="first")
        assert first[0].tolist() == shape[order[0]]
        assert Polygon(first).is_clockwise
        top = order_points_clockwise(Polygon(shape), start="top")
        assert top[0, 1] == min(y for _, y in shape)
        assert where < len(top)

    def test_refused(self) -> None:
        assert order_points_clockwise(np.zeros((0, 2))).shape == (0, 2)
        with pytest.raises(ValueError, match="unknown start 'left'"):
            order_points_clockwise(SQUARE, start="left")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=r"\(N, 2\), got \(8,\)"):
            order_points_clockwise(np.zeros(8))
        with pytest.raises(ValueError, match=r"points\[0\] is \[0\.0, nan\]: every coordinate must be finite"):
            order_points_clockwise([[0.0, math.nan], [1.0, 1.0], [2.0, 2.0]])

    def test_inside(self) -> None:
        points: Any = [[0, 0], [2, 1], [2.1, 1], [1, -0.1], [math.nan, 1]]
        expected = [True, True, False, False, False]
        assert is_inside_box(points, [0, 0, 2, 2]).tolist() == expected
        assert is_inside_box(points, Boxes([0, 0, 2, 2], "xywh")).tolist() == expected
        assert is_inside_box([[[0, 0, 2.0], [3, 0, 0.0]]], [0, 0, 2, 2]).tolist() == [[True, False]]
        assert is_inside_box(Polygon(SQUARE), [0, 0, 4, 3]).tolist() == [True, True, False, False]
        assert is_inside_box([1, 1], [0, 0, 2, 2])
        assert is_inside_box([], [0, 0, 2, 2]).shape == (0,)

    def test_inside_refused(self) -> None:
        with pytest.raises(ValueError, match=r"box must be one box, of 4 numbers, got shape \(2, 4\)"):
            is_inside_box(SQUARE, Boxes([[0, 0, 1, 1]] * 2))
        with pytest.raises(ValueError, match="inverted"):
            is_inside_box(SQUARE, [2, 0, 1, 1])
        with pytest.raises(ValueError, match=r"points must have shape .* got \(4,\)"):
            is_inside_box([0, 0, 1, 1], [0, 0, 1, 1])
        with pytest.raises(ValueError, match="one is normalized"):
            is_inside_box(Polygon(SQUARE), Boxes([0, 0, 1, 1], normalized=True))
