"""Shapes of annotation tools against other ways to compute the same: dense samples, and the regions of ioukit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ioukit import DatasetError
from ioukit.datasets.formats import drawn_shapes
from ioukit.datasets.formats.drawn_shapes import segmentation_area
from ioukit.datasets.formats.written_rows import far_end
from ioukit.regions import Masks, Polygons, RotatedBoxes

SIDES = st.floats(0.5, 500)
PLACES = st.floats(-1000, 1000)


@given(PLACES, PLACES, SIDES, SIDES, st.floats(-720, 720))
def test_the_box_of_an_ellipse_is_around_all_its_points(
    cx: float, cy: float, rx: float, ry: float, degrees: float
) -> None:
    drawn = drawn_shapes.ellipse((cx, cy), (rx, ry), degrees)
    t, turn = np.linspace(0, 2 * np.pi, 20_001), math.radians(degrees)
    x = cx + rx * np.cos(t) * math.cos(turn) - ry * np.sin(t) * math.sin(turn)
    y = cy + rx * np.cos(t) * math.sin(turn) + ry * np.sin(t) * math.cos(turn)
    expected = [x.min(), y.min(), np.ptp(x), np.ptp(y)]
    np.testing.assert_allclose(drawn.box, expected, atol=1e-4)
    points = np.reshape(drawn.segmentation[0], (-1, 2))
    back = (points - [cx, cy]) @ np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
    np.testing.assert_allclose((back[:, 0] / rx) ** 2 + (back[:, 1] / ry) ** 2, 1, atol=1e-6)
    assert drawn.area == pytest.approx(math.pi * rx * ry, rel=2e-3)
    assert drawn.area == pytest.approx(segmentation_area(drawn.segmentation))


@given(PLACES, PLACES, SIDES, SIDES, st.floats(-720, 720))
def test_the_box_of_a_turned_rectangle_is_that_of_rotated_boxes(
    x: float, y: float, width: float, height: float, degrees: float
) -> None:
    drawn = drawn_shapes.turned_rectangle([x, y, width, height], degrees)
    given_box = [[x + width / 2, y + height / 2, width, height, degrees]]
    expected = RotatedBoxes(given_box, unit="degrees", sense="clockwise").to_boxes().convert("xywh").numpy()[0]
    np.testing.assert_allclose(drawn.box, expected, atol=1e-9)
    assert drawn.rotated is not None
    assert -math.pi <= drawn.rotated[4] <= math.pi


@given(st.lists(st.tuples(PLACES, PLACES), min_size=3, max_size=3, unique=True))
def test_the_area_of_a_triangle_is_that_of_polygons(points: list[tuple[float, float]]) -> None:
    drawn = drawn_shapes.polygon(points, "here")
    first, second, third = (np.array(point) for point in points)
    (ax, ay), (bx, by) = second - first, third - first
    assert drawn.area == pytest.approx(abs(ax * by - ay * bx) / 2, rel=1e-9, abs=1e-9)
    if drawn.area is not None and drawn.area > 1e-3:
        assert drawn.area == pytest.approx(Polygons([np.array(points)]).area[0], rel=1e-9)


@given(arrays(np.bool_, st.tuples(st.integers(1, 6), st.integers(1, 6))), st.integers(0, 3), st.integers(0, 3))
def test_a_part_of_an_image_is_placed_as_masks_place_it(part: Any, left: int, top: int) -> None:
    image = np.zeros((top + part.shape[0] + 1, left + part.shape[1] + 2), bool)
    image[top : top + part.shape[0], left : left + part.shape[1]] = part
    size = (float(image.shape[1]), float(image.shape[0]))
    edges = np.flatnonzero(np.diff(part.ravel())) + 1
    runs = np.diff([0, *edges, part.size]).tolist()
    runs = [0, *runs] if part.ravel()[0] else runs
    if not part.any():
        with pytest.raises(DatasetError, match="expected a mask with at least one pixel"):
            drawn_shapes.mask(part, (left, top), size, "here")
        return
    masks = Masks.from_arrays(image[None])
    for drawn in (
        drawn_shapes.mask(part, (left, top), size, "here"),
        drawn_shapes.mask_of_runs(runs, (left, top), part.shape[::-1], size, "here"),
        drawn_shapes.mask_of_rle(masks.to_rle(compressed=False)[0], "here"),
    ):
        assert drawn.segmentation == masks.to_rle()[0]
        assert drawn.box == masks.to_boxes().convert("xywh").numpy()[0].tolist()
        assert drawn.area == masks.area[0] == segmentation_area(drawn.segmentation)


def test_masks_that_are_too_large_are_refused_before_they_are_made() -> None:
    with pytest.raises(DatasetError, match="expected a mask of at most 268,435,456 pixels, found 1e"):
        drawn_shapes.mask_of_runs([10**12], (0, 0), (10**6, 10**6), (1e6, 1e6), "here")


@given(PLACES, SIDES | st.floats(0, 1e-3))
def test_a_far_end_gives_the_length_again_if_a_number_does(low: float, length: float) -> None:
    end = far_end(low, length)
    assert abs(end - (low + length)) <= math.ulp(end)
    near = [math.nextafter(end, toward) for toward in (-math.inf, math.inf)]
    assert end - low == length or all(one - low != length for one in near)
