"""`ioukit tracks`: HOTA, MOTA, IDF1 and more, for ground truth and the results of one or more trackers."""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import ioukit
from ioukit._checks import pluralize
from ioukit._output import printable, terminal_width
from ioukit.cli._arguments import RESULTS, RULES, ThreadsOption
from ioukit.cli._compared_models import model_names
from ioukit.cli._data_files import (
    GroundTruthPath,
    ReadingOptions,
    check_readable_again,
    input_files,
    with_attributes,
)
from ioukit.cli._errors import bad_input, bad_output, bad_use, bad_value
from ioukit.cli._output import AnswerOptions
from ioukit.cli._report import ReportOption, ReportOptions
from ioukit.cli._rules import ChosenClasses, FoundKindOption, chosen_classes, kind_of
from ioukit.tracks.protocols import TRACK_PROTOCOLS, track_protocol_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.cli._data_files import Reader
    from ioukit.datasets import Detections, GroundTruth


def tracks(
    ground_truth: GroundTruthPath,
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS [RESULTS ...]",
            help="Results of a tracker, in a known format; - is stdin, if it is no pipe. Further ones are compared "
            "with the first.",
        ),
    ],
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
    report: ReportOption = None,
    answer: AnswerOptions,
) -> None:
    """Evaluate the tracks of objects in videos: HOTA, CLEAR (MOTA) and Identity (IDF1).

    The numbers are those of TrackEval 1.3.0 to the last bit. Each class is evaluated for itself. The protocol says what
    is left out before. The table has a line per sequence, in percent, and counts. In JSON, ratios are between 0 and 1.

    Both sides need track ids: the attribute or column track_id. The sequence of an image is its video_id, or else its
    folder.

    With the results of two or more trackers, the first one is compared with each of the others: differences with
    intervals and p-values over sequences, objects found and lost, and switches of ids.

    Examples:
      ioukit tracks MOT17/train/ results/
      ioukit tracks MOT17/train/ results/ --protocol plain --classes pedestrian
      ioukit tracks gt.csv tracks.csv --per-class --events events.csv
      ioukit tracks gt.csv tracks.csv --json | jq .summary.HOTA
      ioukit tracks MOT17/train/ a/ b/ --report page.html
    """
    start = time.perf_counter()
    talk = answer.talk()
    paths = input_files(ground_truth, *results)
    with bad_use():
        page = ReportOptions(report)
        answer.check(paths, {"--events": events, "--report": report})
        page.check(paths)
        kind = None if iou_type is None else kind_of(iou_type).name
        if events is not None and len(results) > 1:
            raise typer.BadParameter("writes the events of one tracker, got several results", param_hint="--events")
    with bad_value("--protocol"):
        rules = None if protocol is None else track_protocol_of(protocol, kind)
    gt, read = _read(paths, reading, reading.reader(threads, talk)._replace(ranks=False))
    chosen = chosen_classes(classes, gt.categories)
    with bad_input(), talk.busy("following tracks"):
        options: Any = {"protocol": rules, "iou_type": kind, "threads": threads}
        evaluated = [ioukit.evaluate_tracks(gt, dt, categories=chosen, **options) for dt in read]
        # Each has the classes with an object, or with a detection of its own; all shall have the same.
        classes_of_any = sorted({number for one in evaluated for number in one.categories.ids.tolist()})
        for at, one in enumerate(evaluated):
            if len(one.categories) < len(classes_of_any):
                evaluated[at] = ioukit.evaluate_tracks(gt, read[at], categories=classes_of_any, **options)
    found = evaluated[0]
    named = dict(zip(model_names(None, results), evaluated, strict=True))
    is_compared = len(named) > 1
    said = {*gt.notes, *(note for dt in read for note in dt.notes)}
    unsaid = {name: [note for note in dict.fromkeys(one.notes) if note not in said] for name, one in named.items()}
    shown: Any = found
    table, (notes, *_) = shown.table, unsaid.values()
    if is_compared:
        from ioukit.comparison import compare_tracks  # noqa: PLC0415 - one tracker needs neither
        from ioukit.comparison.track_text import notes_of  # noqa: PLC0415

        shown = compare_tracks(named)
        table, notes = shown.text, notes_of(unsaid)
    for note in notes:
        talk.say(f"note {printable(note)}")
    if events is not None:
        with bad_output():
            found.events.write_csv(events)
        talk.say(f"wrote {printable(str(events))}")
    page.write("write_tracks", shown, None, talk)
    sequences, seconds = pluralize(len(found.sequence_names), "sequence"), time.perf_counter() - start

    def text() -> str:
        tables = [table(width=terminal_width())]
        for name, one in named.items() if per_class else ():
            title = f"Classes of {name}\n" if is_compared else ""
            tables.append(f"{title}{one.class_table(width=terminal_width())}")
        return "\n".join(map(printable, "\n\n".join(tables).splitlines()))

    answer.give(
        text,
        lambda: json.dumps(shown.to_dict(), allow_nan=False),
        talk,
        done=f"done {sequences}  {pluralize(len(found.categories), 'class')}  {seconds:.2f} s",
        verdict=is_compared,
    )


def _read(paths: "Sequence[Path]", reading: ReadingOptions, reader: "Reader") -> "tuple[GroundTruth, list[Detections]]":
    """The ground truth, read once, and the results of all trackers."""
    for path in dict.fromkeys(one for one in paths[1:] if paths[1:].count(one) > 1):
        reader.talk.say(f"note {printable(str(path))} is compared with itself")
    gt, read = None, []
    for path in paths[1:]:
        with bad_input():
            sources = [with_attributes(source) for source in reading.sources([paths[0], path])]
        with bad_use():
            of_coco = [source.path for source in sources if source.format in (None, "coco")]
            check_readable_again(of_coco, "files with track ids are read more than once")
        gt, dt = reader.pair(sources, known=gt)
        read.append(dt)
    assert gt is not None  # there is at least one result
    return gt, read
