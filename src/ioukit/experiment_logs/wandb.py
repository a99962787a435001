"""Weights & Biases: what `run.log` takes, and the report as an artifact."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any

from ioukit._optional import import_extra
from ioukit.experiment_logs.tracker import Channel, Tracker, is_module, is_of_class

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ioukit.experiment_logs.figures import Picture


_LONGEST = 128  # characters of the name of an artifact


class _Channel(Channel):
    def __init__(self, run: Any, step: int | None) -> None:
        self._wandb = import_extra("wandb", extra="wandb", needed_by="log_to")
        self._run = self._wandb.run if is_module(run, "wandb") else run
        if self._run is None:
            raise RuntimeError("no run is active: call wandb.init() first")
        self._step = step

    def numbers(self, numbers: Mapping[str, float]) -> None:
        self._log(dict(numbers))

    def figure(self, name: str, picture: Picture) -> None:
        self._log({name: self._wandb.Image(picture.pixels)})

    def file(self, name: str, path: Path) -> None:
        label = re.sub(r"[^\w.\-]", "_", f"{self._run.id}-{name}")[-_LONGEST:]
        artifact = self._wandb.Artifact(label, type="evaluation", metadata={"step": self._step})
        artifact.add_file(str(path), policy="mutable")  # copies the file, which is deleted when this returns
        self._run.log_artifact(artifact)

    def close(self) -> None:
        # Without a step, the calls of one evaluation are one step of the run; with one, W&B ends it at the next.
        if self._step is None:
            self._run.log({}, commit=True)

    def _log(self, values: dict[str, Any]) -> None:
        self._run.log(values, step=self._step, commit=False)


@contextlib.contextmanager
def _started(address: str) -> Iterator[Any]:
    wandb = import_extra("wandb", extra="wandb", needed_by="--log-to wandb")
    with wandb.init(project=address or None) as run:
        yield run


TRACKER = Tracker(
    "Weights & Biases",
    "a wandb.Run, or the module wandb",
    lambda run: is_module(run, "wandb") or is_of_class(run, "wandb.sdk", "Run"),
    _Channel,
    scheme="wandb",
    started=_started,
)
