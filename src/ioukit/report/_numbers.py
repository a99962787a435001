"""The numbers of the report with the words that explain them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypedDict

import numpy as np

from ioukit._checks import pluralize
from ioukit._words_and_colours import ERROR_WORDS, overlap_name, percent
from ioukit.evaluation import REGION_KINDS, Measure, value_of
from ioukit.evaluation.protocols import NO_CAP
from ioukit.evaluation.why_ignored import cap_title
from ioukit.report._limits import class_keys
from ioukit.report._texts import (
    UNDEFINED,
    abbreviate,
    class_name,
    iou_text,
    rounded,
    score_text,
    text,
    value_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ioukit.evaluation import AreaRange, ErrorKinds, Evaluation, OperatingPoint, Protocol, ScoreCurves
    from ioukit.report._limits import Limits


_LARGEST = 1e10  # where COCO's ranges "all" and "large" end


@dataclass(frozen=True)
class Tile:
    """A number of the headline."""

    name: str
    value: str
    """The number as text; ``"undefined"`` if it is undefined."""
    meaning: str


@dataclass(frozen=True)
class Cell:
    """A number of a table."""

    text: str
    value: float | None
    """The number to sort the table by; ``None`` if it is undefined."""
    bar: bool = False
    limits: Limits | None = None


@dataclass(frozen=True)
class Bar:
    """A row of a table that has a bar."""

    name: str
    plain: str
    """The name in plain words; may be empty."""
    words: str
    numbers: tuple[str, ...]
    share: float
    """Length of the bar, within [0, 1]."""


def lead(
    title: str,
    evaluation: Evaluation,
    best: OperatingPoint | None,
    errors: ErrorKinds | None,
    limits: Mapping[str, Limits],
) -> str:
    """How good the detector is, which errors cost most, and what it does at its best score threshold."""
    protocol = evaluation.protocol
    objects = int(evaluation.matches.num_objects[:, protocol.position_of_area(protocol.main_area)].sum())
    found = len(evaluation.matches)
    if not objects:
        return "There are no objects, so precision, recall and all numbers computed from them are undefined."
    if not found:
        return f"The detector finds 0 of {pluralize(objects, 'object')}: there are no detections."
    if best is None or math.isnan(best.score):
        return f"The detector finds 0 of {pluralize(objects, 'object')} with {pluralize(found, 'detection')}."
    what = (
        f"finds {percent(best.recall, 1)} of the objects, and {percent(best.precision, 1)} of its detections are right."
    )
    sentence = _main_sentence(title, evaluation, errors, limits)
    if not protocol.ranks:
        return f"{sentence} At {_overlap(evaluation)} {iou_text(protocol.main_iou)}, it {what}"
    return f"{sentence} At the score threshold with the highest F1, {score_text(best.score)}, it {what}"


def _overlap(evaluation: Evaluation) -> str:
    return overlap_name(evaluation.matches.iou_type)


def _main_sentence(title: str, evaluation: Evaluation, errors: ErrorKinds | None, limits: Mapping[str, Limits]) -> str:
    key = evaluation.protocol.main_measure.key
    sure = f" ({limits[key].words})" if key in limits else ""
    sentence = f"{title} has {key} {value_text(evaluation.summary[key])}{sure}"
    if errors is None:
        return f"{sentence}."
    kind, loss = max(((kind, errors.delta_ap[kind]) for kind in ERROR_WORDS), key=lambda pair: pair[1])
    if not loss > 0:  # NaN too
        return f"{sentence}."
    name, plain, _ = ERROR_WORDS[kind]
    return (
        f"{sentence}, and the kind of error that costs most is {name.lower()} ({plain}): without it, AP at "
        f"{_overlap(evaluation)} {iou_text(errors.iou_threshold)} would be {loss:.3f} higher."
    )


def headline(evaluation: Evaluation, curves: ScoreCurves, best: OperatingPoint) -> list[Tile]:
    """The numbers to read first, each with a sentence."""
    protocol, summary = evaluation.protocol, evaluation.summary
    tiles = [
        Tile(measure.key, value_text(summary[measure.key]), _words(evaluation, measure))
        for measure in protocol.measures
        if measure.headline and protocol.defines(measure)
    ]
    if not protocol.ranks:
        return tiles
    words = "The highest F1 over all score thresholds"
    if not math.isnan(best.score):
        iou, score = iou_text(curves.iou_threshold), score_text(best.score)
        words += f": all classes together, {_overlap(evaluation)} {iou}, score threshold {score}"
    return [*tiles, Tile("Best F1", value_text(best.f1), f"{words}.")]


def _words(evaluation: Evaluation, measure: Measure) -> str:
    """The meaning of a measure, with the classes and thresholds that it is the mean over."""
    thresholds = evaluation.protocol.iou_thresholds
    listed, every = len(evaluation.per_class), evaluation.protocol.counts_undefined
    with_value = sum(every or not math.isnan(result.summary[measure.key]) for result in evaluation.per_class)
    classes = pluralize(with_value, "class")
    if with_value < listed:
        classes += f" with objects (of {listed:,})"
    overlap = _overlap(evaluation)
    over = f"{len(thresholds)} {overlap} thresholds from {iou_text(thresholds[0])} to {iou_text(thresholds[-1])}"
    if len(thresholds) == 1:
        over = f"{overlap} {iou_text(thresholds[0])}"
    return measure.words.replace("IoU", overlap).replace("{classes}", classes).replace("{thresholds}", over)


_QUANTITIES = {
    "AP": "average precision",
    "AR": "average recall",
    "MR": "miss rate",
    "JI": "Jaccard index",
    "AOS": "orientation similarity",
    "FROC": "sensitivity",
    "precision": "precision",
    "F1": "F1",
    "IoU": "mean IoU of matches",
    "LRP": "LRP error",
}


def quantity_words(measure: Measure, protocol: Protocol) -> str:
    """What a measure is, in words."""
    title = "recall" if measure.quantity == "AR" and not protocol.ranks else _QUANTITIES[measure.quantity]
    return f"{title} of all classes together" if measure.pooled else title


def measure_rows(evaluation: Evaluation) -> list[tuple[Measure, str, str, str, str]]:
    """The numbers of the protocol: the measure, its IoU, area range and cap in words, and its value."""
    protocol = evaluation.protocol
    first, last = protocol.iou_thresholds[0], protocol.iou_thresholds[-1]
    every = iou_text(first) if first == last else f"{iou_text(first)} to {iou_text(last)}"
    rows = []
    for measure in filter(protocol.defines, protocol.measures):
        iou, cap = measure.iou_threshold, protocol.cap_of(measure)
        words, area = every if iou is None else iou_text(iou), abbreviate(protocol.area_of(measure))
        counted = "all" if cap == NO_CAP else f"{cap:,}"
        rows.append((measure, words, area, counted, text(evaluation.summary[measure.key])))
    return rows


def class_table(
    evaluation: Evaluation, curves: ScoreCurves, limits: Mapping[str, Limits]
) -> tuple[list[str], list[tuple[str, list[Cell]]]]:
    """The columns, and for each class its name and cells."""
    protocol = evaluation.protocol
    main = protocol.main_measure.key
    keys = [
        measure.key
        for measure in protocol.measures
        if protocol.defines(measure) and measure.group is None and (measure.quantity == "AP" or measure.headline)
    ]
    of_classes = [limits.get(key) for key in class_keys(evaluation)]
    limited = [f"{main} from", f"{main} to"] if any(of_classes) else []
    rows = []
    for result, curve, limit in zip(evaluation.per_class, curves.per_class, of_classes, strict=True):
        best = curve.best
        ends = [math.nan, math.nan] if limit is None else [limit.low, limit.high]
        cells = []
        for key in keys:
            cell = _cell(result.summary[key])
            cells.append(replace(cell, bar=True, limits=limit) if key == main else cell)
            if key == main and limited:
                cells += map(_cell, ends)
        if protocol.ranks:
            score = Cell(UNDEFINED, None) if math.isnan(best.score) else Cell(score_text(best.score), best.score)
            cells += [_cell(best.f1), score]
        cells += [Cell(f"{number:,}", number) for number in (result.num_ground_truth, result.num_detections)]
        rows.append((class_name(result.name, result.id), cells))
    columns = [column for key in keys for column in (key, *(limited if key == main else []))]
    return [*columns, *(["best F1", "at score"] if protocol.ranks else []), "objects", "detections"], rows


def size_rows(evaluation: Evaluation, *, iou_threshold: float, score_threshold: float) -> list[Bar]:
    """AP and AR of every area range, its objects, and the missed objects and false positives at an operating point.

    A protocol that does not rank has F1 in the place of AP.
    """
    protocol, table = evaluation.protocol, evaluation.matches
    counts_here = table.detections.score >= score_threshold
    rows = []
    for k, area in enumerate(protocol.area_ranges):
        names: tuple[Literal["AP", "F1", "AR"], ...] = (main_quantity(protocol), "AR")
        ap, ar = (value_of(evaluation.curves, Measure(name, name, area_range=area.label)) for name in names)
        objects = int(table.num_objects[:, k].sum())
        counted = counts_here & ~table.is_ignored(iou_threshold, area.label)
        right = int((counted & table.is_true_positive(iou_threshold, area.label)).sum())
        counts = (objects, objects - right, int(counted.sum()) - right)
        numbers = (text(ap), text(ar), *(f"{count:,}" for count in counts))
        rows.append(Bar(abbreviate(area.label), "", limits_text(area), numbers, 0.0 if math.isnan(ap) else ap))
    return rows


def error_rows(errors: ErrorKinds, *, ranks: bool) -> list[Bar]:
    """The kinds of error, the costliest first; without a ranking, no error costs AP, and the most frequent is first."""
    if not ranks:
        largest = max(1, *(errors.counts[kind] for kind in ERROR_WORDS))
        frequent = sorted(ERROR_WORDS, key=lambda kind: -errors.counts[kind])
        return [Bar(*ERROR_WORDS[kind], (), errors.counts[kind] / largest) for kind in frequent]
    losses = {kind: errors.delta_ap[kind] for kind in ERROR_WORDS}
    most = max((loss for loss in losses.values() if not math.isnan(loss)), default=0.0)
    order = sorted(losses, key=lambda kind: (math.isnan(losses[kind]), -losses[kind]))
    rows = []
    for kind in order:
        name, plain, words = ERROR_WORDS[kind]
        share = losses[kind] / most if most > 0 and losses[kind] > 0 else 0.0
        rows.append(Bar(name, plain, words, (f"{errors.counts[kind]:,}", text(losses[kind], 4)), share))
    return rows


def main_quantity(protocol: Protocol) -> Literal["AP", "F1"]:
    """What the page shows by size and by IoU."""
    return "AP" if protocol.ranks else "F1"


class ApByIou(TypedDict):
    """AP at each IoU threshold, ``None`` where undefined; F1 if the protocol does not rank."""

    quantity: str
    thresholds: list[float]
    mean: list[float | None]
    """(T,) over the classes."""
    classes: list[list[float | None]]
    """(K, T) of each class."""


def by_iou(evaluation: Evaluation) -> ApByIou:
    """AP at each IoU threshold, of each class and of their mean, ``None`` where undefined; or F1, see `ApByIou`."""
    protocol = evaluation.protocol
    quantity = main_quantity(protocol)
    curves, thresholds = evaluation.curves, protocol.iou_thresholds
    area, cap = protocol.position_of_area(protocol.main_area), protocol.position_of_max_dets(protocol.main_max_dets)
    ap = curves.at("ap" if protocol.ranks else quantity, area, cap)  # (T, K)
    mean = np.array([value_of(curves, Measure(quantity, quantity, threshold)) for threshold in thresholds])
    of_classes = [rounded(column) for column in ap.T]
    return {"quantity": quantity, "thresholds": list(thresholds), "mean": rounded(mean), "classes": of_classes}


def settings(evaluation: Evaluation) -> list[tuple[str, str]]:
    """The settings of the evaluation."""
    protocol = evaluation.protocol
    areas = "; ".join(f"{abbreviate(area.label)}: {limits_text(area)}" for area in protocol.area_ranges)
    kind = evaluation.matches.iou_type
    title = f"{REGION_KINDS[kind].title} ({kind})" if kind in REGION_KINDS else kind
    rows = [
        ("Protocol", abbreviate(protocol.name)),
        ("Regions", abbreviate(title)),
        (f"{_overlap(evaluation)} thresholds", ", ".join(f"{threshold:.4g}" for threshold in protocol.iou_thresholds)),
        *([("Recalls", f"{len(protocol.recall_thresholds)}")] if protocol.ranks else []),
        (cap_title(protocol), ", ".join("all" if cap == NO_CAP else str(cap) for cap in protocol.max_dets)),
        ("Areas", areas),
    ]
    if protocol.class_agnostic:
        rows.append(("Classes", "a detection may match an object of any class"))
    return rows


def _cell(value: float) -> Cell:
    return Cell(UNDEFINED, None) if math.isnan(value) else Cell(f"{value:.3f}", value)


def limits_text(area: AreaRange) -> str:
    """The sizes of an area range in words, as squares of sides."""
    if area.high >= _LARGEST:
        return "every size" if area.low <= 0 else f"at least {_side(area.low)} px"
    start = "below" if area.low <= 0 else f"{_side(area.low)} to"
    return f"{start} {_side(area.high)} px"


def _side(area: float) -> str:
    side = math.sqrt(max(area, 0.0))
    return f"{side:.0f}²" if side.is_integer() else f"{area:g}"
