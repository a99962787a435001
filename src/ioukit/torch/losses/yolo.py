"""The other losses of the YOLO family: boxes of assigned cells, objectness, distributions of distances."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

from ioukit._arrays import namespace_of
from ioukit.losses import ciou_loss
from ioukit.losses._pairs import Reduction, reduced, weighted
from ioukit.typing import BoxFormat

_ULTRALYTICS_MARGIN = 0.01  # keeps the upper bin below the last one


def yolo_box_loss(
    pred: Tensor,
    target: Tensor,
    assigned: Tensor,
    *,
    lambda_coord: float = 5.0,
    format: BoxFormat = "xyxy",
    reduction: Reduction = "mean",
) -> Tensor:
    """``lambda_coord (1 - CIoU)`` of the cells with an assigned object. Other cells have no box loss.

    Args:
        pred: (..., 4) the predicted box of every cell, xyxy by default.
        target: (..., 4) the box to predict. Its values in other cells are ignored; they may be NaN.
        assigned: (...), bool, true for the cells with an assigned object.
        lambda_coord: The factor; 5 in the first YOLO.
        format: The format of both: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``.
        reduction: ``"mean"`` (the default) over the assigned cells, 0 if there are none; ``"sum"``; or ``"none"``:
            (...), 0 in other cells.

    Returns:
        The loss.

    Raises:
        ValueError: If shapes do not fit.

    Reference: Redmon et al., You Only Look Once, CVPR 2016, arXiv:1506.02640; with CIoU since YOLOv4, arXiv:2004.10934.
    """
    if assigned.shape != pred.shape[:-1] or assigned.dtype != torch.bool:
        raise ValueError(
            f"assigned must be bool of shape {tuple(pred.shape[:-1])}, got {assigned.dtype} of {tuple(assigned.shape)}"
        )
    # Not a selection of rows: a compiled program does not know their number.
    losses: Tensor = ciou_loss(pred, target, format=format, reduction=reduction, weight=assigned)
    return lambda_coord * losses


def objectness_loss(
    pred: Tensor,
    iou_targets: Tensor,
    *,
    reduction: Reduction = "mean",
    weight: Tensor | None = None,
    avg_factor: float | Tensor | None = None,
) -> Tensor:
    """Binary cross entropy of the objectness with the overlap of each predicted box and its object.

    Args:
        pred: (...), logits.
        iou_targets: (...), the overlap, and 0 without an assigned object. Negative values (GIoU, CIoU) count as 0. They
            get no gradient.
        reduction: ``"mean"`` (the default), which divides by the sum of the weights; ``"sum"``; or ``"none"``.
        weight: A factor per logit, or an array that broadcasts to that.
        avg_factor: What ``"mean"`` divides by, instead of the sum of the weights. 0 counts as 1.

    Returns:
        The loss; float32 for half precision.

    Raises:
        ValueError: If the shapes differ.
    """
    if pred.shape != iou_targets.shape:
        shapes = f"{tuple(pred.shape)} and {tuple(iou_targets.shape)}"
        raise ValueError(f"pred and iou_targets must have one shape, got {shapes}")
    logits = pred if pred.dtype.itemsize >= 4 else pred.float()
    xp, targets = namespace_of(logits), iou_targets.detach().to(logits.dtype).clamp(0, 1)
    factors, logits, targets = weighted(xp, weight, logits.shape, logits.dtype, logits, targets)
    losses = functional.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    return reduced(xp, losses, reduction, factors, avg_factor)


def dfl_loss(
    pred: Tensor,
    target: Tensor,
    *,
    reduction: Reduction = "mean",
    weight: Tensor | None = None,
    avg_factor: float | Tensor | None = None,
    compat: Literal["ultralytics"] | None = None,
) -> Tensor:
    """Distribution focal loss: the cross entropy with the two bins around each distance, the nearer one weighted more.

    Args:
        pred: (..., 4, bins), logits of the distances to the left, top, right and bottom edges, in cells of the grid.
        target: (..., 4) the distances, clamped to [0, bins - 1]. It stays as it is; Ultralytics clamps it in place.
        reduction: ``"mean"`` (the default), which divides by the sum of the weights; ``"sum"``; or ``"none"``: (...),
            the mean of the four sides of each box.
        weight: A factor per box: (...), or an array that broadcasts to it.
        avg_factor: What ``"mean"`` divides by, instead of the sum of the weights. 0 counts as 1.
        compat: ``"ultralytics"``: clamp the distances to [0, bins - 1.01], as Ultralytics does. So the last bin never
            has more than 0.99 of the weight.

    Returns:
        The loss; float32 for half precision.

    Raises:
        ValueError: If shapes do not fit, or ``compat`` is not known.

    Reference: Li et al., Generalized Focal Loss, NeurIPS 2020, arXiv:2006.04388.
    """
    if compat not in (None, "ultralytics"):
        raise ValueError(f"unknown compat={compat!r}; dfl_loss has ultralytics")
    if pred.ndim < 2 or pred.shape[-2] != 4 or pred.shape[-1] < 2:
        raise ValueError(f"pred must have shape (..., 4, bins) with 2 or more bins, got {tuple(pred.shape)}")
    if target.shape != pred.shape[:-1]:
        raise ValueError(f"target must have shape {tuple(pred.shape[:-1])}, got {tuple(target.shape)}")
    logits = pred if pred.dtype.itemsize >= 4 else pred.float()
    xp, last = namespace_of(logits), logits.shape[-1] - 1
    factors, logits, target = weighted(xp, weight, pred.shape[:-2], logits.dtype, logits, target)
    place = target.detach().to(logits.dtype).clamp(0, last if compat is None else last - _ULTRALYTICS_MARGIN)
    low = place.floor().clamp(max=last - 1)
    share = (place - low).unsqueeze(-1)  # of the upper bin
    bins = low.nan_to_num().long().unsqueeze(-1)  # a share of NaN makes the loss NaN
    chances = logits.log_softmax(dim=-1)
    losses = -(chances.gather(-1, bins) * (1 - share) + chances.gather(-1, bins + 1) * share).squeeze(-1)
    return reduced(xp, losses.mean(dim=-1), reduction, factors, avg_factor)
