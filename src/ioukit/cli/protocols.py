"""`ioukit protocols`: one data set under all protocols, and the walk from the number of one to that of another."""

import json as json_text
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ioukit.cli._arguments import (
    ChosenClasses,
    DetectionsPath,
    GroundTruthPath,
    QuietOption,
    ThreadsOption,
)
from ioukit.cli._chosen_protocol import named_number
from ioukit.cli._data_files import read_data, size_of
from ioukit.cli._errors import bad_input, bad_output, bad_use, bad_value
from ioukit.cli._json import JsonOutput, json_option
from ioukit.cli._option_groups import ReadingOptions
from ioukit.cli._options import chosen_classes
from ioukit.cli._output import print_result, printable
from ioukit.cli._rule_options import KindOption
from ioukit.cli._standard_input import input_files
from ioukit.cli._talk import Talk
from ioukit.evaluation.kinds import find_kind
from ioukit.evaluation.protocols import PROTOCOLS

if TYPE_CHECKING:
    from ioukit.evaluation import Kind, ProtocolComparison, ProtocolDifference

__all__ = ["EXAMPLES", "compare_rules"]

# A spinner for a tenth of a second would only flicker.
_LONG_WORK = 10_000_000  # bytes of input, which are evaluated many times

EXAMPLES = """\b
Examples:
  ioukit protocols gt.json dt.json
  ioukit protocols gt.json dt.json --from coco --to voc2012
  ioukit protocols gt.json dt.json --from coco:AP50 --to voc2012 --only-changes
  ioukit protocols gt.json dt.json --from pycocotools --to torchmetrics
  ioukit protocols gt.json dt.json --json | jq '.protocols[] | {name, value}'
"""


# The function is long because its signature is the command line, a line or more per option.
def compare_rules(
    ground_truth: GroundTruthPath,
    detections: DetectionsPath,
    *,
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="NAME[:KEY]",
            help="Walk from the number of this protocol, given by its name, its TOML file, or a tool (see "
            "ioukit eval --like). KEY is the number, AP50 for example. [default: its main number] Protocols: "
            f"{', '.join(PROTOCOLS)}.",
        ),
    ] = None,
    end: Annotated[
        str | None, typer.Option("--to", metavar="NAME[:KEY]", help="Walk to the number of this protocol.")
    ] = None,
    json: Annotated[
        JsonOutput | None,
        json_option("Print one JSON object instead of the table; with FILE, write it there and print the table."),
    ] = None,
    only_changes: Annotated[
        bool,
        typer.Option("--only-changes", help="Leave steps that change less than 0.00005 out of the table."),
    ] = False,
    most: Annotated[int, typer.Option(min=0, metavar="N", help="Classes and images to show for each step.")] = 3,
    iou_type: KindOption = "bbox",
    classes: ChosenClasses = None,
    reading: ReadingOptions,
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Show the number of every protocol that applies to the data, or why the numbers of two protocols differ.

    With --from and --to, one rule changes at a time. Each line has the number after the change, the difference, and the
    classes and images that move most: in brackets, the share of the class in the difference, and how many detections
    and objects of the image have another outcome. The differences depend on the order of the steps, which is fixed.
    """
    clock = time.perf_counter()
    talk = Talk(quiet=quiet)
    sources = input_files(ground_truth, detections)
    with bad_use():
        if json is not None:
            json.check(sources)
        if (start is None) != (end is None):
            raise ValueError("a walk needs both ends: give --from and --to")
        with bad_value("--iou-type"):
            kind = find_kind(iou_type)
        ends = _ends(start, end, kind)
    long = size_of(sources) > _LONG_WORK
    read_from = reading.sources(sources)
    gt, dt = read_data(read_from, reading.on_invalid.value, threads, talk, long=long)
    options: dict[str, Any] = {"iou_type": iou_type, "threads": threads}
    if classes is not None:
        options["categories"] = chosen_classes(classes, gt.categories)
    with bad_input(), talk.busy("evaluating", long=long):
        from ioukit.evaluation import compare_protocols, explain_difference  # noqa: PLC0415 - `--help` needs neither

        found: ProtocolComparison | ProtocolDifference
        if ends:
            found = explain_difference(gt, dt, **ends, **options)
            text = json_text.dumps(found.to_dict(most=most), allow_nan=False)
            table = found.table(zeros=not only_changes, most=most)
        else:
            found = compare_protocols(gt, dt, **options)
            text, table = json_text.dumps(found.to_dict(), allow_nan=False), found.table()

    if json is not None and json.path is not None:
        with bad_output():
            json.write(text, talk)
    talk.say(f"done {time.perf_counter() - clock:.2f} s")
    if json is not None and json.path is None:
        json.write(text, talk)
    else:
        print_result("\n".join(printable(line) for line in table.split("\n")))


def _ends(start: str | None, end: str | None, kind: "Kind") -> dict[str, Any]:
    """The ends of the walk as arguments; none if they are not given."""
    from ioukit.evaluation.disagreement.one_number import measure_of  # noqa: PLC0415 - only a walk needs it

    found: dict[str, Any] = {}
    for option, side, text in (("--from", "start", start), ("--to", "end", end)):
        if text is not None:
            with bad_value(option):
                found[side], found[f"{side}_key"] = named_number(text, kind)
                measure_of(found[side], found[f"{side}_key"])
    return found
