"""Losses of rotated boxes: of the exact overlap, and of the Gaussians in their place."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from ioukit._arrays import as_floats, library_of
from ioukit.losses._pairs import Reduction, one_namespace, reduced
from ioukit.overlap._rotated_formulas import RotatedPairs

if TYPE_CHECKING:
    from ioukit.typing import Array

__all__ = ["kfiou_loss", "probiou_loss", "rotated_iou_loss"]

_FLOOR = 1e-6  # of log IoU, as for upright boxes
_UNITS = {"radians": 1.0, "degrees": math.pi / 180}
_SENSES = {"clockwise": 1.0, "counterclockwise": -1.0}

_HELP = """

    Args:
        pred: Predicted boxes, (..., 5): centre, width, height, angle. Of NumPy, PyTorch, JAX or another library of the
            array API, or lists.
        target: What they should be: of the same shape and library.
        unit: Of the angles: ``"radians"`` or ``"degrees"``.
        sense: Which way a positive angle turns as seen on a screen, where y points down: ``"clockwise"`` (mmcv,
            Ultralytics) or ``"counterclockwise"`` (Detectron2).
        mode: {mode}
        reduction: ``"none"``, ``"sum"`` or ``"mean"``, which divides by the sum of the weights. Of no pairs it is 0.
        weight: A factor per loss, or what broadcasts to that.

    Returns:
        Losses and gradients are finite for all finite boxes. A box with a side that is 0 or negative has no area: the
        loss is that of boxes that share nothing, and has no gradient. Half precision computes in, and gives, float32.

    Raises:
        ValueError: If a shape does not fit, or an option is not known.
        TypeError: If the arrays come from different libraries.

    Reference: {reference}.
    """


def rotated_iou_loss(
    pred: Array,
    target: Array,
    *,
    mode: Literal["linear", "log", "square"] = "linear",
    unit: Literal["radians", "degrees"] = "radians",
    sense: Literal["clockwise", "counterclockwise"] = "clockwise",
    reduction: Reduction = "none",
    weight: Array | None = None,
) -> Array:
    """``1 - IoU`` of rotated boxes, exact and with an exact gradient in all five numbers; none for boxes apart."""
    if mode not in ("linear", "log", "square"):
        raise ValueError(f"unknown mode {mode!r}; choose from linear, log, square")

    def formula(pairs: RotatedPairs) -> Array:
        iou = pairs.iou()
        if mode == "log":
            return -pairs.xp.log(pairs.xp.where(iou > _FLOOR, iou, _FLOOR))
        return 1 - (iou if mode == "linear" else iou * iou)

    return _loss(formula, pred, target, unit, sense, reduction, weight)


def probiou_loss(
    pred: Array,
    target: Array,
    *,
    mode: Literal["l1", "l2"] = "l1",
    unit: Literal["radians", "degrees"] = "radians",
    sense: Literal["clockwise", "counterclockwise"] = "clockwise",
    reduction: Reduction = "none",
    weight: Array | None = None,
) -> Array:
    """1 less the ProbIoU, the Hellinger distance of the Gaussians of the boxes; or their Bhattacharyya distance.

    It sees no rotation of a square.
    """
    if mode not in ("l1", "l2"):
        raise ValueError(f"unknown mode {mode!r}; choose from l1, l2")

    def formula(pairs: RotatedPairs) -> Array:
        if mode == "l1":
            return 1 - pairs.probiou()
        return pairs.xp.where(pairs.empty, 0.0, pairs.bhattacharyya())

    return _loss(formula, pred, target, unit, sense, reduction, weight)


def kfiou_loss(
    pred: Array,
    target: Array,
    *,
    unit: Literal["radians", "degrees"] = "radians",
    sense: Literal["clockwise", "counterclockwise"] = "clockwise",
    reduction: Reduction = "none",
    weight: Array | None = None,
) -> Array:
    """``1 - KFIoU``, within [2/3, 1]: it compares sizes and angles and is blind to where the boxes are.

    Add a loss of the centres. It sees no rotation of a square.
    """
    return _loss(lambda pairs: 1 - pairs.kfiou(), pred, target, unit, sense, reduction, weight)


def _loss(
    formula: Callable[[RotatedPairs], Array],
    pred: Array,
    target: Array,
    unit: str,
    sense: str,
    reduction: Reduction,
    weight: Array | None,
) -> Array:
    for name, value, known in (("unit", unit, _UNITS), ("sense", sense, _SENSES)):
        if value not in known:
            raise ValueError(f"unknown {name} {value!r}; choose from {', '.join(known)}")
    scale = _UNITS[unit] * _SENSES[sense]
    sets = [as_floats(boxes, name) if library_of(boxes) == "numpy" else boxes for name, boxes in _named(pred, target)]
    xp = one_namespace(*sets)
    for name, boxes in _named(*sets):
        if tuple(boxes.shape[-1:]) != (5,):
            raise ValueError(f"{name} must have shape (..., 5), got {tuple(boxes.shape)}")
        if not xp.isdtype(boxes.dtype, "real floating"):
            raise TypeError(f"{name} must hold floating point numbers, got dtype {boxes.dtype}")
    first, second = sets
    if first.shape != second.shape:
        raise ValueError(
            f"pred and target must have one shape (..., 5), got {tuple(first.shape)} and {tuple(second.shape)}"
        )
    dtype = xp.result_type(first, second)
    computed = dtype if xp.finfo(dtype).bits >= 32 else xp.float32
    first, second = (xp.astype(boxes, computed, copy=False) for boxes in sets)
    losses = formula(RotatedPairs(xp, first, second, angle=scale))
    return reduced(xp, losses, reduction, weight)


def _named(pred: Any, target: Any) -> tuple[tuple[str, Any], tuple[str, Any]]:
    return ("pred", pred), ("target", target)


_IOU_MODES = '``"linear"``, ``"log"``, where IoU counts as 1e-6 at least, or ``"square"``.'
_PROBIOU_MODES = (
    '``"l1"``, within [0, 1], or ``"l2"``, at least 0, which still pulls where boxes lie far apart; 0 without area.'
)
for _function, _modes, _reference in (
    (rotated_iou_loss, _IOU_MODES, "Zhou et al., IoU Loss for 2D/3D Object Detection, 3DV 2019, arXiv:1908.03851"),
    (probiou_loss, _PROBIOU_MODES, "Llerena et al., Gaussian Bounding Boxes and ProbIoU, 2021, arXiv:2106.06072"),
    (kfiou_loss, "", "Yang et al., The KFIoU Loss for Rotated Object Detection, ICLR 2023, arXiv:2201.12558"),
):
    _text = _HELP.format(mode=_modes, reference=_reference)
    _function.__doc__ = (_function.__doc__ or "").rstrip() + (
        _text if _modes else _text.replace("        mode: \n", "")
    )
