"""From what a caller passes to pairs of boxes, and from the losses of pairs to what the caller asked for.

The formulas are those of the overlaps (`ioukit.overlap._agnostic`), on boxes that a model may have got wrong: a
predicted box with ``x2 < x1`` is no error in the middle of a training, so an inverted side is a negative extent here.
Its box shares nothing with others and its area is negative, which pulls the sides apart again wherever a formula has
the area, the sides or the corners in it; the box around both includes both its corners, so that no ratio leaves its
range by much.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from ioukit._arrays import as_floats, as_numpy, computing_dtype, constant, library_of, namespace_of
from ioukit._checks import check_boxes, check_format
from ioukit.overlap._agnostic import Pairs, Sides, as_corners, floats
from ioukit.regions import Boxes, BoxesLike

if TYPE_CHECKING:
    from ioukit.typing import Array, BoxFormat

__all__ = ["FUSED", "Reduction", "TrainingPairs", "box_loss", "one_namespace", "reduced"]

Reduction: TypeAlias = Literal["none", "mean", "sum"]

_REDUCTIONS = ("none", "mean", "sum")

FUSED: dict[str, Callable[[str, Array, Array], Array | None]] = {}
"""By library: ``(name, pred, target)`` of one shape and dtype, xyxy, to the losses; None where it cannot."""


class _Signed(Sides):
    """The sides of boxes some of which may be inverted."""

    def __init__(self, xp: Any, boxes: Array) -> None:
        super().__init__(xp, boxes)
        self.turned_x, self.turned_y = self.x2 < self.x1, self.y2 < self.y1
        width = xp.where(self.turned_x, -self.width, self.width)
        height = xp.where(self.turned_y, -self.height, self.height)
        self.area = xp.where(self.turned_x | self.turned_y, -(width * height), width * height)

    @property
    def angle(self) -> Array:
        """``atan2(width, height)``, of a point 0 and without a gradient; an inverted side counts as 0."""
        width = self.xp.where(self.turned_x, 0.0, self.width)
        height = self.xp.where(self.turned_y, 0.0, self.height)
        point = (width == 0) & (height == 0)
        return self.xp.atan2(self.xp.where(point, 0.0, width), self.xp.where(point, 1.0, height))

    def extent(self) -> tuple[Array, Array, Array, Array]:
        """The least and the largest x and y, whichever corner has them."""
        where = self.xp.where
        return (
            where(self.turned_x, self.x2, self.x1),
            where(self.turned_y, self.y2, self.y1),
            where(self.turned_x, self.x1, self.x2),
            where(self.turned_y, self.y1, self.y2),
        )


class TrainingPairs(Pairs):
    """Pairs of which either may be inverted; for all others, `Pairs`."""

    a: _Signed
    b: _Signed

    def __init__(self, xp: Any, pred: Array, target: Array) -> None:
        super().__init__(xp, _Signed(xp, pred), _Signed(xp, target))
        self._squares = library_of(pred) == "jax"

    def ratio(self, part: Array, whole: Array) -> Array:
        """`Pairs.ratio`; in JAX, whose slope of a quotient has the square of ``whole`` in it, of parts of the whole.

        The square of a squared side of 1e-10 is beyond float32.
        """
        if not self._squares:
            return super().ratio(part, whole)
        guarded = self.xp.where(whole > 0, whole, 1.0)
        unit = constant(1 / guarded)
        return (part * unit) / (guarded * unit)

    def hull(self) -> tuple[Array, Array]:
        """Sides of the smallest box around all four corners."""
        xp = self.xp
        (left1, top1, right1, bottom1), (left2, top2, right2, bottom2) = self.a.extent(), self.b.extent()
        width = xp.maximum(right1, right2) - xp.minimum(left1, left2)
        return width, xp.maximum(bottom1, bottom2) - xp.minimum(top1, top2)

    def power(self, x: Array, exponent: float) -> Array:
        """``x ** exponent`` of what is not negative, without a gradient at 0."""
        return self.xp.where(x > 0, self.xp.where(x > 0, x, 1.0) ** exponent, 0.0)


def box_loss(
    formula: Callable[[TrainingPairs], Array],
    pred: BoxesLike,
    target: BoxesLike,
    *,
    fmt: BoxFormat,
    reduction: Reduction,
    weight: Array | None,
    check: bool,
    fused: str | None = None,
) -> Array:
    """The losses of pairs, reduced.

    Args:
        formula: From pairs to their losses.
        pred: (..., 4).
        target: (..., 4), of the same shape.
        fmt: The format of both.
        reduction: What becomes of the losses.
        weight: One per loss, or what broadcasts to that.
        check: Whether boxes are checked.
        fused: What native code calls the same loss, if it has it.
    """
    check_format(fmt)
    pred, target = _plain("pred", pred, fmt), _plain("target", target, fmt)
    xp = one_namespace(pred, target)
    first, second = floats(xp, "pred", pred), floats(xp, "target", target)
    if first.shape != second.shape:
        raise ValueError(
            f"pred and target must have one shape (..., 4), got {tuple(first.shape)} and {tuple(second.shape)}"
        )
    if check:
        for name, boxes in (("pred", pred), ("target", target)):
            _check(name, boxes, fmt)
    dtype = _computed(xp, first, second)
    first, second = (as_corners(xp, xp.astype(boxes, dtype, copy=False), fmt) for boxes in (first, second))
    native = FUSED.get(library_of(pred)) if fused else None
    losses = None if native is None or fused is None else native(fused, first, second)
    return reduced(xp, formula(TrainingPairs(xp, first, second)) if losses is None else losses, reduction, weight)


def one_namespace(pred: Array, target: Array) -> Any:
    """The functions of the library that both come from."""
    libraries = library_of(pred), library_of(target)
    if libraries[0] != libraries[1]:
        raise TypeError(
            f"pred and target must come from one library, but pred is {type(pred).__name__} of {libraries[0]} "
            f"and target is {type(target).__name__} of {libraries[1]}"
        )
    return namespace_of(pred)


def reduced(xp: Any, losses: Array, reduction: Reduction, weight: Array | None) -> Array:
    """Weighted losses as they are, summed, or their mean, which divides by the sum of the weights."""
    if reduction not in _REDUCTIONS:
        raise ValueError(f"unknown reduction {reduction!r}; choose from {', '.join(_REDUCTIONS)}")
    if weight is None:
        if reduction == "none":
            return losses
        total = xp.sum(losses)
        return total if reduction == "sum" else total / max(math.prod(losses.shape), 1)
    # With the dtype of the losses, so that a weight of float64 does not change that of the result.
    factors = weight if library_of(weight) != "numpy" else np.asarray(weight)
    if library_of(factors) != library_of(losses):
        factors = xp.asarray(factors, dtype=losses.dtype, device=losses.device)
    factors = xp.astype(factors, losses.dtype, copy=False)
    try:
        factors = xp.broadcast_to(factors, losses.shape)
    except (RuntimeError, ValueError):
        shapes = f"{tuple(factors.shape)} and {tuple(losses.shape)}"
        raise ValueError(f"weight must broadcast to the losses, got shapes {shapes}") from None
    weighted = losses * factors
    if reduction == "none":
        return weighted
    if reduction == "sum":
        return xp.sum(weighted)
    total = xp.sum(factors)
    return xp.sum(weighted) / xp.where(total == 0, xp.ones_like(total), total)


def _plain(name: str, boxes: BoxesLike, fmt: BoxFormat) -> Array:
    """`Boxes` and lists as NumPy arrays; the arrays of all libraries as they are."""
    if isinstance(boxes, Boxes):
        return boxes.convert(fmt).numpy()
    return as_floats(boxes, name) if library_of(boxes) == "numpy" else boxes


def _check(name: str, boxes: Array, fmt: BoxFormat) -> None:
    detached = boxes.detach() if library_of(boxes) == "torch" else boxes
    values = as_numpy(detached) if type(detached) is not np.ndarray else detached
    if values is not None:
        numbers = as_floats(values, name)
        check_boxes(np.ascontiguousarray(numbers, computing_dtype(numbers.dtype)), fmt, name)


def _computed(xp: Any, first: Array, second: Array) -> Any:
    dtype = xp.result_type(first, second)
    return dtype if xp.finfo(dtype).bits >= 32 else xp.float32
