"""Non-maximum suppression and the IoU of rotated boxes, under the names of ``detectron2.layers``."""

from ioukit.compat.detectron2.layers.nms import batched_nms, batched_nms_rotated, nms, nms_rotated
from ioukit.compat.detectron2.layers.rotated_boxes import pairwise_iou_rotated

__all__ = ["batched_nms", "batched_nms_rotated", "nms", "nms_rotated", "pairwise_iou_rotated"]
