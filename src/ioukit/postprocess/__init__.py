"""What is left of many boxes?"""

from ioukit.postprocess.merging import merge_boxes

__all__ = ["merge_boxes"]
