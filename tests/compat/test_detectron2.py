"""The structures of Detectron2: values from its tests, and what its documentation states."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import ioukit.compat.detectron2 as d2
from ioukit.compat.detectron2 import BoxMode
from support.paths import ROOT

CASES = json.loads((ROOT / "tests" / "data" / "overlap" / "convert.json").read_text())
ROTATED = json.loads((ROOT / "tests" / "data" / "compat" / "detectron2_rotated.json").read_text())


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="torch is not installed")


def anything(value: Any) -> Any:
    """As a list, whose type is not checked."""
    return [value]


# BoxMode needs no torch


def test_modes_have_detectrons_numbers() -> None:
    assert {mode.name: int(mode) for mode in BoxMode} == {
        "XYXY_ABS": 0, "XYWH_ABS": 1, "XYXY_REL": 2, "XYWH_REL": 3, "XYWHA_ABS": 4,
    }  # fmt: skip


@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize(("xyxy", "xywh"), CASES["detectron2_list"]["xyxy_to_xywh"])
def test_a_box_stays_a_list_or_tuple(xyxy: list[float], xywh: list[float], kind: Any) -> None:
    converted = BoxMode.convert(kind(xyxy), BoxMode.XYXY_ABS, BoxMode.XYWH_ABS)
    assert converted == kind(xywh)
    assert type(converted) is kind
    assert type(converted[0]) is type(xyxy[0])
    assert BoxMode.convert(converted, BoxMode.XYWH_REL, BoxMode.XYXY_REL) == kind(xyxy)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rotated_modes(dtype: Any) -> None:
    rotated, upright = (
        np.array(side, dtype) for side in zip(*CASES["detectron2_rotated"]["xywha_deg_to_enclosing_xyxy"], strict=True)
    )
    found = BoxMode.convert(rotated, BoxMode.XYWHA_ABS, BoxMode.XYXY_ABS)
    assert found.dtype == dtype
    assert_allclose(found, upright, atol=1e-5 if dtype == np.float32 else 1e-12)
    corner, centred = (
        np.array(side, dtype) for side in zip(*CASES["detectron2_rotated"]["xywh_to_xywha"], strict=True)
    )
    assert_array_equal(BoxMode.convert(corner, BoxMode.XYWH_ABS, BoxMode.XYWHA_ABS), centred)
    assert_array_equal(BoxMode.convert(corner[0], BoxMode.XYWH_ABS, BoxMode.XYWHA_ABS), centred[0])


def test_integers_in_a_mode_do_not_wrap_or_truncate() -> None:
    small = np.array([[200, 200, 100, 101]], np.uint8)
    assert BoxMode.convert(small, BoxMode.XYWH_ABS, BoxMode.XYXY_ABS).tolist() == [[200, 200, 300, 301]]
    assert BoxMode.convert(small, BoxMode.XYWH_ABS, BoxMode.XYWHA_ABS).tolist() == [[250, 250.5, 100, 101, 0]]
    assert BoxMode.convert([0, 0, 4, 2, 90], BoxMode.XYWHA_ABS, BoxMode.XYXY_ABS) == pytest.approx([-1, -2, 1, 2])


@pytest.mark.parametrize("mode", BoxMode)
def test_the_same_mode_is_a_copy(mode: BoxMode) -> None:
    boxes = np.arange(10.0).reshape(2, 5) if mode == BoxMode.XYWHA_ABS else np.arange(8.0).reshape(2, 4)
    copied = BoxMode.convert(boxes, mode, mode)
    assert_array_equal(copied, boxes)
    assert not np.shares_memory(copied, boxes)


@pytest.mark.parametrize(
    ("box", "source", "target", "kind", "says"),
    [
        ([[0, 0, 1, 1]], 0, 1, TypeError, "a list or tuple of numbers, or one array"),
        ("0011", 0, 1, TypeError, "a NumPy array or a tensor, got str"),
        ([0, 0, 1], 0, 1, ValueError, r"XYXY_ABS boxes must have shape \(4,\) or \(N, 4\), got \(3,\)"),
        ([0, 0, 1, 1], 4, 0, ValueError, r"XYWHA_ABS boxes must have shape \(5,\) or \(N, 5\), got \(4,\)"),
        (np.zeros((1, 1, 4)), 0, 1, ValueError, r"got \(1, 1, 4\)"),
        ([0, 0, 1, 1], 0, 2, NotImplementedError, "XYXY_ABS to XYXY_REL needs the size of the image"),
        ([0, 0, 1, 1], 0, 4, NotImplementedError, "XYXY_ABS to XYWHA_ABS: no such conversion"),
        ([0, 0, 1, 1], 7, 1, ValueError, "7 is not a valid BoxMode"),
    ],
)
def test_conversions_that_are_none(box: Any, source: Any, target: Any, kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says):
        BoxMode.convert(box, source, target)


def test_tensors_in_a_mode(torch: Any) -> None:
    boxes = torch.tensor([[5.0, 5, 10, 10]], requires_grad=True)
    converted = BoxMode.convert(boxes, BoxMode.XYXY_ABS, BoxMode.XYWH_ABS)
    assert converted.tolist() == [[5, 5, 5, 5]]
    converted.sum().backward()
    assert boxes.grad.tolist() == [[0, 0, 1, 1]]
    assert BoxMode.convert(boxes.detach()[0], BoxMode.XYXY_ABS, BoxMode.XYXY_ABS).tolist() == [5, 5, 10, 10]


# Boxes


def test_boxes(torch: Any) -> None:
    boxes = d2.Boxes([[0, 0, 4, 2], [1, 1, 3, 1]])
    assert boxes.tensor.dtype == torch.float32
    assert len(boxes) == 2
    assert boxes.area().tolist() == [8, 0]
    assert boxes.get_centers().tolist() == [[2, 1], [2, 1]]
    assert boxes.nonempty().tolist() == [True, False]
    assert boxes.nonempty(threshold=2).tolist() == [False, False]
    assert [row.tolist() for row in boxes] == [[0, 0, 4, 2], [1, 1, 3, 1]]
    assert repr(boxes) == f"Boxes({boxes.tensor})"
    assert boxes.device == torch.device("cpu")
    assert boxes.to("cpu").tensor.tolist() == boxes.tensor.tolist()
    assert d2.Boxes.cat([boxes, boxes[:1]]).tensor.tolist() == [[0, 0, 4, 2], [1, 1, 3, 1], [0, 0, 4, 2]]
    assert len(d2.Boxes.cat([])) == 0
    assert d2.Boxes([]).tensor.shape == (0, 4)
    assert d2.Boxes(np.zeros((3, 4))).tensor.shape == (3, 4)


def test_boxes_are_selected(torch: Any) -> None:
    boxes = d2.Boxes(torch.arange(12.0).reshape(3, 4))
    assert boxes[1].tensor.tolist() == [[4, 5, 6, 7]]
    assert boxes[-1].tensor.tolist() == [[8, 9, 10, 11]]
    for rows in (slice(1, 3), torch.tensor([1, 2]), torch.tensor([False, True, True]), [1, 2], np.array([1, 2])):
        assert boxes[rows].tensor.tolist() == [[4, 5, 6, 7], [8, 9, 10, 11]]
    with pytest.raises(ValueError, match=r"indexing Boxes with \(0, 1\) does not select rows"):
        boxes[0, 1]


@pytest.mark.usefixtures("torch")
def test_boxes_change_in_place_and_clones_do_not() -> None:
    boxes = d2.Boxes([[-5.0, -5, 15, 30]])
    kept = boxes.clone()
    boxes.clip((20, 10))
    assert boxes.tensor.tolist() == [[0, 0, 10, 20]]
    boxes.scale(2, 0.5)
    assert boxes.tensor.tolist() == [[0, 0, 20, 10]]
    assert kept.tensor.tolist() == [[-5, -5, 15, 30]]
    with pytest.raises(ValueError, match="must be finite"):
        d2.Boxes([[0, 0, math.nan, 1]]).clip((5, 5))


@pytest.mark.usefixtures("torch")
def test_inside_box() -> None:
    boxes = d2.Boxes([[0.0, 0, 9, 9], [-1, 0, 9, 9], [0, 0, 11, 9], [0, 0, 9, 13]])
    assert boxes.inside_box((10, 10)).tolist() == [True, False, False, False]
    assert boxes.inside_box((10, 10), boundary_threshold=2).tolist() == [True, True, True, False]


def test_overlaps(torch: Any) -> None:
    """The pairs of Detectron2's test: a unit box with its halves, its quarters, and a box shifted by a half."""
    one = d2.Boxes([[0.0, 0, 1, 1], [0, 0, 1, 1]])
    others = d2.Boxes(
        [[0.0, 0, 1, 1], [0, 0, 0.5, 1], [0, 0, 1, 0.5], [0, 0, 0.5, 0.5], [0.5, 0.5, 1, 1], [0.5, 0.5, 1.5, 1.5]]
    )
    expected = [1, 0.5, 0.5, 0.25, 0.25, 0.25 / (2 - 0.25)]
    assert_allclose(d2.pairwise_iou(one, others), [expected, expected], rtol=1e-6)
    assert_allclose(d2.pairwise_ioa(one, others), [[1, 1, 1, 1, 1, 0.25]] * 2)
    assert_allclose(d2.pairwise_intersection(one, others), [[1, 0.5, 0.5, 0.25, 0.25, 0.25]] * 2)
    assert_allclose(d2.matched_pairwise_iou(one, others[1:3]), [0.5, 0.5])
    assert d2.pairwise_iou(one, others).dtype == torch.float32
    assert d2.pairwise_iou(d2.Boxes([]), others).shape == (0, 6)
    points = d2.Boxes([[1.0, 1, 1, 1]])
    assert d2.matched_pairwise_iou(points, points).tolist() == [0]


