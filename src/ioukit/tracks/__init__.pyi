"""Does the tracker keep its objects? HOTA, CLEAR and Identity of objects that have track ids."""

from ioukit.tracks.evaluating import evaluate_tracks
from ioukit.tracks.measures import THRESHOLDS
from ioukit.tracks.results import TrackClass, TrackEvaluation, TrackNumbers

__all__ = ["THRESHOLDS", "TrackClass", "TrackEvaluation", "TrackNumbers", "evaluate_tracks"]
