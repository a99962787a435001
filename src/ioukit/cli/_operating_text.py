"""What `ioukit operate` prints: thresholds with their numbers, and calibration errors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ioukit._checks import pluralize
from ioukit._output import aligned
from ioukit.cli._class_table import shortened
from ioukit.cli._output import printable
from ioukit.operating import FBeta, PrecisionAtLeast, RecallAtLeast
from ioukit.operating.calibration import KEYS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.operating import CalibrationFit, ClassThreshold, ThresholdChoice
    from ioukit.statistics import Interval

__all__ = ["calibration_text", "choice_text"]


def choice_text(choice: ThresholdChoice) -> str:
    """The thresholds as a table, and what a user must know about them."""
    settings = choice.settings
    kind = "one threshold per class" if choice.per_class else "one threshold for all classes"
    head = (
        f"{choice.rule.text}, {kind}, IoU {settings['iou_threshold']:g}, "
        f"{pluralize(_whole(settings['images']), 'image')}, {pluralize(_whole(settings['objects']), 'object')}"
    )
    beta = choice.rule.beta if isinstance(choice.rule, FBeta) else 1.0
    f = f"F{beta:g}"
    columns = ["class", "objects", "threshold", "precision", "recall", f, "precision*", "recall*", f"{f}*"]
    gap = ["...", *[""] * (len(columns) - 1)]
    rows = [columns, _row(choice.overall), *(gap if one is None else _row(one) for one in _shown(choice))]
    lines = [head, aligned(rows), "* on images that the choice did not see", *_intervals(choice, f), *_notes(choice)]
    return "\n".join(lines)


def _shown(choice: ThresholdChoice) -> Sequence[ClassThreshold | None]:
    """The classes with objects: all in their order if each has a threshold, else the best and worst few."""
    found = [one for one in choice.classes if one.num_ground_truth]
    if choice.per_class:
        return found
    split = any(not math.isnan(one.held_out.f_beta) for one in found)
    values = [one.held_out.f_beta if split else one.chosen.f_beta for one in found]
    order = sorted(range(len(found)), key=lambda at: (math.isnan(values[at]), -values[at]))
    return shortened([found[at] for at in order], [math.isnan(values[at]) for at in order], every=False)


def _row(one: ClassThreshold) -> list[str]:
    numbers = [value for shown in (one.chosen, one.held_out) for value in (shown.precision, shown.recall, shown.f_beta)]
    threshold = "-" if math.isnan(one.threshold) else f"{one.threshold:.4f}"
    return [printable(one.name), f"{one.num_ground_truth:,}", threshold, *map(_number, numbers)]


def _intervals(choice: ThresholdChoice, f: str) -> list[str]:
    """A line for each number on other images, with its interval."""
    found = choice.overall.held_out.intervals
    names = {
        "precision": "precision*", "recall": "recall*", "f_beta": f"{f}*",
        "false_positives_per_image": "false positives per image*", "cost_per_image": "cost per image*",
    }  # fmt: skip
    lines = [f"{names[key]} {_spread(one)}" for key, one in found.items()]
    if not choice.per_class and choice.overall.interval.replicates:
        lines.insert(0, f"threshold {_spread(choice.overall.interval)}")
    return lines


def _spread(one: Interval) -> str:
    if math.isnan(one.low):
        return _number(one.value)
    return f"{_number(one.value)}, {one.level:.0%} interval {_number(one.low)} to {_number(one.high)}"


def _notes(choice: ThresholdChoice) -> list[str]:
    notes = []
    if choice.not_reached:
        instead = "no detection counts"
        if isinstance(choice.rule, RecallAtLeast):
            instead = "the highest recall is taken"
        names = _names([one.name for one in choice.not_reached])
        notes.append(f"not reached, so {instead}: {names}")
    bare = [one.name for one in choice.classes if one.how == "no objects"] if choice.per_class else []
    if bare:
        notes.append(f"no objects, so the threshold of all classes is taken: {_names(bare)}")
    shown = choice.overall.held_out.precision
    if isinstance(choice.rule, PrecisionAtLeast) and shown < choice.rule.precision:
        notes.append(
            f"on other images the precision is {_number(shown)}, below the {choice.rule.precision:g} asked for"
        )
    shown = choice.overall.held_out.recall
    if isinstance(choice.rule, RecallAtLeast) and shown < choice.rule.recall:
        notes.append(f"on other images the recall is {_number(shown)}, below the {choice.rule.recall:g} asked for")
    return notes


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(printable(name) for name in names[:8])
    return f"{shown} and {len(names) - 8} more" if len(names) > 8 else shown


def calibration_text(fit: CalibrationFit) -> str:
    """The calibration errors before and after, as a table."""
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
        f"* each image by a map that was fitted without it, in {fit.folds} parts",
    ]  # fmt: skip
    if fit.shared:
        lines.append(f"few detections, so the map of all classes is taken: {_names(fit.shared)}")
    return "\n".join(lines)


def _whole(value: object) -> int:
    return int(str(value))


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"
