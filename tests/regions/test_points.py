"""Points: their order around a quadrilateral, and which of them lie in a box."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioukit import Boxes, Polygon, is_inside_box, order_points_clockwise
from support.capybara import CAPYBARA
from support.polygon_cases import SQUARE


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
