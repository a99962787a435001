"""Overlaps of rotated boxes over the array API: the exact IoU, and ProbIoU and KFIoU of Gaussians in their place.

Owns: these formulas, their finite gradients, and the checks of rotated boxes for them; the losses use `rotated_pairs`.
Does not own: the exact IoU of `RotatedBoxes` without a gradient (`engines/turned.py`, native code).
Cut here because a gradient needs the formulas in the caller's library, where no step may sort, select or count: shapes
must not depend on values in a traced program.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ioukit._arrays import as_floats, computing_dtype_in, constant, library_of, namespace_of, one_library
from ioukit.regions._turned import check_angle
from ioukit.regions.regions import Regions
from ioukit.regions.rotated import RotatedBoxes

if TYPE_CHECKING:
    from ioukit.typing import AngleSense, AngleUnit, Array


_THIN = 1e-4  # sides count as at least this part of the largest: their fourth powers must fit in float32


def pairwise_probiou(
    boxes1: RotatedBoxes | Array,
    boxes2: RotatedBoxes | Array,
    *,
    unit: AngleUnit = "radians",
    sense: AngleSense = "clockwise",
) -> Array:
    """ProbIoU of every rotated box of one set with every rotated box of another.

    1 minus the Hellinger distance of two Gaussians. Each has the centre of its box, and the covariance of uniformly
    distributed points in it, ``R diag(w^2, h^2) R^T / 12``. ProbIoU does not depend on the rotation of a square: a
    square and itself turned by 45 degrees have ProbIoU 1, and IoU 0.707.

    Args:
        boxes1: (N, 5) centre x and y, width, height, angle: `RotatedBoxes`, which have their own unit and sense, or an
            array of any library, or lists. A box with a side that is 0 or negative has no area, and ProbIoU 0.
        boxes2: (M, 5), from the same library.
        unit: The unit of the angles in arrays: ``"radians"`` or ``"degrees"``.
        sense: The way a positive angle turns, as seen on a screen: ``"clockwise"`` or ``"counterclockwise"``.

    Returns:
        (N, M), within [0, 1]. Each side counts as at least 1/10,000 of the largest side of the pair. The array is of
        the library of the boxes, and a gradient flows through it.

    Raises:
        ValueError: If a shape does not fit, or the unit or the sense is unknown.
        TypeError: If the arrays come from different libraries, or do not hold floating point numbers.

    Reference: Llerena et al., Gaussian Bounding Boxes and ProbIoU, 2021, arXiv:2106.06072.
    """
    return rotated_pairs(boxes1, boxes2, unit, sense, pairwise=True).probiou()


def elementwise_probiou(
    boxes1: RotatedBoxes | Array,
    boxes2: RotatedBoxes | Array,
    *,
    unit: AngleUnit = "radians",
    sense: AngleSense = "clockwise",
) -> Array:
    """ProbIoU of each rotated box with its counterpart; `pairwise_probiou` has the definition.

    Args:
        boxes1: (..., 5), as in `pairwise_probiou`.
        boxes2: The same shape, from the same library.
        unit: The unit of the angles in arrays.
        sense: The way a positive angle turns.

    Returns:
        (...), within [0, 1].

    Raises:
        ValueError: If a shape does not fit, or the unit or the sense is unknown.
        TypeError: If the arrays come from different libraries, or do not hold floating point numbers.
    """
    return rotated_pairs(boxes1, boxes2, unit, sense).probiou()


def pairwise_kfiou(
    boxes1: RotatedBoxes | Array,
    boxes2: RotatedBoxes | Array,
    *,
    unit: AngleUnit = "radians",
    sense: AngleSense = "clockwise",
) -> Array:
    """KFIoU of every rotated box of one set with every rotated box of another.

    A Kalman filter joins the Gaussians of both boxes into a third one. KFIoU is the area of its box over the areas of
    the two boxes minus this area. It compares sizes and angles only: it depends neither on the distance of the
    centres, nor on the rotation of a square.

    Args:
        boxes1: (N, 5), as in `pairwise_probiou`.
        boxes2: (M, 5), from the same library.
        unit: The unit of the angles in arrays.
        sense: The way a positive angle turns.

    Returns:
        (N, M), within [0, 1/3]; 0 for a box without an area.

    Raises:
        ValueError: If a shape does not fit, or the unit or the sense is unknown.
        TypeError: If the arrays come from different libraries, or do not hold floating point numbers.

    Reference: Yang et al., The KFIoU Loss for Rotated Object Detection, ICLR 2023, arXiv:2201.12558.
    """
    return rotated_pairs(boxes1, boxes2, unit, sense, pairwise=True).kfiou()


def elementwise_kfiou(
    boxes1: RotatedBoxes | Array,
    boxes2: RotatedBoxes | Array,
    *,
    unit: AngleUnit = "radians",
    sense: AngleSense = "clockwise",
) -> Array:
    """KFIoU of each rotated box with its counterpart; `pairwise_kfiou` has the definition.

    Args:
        boxes1: (..., 5), as in `pairwise_probiou`.
        boxes2: The same shape, from the same library.
        unit: The unit of the angles in arrays.
        sense: The way a positive angle turns.

    Returns:
        (...), within [0, 1/3].

    Raises:
        ValueError: If a shape does not fit, or the unit or the sense is unknown.
        TypeError: If the arrays come from different libraries, or do not hold floating point numbers.
    """
    return rotated_pairs(boxes1, boxes2, unit, sense).kfiou()


def rotated_pairs(
    first: RotatedBoxes | Array,
    second: RotatedBoxes | Array,
    unit: AngleUnit,
    sense: AngleSense,
    *,
    pairwise: bool = False,
    names: tuple[str, str] = ("boxes1", "boxes2"),
) -> RotatedPairs:
    """Checked pairs of rotated boxes, which are computed in float32 or float64.

    Args:
        first: (..., 5), or `RotatedBoxes`.
        second: The same.
        unit: The unit of the angles in arrays.
        sense: The way a positive angle turns.
        pairwise: Whether every box meets every box of the other set, rather than its counterpart.
        names: What messages call the two sets.
    """
    check_angle(unit, sense)
    sets = [rows_of(name, boxes, unit, sense) for name, boxes in zip(names, (first, second), strict=True)]
    one, other = sets
    both = " and ".join(names)
    one_library(**dict(zip(names, sets, strict=True)))
    xp = namespace_of(one)
    for name, boxes in zip(names, sets, strict=True):
        if tuple(boxes.shape[-1:]) != (5,) or boxes.ndim < 1 + pairwise:
            raise ValueError(f"{name} must have shape ({'N' if pairwise else '...'}, 5), got {tuple(boxes.shape)}")
        if not xp.isdtype(boxes.dtype, "real floating"):
            raise TypeError(f"{name} must hold floating point numbers, got dtype {boxes.dtype}")
    if not pairwise and one.shape != other.shape:
        raise ValueError(f"{both} must have one shape (..., 5), got {tuple(one.shape)} and {tuple(other.shape)}")
    dtype = xp.result_type(one, other)
    computed = computing_dtype_in(xp, dtype)
    one, other = (xp.astype(boxes, computed, copy=False) for boxes in sets)
    to_radians = math.pi / 180 if unit == "degrees" else 1.0
    angle = to_radians if sense == "clockwise" else -to_radians
    return RotatedPairs(xp, one, other, angle=angle, pairwise=pairwise)


def rows_of(name: str, boxes: RotatedBoxes | Array, unit: AngleUnit, sense: AngleSense) -> Array:
    """(..., 5) rows whose angles have this unit and sense."""
    if isinstance(boxes, RotatedBoxes):
        return boxes.convert(unit=unit, sense=sense).numpy()
    if isinstance(boxes, Regions):
        raise TypeError(f"{name} must be rotated boxes, got {type(boxes).__name__}")
    return as_floats(boxes, name) if library_of(boxes) == "numpy" else boxes


class _Columns:
    """Centres, sides, angles and areas of a set of boxes; a negative side counts as 0."""

    def __init__(self, xp: Any, boxes: Array, radian: float, axis: int | None) -> None:
        columns = [boxes[..., k] for k in range(5)]
        if axis is not None:
            columns = [xp.expand_dims(column, axis=axis) for column in columns]
        self.x, self.y, width, height, angle = columns
        self.angle = angle * radian
        self.width = xp.where(width <= 0, 0.0, width)  # NaN stays NaN, here and below
        self.height = xp.where(height <= 0, 0.0, height)
        self.area = self.width * self.height


class RotatedPairs:
    """Pairs of rotated boxes, (..., 5): centre, width, height, and the angle from the x axis to the y axis.

    Args:
        xp: The namespace of the arrays.
        first: One set.
        second: The other set.
        angle: The factor that turns the given angles into clockwise radians.
        pairwise: Whether every box meets every box of the other set, rather than its counterpart.
    """

    def __init__(self, xp: Any, first: Array, second: Array, *, angle: float = 1.0, pairwise: bool = False) -> None:
        self.xp = xp
        self.a, self.b = (
            _Columns(xp, boxes, angle, axis if pairwise else None) for boxes, axis in ((first, -1), (second, -2))
        )
        self.empty = (self.a.area <= 0) | (self.b.area <= 0)

    def ratio(self, part: Array, whole: Array) -> Array:
        """``part / whole``, and ``part`` where the whole is 0."""
        return part / self.xp.where(whole <= 0, 1.0, whole)

    def root(self, square: Array) -> Array:
        """The square root, without a gradient at 0."""
        return self.xp.where(square <= 0, 0.0, self.xp.sqrt(self.xp.where(square <= 0, 1.0, square)))

    def iou(self) -> Array:
        """Exact intersection over union; 0 for a box without an area."""
        intersection = self.intersection()
        return self.ratio(intersection, (self.a.area + self.b.area) - intersection)

    def intersection(self) -> Array:
        """The exact area of the intersection.

        The coordinates are those of the second box, a W x H rectangle about the origin. A vertical line meets the
        intersection where it meets the first box, with the ends clamped to the rectangle. So the area is the line
        integral of y, clamped to H, around the first box over the x inside W. Each of the four edges has a closed form.
        The integral is continuous, so edges that coincide need no tolerance; clipping would lose or double corners.
        """
        xp, a, b = self.xp, self.a, self.b
        x, y = self._turned(a.x - b.x, a.y - b.y, b)
        turn = a.angle - b.angle
        cos, sin = xp.cos(turn) * 0.5, xp.sin(turn) * 0.5
        wx, wy, hx, hy = cos * a.width, sin * a.width, -sin * a.height, cos * a.height
        corners = [
            (x + wx + hx, y + wy + hy),
            (x - wx + hx, y - wy + hy),
            (x - wx - hx, y - wy - hy),
            (x + wx - hx, y + wy - hy),
        ]
        width, height = b.width * 0.5, b.height * 0.5
        around = [self._below(corners[k - 1], corners[k], width, height) for k in range(4)]
        area = -((around[0] + around[1]) + (around[2] + around[3]))
        return xp.where(self.empty | (area <= 0), 0.0, area)

    def _below(self, start: tuple[Array, Array], end: tuple[Array, Array], width: Array, height: Array) -> Array:
        """The integral of the clamped y over the clamped x, along one edge."""
        xp, (x0, y0), (x1, y1) = self.xp, start, end
        left, right = (xp.minimum(xp.maximum(x, -width), width) for x in (x0, x1))
        run, rise = x1 - x0, y1 - y0
        # Below this ratio of run to rise an edge counts as upright.
        upright = xp.abs(run) <= float(xp.finfo(run.dtype).eps) ** 2 * xp.abs(rise)
        slope = 1 / xp.where(upright, 1.0, run)
        # An upright edge adds no area, but it has a gradient in x, for which both of its ends count.
        low = xp.where(upright, y0, y0 + ((left - x0) * slope) * rise)
        high = xp.where(upright, y1, y1 + ((right - x1) * slope) * rise)
        most, least = xp.maximum(low, high), xp.minimum(low, high)
        mean = (low + high) * 0.5 - self._excess(most - height, least - height)
        return (right - left) * (mean + self._excess(-height - least, -height - most))

    def _excess(self, most: Array, least: Array) -> Array:
        """The mean of the positive part along a straight line from ``most`` to ``least``."""
        xp = self.xp
        crosses = (most > 0) & (least <= 0)
        middle = (most + least) * 0.5
        part = most * (most / xp.where(crosses, most - least, 1.0)) * 0.5
        return xp.where(crosses, part, xp.maximum(middle, xp.zeros_like(middle)))

    def _spread(self) -> tuple[Array, Array, Array]:
        """The determinant of the summed covariances, its excess over equal covariances, and the product of the areas.

        The covariances have variances w^2 and h^2, and all sides are divided by the largest side, which changes no
        ratio. Everything is a sum of squares, so nothing cancels for long boxes or for equal boxes.
        """
        xp, a, b = self.xp, self.a, self.b
        (w1, h1), (w2, h2) = self._sides(a), self._sides(b)
        cos, sin = xp.cos(a.angle - b.angle), xp.sin(a.angle - b.angle)
        areas = (w1 * h1 - w2 * h2) ** 2
        excess = areas + ((cos * (h1 * w2 - w1 * h2)) ** 2 + (sin * (h1 * h2 - w1 * w2)) ** 2)
        product = (w1 * h1) * (w2 * h2)
        return excess + 4 * product, excess, product

    def _sides(self, box: _Columns) -> tuple[Array, Array]:
        """Sides divided by the largest side of the pair, and at least 1/10,000: their powers must fit in float32."""
        xp, scale = self.xp, self._scale()
        width, height = box.width / scale, box.height / scale
        return xp.where(width <= _THIN, _THIN, width), xp.where(height <= _THIN, _THIN, height)

    def _scale(self) -> Array:
        """The largest side of a pair, as a constant without a gradient."""
        xp, a, b = self.xp, self.a, self.b
        largest = xp.maximum(xp.maximum(a.width, a.height), xp.maximum(b.width, b.height))
        return constant(xp.where(largest <= 0, 1.0, largest))

    def bhattacharyya(self) -> Array:
        """The Bhattacharyya distance of Gaussians with variances w^2 / 12 and h^2 / 12; undefined without an area."""
        xp, a, b, scale = self.xp, self.a, self.b, self._scale()
        whole, excess, product = self._spread()
        dx, dy = (a.x - b.x) / scale, (a.y - b.y) / scale

        def across(box: _Columns) -> Array:
            along, sideways = self._turned(dx, dy, box)
            width, height = self._sides(box)
            return (along * height) ** 2 + (sideways * width) ** 2

        return 3 * ((across(a) + across(b)) / whole) + 0.5 * xp.log1p(excess / (4 * product))

    def _turned(self, dx: Array, dy: Array, box: _Columns) -> tuple[Array, Array]:
        """A vector along the sides of a box."""
        cos, sin = self.xp.cos(box.angle), self.xp.sin(box.angle)
        return cos * dx + sin * dy, cos * dy - sin * dx

    def wasserstein(self) -> Array:
        """The squared Wasserstein distance of Gaussians with variances w^2 / 4 and h^2 / 4.

        The part of the sides is ``(A - 2 S) / 4``, with A the sum of their squares and S the trace of the root of the
        product. It is computed as ``(A^2 - 4 S^2) / (4 (A + 2 S))``, whose numerator is a sum of squares, so that
        nothing cancels for nearly equal boxes.
        """
        xp, a, b, scale = self.xp, self.a, self.b, self._scale()
        (w1, h1), (w2, h2) = self._sides(a), self._sides(b)
        cos, sin = xp.cos(a.angle - b.angle), xp.sin(a.angle - b.angle)
        total = (w1 * w1 + h1 * h1) + (w2 * w2 + h2 * h2)
        shared = xp.sqrt((cos * (w1 * w2 + h1 * h2)) ** 2 + (sin * (w1 * h2 + h1 * w2)) ** 2)
        alike = ((w1 - w2) ** 2 + (h1 - h2) ** 2) * ((w1 + w2) ** 2 + (h1 + h2) ** 2)
        crossed = ((w1 - h2) ** 2 + (h1 - w2) ** 2) * ((w1 + h2) ** 2 + (h1 + w2) ** 2)
        sides = (cos * cos * alike + sin * sin * crossed) / (4 * (total + 2 * shared))
        dx, dy = a.x - b.x, a.y - b.y
        return (dx * dx + dy * dy) + scale * scale * sides

    def divergence(self) -> Array:
        """The Kullback-Leibler divergence of the first Gaussian from the second, with variances w^2 / 4 and h^2 / 4.

        The part of the sides is weighted by the turn between that of parallel and that of crossed boxes. Both are at
        least 0, so nothing cancels for long boxes.
        """
        xp, a, b, scale = self.xp, self.a, self.b, self._scale()
        (w1, h1), (w2, h2) = self._sides(a), self._sides(b)
        cos, sin = xp.cos(a.angle - b.angle), xp.sin(a.angle - b.angle)
        along, sideways = self._turned((a.x - b.x) / scale, (a.y - b.y) / scale, b)

        def of_ratios(one: Array, other: Array) -> Array:
            return 0.5 * ((one - 1) * (one + 1) + (other - 1) * (other + 1)) - xp.log(one * other)

        sides = cos * cos * of_ratios(w1 / w2, h1 / h2) + sin * sin * of_ratios(w1 / h2, h1 / w2)
        return 2 * ((along / w2) ** 2 + (sideways / h2) ** 2) + sides

    def probiou(self) -> Array:
        """1 minus the Hellinger distance of these Gaussians; 0 for a box without an area."""
        xp = self.xp
        return xp.where(self.empty, 0.0, 1 - self.root(-xp.expm1(-self.bhattacharyya())))

    def kfiou(self) -> Array:
        """The overlap of Gaussians that a Kalman filter joins, at most 1/3; 0 for a box without an area."""
        whole, _, product = self._spread()
        shared = product / self.xp.sqrt(whole)
        first, second = (width * height for width, height in map(self._sides, (self.a, self.b)))
        return self.xp.where(self.empty, 0.0, shared / ((first + second) - shared))
