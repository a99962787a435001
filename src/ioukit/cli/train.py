"""`ioukit train`: a detector from images and boxes."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from ioukit.cli._detector import Shape, bad_use, progress, read_split, say_data
from ioukit.cli._talk import Talk

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
    output: Annotated[Path, typer.Option("--output", "-o", metavar="OUT", help="Folder for the results; a new one.")],
    *,
    images: Annotated[Path | None, typer.Option(help="Folder of the images, for a COCO file.")] = None,
    val: Annotated[Path | None, typer.Option(help="COCO file of the held-out images.")] = None,
    val_images: Annotated[Path | None, typer.Option(help="Their folder. [default: that of --images]")] = None,
    size: Annotated[int, typer.Option(metavar="PIXELS", help="Side of the network's image, a multiple of 32.")] = 192,
    head: Annotated[str, typer.Option(help="free (anchor-free, without NMS), or anchor (YOLOv3's).")] = "free",
    width: Annotated[float, typer.Option(help="Channels, in parts of Darknet-53's.")] = 0.25,
    depth: Annotated[float, typer.Option(help="Residual blocks, in parts of Darknet-53's.")] = 0.34,
    anchors: Annotated[str, typer.Option(help="fit: to the boxes of the data; coco: YOLOv3's.")] = "fit",
    epochs: Annotated[int, typer.Option(min=1, metavar="N", help="How often each image is seen.")] = 60,
    batch: Annotated[int, typer.Option(min=1, metavar="N", help="Images a step.")] = 16,
    optimizer: Annotated[str, typer.Option(help="adamw or sgd.")] = "adamw",
    lr: Annotated[float, typer.Option(help="Learning rate after the warm-up.")] = 2e-3,
    loss: Annotated[str, typer.Option(help="What boxes learn by: iou, giou, diou, ciou, eiou, siou, ...")] = "ciou",
    assigner: Annotated[
        str | None,
        typer.Option(help="Which guesses learn which object. [default: yolov3 with anchors, else task_aligned]"),
    ] = None,
    mosaic: Annotated[float, typer.Option(help="Chance of four images in one.")] = 0.5,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Of everything random.")] = 1,
    workers: Annotated[int, typer.Option(min=0, metavar="N", help="Processes that read images.")] = 0,
    judge_every: Annotated[int, typer.Option(min=1, metavar="N", help="Epochs between two evaluations.")] = 1,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, ... [default: cuda if there is one]")] = None,
    weights: Annotated[
        Path | None, typer.Option(help="A network of the same shape to begin with: .safetensors.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the training in OUT.")] = False,
    on_invalid: Annotated[str, typer.Option(help="A bad image or box: error, or skip and count it.")] = "error",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing on stderr but errors.")] = False,
) -> None:
    """Train a detector, and judge it by COCO's numbers after each epoch.

    The defaults are a small network for CPUs; --width 1 --depth 1 --size 416 is Darknet-53 as published. OUT gets the
    networks (best.safetensors, last.safetensors), the log (log.csv), its curves (curves.png, if matplotlib is
    installed) and the state to resume from. A run that was stopped and resumed ends as one that was not.
    """
    first = os.environ.get("RANK", "0") == "0"  # of the processes that torchrun starts, one speaks
    talk = Talk(quiet=quiet or not first)
    with bad_use():
        from ioukit.torch.detector import train as training  # noqa: PLC0415 - PyTorch takes a second
        from ioukit.torch.detector.batches import Augmentation  # noqa: PLC0415
        from ioukit.torch.detector.checkpoint import load_model  # noqa: PLC0415

        learn = read_split(data, images, "train", on_invalid)
        held_out = read_split(val or data, val_images or images, "val", on_invalid)
        for name, split in (("train", learn), ("val", held_out)):
            say_data(talk, name, split)
        if anchors not in ("fit", "coco"):
            raise ValueError(f"unknown anchors {anchors!r}; choose from fit, coco")
        shape = Shape(size=size, head=head, width=width, depth=depth, fit_anchors=anchors == "fit")
        config = shape.config(learn, seed=seed)
        settings = training.Settings(
            epochs=epochs, batch=batch, optimizer=optimizer, lr=lr,  # type: ignore[arg-type]
            loss=loss, assigner=assigner,
            augmentation=Augmentation(mosaic=mosaic), seed=seed, workers=workers, judge_every=judge_every,
            device=device,
        )  # fmt: skip
        start = None if weights is None else load_model(weights, device)
        with progress(talk, epochs) as shown:
            done = training.train(
                learn, held_out, config, output, settings, resume=resume, start_from=start, on_step=shown.step,
                on_epoch=shown.epoch,
            )  # fmt: skip
    if first:
        _curves(done, talk)
        talk.say(done.evaluation.table())
        talk.say(f"wrote {output}")


def _curves(done: Any, talk: Talk) -> None:
    from importlib.util import find_spec  # noqa: PLC0415

    if find_spec("matplotlib") is None:
        return
    from ioukit.plots import training_figure  # noqa: PLC0415

    figure = training_figure([epoch.row() for epoch in done.epochs])
    figure.savefig(done.folder / "curves.png", dpi=120)
    talk.say(f"drew {done.folder / 'curves.png'}")
