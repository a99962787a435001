"""Losses of class logits that belong to the assignments of boxes: focal, quality focal and varifocal loss."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ioukit._arrays import as_floats, computing_dtype_in, constant, library_of, namespace_of, one_library
from ioukit.losses._help import documented_logits
from ioukit.losses._pairs import Reduction, broadcast, reduced, weighted

if TYPE_CHECKING:
    from ioukit.typing import Array


@documented_logits
def focal_loss(
    pred: Array,
    target: Array,
    *,
    alpha: float | None = 0.25,
    gamma: float = 2.0,
    reduction: Reduction = "none",
    weight: Array | None = None,
    avg_factor: float | Array | None = None,
) -> Array:
    """``-alpha_t (1 - p_t)^gamma log p_t``: the cross entropy, in which what is right already counts less.

    ``p_t`` is the probability p of a positive, and ``1 - p`` of a negative. It is torchvision's `sigmoid_focal_loss`.

    Options:
        alpha: The weight of positives; that of negatives is ``1 - alpha``. None: both weigh 1.
        gamma: The power, at least 0.

    Reference: Lin et al., Focal Loss for Dense Object Detection, ICCV 2017, arXiv:1708.02002.
    """
    _check_powers(alpha=0 if alpha is None else alpha, gamma=gamma)

    def formula(xp: Any, one: _Logits) -> Array:
        right, wrong = one.target, 1 - one.target
        balance = 1.0 if alpha is None else alpha * right + (1 - alpha) * wrong
        return balance * _power(xp, right * one.miss + wrong * one.hit, gamma) * one.entropy

    return _loss(formula, pred, target, reduction, weight, avg_factor)


@documented_logits
def quality_focal_loss(
    pred: Array,
    target: Array,
    *,
    beta: float = 2.0,
    reduction: Reduction = "none",
    weight: Array | None = None,
    avg_factor: float | Array | None = None,
) -> Array:
    """``|y - p|^beta`` times the cross entropy, for a score that is class and quality at once.

    The target y is the overlap of a positive and its object, in the column of its class, and 0 elsewhere.

    Options:
        beta: The power, at least 0.

    Reference: Li et al., Generalized Focal Loss, NeurIPS 2020, arXiv:2006.04388.
    """
    _check_powers(beta=beta)

    def formula(xp: Any, one: _Logits) -> Array:
        apart = one.target * one.miss - (1 - one.target) * one.hit
        return _power(xp, xp.maximum(apart, -apart), beta) * one.entropy

    return _loss(formula, pred, target, reduction, weight, avg_factor)


@documented_logits
def varifocal_loss(
    pred: Array,
    target: Array,
    *,
    alpha: float = 0.75,
    gamma: float = 2.0,
    reduction: Reduction = "none",
    weight: Array | None = None,
    avg_factor: float | Array | None = None,
) -> Array:
    """Positives weigh as much as their target q, negatives ``alpha p^gamma``.

    The target q is the overlap of a positive and its object, in the column of its class, and 0 elsewhere. So good boxes
    count most, and only negatives count less when they are right.

    Options:
        alpha: The factor of negatives.
        gamma: The power of negatives, at least 0.

    Reference: Zhang et al., VarifocalNet, CVPR 2021, arXiv:2008.13367.
    """
    _check_powers(alpha=alpha, gamma=gamma)

    def formula(xp: Any, one: _Logits) -> Array:
        share = xp.where(one.target <= 0, alpha * _power(xp, one.hit, gamma), one.target)
        return share * one.entropy

    return _loss(formula, pred, target, reduction, weight, avg_factor)


class _Logits(NamedTuple):
    """Logits as probabilities, none of which comes from a difference."""

    target: Array
    hit: Array
    """p"""
    miss: Array
    """1 - p"""
    entropy: Array
    """The binary cross entropy."""


def _loss(
    formula: Callable[[Any, _Logits], Array],
    pred: Array,
    target: Array,
    reduction: Reduction,
    weight: Array | None,
    avg_factor: float | Array | None,
) -> Array:
    pred, target = (
        as_floats(array, name) if library_of(array) == "numpy" else array
        for name, array in (("pred", pred), ("target", target))
    )
    one_library(pred=pred, target=target)
    xp = namespace_of(pred)
    if not xp.isdtype(pred.dtype, "real floating"):
        raise TypeError(f"pred must hold floating point logits, got dtype {pred.dtype}")
    dtype = computing_dtype_in(xp, pred.dtype)
    logits, target = (xp.astype(array, dtype, copy=False) for array in (pred, target))
    target = broadcast(xp, constant(target), logits.shape, "target must broadcast to pred")
    factors, logits, target = weighted(xp, weight, logits.shape, dtype, logits, target)
    # Ties of `minimum` and `maximum` split evenly, so the slope is right at 0, too.
    tail, none = xp.log1p(xp.exp(xp.minimum(logits, -logits))), xp.zeros_like(logits)
    of_hit, of_miss = xp.maximum(-logits, none) + tail, xp.maximum(logits, none) + tail
    entropy = target * of_hit + (1 - target) * of_miss
    losses = formula(xp, _Logits(target, xp.exp(-of_hit), xp.exp(-of_miss), entropy))
    return reduced(xp, losses, reduction, factors, avg_factor)


def _power(xp: Any, base: Array, exponent: float) -> Array:
    """The power of a base of at least 0, without a gradient at 0."""
    return xp.where(base <= 0, 0.0**exponent, xp.where(base <= 0, 1.0, base) ** exponent)


def _check_powers(**values: float) -> None:
    for name, value in values.items():
        if not 0 <= value < math.inf:
            raise ValueError(f"{name} must be finite and at least 0, got {value}")
