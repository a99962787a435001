"""How good is it? ``match -> merge -> accumulate -> summarise``, pure functions on frozen data."""

from ioukit.evaluation.curves import Curves, accumulate
from ioukit.evaluation.evaluate import evaluate
from ioukit.evaluation.matching import MatchTable, match
from ioukit.evaluation.protocol import COCO, AreaRange, Protocol
from ioukit.evaluation.results import ClassResult, Evaluation
from ioukit.evaluation.summary import summarise

__all__ = [
    "COCO",
    "AreaRange",
    "ClassResult",
    "Curves",
    "Evaluation",
    "MatchTable",
    "Protocol",
    "accumulate",
    "evaluate",
    "match",
    "summarise",
]
