"""IoU of two single polygons: as they are drawn, and for outlines of a document, on the page itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit._checks import check_one_unit, check_positive
from ioukit.overlap.engines import polygons as engine
from ioukit.regions import Polygon
from ioukit.regions._polygon_geometry import clip_to_window, ring_area

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ioukit.typing import FloatArray


_HORIZON = 1e-12  # as a part of the weight in the middle of the page; below it, the image of a point is only rounding


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


def document_jaccard(
    pred: Polygon | ArrayLike, gt: Polygon | ArrayLike, image_size: tuple[float, float] | None = None
) -> float:
    """IoU of a predicted and a true document outline on the page itself, without the perspective of the photograph.

    A homography maps the corners of ``gt``, in order, to the corners of an upright rectangle, and maps ``pred``, too.
    The result is the IoU after this mapping. So a missed part of the page counts by its size on the paper, wherever the
    camera was. `polygon_iou` is the IoU of the two outlines in the photograph, where the near side of the page counts
    more than the far side. `jaccard_index` compares sets and masks.

    Args:
        pred: (4, 2) the corners of the prediction, in order around it in either direction; or a `Polygon` of 4 points.
        gt: (4, 2) the true corners, those of a convex quadrilateral, in the same unit; or a `Polygon` of 4 points.
        image_size: (height, width) of the rectangle, both positive. It does not change the result, because affine maps
            between rectangles keep ratios of areas. Other implementations require it.

    Returns:
        The IoU on the page, within [0, 1].

    Raises:
        ValueError: If ``pred`` or ``gt`` does not have 4 points; if ``gt`` is not convex or has no area; if ``pred``
            crosses itself; if a corner of ``pred`` lies on or behind the horizon, where it has no image on the page; or
            if one `Polygon` is normalized and the other is not.

    Examples:
        >>> page = [[1, 1], [9, 0], [10, 10], [0, 8]]
        >>> round(document_jaccard([[0, 0], [10, 0], [10, 10], [0, 10]], page), 4)
        0.7306

    Reference: Burie et al., ICDAR 2015 Competition on Smartphone Document Capture and OCR (SmartDoc), ICDAR 2015.
    """
    if image_size is not None:
        height, width = image_size
        check_positive(height=height, width=width)
    truth, found = _four(gt, "gt"), _four(pred, "pred")
    if isinstance(gt, Polygon) and isinstance(pred, Polygon):
        check_one_unit(pred.normalized, gt.normalized)
    if not truth.is_convex or _least_triangle(truth.points) < _HORIZON:
        raise ValueError(
            "gt must be a convex quadrilateral, its corners in order and no three of them on one line, "
            f"got {truth.to_list()}"
        )
    if found.convex_hull().is_empty:
        return 0.0
    found.to_polygons().check_simple(0, "pred")
    if {*map(tuple, found.to_list())} == {*map(tuple, truth.to_list())}:
        return 1.0  # exactly; four corners in convex position have only one simple order
    # The homography would lose digits far from the origin, or in a unit much larger or smaller than the page.
    corners = truth.numpy()
    centre, size = corners.mean(axis=0), float(np.ptp(corners, axis=0).max())
    weighted = _to_unit_square((corners - centre) / size, (found.points - centre) / size)
    behind = np.flatnonzero(weighted[:, 2] <= _HORIZON)
    if len(behind):
        corner = behind[0]
        raise ValueError(
            f"pred[{corner}] {found.points[corner].tolist()} lies on or behind the horizon of the page: no point of "
            "the page is seen there"
        )
    flattened = weighted[:, :2] / weighted[:, 2:]
    area = ring_area(flattened)
    both = min(ring_area(clip_to_window(flattened, (0.0, 0.0, 1.0, 1.0))), area, 1.0)
    return both / (max(area, 1.0) - both + min(area, 1.0))


def _four(points: Polygon | ArrayLike, name: str) -> Polygon:
    if not isinstance(points, Polygon) and np.shape(np.asarray(points)) != (4, 2):
        raise ValueError(f"{name} must have 4 points, shape (4, 2), got {np.shape(np.asarray(points))}")
    polygon = points if isinstance(points, Polygon) else Polygon(points)
    if len(polygon) != 4:
        raise ValueError(f"{name} must have 4 points, got {len(polygon)}")
    return polygon


def _least_triangle(corners: FloatArray) -> float:
    """The smallest area of three of the four corners, as a fraction of the square around all four."""
    near = corners - corners[0]
    size = float(np.ptp(near, axis=0).max())
    triangles = [np.delete(near / size, k, axis=0) for k in range(4)]
    return min(ring_area(triangle) for triangle in triangles)


def _to_unit_square(corners: FloatArray, points: FloatArray) -> FloatArray:
    """(K, 3) x, y and weight of points under the homography of 4 corners to (0, 0), (1, 0), (1, 1), (0, 1).

    The weight is 1 at the point (0, 0), which must lie inside the quadrilateral, and positive at the corners. A point
    with weight 0 has no image.
    """
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    equations, targets = np.zeros((8, 8)), square.reshape(-1)
    for row, ((x, y), (u, v)) in enumerate(zip(corners, square, strict=True)):
        equations[2 * row] = [x, y, 1, 0, 0, 0, -u * x, -u * y]
        equations[2 * row + 1] = [0, 0, 0, x, y, 1, -v * x, -v * y]
    homography = np.append(np.linalg.solve(equations, targets), 1.0).reshape(3, 3)
    weighted = np.concatenate([points, np.ones((len(points), 1))], axis=1) @ homography.T
    return np.asarray(weighted)