def test_points_and_boxes(torch: Any) -> None:
    distances = d2.pairwise_point_box_distance(torch.tensor([[1.0, 2], [5, 5]]), d2.Boxes([[0.0, 0, 4, 3]]))
    assert distances.tolist() == [[[1, 2, 3, 1]], [[5, 5, -1, -2]]]


def test_gradients_reach_the_tensor(torch: Any) -> None:
    tensor = torch.tensor([[0.0, 0, 2, 2]], requires_grad=True)
    d2.pairwise_iou(d2.Boxes(tensor), d2.Boxes([[1.0, 1, 3, 3]])).sum().backward()
    assert tensor.grad.abs().sum() > 0
    empty = torch.zeros(0, requires_grad=True)
    d2.Boxes(empty).tensor.sum().backward()
    assert empty.grad.shape == (0,)


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda: d2.Boxes([[0, 0, 1]]), ValueError, r"Boxes must have shape \(N, 4\), got \(1, 3\)"),
        (lambda: d2.RotatedBoxes([[0, 0, 1, 1]]), ValueError, r"RotatedBoxes must have shape \(N, 5\), got \(1, 4\)"),
        (
            lambda: d2.Boxes.cat(anything(d2.RotatedBoxes([]))),
            TypeError,
            r"boxes_list\[0\] must be Boxes, got RotatedBoxes",
        ),
        (
            lambda: d2.pairwise_iou(d2.Boxes([]), *anything([[0, 0, 1, 1]])),
            TypeError,
            "boxes2 must be ioukit.*Boxes, got list",
        ),
        (
            lambda: d2.matched_pairwise_iou(d2.Boxes([]), d2.Boxes([[0, 0, 1, 1]])),
            ValueError,
            "one length, got 0 and 1",
        ),
        (lambda: d2.pairwise_iou(*[d2.Boxes([[2, 0, 1, 1]])] * 2), ValueError, r"boxes1\[0\].*inverted"),
    ],
)
@pytest.mark.usefixtures("torch")
def test_errors(call: Any, kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says):
        call()


