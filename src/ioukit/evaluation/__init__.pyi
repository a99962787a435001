"""How good are the detections, and where are the errors?"""

from ioukit.evaluation.analysis.bins import match_bins
from ioukit.evaluation.analysis.confusion import ConfusionMatrix, confusion_matrix
from ioukit.evaluation.analysis.images import ImageResults, per_image
from ioukit.evaluation.analysis.jaccard import JaccardIndices, jaccard_indices
from ioukit.evaluation.analysis.lrp import LRPCurve, LRPErrors, LRPPoint, lrp_errors
from ioukit.evaluation.analysis.miss_rate import MissRateCurve, MissRateCurves, miss_rate_curves
from ioukit.evaluation.analysis.object_values import aspect_ratios, largest_overlaps, num_neighbours
from ioukit.evaluation.analysis.operating import AveragedPoint, OperatingPoint, ScoreCurve, ScoreCurves, score_curves
from ioukit.evaluation.analysis.orders import OrderRange, order_ranges
from ioukit.evaluation.analysis.outcomes import Outcome, Outcomes, outcomes
from ioukit.evaluation.analysis.proposals import RecallCurves, match_proposals, recall_curves
from ioukit.evaluation.analysis.tide import ERROR_KINDS, ErrorKinds, error_kinds
from ioukit.evaluation.class_results import ClassResult, ClassResults
from ioukit.evaluation.curves import Curves, accumulate
from ioukit.evaluation.disagreement.comparison import ProtocolComparison, ProtocolResult, compare_protocols
from ioukit.evaluation.disagreement.moves import ClassMove, ImageMove
from ioukit.evaluation.disagreement.tools import TOOLS, Tool, find_tool
from ioukit.evaluation.disagreement.walk import ProtocolDifference, RuleStep, explain_difference
from ioukit.evaluation.distances import NUSCENES, DistanceEvaluation, DistanceRules, evaluate_distances
from ioukit.evaluation.evaluating import evaluate
from ioukit.evaluation.evaluator.evaluator import Evaluator
from ioukit.evaluation.grounding.concepts import ConceptEvaluation, evaluate_concepts
from ioukit.evaluation.grounding.expressions import ExpressionEvaluation, ExpressionsBy, evaluate_expressions
from ioukit.evaluation.kinds import (
    REGION_KINDS,
    BoxColumns,
    Comparison,
    Kind,
    MaskColumns,
    PairColumns,
    candidate_pairs,
    region_kind,
    register_kind,
)
from ioukit.evaluation.kinds.keypoint_sets import find_keypoint_set
from ioukit.evaluation.kinds.keypoints import COCO_SIGMAS, keypoint_similarity, keypoints_kind
from ioukit.evaluation.matching import match
from ioukit.evaluation.outlines.outline import Outline, Outlines
from ioukit.evaluation.outlines.regions import region_outlines
from ioukit.evaluation.protocols import COCO, COCO_KEYPOINTS, AreaRange, IgnoreRule, Measure, Protocol
from ioukit.evaluation.requirements import Requirement, RequirementResult, check_requirements
from ioukit.evaluation.results import Evaluation
from ioukit.evaluation.segmentation.panoptic import panoptic_quality
from ioukit.evaluation.segmentation.panoptic_results import (
    PanopticAverage,
    PanopticClass,
    PanopticOutcomes,
    PanopticQuality,
)
from ioukit.evaluation.segmentation.semantic import SemanticIoU, semantic_iou
from ioukit.evaluation.summary import summarise, value_of
from ioukit.evaluation.table import DetectionRows, MatchTable, NearPairs, ObjectRows, PairRows
from ioukit.evaluation.table_file import load_table, pack_table, save_table, unpack_table
from ioukit.evaluation.tables.columns import ResultColumn
from ioukit.evaluation.tables.files import write_tables
from ioukit.evaluation.tables.register import TABLES, ResultTable

__all__ = [
    "COCO",
    "COCO_KEYPOINTS",
    "COCO_SIGMAS",
    "ERROR_KINDS",
    "NUSCENES",
    "REGION_KINDS",
    "TABLES",
    "TOOLS",
    "AreaRange",
    "AveragedPoint",
    "BoxColumns",
    "ClassMove",
    "ClassResult",
    "ClassResults",
    "Comparison",
    "ConceptEvaluation",
    "ConfusionMatrix",
    "Curves",
    "DetectionRows",
    "DistanceEvaluation",
    "DistanceRules",
    "ErrorKinds",
    "Evaluation",
    "Evaluator",
    "ExpressionEvaluation",
    "ExpressionsBy",
    "IgnoreRule",
    "ImageMove",
    "ImageResults",
    "JaccardIndices",
    "Kind",
    "LRPCurve",
    "LRPErrors",
    "LRPPoint",
    "MaskColumns",
    "MatchTable",
    "Measure",
    "MissRateCurve",
    "MissRateCurves",
    "NearPairs",
    "ObjectRows",
    "OperatingPoint",
    "OrderRange",
    "Outcome",
    "Outcomes",
    "Outline",
    "Outlines",
    "PairColumns",
    "PairRows",
    "PanopticAverage",
    "PanopticClass",
    "PanopticOutcomes",
    "PanopticQuality",
    "Protocol",
    "ProtocolComparison",
    "ProtocolDifference",
    "ProtocolResult",
    "RecallCurves",
    "Requirement",
    "RequirementResult",
    "ResultColumn",
    "ResultTable",
    "RuleStep",
    "ScoreCurve",
    "ScoreCurves",
    "SemanticIoU",
    "Tool",
    "accumulate",
    "aspect_ratios",
    "candidate_pairs",
    "check_requirements",
    "compare_protocols",
    "confusion_matrix",
    "error_kinds",
    "evaluate",
    "evaluate_concepts",
    "evaluate_distances",
    "evaluate_expressions",
    "explain_difference",
    "find_keypoint_set",
    "find_tool",
    "jaccard_indices",
    "keypoint_similarity",
    "keypoints_kind",
    "largest_overlaps",
    "load_table",
    "lrp_errors",
    "match",
    "match_bins",
    "match_proposals",
    "miss_rate_curves",
    "num_neighbours",
    "order_ranges",
    "outcomes",
    "pack_table",
    "panoptic_quality",
    "per_image",
    "recall_curves",
    "region_kind",
    "region_outlines",
    "register_kind",
    "save_table",
    "score_curves",
    "semantic_iou",
    "summarise",
    "unpack_table",
    "value_of",
    "write_tables",
]
