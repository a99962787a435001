"""The structures beside those of Capybara: values on record, and the package where it is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import ioukit.compat.docsaidkit as D
from support.capybara import RECORDED_POLYGONS, capybara, measured_polygon, random_outlines

GROWN = ("grown", "shrunk", "grown_round", "grown_bevel")
BOXES = ("orientation", "min_box", "min_box_wh", "min_boxpoints")


def same_polygon(points: Any, theirs: dict[str, Any]) -> bool:
    """Asserts that our values are theirs. Returns whether the smallest box was one of several equally small ones."""
    ours = measured_polygon(D, points)
    for name in ("area", "arclength", "min_circle"):
        assert_allclose(ours[name], theirs[name], rtol=1e-4, atol=1e-4, err_msg=name)
    assert_array_equal(ours["hull"], theirs["hull"])
    for name in GROWN:
        assert_grown(ours[name], theirs[name])
    area, expected = (float(np.prod(values["min_box_wh"])) for values in (ours, theirs))
    assert_allclose(area, expected, rtol=1e-3, atol=1e-3)
    try:
        for name in BOXES:
            assert_allclose(ours[name], theirs[name], rtol=1e-3, atol=2e-3, err_msg=name)
    except AssertionError:
        return True
    return False


def assert_grown(ours: Any, theirs: Any) -> None:
    """Upstream leaves (0, 0) where no corner of the grown polygon is next to a point, and [[]] for nothing."""
    if theirs == [[]]:
        assert ours == []
        return
    moved = np.any(theirs, axis=1)
    assert np.shape(ours) == np.shape(theirs)
    assert_allclose(np.array(ours)[moved], np.array(theirs)[moved], rtol=1e-5, atol=2e-5)


def test_polygons_on_record() -> None:
    pytest.importorskip("shapely", reason="Shapely is not installed")
    assert len(RECORDED_POLYGONS) == 60
    several = [same_polygon(np.array(case["points"], np.float32), case) for case in RECORDED_POLYGONS]
    # All three boxes along the sides of a triangle have the same area.
    assert sum(several) <= 0.2 * len(several)


@pytest.fixture
def theirs() -> Any:
    module = capybara("capybara")
    if module is None:
        pytest.skip("capybara-docsaid is not installed")
    if tuple(int(part) for part in __import__("cv2").__version__.split(".")[:2]) >= (5, 0):
        pytest.skip("OpenCV 5 turns the angles of smallest boxes the other way")
    return module


@pytest.mark.parametrize("seed", range(4))
def test_polygons_beside_capybara(theirs: Any, seed: int) -> None:
    for points in random_outlines(100 + seed, 200):
        same_polygon(points, measured_polygon(theirs, points))


def test_measures_of_many_polygons_beside_capybara(theirs: Any) -> None:
    outlines = [np.rint(points * 8) for points in random_outlines(5, 200)]
    own, other = D.Polygons(outlines), theirs.Polygons(outlines)
    # Upstream adds 1e-5 to the area before it divides.
    for name, rtol in {"area": 1e-5, "arclength": 1e-5, "centroid": 1e-3, "boundingbox": 0, "solidity": 1e-4}.items():
        rows = own.area > 1
        ours, expected = getattr(own, name), getattr(other, name)
        assert ours.shape == expected.shape
        assert ours.dtype == expected.dtype
        assert_allclose(ours[rows], expected[rows], rtol=rtol, err_msg=name)
    for name in ("orientation", "min_box_wh", "extent"):
        ours, expected = getattr(own, name), getattr(other, name)
        assert (ours.shape, ours.dtype) == (expected.shape, expected.dtype)
    for threshold in (3, 5):
        assert_array_equal(own.is_empty(threshold), other.is_empty(threshold))
        assert own.is_empty(threshold).dtype == other.is_empty(threshold).dtype
    assert repr(own[:3]) == repr(other[:3])
    assert repr(own[0].boundingbox) == repr(other[0].boundingbox)
    assert repr(own.to_boxes()) == repr(other.to_boxes())
