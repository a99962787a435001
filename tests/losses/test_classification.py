"""Focal, quality focal and varifocal loss: against the formulas of the papers, torchvision, and in all libraries."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import array_api_strict as strict
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ioukit import losses

if TYPE_CHECKING:
    from collections.abc import Callable

ANY: Any = losses  # to be called with what its types forbid


def chances(logits: Any) -> Any:
    return 1 / (1 + np.exp(-logits))


def focal(x: Any, y: Any, alpha: float, gamma: float) -> Any:
    p = np.where(y == 1, chances(x), 1 - chances(x))
    return -np.where(y == 1, alpha, 1 - alpha) * (1 - p) ** gamma * np.log(p)


def quality(x: Any, y: Any, beta: float) -> Any:
    p = chances(x)
    return -(np.abs(y - p) ** beta) * ((1 - y) * np.log(1 - p) + y * np.log(p))


def varifocal(x: Any, q: Any, alpha: float, gamma: float) -> Any:
    p = chances(x)
    return np.where(q > 0, -q * (q * np.log(p) + (1 - q) * np.log(1 - p)), -alpha * p**gamma * np.log(1 - p))


LOSSES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "focal": (losses.focal_loss, partial(focal, alpha=0.25, gamma=2)),
    "focal_1": (partial(losses.focal_loss, alpha=0.6, gamma=0.5), partial(focal, alpha=0.6, gamma=0.5)),
    "focal_0": (partial(losses.focal_loss, gamma=0), partial(focal, alpha=0.25, gamma=0)),
    "quality": (losses.quality_focal_loss, partial(quality, beta=2)),
    "quality_1": (partial(losses.quality_focal_loss, beta=1), partial(quality, beta=1)),
    "varifocal": (losses.varifocal_loss, partial(varifocal, alpha=0.75, gamma=2)),
    "varifocal_1": (partial(losses.varifocal_loss, alpha=1, gamma=1.5), partial(varifocal, alpha=1, gamma=1.5)),
}
every_loss = pytest.mark.parametrize("name", LOSSES)


def cases(name: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    logits, target = rng.normal(0, 3, (50, 4)), rng.random((50, 4))
    target[rng.random((50, 4)) < 0.5] = 0
    return logits, np.ceil(target) if name.startswith("focal") else target


@every_loss
def test_formulas_of_the_papers(name: str) -> None:
    loss, paper = LOSSES[name]
    logits, target = cases(name)
    expected = paper(logits, target)
    assert_allclose(loss(logits, target), expected, rtol=1e-10)
    assert_allclose(np.from_dlpack(loss(strict.asarray(logits), strict.asarray(target))), expected, rtol=1e-10)
    single = loss(logits.astype(np.float32), target)
    assert single.dtype == np.float32
    assert_allclose(single, expected, rtol=1e-5, atol=1e-7)
    assert loss(logits.astype(np.float16), target).dtype == np.float32
    weight = np.arange(50.0)[:, None]
    assert_allclose(loss(logits, target, weight=weight, reduction="mean"), (expected * weight).sum() / weight.sum() / 4)
    assert_allclose(loss(logits, target, weight=weight, reduction="mean", avg_factor=9), (expected * weight).sum() / 9)
    assert_allclose(loss(logits, target[0], reduction="sum"), paper(logits, target[0] + 0 * logits).sum())


@every_loss
def test_nan_and_rows_without_weight(name: str) -> None:
    loss, _ = LOSSES[name]
    logits, target = cases(name)
    logits[0, 0], target[1, 1] = np.nan, np.nan
    is_nan = np.isnan(logits) | np.isnan(target)
    assert_array_equal(np.isnan(loss(logits, target)), is_nan)
    kept = loss(logits[~is_nan], target[~is_nan], reduction="mean")
    assert_allclose(loss(logits, target, weight=~is_nan, reduction="mean"), kept)


@every_loss
def test_gradients(name: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    loss, _ = LOSSES[name]
    logits, target = cases(name)
    leaf, given = torch.tensor(logits, requires_grad=True), torch.tensor(target, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: loss(x, given.detach()), (leaf,))
    loss(leaf, given, reduction="sum").backward()
    assert given.grad is None
    far = torch.tensor([-1e4, -90.0, -30, 0, 30, 90, 1e4], requires_grad=True)
    for value in (0.0, 1.0) if name.startswith("focal") else (0.0, 0.5, 1.0):
        each = loss(far, torch.full((7,), value))
        (slope,) = torch.autograd.grad(each.sum(), far)
        assert torch.isfinite(each).all()
        assert torch.isfinite(slope).all()
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    of_jax = jax.grad(lambda x: loss(x, jax.numpy.asarray(target)).sum())(jax.numpy.asarray(logits))
    assert_allclose(of_jax, leaf.grad, rtol=2e-4, atol=1e-5)


def test_torchvisions_focal_loss() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    ops = pytest.importorskip("torchvision", reason="torchvision is not installed").ops
    logits, target = (torch.tensor(one) for one in cases("quality"))  # its targets may lie between 0 and 1, too
    for alpha, gamma in ((0.25, 2), (0.6, 1.5), (None, 0)):
        found = []
        for loss, options in (
            (losses.focal_loss, {"alpha": alpha}),
            (ops.sigmoid_focal_loss, {"alpha": -1 if alpha is None else alpha}),
        ):
            leaf = logits.clone().requires_grad_()
            each = loss(leaf, target, gamma=gamma, **options)
            found.append((each.detach(), *torch.autograd.grad(each.sum(), leaf)))
        for ours, theirs in zip(*found, strict=True):
            assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_targets_that_are_integers() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    logits = torch.tensor([[0.5, -1.0], [2.0, 0.0]])
    one_hot = torch.tensor([[1, 0], [0, 1]])
    for loss in (losses.focal_loss, losses.quality_focal_loss, losses.varifocal_loss):
        expected = loss(logits, one_hot.float())
        assert torch.equal(loss(logits, one_hot), expected)
        assert torch.equal(loss(logits, one_hot.bool()), expected)
        assert_allclose(loss(logits.tolist(), one_hot.tolist()), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda a: ANY.focal_loss(a, a[:3]), ValueError, r"target must broadcast to pred, got shapes \(3, 4\)"),
        (lambda a: ANY.focal_loss(a, a, gamma=-1), ValueError, "gamma must be finite and at least 0, got -1"),
        (lambda a: ANY.quality_focal_loss(a, a, beta=np.inf), ValueError, "beta must be finite and at least 0"),
        (lambda a: ANY.varifocal_loss(a, strict.asarray(a)), TypeError, "must come from one library"),
        (lambda a: ANY.varifocal_loss(strict.asarray(a > 1), strict.asarray(a)), TypeError, "floating point logits"),
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(np.zeros((50, 4)))
