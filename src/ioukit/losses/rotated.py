"""Losses of rotated boxes: of the exact overlap, and of the Gaussians in their place."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from ioukit.losses._pairs import Reduction, reduced
from ioukit.overlap.gaussian import rotated_pairs

if TYPE_CHECKING:
    from ioukit.overlap._rotated_formulas import RotatedPairs
    from ioukit.regions.rotated import RotatedBoxes
    from ioukit.typing import AngleSense, AngleUnit, Array

__all__ = ["kfiou_loss", "probiou_loss", "rotated_iou_loss"]

_FLOOR = 1e-6  # of log IoU, as for upright boxes

_HELP = """

    Args:
        pred: Predicted boxes, (..., 5): centre, width, height, angle. Of NumPy, PyTorch, JAX or another library of the
            array API, lists, or `RotatedBoxes`, which know the unit and sense of their angles.
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
    pred: RotatedBoxes | Array,
    target: RotatedBoxes | Array,
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
    pred: RotatedBoxes | Array,
    target: RotatedBoxes | Array,
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
    pred: RotatedBoxes | Array,
    target: RotatedBoxes | Array,
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
    pred: Any,
    target: Any,
    unit: AngleUnit,
    sense: AngleSense,
    reduction: Reduction,
    weight: Array | None,
) -> Array:
    pairs = rotated_pairs(pred, target, unit, sense, names=("pred", "target"))
    return reduced(pairs.xp, formula(pairs), reduction, weight)


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
