"""Which boxes survive? Non-maximum suppression, and merging."""

from ioukit.postprocess.merging import merge_boxes
from ioukit.postprocess.nms import nms
from ioukit.postprocess.padded import nms_padded
from ioukit.postprocess.suppression import Suppression

__all__ = ["Suppression", "merge_boxes", "nms", "nms_padded"]
