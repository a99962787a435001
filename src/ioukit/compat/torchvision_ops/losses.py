"""The box losses of torchvision, including their epsilons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit.compat._torchscript import not_for_torchscript
from ioukit.compat.torchvision_ops._inputs import check_arrays, in_floats
from ioukit.losses import ciou_loss, diou_loss, giou_loss

if TYPE_CHECKING:
    from collections.abc import Callable

    from ioukit.typing import Array

__all__ = ["complete_box_iou_loss", "distance_box_iou_loss", "generalized_box_iou_loss"]

_EPS = 1e-7


@not_for_torchscript
def generalized_box_iou_loss(boxes1: Array, boxes2: Array, reduction: str = "none", eps: float = 1e-7) -> Array:
    """``1 - GIoU`` of each box with its target: `ioukit.losses.giou_loss` with ``compat="torchvision"``.

    Args:
        boxes1: (N, 4) or (4,), xyxy.
        boxes2: The same shape.
        reduction: ``"none"``, ``"mean"`` (0 for no boxes) or ``"sum"``.
        eps: Must be 1e-7, which torchvision adds to denominators. `ioukit.losses.giou_loss` itself needs no epsilon.

    Returns:
        (N,), or a single number if reduced: float64 for float64, else float32.

    Raises:
        ValueError: If the reduction is unknown, shapes differ, or ``eps`` is not 1e-7.
    """
    return _loss(giou_loss, boxes1, boxes2, reduction, eps)


@not_for_torchscript
def distance_box_iou_loss(boxes1: Array, boxes2: Array, reduction: str = "none", eps: float = 1e-7) -> Array:
    """``1 - DIoU`` of each box with its target: `ioukit.losses.diou_loss`; see `generalized_box_iou_loss`."""
    return _loss(diou_loss, boxes1, boxes2, reduction, eps)


@not_for_torchscript
def complete_box_iou_loss(boxes1: Array, boxes2: Array, reduction: str = "none", eps: float = 1e-7) -> Array:
    """``1 - CIoU`` of each box with its target: `ioukit.losses.ciou_loss`; see `generalized_box_iou_loss`."""
    return _loss(ciou_loss, boxes1, boxes2, reduction, eps)


def _loss(loss: Callable[..., Array], boxes1: Array, boxes2: Array, reduction: str, eps: float) -> Array:
    check_arrays(boxes1=boxes1, boxes2=boxes2)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"Invalid reduction {reduction!r}; choose from none, mean, sum")
    if eps != _EPS:
        raise ValueError(f"eps must be {_EPS}, got {eps}: ioukit.losses has the same losses without an epsilon")
    if tuple(boxes1.shape) != tuple(boxes2.shape):
        raise ValueError(f"boxes1 and boxes2 must have one shape, got {tuple(boxes1.shape)} and {tuple(boxes2.shape)}")
    return in_floats(loss, boxes1, boxes2, reduction=reduction, compat="torchvision")
