"""`ioukit protocols`: one data set under all protocols, and the walk from the number of one to that of another."""

import json
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ioukit._output import printable
from ioukit.cli._arguments import ThreadsOption
from ioukit.cli._data_files import DetectionsPath, GroundTruthPath, ReadingOptions, input_files
from ioukit.cli._errors import bad_input, bad_use, bad_value
from ioukit.cli._output import AnswerOptions
from ioukit.cli._rules import ChosenClasses, KindOption, chosen_classes, kind_of, named_number
from ioukit.evaluation.protocols import PROTOCOLS, Protocol

if TYPE_CHECKING:
    from ioukit.evaluation import Kind, ProtocolComparison, ProtocolDifference


# Long: the signature is the command line, a line or more per option.
def compare_rules(
    ground_truth: GroundTruthPath,
    detections: DetectionsPath,
    *,
    start: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[:KEY]",
            help="Walk from the number of this protocol, given by its name, its TOML file, or a tool (see "
            "ioukit eval --like). KEY is the number, AP50 for example. [default: its main number] Protocols: "
            f"{', '.join(PROTOCOLS)}.",
        ),
    ] = None,
    end: Annotated[str | None, typer.Option(metavar="NAME[:KEY]", help="Walk to the number of this protocol.")] = None,
    only_changes: Annotated[
        bool, typer.Option("--only-changes", help="Leave steps that change less than 0.00005 out of the table.")
    ] = False,
    top: Annotated[int, typer.Option(min=0, metavar="N", help="Classes and images to show for each step.")] = 3,
    iou_type: KindOption = "bbox",
    classes: ChosenClasses = None,
    reading: ReadingOptions,
    threads: ThreadsOption = None,
    answer: AnswerOptions,
) -> None:
    """Show the number of every protocol that applies to the data, or why the numbers of two protocols differ.

    With --start and --end, one rule changes at a time. Each line has the number after the change, the difference, and
    the classes and images that move most: in brackets, the share of the class in the difference, and how many
    detections and objects of the image have another outcome. The differences depend on the order of the steps, which
    is fixed.

    Examples:
      ioukit protocols gt.json dt.json
      ioukit protocols gt.json dt.json --start coco --end voc2012
      ioukit protocols gt.json dt.json --start coco:AP50 --end voc2012 --only-changes
      ioukit protocols gt.json dt.json --start pycocotools --end torchmetrics
      ioukit protocols gt.json dt.json --json | jq '.protocols[] | {name, value}'
    """
    clock = time.perf_counter()
    talk = answer.talk()
    sources = input_files(ground_truth, detections)
    with bad_use():
        answer.check(sources)
        if (start is None) != (end is None):
            raise ValueError("a walk needs both ends: give --start and --end")
        kind = kind_of(iou_type)
        ends = _ends(start, end, kind)
    gt, dt = reading.reader(threads, talk).pair(reading.sources(sources))
    options: dict[str, Any] = {"iou_type": iou_type, "threads": threads}
    if classes is not None:
        options["categories"] = chosen_classes(
            classes, gt.categories, *(given for given in ends.values() if isinstance(given, Protocol))
        )
    with bad_input(), talk.busy("evaluating"):
        from ioukit.evaluation import compare_protocols, explain_difference  # noqa: PLC0415 - `--help` needs neither

        found: ProtocolComparison | ProtocolDifference
        if ends:
            found = explain_difference(gt, dt, **ends, **options)
            facts, table = found.to_dict(most=top), found.table(zeros=not only_changes, most=top)
        else:
            found = compare_protocols(gt, dt, **options)
            facts, table = found.to_dict(), found.table()

    answer.give(
        lambda: "\n".join(map(printable, table.split("\n"))),
        lambda: json.dumps(facts, allow_nan=False),
        talk,
        done=f"done {time.perf_counter() - clock:.2f} s",
    )


def _ends(start: str | None, end: str | None, kind: "Kind") -> dict[str, Any]:
    """The ends of the walk as arguments; none if they are not given."""
    from ioukit.evaluation.disagreement.one_number import measure_of  # noqa: PLC0415 - only a walk needs it

    found: dict[str, Any] = {}
    for side, text in (("start", start), ("end", end)):
        if text is not None:
            with bad_value(f"--{side}"):
                found[side], found[f"{side}_key"] = named_number(text, kind)
                measure_of(found[side], found[f"{side}_key"])
    return found
