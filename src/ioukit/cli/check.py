"""`ioukit check`: what is plausible but wrong with files, before their numbers are trusted."""

import json as json_module
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import ioukit
from ioukit.cli._arguments import (
    GroundTruthPath,
    OnInvalid,
    QuietOption,
    RepairOption,
    ThreadsOption,
)
from ioukit.cli._chosen_protocol import chosen_protocol
from ioukit.cli._data_files import Source, read_side, repaired, size_of
from ioukit.cli._errors import bad_input, bad_use, bad_value
from ioukit.cli._json import JsonOutput, json_option
from ioukit.cli._option_groups import ReadingOptions
from ioukit.cli._output import print_result, printable
from ioukit.cli._rule_options import KindOption, ProtocolOption
from ioukit.cli._standard_input import input_files
from ioukit.cli._talk import Talk
from ioukit.evaluation.kinds import find_kind

__all__ = ["EXAMPLES", "check_files"]

_LONG_WORK = 20_000_000  # bytes of input

EXAMPLES = """\b
Examples:
  ioukit check gt.json dt.json
  ioukit check gt.json
  ioukit check gt.json dt.json --json found.json
  ioukit check gt.json dt.json --repair boxes=xyxy
  ioukit check test.json --train train.json
  ioukit check data.yaml --gt-option split=test --train data.yaml --train-option split=train
"""


def check_files(
    ground_truth: GroundTruthPath,
    detections: Annotated[
        Path | None,
        typer.Argument(metavar="[DT]", help="Detections: COCO results, or data of another known format; - is stdin."),
    ] = None,
    *,
    json: Annotated[
        JsonOutput | None,
        json_option("Print one JSON object instead of the text; with FILE, write it there and print the text."),
    ] = None,
    repair: RepairOption = None,
    iou_type: KindOption = "bbox",
    protocol: ProtocolOption = None,
    train: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Ground truth of the training set. Its images must not be in GT."),
    ] = None,
    images: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="With --train-images: folder of the images of GT. Files are compared byte by byte."
        ),
    ] = None,
    train_images: Annotated[
        Path | None, typer.Option(metavar="DIR", help="With --images: folder of the training images.")
    ] = None,
    train_option: Annotated[
        list[str] | None,
        typer.Option(
            "--train-option",
            metavar="NAME=VALUE",
            help="An argument of the reader of the training set, whose format is found. Can be repeated.",
        ),
    ] = None,
    reading: ReadingOptions,
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Look for likely mistakes in the files, and compute what the numbers are with each mistake repaired.

    The files are not changed. Exit codes: 0 nothing was found, or only notes; 1 something may change the numbers; 2 a
    file cannot be read, or an option is wrong.
    """
    start = time.perf_counter()
    talk = Talk(quiet=quiet)
    sources = input_files(*[path for path in (ground_truth, detections, train) if path is not None])
    with bad_use():
        if json is not None:
            json.check(sources)
        _check_folders(train, images, train_images)
        _check_use("DT", detections, {"--dt-format": reading.dt_format, "--dt-option": reading.dt_option})
        _check_use("--train", train, {"--train-option": train_option})
        with bad_value("--iou-type"):
            kind = find_kind(iou_type)
        rules = chosen_protocol(protocol, kind)
    long = size_of(sources) > _LONG_WORK
    read_from = reading.sources(sources)
    of_pair = read_from[: 1 if detections is None else 2]
    train_from = None if train is None else Source(sources[-1], words=train_option, words_option="--train-option")
    gt, dt, of_train = _read(of_pair, train_from, reading.on_invalid, threads, talk, long=long)
    if repair:
        gt, dt = repaired(gt, dt, repair)
    from ioukit.checks import check  # noqa: PLC0415 - `ioukit --help` should not load the rules

    with bad_input(), talk.busy("checking", long=long):
        checked = check(
            gt,
            dt,
            rules,
            iou_type=kind.name,
            train=of_train,
            images=None if images is None else str(images),
            train_images=None if train_images is None else str(train_images),
            threads=threads,
        )
    talk.say(f"done {time.perf_counter() - start:.2f} s in all")
    text = json_module.dumps(checked.to_dict(), indent=2)
    if json is not None:
        with bad_use():
            json.write(text, talk)
    if json is None or json.path is not None:
        print_result("\n".join(map(printable, str(checked).splitlines())))
    raise typer.Exit(0 if checked.ok else 1)


def _read(
    sources: Sequence[Source],
    train: Source | None,
    on_invalid: OnInvalid,
    threads: int | None,
    talk: Talk,
    *,
    long: bool,
) -> tuple[ioukit.GroundTruth, ioukit.Detections | None, ioukit.GroundTruth | None]:
    """Ground truth, detections, and the ground truth of the training set; the last two if they are given."""

    def side(source: Source, gt: ioukit.GroundTruth | None) -> Any:
        return read_side(source, gt, on_invalid.value, threads, talk, long=long)

    gt = side(sources[0], None)
    dt = side(sources[1], gt) if len(sources) > 1 else None
    return gt, dt, None if train is None else side(train, None)


def _check_use(name: str, path: Path | None, options: dict[str, Any]) -> None:
    """Refuses options about a path that is not given.

    Raises:
        typer.BadParameter: If there is one.
    """
    for option, value in options.items():
        if value and path is None:
            raise typer.BadParameter(f"needs {name}", param_hint=option)


def _check_folders(train: Path | None, images: Path | None, train_images: Path | None) -> None:
    """Refuses options that would have no effect, and folders that do not exist.

    Raises:
        typer.BadParameter: If there is one.
    """
    for option, folder in (("--images", images), ("--train-images", train_images)):
        if folder is None:
            continue
        if train is None or images is None or train_images is None:
            raise typer.BadParameter("needs --train, --images and --train-images", param_hint=option)
        if not folder.is_dir():
            raise typer.BadParameter(f"{folder}: expected a folder", param_hint=option)
