"""`ioukit panoptic`: panoptic quality of COCO panoptic files."""

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ioukit._checks import pluralize
from ioukit._output import printable
from ioukit.cli._arguments import BestAndWorstOption, ThreadsOption
from ioukit.cli._data_files import input_files
from ioukit.cli._errors import bad_input, bad_use
from ioukit.cli._output import AnswerOptions
from ioukit.cli._tables import ranked_table

if TYPE_CHECKING:
    from ioukit.evaluation import PanopticClass, PanopticQuality


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
    per_class: BestAndWorstOption = False,
    threads: ThreadsOption = None,
    answer: AnswerOptions,
) -> None:
    """Evaluate panoptic segmentations: panoptic quality (PQ), SQ and RQ over all classes, things and stuff.

    The table is that of panopticapi, in percent. A number that is undefined is printed as nan. In JSON, it is null, and
    numbers are between 0 and 1.

    Examples:
      ioukit panoptic panoptic_val2017.json predictions.json
      ioukit panoptic gt.json dt.json --gt-folder gt_png/ --dt-folder dt_png/ --per-class
      ioukit panoptic gt.json dt.json --json | jq .summary.PQ
    """
    start = time.perf_counter()
    talk = answer.talk()
    gt_path, dt_path = input_files(ground_truth, predictions)
    with bad_use():
        answer.check([gt_path, dt_path])
    with bad_input(), talk.busy("comparing segments"):
        from ioukit.evaluation import panoptic_quality  # noqa: PLC0415 - `ioukit --help` waits for no evaluation

        quality = panoptic_quality(gt_path, dt_path, gt_folder=gt_folder, dt_folder=dt_folder, threads=threads)
    counts, seconds = quality.counts, time.perf_counter() - start
    images, classes = pluralize(counts["images"], "image"), pluralize(counts["categories"], "class")
    answer.give(
        lambda: f"{quality.table()}\n\n{_class_table(quality, every=per_class)}",
        quality.to_json,
        talk,
        done=f"done {images}  {classes}  {seconds:.2f} s",
    )


def _class_table(quality: "PanopticQuality", *, every: bool) -> str:
    """The numbers of the classes in percent, from the best PQ to the worst, undefined ones last."""
    ranked = sorted(quality.per_class, key=lambda c: (math.isnan(c.pq), -c.pq, c.id))

    def cells(c: "PanopticClass") -> list[str]:
        numbers = ["-" if math.isnan(value) else f"{100 * value:.1f}" for value in (c.pq, c.sq, c.rq)]
        counts = [f"{count:,}" for count in (c.true_positives, c.false_positives, c.false_negatives)]
        return [printable(c.name), *numbers, *counts]

    head = ["class", "PQ", "SQ", "RQ", "matched", "wrong", "missed"]
    return ranked_table([head], ranked, cells, undefined=lambda c: math.isnan(c.pq), every=every)
