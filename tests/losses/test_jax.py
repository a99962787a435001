"""The losses in JAX have the values and gradients that they have in PyTorch, kinks included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from support.losses_cases import ROTATED, UPRIGHT, adversarial, adversarial_rotated

torch = pytest.importorskip("torch", reason="torch is not installed")
jax = pytest.importorskip("jax", reason="jax is not installed")

ALL = {**UPRIGHT, **ROTATED}


def tame(name: str, count: int = 300) -> tuple[Any, Any]:
    """Without the extremes of size, at which roundings of float32 differ more than gradients do."""
    pred, target = (adversarial_rotated if name in ROTATED else adversarial)(200 * count, np.float32)
    sizes = [x[:, 2:4] if name in ROTATED else x[:, 2:4] - x[:, :2] for x in (pred, target)]
    good = np.ones(len(pred), bool)
    for x, size in zip((pred, target), sizes, strict=True):
        good &= (abs(x[:, :2]) <= 5).all(1) & ((abs(size) >= 0.4) | (size == 0)).all(1) & (abs(size) < 10).all(1)
    if name in ROTATED:  # a turn by nearly nothing is a kink that roundings decide
        good &= (pred[:, 4] != target[:, 4]) & (abs(np.sin(2 * (pred[:, 4] - target[:, 4]))) > 0.01)
    assert good.sum() >= count
    return pred[good][:count], target[good][:count]


@pytest.mark.parametrize("name", ALL)
def test_gradients_are_those_of_torch(name: str) -> None:
    pred, target = tame(name)
    leaf = torch.tensor(pred, requires_grad=True)
    expected = ALL[name](leaf, torch.tensor(target))
    expected.sum().backward()
    jnp = jax.numpy
    value, slope = jax.value_and_grad(lambda a: ALL[name](a, jnp.asarray(target)).sum())(jnp.asarray(pred))
    assert_allclose(ALL[name](jnp.asarray(pred), jnp.asarray(target)), expected.detach(), rtol=1e-5, atol=2e-6)
    assert_allclose(value, expected.sum().item(), rtol=1e-4, atol=1e-5)
    # A penalty of 0 but for roundings has a slope that they decide, and this power makes it count.
    assert_allclose(slope, leaf.grad, rtol=2e-3, atol=5e-3 if name == "alpha_giou" else 2e-4)
    if name not in ("ciou", "siou", "rotated_iou", "probiou"):  # compiling takes seconds
        return
    jitted = jax.jit(jax.grad(lambda a: ALL[name](a, jnp.asarray(target), reduction="mean")))(jnp.asarray(pred))
    assert_allclose(jitted * len(pred), slope, rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("name", ALL)
def test_gradients_are_finite_for_all_boxes(name: str) -> None:
    pred, target = (adversarial_rotated if name in ROTATED else adversarial)(20_000, np.float32)
    slopes = jax.grad(lambda a, b: ALL[name](a, b).sum(), argnums=(0, 1))(
        jax.numpy.asarray(pred), jax.numpy.asarray(target)
    )
    assert all(np.isfinite(slope).all() for slope in slopes)
