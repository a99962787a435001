"""`ioukit operate`: score thresholds for a rule, and calibrated scores, in a file that other commands read."""

import json
import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import ioukit
from ioukit._output import aligned, printable
from ioukit._words_and_colours import percent
from ioukit.cli._arguments import ReplicatesOption, SeedOption, ThreadsOption
from ioukit.cli._compared_models import image_labels, labelled_files
from ioukit.cli._data_files import DetectionsPath, GroundTruthPath, ReadingOptions, input_files
from ioukit.cli._errors import bad_input, bad_output, bad_use, bad_value
from ioukit.cli._output import AnswerOptions, check_files
from ioukit.cli._rules import ChosenClasses, NamedRules, chosen_classes
from ioukit.cli._tables import ranked_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ioukit.operating import CalibrationFit, ClassThreshold, Rule, ThresholdChoice
    from ioukit.statistics import Interval


# Long: the steps of a command, one after the other.
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
    iou_threshold: Annotated[
        float | None, typer.Option(metavar="IOU", help="IoU of a match. [default: the main one of the protocol]")
    ] = None,
    clusters: Annotated[
        str | None,
        typer.Option(
            metavar="CSV|NAME",
            help="Images that belong together, such as frames of a video: a CSV file (image id or file name, cluster), "
            "FILE.csv:COLUMN, or an attribute of the images. They stay together when images are split or drawn.",
        ),
    ] = None,
    splits: Annotated[
        int, typer.Option(min=0, metavar="N", help="How often images are split in halves: one to choose, one to count.")
    ] = 10,
    replicates: ReplicatesOption = 1000,
    seed: SeedOption = 0,
    named: NamedRules,
    classes: ChosenClasses = None,
    reading: ReadingOptions,
    threads: ThreadsOption = None,
    answer: AnswerOptions,
) -> None:
    """Choose score thresholds on evaluated images, and show what they give on other images.

    Numbers marked with * are of images that the choice did not see: chosen on one half, counted on the other. With one
    threshold for all classes, the table has the five best and worst classes by F1*.

    Examples:
      ioukit operate gt.json dt.json --rule f1
      ioukit operate gt.json dt.json --rule precision=0.9 --per-class -o points.json
      ioukit operate gt.json dt.json --rule cost=1:5 --class-cost person=1:20 -o points.json
      ioukit operate gt.json dt.json --rule fppi=0.1 --calibrate platt -o points.json
      ioukit nms dt.json -o kept.json --operating-points points.json
    """
    start = time.perf_counter()
    talk = answer.talk()
    sources = input_files(ground_truth, detections)
    with bad_use():
        check_files({"--output": output, "--json": answer.file}, [*sources, *labelled_files(clusters)])
        if calibrate_per_class and calibrate is None:
            raise typer.BadParameter("needs --calibrate", param_hint="--calibrate-per-class")
        named.found()
    from ioukit import operating  # noqa: PLC0415 - `ioukit --help` does not need it

    with bad_value("--rule"):
        wanted = operating.find_rule(rule)
    wanted = _with_costs(wanted, class_cost)
    gt, dt = reading.reader(threads, talk).pair(reading.sources(sources))
    kind, rules = named.of_data(gt, dt, talk)
    with bad_value("--iou-threshold"):
        rules.position_of_iou(rules.main_iou if iou_threshold is None else iou_threshold)
    chosen = chosen_classes(classes, gt.categories, rules)
    common: dict[str, Any] = {"iou_threshold": iou_threshold, "replicates": replicates, "seed": seed}
    if clusters is not None:
        with bad_value("--clusters"), bad_input():
            common["clusters"] = image_labels(clusters, gt)
    with bad_input(), talk.busy("evaluating"):
        evaluation = ioukit.evaluate(gt, dt, rules, iou_type=kind.name, categories=chosen, threads=threads)
    fit = None
    with bad_use(), talk.busy("choosing"):
        choice = operating.choose_thresholds(evaluation, wanted, per_class=per_class, splits=splits, **common)
        if calibrate is not None:
            fit = operating.calibrate(evaluation, calibrate, per_class=calibrate_per_class, **common)
    result = {
        "choice": choice.to_dict(),
        "calibration": None if fit is None else fit.to_dict(),
        "output": None if output is None else str(output),
    }
    if output is not None:
        with bad_output():
            choice.operating_points(() if fit is None else fit).save(output)
        talk.say(f"wrote {printable(str(output))}")
    answer.give(
        lambda: "\n\n".join([_choice_text(choice), *([] if fit is None else [_calibration_text(fit)])]),
        lambda: json.dumps(result, allow_nan=False),
        talk,
        done=f"done {time.perf_counter() - start:.2f} s",
    )


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


