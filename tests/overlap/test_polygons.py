"""Overlaps of polygons: exact values, difficult positions, every kind of pair."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import ioukit
from ioukit import Boxes, Polygon, Polygons, elementwise_iou, pairwise_iou, polygon_iou
from ioukit.overlap.engines import polygons as engine
from support.capybara import CAPYBARA
from support.paths import ROOT
from support.polygon_oracles import KINDS, convex_pair, exact_iou

POLYGON_IOU = CAPYBARA["polygon_iou"]
COCO = json.loads((ROOT / "tests/data/coco_val2014_100/instances_val2014_100.json").read_text())

SQUARE = [[0, 0], [4, 0], [4, 4], [0, 4]]
ARROW = [[0, 0], [4, 2], [0, 4], [1, 2]]  # concave, of area 6
BOW_TIE = [[0, 0], [4, 4], [4, 0], [0, 4]]
LINE = [[0, 0], [2, 2], [4, 4]]
TOUCHING = [[0, 0], [4, 0], [2, 2], [4, 4], [0, 4], [2, 2]]  # two triangles that share a corner, of area 8
MEASURES = ("intersection", "iou", "ioa", "iom", "jaccard_distance", "tiou")


def real_polygons() -> Polygons:
    return Polygons.from_flat([r for a in COCO["annotations"] if not a["iscrowd"] for r in a["segmentation"]])


class TestConvex:
    @pytest.mark.parametrize("kind", KINDS)
    def test_exact(self, kind: str) -> None:
        rng = np.random.default_rng(7)
        pairs = [convex_pair(rng, kind) for _ in range(100)]
        first, second = (Polygons([pair[side] for pair in pairs]) for side in (0, 1))
        assert first.is_convex.all()
        expected = [exact_iou(*pair) for pair in pairs]
        assert_allclose(elementwise_iou(first, second), expected, rtol=0, atol=1e-13)
        assert_array_equal(elementwise_iou(second, first), elementwise_iou(first, second))
        assert (max(expected) > 1e-6) == (kind not in ("edge", "apart"))

    def test_shapely_agrees(self) -> None:
        shapely = pytest.importorskip("shapely")
        rng = np.random.default_rng(8)
        pairs = [convex_pair(rng, KINDS[k % 2 * 2]) for k in range(3000)]  # free, corner
        first, second = (Polygons([pair[side] for pair in pairs]) for side in (0, 1))
        theirs = [np.array([shapely.Polygon(p) for p in one.points()]) for one in (first, second)]
        expected = shapely.area(shapely.intersection(*theirs)) / shapely.area(shapely.union(*theirs))
        assert_allclose(elementwise_iou(first, second), expected, rtol=0, atol=1e-12)

    def test_every_function(self) -> None:
        a = Polygons([SQUARE, [[2, 0], [6, 0], [6, 4], [2, 4]]])
        b = Polygons([[[1, 0], [4, 0], [4, 4], [1, 4]], [[9, 9], [9, 8], [8, 9]], LINE, []])
        boxes = Boxes([[0, 0, 4, 4], [2, 0, 6, 4]], dtype=np.float64), Boxes([[1, 0, 4, 4]], dtype=np.float64)
        for name in MEASURES:
            values = getattr(ioukit, f"pairwise_{name}")(a, b)
            assert values.shape == (2, 4)
            assert values.dtype == np.float64
            assert_allclose(values[:, :1], getattr(ioukit, f"pairwise_{name}")(*boxes))
            assert_array_equal(values[:, 1:], 1 if name == "jaccard_distance" else 0)
            assert_array_equal(getattr(ioukit, f"elementwise_{name}")(a, b[:2]), values[[0, 1], [0, 1]])
            assert_array_equal(getattr(ioukit, f"elementwise_{name}")(a[0], b), values[0])
        assert ioukit.pairwise_ioa(a, b, of="first")[0, 0] == 0.75
        assert pairwise_iou(Polygons([]), b).shape == (0, 4)
        with pytest.raises(TypeError, match="diou is defined for upright boxes; for Polygons"):
            ioukit.pairwise_diou(a, b)
        with pytest.raises(TypeError, match="both sets must be of one kind, got Polygons and Boxes"):
            pairwise_iou(a, boxes[0])
        with pytest.raises(ValueError, match="normalized and absolute"):
            pairwise_iou(a, Polygons([SQUARE], normalized=True))

    def test_threads_change_nothing(self) -> None:
        rng = np.random.default_rng(9)
        pairs = [convex_pair(rng, "free") for _ in range(80)]
        first, second = (Polygons([pair[side] for pair in pairs]) for side in (0, 1))
        one = pairwise_iou(first, second, threads=1)
        assert_array_equal(pairwise_iou(first, second, threads=3), one)
        assert_array_equal(np.diagonal(one), elementwise_iou(first, second))
        rows, columns = np.nonzero(one)
        assert_array_equal(engine.pairs("iou", first, second, rows, columns, 1), one[rows, columns])


class TestConcave:
    def test_in_the_head(self) -> None:
        polygons = Polygons([SQUARE, ARROW, ARROW[::-1], LINE, []])
        expected = np.zeros((5, 5))
        expected[:3, :3] = [[16, 6, 6], [6, 6, 6], [6, 6, 6]]
        assert_allclose(ioukit.pairwise_intersection(polygons, polygons), expected, atol=1e-15)
        assert_allclose(np.diagonal(pairwise_iou(polygons, polygons)), [1, 1, 1, 0, 0])
        assert_allclose(ioukit.pairwise_ioa(polygons, polygons)[0], [1, 1, 1, 0, 0])
        assert_allclose(ioukit.pairwise_iom(polygons, polygons)[1], [1, 1, 1, 0, 0])
        assert_allclose(ioukit.pairwise_jaccard_distance(polygons, polygons)[0], [0, 10 / 16, 10 / 16, 1, 1])
        far = Polygons([np.array(ARROW) + 10, ARROW])
        for name in MEASURES:
            nothing = 1 if name == "jaccard_distance" else 0
            assert_array_equal(getattr(ioukit, f"pairwise_{name}")(polygons, far)[:, 0], nothing)

    def test_exact(self) -> None:
        """A star around a point against convex polygons, in rational arithmetic."""
        rng = np.random.default_rng(10)
        for kind in ("free", "edge", "corner", "inside", "parallel"):
            for _ in range(30):
                convex, other = convex_pair(rng, kind)
                middle = other.mean(axis=0)
                star = middle + (other - middle) * rng.uniform(0.3, 1, (len(other), 1))
                assert polygon_iou(star, convex) == pytest.approx(exact_iou(star, convex), abs=1e-13)

    def test_real_polygons(self) -> None:
        shapely = pytest.importorskip("shapely")
        polygons = real_polygons()[::6]
        assert 0 < polygons.is_convex.sum() < len(polygons)
        drawn = np.array([shapely.make_valid(shapely.Polygon(points)) for points in polygons.points()])
        areas = shapely.area(drawn)
        # A copy: shapely locks both, and cannot unlock views beside NumPy 1.
        shared = shapely.area(shapely.intersection(drawn[:, None], drawn.copy()))
        values = pairwise_iou(polygons, polygons)
        assert_allclose(values, shared / (areas[:, None] + areas - shared), atol=1e-13)
        assert_array_equal(values, values.T)
        assert_array_equal(np.diagonal(values), 1)
        rows, columns = np.nonzero(values)
        assert_array_equal(engine.pairs("iou", polygons, polygons, rows, columns, 1), values[rows, columns])
        assert_array_equal(elementwise_iou(polygons[rows], polygons[columns]), values[rows, columns])
        joined = ioukit.overlap_join(polygons, polygons, min_iou=0.2)
        assert_array_equal(joined.to_pairs(), np.argwhere(values >= 0.2))
        assert_array_equal(joined.values, values[values >= 0.2])
        convex = polygons[polygons.is_convex]
        assert_array_equal(pairwise_iou(convex, polygons), values[polygons.is_convex])

    def test_a_path_that_touches_itself(self) -> None:
        """Annotators click points twice; the enclosed region is clear."""
        assert not Polygon(TOUCHING).is_simple
        assert polygon_iou(TOUCHING, SQUARE) == pytest.approx(0.5)
        assert polygon_iou(TOUCHING, TOUCHING) == pytest.approx(1)
        touching = real_polygons()
        touching = touching[~touching.is_simple]
        assert len(touching) == 2
        assert_allclose(elementwise_iou(touching, touching), 1)

    def test_a_path_that_crosses_itself(self) -> None:
        pytest.importorskip("shapely")
        says = r"boxes2\[1\] crosses or touches itself: edge 0 \[0.0, 0.0\] -> \[4.0, 4.0\] meets edge 2 .*make_valid"
        for function in (pairwise_iou, elementwise_iou):
            with pytest.raises(ValueError, match=says):
                function(Polygons([SQUARE, SQUARE]), Polygons([ARROW, BOW_TIE]))
        with pytest.raises(ValueError, match=r"polygon1 crosses or touches itself"):
            polygon_iou(BOW_TIE, SQUARE)
        assert ioukit.pairwise_ioa(Polygons([SQUARE]), Polygon(BOW_TIE).make_valid()).tolist() == [[1, 1]]

    @given(st.lists(st.tuples(*[st.integers(-4, 4)] * 2), min_size=3, max_size=8))
    def test_what_is_measured_is_gone_around_once(self, ring: Any) -> None:
        """A path is refused if and only if it goes around a point twice or in both directions."""
        polygon, window = Polygon(ring), [[-9, -9], [9, -9], [9, 9], [-9, 9]]
        axes = np.meshgrid(np.arange(-4, 4, 0.5), np.arange(-4, 4, 0.5))
        probes = np.stack(axes, axis=-1).reshape(-1, 2) + np.array([0.11314159, 0.17271828])
        around = {winding(polygon.points, probe) for probe in probes} - {0}
        try:
            value = polygon_iou(polygon, window)
        except ValueError:
            assert not polygon.is_simple
            return
        assert value == pytest.approx(polygon.area / 18**2)
        assert around in (set(), {1}, {-1})

    def test_shapely_is_not_needed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "shapely", None)
        assert polygon_iou(ARROW, SQUARE) == 6 / 16
        assert polygon_iou(SQUARE, LINE) == 0
        assert polygon_iou(ARROW, [[4 - x, y] for x, y in ARROW]) == pytest.approx(3.2 / 8.8)
        with pytest.raises(ValueError, match="polygon2 crosses"):
            polygon_iou(ARROW, BOW_TIE)


def winding(points: Any, probe: Any) -> int:
    """The winding number of a path around a point that is not on it."""
    near = points - probe
    after = np.roll(near, -1, axis=0)
    cross, dot = near[:, 0] * after[:, 1] - near[:, 1] * after[:, 0], (near * after).sum(axis=1)
    return round(float(np.arctan2(cross, dot).sum()) / (2 * math.pi))


class TestPolygonIou:
    @pytest.mark.parametrize("name", ["squares", "degenerate", "disjoint"])
    def test_values_of_capybara(self, name: str) -> None:
        case = POLYGON_IOU[name]
        expected = case.get("polygon_iou", case.get("capybara"))
        assert polygon_iou(case["a"], case.get("b", case["a"])) == pytest.approx(expected, rel=1e-15)
        value = polygon_iou(Polygon(case["a"]), np.array(case.get("b", case["a"])))
        assert type(value) is float

    def test_the_bow_tie_of_capybara_is_an_error(self) -> None:
        """Capybara returns 0 with any polygon; the parts of the bow tie have IoU 0.5 with the square."""
        pytest.importorskip("shapely")
        case = POLYGON_IOU["bowtie"]
        assert case["capybara"] == 0
        with pytest.raises(ValueError, match="make_valid"):
            polygon_iou(case["a"], case["b"])
        parts = Polygon(case["a"]).make_valid()
        shared = ioukit.pairwise_intersection(parts, Polygons([case["b"]])).sum()
        assert shared / Polygon(case["b"]).area == 0.5

    @pytest.mark.parametrize(
        ("polygon", "message"),
        [
            ([[0, 0], [1, 1]], "at least 3 points"),
            ([[0, 0], [1, math.nan], [1, 1]], "must be finite"),
            (np.zeros((4, 3)), r"shape \(K, 2\), got \(4, 3\)"),
            (Polygon(SQUARE, normalized=True), "normalized and absolute"),
        ],
    )
    def test_refused(self, polygon: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            polygon_iou(polygon, SQUARE)
        with pytest.raises(ValueError, match=message):
            polygon_iou(SQUARE, polygon)
