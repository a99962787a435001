"""Other libraries beside `nms`, where they are installed: where they agree, and where they are documented to differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ioukit import nms, pairwise_iou


def sets(count: int = 400, dtype: Any = np.float32) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    low = rng.uniform(0, 300, (count, 2))
    boxes = np.concatenate([low, low + rng.uniform(5, 80, (count, 2))], axis=1).astype(dtype)
    return boxes, rng.permutation(count).astype(dtype) / count, rng.integers(0, 5, count)


def torchvision_ops() -> tuple[Any, Any]:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    return torch, pytest.importorskip("torchvision", reason="torchvision is not installed").ops


def test_torchvision_agrees() -> None:
    torch, ops = torchvision_ops()
    for dtype in (np.float32, np.float64):
        boxes, scores, labels = sets(dtype=dtype)
        scores[::7] = scores[0]  # ties: both take the lower index first
        tensors = [torch.from_numpy(array) for array in (boxes, scores, labels)]
        for threshold in (0.0, 0.25, 0.5, 0.75):
            assert nms(boxes, scores, iou_threshold=threshold).tolist() == ops.nms(*tensors[:2], threshold).tolist()
            ours = nms(boxes, scores, iou_threshold=threshold, labels=labels)
            # Its order of equal scores is that of the labels in one of its two ways: compared as sets.
            assert set(ours.tolist()) == set(ops.batched_nms(*tensors, threshold).tolist())


def test_torchvision_compares_in_double() -> None:
    """A float32 overlap of 0.1 is above the double 0.1: torchvision removes the box, NumPy's comparison keeps it."""
    torch, ops = torchvision_ops()
    boxes, scores = np.array([[0, 0, 10, 1], [0, 0, 1, 1]], np.float32), np.array([0.9, 0.8], np.float32)
    assert not (pairwise_iou(boxes[:1], boxes[1:]) > 0.1).any()
    assert nms(boxes, scores, iou_threshold=0.1).tolist() == [0, 1]
    assert ops.nms(torch.from_numpy(boxes), torch.from_numpy(scores), 0.1).tolist() == [0]


def test_torchvision_moves_labels_apart_by_coordinates() -> None:
    """Adding ``label * (largest + 1)`` loses digits: two boxes of IoU 1/3 in class 5,000 become one."""
    torch, ops = torchvision_ops()
    boxes = np.array([[100, 100, 100.25, 100.25], [100.125, 100, 100.375, 100.25], [0, 0, 600, 600]], np.float32)
    scores, labels = np.array([0.9, 0.8, 0.7], np.float32), np.array([5_000, 5_000, 0])
    assert pairwise_iou(boxes[:1], boxes[1:2])[0, 0] < 0.34
    assert nms(boxes, scores, iou_threshold=0.4, labels=labels).tolist() == [0, 1, 2]
    theirs = ops.boxes._batched_nms_coordinate_trick(*map(torch.from_numpy, (boxes, scores, labels)), 0.4)
    assert theirs.tolist() == [0, 2]


def test_torchvision_lets_labels_meet_at_negative_coordinates() -> None:
    """Its offset is the largest coordinate, which does not move a box apart that lies far on the negative side."""
    torch, ops = torchvision_ops()
    boxes = np.array([[-10, -10, 1, 1], [-12, -12, -1, -1]], np.float32)
    scores, labels = np.array([0.9, 0.8], np.float32), np.array([0, 1])
    assert nms(boxes, scores, iou_threshold=0.3, labels=labels).tolist() == [0, 1]
    tensors = map(torch.from_numpy, (boxes, scores, labels))
    assert ops.boxes._batched_nms_coordinate_trick(*tensors, 0.3).tolist() == [0]


def test_supervision_prefers_the_last_of_equal_scores() -> None:
    supervision = pytest.importorskip("supervision", reason="supervision is not installed")
    detections = np.array([[0, 0, 10, 10, 0.5], [0, 0, 10, 10, 0.5]])
    keep = supervision.detection.utils.iou_and_nms.box_non_max_suppression(detections, 0.5)
    assert np.flatnonzero(keep).tolist() == [1]
    assert nms(detections[:, :4], detections[:, 4], iou_threshold=0.5).tolist() == [0]


def test_powerboxes_agrees_where_no_scores_are_equal() -> None:
    powerboxes = pytest.importorskip("powerboxes", reason="powerboxes is not installed")
    boxes, scores, _ = sets(dtype=np.float64)
    for threshold in (0.25, 0.5, 0.75):
        ours = nms(boxes, scores, iou_threshold=threshold, score_threshold=0.3)
        assert ours.tolist() == np.asarray(powerboxes.nms(boxes, scores, threshold, 0.3)).tolist()
    # Of equal scores it promises nothing: its sort is unstable. Ours is the lower index.
    tied = np.tile(boxes[:1], (100, 1))
    assert nms(tied, np.ones(100), iou_threshold=0.5).tolist() == [0]
    assert len(powerboxes.nms(tied, np.ones(100), 0.5, 0.0)) == 1
