"""The names of torchvision.ops on NumPy arrays, without another library."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import ioukit.compat.torchvision_ops as ours
from support.paths import ROOT
from support.torchvision_cases import ROTATED, UPRIGHT, random_boxes

CONVERSIONS = json.loads((ROOT / "tests" / "data" / "overlap" / "convert.json").read_text())


# NumPy arrays, no other library


@pytest.mark.parametrize("target", UPRIGHT)
@pytest.mark.parametrize("source", UPRIGHT)
def test_torchvisions_table_of_conversions(source: str, target: str) -> None:
    table = CONVERSIONS["torchvision"]
    converted = ours.box_convert(np.array(table[source], np.float32), source, target)
    assert converted.dtype == np.float32
    assert_array_equal(converted, table[target])


def test_a_conversion_is_a_copy() -> None:
    boxes = random_boxes(3)
    assert not np.shares_memory(ours.box_convert(boxes, "xyxy", "xyxy"), boxes)


def test_values_to_check_in_the_head() -> None:
    """Boxes that share a quarter, 1 of 4 + 4 - 1; and boxes that lie apart in a hull of 5 by 5."""
    boxes1, boxes2 = np.array([[0.0, 0, 2, 2], [5, 5, 6, 6]]), np.array([[1.0, 1, 3, 3]])
    assert_allclose(ours.box_iou(boxes1, boxes2), [[1 / 7], [0.0]])
    assert_allclose(ours.generalized_box_iou(boxes1, boxes2), [[1 / 7 - 2 / 9], [-(25 - 5) / 25]])
    assert_allclose(ours.distance_box_iou(boxes1, boxes2), [[1 / 7 - 2 / 18], [-(3.5**2 * 2) / 50]])


def test_formats_of_area_and_overlap() -> None:
    boxes = random_boxes(4)
    for fmt in UPRIGHT:
        given = ours.box_convert(boxes, "xyxy", fmt)
        assert_allclose(ours.box_area(given, fmt), ours.box_area(boxes))
        assert_allclose(ours.box_iou(given, given, fmt=fmt), ours.box_iou(boxes, boxes), atol=1e-12)


def test_clip_and_small_boxes() -> None:
    boxes = np.array([[-5.0, -5, 5, 5], [10, 10, 400, 400], [30, 0, 31, 9]])
    assert_array_equal(ours.clip_boxes_to_image(boxes, (100, 20)), [[0, 0, 5, 5], [10, 10, 20, 100], [20, 0, 20, 9]])
    assert_array_equal(ours.remove_small_boxes(boxes, 1), [0, 1, 2])
    assert_array_equal(ours.remove_small_boxes(boxes, 1.5), [0, 1])
    assert ours.remove_small_boxes(np.zeros((0, 4)), 1).shape == (0,)


def test_suppression_of_arrays() -> None:
    """IoU above the threshold removes a box, IoU at the threshold does not, nor does another class."""
    boxes = np.array([[0.0, 0, 4, 4], [0, 0, 4, 3], [0, 0, 4, 2], [9, 9, 10, 10]])
    scores = np.array([0.5, 0.9, 0.8, 0.1])
    assert ours.nms(boxes, scores, 0.75).tolist() == [1, 2, 0, 3]
    assert ours.nms(boxes, scores, 0.7).tolist() == [1, 2, 3]
    assert ours.batched_nms(boxes, scores, np.array([0, 1, 1, 1]), 0.5).tolist() == [1, 0, 3]
    assert ours.batched_nms(boxes, scores, np.array([0.0, 1, 1, 1]), 0.5).tolist() == [1, 0, 3]
    assert ours.nms(np.zeros((0, 4)), np.zeros(0), 0.5).shape == (0,)


def test_losses_of_arrays() -> None:
    boxes, target = np.array([[0.0, 0, 2, 2]]), np.array([[1.0, 1, 3, 3]])
    assert_allclose(ours.generalized_box_iou_loss(boxes, target), [1 - 1 / 7 + 2 / 9], rtol=1e-6)
    assert_allclose(ours.distance_box_iou_loss(boxes, target, "sum"), 1 - 1 / 7 + 2 / 18, rtol=1e-6)
    assert_allclose(ours.complete_box_iou_loss(boxes[0], target[0]), 1 - 1 / 7 + 2 / 18, rtol=1e-6)


def test_rotated_boxes_of_arrays() -> None:
    """A square and the same square turned by 45 degrees share an octagon, 2 / (1 + sqrt 2) of it."""
    boxes = np.array([[5.0, 5, 2, 2, 0], [5, 5, 2, 2, 45]])
    iou = (2 / (1 + 2**0.5)) / (2 - 2 / (1 + 2**0.5))
    for fmt in ROTATED:
        given = ours.box_convert(boxes, "cxcywhr", fmt)
        found = ours.box_iou(given, given, fmt)
        assert found.dtype == np.float32
        assert_allclose(found, [[1, iou], [iou, 1]], rtol=1e-6)


def test_masks() -> None:
    masks = np.zeros((3, 5, 7), np.uint8)
    masks[0, 1:3, 2:6] = 200
    masks[1, 4, 6] = 1
    boxes = ours.masks_to_boxes(masks)
    assert_array_equal(boxes, [[2, 1, 5, 2], [6, 4, 6, 4], [0, 0, 0, 0]])
    assert boxes.dtype == np.float32
    assert ours.masks_to_boxes(masks[:0]).shape == (0, 4)
    assert_array_equal(ours.masks_to_boxes(np.zeros((2, 0, 3))), np.zeros((2, 4)))


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda: ours.box_iou(np.zeros((1, 4)), np.zeros((1, 4)), "yxyx"), ValueError, "unknown fmt 'yxyx'; choose"),
        (lambda: ours.box_area(np.zeros((1, 5)), "cxcywhr"), ValueError, "unknown fmt 'cxcywhr'; choose"),
        (lambda: ours.box_area(np.zeros((1, 5))), ValueError, r"boxes must have shape \(..., 4\), got \(1, 5\)"),
        (lambda: ours.box_convert(np.zeros((1, 4)), "xyxy", "no"), ValueError, "unknown format 'no'; choose from xyxy"),
        (lambda: ours.box_convert(np.zeros((1, 4)), "cxcywhr", "xywhr"), ValueError, r"shape \(..., 5\), got \(1, 4\)"),
        (lambda: ours.box_convert(np.zeros((1, 4)), "xyxy", "xywhr"), NotImplementedError, "'xyxy' to 'xywhr'"),
        (
            lambda: ours.box_iou(np.zeros((1, 4)), np.zeros((1, 5)), "xywhr"),
            ValueError,
            r"boxes1 must have shape \(N, 5\)",
        ),
        (
            lambda: ours.box_iou(np.zeros((1, 5)), np.zeros((1, 1, 5)), "xywhr"),
            ValueError,
            r"boxes2 must have shape \(N, 5\) in 'xywhr', got \(1, 1, 5\)",
        ),
        (
            lambda: ours.generalized_box_iou_loss(np.zeros((1, 4)), np.zeros((2, 4))),
            ValueError,
            r"must have one shape, got \(1, 4\) and \(2, 4\)",
        ),
        (
            lambda: ours.complete_box_iou_loss(np.zeros((1, 4)), np.zeros((1, 4)), eps=1e-3),
            ValueError,
            "eps must be 1e-07, got 0.001",
        ),
        (lambda: ours.distance_box_iou_loss(np.zeros((1, 4)), np.zeros((1, 4)), "max"), ValueError, "'max'; choose"),
        (
            lambda: ours.batched_nms(np.zeros((1, 4)), np.zeros(1), np.array([0.5]), 0.5),
            ValueError,
            "idxs must be whole numbers",
        ),
        (lambda: ours.nms(np.zeros((1, 4)), np.full(1, np.nan), 0.5), ValueError, "NaN|nan"),
        (lambda: ours.masks_to_boxes(np.zeros((3, 4))), ValueError, r"must have shape \(N, H, W\), got \(3, 4\)"),
    ],
)
def test_errors(call: Any, kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says):
        call()


@pytest.mark.parametrize("wrong", [[[0.0, 0.0, 1.0, 1.0]], "boxes", None, 3])
def test_what_is_no_array_is_named(wrong: Any) -> None:
    boxes, scores = np.array([[0.0, 0, 1, 1]]), np.array([0.5])
    says = f"must be a tensor or a NumPy array, got {type(wrong).__name__}"
    calls: list[tuple[str, Any]] = [
        ("boxes2", lambda: ours.box_iou(boxes, wrong)),
        ("boxes1", lambda: ours.box_iou(wrong, boxes, fmt="cxcywhr")),
        ("boxes1", lambda: ours.generalized_box_iou(wrong, boxes)),
        ("boxes1", lambda: ours.distance_box_iou(wrong, boxes)),
        ("boxes2", lambda: ours.complete_box_iou(boxes, wrong)),
        ("boxes1", lambda: ours.generalized_box_iou_loss(wrong, boxes)),
        ("boxes2", lambda: ours.distance_box_iou_loss(boxes, wrong)),
        ("boxes2", lambda: ours.complete_box_iou_loss(boxes, wrong)),
        ("boxes", lambda: ours.box_area(wrong)),
        ("boxes", lambda: ours.box_convert(wrong, "xyxy", "xywh")),
        ("boxes", lambda: ours.clip_boxes_to_image(wrong, (4, 4))),
        ("boxes", lambda: ours.remove_small_boxes(wrong, 1)),
        ("masks", lambda: ours.masks_to_boxes(wrong)),
        ("boxes", lambda: ours.nms(wrong, scores, 0.5)),
        ("scores", lambda: ours.nms(boxes, wrong, 0.5)),
        ("boxes", lambda: ours.batched_nms(wrong, scores, scores, 0.5)),
        ("scores", lambda: ours.batched_nms(boxes, wrong, scores, 0.5)),
        ("idxs", lambda: ours.batched_nms(boxes, scores, wrong, 0.5)),
    ]
    for name, call in calls:
        with pytest.raises(TypeError, match=f"^{name} {says}"):
            call()


def test_suppression_of_no_boxes_reads_nothing_else() -> None:
    for boxes in (np.zeros(0), np.zeros((0, 4), np.float32)):
        rows = ours.batched_nms(boxes, None, None, None)  # type: ignore[arg-type]
        assert (rows.shape, rows.dtype) == ((0,), np.int64)
