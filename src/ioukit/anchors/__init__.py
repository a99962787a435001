"""Anchors and their fit, the codings of boxes relative to them, and the letterbox of an image."""

from ioukit.anchors.deltas import decode_deltas, encode_deltas
from ioukit.anchors.distances import decode_ltrb, distribution_targets, encode_ltrb, expected_distances
from ioukit.anchors.grid import AnchorBoxes, AnchorPoints, anchor_boxes, anchor_points
from ioukit.anchors.heads import decode_grid
from ioukit.anchors.kmeans import AnchorFit, fit_anchors, measure_anchors
from ioukit.anchors.letterbox import Letterbox
from ioukit.anchors.yolo import (
    decode_yolov3,
    decode_yolov5,
    decode_yolox,
    encode_yolov3,
    encode_yolov5,
    encode_yolox,
)

__all__ = [
    "AnchorBoxes",
    "AnchorFit",
    "AnchorPoints",
    "Letterbox",
    "anchor_boxes",
    "anchor_points",
    "decode_deltas",
    "decode_grid",
    "decode_ltrb",
    "decode_yolov3",
    "decode_yolov5",
    "decode_yolox",
    "distribution_targets",
    "encode_deltas",
    "encode_ltrb",
    "encode_yolov3",
    "encode_yolov5",
    "encode_yolox",
    "expected_distances",
    "fit_anchors",
    "measure_anchors",
]
