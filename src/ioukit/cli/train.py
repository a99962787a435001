"""`ioukit train`: a detector from images and boxes."""

from __future__ import annotations

import contextlib
import os
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ioukit._output import printable, whole_file
from ioukit.cli._detector_data import DeviceOption, ImagesOption, OnBadOption, read_split, say_data
from ioukit.cli._errors import bad_input, bad_use
from ioukit.cli._output import QuietOption
from ioukit.cli._streams import Talk
from ioukit.evaluation.protocols import COCO

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ioukit.torch.detector.data import Data
    from ioukit.torch.detector.log import Epoch
    from ioukit.torch.detector.model import Config
    from ioukit.torch.detector.train import Training


_ANCHORS = ("fit", "coco")
_PATIENCE = 60.0  # seconds; a log gets a line after this time without one
_WORTH_SAYING = 10.0  # seconds
_MEASURED = 5  # steps that tell how long the others will take; the first one, which is slow, comes before them

# Many small steps, and images as they are: changed ones teach more, but not within 1,000 steps.
_QUICK = {"size": 96, "epochs": 8, "batch": 8, "mosaic": 0.0, "evaluate_every": 4}
_QUICK_NUMBERS = ("scale=0", "shift=0", "hue=0", "saturation=0", "brightness=0")
_QUICK_SHAPES: Any = {"images": 1100, "val": 1 / 11, "sides": (0.3, 0.7), "mean": 1.5, "whole": True}


def _quick(context: typer.Context, wanted: bool) -> bool:
    """Gives options that the user does not name other defaults."""
    if wanted:
        context.default_map = _QUICK
    return wanted


