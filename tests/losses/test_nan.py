"""NaN in, NaN out, and rows without weight: the same on every way to compute a loss."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ioukit import losses
from support.losses_cases import ROTATED, UPRIGHT

if TYPE_CHECKING:
    from collections.abc import Callable

GOOD, OTHER = [1.0, 2, 8, 9, 0.3], [2.0, 2, 9, 8, 0.1]
# Each number of each box in turn, beside boxes apart, in one another, inverted, and without an area.
PLACES = [(GOOD, OTHER), (GOOD, [20.0, 20, 30, 30, 0.3]), (GOOD, [3.0, 4, 5, 6, 0.3]), ([8.0, 9, 1, 2, 0.3], OTHER)]


def difficult(size: int) -> tuple[Any, Any, Any]:
    """Predicted boxes and targets with one NaN each, then those without; and which rows hold NaN."""
    pairs = []
    for place in PLACES:
        for side in (0, 1):
            for column in range(size):
                both = [list(box[:size]) for box in place]
                both[side][column] = math.nan
                pairs.append(both)
    pairs += [[list(box[:size]) for box in place] for place in PLACES]
    array = np.array(pairs)
    return array[:, 0], array[:, 1], np.isnan(array).any(axis=(1, 2))


def with_numpy(loss: Callable[..., Any], *pair: Any, **options: Any) -> Any:
    return loss(*pair, **options)


def with_torch(loss: Callable[..., Any], *pair: Any, **options: Any) -> Any:
    """Native code, where a loss has it."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("ioukit.torch.losses")
    return loss(*map(torch.tensor, pair), **options).numpy()


def with_torch_formulas(loss: Callable[..., Any], *pair: Any, **options: Any) -> Any:
    """What a compiled program is made of."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    return torch.func.functionalize(functools.partial(loss, **options))(*map(torch.tensor, pair)).numpy()


def with_jax(loss: Callable[..., Any], *pair: Any, **options: Any) -> Any:
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    return np.asarray(loss(*(jax.numpy.asarray(one) for one in pair), **options))


WAYS = (with_numpy, with_torch, with_torch_formulas, with_jax)
LOSSES = {**UPRIGHT, **ROTATED}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", LOSSES)
def test_nan_in_nan_out(name: str, way: Callable[..., Any]) -> None:
    pred, target, is_nan = difficult(5 if name in ROTATED else 4)
    assert_array_equal(np.isnan(way(LOSSES[name], pred, target)), is_nan)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", LOSSES)
def test_rows_of_weight_0_count_for_nothing(name: str, way: Callable[..., Any]) -> None:
    pred, target, is_nan = difficult(5 if name in ROTATED else 4)
    pred[0], target[1] = math.inf, -math.inf
    for reduction in ("mean", "sum"):
        found = way(LOSSES[name], pred, target, weight=(~is_nan).astype(float), reduction=reduction)
        assert_allclose(found, way(LOSSES[name], pred[~is_nan], target[~is_nan], reduction=reduction), rtol=1e-5)


@pytest.mark.parametrize("name", LOSSES)
def test_rows_of_weight_0_have_no_gradient(name: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("ioukit.torch.losses")
    pred, target, is_nan = difficult(5 if name in ROTATED else 4)
    pair = [torch.tensor(one, requires_grad=True) for one in (pred, target)]
    LOSSES[name](*pair, weight=torch.tensor(~is_nan), reduction="mean").backward()
    for boxes in pair:
        assert torch.isfinite(boxes.grad).all()
        assert (boxes.grad[torch.tensor(is_nan)] == 0).all()


def test_losses_of_logits() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    of = pytest.importorskip("ioukit.torch.losses")
    nan, logits = math.nan, torch.zeros(2, 4, 8, requires_grad=True)
    place = torch.tensor([[nan, 1, 2, 3], [0.5, 1, 2, 3]])
    each = of.dfl_loss(logits, place, reduction="none")
    assert each.isnan().tolist() == [True, False]
    mean = of.dfl_loss(logits, place, weight=torch.tensor([0.0, 1]))
    assert mean == each[1]
    mean.backward()
    assert torch.isfinite(logits.grad).all()
    scores = torch.tensor([nan, 0.5], requires_grad=True)
    mean = of.objectness_loss(scores, torch.tensor([1, nan]), weight=torch.tensor([0, 0]))
    mean.backward()
    assert mean == 0
    assert (scores.grad == 0).all()


@pytest.mark.parametrize("compat", ["torchvision", "mmdet", "ultralytics"])
def test_nan_of_other_libraries_conventions(compat: Any) -> None:
    pred, target, is_nan = difficult(4)
    for loss in (losses.giou_loss, losses.diou_loss, losses.ciou_loss):
        assert_array_equal(np.isnan(loss(pred, target, compat=compat)), is_nan)


def test_a_running_mean_moves_by_finite_values_alone() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    of = pytest.importorskip("ioukit.torch.losses")
    pred, target = torch.tensor([GOOD[:4], GOOD[:4]]), torch.tensor([OTHER[:4], OTHER[:4]])
    wanted = of.WIoULoss(3, momentum=0.5).train()
    wanted(pred[:1], target[:1])
    for value in (math.nan, math.inf, -math.inf):
        for boxes in (pred, target):
            module, kept = of.WIoULoss(3, momentum=0.5).train(), boxes.clone()
            boxes[1, 2] = value
            module(pred, target)
            boxes.copy_(kept)
            assert module.running_mean == wanted.running_mean
    module = of.WIoULoss(3, momentum=0.5).train()
    module(torch.cat([pred[:1], torch.zeros(3, 4)]), torch.cat([target[:1], torch.ones(3, 4)]),
           weight=torch.tensor([1.0, 0, 0, 0]))  # fmt: skip
    assert module.running_mean == wanted.running_mean
    module(pred * math.nan, target)
    assert module.running_mean == wanted.running_mean


def test_integers_take_the_dtype_of_the_other_boxes() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("ioukit.torch.losses")
    pred, target = torch.tensor([GOOD[:4]]), torch.tensor([[2, 2, 9, 8]])
    for loss in (losses.ciou_loss, losses.siou_loss):
        assert loss(pred, target).dtype == loss(target, pred).dtype == torch.float32
        assert loss(pred, target) == loss(pred, target.float())
        assert loss(target, target).dtype == torch.float64
    of_numpy = losses.iou_loss(np.array([GOOD[:4]], np.float32), np.array([[2, 2, 9, 8]]))
    assert of_numpy.dtype == np.float32
