"""Which boxes survive: suppression and its softer forms, fusion, merging, tiles."""

from ioukit.postprocess.filter import FilteredDetections, filter_detections
from ioukit.postprocess.fusion import Fused, non_maximum_weighted, weighted_boxes_fusion
from ioukit.postprocess.greedy import nms
from ioukit.postprocess.matrix import Clustered, cluster_nms, fast_nms, matrix_nms
from ioukit.postprocess.merging import Merged, merge_boxes, non_maximum_merge
from ioukit.postprocess.operating_points import AppliedPoints, OperatingPoints
from ioukit.postprocess.padded import nms_padded
from ioukit.postprocess.score_maps import IsotonicMap, PlattMap, ScoreMap, TemperatureMap
from ioukit.postprocess.soft import soft_nms
from ioukit.postprocess.suppression import Suppression
from ioukit.postprocess.tiles import Tile, TiledDetections, TiledNms, cut_tiles, nms_over_tiles

__all__ = [
    "AppliedPoints",
    "Clustered",
    "FilteredDetections",
    "Fused",
    "IsotonicMap",
    "Merged",
    "OperatingPoints",
    "PlattMap",
    "ScoreMap",
    "Suppression",
    "TemperatureMap",
    "Tile",
    "TiledDetections",
    "TiledNms",
    "cluster_nms",
    "cut_tiles",
    "fast_nms",
    "filter_detections",
    "matrix_nms",
    "merge_boxes",
    "nms",
    "nms_over_tiles",
    "nms_padded",
    "non_maximum_merge",
    "non_maximum_weighted",
    "soft_nms",
    "weighted_boxes_fusion",
]
