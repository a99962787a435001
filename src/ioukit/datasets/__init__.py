"""How do I read it? Ground truth and detections as columns, from COCO files, Python records or arrays."""

from ioukit.datasets.coco import read_coco
from ioukit.datasets.detections import Detections
from ioukit.datasets.ground_truth import Categories, GroundTruth, Images

__all__ = ["Categories", "Detections", "GroundTruth", "Images", "read_coco"]
