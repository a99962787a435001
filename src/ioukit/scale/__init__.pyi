"""What if it does not fit? Evaluation of data larger than memory, and over many machines."""

from ioukit.scale.evaluating import evaluate
from ioukit.scale.planning import Plan, plan
from ioukit.scale.replicating import replicate
from ioukit.scale.sources.opening import open_detections
from ioukit.scale.sources.source import DetectionSource, Piece

__all__ = [
    "DetectionSource",
    "Piece",
    "Plan",
    "evaluate",
    "open_detections",
    "plan",
    "replicate",
]
