"""Functions on boxes, polygons and points, and `dict_to_jsonable`."""

from __future__ import annotations

import math
from datetime import date
from enum import Enum
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

import ioukit
from ioukit._arrays import as_floats
from ioukit.compat.docsaidkit.structures.boxes_and_polygons import Box, Boxes, FourNumbers, Polygon, Polygons
from ioukit.compat.docsaidkit.structures.keypoints import Keypoints, KeypointsList
from ioukit.compat.docsaidkit.structures.modes import BoxMode, one_unit
from ioukit.postprocess.merging import merge_boxes as merge

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike

    from ioukit.typing import FloatArray

__all__ = [
    "calc_angle",
    "dict_to_jsonable",
    "is_inside_box",
    "jaccard_index",
    "merge_boxes",
    "pairwise_intersection",
    "pairwise_ioa",
    "pairwise_iou",
    "poly_angle",
    "polygon_iou",
]


# Overlap of boxes


def pairwise_intersection(boxes1: Boxes, boxes2: Boxes) -> FloatArray:
    """Areas of the intersections, (N, M) float32. Boxes that are inverted or have no area overlap nothing.

    Raises:
        TypeError: If an argument is not `Boxes`.
        ValueError: If one set is normalized and the other is not, or a number is NaN or infinite.
    """
    _check_pair(boxes1, boxes2)
    for name, boxes in (("boxes1", boxes1), ("boxes2", boxes2)):
        bad = np.flatnonzero(~np.isfinite(boxes._array).all(axis=1))
        if len(bad):
            raise ValueError(f"{name}[{bad[0]}] is {boxes._array[bad[0]].tolist()}: every coordinate must be finite")
    corners = (boxes.convert(BoxMode.XYXY)._array for boxes in (boxes1, boxes2))
    areas: FloatArray = ioukit.pairwise_intersection(*corners, check=False)
    return areas


def pairwise_iou(boxes1: Boxes, boxes2: Boxes) -> FloatArray:
    """IoU of every box of one set with every box of another: `ioukit.pairwise_iou`, (N, M) float32.

    Raises:
        TypeError: If an argument is not `Boxes`.
        ValueError: If a box has no width or no height, a number is NaN or infinite, or one set is normalized and the
            other is not.
    """
    overlap: FloatArray = ioukit.pairwise_iou(*_with_area(boxes1, boxes2))
    return overlap


def pairwise_ioa(boxes1: Boxes, boxes2: Boxes) -> FloatArray:
    """Intersection over the area of the second box: `ioukit.pairwise_ioa`, (N, M) float32.

    Raises:
        TypeError, ValueError: As in `pairwise_iou`.
    """
    overlap: FloatArray = ioukit.pairwise_ioa(*_with_area(boxes1, boxes2))
    return overlap


def merge_boxes(boxes: Boxes, threshold: float = 0.5) -> tuple[Boxes, list[list[int]]]:
    """The boxes around groups that are connected by an IoU of at least the threshold: `ioukit.merge_boxes`.

    Args:
        boxes: The boxes of one image.
        threshold: Above 0 and at most 1.

    Returns:
        The boxes around the groups, in the mode and unit of ``boxes``, and the rows of each group, ascending. Groups
        are in the order of their first row.
    """
    if not isinstance(boxes, Boxes):
        raise TypeError(f"boxes must be Boxes of ioukit.compat.docsaidkit, got {type(boxes).__name__}")
    merged, groups = merge(boxes.checked(), iou_threshold=threshold)
    return Boxes(merged.numpy(), boxes.box_mode, boxes.is_normalized), [group.tolist() for group in groups]


def _check_pair(boxes1: Boxes, boxes2: Boxes) -> None:
    if not (isinstance(boxes1, Boxes) and isinstance(boxes2, Boxes)):
        kinds = f"{type(boxes1).__name__} and {type(boxes2).__name__}"
        raise TypeError(f"Input type of boxes1 and boxes2 must be Boxes of ioukit.compat.docsaidkit, got {kinds}")
    one_unit(boxes1, boxes2)


