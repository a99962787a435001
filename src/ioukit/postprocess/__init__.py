"""What is left of many boxes?"""

from ioukit.postprocess.merging import merge_boxes

__all__ = ["merge_boxes"]
"""Which boxes survive? Non-maximum suppression."""

from ioukit.postprocess.nms import nms
from ioukit.postprocess.padded import nms_padded
from ioukit.postprocess.suppression import Suppression

__all__ = ["Suppression", "nms", "nms_padded"]
