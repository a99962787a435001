"""The value and the gradient of a loss in one pass of native code, for tensors on the CPU.

For CIoU, PyTorch runs about sixty operations and keeps the result of each for the gradient. Here it keeps only the
gradient, four numbers per pair. Importing this file registers it with `ioukit.losses`, whose functions then use it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ioukit import _core
from ioukit._arrays import namespace_of, shared_with_numpy
from ioukit.losses._pairs import FUSED, PairLoss, TrainingPairs

# Other subclasses of tensors may have no memory of their own, or intercept each operation.
_PLAIN = (Tensor, torch.nn.Parameter)


def fused_loss(loss: PairLoss, pred: Tensor, target: Tensor) -> Tensor | None:
    """The losses of pairs, or None if only the formulas in PyTorch can compute them.

    These cases are tensors on another device, a program that is compiled or transformed (``torch.compile``,
    ``torch.func``, forward-mode derivatives), and subclasses of tensors.
    """
    if type(pred) not in _PLAIN or type(target) not in _PLAIN:
        return None
    with torch.no_grad():
        if shared_with_numpy(pred, target, *(one for one in loss.parameters if isinstance(one, Tensor))) is None:
            return None
    return _Fused.apply(loss, pred.contiguous(), target.contiguous())


class _Fused(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, loss: PairLoss, pred: Tensor, target: Tensor) -> Tensor:
        losses, slope = _value_and_slope(loss, pred, target)
        ctx.loss = loss
        ctx.save_for_backward(pred, target, slope if ctx.needs_input_grad[1] else None)
        return losses

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[None, Tensor | None, Tensor | None]:
        (factors,) = upstream
        pred, target, slope = ctx.saved_tensors
        _, by_pred, by_target = ctx.needs_input_grad
        if torch.is_grad_enabled():  # create_graph=True: the gradient needs a gradient itself
            return None, *_differentiable(ctx.loss, pred, target, factors, by_pred, by_target)
        factors = factors.unsqueeze(-1)
        first = factors * slope if by_pred else None
        # All these losses are symmetric: the gradient in the target is that of the swapped pair.
        second = factors * _value_and_slope(ctx.loss, target, pred)[1] if by_target else None
        return None, first, second


def _value_and_slope(loss: PairLoss, pred: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    losses, slope = pred.new_empty(pred.shape[:-1]), torch.empty_like(pred)
    first, second, values, gradient = (tensor.detach().numpy() for tensor in (pred, target, losses, slope))
    name, numbers = str(loss.native), [float(one) for one in loss.parameters]
    _core.loss_gradient(name, numbers, first, second, values, gradient, torch.get_num_threads())
    return losses, slope


def _differentiable(
    loss: PairLoss, pred: Tensor, target: Tensor, factors: Tensor, by_pred: bool, by_target: bool
) -> tuple[Tensor | None, Tensor | None]:
    losses = loss.formula(TrainingPairs(namespace_of(pred), pred, target))
    wanted = [tensor for tensor, needed in ((pred, by_pred), (target, by_target)) if needed]
    found = iter(torch.autograd.grad(losses, wanted, factors, create_graph=True))
    return next(found) if by_pred else None, next(found) if by_target else None


FUSED["torch"] = fused_loss
