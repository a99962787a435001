"""Does the tracker keep its objects? HOTA, CLEAR and Identity of objects that have track ids."""

from ioukit.tracks.costs import TrackCosts
from ioukit.tracks.evaluating import evaluate_tracks
from ioukit.tracks.evaluator import TrackEvaluator
from ioukit.tracks.events import EVENT_KINDS, TrackEvents
from ioukit.tracks.j_and_f import JAndF, ObjectNumbers, evaluate_j_and_f
from ioukit.tracks.measures import THRESHOLDS
from ioukit.tracks.protocols import TRACK_PROTOCOLS, TrackProtocol
from ioukit.tracks.results import TrackClass, TrackEvaluation, TrackNumbers
from ioukit.tracks.tubes import TubeRules

__all__ = [
    "EVENT_KINDS",
    "THRESHOLDS",
    "TRACK_PROTOCOLS",
    "JAndF",
    "ObjectNumbers",
    "TrackClass",
    "TrackCosts",
    "TrackEvaluation",
    "TrackEvaluator",
    "TrackEvents",
    "TrackNumbers",
    "TrackProtocol",
    "TubeRules",
    "evaluate_j_and_f",
    "evaluate_tracks",
]
