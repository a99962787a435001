"""The optimizer, the learning rate of each step, and the running mean of the weights."""

from __future__ import annotations

import math
from copy import deepcopy

import torch

from ioukit.torch.detector.model import YOLO
from ioukit.torch.detector.settings import Settings

__all__ = ["RunningMean", "learning_rate", "make_optimizer"]


def make_optimizer(model: YOLO, settings: Settings) -> torch.optim.Optimizer:
    """The optimizer of the settings; only the convolution kernels have weight decay."""
    kernels = [parameter for parameter in model.parameters() if parameter.ndim > 1]
    others = [parameter for parameter in model.parameters() if parameter.ndim <= 1]
    groups = [{"params": kernels, "weight_decay": settings.weight_decay}, {"params": others, "weight_decay": 0.0}]
    if settings.optimizer == "adamw":
        return torch.optim.AdamW(groups, lr=settings.lr)
    return torch.optim.SGD(groups, lr=settings.lr, momentum=0.9, nesterov=True)


def learning_rate(settings: Settings, done: float) -> float:
    """The learning rate after ``done`` epochs: it rises linearly, then falls along a cosine."""
    if done < settings.warmup:
        return settings.lr * done / settings.warmup
    part = (done - settings.warmup) / max(settings.epochs - settings.warmup, 1e-9)
    cosine = (1 + math.cos(math.pi * min(part, 1.0))) / 2
    return settings.lr * (settings.final_lr + (1 - settings.final_lr) * cosine)


class RunningMean:
    """The exponential mean of the weights. It changes more smoothly than the weights, and evaluates better."""

    def __init__(self, model: YOLO, decay: float) -> None:
        self.model, self.decay = deepcopy(model).eval(), decay
        self.model.requires_grad_(False)

    @torch.no_grad()
    def follow(self, model: YOLO, steps: int) -> None:
        """Updates the mean with the weights after ``steps`` steps."""
        # The first weights are bad; a low decay at the start forgets them soon.
        decay = self.decay * (1 - math.exp(-steps / 200))
        for mean, value in zip(self.model.state_dict().values(), model.state_dict().values(), strict=True):
            if mean.dtype.is_floating_point:
                mean.lerp_(value, 1 - decay)
            else:
                mean.copy_(value)