# Long: each option takes a line or more.
def train(
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATA",
            help="data.yaml of YOLO folders, or a COCO annotation file. [default with --quick: drawn shapes]",
        ),
    ] = None,
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="OUT", help="Folder for the results: a new or an empty one.")
    ],
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            is_eager=True,
            callback=_quick,
            help="Find shapes after two minutes on two cores: small images, few epochs. Without DATA, they are drawn "
            "into OUT-shapes. Other options still count.",
        ),
    ] = False,
    images: ImagesOption = None,
    val: Annotated[Path | None, typer.Option(metavar="FILE", help="COCO file of the held-out images.")] = None,
    val_images: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the held-out images. [default: --images]")
    ] = None,
    size: Annotated[int, typer.Option(metavar="PIXELS", help="Side of the network's image, a multiple of 32.")] = 192,
    head: Annotated[str, typer.Option(help="free (anchor-free, without NMS), or anchor (YOLOv3's).")] = "free",
    width: Annotated[float, typer.Option(help="Number of channels, as a fraction of Darknet-53's.")] = 0.25,
    depth: Annotated[float, typer.Option(help="Number of residual blocks, as a fraction of Darknet-53's.")] = 0.34,
    anchors: Annotated[str, typer.Option(help="fit: fitted to the boxes of the data; coco: YOLOv3's.")] = "fit",
    epochs: Annotated[int, typer.Option(min=1, metavar="N", help="How often each image is seen.")] = 60,
    batch: Annotated[int, typer.Option(min=1, metavar="N", help="Images per step.")] = 16,
    optimizer: Annotated[str, typer.Option(help="adamw or sgd.")] = "adamw",
    lr: Annotated[float, typer.Option(help="Learning rate after the warm-up.")] = 2e-3,
    loss: Annotated[str, typer.Option(help="Loss of the boxes: iou, giou, diou, ciou, eiou, siou, ...")] = "ciou",
    assigner: Annotated[
        str | None,
        typer.Option(
            help="Rule that assigns objects to predictions. [default: yolov3 with anchors, else task_aligned]"
        ),
    ] = None,
    mosaic: Annotated[float, typer.Option(help="Probability that four images are combined into one.")] = 0.5,
    multi_scale: Annotated[
        bool, typer.Option("--multi-scale", help="Images of another size every ten steps: 0.75 to 1.5 times --size.")
    ] = False,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=NUMBER",
            help="Another setting: warmup (epochs), ema, weight_decay, final_lr, clip, plain_epochs, amp, save_steps, "
            "or of the augmentation flip, scale, shift, hue, saturation, brightness. Can be repeated.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of everything random.")] = 1,
    workers: Annotated[int, typer.Option(min=0, metavar="N", help="Processes that read images.")] = 0,
    evaluate_every: Annotated[int, typer.Option(min=1, metavar="N", help="Epochs between two evaluations.")] = 1,
    device: DeviceOption = None,
    weights: Annotated[
        Path | None, typer.Option(help="A network of the same shape to start from: .safetensors.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the training in OUT.")] = False,
    on_invalid: OnBadOption = "error",
    quiet: QuietOption = False,
) -> None:
    """Train a detector, and evaluate it with COCO's protocol after each epoch.

    The defaults are a small network for CPUs; --width 1 --depth 1 --size 416 is Darknet-53 as published. OUT gets the
    networks (best.safetensors, last.safetensors), the log (log.csv), its curves (curves.png, if matplotlib is
    installed) and the state to resume from. On a CPU, a training that is stopped and resumed ends with the same weights
    as one that is not stopped.

    Examples:
      ioukit train --quick -o run
      ioukit make-shapes shapes --images 400 --size 192
      ioukit train shapes/data.yaml -o run
      ioukit train data.yaml -o run --loss diou --assigner atss --epochs 100
      ioukit train train.json --images train/ --val val.json --val-images val/ -o run --head anchor --width 1 --depth 1
      ioukit train data.yaml -o run --resume
      torchrun --nproc-per-node 4 -m ioukit train data.yaml -o run --batch 64
    """
    first = os.environ.get("RANK", "0") == "0"  # one of the processes that torchrun starts
    talk = Talk(quiet=quiet or not first)
    if data is None and not quick:
        raise typer.BadParameter("expected a path, or --quick, which draws images to learn from", param_hint="DATA")
    with bad_use():
        from ioukit._checks import check_choice  # noqa: PLC0415 - loads NumPy
        from ioukit.torch.detector import train as training  # noqa: PLC0415 - PyTorch takes a second
        from ioukit.torch.detector.batches import Augmentation  # noqa: PLC0415
        from ioukit.torch.detector.checkpoint import load_model  # noqa: PLC0415
        from ioukit.torch.detector.data import check_on_invalid  # noqa: PLC0415

        policy = check_on_invalid(on_invalid)
        training.check_folder(output, resume=resume)
        check_choice("anchors", anchors, _ANCHORS)
        settings = training.Settings(
            epochs=epochs, batch=batch, optimizer=optimizer, lr=lr,  # type: ignore[arg-type]
            loss=loss, assigner=assigner, augmentation=Augmentation(mosaic=mosaic), seed=seed, workers=workers,
            evaluate_every=evaluate_every, multi_scale=multi_scale, device=device,
        )  # fmt: skip
        settings = training.with_numbers(settings, [*(_QUICK_NUMBERS if quick else ()), *(changes or ())])
    drawn = data is None
    if data is None:
        data = _drawn(output, size, seed, talk)
    with bad_input():
        learn = read_split(data, images, "train", policy)
        held_out = read_split(val or data, val_images or images, "val", policy)
    for name, split in (("train", learn), ("val", held_out)):
        say_data(talk, name, split)
    if [record.path for record in held_out.records] == [record.path for record in learn.records]:
        talk.say("note val    these are the training images: AP does not show how good the network is on other images")
    with contextlib.ExitStack() as stack:
        with bad_use():
            shape = _config(learn, size=size, head=head, width=width, depth=depth, anchors=anchors, seed=seed)
            run = stack.enter_context(
                training.prepared(
                    learn, held_out, shape, output, settings, resume=resume,
                    start_from=None if weights is None else load_model(weights, device),
                )
            )  # fmt: skip
        with bad_input(FloatingPointError), progress(talk, epochs) as shown:
            done = run.epochs(shown.step, shown.epoch)
    if first:
        _draw_curves(done, talk)
        talk.say(done.evaluation.table())
        talk.say(f"wrote {printable(str(output))}")
        if drawn:
            words = [str(output / training.BEST), str(data.parent / "images" / "val"), "--draw", f"{output}-drawn"]
            talk.say(f"next  ioukit predict {printable(shlex.join(words))}")


