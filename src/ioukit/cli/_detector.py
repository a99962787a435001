"""What `train`, `predict` and `val` share: data by its path, the shape of a network, bad use in one line, progress."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import typer

from ioukit.cli._output import printable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ioukit.cli._talk import Talk
    from ioukit.torch.detector.data import Data
    from ioukit.torch.detector.model import Config
    from ioukit.torch.detector.train import Epoch

__all__ = ["Shape", "bad_use", "progress", "read_split", "say_data"]


@dataclass(frozen=True)
class Shape:
    """The options that decide the shape of a network."""

    size: int
    head: str
    width: float
    depth: float
    fit_anchors: bool

    def config(self, data: Data, *, seed: int) -> Config:
        """For the classes, and with ``fit_anchors`` the boxes, of a data set."""
        import numpy as np  # noqa: PLC0415

        from ioukit.anchors import fit_anchors  # noqa: PLC0415
        from ioukit.torch.detector.model import COCO_ANCHORS, Config  # noqa: PLC0415

        anchors: Any = tuple(
            tuple((w * self.size / 416, h * self.size / 416) for w, h in scale) for scale in COCO_ANCHORS
        )
        if self.fit_anchors and self.head == "anchor":
            sides = [
                (record.boxes[:, 2:] - record.boxes[:, :2]) * (self.size / max(record.size)) for record in data.records
            ]
            fitted = fit_anchors(np.concatenate(sides), 9, seed=seed).anchors
            rows = [tuple(row) for row in np.round(fitted, 2).tolist()]
            anchors = (tuple(rows[:3]), tuple(rows[3:6]), tuple(rows[6:]))
        return Config(
            num_classes=len(data.names), head=self.head, image_size=(self.size, self.size), width=self.width,  # type: ignore[arg-type]
            depth=self.depth, anchors=anchors, names=data.names,
        )  # fmt: skip


def read_split(data: Path, images: Path | None, split: Literal["train", "val"], on_invalid: str) -> Data:
    """A split of ``data.yaml``, or a COCO file with the folder of its images."""
    from ioukit.torch.detector.data import read_coco_data, read_yolo_data  # noqa: PLC0415

    if data.suffix.lower() in (".yaml", ".yml"):
        if images is not None:
            raise ValueError(f"{data} says where its images are: leave the folder {images} out")
        return read_yolo_data(data, split, on_invalid=on_invalid)  # type: ignore[arg-type]
    if images is None:
        raise ValueError(f"{data} is no data.yaml: for a COCO file, name the folder of its images")
    return read_coco_data(data, images, on_invalid=on_invalid)  # type: ignore[arg-type]


def say_data(talk: Talk, name: str, data: Data) -> None:
    """How much there is, and what was left out: how often, and the first of each kind by name."""
    objects = sum(len(record.labels) for record in data.records)
    talk.say(f"read {name:5}  {len(data):,} images  {objects:,} objects  {len(data.names)} classes")
    for kind, count in data.problems.items():
        first = f": {printable(data.first[kind])}" if kind in data.first else ""
        talk.say(f"note {name:5}  {count:,} x {kind}{first}")


@contextlib.contextmanager
def bad_use() -> Iterator[None]:
    """Turns what is wrong with options and files into one message and exit code 2."""
    import ioukit  # noqa: PLC0415

    try:
        yield
    except (ioukit.DatasetError, ValueError, OSError, ModuleNotFoundError, FloatingPointError) as error:
        typer.echo(f"Error: {printable(str(error))}", err=True)
        raise typer.Exit(2) from None


class _Progress:
    """A bar per epoch, with the loss and the time to its end, on a terminal; a line per epoch everywhere."""

    def __init__(self, talk: Talk, epochs: int, bar: Any) -> None:
        self.talk, self.epochs, self.bar, self.task, self.shown = talk, epochs, bar, None, 0

    def step(self, epoch: int, step: int, steps: int, losses: dict[str, float]) -> None:
        if self.bar is None:
            return
        text = f"epoch {epoch}/{self.epochs}  loss {losses['total']:.3f}"
        if self.task is None:
            self.task = self.bar.add_task(text, total=steps, completed=step)
        elif epoch != self.shown:
            self.bar.reset(self.task, description=text, total=steps, completed=step)
        else:
            self.bar.update(self.task, description=text, completed=step)
        self.shown = epoch

    def epoch(self, epoch: Epoch) -> None:
        losses = "  ".join(f"{name} {value:.3f}" for name, value in epoch.losses.items())
        judged = "  ".join(f"{name} {epoch.summary[name]:.3f}" for name in ("AP", "AP50", "AP75") if epoch.summary)
        line = f"epoch {epoch.epoch}/{self.epochs}  {losses}  {judged}  {epoch.seconds:.0f} s"
        if self.bar is None:
            self.talk.say(line)
        else:  # above the bar, which would be torn by a line that it does not know of
            self.bar.console.print(line, markup=False, highlight=False, soft_wrap=True)


@contextlib.contextmanager
def progress(talk: Talk, epochs: int) -> Iterator[_Progress]:
    """Shows a training."""
    if not talk.on_terminal:
        yield _Progress(talk, epochs, None)
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield _Progress(talk, epochs, bar)
