"""`RotatedBoxes`: what its numbers mean, and what it refuses."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from ioukit import Boxes, RotatedBoxes, elementwise_iou

UNITS, SENSES = ("radians", "degrees"), ("clockwise", "counterclockwise")


def degrees(rows: Any, sense: Any = "clockwise", **more: Any) -> RotatedBoxes:
    return RotatedBoxes(rows, unit="degrees", sense=sense, **more)


rows = st.lists(
    st.tuples(
        st.floats(-100, 100),
        st.floats(-100, 100),
        st.floats(0.5, 50),
        st.floats(0.5, 50),
        st.sampled_from([0, 30, 45, 90, 180, -270]) | st.floats(-720, 720),
    ),
    max_size=5,
).map(lambda found: np.array(found).reshape(-1, 5))


def test_clockwise_is_what_the_screen_shows() -> None:
    """y points down, so a quarter turn clockwise moves the right top corner to the right bottom."""
    assert_array_equal(degrees([0, 0, 4, 2, 90]).corners()[0, 1], [1, 2])
    assert_array_equal(degrees([0, 0, 4, 2, 90], "counterclockwise").corners()[0, 1], [-1, -2])
    assert_array_equal(degrees([5, 6, 4, 2, 0]).corners()[0], [[3, 5], [7, 5], [7, 7], [3, 7]])


@given(rows, st.sampled_from(UNITS), st.sampled_from(SENSES))
def test_converting_keeps_the_regions(numbers: Any, unit: Any, sense: Any) -> None:
    boxes = degrees(numbers)
    other = boxes.convert(unit=unit, sense=sense)
    assert (other.unit, other.sense) == (unit, sense)
    assert_allclose(other.corners(), boxes.corners(), atol=1e-11)
    assert_allclose(other.convert(unit="degrees", sense="clockwise").numpy(), boxes.numpy(), rtol=1e-14, atol=1e-300)
    assert RotatedBoxes(boxes, unit=unit, sense=sense) == other


@given(rows, st.sampled_from(UNITS), st.sampled_from(SENSES))
def test_canonical_angles(numbers: Any, unit: Any, sense: Any) -> None:
    boxes = degrees(numbers).convert(unit=unit, sense=sense)
    quarter = 90 if unit == "degrees" else np.pi / 2
    for range_, limit in (("quarter", quarter), ("half", 2 * quarter)):
        same = boxes.canonical(range_)  # type: ignore[arg-type]
        assert ((same.angle >= 0) & (same.angle < limit)).all()
        assert_allclose(elementwise_iou(same, boxes), np.ones(len(boxes)), atol=1e-11)
        assert same.canonical(range_) == same  # type: ignore[arg-type]
    assert_array_equal(boxes.canonical("half").width, boxes.width)


def test_canonical_by_hand() -> None:
    boxes = degrees([[0, 0, 4, 2, -90], [0, 0, 4, 2, 359], [0, 0, 4, 2, -1e-20], [0, 0, 4, 2, 450]])
    wanted = [[0, 0, 2, 4, 0], [0, 0, 2, 4, 89], [0, 0, 4, 2, 0], [0, 0, 2, 4, 0]]
    assert_array_equal(boxes.canonical().numpy(), wanted)
    with pytest.raises(ValueError, match="unknown range 'full'; choose from quarter, half"):
        boxes.canonical("full")  # type: ignore[arg-type]


@given(rows, st.sampled_from(UNITS), st.sampled_from(SENSES))
def test_corners_give_the_boxes_back(numbers: Any, unit: Any, sense: Any) -> None:
    boxes = degrees(numbers)
    corners = boxes.corners()
    back = RotatedBoxes.from_corners(corners, unit=unit, sense=sense)
    assert_allclose(back.corners(), corners, atol=1e-11)
    mirrored = RotatedBoxes.from_corners(corners[:, ::-1], unit=unit, sense=sense)
    assert_allclose(elementwise_iou(mirrored, boxes), np.ones(len(boxes)), atol=1e-11)


def test_from_corners_refuses_what_is_no_rectangle() -> None:
    square = [[0, 0], [2, 0], [2, 2], [0, 2]]
    for other in ([[0, 0], [2, 0], [3, 2], [0, 2]], [[0, 0], [2, 0], [3, 2], [1, 2]], [[0, 0], [2, 2], [2, 0], [0, 2]]):
        with pytest.raises(ValueError, match=r"corners\[1\] is .* no rectangle within 0.0001 of its diagonal"):
            RotatedBoxes.from_corners([square, other], unit="degrees", sense="clockwise")
    with pytest.raises(ValueError, match=r"corners must have shape \(N, 4, 2\), got \(4, 2\)"):
        RotatedBoxes.from_corners(square, unit="degrees", sense="clockwise")
    with pytest.raises(ValueError, match=r"corners\[0\] is .*: every number must be finite"):
        RotatedBoxes.from_corners(np.array([[[np.nan, 0], *square[1:]]]), unit="degrees", sense="clockwise")
    nearly = np.array([[[0, 0], [2, 0], [2.01, 2], [0, 2]]])
    loose = RotatedBoxes.from_corners(nearly, unit="degrees", sense="clockwise", tolerance=0.01)
    assert_allclose(loose.numpy(), [[1.0025, 1, 2.005, 2, 0]], atol=0.2)
    assert len(RotatedBoxes.from_corners([], unit="degrees", sense="clockwise")) == 0


def test_upright_boxes_and_back() -> None:
    boxes = Boxes([[1, 2, 4, 8], [0, 0, 0, 5]], dtype=np.float64)
    turned = RotatedBoxes.from_boxes(boxes)
    assert turned.to_boxes() == boxes
    assert_array_equal(turned.numpy(), [[2.5, 5, 3, 6, 0], [0, 2.5, 0, 5, 0]])
    assert_array_equal(turned.is_empty, [False, True])
    assert turned.drop_empty() == turned[:1]
    assert degrees([[5, 5, 4, 2, 90], [5, 5, 4, 2, 180]]).to_boxes().to_list() == [[4, 3, 6, 7], [3, 4, 7, 6]]
    assert_allclose(degrees([0, 0, 2, 2, 45]).to_boxes().numpy(), np.array([[-1, -1, 1, 1]]) * 2**0.5)
    with pytest.raises(ValueError, match=r"rotated boxes are in pixels: denormalize\(width, height\) these first"):
        RotatedBoxes.from_boxes(Boxes([[0, 0, 1, 1]], normalized=True))
    with pytest.raises(TypeError, match="boxes must be Boxes, got list"):
        RotatedBoxes.from_boxes([[0, 0, 1, 1]])  # type: ignore[arg-type]


def test_a_frozen_value() -> None:
    numbers = np.array([[1.0, 2, 3, 4, 5], [6, 7, 8, 9, 10]])
    boxes = degrees(numbers)
    numbers[:] = 0
    assert boxes.to_list()[0] == [1, 2, 3, 4, 5]
    copied = boxes.numpy()
    copied[:] = 0
    assert boxes == degrees([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]])
    assert boxes != degrees(boxes.numpy(), "counterclockwise")
    assert boxes != boxes.numpy().tolist()
    assert hash(degrees([0.0, 0, 1, 1, 0])) == hash(degrees([-0.0, 0, 1, 1, 0]))
    assert degrees(boxes.numpy(), dtype=np.float32) == boxes
    for again in (pickle.loads(pickle.dumps(boxes)), copy.deepcopy(boxes)):
        assert again == boxes
        assert not again._array.flags.writeable
    assert repr(boxes[:1]) == "RotatedBoxes([[1., 2., 3., 4., 5.]], unit='degrees', sense='clockwise', dtype=float64)"
    assert repr(boxes[:0]) == "RotatedBoxes([], unit='degrees', sense='clockwise', dtype=float64)"
    assert (boxes.shape, str(boxes.dtype), len(boxes)) == ((2, 5), "float64", 2)
    with pytest.raises(TypeError, match="RotatedBoxes are not an array"):
        np.asarray(boxes)


def test_properties_and_moves() -> None:
    boxes = degrees([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]])
    assert_array_equal(boxes.center, [[1, 2], [6, 7]])
    assert_array_equal(boxes.width, [3, 8])
    assert_array_equal(boxes.height, [4, 9])
    assert_array_equal(boxes.area, [12, 72])
    assert_array_equal(boxes.angle, [5, 10])
    assert_array_equal(boxes.shift(1, -1).center, [[2, 1], [7, 6]])
    assert_array_equal(boxes.scale(2).numpy()[:, 2:], [[6, 8, 5], [16, 18, 10]])
    assert_array_equal(boxes.scale(1, 0).area, [0, 0])
    assert_array_equal(boxes[[1]].to_list(), [[6, 7, 8, 9, 10]])
    assert RotatedBoxes.concat([boxes[:1], boxes[1:].convert(sense="counterclockwise")]) == boxes
    assert RotatedBoxes.concat([boxes, degrees([], dtype=np.float32)]) == boxes
    with pytest.raises(ValueError, match="factors must not be negative"):
        boxes.scale(-1)
    with pytest.raises(ValueError, match="dx must be finite, got nan"):
        boxes.shift(np.nan, 0)
    with pytest.raises(ValueError, match="concat needs at least one RotatedBoxes"):
        RotatedBoxes.concat([])
    with pytest.raises(TypeError, match=r"boxes\[1\] must be RotatedBoxes like the others, got Boxes"):
        RotatedBoxes.concat([boxes, Boxes([])])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ([0, 0, np.nan, 1, 0], "every number must be finite"),
        ([0, 0, 1, 1, np.inf], "every number must be finite"),
        ([0, 0, -1, 1, 0], "negative width"),
        ([0, 0, 1, -1, 0], "negative height"),
        ([1e200, 0, 1, 1, 0], r"beyond 2\*\*500 in float64"),
    ],
)
def test_bad_rows_are_named(row: list[float], complaint: str) -> None:
    with pytest.raises(ValueError, match=rf"boxes\[1\] is .*: .*{complaint}"):
        degrees([[0, 0, 1, 1, 0], row, row])


def test_bad_arguments() -> None:
    with pytest.raises(TypeError, match="unit"):
        RotatedBoxes([0, 0, 1, 1, 0], sense="clockwise")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="sense"):
        RotatedBoxes([0, 0, 1, 1, 0], unit="degrees")  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="unknown unit 'turns'; choose from radians, degrees"):
        RotatedBoxes([], unit="turns", sense="clockwise")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unknown sense 'ccw'; choose from clockwise, counterclockwise"):
        RotatedBoxes([], unit="degrees", sense="ccw")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"shape \(N, 5\) or \(5,\), cx, cy, width, height, angle, got \(1, 4\)"):
        degrees([[0, 0, 1, 1]])
    with pytest.raises(ValueError, match="dtype must be float32 or float64, got int64"):
        degrees([0, 0, 1, 1, 0], dtype=np.int64)
    with pytest.raises(ValueError, match=r"beyond 2\*\*126 in float32"):
        degrees([1e38, 0, 1, 1, 0], dtype=np.float32)


def test_dtypes() -> None:
    row = [1, 2, 3, 4, 30]
    assert degrees(row).dtype == np.float64
    assert degrees(np.array(row, np.float16)).dtype == np.float32
    assert degrees(np.array(row, np.float32)).dtype == np.float32
    assert degrees(np.array(row)).dtype == np.float64
    single = degrees(row, dtype=np.float32)
    assert {str(array.dtype) for array in (single.area, single.shift(1, 1), single.canonical())} == {"float32"}
    assert {str(array.dtype) for array in (single.corners(), single.to_boxes())} == {"float64"}
