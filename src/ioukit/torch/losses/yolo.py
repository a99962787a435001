"""What the YOLO family learns from beside the overlap: boxes of assigned cells, objectness, distributions of sides."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from ioukit._arrays import namespace_of
from ioukit.losses import ciou_loss
from ioukit.losses._pairs import Reduction, reduced
from ioukit.typing import BoxFormat

__all__ = ["dfl_loss", "objectness_loss", "yolo_box_loss"]


def yolo_box_loss(
    pred: Tensor,
    target: Tensor,
    assigned: Tensor,
    *,
    lambda_coord: float = 5.0,
    format: BoxFormat = "xyxy",
    reduction: Reduction = "mean",
) -> Tensor:
    """``lambda_coord (1 - CIoU)`` of the cells that a ground truth was assigned to; the others teach no box.

    Args:
        pred: (..., 4), a box for every cell.
        target: (..., 4); what stands in cells without a ground truth has no influence, whatever it is.
        assigned: (...), bool.
        lambda_coord: The factor; 5 in the first YOLO.
        format: Of both.
        reduction: ``"mean"`` over the assigned cells, 0 if there are none; ``"sum"``; ``"none"``: (...), 0 elsewhere.

    Raises:
        ValueError: If shapes do not fit.

    Reference: Redmon et al., You Only Look Once, CVPR 2016, arXiv:1506.02640; with CIoU since YOLOv4, arXiv:2004.10934.
    """
    if assigned.shape != pred.shape[:-1] or assigned.dtype != torch.bool:
        raise ValueError(
            f"assigned must be bool of shape {tuple(pred.shape[:-1])}, got {assigned.dtype} of {tuple(assigned.shape)}"
        )
    # Not a selection of rows, whose number a compiled program does not know.
    of_cells = assigned.unsqueeze(-1)
    boxes = [torch.where(of_cells, one, torch.zeros((), dtype=one.dtype, device=one.device)) for one in (pred, target)]
    losses: Tensor = ciou_loss(*boxes, format=format, reduction=reduction, weight=assigned)
    return lambda_coord * losses


def objectness_loss(
    pred: Tensor, iou_targets: Tensor, *, reduction: Reduction = "mean", weight: Tensor | None = None
) -> Tensor:
    """Binary cross entropy of the objectness with the overlap that each box has with its ground truth.

    Args:
        pred: (...), logits.
        iou_targets: (...), from 0 where nothing is assigned; below 0 (GIoU, CIoU) counts as 0. It gets no gradient.
        reduction: ``"none"``, ``"sum"`` or ``"mean"``, which divides by the sum of the weights.
        weight: A factor per logit, or what broadcasts to that.

    Raises:
        ValueError: If the shapes differ.
    """
    if pred.shape != iou_targets.shape:
        shapes = f"{tuple(pred.shape)} and {tuple(iou_targets.shape)}"
        raise ValueError(f"pred and iou_targets must have one shape, got {shapes}")
    logits = pred if pred.dtype.itemsize >= 4 else pred.float()
    targets = iou_targets.detach().to(logits.dtype).clamp(0, 1)
    losses = functional.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    return reduced(namespace_of(losses), losses, reduction, weight)


def dfl_loss(pred: Tensor, target: Tensor, *, reduction: Reduction = "mean", weight: Tensor | None = None) -> Tensor:
    """Distribution focal loss: the cross entropy with the two bins around each distance, weighted by their nearness.

    Args:
        pred: (..., 4, bins), logits of the distances to left, top, right and bottom, in steps of the grid.
        target: (..., 4), continuous, within [0, bins - 1]; beyond, they count as the nearer end.
        reduction: ``"none"``: (...), the mean of the four sides of each box; ``"sum"``; or ``"mean"``, which divides by
            the sum of the weights.
        weight: A factor per box, (...) or what broadcasts to that.

    Raises:
        ValueError: If shapes do not fit.

    Reference: Li et al., Generalized Focal Loss, NeurIPS 2020, arXiv:2006.04388.
    """
    if pred.ndim < 2 or pred.shape[-2] != 4 or pred.shape[-1] < 2:
        raise ValueError(f"pred must have shape (..., 4, bins) with 2 or more bins, got {tuple(pred.shape)}")
    if target.shape != pred.shape[:-1]:
        raise ValueError(f"target must have shape {tuple(pred.shape[:-1])}, got {tuple(target.shape)}")
    logits = pred if pred.dtype.itemsize >= 4 else pred.float()
    last = logits.shape[-1] - 1
    place = target.detach().to(logits.dtype).clamp(0, last)
    low = place.floor().clamp(max=last - 1)
    share = (place - low).unsqueeze(-1)  # of the upper bin
    bins = low.long().unsqueeze(-1)
    chances = logits.log_softmax(dim=-1)
    losses = -(chances.gather(-1, bins) * (1 - share) + chances.gather(-1, bins + 1) * share).squeeze(-1)
    return reduced(namespace_of(losses), losses.mean(dim=-1), reduction, weight)
