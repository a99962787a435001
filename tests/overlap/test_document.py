"""The Jaccard index of document outlines."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioukit import Polygon, document_jaccard, polygon_iou
from support.capybara import CAPYBARA
from support.polygon_oracles import exact_document_jaccard

CASES = CAPYBARA["jaccard_index"]
SQUARE = [[0, 0], [10, 0], [10, 10], [0, 10]]
PAGE = [[1, 1], [9, 0], [10, 10], [0, 8]]

offsets = st.lists(st.floats(-20, 20), min_size=8, max_size=8).map(lambda x: np.array(x).reshape(4, 2))


@pytest.mark.parametrize("case", CASES)
def test_values_of_capybara(case: dict[str, Any]) -> None:
    """To 1e-7 only, because its corners are float32. Rational arithmetic shows which of both is right."""
    value = document_jaccard(case["pred"], case["gt"], case["image_size"])
    assert value == pytest.approx(case["jaccard"], abs=1e-7)
    assert value == pytest.approx(exact_document_jaccard(case["pred"], case["gt"], (100, 100)), abs=1e-15)


def test_it_is_not_the_iou_of_the_photograph() -> None:
    assert polygon_iou(SQUARE, PAGE) == pytest.approx(0.765)
    assert document_jaccard(SQUARE, PAGE) == pytest.approx(0.73060467092590)
    # The far half of a page on a table. The diagonals cross in the middle of the paper, at (50, 10) in the picture.
    page = np.array([[40, 0], [60, 0], [100, 60], [0, 60]])
    upper = np.array([[40, 0], [60, 0], [60 + 40 / 6, 10], [40 - 40 / 6, 10]])
    assert document_jaccard(upper, page) == pytest.approx(0.5)
    assert polygon_iou(upper, page) < 0.1


@given(offsets, st.floats(-1e6, 1e6), st.sampled_from([1e-6, 1.0, 1e6]))
def test_exact(moves: Any, shift: float, scale: float) -> None:
    gt = (np.array([[20.0, 10.0], [90, 25], [80, 95], [10, 80]]) + shift) * scale
    pred = gt + moves / 2 * scale
    if not Polygon(pred).is_simple:
        return
    value = document_jaccard(pred, gt)
    far = 1e-10 * max(1, abs(shift) / 100)
    assert value == pytest.approx(exact_document_jaccard(pred, gt, (3, 5)), abs=far)
    # The rectangle, the first corner and the direction of the corners do not matter.
    assert value == document_jaccard(pred, gt, (1000, 3))
    assert value == pytest.approx(document_jaccard(np.roll(pred, 1, axis=0), gt[::-1]), abs=far)


def test_the_same_and_the_apart() -> None:
    assert document_jaccard(PAGE, PAGE) == 1
    assert document_jaccard(PAGE[::-1], Polygon(PAGE), (10, 10)) == 1
    assert document_jaccard(np.array(PAGE) + np.array([11, 0]), PAGE) == 0
    assert document_jaccard([[1, 1], [9, 9], [9, 9], [1, 1]], PAGE) == 0  # no area
    assert document_jaccard([[1, 1], [9, 1], [9, 9], [8, 2]], PAGE) > 0  # concave, without Shapely


@pytest.mark.parametrize(
    ("pred", "gt", "size", "message"),
    [
        (SQUARE[:3], PAGE, (9, 9), r"pred must have 4 points, shape \(4, 2\), got \(3, 2\)"),
        (Polygon([*SQUARE, [-1, 5]]), PAGE, (9, 9), "pred must have 4 points, got 5"),
        (SQUARE, [*PAGE, [0, 0]], (9, 9), "gt must have 4 points"),
        (SQUARE, [[0, 0], [4, 1], [0, 4], [1, 1]], (9, 9), "gt must be a convex quadrilateral"),
        (SQUARE, [[0, 0], [9, 9], [9, 0], [0, 9]], (9, 9), "gt must be a convex quadrilateral"),
        (SQUARE, [[0, 0], [4, 0], [8, 0], [0, 8]], (9, 9), "no three of them on one line"),
        (SQUARE, [[0, 0], [0, 0], [8, 0], [0, 8]], (9, 9), "no three of them on one line"),
        (SQUARE, [[1, 1]] * 4, (9, 9), "gt must be a convex quadrilateral"),
        ([[0, 0], [9, 9], [9, 0], [0, 9]], PAGE, (9, 9), "pred crosses or touches itself: edge 0"),
        ([[math.nan, 0], *SQUARE[1:]], PAGE, (9, 9), "must be finite"),
        (SQUARE, PAGE, (0, 9), "height must be positive"),
        (SQUARE, PAGE, (9, -1), "width must be positive"),
        (Polygon(SQUARE, normalized=True), Polygon(PAGE), (9, 9), "normalized and absolute"),
    ],
)
def test_refused(pred: Any, gt: Any, size: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        document_jaccard(pred, gt, size)


def test_behind_the_horizon() -> None:
    """The sides of the page meet at y = 0, the horizon: nothing of the table is visible beyond it."""
    page = [[40, 5], [60, 5], [80, 15], [20, 15]]
    with pytest.raises(ValueError, match=r"pred\[0\] \[40.0, -1.0\] lies on or behind the horizon"):
        document_jaccard([[40, -1], [60, 5], [80, 15], [20, 15]], page)
    with pytest.raises(ValueError, match=r"pred\[1\] \[60.0, 0.0\] lies on"):
        document_jaccard([[40, 5], [60, 0], [80, 15], [20, 15]], page)
    assert 0 < document_jaccard([[40.0, 0.1], [60.0, 5.0], [80.0, 15.0], [20.0, 15.0]], page) < 1