# RotatedBoxes


@pytest.mark.usefixtures("torch")
def test_rotated_boxes() -> None:
    boxes = d2.RotatedBoxes([[50.0, 50, 30, 20, 180], [5, 5, 0, 3, 365]])
    assert boxes.area().tolist() == [600, 0]
    assert boxes.nonempty().tolist() == [True, False]
    assert boxes.get_centers().tolist() == [[50, 50], [5, 5]]
    assert boxes[1].tensor.shape == (1, 5)
    assert len(d2.RotatedBoxes.cat([boxes, boxes])) == 4
    boxes.normalize_angles()
    assert boxes.tensor[:, 4].tolist() == [-180, 5]
    assert d2.RotatedBoxes([]).tensor.shape == (0, 5)


@pytest.mark.usefixtures("torch")
def test_upright_ones_are_clipped_as_boxes_are() -> None:
    boxes = d2.RotatedBoxes([[0.0, 5, 10, 4, 0], [0, 5, 10, 4, 360.5], [0, 5, 10, 4, 45]])
    boxes.clip((6, 20))
    expected: Any = [[2.5, 4.5, 5, 3, 0], [2.5, 4.5, 5, 3, 0.5], [0, 5, 10, 4, 45]]
    assert_allclose(boxes.tensor, expected, atol=1e-4)


