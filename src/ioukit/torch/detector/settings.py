"""The settings of a training: all choices except the data, the network and the folder."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ioukit.torch.detector.batches import Augmentation

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """How to train.

    Attributes:
        epochs: How often every image is seen.
        batch: Images per step, over all processes.
        optimizer: ``"sgd"`` (with Nesterov momentum of 0.9) or ``"adamw"``.
        lr: The learning rate after the warm-up.
        final_lr: The learning rate at the end, as a fraction of ``lr``; a cosine leads from one to the other.
        weight_decay: Weight decay of the convolution kernels; biases and normalisation layers have none.
        warmup: Epochs in which the learning rate rises from 0.
        ema: Decay per step of the running mean of the weights. The running mean is what is evaluated and saved. The
            decay starts lower, so that the first weights are soon forgotten.
        clip: The largest norm of the gradient.
        loss: The loss of the boxes: a name of `ioukit.torch.detector.learning.BOX_LOSSES`.
        assigner: The rule that assigns objects to predictions: a name of
            `ioukit.torch.detector.learning.ASSIGNERS`; by default ``"yolov3"`` for the anchor head and
            ``"task_aligned"`` for the anchor-free head.
        augmentation: The random changes of the images.
        plain_epochs: How many epochs at the end use no mosaics.
        amp: Whether convolutions run in bfloat16 on devices where that is faster: GPUs since Ampere, CPUs with AMX.
        seed: Seed of everything random.
        workers: Number of processes that read images.
        evaluate_every: Epochs between two evaluations; the last epoch is always evaluated.
        save_steps: Steps between two saved states to resume from; the end of each epoch also saves one.
        device: A PyTorch device such as ``"cpu"`` or ``"cuda"``; by default CUDA if there is one.

    Raises:
        ValueError: If a count is below 1, or the optimizer is unknown.
    """

    epochs: int = 60
    batch: int = 16
    optimizer: Literal["sgd", "adamw"] = "adamw"
    lr: float = 2e-3
    final_lr: float = 0.02
    weight_decay: float = 0.02
    warmup: float = 2.0
    ema: float = 0.998
    clip: float = 10.0
    loss: str = "ciou"
    assigner: str | None = None
    augmentation: Augmentation = field(default_factory=Augmentation)
    plain_epochs: int = 5
    amp: bool = True
    seed: int = 1
    workers: int = 0
    evaluate_every: int = 1
    save_steps: int = 1000
    device: str | None = None

    def __post_init__(self) -> None:
        for name in ("epochs", "batch", "evaluate_every", "save_steps"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.optimizer not in ("sgd", "adamw"):
            raise ValueError(f"unknown optimizer {self.optimizer!r}; choose from sgd, adamw")
