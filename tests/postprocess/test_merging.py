"""Groups of overlapping boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from ioukit import Boxes, merge_boxes, pairwise_iou
from support.strategies import grid_boxes


def groups_by_hand(boxes: Any, threshold: float) -> list[list[int]]:
    """From each box that is in no group yet, everything that can be reached."""
    near = pairwise_iou(boxes, boxes) >= threshold
    left, groups = list(range(len(boxes))), []
    while left:
        group, waiting = set(), [left[0]]
        while waiting:
            box = waiting.pop()
            if box not in group:
                group.add(box)
                waiting += np.flatnonzero(near[box]).tolist()
        groups.append(sorted(group))
        left = [box for box in left if box not in group]
    return groups


def test_a_chain() -> None:
    merged, groups = merge_boxes([[0, 0, 4, 4], [9, 9, 10, 10], [0, 1, 4, 5], [0, 2, 4, 6]])
    assert merged.to_list() == [[0, 0, 4, 6], [9, 9, 10, 10]]
    assert [group.tolist() for group in groups] == [[0, 2, 3], [1]]


def test_the_threshold_counts() -> None:
    boxes = Boxes([[0, 0, 3, 1], [1, 0, 4, 1]])  # IoU 0.5
    assert len(merge_boxes(boxes, iou_threshold=0.5)[0]) == 1
    assert len(merge_boxes(boxes, iou_threshold=0.51)[0]) == 2


@given(grid_boxes(np.float64, max_size=12), st.sampled_from([0.1, 0.5, 1.0]))
def test_groups(boxes: Any, threshold: float) -> None:
    merged, groups = merge_boxes(Boxes(boxes), iou_threshold=threshold)
    assert [group.tolist() for group in groups] == groups_by_hand(boxes, threshold)
    for row, group in zip(merged.to_list(), groups, strict=True):
        assert row == [*boxes[group, :2].min(axis=0), *boxes[group, 2:].max(axis=0)]


def test_a_long_chain_in_any_order() -> None:
    low = np.random.default_rng(3).permutation(50_000).astype(np.float64)[:, None] * 0.25
    boxes = np.concatenate([low, np.zeros_like(low), low + 1, np.ones_like(low)], axis=1)
    merged, groups = merge_boxes(Boxes(boxes), iou_threshold=0.5)
    assert merged.to_list() == [[0, 0, 49_999 * 0.25 + 1, 1]]
    assert_array_equal(groups[0], np.arange(50_000))


def test_format_unit_and_dtype_are_kept() -> None:
    boxes = Boxes(np.array([[0.1, 0.1, 0.2, 0.2], [0.1, 0.1, 0.2, 0.2]]), "cxcywh", normalized=True)
    merged, _ = merge_boxes(boxes)
    assert (merged.format, merged.normalized) == ("cxcywh", True)
    assert merged.dtype == np.float64
    np.testing.assert_allclose(merged.numpy(), boxes.numpy()[:1])
    assert Boxes(np.zeros((0, 4))) == merge_boxes(np.zeros((0, 4)))[0]
    assert merge_boxes([])[1] == []


def test_boxes_without_area_stay_alone() -> None:
    assert len(merge_boxes([[1, 1, 1, 1], [1, 1, 1, 1], [0, 0, 2, 2]])[1]) == 3


@pytest.mark.parametrize("threshold", [0, 1.5, float("nan")])
def test_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match="min_iou"):
        merge_boxes([[0, 0, 1, 1]], iou_threshold=threshold)
