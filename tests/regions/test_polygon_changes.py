"""New polygons from polygons: shifted, scaled, clipped, grown, made valid, simplified."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from ioukit import Polygon, Polygons
from support.polygon_cases import ARROW, BOW_TIE, COMB, LINE, SQUARE, TRIANGLE, rings


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
