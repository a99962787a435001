"""What if it does not fit? Evaluation of data larger than memory, and over many machines."""

from ioukit.scale.boxes.joining import JoinedPairs, PairChunk, overlap_join
from ioukit.scale.boxes.suppressing import SurvivorChunk, Survivors, nms
from ioukit.scale.engines.ray_map import RayMap
from ioukit.scale.evaluating import evaluate
from ioukit.scale.planning import Plan, plan
from ioukit.scale.replicating import replicate
from ioukit.scale.sources import DetectionSource, Piece, open_detections

__all__ = [
    "DetectionSource",
    "JoinedPairs",
    "PairChunk",
    "Piece",
    "Plan",
    "RayMap",
    "SurvivorChunk",
    "Survivors",
    "evaluate",
    "nms",
    "open_detections",
    "overlap_join",
    "plan",
    "replicate",
]