def _drawn(output: Path, size: int, seed: int, talk: Talk) -> Path:
    """The drawn data set beside OUT, which is drawn unless it is there."""
    from ioukit.datasets.shapes.writing import make_shapes  # noqa: PLC0415 - only --quick needs it

    folder = Path(f"{output}-shapes")
    settings = folder / "data.yaml"
    talk.say("quick  about two minutes on two cores")
    if not settings.exists():
        count = _QUICK_SHAPES["images"]
        with bad_input(), talk.busy(f"drawing {count} images"):
            make_shapes(folder, seed=seed, size=(size, size), handwritten=False, **_QUICK_SHAPES)
        talk.say(f"drew {count} images into {printable(str(folder))}")
    return settings


def _config(data: Data, *, size: int, head: str, width: float, depth: float, anchors: str, seed: int) -> Config:
    """The config for the classes of a data set and, with ``--anchors fit``, for its boxes.

    Raises:
        ValueError: If an option is out of its range, or there are too few boxes to fit anchors to.
    """
    import numpy as np  # noqa: PLC0415

    from ioukit.anchors import fit_anchors  # noqa: PLC0415
    from ioukit.torch.detector.model import COCO_ANCHORS, Config  # noqa: PLC0415

    chosen: Any = tuple(tuple((w * size / 416, h * size / 416) for w, h in scale) for scale in COCO_ANCHORS)
    if anchors == "fit" and head == "anchor":
        sides = [(record.boxes[:, 2:] - record.boxes[:, :2]) * (size / max(record.size)) for record in data.records]
        fitted = fit_anchors(np.concatenate(sides), 9, seed=seed).anchors
        rows = [tuple(row) for row in np.round(fitted, 2).tolist()]
        chosen = (tuple(rows[:3]), tuple(rows[3:6]), tuple(rows[6:]))
    return Config(
        num_classes=len(data.names), head=head, image_size=(size, size), width=width, depth=depth,  # type: ignore[arg-type]
        anchors=chosen, names=data.names,
    )  # fmt: skip


def _draw_curves(done: Training, talk: Talk) -> None:
    """Draws the log, if matplotlib is installed."""
    from importlib.util import find_spec  # noqa: PLC0415

    if find_spec("matplotlib") is None:
        return
    from ioukit.plots import training_figure  # noqa: PLC0415

    path = done.folder / "curves.png"
    with bad_input(), whole_file(path) as unfinished:
        training_figure([epoch.row() for epoch in done.epochs]).savefig(unfinished, dpi=120, format="png")
    talk.say(f"drew {printable(str(path))}")


class _Progress:
    """How long it will take, and a line per epoch, with the losses and AP.

    Within an epoch, a bar on a terminal, otherwise a line every minute.
    """

    def __init__(self, talk: Talk, epochs: int, bar: Any) -> None:
        self.talk, self.epochs, self.bar, self.task, self.shown = talk, epochs, bar, None, 0
        self.spoke = time.monotonic()
        self.ends: list[float] = []  # of the first steps

    def step(self, epoch: int, step: int, steps: int, losses: dict[str, float]) -> None:
        """Shows a step; the arguments are those of `on_step` of `ioukit.torch.detector.train.train`."""
        self._say_how_long(epoch, step, steps)
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
        self._say(f"epoch {epoch.epoch}/{self.epochs}  {losses}  {numbers}  {epoch.seconds:.0f} s")

    def _say_how_long(self, epoch: int, step: int, steps: int) -> None:
        """Says it once, from the first steps."""
        if len(self.ends) > _MEASURED:
            return
        self.ends.append(time.monotonic())
        if len(self.ends) > _MEASURED:
            from ioukit._checks import duration, pluralize  # noqa: PLC0415 - loads NumPy

            left = steps - step + (self.epochs - epoch) * steps
            seconds = left * (self.ends[-1] - self.ends[0]) / _MEASURED
            if seconds >= _WORTH_SAYING:
                self._say(f"about {duration(seconds)} for {pluralize(left, 'step')}, and what evaluations take")

    def _say(self, line: str) -> None:
        if self.bar is None:
            self.talk.say(line)
        else:  # the console of the bar prints above the bar; print() would break the bar
            self.bar.console.print(line, markup=False, highlight=False, soft_wrap=True)
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
