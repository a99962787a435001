"""`ioukit nuscenes`: nuScenes' measures of boxes in space."""

import time
from pathlib import Path
from typing import Annotated

import typer

from ioukit._output import printable
from ioukit.cli._arguments import ThreadsOption
from ioukit.cli._data_files import STANDARD_INPUT, ReadingOptions, input_files
from ioukit.cli._errors import bad_input, bad_use
from ioukit.cli._output import AnswerOptions
from ioukit.cli._rules import ChosenClasses, chosen_classes


def nuscenes(
    ground_truth: Annotated[
        Path,
        typer.Argument(
            metavar="GT", help="Ground truth: nuScenes' records by sample, or another format; - is stdin, of nuScenes."
        ),
    ],
    detections: Annotated[
        Path,
        typer.Argument(metavar="DT", help="Detections: nuScenes' results, or another format; - is stdin, of nuScenes."),
    ],
    *,
    classes: ChosenClasses = None,
    reading: ReadingOptions,
    threads: ThreadsOption = None,
    answer: AnswerOptions,
) -> None:
    """Evaluate boxes in space by the distance of their centres, as nuScenes does: NDS, mAP, ATE, ASE, AOE, AVE, AAE.

    GT and DT are JSON files in the shape of nuScenes' detection results; nuScenes' database is not needed. KITTI's
    folders do, too, without velocities and attributes. --gt-option names=car,tram gives GT other classes than
    nuScenes' ten. A class without objects counts with AP 0, as nuScenes has it: --classes chooses the ones that count.

    An error is undefined (-, null in JSON) where GT lacks what it compares; NDS is undefined then, too.

    Examples:
      ioukit nuscenes gt.json results.json
      ioukit nuscenes own.json found.json --gt-option names=car,tram
      ioukit nuscenes label_2 results --classes Car,Pedestrian
      ioukit nuscenes gt.json results.json --json | jq .summary.NDS
    """
    start, talk = time.perf_counter(), answer.talk()
    sources = input_files(ground_truth, detections)
    with bad_use():
        answer.check(sources)
    read = [
        source._replace(format="nuscenes") if source.path == STANDARD_INPUT and source.format is None else source
        for source in reading.sources(sources)
    ]
    gt, dt = reading.reader(threads, talk).pair(read)
    chosen = chosen_classes(classes, gt.categories)
    with bad_input(), talk.busy("comparing boxes"):
        from ioukit.evaluation import evaluate_distances  # noqa: PLC0415 - `ioukit --help` waits for no evaluation

        found = evaluate_distances(gt, dt, categories=chosen, threads=threads)
    for note in found.notes:
        if note not in (*gt.notes, *dt.notes):  # those were said as the files were read
            talk.say(f"note {printable(note)}")
    counts = "  ".join(f"{number:,} {name}" for name, number in found.counts.items())
    answer.give(
        lambda: "\n".join(map(printable, found.table().split("\n"))),
        found.to_json,
        talk,
        done=f"done {counts}  {time.perf_counter() - start:.2f} s",
    )
