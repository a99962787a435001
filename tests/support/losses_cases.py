"""Every loss of upright and of rotated boxes by name, and difficult pairs of boxes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ioukit import losses
from ioukit.typing import FloatArray

__all__ = ["ROTATED", "UPRIGHT", "adversarial", "adversarial_rotated", "smooth_pairs"]

UPRIGHT: dict[str, Callable[..., Any]] = {
    "iou": losses.iou_loss,
    "iou_log": partial(losses.iou_loss, mode="log"),
    "iou_square": partial(losses.iou_loss, mode="square"),
    "giou": losses.giou_loss,
    "diou": losses.diou_loss,
    "ciou": losses.ciou_loss,
    "eiou": losses.eiou_loss,
    "focal_eiou": losses.focal_eiou_loss,
    "siou": losses.siou_loss,
    "mpdiou": partial(losses.mpdiou_loss, image_size=(64, 48)),
    "nwd": losses.nwd_loss,
    **{f"alpha_{b}": partial(losses.alpha_iou_loss, base=b) for b in ("iou", "giou", "diou", "ciou")},
    "alpha_half": partial(losses.alpha_iou_loss, alpha=0.5, base="ciou"),
    **{
        f"inner_{b}": partial(losses.inner_iou_loss, ratio=0.8, base=b)
        for b in ("iou", "giou", "diou", "ciou", "eiou", "siou")
    },
    "inner_wide": partial(losses.inner_iou_loss, ratio=1.3),
    "focaler": partial(losses.focaler_iou_loss, low=0.1, high=0.9),
    "focaler_ciou": partial(losses.focaler_iou_loss, low=0.1, high=0.9, base="ciou"),
    "shape": partial(losses.shape_iou_loss, scale=0.5),
    "wiou_1": losses.wiou_loss,
    "wiou_2": partial(losses.wiou_loss, version=2, mean=0.4),
    "wiou_3": partial(losses.wiou_loss, version=3, mean=0.4),
}

ROTATED: dict[str, Callable[..., Any]] = {
    "rotated_iou": losses.rotated_iou_loss,
    "rotated_iou_log": partial(losses.rotated_iou_loss, mode="log"),
    "probiou": losses.probiou_loss,
    "probiou_l2": partial(losses.probiou_loss, mode="l2"),
    "kfiou": losses.kfiou_loss,
    "gwd": losses.gwd_loss,
    "gwd_sqrt": partial(losses.gwd_loss, function="sqrt", tau=2),
    "kld": losses.kld_loss,
    "kld_sqrt": partial(losses.kld_loss, function="sqrt", tau=2),
}

_SIDES = (-2.0, -1e-4, 0.0, 0.0, 1e-6, 1e-4, 0.5, 1.0, 3.0, 1e3, 1e6)
_PLACES = (0.0, 0.0, 1.0, 1e-4, -1.0, 2.5, 1e3, -1e6)


def adversarial(count: int, dtype: Any, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Predicted boxes and targets that coincide, touch, share edges, are empty, tiny, huge, or (predicted) inverted."""
    rng = np.random.default_rng(seed)

    def boxes(sides: tuple[float, ...]) -> FloatArray:
        low = rng.choice(_PLACES, (count, 2))
        return np.concatenate([low, low + rng.choice(sides, (count, 2))], axis=1)

    pred, target = boxes(_SIDES), boxes(_SIDES[2:])
    equal = rng.random(count) < 0.1
    pred[equal] = target[equal]
    nearly = rng.random(count) < 0.1
    pred[nearly] = target[nearly] * (1 + 1e-6 * rng.choice([-1, 1], (int(nearly.sum()), 4)))
    beside = rng.random(count) < 0.1  # touching along x
    pred[beside, 0] = target[beside, 2]
    pred[beside, 2] = pred[beside, 0] + 1
    return pred.astype(dtype), target.astype(dtype)


def adversarial_rotated(count: int, dtype: Any, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """The same for rotated boxes, with angles that are equal, right, or nearly so."""
    rng = np.random.default_rng(seed)

    def boxes(sides: tuple[float, ...]) -> FloatArray:
        angles = rng.choice([0.0, np.pi / 2, np.pi / 4, -np.pi, 1e-7, 0.3, 100.0], (count, 1))
        return np.concatenate([rng.choice(_PLACES, (count, 2)), rng.choice(sides, (count, 2)), angles], axis=1)

    pred, target = boxes(_SIDES), boxes(_SIDES[2:])
    equal = rng.random(count) < 0.2
    pred[equal] = target[equal]
    turned = rng.random(count) < 0.1
    pred[turned] = target[turned]
    pred[turned, 4] += np.pi / 2
    return pred.astype(dtype), target.astype(dtype)


def smooth_pairs(count: int = 40) -> tuple[FloatArray, FloatArray]:
    """Pairs away from every kink of the losses, so that difference quotients are close to the gradient."""
    rng = np.random.default_rng(11)
    boxes = np.sort(rng.uniform(0, 10, (2, 40 * count, 2, 2)), axis=2).reshape(2, -1, 4)
    both = np.sort(np.concatenate([boxes[0].reshape(-1, 2, 2), boxes[1].reshape(-1, 2, 2)], axis=1), axis=1)
    good = (np.diff(both, axis=1) > 0.05).all(axis=(1, 2))
    for scale in (0.8, 1.3):  # Inner-IoU has kinks where scaled boxes touch
        centre, side = (boxes[..., :2] + boxes[..., 2:]) / 2, (boxes[..., 2:] - boxes[..., :2]) * scale
        ends = np.concatenate([centre - side / 2, centre + side / 2], axis=-1).transpose(1, 0, 2).reshape(-1, 4, 2)
        good &= (np.diff(np.sort(ends, axis=1), axis=1) > 0.05).all(axis=(1, 2))
    iou = 1 - losses.iou_loss(boxes[0], boxes[1])
    good &= (abs(iou - 0.1) > 0.01) & (abs(iou - 0.9) > 0.01)  # Focaler-IoU has kinks there
    assert good.sum() >= count
    return boxes[0][good][:count], boxes[1][good][:count]
