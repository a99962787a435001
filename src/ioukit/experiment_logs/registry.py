"""The register of trackers: one row for each, and those of other packages."""

from __future__ import annotations

from typing import Any

from ioukit.experiment_logs import clearml, json_lines, mlflow, tensorboard, wandb
from ioukit.experiment_logs.tracker import Tracker

TRACKERS: list[Tracker] = [
    mlflow.TRACKER,
    wandb.TRACKER,
    tensorboard.TRACKER,
    clearml.TRACKER,
    json_lines.TRACKER,
]
"""The trackers, in the order in which an object is compared with them."""


def register_tracker(tracker: Tracker) -> None:
    """Let ``evaluation.log_to`` send to another tracker.

    It is asked before the trackers that are known, so it may take over an object of theirs. A tracker of the same name
    is replaced.

    Args:
        tracker: What recognises a run, and the channel that takes numbers, figures and files.
    """
    TRACKERS[:] = [tracker, *(one for one in TRACKERS if one.name != tracker.name)]


def find_tracker(run: Any) -> Tracker:
    """The tracker that an object is a run of.

    Raises:
        TypeError: If no tracker knows the object.
    """
    for tracker in TRACKERS:
        if tracker.recognises(run):
            return tracker
    known = "; ".join(f"{tracker.name} ({tracker.takes})" for tracker in TRACKERS)
    found = repr(run) if isinstance(run, str) else type(run).__name__
    raise TypeError(f"expected a run of {known}; found {found}")