def _with_area(boxes1: Boxes, boxes2: Boxes) -> tuple[ioukit.Boxes, ioukit.Boxes]:
    _check_pair(boxes1, boxes2)
    for name, boxes in (("boxes1", boxes1), ("boxes2", boxes2)):
        empty = boxes.get_empty_index()
        # The error of `checked` says more about NaN.
        if len(empty) and np.isfinite(boxes._array[empty[0]]).all():
            row = boxes._array[empty[0]].tolist()
            raise ValueError(f"{name}[{empty[0]}] is {row}, without width or height: try to run `drop_empty()` first")
    return boxes1.checked(), boxes2.checked()


# Overlap of polygons


def polygon_iou(poly1: Polygon, poly2: Polygon) -> float:
    """IoU of two polygons, within [0, 1]; 0 if both have no area.

    A path that crosses itself counts as the region that it encloses, which needs Shapely (extra ``polygons``).

    Raises:
        TypeError: If an argument is not a `Polygon`.
        ValueError: If one polygon is normalized and the other is not, or a point is NaN or infinite.
    """
    for name, polygon in (("poly1", poly1), ("poly2", poly2)):
        if not isinstance(polygon, Polygon):
            raise TypeError(f"{name} must be Polygon of ioukit.compat.docsaidkit, got {type(polygon).__name__}")
    one_unit(poly1, poly2)
    parts1, parts2 = (polygon.checked().make_valid() for polygon in (poly1, poly2))
    both = float(ioukit.pairwise_intersection(parts1, parts2).sum())
    union = float(parts1.area.sum() + parts2.area.sum()) - both
    return min(both / union, 1.0) if union > 0 else 0.0


def jaccard_index(
    pred_poly: Polygon | ArrayLike, gt_poly: Polygon | ArrayLike, image_size: tuple[int, int] | None
) -> float:
    """SmartDoc's Jaccard index of a document outline, within [0, 1]: `ioukit.document_jaccard`.

    It is the IoU after a homography makes the true outline a rectangle. It is neither the IoU of the two outlines
    (`polygon_iou`), nor `ioukit.jaccard_index`, which compares sets.

    Args:
        pred_poly: (4, 2) points or a `Polygon`. An outline that crosses itself, or reaches beyond the horizon of the
            page, gives 0.
        gt_poly: (4, 2) points or a `Polygon`, convex.
        image_size: (height, width), required as upstream. The result does not depend on it.

    Raises:
        ValueError: If an outline does not have 4 points, ``image_size`` is None, the true outline is not a convex
            quadrilateral, or a number is NaN or infinite.
    """
    if image_size is None:
        raise ValueError("the image size must be (height, width), got image_size=None")
    found, truth = (poly if isinstance(poly, Polygon) else Polygon(poly) for poly in (pred_poly, gt_poly))
    one_unit(found, truth)
    for name, polygon in (("pred_poly", found), ("gt_poly", truth)):
        if len(polygon) != 4:
            raise ValueError(f"{name} must have 4 points, got {len(polygon)}")
    page = truth.checked()
    ioukit.document_jaccard(page, page, image_size)  # an invalid truth is an error, whatever the prediction is
    outline = found.checked()
    try:
        return ioukit.document_jaccard(outline, page, image_size)
    except ValueError:  # the predicted outline has no image on the page
        return 0.0


# Points and angles