def _choice_text(choice: "ThresholdChoice") -> str:
    """The thresholds as a table, and what a user must know about them."""
    from ioukit._checks import pluralize  # noqa: PLC0415 - loads NumPy
    from ioukit.operating import FBeta  # noqa: PLC0415 - as above

    settings = choice.settings
    kind = "one threshold per class" if choice.per_class else "one threshold for all classes"
    head = (
        f"{choice.rule.text}, {kind}, IoU {settings['iou_threshold']:g}, "
        f"{pluralize(_whole(settings['images']), 'image')}, {pluralize(_whole(settings['objects']), 'object')}"
    )
    beta = choice.rule.beta if isinstance(choice.rule, FBeta) else 1.0
    f = f"F{beta:g}"
    columns = ["class", "objects", "threshold", "precision", "recall", f, "precision*", "recall*", f"{f}*"]
    found = [one for one in choice.classes if one.num_ground_truth]
    held_out = any(not math.isnan(one.held_out.f_beta) for one in found)

    def value(one: "ClassThreshold") -> float:
        return one.held_out.f_beta if held_out else one.chosen.f_beta

    if not choice.per_class:  # otherwise each has a threshold, and all are shown in their order
        found.sort(key=lambda one: (math.isnan(value(one)), -value(one)))
    table = ranked_table(
        [columns, _row(choice.overall)],
        found,
        _row,
        undefined=lambda one: math.isnan(value(one)),
        every=choice.per_class,
        drop=(5, 1, 4, 3),
    )
    answer = [head, *_numbers(choice, f), "* on images that the choice did not see", *_notes(choice)]
    return "\n".join([*answer, "", table])


def _row(one: "ClassThreshold") -> list[str]:
    numbers = [value for shown in (one.chosen, one.held_out) for value in (shown.precision, shown.recall, shown.f_beta)]
    threshold = "-" if math.isnan(one.threshold) else f"{one.threshold:.4f}"
    return [printable(one.name), f"{one.num_ground_truth:,}", threshold, *map(_number, numbers)]


def _numbers(choice: "ThresholdChoice", f: str) -> list[str]:
    """A line for the threshold and for each number on other images, with its interval."""
    shown = choice.overall.held_out
    names = {
        "precision": "precision*", "recall": "recall*", "f_beta": f"{f}*",
        "false_positives_per_image": "false positives per image*", "cost_per_image": "cost per image*",
    }  # fmt: skip
    found = {name: (getattr(shown, key), shown.intervals.get(key)) for key, name in names.items()}
    if not choice.per_class:
        found = {"threshold": (choice.overall.threshold, choice.overall.interval), **found}
    found = {name: each for name, each in found.items() if not math.isnan(each[0])}
    lines = [f"{name} {_number(value)}{_spread(one)}" for name, (value, one) in found.items()]
    return [*lines, *_doubts({name: one for name, (_, one) in found.items() if one is not None})]


def _spread(one: "Interval | None") -> str:
    if one is None or math.isnan(one.low):
        return ""
    kind = "of replicates" if one.method == "percentile" else "interval"
    return f", {percent(one.level)} {kind} {_number(one.low)} to {_number(one.high)}"


