"""From the arguments of a loss to pairs of boxes, and from the losses of pairs to the reduced loss.

The formulas are those of the overlaps (`ioukit.overlap._array_formulas`). But a model may predict a box with ``x2 <
x1``, which must not stop a training, so an inverted side is a negative length here. Such a box has no intersection with
others, and its area is negative. Where a formula has the area, the sides or the corners in it, the gradient turns the
side around again. The box around a pair includes both corners of an inverted box, so ratios stay close to their range.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from ioukit._arrays import (
    as_floats,
    computing_dtype_in,
    constant,
    library_of,
    namespace_of,
    one_library,
    shared_with_numpy,
)
from ioukit._checks import check_choice, check_format
from ioukit.overlap._arguments import as_corners, check_values, floats
from ioukit.overlap._array_formulas import FORMULAS, Pairs, Sides
from ioukit.regions import Boxes, BoxesLike

if TYPE_CHECKING:
    from ioukit.overlap.variants import Measure
    from ioukit.typing import Array, BoxFormat


Reduction: TypeAlias = Literal["none", "mean", "sum"]
IoUMode: TypeAlias = Literal["linear", "log", "square"]
Formula: TypeAlias = "Callable[[TrainingPairs], Array]"

_LEAST_IOU = 1e-6  # in -log IoU, as in mmdetection: the loss is at most 13.8

FUSED: dict[str, Callable[[PairLoss, Array, Array], Array | None]] = {}
"""For each library, a function from ``(loss, pred, target)`` to losses by native code, or to None if it cannot compute
them. The loss has a native name; the boxes are xyxy and have one shape and dtype."""


class _Signed(Sides):
    """The sides and areas of boxes, some of which may be inverted."""

    def __init__(self, xp: Any, boxes: Array) -> None:
        super().__init__(xp, boxes)
        self.turned_x, self.turned_y = self.x2 < self.x1, self.y2 < self.y1
        width = xp.where(self.turned_x, -self.width, self.width)
        height = xp.where(self.turned_y, -self.height, self.height)
        self.area = xp.where(self.turned_x | self.turned_y, -(width * height), width * height)

    @property
    def angle(self) -> Array:
        """``atan2(width, height)``. An inverted side counts as 0; a point has the angle 0 and no gradient."""
        width = self.xp.where(self.turned_x, 0.0, self.width)
        height = self.xp.where(self.turned_y, 0.0, self.height)
        point = (width == 0) & (height == 0)
        return self.xp.atan2(self.xp.where(point, 0.0, width), self.xp.where(point, 1.0, height))

    def extent(self) -> tuple[Array, Array, Array, Array]:
        """The smallest x and y and the largest x and y of both corners."""
        where = self.xp.where
        return (
            where(self.turned_x, self.x2, self.x1),
            where(self.turned_y, self.y2, self.y1),
            where(self.turned_x, self.x1, self.x2),
            where(self.turned_y, self.y1, self.y2),
        )


class TrainingPairs(Pairs):
    """Pairs of boxes that may be inverted. For other boxes the values are those of `Pairs`."""

    a: _Signed
    b: _Signed

    def __init__(self, xp: Any, pred: Array, target: Array) -> None:
        super().__init__(xp, _Signed(xp, pred), _Signed(xp, target))
        self._squares = library_of(pred) == "jax"

    def ratio(self, part: Array, whole: Array) -> Array:
        """`Pairs.ratio`, in a form for JAX that does not underflow.

        The derivative of a quotient in JAX divides by the square of ``whole``. For a ``whole`` of 1e-20, the square of
        a side of 1e-10, that is 0 in float32. So both are first divided by the value of ``whole``, as a constant.
        """
        if not self._squares:
            return super().ratio(part, whole)
        guarded = self.xp.where(whole <= 0, 1.0, whole)
        unit = constant(1 / guarded)
        return (part * unit) / (guarded * unit)

    def hull(self) -> tuple[Array, Array]:
        """Width and height of the smallest box around all four corners."""
        xp = self.xp
        (left1, top1, right1, bottom1), (left2, top2, right2, bottom2) = self.a.extent(), self.b.extent()
        width = xp.maximum(right1, right2) - xp.minimum(left1, left2)
        return width, xp.maximum(bottom1, bottom2) - xp.minimum(top1, top2)

    def power(self, x: Array, exponent: float) -> Array:
        """``x ** exponent`` for ``x`` of at least 0, without a gradient at 0."""
        return self.xp.where(x <= 0, 0.0, self.xp.where(x <= 0, 1.0, x) ** exponent)


class PairLoss(NamedTuple):
    """A loss of pairs of boxes."""

    formula: Formula
    """From pairs to their losses."""
    native: str | None = None
    """The name of the same loss in native code; None if there is none."""
    parameters: tuple[float | Array, ...] = ()
    """What native code needs to know beside the name: numbers, or arrays without dimensions."""


def overlap_of(measure: Measure) -> Formula:
    """The formula of an overlap with its parameters."""
    formula = FORMULAS[measure.variant]
    return lambda pairs: formula(pairs, *measure.parameters)


def by_mode(mode: IoUMode) -> Callable[[Any, Array], Array]:
    """From a namespace and IoU to the loss: ``1 - IoU``, ``-log IoU`` or ``1 - IoU^2``."""
    check_choice("mode", mode, get_args(IoUMode))
    if mode == "log":
        return lambda xp, iou: -xp.log(xp.where(iou <= _LEAST_IOU, _LEAST_IOU, iou))
    return lambda _, iou: 1 - (iou if mode == "linear" else iou * iou)


def box_loss(
    loss: PairLoss,
    pred: BoxesLike,
    target: BoxesLike,
    fmt: BoxFormat,
    reduction: Reduction,
    weight: Array | None,
    avg_factor: float | Array | None,
    check: bool,
) -> Array:
    """The reduced loss of pairs of upright boxes.

    Args:
        loss: The loss of each pair.
        pred: (..., 4).
        target: (..., 4), of the same shape or one that broadcasts to it.
        fmt: The format of both.
        reduction: ``"none"``, ``"sum"`` or ``"mean"``.
        weight: A factor per loss, or an array that broadcasts to that.
        avg_factor: What ``"mean"`` divides by, instead of the sum of the weights.
        check: Whether boxes are checked.
    """
    check_format(fmt)
    given = (pred, target)
    pred, target = _plain("pred", pred, fmt), _plain("target", target, fmt)
    one_library(pred=pred, target=target)
    xp = namespace_of(pred)
    first, second = floats(xp, "pred", pred), floats(xp, "target", target)
    second = broadcast(xp, second, first.shape, "target must broadcast to pred")
    if check:
        for name, boxes in (("pred", pred), ("target", target)):
            check_values(name, boxes, fmt)
    dtype = xp.result_type(first, second)
    if first.dtype != second.dtype:  # integers take the dtype of the other boxes
        floating = [
            new for old, new in zip(given, (first, second), strict=True) if "int" not in str(getattr(old, "dtype", ""))
        ]
        dtype = floating[0].dtype if len(floating) == 1 else dtype
    dtype = computing_dtype_in(xp, dtype)
    factors, first, second = weighted(xp, weight, first.shape[:-1], dtype, first, second)
    first, second = (as_corners(xp, xp.astype(boxes, dtype, copy=False), fmt) for boxes in (first, second))
    native = FUSED.get(library_of(pred))
    losses = None if native is None or loss.native is None else native(loss, first, second)
    if losses is None:
        losses = loss.formula(TrainingPairs(xp, first, second))
    return reduced(xp, losses, reduction, factors, avg_factor)


def broadcast(xp: Any, array: Array, shape: Sequence[int], rule: str) -> Array:
    """The array in this shape. Raises `ValueError` with the rule if it does not broadcast to it."""
    if array.shape == shape:
        return array
    try:
        return xp.broadcast_to(array, tuple(shape))
    except (RuntimeError, ValueError):
        raise ValueError(f"{rule}, got shapes {tuple(array.shape)} and {tuple(shape)}") from None


def weighted(xp: Any, weight: Array | None, shape: Sequence[int], dtype: Any, *arrays: Array) -> tuple[Any, ...]:
    """The weight of each loss, and the arrays of the losses with 0 where the weight is 0.

    So what a row without weight holds, such as NaN, is neither in the loss nor in the gradient.

    Args:
        xp: The functions of the library of the arrays.
        weight: What the caller gave.
        shape: The shape of the losses.
        dtype: That of the losses, so that weights in float64 do not change it.
        arrays: Their first axes are those of the losses.
    """
    if weight is None:
        return None, *arrays
    factors = weight if library_of(weight) != "numpy" else np.asarray(weight)
    if library_of(factors) != library_of(arrays[0]):
        factors = xp.asarray(factors, dtype=dtype, device=arrays[0].device)
    factors = broadcast(xp, xp.astype(factors, dtype, copy=False), shape, "weight must broadcast to the losses")
    if library_of(factors) == "torch":
        values = shared_with_numpy(factors)
        if values is not None and values[0].all():
            return factors, *arrays
    out = factors == 0
    added = [(...,) + (None,) * (one.ndim - out.ndim) for one in arrays]
    return factors, *(xp.where(out[axes], 0.0, one) for one, axes in zip(arrays, added, strict=True))


def reduced(
    xp: Any, losses: Array, reduction: Reduction, factors: Array | None, avg_factor: float | Array | None
) -> Array:
    """The weighted losses, their sum, or their mean, which divides by the sum of the weights, or by ``avg_factor``."""
    check_choice("reduction", reduction, get_args(Reduction))
    if avg_factor is not None and reduction != "mean":
        raise ValueError(f"avg_factor is what reduction='mean' divides by, got reduction={reduction!r}")
    each = losses if factors is None else losses * factors
    if reduction == "none":
        return each
    total = xp.sum(each)
    if reduction == "sum":
        return total
    if avg_factor is not None:
        divisor = xp.astype(xp.zeros_like(total) + avg_factor, total.dtype)
    elif factors is not None:
        divisor = xp.sum(factors)
    else:
        return total / max(math.prod(losses.shape), 1)
    return total / xp.where(divisor == 0, xp.ones_like(divisor), divisor)


def _plain(name: str, boxes: BoxesLike, fmt: BoxFormat) -> Array:
    """`Boxes` and lists as NumPy arrays, arrays of all libraries unchanged."""
    if isinstance(boxes, Boxes):
        return boxes.convert(fmt).numpy()
    return as_floats(boxes, name) if library_of(boxes) == "numpy" else boxes
