"""IoU of two single polygons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit.overlap.engines import polygons as engine
from ioukit.regions import Polygon

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["polygon_iou"]


def polygon_iou(polygon1: Polygon | ArrayLike, polygon2: Polygon | ArrayLike) -> float:
    """Intersection over union of two polygons.

    `pairwise_iou` and `elementwise_iou` compute it for many polygons: ``pairwise_iou(Polygons(a), Polygons(b))``.

    Args:
        polygon1: A `Polygon` or its points (K, 2), in either direction.
        polygon2: The same, in the same unit.

    Returns:
        The IoU, within [0, 1]; 0 if both polygons have no area.

    Raises:
        ValueError: If a polygon has 1 or 2 points or a number that is not finite; if it crosses itself (the message
            names the edges, and `Polygon.make_valid` gives simple polygons); or if one polygon is normalized and the
            other is not.

    Examples:
        >>> polygon_iou([[0, 0], [10, 0], [10, 10], [0, 10]], [[5, 5], [15, 5], [15, 15], [5, 15]])
        0.14285714285714285
    """
    one, other = (
        (given if isinstance(given, Polygon) else Polygon(given)).to_polygons() for given in (polygon1, polygon2)
    )
    return float(engine.elementwise("iou", one, other, 1, ("polygon1", "polygon2"))[0])
