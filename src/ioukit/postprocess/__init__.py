"""Which boxes survive?"""

from ioukit.postprocess.fusion import Fused, Merged, non_maximum_merge, non_maximum_weighted, weighted_boxes_fusion
from ioukit.postprocess.matrix import Clustered, cluster_nms, fast_nms, matrix_nms
from ioukit.postprocess.soft import soft_nms

__all__ = [
    "Clustered",
    "Fused",
    "Merged",
    "cluster_nms",
    "fast_nms",
    "matrix_nms",
    "non_maximum_merge",
    "non_maximum_weighted",
    "soft_nms",
    "weighted_boxes_fusion",
]
