"""Losses of boxes and of class logits for NumPy, PyTorch, JAX and other arrays."""

from ioukit.losses.classification import focal_loss, quality_focal_loss, varifocal_loss
from ioukit.losses.rotated import gwd_loss, kfiou_loss, kld_loss, probiou_loss, rotated_iou_loss
from ioukit.losses.upright import (
    alpha_iou_loss,
    ciou_loss,
    diou_loss,
    eiou_loss,
    focal_eiou_loss,
    focaler_iou_loss,
    giou_loss,
    inner_iou_loss,
    iou_loss,
    loss_and_gradient,
    mpdiou_loss,
    nwd_loss,
    shape_iou_loss,
    siou_loss,
    wiou_loss,
)

__all__ = [
    "alpha_iou_loss",
    "ciou_loss",
    "diou_loss",
    "eiou_loss",
    "focal_eiou_loss",
    "focal_loss",
    "focaler_iou_loss",
    "giou_loss",
    "gwd_loss",
    "inner_iou_loss",
    "iou_loss",
    "kfiou_loss",
    "kld_loss",
    "loss_and_gradient",
    "mpdiou_loss",
    "nwd_loss",
    "probiou_loss",
    "quality_focal_loss",
    "rotated_iou_loss",
    "shape_iou_loss",
    "siou_loss",
    "varifocal_loss",
    "wiou_loss",
]
