"""Losses and their gradients for NumPy arrays, which record no gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from ioukit import _core
from ioukit._arrays import as_floats, computing_dtype
from ioukit._checks import check_boxes, check_choice, check_threads

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ioukit.typing import FloatArray

__all__ = ["NativeLoss", "loss_and_gradient"]

NativeLoss: TypeAlias = Literal["iou", "giou", "diou", "ciou", "eiou"]


def loss_and_gradient(
    name: NativeLoss, pred: ArrayLike, target: ArrayLike, *, check: bool = False, threads: int | None = None
) -> tuple[FloatArray, FloatArray]:
    """The loss of each pair and its gradient in the predicted box, in one pass of native code.

    Args:
        name: ``"iou"``, ``"giou"``, ``"diou"``, ``"ciou"`` or ``"eiou"``, for the loss of ``<name>_loss``.
        pred: (N, 4) xyxy predicted boxes, an array or lists. An inverted side counts as a negative length.
        target: (N, 4) xyxy.
        check: Whether boxes that are inverted or not finite are errors.
        threads: How many threads may work; by default one per core. It does not change a bit of the result.

    Returns:
        The losses, (N,), and their gradients, (N, 4), in the dtype that both arguments promote to; float32 for half
        precision.

    Raises:
        ValueError: If the name is not known, a shape is not (N, 4), or the lengths differ.
        TypeError: If an argument is not an array of real numbers.

    Examples:
        >>> from ioukit.losses import loss_and_gradient
        >>> loss_and_gradient("diou", [[0, 0, 2, 2]], [[2, 0, 4, 2]])
        (array([1.2]), array([[-0.02,  0.02, -0.1 , -0.02]]))

    Where two coordinates are equal, each gets half of the gradient. The intersection of boxes that only touch has no
    gradient. The weight in CIoU is a constant.
    """
    check_choice("loss", name, get_args(NativeLoss))
    sets = [as_floats(boxes, label) for label, boxes in (("pred", pred), ("target", target))]
    for label, boxes in zip(("pred", "target"), sets, strict=True):
        if boxes.ndim != 2 or boxes.shape[1] != 4:
            raise ValueError(f"{label} must have shape (N, 4), got {boxes.shape}")
    first, second = sets
    if len(first) != len(second):
        raise ValueError(f"pred and target must have one length, got {len(first)} and {len(second)}")
    dtype = computing_dtype(np.promote_types(first.dtype, second.dtype))
    first, second = (np.require(boxes, dtype, ["C", "A"]) for boxes in sets)
    if check:
        check_boxes(first, "xyxy", "pred")
        check_boxes(second, "xyxy", "target")
    values, gradient = np.empty(len(first), dtype), np.empty_like(first)
    _core.loss_gradient(name, first, second, values, gradient, check_threads(threads))
    return values, gradient
