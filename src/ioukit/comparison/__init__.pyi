"""Is model B better than model A, and what changed? The parts of a difference, and one number over many data sets."""

from ioukit.comparison.agreement import Agreement, PairAgreement, agree
from ioukit.comparison.drawn_sequences import TrackDifference
from ioukit.comparison.model_comparison import ModelComparison, compare_models
from ioukit.comparison.model_pair import ModelPair
from ioukit.comparison.object_changes import (
    Changes,
    DetectionChange,
    DetectionChanges,
    ObjectChange,
    ObjectChanges,
    changes,
)
from ioukit.comparison.ranking_models import Ranking
from ioukit.comparison.sides import CHANGE_KINDS
from ioukit.comparison.splitting import Parts, parts
from ioukit.comparison.suite import Suite, evaluate_suite
from ioukit.comparison.track_changes import TrackChanges
from ioukit.comparison.track_comparison import TrackComparison, compare_tracks
from ioukit.comparison.track_pair import TrackPair

__all__ = [
    "CHANGE_KINDS",
    "Agreement",
    "Changes",
    "DetectionChange",
    "DetectionChanges",
    "ModelComparison",
    "ModelPair",
    "ObjectChange",
    "ObjectChanges",
    "PairAgreement",
    "Parts",
    "Ranking",
    "Suite",
    "TrackChanges",
    "TrackComparison",
    "TrackDifference",
    "TrackPair",
    "agree",
    "changes",
    "compare_models",
    "compare_tracks",
    "evaluate_suite",
    "parts",
]
