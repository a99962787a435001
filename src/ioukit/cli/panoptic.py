"""`ioukit panoptic`: panoptic quality of COCO panoptic files."""

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ioukit._output import aligned
from ioukit.cli._arguments import QuietOption, ThreadsOption
from ioukit.cli._class_table import shortened
from ioukit.cli._data_files import size_of
from ioukit.cli._errors import bad_input, bad_output, bad_use
from ioukit.cli._json import JsonOutput, json_option
from ioukit.cli._output import print_result, printable
from ioukit.cli._standard_input import input_files
from ioukit.cli._talk import Talk

if TYPE_CHECKING:
    from ioukit.evaluation import PanopticQuality

__all__ = ["EXAMPLES", "panoptic"]

# A spinner for a tenth of a second would only flicker.
_LONG_WORK = 100_000  # bytes of JSON, of about fifty images

EXAMPLES = """\b
Examples:
  ioukit panoptic panoptic_val2017.json predictions.json
  ioukit panoptic gt.json dt.json --gt-folder gt_png/ --dt-folder dt_png/ --per-class
  ioukit panoptic gt.json dt.json --json | jq .summary.PQ
"""


def panoptic(
    ground_truth: Annotated[
        Path, typer.Argument(metavar="GT", help="Ground truth: a COCO panoptic JSON file; - is stdin.")
    ],
    predictions: Annotated[
        Path, typer.Argument(metavar="DT", help="Predictions: a COCO panoptic JSON file; - is stdin.")
    ],
    *,
    gt_folder: Annotated[
        Path | None, typer.Option(metavar="DIR", help="PNG files of the ground truth. [default: X for X.json]")
    ] = None,
    dt_folder: Annotated[
        Path | None, typer.Option(metavar="DIR", help="PNG files of the predictions. [default: X for X.json]")
    ] = None,
    json: Annotated[
        JsonOutput | None,
        json_option("Print one JSON object instead of the tables; with FILE, write it there and print the tables."),
    ] = None,
    per_class: Annotated[
        bool, typer.Option("--per-class", help="Show every class, not the best and worst five.")
    ] = False,
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Evaluate panoptic segmentations: panoptic quality (PQ), SQ and RQ over all classes, things and stuff.

    The table is that of panopticapi, in percent. An undefined number is nan in it and null in JSON, where numbers are
    between 0 and 1.
    """
    start = time.perf_counter()
    talk = Talk(quiet=quiet)
    gt_path, dt_path = input_files(ground_truth, predictions)
    with bad_use():
        if json is not None:
            json.check([gt_path, dt_path])
    with bad_input(), talk.busy("comparing segments", long=size_of([gt_path, dt_path]) > _LONG_WORK):
        from ioukit.evaluation import panoptic_quality  # noqa: PLC0415 - `ioukit --help` waits for no evaluation

        quality = panoptic_quality(gt_path, dt_path, gt_folder=gt_folder, dt_folder=dt_folder, threads=threads)
    if json is not None and json.path is not None:
        with bad_output():
            json.write(quality.to_json(), talk)
    counts = quality.counts
    talk.say(f"done {counts['images']:,} images  {counts['categories']:,} classes  {time.perf_counter() - start:.2f} s")
    if json is not None and json.path is None:
        json.write(quality.to_json(), talk)
    else:
        print_result(f"{quality.table()}\n\n{_class_table(quality, every=per_class)}")


def _class_table(quality: "PanopticQuality", *, every: bool) -> str:
    """The numbers of the classes in percent, from the best PQ to the worst, undefined ones last."""
    ranked = sorted(quality.per_class, key=lambda c: (math.isnan(c.pq), -c.pq, c.id))
    rows = [["class", "PQ", "SQ", "RQ", "matched", "wrong", "missed"]]
    for c in shortened(ranked, [math.isnan(c.pq) for c in ranked], every=every):
        if c is None:
            rows.append(["...", *[""] * 6])
            continue
        numbers = ["-" if math.isnan(value) else f"{100 * value:.1f}" for value in (c.pq, c.sq, c.rq)]
        counts = [f"{count:,}" for count in (c.true_positives, c.false_positives, c.false_negatives)]
        rows.append([printable(c.name), *numbers, *counts])
    return aligned(rows)
