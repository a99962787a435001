"""Where do the results go? Experiment trackers, and the checks of a build."""

from ioukit.tracking.figures import FIGURES
from ioukit.tracking.junit import junit_xml
from ioukit.tracking.picture import Picture
from ioukit.tracking.registry import register_tracker
from ioukit.tracking.sending import Logged, TrackerError, TrackerWarning, log_evaluation
from ioukit.tracking.tracker import Channel, Tracker

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
