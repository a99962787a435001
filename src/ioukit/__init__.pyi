"""One overlap (IoU, Jaccard index) engine for the whole life of an object detector."""

from ioukit import anchors as anchors
from ioukit import assign as assign
from ioukit import checks as checks
from ioukit import comparison as comparison
from ioukit import compat as compat
from ioukit import datasets as datasets
from ioukit import errors as errors
from ioukit import evaluation as evaluation
from ioukit import experiment_logs as experiment_logs
from ioukit import inspection as inspection
from ioukit import label_errors as label_errors
from ioukit import losses as losses
from ioukit import operating as operating
from ioukit import overlap as overlap
from ioukit import plots as plots
from ioukit import postprocess as postprocess
from ioukit import regions as regions
from ioukit import report as report
from ioukit import runs as runs
from ioukit import scale as scale
from ioukit import slices as slices
from ioukit import statistics as statistics
from ioukit import torch as torch
from ioukit import tracks as tracks
from ioukit import typing as typing
from ioukit import viewer as viewer
from ioukit._core import __version__
from ioukit.checks import Diagnosis, Finding, diagnose
from ioukit.compat.patching import patch, patched, unpatch
from ioukit.datasets import Detections, GroundTruth, read_coco
from ioukit.errors import DatasetError
from ioukit.evaluation import COCO, Evaluation, Evaluator, MatchTable, Protocol, evaluate
from ioukit.inspection import Inspection, inspect
from ioukit.overlap import (
    BoxMatches,
    OverlapPairs,
    boundary_iou,
    document_jaccard,
    elementwise_alpha_iou,
    elementwise_centre_distance,
    elementwise_ciou,
    elementwise_diou,
    elementwise_eiou,
    elementwise_giou,
    elementwise_inner_iou,
    elementwise_intersection,
    elementwise_ioa,
    elementwise_iom,
    elementwise_iou,
    elementwise_jaccard_distance,
    elementwise_kfiou,
    elementwise_mpdiou,
    elementwise_nwd,
    elementwise_probiou,
    elementwise_siou,
    elementwise_tiou,
    jaccard_distance,
    jaccard_index,
    jaccard_index_of_counts,
    match_boxes,
    overlap_join,
    pairwise_alpha_iou,
    pairwise_centre_distance,
    pairwise_ciou,
    pairwise_diou,
    pairwise_eiou,
    pairwise_giou,
    pairwise_inner_iou,
    pairwise_intersection,
    pairwise_ioa,
    pairwise_iom,
    pairwise_iou,
    pairwise_jaccard_distance,
    pairwise_kfiou,
    pairwise_mask_iou,
    pairwise_mpdiou,
    pairwise_nwd,
    pairwise_probiou,
    pairwise_siou,
    pairwise_tiou,
    polygon_iou,
)
from ioukit.postprocess import (
    Suppression,
    TiledNms,
    cluster_nms,
    cut_tiles,
    fast_nms,
    filter_detections,
    matrix_nms,
    merge_boxes,
    nms,
    nms_over_tiles,
    nms_padded,
    non_maximum_merge,
    non_maximum_weighted,
    soft_nms,
    weighted_boxes_fusion,
)
from ioukit.regions import (
    Boxes,
    Boxes3D,
    Masks,
    Polygon,
    Polygons,
    RotatedBoxes,
    is_inside_box,
    order_points_clockwise,
)
from ioukit.tracks import TrackEvaluation, TrackEvaluator, evaluate_tracks
from ioukit.viewer.viewing import view

__all__ = [
    "COCO",
    "BoxMatches",
    "Boxes",
    "Boxes3D",
    "DatasetError",
    "Detections",
    "Diagnosis",
    "Evaluation",
    "Evaluator",
    "Finding",
    "GroundTruth",
    "Inspection",
    "Masks",
    "MatchTable",
    "OverlapPairs",
    "Polygon",
    "Polygons",
    "Protocol",
    "RotatedBoxes",
    "Suppression",
    "TiledNms",
    "TrackEvaluation",
    "TrackEvaluator",
    "__version__",
    "boundary_iou",
    "cluster_nms",
    "cut_tiles",
    "diagnose",
    "document_jaccard",
    "elementwise_alpha_iou",
    "elementwise_centre_distance",
    "elementwise_ciou",
    "elementwise_diou",
    "elementwise_eiou",
    "elementwise_giou",
    "elementwise_inner_iou",
    "elementwise_intersection",
    "elementwise_ioa",
    "elementwise_iom",
    "elementwise_iou",
    "elementwise_jaccard_distance",
    "elementwise_kfiou",
    "elementwise_mpdiou",
    "elementwise_nwd",
    "elementwise_probiou",
    "elementwise_siou",
    "elementwise_tiou",
    "evaluate",
    "evaluate_tracks",
    "fast_nms",
    "filter_detections",
    "inspect",
    "is_inside_box",
    "jaccard_distance",
    "jaccard_index",
    "jaccard_index_of_counts",
    "match_boxes",
    "matrix_nms",
    "merge_boxes",
    "nms",
    "nms_over_tiles",
    "nms_padded",
    "non_maximum_merge",
    "non_maximum_weighted",
    "order_points_clockwise",
    "overlap_join",
    "pairwise_alpha_iou",
    "pairwise_centre_distance",
    "pairwise_ciou",
    "pairwise_diou",
    "pairwise_eiou",
    "pairwise_giou",
    "pairwise_inner_iou",
    "pairwise_intersection",
    "pairwise_ioa",
    "pairwise_iom",
    "pairwise_iou",
    "pairwise_jaccard_distance",
    "pairwise_kfiou",
    "pairwise_mask_iou",
    "pairwise_mpdiou",
    "pairwise_nwd",
    "pairwise_probiou",
    "pairwise_siou",
    "pairwise_tiou",
    "patch",
    "patched",
    "polygon_iou",
    "read_coco",
    "soft_nms",
    "unpatch",
    "view",
    "weighted_boxes_fusion",
]
