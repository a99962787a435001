"""`ioukit eval`: COCO's numbers for two files."""

import os
import time
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

import ioukit
from ioukit._optional import import_extra
from ioukit.cli._analysis import analyse, analysis_table, to_json
from ioukit.cli._class_table import class_table
from ioukit.cli._errors import bad_input, bad_value, missing_extra
from ioukit.cli._options import parse_areas, parse_classes, parse_max_dets, parse_thresholds
from ioukit.cli._output import check_output, print_result, write_whole
from ioukit.cli._talk import Talk

__all__ = ["EXAMPLES", "eval_files"]

# A spinner for a tenth of a second would only flicker.
_LONG_WORK = 100_000_000  # bytes of input

EXAMPLES = """\b
Examples:
  ioukit eval instances_val2017.json detections.json
  ioukit eval gt.json dt.json --json | jq .summary.AP
  ioukit eval gt.json dt.json --json result.json --per-class
  ioukit eval gt.json dt.json --report report.html --images val2017/
  ioukit eval gt.json dt.json --errors
  ioukit eval gt.json dt.json --classes person,car --areas tiny:0:256,other:256:inf
"""


class OnInvalid(str, Enum):
    """What to do with a record that breaks the rules of the format."""

    ERROR = "error"
    DROP = "drop"
    PYCOCOTOOLS = "pycocotools"


def eval_files(
    ground_truth: Annotated[Path, typer.Argument(metavar="GT", help="Ground truth: a COCO file, .json or .json.gz.")],
    detections: Annotated[Path, typer.Argument(metavar="DT", help="Detections: COCO results, .json or .json.gz.")],
    # `--json FILE`: no option both takes a value and goes without one, so the flag is an option, its file an argument.
    json_file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="With --json: the file to write, whole or not at all.")
    ] = None,
    *,
    json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print one JSON object instead of the tables; with FILE, write it there and print the tables.",
        ),
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write one HTML page to look at: curves, errors, worst images."),
    ] = None,
    images: Annotated[
        Path | None, typer.Option(metavar="DIR", help="With --report: folder of the images, to show the worst.")
    ] = None,
    per_class: Annotated[
        bool, typer.Option("--per-class", help="Show every class, not the best and worst five.")
    ] = False,
    errors: Annotated[
        bool,
        typer.Option(
            "--errors",
            help="Show also why AP is lost (the error kinds of TIDE) and the score of the best F1; JSON: `analysis`.",
        ),
    ] = False,
    iou_thresholds: Annotated[
        list[str] | None,
        typer.Option(metavar="LIST", help="IoU a match needs: 0.5,0.75 or start:stop:step. [default: 0.5:0.95:0.05]"),
    ] = None,
    max_dets: Annotated[
        list[str] | None,
        typer.Option(metavar="LIST", help="Best detections per image and class that count. [default: 1,10,100]"),
    ] = None,
    areas: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LIST", help="Area ranges in pixels, name:low:high. [default: COCO's all, small, medium, large]"
        ),
    ] = None,
    classes: Annotated[
        list[str] | None, typer.Option(metavar="LIST", help="Evaluate these classes alone, given by name or id.")
    ] = None,
    class_agnostic: Annotated[
        bool, typer.Option("--class-agnostic", help="Let a detection match an object of any class.")
    ] = False,
    on_invalid: Annotated[
        OnInvalid,
        typer.Option(help="A bad record: stop at it, drop and count it, or do as pycocotools does.", show_choices=True),
    ] = OnInvalid.ERROR,
    threads: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Threads to use; the numbers are the same. [default: all]")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing on stderr but errors.")] = False,
) -> None:
    """Evaluate detections against ground truth: the twelve numbers of COCO, then AP per class.

    The numbers are those of pycocotools to the last bit. An undefined one is -1 in the table and null in JSON.
    """
    start = time.perf_counter()
    talk = Talk(quiet=quiet)
    if json_file is not None:
        if not json:
            raise typer.BadParameter(f"expected GT and DT, got a third file {str(json_file)!r} without --json")
        with bad_value("--json"):
            check_output(json_file, [ground_truth, detections])

    _check_report(report, images, [ground_truth, detections], json_file)

    protocol = _protocol(iou_thresholds, max_dets, areas, class_agnostic=class_agnostic)

    long = sum(path.stat().st_size for path in (ground_truth, detections) if path.is_file()) > _LONG_WORK
    with bad_input(), talk.busy(f"reading {detections}", long=long):
        gt, dt = ioukit.read_coco(ground_truth, detections, on_invalid=on_invalid.value, threads=threads)
    read = time.perf_counter()
    width = max(len(str(ground_truth)), len(str(detections)))
    talk.say(f"read {ground_truth!s:{width}}  {len(gt.images.ids):,} images  {len(gt):,} boxes")
    talk.say(f"read {detections!s:{width}}  {len(dt):,} detections  {read - start:.2f} s")
    for note in (*gt.notes, *dt.notes):
        talk.say(f"note {note}")

    categories = None
    if classes is not None:
        with bad_value("--classes"):
            categories = parse_classes(classes, gt.categories.names)
            gt.categories.positions(categories)
    with bad_input(), talk.busy("evaluating", long=long):
        evaluation = ioukit.evaluate(gt, dt, protocol, categories=categories, threads=threads)
        analysis = analyse(evaluation, threads=threads) if errors else None

    if json_file is not None:
        with bad_input():
            write_whole(json_file, to_json(evaluation, analysis) + "\n")
        talk.say(f"wrote {json_file}")
    if report is not None:
        with bad_input(), talk.busy("writing the report", long=long):
            from ioukit.report import write_report  # noqa: PLC0415 - for those who want a report

            write_report(evaluation, report, images, threads=threads)
        talk.say(f"wrote {report}")
    end = time.perf_counter()
    talk.say(f"done {len(evaluation.per_class):,} classes  {end - read:.2f} s  {end - start:.2f} s in all")
    if json and json_file is None:
        print_result(to_json(evaluation, analysis))
    else:
        print_result(_tables(evaluation, analysis, every=per_class))