def is_inside_box(x: Polygon | Keypoints | Box | ArrayLike, box: Box) -> bool:
    """Whether all points lie in a box or on its edges.

    Args:
        x: (K, 2) points, (K, 3) keypoints whose visibility is ignored, a `Polygon`, `Keypoints`, or a `Box`, of which
            the corners count.
        box: The box.

    Raises:
        ValueError: If the box and the structure are in different units.
    """
    if isinstance(x, (Polygon, Keypoints, Box)):
        one_unit(x, box)
    points = x._in(BoxMode.XYXY).reshape(2, 2) if isinstance(x, Box) else getattr(x, "_array", x)
    corners = box._in(BoxMode.XYXY)
    return bool(ioukit.is_inside_box(np.asarray(points), corners).all())


def calc_angle(v1: ArrayLike, v2: ArrayLike) -> float:
    """Degrees within [0, 360) from one vector to another, counted from x towards y; NaN for a vector of length 0."""
    (x1, y1), (x2, y2) = (as_floats(np.asarray(vector), "vector").reshape(-1)[:2].tolist() for vector in (v1, v2))
    if (x1, y1) == (0, 0) or (x2, y2) == (0, 0):
        return math.nan
    degrees = math.degrees(math.atan2(x1 * y2 - y1 * x2, x1 * x2 + y1 * y2)) % 360
    return 0.0 if degrees == 360 else degrees  # an angle just below 0 rounds up to 360


def poly_angle(poly1: Polygon, poly2: Polygon | None = None, base_vector: tuple[float, float] = (0, 1)) -> float:
    """Degrees within [0, 360) from the direction of a quadrilateral to the direction of another one, or to a vector.

    The direction is the sum of the two diagonals: from the first point to the third, and from the second to the fourth.
    It points down for an upright quadrilateral that starts at its upper left corner and runs clockwise. Angles are
    counted from x towards y.

    Raises:
        ValueError: If a polygon does not have 4 points, or the two polygons are in different units.
    """
    if poly2 is not None:
        one_unit(poly1, poly2)
    base = base_vector if poly2 is None else _direction(poly2, "poly2")
    return calc_angle(_direction(poly1, "poly1"), base)


def _direction(polygon: Polygon, name: str) -> FloatArray:
    if len(polygon) != 4:
        raise ValueError(f"{name} must have 4 points, got {len(polygon)}")
    a, b, c, d = polygon.numpy()
    direction: FloatArray = (c - a) + (d - b)
    return direction


_PLAIN: list[tuple[Any, Callable[[Any], Any]]] = [
    (FourNumbers, lambda boxes: boxes.convert(BoxMode.XYXY).to_list()),
    ((Polygon, Polygons, Keypoints, KeypointsList), lambda points: points.to_list()),
    ((np.ndarray, np.generic), lambda array: array.tolist()),
    (Enum, lambda member: member.name),
    (PurePath, str),
    (date, lambda day: day.isoformat()),
    ((str, int, float, type(None)), lambda value: value),
]


def dict_to_jsonable(
    d: Mapping[Any, Any], jsonable_func: Mapping[Any, Callable[[Any], Any]] | None = None
) -> dict[Any, Any]:
    """A copy of a dictionary that holds, at any depth, only types that JSON has.

    Boxes become xyxy numbers, polygons and keypoints become their points, without rounding. Arrays become lists,
    members of enumerations become their names, paths and dates become strings.

    Args:
        d: The dictionary.
        jsonable_func: For some keys, a function that converts their values.

    Raises:
        TypeError: If a value has another type; the message says where it is.
    """
    own = jsonable_func or {}
    return {key: own[key](value) if key in own else _jsonable(value, f"d[{key!r}]", own) for key, value in d.items()}


def _jsonable(value: Any, where: str, own: Mapping[Any, Callable[[Any], Any]]) -> Any:
    if isinstance(value, dict):
        return {k: own[k](v) if k in own else _jsonable(v, f"{where}[{k!r}]", own) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(item, f"{where}[{position}]", own) for position, item in enumerate(value)]
    for kinds, plain in _PLAIN:
        if isinstance(value, kinds):
            return plain(value)
    raise TypeError(f"{where} is a {type(value).__name__}, which JSON does not know: give jsonable_func its key")
