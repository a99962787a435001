"""ClearML: scalars, debug samples and artifacts of a task."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any

from ioukit.experiment_logs.tracker import Channel, Tracker, is_of_class

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ioukit.experiment_logs.figures import Picture


class _Channel(Channel):
    def __init__(self, run: Any, step: int | None) -> None:
        self._task, self._logger, self._step = run, run.get_logger(), step

    def numbers(self, numbers: Mapping[str, float]) -> None:
        for name, value in numbers.items():
            if self._step is None:
                self._logger.report_single_value(name, value)
            else:
                title, series = _title_and_series(name, "summary")
                self._logger.report_scalar(title, series, value, self._step)

    def figure(self, name: str, picture: Picture) -> None:
        title, series = _title_and_series(name, "figures")
        # ClearML writes arrays as JPEG. It reads this file later, in the background, and then deletes it.
        handle, path = tempfile.mkstemp(prefix="ioukit-", suffix=".png")
        with open(handle, "wb") as file:
            file.write(picture.png)
        try:
            self._logger.report_image(title, series, self._step or 0, local_path=path, delete_after_upload=True)
        except Exception:
            os.unlink(path)
            raise

    def file(self, name: str, path: Path) -> None:
        label = name if self._step is None else f"{name}_step_{self._step}"
        # It waits, because the file is deleted when this returns.
        if not self._task.upload_artifact(label, str(path), wait_on_upload=True):
            raise OSError(f"the artifact {label} was not uploaded")


def _title_and_series(name: str, otherwise: str) -> tuple[str, str]:
    """The chart and the line of a metric: ``AP/person`` is a line of the chart ``AP``."""
    title, _, series = name.rpartition("/")
    return (title, series) if title and series else (otherwise, name)


TRACKER = Tracker("ClearML", "a clearml.Task", lambda run: is_of_class(run, "clearml", "Task"), _Channel)
