"""The losses as modules. A module is made with the options and called as ``loss(pred, target)``.

The public names are listed in the package, `ioukit.torch.losses`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ClassVar, Literal, get_args

import torch
from torch import Tensor, nn

from ioukit import losses
from ioukit._checks import check_choice
from ioukit.losses._pairs import Reduction
from ioukit.torch.losses import yolo
from ioukit.typing import BoxFormat

_PER_BATCH = ("weight", "avg_factor")


class LossModule(nn.Module):
    """A loss function together with its options.

    Args:
        reduction: ``"mean"`` (the default), ``"sum"`` or ``"none"``.
        options: The other keywords of the function, except ``weight`` and ``avg_factor``, which come with each batch.

    Raises:
        ValueError: If the reduction is not known.
        TypeError: If the function has no such option, or needs one that is missing.
    """

    function: ClassVar[Callable[..., Any]]

    def __init_subclass__(cls, *, of: Callable[..., Any] | None = None) -> None:
        super().__init_subclass__()
        if of is not None:
            cls.function = staticmethod(of)
            cls.__doc__ = f"`{of.__name__}` as a module: {inspect.getdoc(of)}"

    def __init__(self, *, reduction: Reduction = "mean", **options: Any) -> None:
        super().__init__()
        parameters = inspect.signature(self.function).parameters
        known = {name for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY} - {"reduction", *_PER_BATCH}
        needed = {name for name in known if parameters[name].default is inspect.Parameter.empty}
        wrong = sorted(options.keys() - known) or sorted(needed - options.keys())
        if wrong:
            problem = "has no option" if options.keys() - known else "needs the option"
            raise TypeError(f"{type(self).__name__} {problem} {', '.join(wrong)}; there are {', '.join(sorted(known))}")
        check_choice("reduction", reduction, get_args(Reduction))
        self.options = {"reduction": reduction, **options}

    def forward(
        self, pred: Tensor, target: Tensor, weight: Tensor | None = None, avg_factor: float | Tensor | None = None
    ) -> Tensor:
        """The reduced loss."""
        result: Tensor = self.function(pred, target, weight=weight, avg_factor=avg_factor, **self.options)
        return result

    def extra_repr(self) -> str:
        """The options."""
        return ", ".join(f"{name}={value!r}" for name, value in self.options.items())


class IoULoss(LossModule, of=losses.iou_loss): ...  # noqa: D101 - the docstring comes from the function


class GIoULoss(LossModule, of=losses.giou_loss): ...  # noqa: D101


class DIoULoss(LossModule, of=losses.diou_loss): ...  # noqa: D101


class CIoULoss(LossModule, of=losses.ciou_loss): ...  # noqa: D101


class EIoULoss(LossModule, of=losses.eiou_loss): ...  # noqa: D101


class FocalEIoULoss(LossModule, of=losses.focal_eiou_loss): ...  # noqa: D101


class SIoULoss(LossModule, of=losses.siou_loss): ...  # noqa: D101


class MPDIoULoss(LossModule, of=losses.mpdiou_loss): ...  # noqa: D101


class AlphaIoULoss(LossModule, of=losses.alpha_iou_loss): ...  # noqa: D101


class InnerIoULoss(LossModule, of=losses.inner_iou_loss): ...  # noqa: D101


class FocalerIoULoss(LossModule, of=losses.focaler_iou_loss): ...  # noqa: D101


class ShapeIoULoss(LossModule, of=losses.shape_iou_loss): ...  # noqa: D101


class NWDLoss(LossModule, of=losses.nwd_loss): ...  # noqa: D101


class RotatedIoULoss(LossModule, of=losses.rotated_iou_loss): ...  # noqa: D101


class ProbIoULoss(LossModule, of=losses.probiou_loss): ...  # noqa: D101


class KFIoULoss(LossModule, of=losses.kfiou_loss): ...  # noqa: D101


class GWDLoss(LossModule, of=losses.gwd_loss): ...  # noqa: D101


class KLDLoss(LossModule, of=losses.kld_loss): ...  # noqa: D101


class FocalLoss(LossModule, of=losses.focal_loss): ...  # noqa: D101


class QualityFocalLoss(LossModule, of=losses.quality_focal_loss): ...  # noqa: D101


class VarifocalLoss(LossModule, of=losses.varifocal_loss): ...  # noqa: D101


class ObjectnessLoss(LossModule, of=yolo.objectness_loss): ...  # noqa: D101


class DFLLoss(LossModule, of=yolo.dfl_loss): ...  # noqa: D101


class YOLOBoxLoss(LossModule, of=yolo.yolo_box_loss):  # noqa: D101
    def forward(self, pred: Tensor, target: Tensor, assigned: Tensor) -> Tensor:  # type: ignore[override]
        """The reduced loss of the boxes in assigned cells."""
        result: Tensor = self.function(pred, target, assigned, **self.options)
        return result


class WIoULoss(nn.Module):
    """Wise-IoU with its running mean of ``1 - IoU``. `ioukit.losses.wiou_loss` describes the loss.

    The mean starts at 1. In training, each batch moves it by ``momentum`` towards the mean of the batch, before the
    loss of the batch is computed. Boxes of weight 0, and boxes that are not finite, do not move it. With several
    processes (``torch.distributed``) the mean of a batch is over the boxes of all of them, so all have the same running
    mean. The running mean is a buffer in float64, which is saved with the model.

    Args:
        version: 1 (without a mean), 2 or 3.
        momentum: How far one batch moves the mean, within [0, 1].
        gamma: The power of version 2.
        alpha: The base of version 3.
        delta: The outlier degree to which version 3 gives the weight 1.
        format: The format of the boxes: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``.
        reduction: ``"mean"`` (the default), ``"sum"`` or ``"none"``.

    Raises:
        ValueError: If the version is not known, or the momentum is not within [0, 1].

    Reference: Tong et al., Wise-IoU, 2023, arXiv:2301.10051.
    """

    running_mean: Tensor

    def __init__(
        self,
        version: Literal[1, 2, 3] = 3,
        *,
        momentum: float = 0.01,
        gamma: float = 0.5,
        alpha: float = 1.7,
        delta: float = 2.7,
        format: BoxFormat = "xyxy",
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__()
        if version not in (1, 2, 3):
            raise ValueError(f"unknown version {version!r}; choose from 1, 2, 3")
        if not 0 <= momentum <= 1:
            raise ValueError(f"momentum must be within [0, 1], got {momentum}")
        self.momentum = momentum
        self.options: dict[str, Any] = {"version": version, "gamma": gamma, "alpha": alpha, "delta": delta}
        self.options |= {"format": format, "reduction": reduction}
        self.register_buffer("running_mean", torch.ones((), dtype=torch.float64))

    def forward(
        self, pred: Tensor, target: Tensor, weight: Tensor | None = None, avg_factor: float | Tensor | None = None
    ) -> Tensor:
        """The reduced loss. In training, the running mean moves first."""
        if self.training and self.options["version"] > 1:
            self._move(pred, target, weight)
        given = {"weight": weight, "avg_factor": avg_factor, "mean": self.running_mean}
        result: Tensor = losses.wiou_loss(pred, target, **given, **self.options)
        return result

    @torch.no_grad()
    def _move(self, pred: Tensor, target: Tensor, weight: Tensor | None) -> None:
        of_batch = losses.iou_loss(pred.detach(), target.detach(), format=self.options["format"])
        # One NaN would stay in the mean for good, and so would a box of an overflow.
        counts = of_batch.isfinite() & (pred.isfinite() & target.isfinite()).all(dim=-1)
        if weight is not None:
            counts = counts & (torch.as_tensor(weight, device=counts.device) != 0)
        summed = torch.stack([torch.where(counts, of_batch, 0.0).double().sum(), counts.double().sum()])
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            torch.distributed.all_reduce(summed)
        total, number = summed.to(self.running_mean)
        moved = self.running_mean + self.momentum * (total / number.clamp(min=1) - self.running_mean)
        self.running_mean.copy_(torch.where(number > 0, moved, self.running_mean))

    def extra_repr(self) -> str:
        """The options."""
        return ", ".join(f"{name}={value!r}" for name, value in {**self.options, "momentum": self.momentum}.items())
