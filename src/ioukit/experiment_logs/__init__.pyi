"""Where do the results go? Experiment trackers, and the checks of a build."""

from ioukit.experiment_logs.figures import FIGURES, Picture
from ioukit.experiment_logs.junit import junit_xml
from ioukit.experiment_logs.registry import register_tracker
from ioukit.experiment_logs.sending import Logged, TrackerError, TrackerWarning, log_evaluation
from ioukit.experiment_logs.tracker import Channel, Tracker

__all__ = [
    "FIGURES",
    "Channel",
    "Logged",
    "Picture",
    "Tracker",
    "TrackerError",
    "TrackerWarning",
    "junit_xml",
    "log_evaluation",
    "register_tracker",
]
