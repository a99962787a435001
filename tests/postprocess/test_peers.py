"""Other libraries beside `nms`, where they are installed: where they agree, and where they are documented to differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ioukit
from ioukit import Polygons, RotatedBoxes, nms, pairwise_iou, soft_nms
from postprocess.plain import greedy


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
    # A score at its threshold stays, as here.
    assert powerboxes.nms(boxes[:1], np.array([0.5]), 0.5, 0.5).tolist() == [0]
    assert nms(boxes[:1], [0.5], iou_threshold=0.5, score_threshold=0.5).tolist() == [0]
    # Two copies of a box without area have no IoU: both keep them.
    point = np.array([[1.0, 1, 1, 1], [1, 1, 1, 1]])
    assert np.asarray(powerboxes.nms(point, np.array([0.9, 0.8]), 0.5, 0.0)).tolist() == [0, 1]
    assert nms(point, [0.9, 0.8], iou_threshold=0.5).tolist() == [0, 1]
    # Of equal scores it promises nothing: its sort is unstable. Ours is the lower index.
    tied = np.tile(boxes[:1], (100, 1))
    assert nms(tied, np.ones(100), iou_threshold=0.5).tolist() == [0]
    assert len(powerboxes.nms(tied, np.ones(100), 0.5, 0.0)) == 1


def test_ensemble_boxes_forgets_the_lowered_scores_and_changes_its_input() -> None:
    tool = pytest.importorskip("ensemble_boxes", reason="ensemble-boxes is not installed")
    boxes, scores = [[0, 0, 0.5, 0.5], [0, 0, 0.5, 0.4], [0.6, 0.6, 0.9, 0.9]], [0.9, 0.8, 0.7]
    _, theirs, _ = tool.soft_nms([boxes], [scores], [[0, 0, 0]], method=2, sigma=0.5, thresh=0.001)
    keep, lowered = soft_nms(boxes, scores, method="gaussian")
    assert keep.tolist() == [0, 2, 1]  # the order says that the second box fell behind the third
    assert theirs.tolist() == [0.9, 0.7, 0.8]  # and the scores do not
    assert lowered[2] == pytest.approx(0.8 * np.exp(-(0.8**2) / 0.5))
    given = [np.array([0.9, 0.8])]
    tool.nms([boxes[:2]], given, [[0, 0]], iou_thr=0.5, weights=[2])
    tool.nms([boxes[:2]], given, [[0, 0]], iou_thr=0.5, weights=[4])
    assert given[0].tolist() == [0.9, 0.8]  # one model: all weights are 1
    two = [np.array([0.9]), np.array([0.6])]
    tool.nms([boxes[:1], boxes[2:]], two, [[0], [0]], iou_thr=0.5, weights=[2, 1])
    assert [scores.tolist() for scores in two] == [[pytest.approx(0.6)], [pytest.approx(0.2)]]
    ours = [np.array([0.9]), np.array([0.6])]
    ioukit.weighted_boxes_fusion([boxes[:1], boxes[2:]], ours, weights=[2, 1])
    assert [scores.tolist() for scores in ours] == [[0.9], [0.6]]


# Rules of tools that cannot be run here, in a few lines as their sources have them.


def test_detectron2_and_mmcv_remove_rotated_boxes_at_the_threshold_on_the_cpu() -> None:
    """``ovr >= threshold`` on the CPU, ``>`` on CUDA: both are a word here. Their polygons are alike."""
    pair, scores = [[1.0, 0.5, 2, 1, 0], [2.0, 0.5, 2, 1, 0]], [0.9, 0.8]
    boxes = RotatedBoxes(pair, unit="radians", sense="clockwise")
    quads = Polygons([[[0, 0], [2, 0], [2, 1], [0, 1]], [[1, 0], [3, 0], [3, 1], [1, 1]]])
    for regions in (boxes, quads):
        overlap = pairwise_iou(regions, regions)
        third = float(overlap[0, 1])
        assert third == pytest.approx(1 / 3)
        cpu = greedy(overlap, scores, third, at=True)
        cuda = greedy(overlap, scores, third)
        assert (cpu, cuda) == ([0], [0, 1])
        assert nms(regions, scores, iou_threshold=third, suppress="at_or_above").tolist() == cpu
        assert nms(regions, scores, iou_threshold=third).tolist() == cuda


def test_ultralytics_drops_boxes_without_an_iou() -> None:
    """It keeps where ``iou <= threshold``, which NaN is not; here a box without area overlaps nothing."""
    points = np.array([[1.0, 1, 1, 1], [1, 1, 1, 1]])
    with np.errstate(invalid="ignore"):
        ratio = np.float64(0) / np.float64(0)
    assert not ratio <= 0.5
    assert nms(points, [0.9, 0.8], iou_threshold=0.5).tolist() == [0, 1]


def test_ultralytics_lets_removed_rotated_boxes_remove_others() -> None:
    """Keeps where no better box overlaps at the threshold or above, in the upper triangle of the table."""
    chain = RotatedBoxes([[5, 5, 10, 10, 0], [9, 5, 10, 10, 0], [13, 5, 10, 10, 0]], unit="radians", sense="clockwise")
    table = np.triu(pairwise_iou(chain, chain), k=1)
    assert np.flatnonzero((table < 0.4).all(axis=0)).tolist() == [0]
    assert nms(chain, [0.9, 0.8, 0.7], iou_threshold=0.4).tolist() == [0, 2]


def test_darknet_weakens_the_penalty_of_diou() -> None:
    """``IoU - (d**2 / c**2) ** 0.6`` where the paper has the power 1: near centres cost more."""
    boxes, scores = np.array([[0.0, 0, 10, 10], [2.5, 0, 12.5, 10]]), [0.9, 0.8]
    iou, part = 0.6, 2.5**2 / (12.5**2 + 10**2)
    assert iou - part**0.6 < 0.55 < iou - part
    assert nms(boxes, scores, iou_threshold=0.55, metric="diou").tolist() == [0]


def test_supervision_does_not_pick_again() -> None:
    """Its soft form is one product over all boxes with a better score at first: here it lowers the third box twice."""
    boxes, scores = np.array([[0.0, 0, 10, 10], [1, 0, 11, 10], [4, 0, 14, 10]]), np.array([0.9, 0.8, 0.7])
    overlap = np.triu(pairwise_iou(boxes, boxes), k=1)
    theirs = scores * np.exp(-(overlap**2) / 0.5).prod(axis=0)
    keep, lowered = soft_nms(boxes, scores, method="gaussian", sigma=0.5)
    assert keep.tolist() == [0, 2, 1]
    assert lowered[1] == pytest.approx(0.7 * np.exp(-(overlap[0, 2] ** 2) / 0.5))
    assert theirs[2] < 0.6 * lowered[1]


def test_kornia_keeps_at_the_threshold_as_most_do() -> None:
    boxes, scores = [[0, 0, 2, 1], [0, 0, 1, 1]], [0.9, 0.8]
    overlap = pairwise_iou(boxes, boxes)
    assert (
        nms(boxes, scores, iou_threshold=0.5).tolist() == np.flatnonzero((np.triu(overlap, 1) <= 0.5).all(0)).tolist()
    )
