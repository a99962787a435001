"""The progress of `ioukit train`: a bar on a terminal, lines otherwise."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any

from ioukit.evaluation.protocols import COCO

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ioukit.cli._talk import Talk
    from ioukit.torch.detector.log import Epoch

__all__ = ["progress"]

_PATIENCE = 60.0  # seconds; a log gets a line after this time without one


class _Progress:
    """A line per epoch, with the losses and AP. Within an epoch, a bar on a terminal, otherwise a line every minute."""

    def __init__(self, talk: Talk, epochs: int, bar: Any) -> None:
        self.talk, self.epochs, self.bar, self.task, self.shown = talk, epochs, bar, None, 0
        self.spoke = time.monotonic()

    def step(self, epoch: int, step: int, steps: int, losses: dict[str, float]) -> None:
        """Shows a step; the arguments are those of `on_step` of `ioukit.torch.detector.train.train`."""
        text = f"epoch {epoch}/{self.epochs}  loss {losses['total']:.3f}"
        if self.bar is None:
            if time.monotonic() - self.spoke >= _PATIENCE:
                self._say(f"{text}  step {step}/{steps}")
        elif self.task is None:
            self.task = self.bar.add_task(text, total=steps, completed=step)
        elif epoch != self.shown:
            self.bar.reset(self.task, description=text, total=steps, completed=step)
        else:
            self.bar.update(self.task, description=text, completed=step)
        self.shown = epoch

    def epoch(self, epoch: Epoch) -> None:
        """Shows an epoch that has ended."""
        losses = "  ".join(f"{name} {value:.3f}" for name, value in epoch.losses.items())
        shown = [measure.key for measure in COCO.measures if measure.headline and measure.quantity == "AP"]
        numbers = "  ".join(f"{key} {epoch.summary[key]:.3f}" for key in shown if epoch.summary)
        line = f"epoch {epoch.epoch}/{self.epochs}  {losses}  {numbers}  {epoch.seconds:.0f} s"
        if self.bar is None:
            self._say(line)
        else:  # the console of the bar prints above the bar; print() would break the bar
            self.bar.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def _say(self, line: str) -> None:
        self.talk.say(line)
        self.spoke = time.monotonic()


@contextlib.contextmanager
def progress(talk: Talk, epochs: int) -> Iterator[_Progress]:
    """An object that shows the steps and epochs of a training."""
    if not talk.on_terminal:
        yield _Progress(talk, epochs, None)
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield _Progress(talk, epochs, bar)
