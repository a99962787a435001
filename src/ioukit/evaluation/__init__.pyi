"""How good is it? And where does it fail?"""

from ioukit.evaluation.confusion import ConfusionMatrix, confusion_matrix
from ioukit.evaluation.curves import Curves, accumulate
from ioukit.evaluation.evaluating import evaluate
from ioukit.evaluation.matching import MatchTable, match
from ioukit.evaluation.operating import OperatingPoint, ScoreCurve, ScoreCurves, score_curves
from ioukit.evaluation.outcome import Outcome, Outcomes, outcomes
from ioukit.evaluation.protocol import COCO, AreaRange, Protocol
from ioukit.evaluation.results import ClassResult, Evaluation
from ioukit.evaluation.single_images import ImageResults, per_image
from ioukit.evaluation.summary import summarise
from ioukit.evaluation.tide import KINDS, ErrorKinds, error_kinds

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
