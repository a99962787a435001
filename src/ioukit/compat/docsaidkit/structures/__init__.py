"""Boxes, polygons and keypoints: one, or many, of each."""

from ioukit.compat.docsaidkit.structures._outlines import order_points_clockwise
from ioukit.compat.docsaidkit.structures.boxes_and_polygons import JOIN_STYLE, Box, Boxes, Polygon, Polygons
from ioukit.compat.docsaidkit.structures.keypoints import Keypoints, KeypointsList
from ioukit.compat.docsaidkit.structures.modes import BoxMode
from ioukit.compat.docsaidkit.structures.prepare import (
    prepare_box,
    prepare_boxes,
    prepare_keypoints,
    prepare_keypoints_list,
    prepare_polygon,
    prepare_polygons,
)

__all__ = [
    "JOIN_STYLE",
    "Box",
    "BoxMode",
    "Boxes",
    "Keypoints",
    "KeypointsList",
    "Polygon",
    "Polygons",
    "order_points_clockwise",
    "prepare_box",
    "prepare_boxes",
    "prepare_keypoints",
    "prepare_keypoints_list",
    "prepare_polygon",
    "prepare_polygons",
]
