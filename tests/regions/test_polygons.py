"""`Polygon` and `Polygons`: which data they accept and refuse, and how they behave as values."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ioukit import Boxes, Polygon, Polygons, diagnose
from support.capybara import CAPYBARA
from support.polygon_cases import ARROW, BOW_TIE, LINE, SQUARE, TRIANGLE


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
