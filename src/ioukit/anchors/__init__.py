"""Anchors and their fit, the codings of boxes relative to them, and the letterbox of an image."""

from ioukit.anchors.coding import (
    decode_deltas,
    decode_grid,
    decode_ltrb,
    decode_yolov3,
    decode_yolov5,
    decode_yolox,
    distribution_targets,
    encode_deltas,
    encode_ltrb,
    encode_yolov3,
    encode_yolov5,
    encode_yolox,
    expected_distances,
)
from ioukit.anchors.grid import AnchorBoxes, AnchorPoints, anchor_boxes, anchor_points
from ioukit.anchors.kmeans import AnchorFit, fit_anchors, measure_anchors
from ioukit.anchors.letterbox import Letterbox

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