def _check_report(report: Path | None, images: Path | None, inputs: list[Path], json_file: Path | None) -> None:
    """Refuses before the work what could not be written after it."""
    if images is not None:
        if report is None:
            raise typer.BadParameter("--images needs --report: it is the report that shows images")
        if not images.is_dir():
            raise typer.BadParameter(f"expected a folder, got {str(images)!r}", param_hint="--images")
    if report is None:
        return
    with bad_value("--report"):
        from ioukit.report.writer import check_report  # noqa: PLC0415 - for those who want a report

        check_report(report, inputs, images)
        if json_file is not None and os.path.realpath(report) == os.path.realpath(json_file):
            raise ValueError(f"{report} is the file of --json too")
    with missing_extra():
        import_extra("jinja2", extra="report", needed_by="--report")
        if images is not None:
            import_extra("PIL", extra="report", needed_by="--images")


def _protocol(
    iou_thresholds: list[str] | None, max_dets: list[str] | None, areas: list[str] | None, *, class_agnostic: bool
) -> ioukit.Protocol:
    """COCO's protocol with what the options change."""
    changes: dict[str, Any] = {"class_agnostic": class_agnostic}
    options: list[tuple[str, str, list[str] | None, Callable[[list[str]], Any]]] = [
        ("--iou-thresholds", "iou_thresholds", iou_thresholds, parse_thresholds),
        ("--max-dets", "max_dets", max_dets, parse_max_dets),
        ("--areas", "area_ranges", areas, parse_areas),
    ]
    for option, field, values, parse in options:
        if values is not None:
            with bad_value(option):
                changes[field] = parse(values)
    with bad_value(None):
        return ioukit.COCO.replace(**changes)


def _tables(evaluation: ioukit.Evaluation, analysis: dict[str, Any] | None, *, every: bool) -> str:
    tables = [evaluation.table()]
    if evaluation.per_class:
        tables.append(class_table(evaluation.per_class, evaluation.protocol, every=every))
    if analysis is not None:
        tables.append(analysis_table(analysis))
    return "\n\n".join(tables)
