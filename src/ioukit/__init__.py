"""One overlap (IoU, Jaccard index) engine for the whole life of an object detector."""

from ioukit._core import __version__
from ioukit.datasets import Detections, GroundTruth, read_coco
from ioukit.errors import DatasetError
from ioukit.evaluation import COCO, Evaluation, MatchTable, Protocol, evaluate

__all__ = [
    "COCO",
    "DatasetError",
    "Detections",
    "Evaluation",
    "GroundTruth",
    "MatchTable",
    "Protocol",
    "__version__",
    "evaluate",
    "read_coco",
]
