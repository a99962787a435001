"""`ioukit compare`: is one model better than another, and what changed?"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import ioukit
from ioukit.cli._arguments import (
    ChosenClasses,
    DetectionsFormat,
    DetectionsOptions,
    GroundTruthFormat,
    GroundTruthOptions,
    GroundTruthPath,
    OnInvalid,
    OnInvalidOption,
    QuietOption,
    ThreadsOption,
)
from ioukit.cli._chosen_protocol import chosen_protocol
from ioukit.cli._data_files import read_data, size_of, sources_of
from ioukit.cli._errors import bad_input, bad_output, bad_use, bad_value
from ioukit.cli._json import JsonOutput, json_option
from ioukit.cli._options import parse_classes
from ioukit.cli._output import print_result, printable
from ioukit.cli._standard_input import input_files
from ioukit.cli._talk import Talk
from ioukit.evaluation.kinds import REGION_KINDS, find_kind
from ioukit.evaluation.protocols import PROTOCOLS

__all__ = ["EXAMPLES", "compare_files"]

# A spinner for a tenth of a second would only flicker.
_LONG_WORK = 10_000_000  # bytes of input

EXAMPLES = """\b
Examples:
  ioukit compare gt.json a.json b.json
  ioukit compare gt.json a.json b.json --json | jq .pairs[0].parts.classes
"""


# The function is long because its signature is the command line, a line or more per option.
def compare_files(
    ground_truth: GroundTruthPath,
    first: Annotated[Path, typer.Argument(metavar="A", help="Detections of the first model, to compare with.")],
    others: Annotated[list[Path], typer.Argument(metavar="B [C ...]", help="Detections of the other models.")],
    *,
    json: Annotated[
        JsonOutput | None,
        json_option("Print one JSON object instead of the text; with FILE, write it there and print the text."),
    ] = None,
    iou_type: Annotated[
        str, typer.Option(metavar="KIND", help=f"What is compared: {', '.join(REGION_KINDS)}.", show_default=True)
    ] = "bbox",
    protocol: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help=f"The rules: {', '.join(PROTOCOLS)}, or a TOML file with your own. [default: by the kind of region]",
        ),
    ] = None,
    iou_thresholds: Annotated[
        list[str] | None,
        typer.Option(metavar="LIST", help="IoU thresholds: 0.5,0.75 or start:stop:step. [coco: 0.5:0.95:0.05]"),
    ] = None,
    max_dets: Annotated[
        list[str] | None,
        typer.Option(metavar="LIST", help="Best detections per image and class that count. [coco: 1,10,100]"),
    ] = None,
    areas: Annotated[
        list[str] | None,
        typer.Option(metavar="LIST", help="Area ranges in pixels, name:low:high. [coco: all, small, medium, large]"),
    ] = None,
    classes: ChosenClasses = None,
    gt_format: GroundTruthFormat = None,
    dt_format: DetectionsFormat = None,
    gt_option: GroundTruthOptions = None,
    dt_option: DetectionsOptions = None,
    on_invalid: OnInvalidOption = OnInvalid.ERROR,
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Say whether one model is better than another, and what changed."""
    clock = time.perf_counter()
    talk = Talk(quiet=quiet)
    sources = input_files(ground_truth, first, *others)
    with bad_use():
        if json is not None:
            json.check(sources)
        with bad_value("--iou-type"):
            kind = find_kind(iou_type)
        rules = chosen_protocol(
            protocol, kind, iou_thresholds=iou_thresholds, max_dets=max_dets, areas=areas, class_agnostic=False
        )
    long = size_of(sources) > _LONG_WORK
    evaluations, gt = [], None
    for path in sources[1:]:
        read_from = sources_of([sources[0], path], (gt_format, dt_format), (gt_option, dt_option))
        gt, dt = read_data(read_from, on_invalid.value, threads, talk, long=long, known=gt)
        options: dict[str, Any] = {"iou_type": kind.name, "threads": threads}
        if classes is not None:
            with bad_value("--classes"):
                options["categories"] = parse_classes(classes, gt.categories.names)
                gt.categories.positions(options["categories"])
        with bad_input(), talk.busy("evaluating", long=long):
            evaluations.append(ioukit.evaluate(gt, dt, rules, **options))
    from ioukit.comparison import compare_models  # noqa: PLC0415 - `--help` does not need it

    with bad_input(), talk.busy("comparing", long=long):
        compared = compare_models(dict(zip(names_of(sources[1:]), evaluations, strict=True)))
    text = compared.to_json()
    if json is not None and json.path is not None:
        with bad_output():
            json.write(text, talk)
    talk.say(f"done {time.perf_counter() - clock:.2f} s")
    if json is not None and json.path is None:
        json.write(text, talk)
    else:
        print_result("\n".join(map(printable, compared.text().splitlines())))


def names_of(paths: Sequence[Path]) -> list[str]:
    """A name for each file that no other has: its own without the ending, with its folder, or with a number."""
    for parts in (1, 2):
        names = ["/".join([*path.parts[-parts:-1], path.stem]) for path in paths]
        if len(set(names)) == len(names):
            return names
    return [f"{path.stem} {place}" for place, path in enumerate(paths, 1)]
