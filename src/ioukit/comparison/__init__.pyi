"""Is model B better than model A, and what changed? Objects won and lost, and the parts of a difference."""

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

__all__ = [
    "CHANGE_KINDS",
    "Changes",
    "DetectionChange",
    "DetectionChanges",
    "ModelComparison",
    "ModelPair",
    "ObjectChange",
    "ObjectChanges",
    "Parts",
    "Ranking",
    "changes",
    "compare_models",
    "parts",
]
