"""Points: their order around a region, and whether they lie in a box."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from ioukit._arrays import as_floats
from ioukit._checks import check_boxes, check_choice
from ioukit.regions.boxes import Boxes
from ioukit.regions.polygon import Polygon

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ioukit.typing import FloatArray

__all__ = ["is_inside_box", "order_points_clockwise"]

Start: TypeAlias = Literal["top_left", "top", "first"]


def order_points_clockwise(points: Polygon | ArrayLike, *, start: Start = "top_left") -> FloatArray:
    """Points in the order of their direction from their mean, clockwise on a screen, whose y points down.

    Args:
        points: (N, 2), or a `Polygon`. In the order given, corners of a convex polygon may be mixed up; other polygons
            would change their shape.
        start: Which point comes first. ``"top_left"``: the least x + y, and of several the upper one, so that a
            diamond begins at its top; ``"top"``: the least y, and of several the left one; ``"first"``: the point that
            is first in ``points``.

    Returns:
        (N, 2) float64. Points in one direction from the mean come the nearer first, those on the mean before all.

    Raises:
        ValueError: If the shape is another, a number is not finite, or ``start`` is unknown.

    Examples:
        >>> order_points_clockwise([[10, 10], [0, 10], [10, 0], [0, 0]]).tolist()
        [[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]]
        >>> order_points_clockwise([[0, 5], [5, 10], [10, 5], [5, 0]]).tolist()
        [[5.0, 0.0], [10.0, 5.0], [5.0, 10.0], [0.0, 5.0]]
    """
    check_choice("start", start, get_args(Start))
    given = np.array(points.points if isinstance(points, Polygon) else as_floats(points, "points"), np.float64)
    if given.ndim != 2 or given.shape[1] != 2:
        raise ValueError(f"points must have shape (N, 2), got {given.shape}")
    good = np.isfinite(given).all(axis=1)
    if not good.all():
        at = int(np.argmin(good))
        raise ValueError(f"points[{at}] is {given[at].tolist()}: every coordinate must be finite")
    if not len(given):
        return given
    near = given - given[0]
    x, y = (near - near.mean(axis=0)).T
    order = np.lexsort([np.hypot(x, y), np.arctan2(y, x)])
    x, y = near[order].T
    keys = {"top_left": [x, y, x + y], "top": [x, y], "first": [order]}[start]
    first = np.lexsort(keys)[0]
    return given[np.roll(order, -first)]


def is_inside_box(points: Polygon | ArrayLike, box: Boxes | ArrayLike) -> NDArray[np.bool_]:
    """Whether points lie in an upright box, its edges included.

    Args:
        points: (..., 2), a `Polygon`, or (..., 3) of keypoints whose third number, the visibility, is passed over.
            NaN is outside.
        box: `Boxes` of one box, or 4 numbers as xyxy; in the unit of the points.

    Returns:
        (...).

    Raises:
        ValueError: If a shape is another, the box is not valid, or one of `Polygon` and `Boxes` is normalized and the
            other is not.

    Examples:
        >>> is_inside_box([[0, 0], [2, 1], [3, 1]], [0, 0, 2, 2])
        array([ True,  True, False])
    """
    if isinstance(points, Polygon) and isinstance(box, Boxes) and points.normalized != box.normalized:
        raise ValueError("points and box do not mix: one is normalized, the other is absolute")
    given = points.points if isinstance(points, Polygon) else as_floats(points, "points")
    if given.shape == (0,):
        given = given.reshape(0, 2)
    if not given.ndim or given.shape[-1] not in (2, 3):
        raise ValueError(f"points must have shape (..., 2), or (..., 3) with a visibility, got {given.shape}")
    corners = box.convert("xyxy").numpy() if isinstance(box, Boxes) else as_floats(box, "box")
    if corners.shape not in ((4,), (1, 4)):
        raise ValueError(f"box must be one box, of 4 numbers, got shape {corners.shape}")
    x1, y1, x2, y2 = row = np.array(corners, np.float64).reshape(4)
    check_boxes(row, "xyxy", "box")
    x, y = given[..., 0], given[..., 1]
    return np.asarray((x1 <= x) & (x <= x2) & (y1 <= y) & (y <= y2))
