"""The formulas of the overlaps over the array API, for arrays that native code cannot read.

Native code cannot read arrays on a device, arrays whose gradient is recorded, and arrays of a program that is traced.

Owns: the formulas, and the blocks of rows that keep their temporaries below ``max_bytes``. The losses, `nms` on a
device and the compiled kernels of `ioukit.torch` use them, too.
Does not own: what came and whether it is valid (`_arguments.py`).
Cut here because every formula stands twice, here and in native code; `_conformance.py` compares the two.

Each formula is the one in ``crates/core/src/overlap/formula.rs``. The differences make the gradient finite for all
boxes:

- Denominators are guarded before the division. A ``where`` around the quotient would leave NaN in its gradient, and so
  would a square root or a power at 0.
- The part of a side that two boxes share is selected by a mask. Where boxes touch, the slope of ``clip`` is 1 in
  PyTorch and 1/2 in JAX; the slope of the mask is 0 in both. Ties of ``minimum`` and ``maximum`` split evenly in both.
- The weight in CIoU is a constant.
- Conditions are written so that NaN goes through them: it is neither above 0 nor at most 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ioukit._arrays import constant, recomputed
from ioukit.overlap._arguments import paired_shape, table_shape

if TYPE_CHECKING:
    from ioukit.overlap._arguments import OnDevice
    from ioukit.overlap.variants import Measure
    from ioukit.typing import Array


MAX_BYTES = 2**28
"""Default of ``max_bytes``: 256 MiB of temporaries."""

# The most arrays of the size of the result that a formula holds at once; a test measures it.
_TEMPORARIES = 20


def pairwise(measure: Measure, given: OnDevice, max_bytes: int | None) -> Array:
    """(..., N, M) from (..., N, 4) and (..., M, 4), in blocks of rows whose temporaries take at most ``max_bytes``."""
    xp, first, second, dtype = given
    shape = table_shape(tuple(first.shape), tuple(second.shape))

    def block(rows: Array, columns: Array) -> Array:
        pairs = Pairs(xp, Sides(xp, rows, axis=-1), Sides(xp, columns, axis=-2))
        return xp.astype(FORMULAS[measure.variant](pairs, *measure.parameters), dtype, copy=False)

    count = shape[-2]
    row_bytes = math.prod((*shape[:-2], shape[-1])) * int(xp.finfo(first.dtype).bits) // 8 * _TEMPORARIES
    step = count if max_bytes is None or row_bytes == 0 else max(1, max_bytes // row_bytes)
    if step >= count:
        return block(first, second)
    starts = range(0, count, step)
    return xp.concat([recomputed(block, first[..., k : min(k + step, count), :], second) for k in starts], axis=-2)


def elementwise(measure: Measure, given: OnDevice) -> Array:
    """(...) from (..., 4) and (..., 4)."""
    xp, first, second, dtype = given
    paired_shape(tuple(first.shape), tuple(second.shape))
    pairs = Pairs(xp, Sides(xp, first), Sides(xp, second))
    return xp.astype(FORMULAS[measure.variant](pairs, *measure.parameters), dtype, copy=False)


class Sides:
    """The columns of a set of boxes, their sides and areas, with a new axis to broadcast along if one is given."""

    def __init__(self, xp: Any, boxes: Array, axis: int | None = None) -> None:
        columns = [boxes[..., k] for k in range(4)]
        if axis is not None:
            columns = [xp.expand_dims(column, axis=axis) for column in columns]
        self.xp = xp
        self.x1, self.y1, self.x2, self.y2 = columns
        self.width, self.height = self.x2 - self.x1, self.y2 - self.y1
        self.area = self.width * self.height

    @property
    def angle(self) -> Array:
        """``atan2(width, height)``, without a gradient for a point."""
        point = (self.width == 0) & (self.height == 0)
        return self.xp.atan2(self.width, self.xp.where(point, 1.0, self.height))


class Pairs:
    """Pairs of boxes, with the quantities that several formulas use."""

    def __init__(self, xp: Any, a: Sides, b: Sides) -> None:
        self.xp, self.a, self.b = xp, a, b

    def positive(self, x: Array) -> Array:
        """``x`` where it is above 0, else 0; without a gradient at 0."""
        return self.xp.where(x <= 0, 0.0, x)

    def magnitude(self, x: Array) -> Array:
        """The absolute value, without a gradient at 0, where ``abs`` has slope 0 in PyTorch and 1 in JAX."""
        return self.positive(x) + self.positive(-x)

    def ratio(self, part: Array, whole: Array) -> Array:
        """``part / whole``; where the whole is 0, so is the part, and the result."""
        return part / self.xp.where(whole <= 0, 1.0, whole)

    def root(self, square: Array) -> Array:
        """The square root, without a gradient at 0."""
        return self.xp.where(square <= 0, 0.0, self.xp.sqrt(self.xp.where(square <= 0, 1.0, square)))

    def intersection(self) -> Array:
        """Area of the intersection."""
        xp, a, b = self.xp, self.a, self.b
        width = xp.minimum(a.x2, b.x2) - xp.maximum(a.x1, b.x1)
        height = xp.minimum(a.y2, b.y2) - xp.maximum(a.y1, b.y1)
        return self.positive(width) * self.positive(height)

    def iou(self) -> Array:
        """Intersection over union."""
        intersection = self.intersection()
        return self.ratio(intersection, (self.a.area + self.b.area) - intersection)

    def hull(self) -> tuple[Array, Array]:
        """Width and height of the smallest box around both."""
        xp, a, b = self.xp, self.a, self.b
        return xp.maximum(a.x2, b.x2) - xp.minimum(a.x1, b.x1), xp.maximum(a.y2, b.y2) - xp.minimum(a.y1, b.y1)

    def apart(self) -> tuple[Array, Array]:
        """Differences of the centres in x and in y."""
        a, b = self.a, self.b
        return ((a.x1 - b.x1) + (a.x2 - b.x2)) * 0.5, ((a.y1 - b.y1) + (a.y2 - b.y2)) * 0.5

    def unlike(self) -> tuple[Array, Array]:
        """Differences of the widths and of the heights."""
        return self.a.width - self.b.width, self.a.height - self.b.height

    def aspect(self) -> Array:
        """The squared difference of the aspect ratios, as angles in quarter turns: the v of CIoU."""
        turn = self.a.angle - self.b.angle
        return 4 / math.pi**2 * (turn * turn)

    def centre_penalty(self) -> Array:
        """What DIoU subtracts from IoU."""
        (width, height), (dx, dy) = self.hull(), self.apart()
        return self.ratio(dx * dx + dy * dy, width * width + height * height)


def _giou(pairs: Pairs) -> Array:
    width, height = pairs.hull()
    hull, intersection = width * height, pairs.intersection()
    union = (pairs.a.area + pairs.b.area) - intersection
    return pairs.ratio(intersection, union) - pairs.ratio(hull - union, hull)


def _diou(pairs: Pairs) -> Array:
    return pairs.iou() - pairs.centre_penalty()


def _ciou(pairs: Pairs) -> Array:
    aspect, iou = pairs.aspect(), pairs.iou()
    alpha = constant(pairs.ratio(aspect, (1 - iou) + aspect))
    return (iou - pairs.centre_penalty()) - alpha * aspect


def _eiou(pairs: Pairs) -> Array:
    (width, height), (dw, dh) = pairs.hull(), pairs.unlike()
    return _diou(pairs) - (pairs.ratio(dw * dw, width * width) + pairs.ratio(dh * dh, height * height))


def _siou(pairs: Pairs) -> Array:
    xp, (width, height), (dx, dy), (dw, dh) = pairs.xp, pairs.hull(), pairs.apart(), pairs.unlike()
    x, y = dx * dx, dy * dy
    gamma = 2 - pairs.ratio(2 * pairs.magnitude(dx) * pairs.magnitude(dy), x + y)
    distance = 2 - xp.exp(-gamma * pairs.ratio(x, width * width)) - xp.exp(-gamma * pairs.ratio(y, height * height))
    wide = 1 - xp.exp(-pairs.ratio(pairs.magnitude(dw), xp.maximum(pairs.a.width, pairs.b.width)))
    high = 1 - xp.exp(-pairs.ratio(pairs.magnitude(dh), xp.maximum(pairs.a.height, pairs.b.height)))
    return pairs.iou() - (distance + (wide**4 + high**4)) * 0.5


def _mpdiou(pairs: Pairs, width: float, height: float) -> Array:
    a, b = pairs.a, pairs.b
    dx1, dy1, dx2, dy2 = a.x1 - b.x1, a.y1 - b.y1, a.x2 - b.x2, a.y2 - b.y2
    return pairs.iou() - ((dx1 * dx1 + dy1 * dy1) + (dx2 * dx2 + dy2 * dy2)) / (width * width + height * height)


def _alpha_iou(pairs: Pairs, alpha: float) -> Array:
    iou = pairs.iou()
    return pairs.xp.where(iou <= 0, 0.0, pairs.xp.where(iou <= 0, 1.0, iou) ** alpha)


def _inner_iou(pairs: Pairs, scale: float) -> Array:
    xp, a, b, (dx, dy) = pairs.xp, pairs.a, pairs.b, pairs.apart()

    def shared(one: Array, other: Array, apart: Array) -> Array:
        beyond = (one + other) * 0.5 - pairs.magnitude(apart)
        return pairs.positive(xp.minimum(xp.minimum(one, other), beyond))

    w1, h1, w2, h2 = (side * scale for side in (a.width, a.height, b.width, b.height))
    intersection = shared(w1, w2, dx) * shared(h1, h2, dy)
    return pairs.ratio(intersection, (w1 * h1 + w2 * h2) - intersection)


def _nwd(pairs: Pairs, length: float) -> Array:
    (dx, dy), (dw, dh) = pairs.apart(), pairs.unlike()
    return pairs.xp.exp(-pairs.root((dx * dx + dy * dy) + (dw * dw + dh * dh) * 0.25) / length)


def _centre_distance(pairs: Pairs) -> Array:
    dx, dy = pairs.apart()
    return pairs.root(dx * dx + dy * dy)


FORMULAS: dict[str, Callable[..., Array]] = {
    "intersection": Pairs.intersection,
    "iou": Pairs.iou,
    "ioa_first": lambda pairs: pairs.ratio(pairs.intersection(), pairs.a.area),
    "ioa_second": lambda pairs: pairs.ratio(pairs.intersection(), pairs.b.area),
    "iom": lambda pairs: pairs.ratio(pairs.intersection(), pairs.xp.minimum(pairs.a.area, pairs.b.area)),
    "giou": _giou,
    "diou": _diou,
    "ciou": _ciou,
    "eiou": _eiou,
    "siou": _siou,
    "mpdiou": _mpdiou,
    "alpha_iou": _alpha_iou,
    "inner_iou": _inner_iou,
    "nwd": _nwd,
    "centre_distance": _centre_distance,
    "jaccard_distance": lambda pairs: 1 - pairs.iou(),
    "tiou": lambda pairs: pairs.iou() * pairs.ratio(pairs.intersection(), pairs.a.area),
}
