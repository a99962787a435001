"""`ioukit tracks`: HOTA, MOTA, IDF1 and more, for ground truth and the results of a tracker."""

import json
import time
from pathlib import Path
from typing import Annotated

import typer

import ioukit
from ioukit._checks import pluralize
from ioukit._output import printable, terminal_width
from ioukit.cli._arguments import RESULTS, RULES, ThreadsOption
from ioukit.cli._data_files import DetectionsPath, GroundTruthPath, ReadingOptions, input_files, with_attributes
from ioukit.cli._errors import bad_input, bad_output, bad_use, bad_value
from ioukit.cli._output import AnswerOptions
from ioukit.cli._rules import ChosenClasses, FoundKindOption, chosen_classes, kind_of
from ioukit.tracks.protocols import TRACK_PROTOCOLS, track_protocol_of


def tracks(
    ground_truth: GroundTruthPath,
    detections: DetectionsPath,
    *,
    per_class: Annotated[bool, typer.Option("--per-class", help="Show also a line per class.")] = False,
    protocol: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            autocompletion=lambda: [*TRACK_PROTOCOLS],
            rich_help_panel=RULES,
            help=f"What is left out before: {', '.join(TRACK_PROTOCOLS)}. [default: that of the benchmark, if names of "
            "sequences or labels show that the data are from one, else plain: nothing]",
        ),
    ] = None,
    classes: ChosenClasses = None,
    iou_type: FoundKindOption = None,
    reading: ReadingOptions,
    threads: ThreadsOption = None,
    events: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            rich_help_panel=RESULTS,
            help="Also write what happened in each frame as CSV: matches, switches of ids, misses, false detections.",
        ),
    ] = None,
    answer: AnswerOptions,
) -> None:
    """Evaluate the tracks of objects in videos: HOTA, CLEAR (MOTA) and Identity (IDF1).

    The numbers are those of TrackEval 1.3.0 to the last bit. Each class is evaluated for itself. The protocol says what
    is left out before. The table has a line per sequence, in percent, and counts. In JSON, ratios are between 0 and 1.

    Both sides need track ids: the attribute or column track_id. The sequence of an image is its video_id, or else its
    folder.

    Examples:
      ioukit tracks MOT17/train/ results/
      ioukit tracks MOT17/train/ results/ --protocol plain --classes pedestrian
      ioukit tracks gt.csv tracks.csv --per-class --events events.csv
      ioukit tracks gt.csv tracks.csv --json | jq .summary.HOTA
    """
    start = time.perf_counter()
    talk = answer.talk()
    paths = input_files(ground_truth, detections)
    with bad_use():
        answer.check(paths, {"--events": events})
        kind = kind_of(iou_type or "bbox")
    with bad_value("--protocol"):
        rules = None if protocol is None else track_protocol_of(protocol, kind.name)
    with bad_input():
        sources = [with_attributes(source) for source in reading.sources(paths)]
    gt, dt = reading.reader(threads, talk).pair(sources)
    chosen = chosen_classes(classes, gt.categories)
    with bad_input(), talk.busy("following tracks"):
        found = ioukit.evaluate_tracks(gt, dt, protocol=rules, iou_type=kind.name, categories=chosen, threads=threads)
    said = {*gt.notes, *dt.notes}
    for note in found.notes:
        if note not in said:
            talk.say(f"note {printable(note)}")
    if events is not None:
        with bad_output():
            found.events.write_csv(events)
        talk.say(f"wrote {printable(str(events))}")
    sequences, seconds = pluralize(len(found.sequence_names), "sequence"), time.perf_counter() - start

    def text() -> str:
        tables = [found.table(width=terminal_width())]
        if per_class:
            tables.append(found.class_table(width=terminal_width()))
        return "\n\n".join(tables)

    answer.give(
        text,
        lambda: json.dumps(found.to_dict(), allow_nan=False),
        talk,
        done=f"done {sequences}  {pluralize(len(found.categories), 'class')}  {seconds:.2f} s",
    )