def _doubts(intervals: "Mapping[str, Interval]") -> list[str]:
    """A line for each reason why there are no intervals, or why they may hold less often than they say."""
    reasons: dict[str, list[str]] = {}
    for name, one in intervals.items():
        for reason in one.warnings:
            reasons.setdefault(f"{'no' if math.isnan(one.low) else 'doubtful'} intervals, as {reason}", []).append(name)
    return [f"{reason}: {', '.join(names)}" for reason, names in reasons.items()]


def _notes(choice: "ThresholdChoice") -> list[str]:
    from ioukit.operating import FalsePositivesPerImage, PrecisionAtLeast, RecallAtLeast  # noqa: PLC0415 - as above

    notes, rule, shown = [], choice.rule, choice.overall.held_out
    if choice.not_reached:
        instead = "no detection counts"
        if isinstance(rule, RecallAtLeast):
            instead = "the highest recall is taken"
        names = _names([one.name for one in choice.not_reached])
        notes.append(f"not reached, so {instead}: {names}")
    bare = [one.name for one in choice.classes if one.how == "no objects"] if choice.per_class else []
    if bare:
        notes.append(f"no objects, so the threshold of all classes is taken: {_names(bare)}")
    on_other = ""
    if isinstance(rule, PrecisionAtLeast) and shown.precision < rule.precision:
        on_other = f"the precision is {_apart(shown.precision, rule.precision)}, below the {rule.precision:.12g}"
    if isinstance(rule, RecallAtLeast) and shown.recall < rule.recall:
        on_other = f"the recall is {_apart(shown.recall, rule.recall)}, below the {rule.recall:.12g}"
    if isinstance(rule, FalsePositivesPerImage):  # the limit is that of each class, if each has a threshold
        each = choice.classes if choice.per_class else (choice.overall,)
        most = max((one.held_out.false_positives_per_image for one in each), default=0.0)
        if most > rule.most:
            of = " of one class" if choice.per_class else ""
            on_other = f"there are {_apart(most, rule.most)} false positives{of} per image, above the {rule.most:.12g}"
    return [*notes, f"on other images {on_other} asked for"] if on_other else notes


def _apart(value: float, limit: float) -> str:
    """A number with three decimals, or with as many as show on which side of a limit it is."""
    texts = (f"{value:.{digits}f}" for digits in range(3, 18))
    return next((text for text in texts if (float(text) - limit) * (value - limit) > 0), str(value))


def _names(names: "Sequence[str]") -> str:
    shown = ", ".join(printable(name) for name in names[:8])
    return f"{shown} and {len(names) - 8} more" if len(names) > 8 else shown


def _calibration_text(fit: "CalibrationFit") -> str:
    """The calibration errors before and after, as a table."""
    from ioukit.operating.calibration import KEYS  # noqa: PLC0415 - as above

    maps = "one map for all classes" if len(fit.maps) == 1 else f"one map per class ({len(fit.maps)})"
    rows = [["error", "before", "after*", "difference", "interval"]]
    for key in KEYS:
        if math.isnan(fit.before[key]):
            continue
        one = fit.differences.get(key)
        spread = "" if one is None or math.isnan(one.low) else f"{one.low:+.4f} to {one.high:+.4f}"
        apart = fit.after[key] - fit.before[key]
        rows.append([key, f"{fit.before[key]:.4f}", f"{fit.after[key]:.4f}", f"{apart:+.4f}", spread])
    lines = [
        f"calibration by {fit.method}, {maps}, {fit.before.bins} ranges of scores", aligned(rows),
        f"* each image by a map that was fitted without it, in {fit.folds} parts", *_doubts(fit.differences),
    ]  # fmt: skip
    if fit.shared:
        lines.append(f"few detections, so the map of all classes is taken: {_names(fit.shared)}")
    return "\n".join(lines)


def _whole(value: object) -> int:
    return int(str(value))


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"
