"""Points: in which order they run around a region, and whether they lie in a box."""

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


Start: TypeAlias = Literal["top_left", "top", "first"]


def order_points_clockwise(points: Polygon | ArrayLike, *, start: Start = "top_left") -> FloatArray:
    """Points sorted clockwise about their mean, as seen on a screen, whose y points down.

    Corners of a convex polygon in any order become its path. A concave polygon would change its shape.

    Args:
        points: (N, 2), or a `Polygon`.
        start: Which point comes first. ``"top_left"``: the smallest x + y; of several such points, the upper one, so
            that a diamond begins at its top. ``"top"``: the smallest y; of several such points, the left one.
            ``"first"``: the point that is first in ``points``.

    Returns:
        (N, 2) float64. Points in the same direction from the mean are sorted by distance; points at the mean come
        first.

    Raises:
        ValueError: If the shape is not (N, 2), a number is not finite, or ``start`` is unknown.

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
    """Whether points lie in an upright box or on its edges.

    Args:
        points: (..., 2); a `Polygon`; or (..., 3) keypoints, whose third number, the visibility, is ignored. A point
            with NaN is outside.
        box: `Boxes` of one box, or 4 numbers as xyxy, in the unit of the points.

    Returns:
        (...) bool, one per point.

    Raises:
        ValueError: If a shape does not fit, the box is not valid, or one of `Polygon` and `Boxes` is normalized and the
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
