"""The overlaps of torchvision compared with ours, if it is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ioukit

pytest.importorskip("torchvision", reason="torchvision is not installed")

import torch
from torchvision import ops

NAMES = {
    "iou": ops.box_iou,
    "giou": ops.generalized_box_iou,
    "diou": ops.distance_box_iou,
    "ciou": ops.complete_box_iou,
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", NAMES)
def test_torchvision_agrees_where_boxes_have_an_area(name: str, dtype: Any) -> None:
    """torchvision adds 1e-7 to the denominators of DIoU and CIoU, which does not matter for boxes of pixels."""
    rng = np.random.default_rng(7)
    corner, size = rng.uniform(-50, 600, (2, 300, 2)), rng.uniform(2, 200, (2, 300, 2))
    first, second = np.concatenate([corner, corner + size], axis=2).astype(dtype)
    expected = NAMES[name](torch.from_numpy(first), torch.from_numpy(second)).numpy()
    tolerance = 1e-5 if dtype == np.float32 else 1e-7
    np.testing.assert_allclose(getattr(ioukit, f"pairwise_{name}")(first, second), expected, rtol=0, atol=tolerance)
    tensors = getattr(ioukit, f"pairwise_{name}")(torch.from_numpy(first), torch.from_numpy(second))
    assert isinstance(tensors, torch.Tensor)
    np.testing.assert_allclose(tensors.numpy(), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", NAMES)
def test_boxes_without_area_are_a_documented_difference(name: str) -> None:
    """IoU with itself: 0 here, NaN in torchvision."""
    point = np.array([[1.0, 1.0, 1.0, 1.0]])
    assert getattr(ioukit, f"pairwise_{name}")(point, point) == 0
    assert np.isnan(NAMES[name](torch.from_numpy(point), torch.from_numpy(point)).numpy())
