"""The numbers of two models with their differences, and the words that explain them."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from ioukit._words_and_colours import ERROR_WORDS, overlap_name
from ioukit.comparison.words import corrected_by, signed_points
from ioukit.report._numbers import limits_text, measure_rows
from ioukit.report._texts import UNDEFINED, abbreviate, rounded, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ioukit.comparison import ModelPair, Parts
    from ioukit.evaluation import Evaluation
    from ioukit.statistics import Comparison, Difference


_MOST_PARTS = 3000  # of a list: about 100 KB of the page
_MINUS = "\N{MINUS SIGN}"
_WORDS = {
    "class": "The share of a class is the difference of its {key}, divided by the number of classes with objects.",
    "size": "Sizes are those of the objects; a false positive has its own.",
    "kind": (
        "A gain: {b} makes fewer errors of this kind, or errors that cost less. Order of scores: detections that are "
        "right in both models, with other scores."
    ),
    "image": "Images on which A and {b} have the same scores and outcomes have no share. Choose an image to see both.",
}


@dataclass(frozen=True)
class DifferenceRow:
    """A row of the table of numbers."""

    key: str
    words: str
    """IoU and area."""
    a: str
    b: str
    difference: str
    interval: str
    p_value: str
    verdict: str
    """``"gain"`` if the second model is better and the p-value is small enough, ``"loss"`` if the first is, otherwise
    ``"open"``."""
    span: tuple[float, float, float] | None
    """Left end and width of the interval and left end of the mark at the difference, as parts of a bar from 0 to 100;
    ``None`` if undefined."""


def in_points(value: float) -> str:
    """A difference in points, the unit of all differences of the page; a dash if it is undefined."""
    return UNDEFINED if math.isnan(value) else signed_points(value).replace("-", _MINUS)


def difference_rows(
    a: Evaluation, comparison: Comparison, p_corrected: float | None = None
) -> tuple[list[DifferenceRow], str]:
    """The rows of the table, and the value at the left end of the bars, empty if there are none.

    Args:
        a: The evaluation of the first model.
        comparison: The differences.
        p_corrected: The p-value of the main number, corrected for the number of pairs; ``None`` if there is only one.
    """
    known = {difference.key: difference for difference in comparison.differences}
    ends = [abs(end) for one in known.values() for end in (one.low, one.high) if not math.isnan(end)]
    most = max(ends, default=0.0)
    overlap, rows = overlap_name(a.matches.iou_type), []
    for measure, iou, area, _, _ in measure_rows(a):
        if measure.key in known:
            one = known[measure.key]
            if p_corrected is not None and measure.key == a.protocol.main_measure.key:
                one = dataclasses.replace(one, p_value=p_corrected)
            rows.append(
                DifferenceRow(
                    measure.key,
                    f"{overlap} {iou}" + ("" if measure.area_range in (None, a.protocol.main_area) else f", {area}"),
                    text(one.a),
                    text(one.b),
                    in_points(one.difference),
                    UNDEFINED if math.isnan(one.low) else f"{in_points(one.low)} to {in_points(one.high)}",
                    UNDEFINED if math.isnan(one.p_value) else f"{one.p_value:.3f}",
                    _verdict(one, lower_is_better=measure.lower_is_better),
                    _span(one, most),
                )
            )
    return rows, in_points(-most) if most else ""


def _verdict(one: Difference, *, lower_is_better: bool) -> str:
    if not one.is_significant or one.difference == 0:  # also if it is NaN
        return "open"
    return "gain" if (one.difference > 0) != lower_is_better else "loss"


def _span(one: Difference, most: float) -> tuple[float, float, float] | None:
    if not most or math.isnan(one.low) or math.isnan(one.high):
        return None

    def place(value: float) -> float:
        return min(100.0, max(0.0, 50 + 50 * value / most))

    return place(one.low), max(place(one.high) - place(one.low), 0.4), min(place(one.difference) - 0.7, 98.6)


class _OfSomeLists(TypedDict, total=False):
    """What the lists of classes and of images have besides."""

    a: list[float | None]
    """The number of each class of A."""
    b: list[float | None]
    p: list[float | None]
    """The corrected p-value of each class."""
    images: list[int]
    """The place of each image on the page."""


class PartList(_OfSomeLists):
    """One split of a difference: the largest parts in their order, and the sum of the others."""

    title: str
    one: str
    """The word for one part."""
    many: str
    words: str
    """What the parts are, for the reader."""
    names: list[str]
    values: list[float]
    left: int
    """How many parts the others are."""
    rest: float


def part_lists(
    pair: ModelPair, letter: str, parts: Parts, names: Sequence[str], images: Mapping[int, int], titles: Sequence[str]
) -> list[PartList]:
    """The splits of the difference, for the script of the page.

    Args:
        pair: The models.
        letter: The letter of the second one.
        parts: The parts of the difference of their main number.
        names: The name of each category.
        images: From the position of an image in the match tables to its position on the page.
        titles: The name of each image, by its position on the page.
    """
    key, areas = parts.key, {area.label: limits_text(area) for area in pair.a.protocol.area_ranges}
    words = {name: sentence.format(key=key, b=letter) for name, sentence in _WORDS.items()}
    whole = f"{letter} {_MINUS} A = {in_points(parts.difference)} points of {key}, split into parts that add up to it. "
    of_class, order = _list(("Class", "class", "classes"), names, parts.classes, whole + words["class"])
    of_class["a"], of_class["b"] = (
        rounded([evaluation.per_class[k].summary[key] for k in order]) for evaluation in (pair.a, pair.b)
    )
    tested = {one.category_id: one.p_adjusted for one in pair.comparison.per_class.get(key, ())}
    if tested:
        of_class["p"] = rounded([tested.get(pair.a.per_class[k].id, math.nan) for k in order])
        if method := corrected_by(pair.comparison.correction):
            of_class["words"] += f" The p-values are corrected for the number of classes by the method of {method}"
            of_class["words"] += ", and for that of the pairs of models." if pair.p_corrected is not None else "."
    sizes = [f"{abbreviate(label)} ({areas[label]})" if label in areas else "other sizes" for label in parts.sizes]
    of_size, _ = _list(("Size", "size", "sizes"), sizes, [*parts.sizes.values()], whole + words["size"])
    lists = [of_class, of_size]
    if parts.kinds is not None:
        title, kinds = ("Kind of error", "kind", "kinds"), [_kind_title(kind) for kind in parts.kinds]
        lists.append(_list(title, kinds, [*parts.kinds.values()], whole + words["kind"])[0])
    changed = np.array([row for row in np.flatnonzero(parts.images).tolist() if row in images], np.int64)
    place = [images[row] for row in changed.tolist()]
    of_image, order = _list(
        ("Image", "image", "images"), [titles[k] for k in place], parts.images[changed], whole + words["image"]
    )
    of_image["images"] = [place[k] for k in order]
    return [*lists, of_image]


def _list(title: tuple[str, str, str], names: Sequence[str], values: Any, words: str) -> tuple[PartList, list[int]]:
    """One split, and which of the parts it lists.

    Args:
        title: Its title, and the words for one part and for several.
        names: The name of each part.
        values: The parts.
        words: What the parts are, for the reader.
    """
    numbers = np.asarray(values, np.float64)
    order = np.sort(np.argsort(-np.abs(numbers), kind="stable")[:_MOST_PARTS])
    left = np.delete(numbers, order)
    listed: list[int] = order.tolist()
    split: PartList = {
        "title": title[0],
        "one": title[1],
        "many": title[2],
        "words": words,
        "names": [names[k] for k in listed],
        "values": [float(f"{value:.9g}") for value in numbers[order].tolist()],
        "left": len(left),
        "rest": float(left.sum()),
    }
    return split, listed


def _kind_title(kind: str) -> str:
    if kind == "score":
        return "Order of scores"
    return f"{ERROR_WORDS[kind].name} ({ERROR_WORDS[kind].plain})"
