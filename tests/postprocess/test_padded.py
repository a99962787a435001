"""`nms_padded` on the host."""

from __future__ import annotations

import numpy as np
import pytest

from ioukit import Boxes, nms_padded

BOXES = [[0, 0, 4, 4], [0, 0, 4, 3], [6, 6, 8, 8]]


def test_it_is_filled_up_and_cut() -> None:
    for boxes in (BOXES, Boxes(BOXES), np.array(BOXES, np.float32)):
        keep, valid = nms_padded(boxes, [0.8, 0.9, 0.7], iou_threshold=0.5, max_keep=4)
        assert keep.tolist() == [1, 2, -1, -1]
        assert valid.tolist() == [True, True, False, False]
    keep, valid = nms_padded(BOXES, [0.8, 0.9, 0.7], iou_threshold=0.5, max_keep=1)
    assert (keep.tolist(), valid.tolist()) == ([1], [True])
    keep, _ = nms_padded(BOXES, [0.8, 0.9, 0.7], iou_threshold=0.5, max_keep=3, labels=[0, 1, 0], score_threshold=0.75)
    assert keep.tolist() == [1, 0, -1]
    keep, _ = nms_padded(BOXES, [0.8, 0.9, 0.7], iou_threshold=0.5, max_keep=3, labels=[0, 1, 0], score_threshold=0.7)
    assert keep.tolist() == [1, 0, 2]


def test_errors() -> None:
    with pytest.raises(ValueError, match="max_keep must be at least 1, got 0"):
        nms_padded(BOXES, [1, 2, 3], iou_threshold=0.5, max_keep=0)
    with pytest.raises(ValueError, match=r"iou_threshold must be within \[0, 1\]"):
        nms_padded(BOXES, [1, 2, 3], iou_threshold=2, max_keep=3)
    with pytest.raises(TypeError, match="integer"):
        nms_padded(BOXES, [1, 2, 3], iou_threshold=0.5, max_keep=2.5)  # type: ignore[call-overload]
