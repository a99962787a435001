"""Objects as four points, as files have them, and the rotated boxes that these are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from ioukit.datasets.columns.detections import Detections
    from ioukit.datasets.columns.ground_truth import GroundTruth

__all__ = ["other_areas", "partly_kept", "points_of_objects", "rotated_of_points"]

_ALONG = 1e-4
"""How far corners may lie from those of a rectangle, as a fraction of its diagonal, whatever the rounding is."""


def rotated_of_points(points: npt.ArrayLike) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """The rotated box of each quadrilateral: the rectangle that it is, or the smallest rectangle around it.

    Four points are a rectangle if no corner is off by more than the rounding of the numbers: 1 pixel if all eight are
    whole, 0.1 if they have one decimal, else 1e-4 of the diagonal. The width is then the side from the first to the
    second point.

    Args:
        points: (N, 4, 2) x and y of the points, in order around the quadrilateral in either direction.

    Returns:
        (N, 5) ``cx, cy, width, height, angle`` in radians, clockwise on the screen, and (N,) whether the four points
        are a rectangle.
    """
    from ioukit.regions import Polygons, RotatedBoxes  # noqa: PLC0415 - few formats have them

    given = np.asarray(points, np.float64).reshape(-1, 4, 2)
    boxes = np.zeros((len(given), 5))
    is_rectangle = _are_rectangles(given)
    if is_rectangle.any():
        fitted = RotatedBoxes.from_corners(given[is_rectangle], unit="radians", sense="clockwise", tolerance=1e9)
        boxes[is_rectangle] = fitted.numpy()
    if not is_rectangle.all():
        smallest = Polygons(list(given[~is_rectangle])).min_area_boxes()
        boxes[~is_rectangle] = smallest.convert(unit="radians", sense="clockwise").numpy()
    return boxes, is_rectangle


def _are_rectangles(points: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    first, second, third, fourth = np.moveaxis(points - points[:, :1], 1, 0)
    along, across = (second - first + third - fourth) / 2, (third - second + fourth - first) / 2  # (N, 2)
    width, height = np.hypot(*along.T), np.hypot(*across.T)
    has_area = (width > 0) & (height > 0)
    # A parallelogram has 0 here; else each corner is off by this.
    uneven = np.hypot(*((first - second + third - fourth) / 4).T)
    lean = np.abs((along * across).sum(axis=1)) / np.where(has_area, width * height, 1)
    off = uneven + lean * np.minimum(width, height) / 2
    flat = points.reshape(-1, 8)
    whole = (flat == np.round(flat)).all(axis=1)
    tenths = np.isclose(flat * 10, np.round(flat * 10), rtol=0, atol=1e-6).all(axis=1)
    rounding = np.where(whole, 1.0, np.where(tenths, 0.1, 0.0))
    # A rectangle of about the size of the rounding could be anything with four points.
    rounding = np.minimum(rounding, np.minimum(width, height) / 4)
    return np.asarray(off <= np.maximum(rounding, _ALONG * np.hypot(width, height)))


def points_of_objects(data: GroundTruth | Detections) -> tuple[npt.NDArray[np.float64], frozenset[str]]:
    """(N, 8) the four points of each object, and the kinds of regions that they come from."""
    low, high = data.boxes[:, :2], data.boxes[:, :2] + data.boxes[:, 2:]
    points = np.stack(
        [low[:, 0], low[:, 1], high[:, 0], low[:, 1], high[:, 0], high[:, 1], low[:, 0], high[:, 1]], axis=1
    )
    kept = set()
    rotated = data.regions.get("RotatedBoxes")
    if rotated is not None:
        kept.add("RotatedBoxes")
        points = rotated.corners().reshape(-1, 8)
    four = _four_points(data.segmentations)
    if four:
        kept.add("segmentations")
        points[list(four)] = list(four.values())
    return points, frozenset(kept)


def other_areas(data: GroundTruth | Detections, kept: frozenset[str]) -> list[str]:
    """A note about areas that are not those of the points that are written: readers compute areas from these."""
    if data.areas is None and not kept:
        return []
    points, _ = points_of_objects(data) if kept else (None, None)
    areas = data.boxes[:, 2] * data.boxes[:, 3]
    if points is not None:
        rotated, _ = rotated_of_points(points)
        areas = rotated[:, 2] * rotated[:, 3]
    given = areas if data.areas is None else data.areas
    differing = int((~np.isclose(given, areas, rtol=1e-6, atol=1e-9)).sum())
    return [f"areas of {differing:,} objects that are not those of their four points"] if differing else []


def _four_points(segmentations: Sequence[Any] | None) -> dict[int, list[float]]:
    """The segmentations that are one polygon of four points, by row."""
    return {
        row: [float(value) for value in polygons[0]]
        for row, polygons in enumerate(segmentations or ())
        if isinstance(polygons, Sequence)
        and not isinstance(polygons, str)
        and len(polygons) == 1
        and len(polygons[0]) == 8
    }


def partly_kept(data: GroundTruth | Detections, kept: frozenset[str]) -> list[str]:
    """A note about segmentations of other shapes, if some are kept."""
    if "segmentations" not in kept or data.segmentations is None:
        return []
    others = sum(row is not None for row in data.segmentations) - len(_four_points(data.segmentations))
    return [f"segmentations of {others:,} objects that are not one polygon of four points"] if others else []
