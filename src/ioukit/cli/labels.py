"""`ioukit labels`: the labels of the ground truth that are likely wrong."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import ioukit
from ioukit._output import aligned
from ioukit.cli._arguments import (
    ChosenClasses,
    DetectionsPath,
    GroundTruthPath,
    QuietOption,
    RepairOption,
    ThreadsOption,
)
from ioukit.cli._chosen_protocol import chosen_protocol
from ioukit.cli._data_files import read_data, size_of
from ioukit.cli._errors import bad_input, bad_output, bad_use, bad_value
from ioukit.cli._json import JsonOutput, file_of, json_option
from ioukit.cli._option_groups import ReadingOptions
from ioukit.cli._options import chosen_classes
from ioukit.cli._output import print_result, printable
from ioukit.cli._report import check_report, write_labels
from ioukit.cli._result_files import check_outputs
from ioukit.cli._rule_options import KindOption, ProtocolOption
from ioukit.cli._standard_input import input_files
from ioukit.cli._talk import Talk
from ioukit.evaluation.kinds import find_kind

if TYPE_CHECKING:
    from ioukit.label_errors import LabelErrors

__all__ = ["EXAMPLES", "find_labels"]

_LONG_WORK = 50_000_000  # bytes of input
_PRINTED = 20  # rows of the table on the terminal, unless --top says more

EXAMPLES = """\b
Examples:
  ioukit labels gt.json dt.json
  ioukit labels gt.json dt.json --report labels.html --images val2017/
  ioukit labels gt.json dt.json --csv for_annotators.csv --at-least 0.3
  ioukit labels gt.json dt.json --kinds overlooked,swapped --top 100 --json | jq '.errors[].reason'
"""


def find_labels(
    ground_truth: GroundTruthPath,
    detections: DetectionsPath,
    *,
    json: Annotated[
        JsonOutput | None,
        json_option("Print one JSON object instead of the tables; with FILE, write it there and print the tables."),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the labels as a CSV file, to send to annotators.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write one HTML page to look at: each label with the proposed change."),
    ] = None,
    images: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="With --report: folder of the images, to show the labels on them."),
    ] = None,
    top: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="The N most suspicious labels. [default: all]")
    ] = None,
    at_least: Annotated[
        float, typer.Option(metavar="SCORE", min=0.0, max=1.0, help="Only labels with this score or a higher one.")
    ] = 0.1,
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LIST",
            help="Only these kinds: overlooked, badly_drawn, swapped, doubled, spurious. [default: all]",
        ),
    ] = None,
    iou_type: KindOption = "bbox",
    protocol: ProtocolOption = None,
    classes: ChosenClasses = None,
    reading: ReadingOptions,
    repair: RepairOption = None,
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
) -> None:
    """List labels that are likely wrong: objects that are missing, badly drawn, of the wrong class, doubled or nothing.

    DT are detections of a model that was not trained on these images, with low scores, too. The score of a label is the
    estimated probability that it is wrong.
    """
    start = time.perf_counter()
    talk = Talk(quiet=quiet)
    sources = input_files(ground_truth, detections)
    with bad_use():
        check_report(report, images, sources, file_of(json))
        check_outputs({"--json": file_of(json), "--report": report, "--csv": csv}, sources)
        wanted = _kinds(kinds)
        with bad_value("--iou-type"):
            kind = find_kind(iou_type)
        rules = chosen_protocol(protocol, kind)
    long = size_of(sources) > _LONG_WORK
    read_from = reading.sources(sources)
    gt, dt = read_data(read_from, reading.on_invalid.value, threads, talk, long=long, repairs=repair or ())
    chosen = chosen_classes(classes, gt.categories)
    with bad_input(), talk.busy("looking for wrong labels", long=long):
        from ioukit.label_errors import find_label_errors  # noqa: PLC0415 - `ioukit --help` should not load it

        evaluation = ioukit.evaluate(gt, dt, rules, iou_type=kind.name, categories=chosen, threads=threads)
        errors = find_label_errors(evaluation, threads=threads).chosen(top=top, at_least=at_least, kinds=wanted)
    with bad_output():
        if json is not None and json.path is not None:
            json.write(errors.to_json(), talk)
        if csv is not None:
            errors.write_csv(csv)
            talk.say(f"wrote {printable(str(csv))}")
    if report is not None:
        write_labels(errors, report, images, talk, long=long)
    talk.say(f"done {time.perf_counter() - start:.2f} s in all")
    if json is not None and json.path is None:
        json.write(errors.to_json(), talk)
    else:
        print_result(_text(errors, _PRINTED if top is None else top))


def _kinds(words: list[str] | None) -> list[str] | None:
    """The names of the option; unknown ones are refused."""
    if words is None:
        return None
    from ioukit._checks import check_choice  # noqa: PLC0415 - loads NumPy
    from ioukit.label_errors import LABEL_ERROR_KINDS  # noqa: PLC0415 - as above

    names = [name.strip() for word in words for name in word.split(",")]
    with bad_value("--kinds"):
        for name in names:
            check_choice("kind", name, tuple(kind.key for kind in LABEL_ERROR_KINDS))
    return names


def _text(errors: "LabelErrors", most: int) -> str:
    """How many labels of each kind, and the most suspicious ones in words."""
    from ioukit.label_errors import LABEL_ERROR_KINDS  # noqa: PLC0415 - as above

    counts = [["kind", "labels", "score at least 0.5", "what to do"]]
    for place, kind in enumerate(LABEL_ERROR_KINDS):
        here = errors.score[errors.kind == place]
        counts.append([kind.title, f"{len(here):,}", f"{int((here >= 0.5).sum()):,}", kind.change])
    blocks = [aligned(counts)]
    titles = {kind.key: kind.title.lower() for kind in LABEL_ERROR_KINDS}
    for row in errors.chosen(top=most).rows():
        where = row.file_name or f"image {row.image_id}"
        label = "" if row.annotation_id is None else f"  annotation {row.annotation_id}"
        label += "" if row.category is None else f" ({row.category})"
        blocks.append(
            printable(f"{row.score:.2f}  {titles[row.kind]}  {where}{label}") + f"\n      {printable(row.reason)}"
        )
    if len(errors) > most:
        blocks.append(f"... {len(errors) - most:,} more: --top N, --csv FILE or --report FILE shows them")
    return "\n\n".join([blocks[0], "\n".join(blocks[1:])]) if len(blocks) > 1 else blocks[0]
