"""`ioukit check`: what is plausible but wrong with files, before their numbers are trusted."""

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from ioukit._output import printable
from ioukit.cli._arguments import ThreadsOption
from ioukit.cli._data_files import GroundTruthPath, ReadingOptions, RepairOption, Source, input_files, repaired
from ioukit.cli._errors import bad_input, bad_use, check_folder
from ioukit.cli._output import AnswerOptions
from ioukit.cli._rules import NamedRules
from ioukit.cli._streams import print_result


def _explain(code: str | None) -> None:
    if code is None:
        return
    from ioukit.checks.explanations import explain  # noqa: PLC0415 - only for this option

    with bad_use():
        fault = explain(code)
    print_result(str(fault))
    raise typer.Exit


def check_files(
    ground_truth: GroundTruthPath,
    detections: Annotated[
        Path | None,
        typer.Argument(metavar="[DT]", help="Detections: COCO results, or data of another known format; - is stdin."),
    ] = None,
    *,
    repair: RepairOption = None,
    explain: Annotated[  # noqa: ARG001 - its callback answers
        str | None,
        typer.Option(
            metavar="CODE",
            is_eager=True,
            callback=_explain,
            help="Say what findings with this code mean and what mends them, and exit.",
        ),
    ] = None,
    named: NamedRules,
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
    answer: AnswerOptions,
) -> None:
    """Look for likely mistakes in the files, and compute what the numbers are with each mistake repaired.

    Of answers of language models whose layout and scale are not named, all readings are listed with their numbers.

    The files are not changed. Exit codes: 0 nothing was found, or only notes; 1 something may change the numbers; 2 a
    file cannot be read, or an option is wrong.

    Examples:
      ioukit check gt.json dt.json
      ioukit check gt.json
      ioukit check gt.json dt.json --json found.json
      ioukit check gt.json dt.json --repair boxes=xyxy
      ioukit check --explain nms_missing
      ioukit check test.json --train train.json
      ioukit check data.yaml --gt-option split=test --train data.yaml --train-option split=train
    """
    start = time.perf_counter()
    talk = answer.talk()
    sources = input_files(*[path for path in (ground_truth, detections, train) if path is not None])
    with bad_use():
        answer.check(sources)
        _check_folders(train, images, train_images)
        of_detections = {"--dt-format": reading.dt_format, "--dt-option": reading.dt_option}
        _check_use("DT", detections, of_detections)
        _check_use("--train", train, {"--train-option": train_option})
        kind, rules = named.found()
    reader = reading.reader(threads, talk)
    of_pair = reading.sources(sources if detections is not None else sources[:1])
    gt: Any = reader.side(of_pair[0], None, alone=detections is None, count=True, pair=of_pair)
    readings = None if detections is None else reader.readings(of_pair[1], gt)
    if readings is not None:
        answer.give(
            lambda: "\n".join(map(printable, str(readings).splitlines())),
            lambda: json.dumps(readings.to_dict(), indent=2),
            talk,
            done=f"done {time.perf_counter() - start:.2f} s in all",
            fit=False,
            verdict=True,
        )
        raise typer.Exit(1)
    dt: Any = None if detections is None else reader.side(of_pair[1], gt, count=True, pair=of_pair)
    of_train: Any = None
    if train is not None:
        of_train = reader.side(Source(sources[-1], words=train_option, words_option="--train-option"), None, count=True)
    if repair:
        gt, dt = repaired(gt, dt, repair)
    if dt is not None:
        kind, rules = named.of_data(gt, dt, talk)
    from ioukit.checks import check  # noqa: PLC0415 - `ioukit --help` should not load the rules

    with bad_input(), talk.busy("checking"):
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
    answer.give(
        lambda: "\n".join(map(printable, str(checked).splitlines())),
        lambda: json.dumps(checked.to_dict(), indent=2),
        talk,
        done=f"done {time.perf_counter() - start:.2f} s in all",
        fit=False,  # a broken line of options is no command
        verdict=True,
    )
    if checked.findings:
        talk.suggest("check", "--explain", checked.findings[0].code, again=False)
    raise typer.Exit(0 if checked.ok else 1)


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
        check_folder(option, folder)
