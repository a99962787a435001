"""Is model B better than model A, and what changed? Objects won and lost, and the parts of a difference."""

from ioukit.comparison.change_records import (
    Changes,
    DetectionChange,
    DetectionChanges,
    ObjectChange,
    ObjectChanges,
)
from ioukit.comparison.comparing_models import compare_models
from ioukit.comparison.model_comparison import ModelComparison
from ioukit.comparison.model_pair import ModelPair
from ioukit.comparison.object_changes import changes
from ioukit.comparison.part_records import CHANGE_KINDS, Parts
from ioukit.comparison.ranking_models import Ranking
from ioukit.comparison.splitting import parts

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
