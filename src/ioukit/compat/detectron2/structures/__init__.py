"""Upright and rotated boxes and their overlaps, under the names of ``detectron2.structures``."""

from ioukit.compat.detectron2.layers.rotated_boxes import pairwise_iou_rotated
from ioukit.compat.detectron2.structures.boxes import (
    Boxes,
    BoxMode,
    matched_pairwise_iou,
    pairwise_intersection,
    pairwise_ioa,
    pairwise_iou,
    pairwise_point_box_distance,
)
from ioukit.compat.detectron2.structures.rotated_boxes import RotatedBoxes

__all__ = [
    "BoxMode",
    "Boxes",
    "RotatedBoxes",
    "matched_pairwise_iou",
    "pairwise_intersection",
    "pairwise_ioa",
    "pairwise_iou",
    "pairwise_iou_rotated",
    "pairwise_point_box_distance",
]
