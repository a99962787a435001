"""Overlaps of rotated boxes over the array API: the exact intersection, and those of the Gaussians in their place.

Everything has a finite gradient and one shape, whatever the boxes: nothing is sorted, selected or counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ioukit._arrays import constant

if TYPE_CHECKING:
    from ioukit.typing import Array

__all__ = ["RotatedPairs"]

_THIN = 1e-4


class _Columns:
    """Centre, sides and angle of a set, and its area; an inverted side counts as 0."""

    def __init__(self, xp: Any, boxes: Array, radian: float, axis: int | None) -> None:
        columns = [boxes[..., k] for k in range(5)]
        if axis is not None:
            columns = [xp.expand_dims(column, axis=axis) for column in columns]
        self.x, self.y, width, height, angle = columns
        self.angle = angle * radian
        self.width = xp.where(width > 0, width, 0.0)
        self.height = xp.where(height > 0, height, 0.0)
        self.area = self.width * self.height


class RotatedPairs:
    """Pairs of rotated boxes, (..., 5): centre, width, height, and the angle from the x axis to the y axis.

    Args:
        xp: The namespace.
        first: One set.
        second: The other.
        angle: What turns the given angles to radians.
        pairwise: Whether every box of one meets every box of the other, or its counterpart alone.
    """

    def __init__(self, xp: Any, first: Array, second: Array, *, angle: float = 1.0, pairwise: bool = False) -> None:
        self.xp = xp
        self.a, self.b = (
            _Columns(xp, boxes, angle, axis if pairwise else None) for boxes, axis in ((first, -1), (second, -2))
        )
        self.empty = (self.a.area <= 0) | (self.b.area <= 0)

    def ratio(self, part: Array, whole: Array) -> Array:
        """``part / whole``, guarded where there is no whole."""
        return part / self.xp.where(whole > 0, whole, 1.0)

    def iou(self) -> Array:
        """Exact intersection over union; 0 with a box without area."""
        intersection = self.intersection()
        return self.ratio(intersection, (self.a.area + self.b.area) - intersection)

    def intersection(self) -> Array:
        """The exact area both share.

        In the frame of the second box, a W x H rectangle about the origin, a vertical line meets both where it meets
        the first box, its ends clamped to the rectangle. So the area is a line integral once around the first box, of y
        clamped to H, over the part of x inside W: four edges in closed form. It is continuous, so coincident edges,
        where clipping loses or doubles corners, need no tolerance.
        """
        xp, a, b = self.xp, self.a, self.b
        cos, sin = xp.cos(b.angle), xp.sin(b.angle)
        dx, dy = a.x - b.x, a.y - b.y
        x, y = cos * dx + sin * dy, cos * dy - sin * dx
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
        upright = xp.abs(run) <= _smallest(xp, run) * xp.abs(rise)
        slope = 1 / xp.where(upright, 1.0, run)
        # Of an upright edge both ends count: what it shares has no width, but a slope in x.
        low = xp.where(upright, y0, y0 + ((left - x0) * slope) * rise)
        high = xp.where(upright, y1, y1 + ((right - x1) * slope) * rise)
        most, least = xp.maximum(low, high), xp.minimum(low, high)
        mean = (low + high) * 0.5 - self._excess(most - height, least - height)
        return (right - left) * (mean + self._excess(-height - least, -height - most))

    def _excess(self, most: Array, least: Array) -> Array:
        """The mean over a straight line from ``most`` to ``least`` of what is above 0."""
        xp = self.xp
        crosses = (most > 0) & (least <= 0)
        middle = (most + least) * 0.5
        part = most * (most / xp.where(crosses, most - least, 1.0)) * 0.5
        return xp.where(crosses, part, xp.maximum(middle, xp.zeros_like(middle)))

    def _spread(self) -> tuple[Array, Array, Array]:
        """The determinant of the summed covariances, what it exceeds that of equal ones by, and the product of areas.

        Covariances are those of boxes of variance w^2, h^2, all sides being divided by the largest, which changes
        neither ratio: sums of squares alone, so that nothing cancels for long boxes or for equal ones.
        """
        xp, a, b = self.xp, self.a, self.b
        (w1, h1), (w2, h2) = self._sides(a), self._sides(b)
        cos, sin = xp.cos(a.angle - b.angle), xp.sin(a.angle - b.angle)
        areas = (w1 * h1 - w2 * h2) ** 2
        excess = areas + ((cos * (h1 * w2 - w1 * h2)) ** 2 + (sin * (h1 * h2 - w1 * w2)) ** 2)
        product = (w1 * h1) * (w2 * h2)
        return excess + 4 * product, excess, product

    def _sides(self, box: _Columns) -> tuple[Array, Array]:
        """By the largest side of the pair, of which they count as 1/10,000 at least: float32 ends at 1e38."""
        xp, scale = self.xp, self._scale()
        width, height = box.width / scale, box.height / scale
        return xp.where(width > _THIN, width, _THIN), xp.where(height > _THIN, height, _THIN)

    def _scale(self) -> Array:
        """The largest side of a pair, a constant."""
        xp, a, b = self.xp, self.a, self.b
        largest = xp.maximum(xp.maximum(a.width, a.height), xp.maximum(b.width, b.height))
        return constant(xp.where(largest > 0, largest, 1.0))

    def bhattacharyya(self) -> Array:
        """The distance of the Gaussians of variance w^2 / 12, h^2 / 12; without meaning for boxes without area."""
        xp, a, b, scale = self.xp, self.a, self.b, self._scale()
        whole, excess, product = self._spread()
        dx, dy = (a.x - b.x) / scale, (a.y - b.y) / scale

        def across(box: _Columns) -> Array:
            cos, sin = xp.cos(box.angle), xp.sin(box.angle)
            along, beside = cos * dx + sin * dy, cos * dy - sin * dx
            width, height = self._sides(box)
            return (along * height) ** 2 + (beside * width) ** 2

        return 3 * ((across(a) + across(b)) / whole) + 0.5 * xp.log1p(excess / (4 * product))

    def probiou(self) -> Array:
        """1 less the Hellinger distance of those Gaussians; 0 with a box without area."""
        xp = self.xp
        square = -xp.expm1(-self.bhattacharyya())
        positive = square > 0
        root = xp.where(positive, xp.sqrt(xp.where(positive, square, 1.0)), 0.0)
        return xp.where(self.empty, 0.0, 1 - root)

    def kfiou(self) -> Array:
        """The overlap of the Gaussians as a Kalman filter joins them, at most 1/3; 0 with a box without area."""
        whole, _, product = self._spread()
        shared = product / self.xp.sqrt(whole)
        first, second = (width * height for width, height in map(self._sides, (self.a, self.b)))
        return self.xp.where(self.empty, 0.0, shared / ((first + second) - shared))


def _smallest(xp: Any, array: Array) -> float:
    """An edge so steep that its run is lost in its rise."""
    return float(xp.finfo(array.dtype).eps) ** 2
