"""How much do boxes overlap?"""

from ioukit.overlap.elementwise import (
    elementwise_ciou,
    elementwise_diou,
    elementwise_giou,
    elementwise_intersection,
    elementwise_ioa,
    elementwise_iom,
    elementwise_iou,
)
from ioukit.overlap.join import OverlapPairs, overlap_join
from ioukit.overlap.pairwise import (
    pairwise_ciou,
    pairwise_diou,
    pairwise_giou,
    pairwise_intersection,
    pairwise_ioa,
    pairwise_iom,
    pairwise_iou,
)

__all__ = [
    "OverlapPairs",
    "elementwise_ciou",
    "elementwise_diou",
    "elementwise_giou",
    "elementwise_intersection",
    "elementwise_ioa",
    "elementwise_iom",
    "elementwise_iou",
    "overlap_join",
    "pairwise_ciou",
    "pairwise_diou",
    "pairwise_giou",
    "pairwise_intersection",
    "pairwise_ioa",
    "pairwise_iom",
    "pairwise_iou",
]
