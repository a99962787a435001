"""How good is it? And where does it fail?"""

from ioukit.evaluation.analysis.confusion import ConfusionMatrix, confusion_matrix
from ioukit.evaluation.analysis.images import ImageResults, per_image
from ioukit.evaluation.analysis.operating import OperatingPoint, ScoreCurve, ScoreCurves, score_curves
from ioukit.evaluation.analysis.outcomes import Outcome, Outcomes, outcomes
from ioukit.evaluation.analysis.tide import KINDS, ErrorKinds, error_kinds
from ioukit.evaluation.curves import Curves, accumulate
from ioukit.evaluation.evaluating import evaluate
from ioukit.evaluation.matching import MatchTable, match
from ioukit.evaluation.protocols.protocol import COCO, AreaRange, Protocol
from ioukit.evaluation.results import ClassResult, Evaluation
from ioukit.evaluation.summary import summarise

__all__ = [
    "COCO",
    "KINDS",
    "AreaRange",
    "ClassResult",
    "ConfusionMatrix",
    "Curves",
    "ErrorKinds",
    "Evaluation",
    "ImageResults",
    "MatchTable",
    "OperatingPoint",
    "Outcome",
    "Outcomes",
    "Protocol",
    "ScoreCurve",
    "ScoreCurves",
    "accumulate",
    "confusion_matrix",
    "error_kinds",
    "evaluate",
    "match",
    "outcomes",
    "per_image",
    "score_curves",
    "summarise",
]
