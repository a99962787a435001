"""One overlap (IoU, Jaccard index) engine for the whole life of an object detector."""

from ioukit._core import __version__
from ioukit.boxes import Boxes, Diagnosis, Finding, diagnose
from ioukit.datasets import Detections, GroundTruth, read_coco
from ioukit.errors import DatasetError
from ioukit.evaluation import COCO, Evaluation, MatchTable, Protocol, evaluate
from ioukit.overlap import (
    OverlapPairs,
    elementwise_ciou,
    elementwise_diou,
    elementwise_giou,
    elementwise_intersection,
    elementwise_ioa,
    elementwise_iom,
    elementwise_iou,
    overlap_join,
    pairwise_ciou,
    pairwise_diou,
    pairwise_giou,
    pairwise_intersection,
    pairwise_ioa,
    pairwise_iom,
    pairwise_iou,
)

__all__ = [
    "COCO",
    "Boxes",
    "DatasetError",
    "Detections",
    "Diagnosis",
    "Evaluation",
    "Finding",
    "GroundTruth",
    "MatchTable",
    "OverlapPairs",
    "Protocol",
    "__version__",
    "diagnose",
    "elementwise_ciou",
    "elementwise_diou",
    "elementwise_giou",
    "elementwise_intersection",
    "elementwise_ioa",
    "elementwise_iom",
    "elementwise_iou",
    "evaluate",
    "overlap_join",
    "pairwise_ciou",
    "pairwise_diou",
    "pairwise_giou",
    "pairwise_intersection",
    "pairwise_ioa",
    "pairwise_iom",
    "pairwise_iou",
    "read_coco",
]
