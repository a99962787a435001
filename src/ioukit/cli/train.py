"""`ioukit train`: a detector from images and boxes."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ioukit.cli._arguments import QuietOption
from ioukit.cli._errors import bad_input, bad_use
from ioukit.cli._image_data import read_split, say_data
from ioukit.cli._network_shape import NetworkShape
from ioukit.cli._output import printable, whole_file
from ioukit.cli._progress import progress
from ioukit.cli._talk import Talk

if TYPE_CHECKING:
    from ioukit.torch.detector.train import Training

__all__ = ["EXAMPLES", "train"]

EXAMPLES = """\b
Examples:
  ioukit make-shapes shapes --images 400 --size 192
  ioukit train shapes/data.yaml -o run
  ioukit train data.yaml -o run --loss diou --assigner atss --epochs 100
  ioukit train train.json --images train/ --val val.json --val-images val/ -o run --head anchor --width 1 --depth 1
  ioukit train data.yaml -o run --resume
  torchrun --nproc-per-node 4 -m ioukit train data.yaml -o run --batch 64
"""


def train(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="data.yaml of YOLO folders, or a COCO annotation file.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="OUT", help="Folder for the results: a new or an empty one.")
    ],
    *,
    images: Annotated[Path | None, typer.Option(help="Folder of the images, for a COCO file.")] = None,
    val: Annotated[Path | None, typer.Option(help="COCO file of the held-out images.")] = None,
    val_images: Annotated[Path | None, typer.Option(help="Folder of the held-out images. [default: --images]")] = None,
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
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of everything random.")] = 1,
    workers: Annotated[int, typer.Option(min=0, metavar="N", help="Processes that read images.")] = 0,
    evaluate_every: Annotated[int, typer.Option(min=1, metavar="N", help="Epochs between two evaluations.")] = 1,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, ... [default: cuda if there is one]")] = None,
    weights: Annotated[
        Path | None, typer.Option(help="A network of the same shape to start from: .safetensors.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the training in OUT.")] = False,
    on_invalid: Annotated[str, typer.Option(help="A bad image or box: error, or skip and count it.")] = "error",
    quiet: QuietOption = False,
) -> None:
    """Train a detector, and evaluate it with COCO's protocol after each epoch.

    The defaults are a small network for CPUs; --width 1 --depth 1 --size 416 is Darknet-53 as published. OUT gets the
    networks (best.safetensors, last.safetensors), the log (log.csv), its curves (curves.png, if matplotlib is
    installed) and the state to resume from. On a CPU, a training that is stopped and resumed ends with the same weights
    as one that is not stopped.
    """
    # Long: each option takes a line or more.
    first = os.environ.get("RANK", "0") == "0"  # one of the processes that torchrun starts
    talk = Talk(quiet=quiet or not first)
    with bad_use():
        from ioukit.torch.detector import train as training  # noqa: PLC0415 - PyTorch takes a second
        from ioukit.torch.detector.batches import Augmentation  # noqa: PLC0415
        from ioukit.torch.detector.checkpoint import load_model  # noqa: PLC0415
        from ioukit.torch.detector.data import check_on_invalid  # noqa: PLC0415

        policy = check_on_invalid(on_invalid)
        training.check_folder(output, resume=resume)
        shape = NetworkShape(size=size, head=head, width=width, depth=depth, anchors=anchors)
        settings = training.Settings(
            epochs=epochs, batch=batch, optimizer=optimizer, lr=lr,  # type: ignore[arg-type]
            loss=loss, assigner=assigner, augmentation=Augmentation(mosaic=mosaic), seed=seed, workers=workers,
            evaluate_every=evaluate_every, device=device,
        )  # fmt: skip
    with bad_input():
        learn = read_split(data, images, "train", policy)
        held_out = read_split(val or data, val_images or images, "val", policy)
    for name, split in (("train", learn), ("val", held_out)):
        say_data(talk, name, split)
    if [record.path for record in held_out.records] == [record.path for record in learn.records]:
        talk.say("note val    these are the training images: AP does not show how good the network is on other images")
    with ExitStack() as stack:
        with bad_use():
            run = stack.enter_context(
                training.prepared(
                    learn, held_out, shape.config(learn, seed=seed), output, settings, resume=resume,
                    start_from=None if weights is None else load_model(weights, device),
                )
            )  # fmt: skip
        with bad_input(FloatingPointError), progress(talk, epochs) as shown:
            done = run.epochs(shown.step, shown.epoch)
    if first:
        _draw_curves(done, talk)
        talk.say(done.evaluation.table())
        talk.say(f"wrote {printable(str(output))}")


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
