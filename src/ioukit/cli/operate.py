"""`ioukit operate`: score thresholds for a rule, and calibrated scores, in a file that other commands read."""

import json as json_module
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import ioukit
from ioukit.cli._arguments import (
    ChosenClasses,
    DetectionsPath,
    GroundTruthPath,
    QuietOption,
    ThreadsOption,
)
from ioukit.cli._chosen_protocol import chosen_protocol
from ioukit.cli._data_files import read_data, size_of
from ioukit.cli._errors import bad_input, bad_output, bad_use, bad_value
from ioukit.cli._json import JsonOutput, file_of, json_option
from ioukit.cli._option_groups import ReadingOptions
from ioukit.cli._options import chosen_classes
from ioukit.cli._output import print_result, printable
from ioukit.cli._result_files import check_outputs
from ioukit.cli._rule_options import KindOption, ProtocolOption
from ioukit.cli._standard_input import input_files
from ioukit.cli._talk import Talk
from ioukit.evaluation.kinds import find_kind

if TYPE_CHECKING:
    from ioukit.operating import Rule

__all__ = ["EXAMPLES", "operate"]

# A spinner for a tenth of a second would only flicker.
_LONG_WORK = 10_000_000  # bytes of input

EXAMPLES = """\b
Examples:
  ioukit operate gt.json dt.json --rule f1
  ioukit operate gt.json dt.json --rule precision=0.9 --per-class -o points.json
  ioukit operate gt.json dt.json --rule cost=1:5 --class-cost person=1:20 -o points.json
  ioukit operate gt.json dt.json --rule fppi=0.1 --calibrate platt -o points.json
  ioukit nms dt.json -o kept.json --operating-points points.json
"""


# The function is long because its signature is the command line, a line or more per option.
def operate(
    ground_truth: GroundTruthPath,
    detections: DetectionsPath,
    *,
    rule: Annotated[
        str,
        typer.Option(
            metavar="RULE",
            help="What to choose for: f1, f-beta=2, precision=0.9 (at least), recall=0.8 (at least), cost=1:5 (of a "
            "false positive : of a missed object), fppi=0.1 (at most so many false positives per image).",
        ),
    ] = "f1",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the thresholds to this file.")
    ] = None,
    per_class: Annotated[
        bool, typer.Option("--per-class", help="Choose a threshold for each class, not one for all.")
    ] = False,
    class_cost: Annotated[
        list[str] | None,
        typer.Option(metavar="CLASS=A:B", help="With --rule cost=...: other costs of one class. Can be repeated."),
    ] = None,
    calibrate: Annotated[
        Literal["temperature", "platt", "isotonic"] | None,
        typer.Option(help="Also fit calibrated scores, and write them to the file."),
    ] = None,
    calibrate_per_class: Annotated[
        bool, typer.Option("--calibrate-per-class", help="With --calibrate: a fit for each class, not one for all.")
    ] = False,
    iou: Annotated[
        float | None, typer.Option(metavar="IOU", help="IoU of a match. [default: the main one of the protocol]")
    ] = None,
    clusters: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Images that belong together, such as frames of a video: a CSV file (image id or file name, cluster). "
            "They stay together when images are split or drawn.",
        ),
    ] = None,
    splits: Annotated[
        int, typer.Option(min=0, metavar="N", help="How often images are split in halves: one to choose, one to count.")
    ] = 10,
    replicates: Annotated[
        int, typer.Option(min=0, metavar="N", help="Replicates of the bootstrap, for intervals.")
    ] = 1000,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Decides halves and replicates.")] = 0,
    json: Annotated[
        JsonOutput | None,
        json_option("Print one JSON object instead of the tables; with FILE, write it there and print the tables."),
    ] = None,
    iou_type: KindOption = "bbox",
    protocol: ProtocolOption = None,
    classes: ChosenClasses = None,
    reading: ReadingOptions,
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Choose score thresholds on evaluated images, and show what they give on other images.

    Numbers marked with * are of images that the choice did not see: chosen on one half, counted on the other. With one
    threshold for all classes, the table has the five best and worst classes by F1*.
    """
    # Long: each option is passed on.
    start = time.perf_counter()
    talk = Talk(quiet=quiet)
    sources = input_files(ground_truth, detections)
    with bad_use():
        check_outputs(
            {"--output": output, "--json": file_of(json)}, [*sources, *([] if clusters is None else [clusters])]
        )
        if calibrate_per_class and calibrate is None:
            raise typer.BadParameter("needs --calibrate", param_hint="--calibrate-per-class")
        with bad_value("--iou-type"):
            kind = find_kind(iou_type)
        rules = chosen_protocol(protocol, kind)
    from ioukit import operating  # noqa: PLC0415 - `ioukit --help` does not need it
    from ioukit.cli._operating_text import calibration_text, choice_text  # noqa: PLC0415 - as above

    with bad_value("--rule"):
        wanted = operating.find_rule(rule)
    with bad_value("--iou"):
        rules.position_of_iou(rules.main_iou if iou is None else iou)
    wanted = _with_costs(wanted, class_cost)
    long = size_of(sources) > _LONG_WORK
    read_from = reading.sources(sources)
    gt, dt = read_data(read_from, reading.on_invalid.value, threads, talk, long=long)
    chosen = chosen_classes(classes, gt.categories)
    with bad_input(), talk.busy("evaluating", long=long):
        evaluation = ioukit.evaluate(gt, dt, rules, iou_type=kind.name, categories=chosen, threads=threads)
    common: dict[str, Any] = {"iou_threshold": iou, "replicates": replicates, "seed": seed}
    with bad_use(), talk.busy("choosing", long=long):
        if clusters is not None:
            from ioukit.cli._image_labels import labels_of_file  # noqa: PLC0415 - for those who give the file

            common["clusters"] = labels_of_file(clusters, gt)
        choice = operating.choose_thresholds(evaluation, wanted, per_class=per_class, splits=splits, **common)
        fit = None
        if calibrate is not None:
            fit = operating.calibrate(evaluation, calibrate, per_class=calibrate_per_class, **common)
    result = {
        "choice": choice.to_dict(),
        "calibration": None if fit is None else fit.to_dict(),
        "output": None if output is None else str(output),
    }
    with bad_output():
        if output is not None:
            choice.operating_points(() if fit is None else fit).save(output)
            talk.say(f"wrote {printable(str(output))}")
        if json is not None and json.path is not None:
            json.write(json_module.dumps(result, allow_nan=False), talk)
    talk.say(f"done {time.perf_counter() - start:.2f} s")
    if json is not None and json.path is None:
        json.write(json_module.dumps(result, allow_nan=False), talk)
    else:
        print_result("\n\n".join([choice_text(choice), *([] if fit is None else [calibration_text(fit)])]))


def _with_costs(rule: "Rule", words: list[str] | None) -> "Rule":
    """The rule with the costs of single classes."""
    if not words:
        return rule
    from ioukit.operating import LeastCost, find_rule  # noqa: PLC0415 - as above

    with bad_value("--class-cost"):
        if not isinstance(rule, LeastCost):
            raise ValueError(f"it is for --rule cost=..., and the rule is {rule.text}")
        found: dict[int | str, tuple[float, float]] = {}
        for word in words:
            name, equals, costs = word.rpartition("=")
            if not equals or costs.count(":") != 1:
                raise ValueError(f"expected CLASS=A:B, such as person=1:20, got {word!r}")
            one = find_rule(f"cost={costs}")
            assert isinstance(one, LeastCost)
            found[name] = (one.false_positive, one.missed)
        return LeastCost(rule.false_positive, rule.missed, found)