@pytest.mark.usefixtures("torch")
def test_rotated_boxes_inside_a_box() -> None:
    boxes = d2.RotatedBoxes([[5.0, 5, 8, 2, 45], [5, 5, 8, 2, 0], [5, 1.5, 8, 2, 45], [5, 1.5, 8, 2, 0]])
    assert boxes.inside_box((10, 10)).tolist() == [True, True, False, True]
    assert boxes.inside_box((10, 10), boundary_threshold=3).tolist() == [True] * 4


@pytest.mark.parametrize("angle", [0, 30, 90, -45, 170])
@pytest.mark.usefixtures("torch")
def test_scaling_by_one_factor_keeps_the_angle(angle: float) -> None:
    boxes = d2.RotatedBoxes([[5.0, 6, 8, 2, angle]])
    boxes.scale(3, 3)
    assert_allclose(boxes.tensor, [[15, 18, 24, 6, angle]], rtol=1e-5)


@pytest.mark.usefixtures("torch")
def test_scaling_by_two_factors() -> None:
    boxes = d2.RotatedBoxes([[5.0, 6, 8, 2, 0], [5, 6, 8, 2, 90], [0, 0, 1, 1, 45]])
    boxes.scale(2, 0.5)
    side = math.hypot(2, 0.5) / 2**0.5
    expected: Any = [[10, 3, 16, 1, 0], [10, 3, 4, 4, 90], [0, 0, side, side, math.degrees(math.atan2(2, 0.5))]]
    assert_allclose(boxes.tensor, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("case", ROTATED["cases"], ids=lambda case: case["id"])
def test_values_of_rotated_overlaps(case: dict[str, Any], torch: Any) -> None:
    a, b = d2.RotatedBoxes([case["a"]]), d2.RotatedBoxes([case["b"]])
    overlap = d2.pairwise_iou_rotated(a, b)
    assert overlap.dtype == torch.float32
    assert overlap.item() == pytest.approx(case["upstream_iou"], abs=case["upstream_atol"])
    as_float32 = d2.pairwise_iou_rotated(a.tensor, b.tensor)
    assert as_float32.item() == overlap.item() <= 1
    # Corners in float32 differ in the last bit from those of the file.
    assert overlap.item() == pytest.approx(case["shapely_iou"], abs=1e-5)


@pytest.mark.usefixtures("torch")
def test_many_rotated_boxes() -> None:
    first = d2.RotatedBoxes([[5 + 20 * i, 5 + 20 * i, 10, 10, 0] for i in range(100)])
    second = d2.RotatedBoxes([[5 + 20 * i, 5 + 20 * i, 10, 1 + 9 * i / 200, 0] for i in range(200)])
    expected = np.zeros((100, 200))
    expected[np.arange(100), np.arange(100)] = (1 + 9 * np.arange(100) / 200) / 10
    assert_allclose(d2.pairwise_iou_rotated(first, second), expected, atol=1e-6)
    assert d2.pairwise_iou_rotated(first[:0], second).shape == (0, 200)


@pytest.mark.usefixtures("torch")
def test_rotated_boxes_far_away_overlap_nothing() -> None:
    case = ROTATED["tables"][1]
    assert d2.pairwise_iou_rotated(d2.RotatedBoxes([case["a"]]), d2.RotatedBoxes([case["b"]])).item() == 0
