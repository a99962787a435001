"""Which marks and images a filter chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit.evaluation.analysis.tide import ERROR_KINDS
from ioukit.viewer.filters import BACKGROUND, CHANGES, OUTCOMES, Filter, Range
from ioukit.viewer.levels import (
    DETECTED,
    FALSE,
    IGNORED_DETECTION,
    IGNORED_OBJECT,
    MISSED,
    NOT_COUNTED,
    TRUE,
)
from ioukit.viewer.marks import Marks, Side, marks

if TYPE_CHECKING:
    from ioukit.viewer.collection import Collection
    from ioukit.viewer.values import Value

__all__ = [
    "OUTCOME_OF_KIND",
    "Failures",
    "Selection",
    "Tagged",
    "area_codes",
    "change_codes",
    "column_called",
    "error_codes",
    "failures",
    "flag_bits",
    "image_conditions",
    "image_failures",
    "issue_bits",
    "marks_of",
    "passing",
    "select",
]

OUTCOME_OF_KIND = np.zeros(NOT_COUNTED + 1, np.uint8)
"""The position in OUTCOMES of each kind of marks; their number for no mark."""
for _kind, _name in (
    (DETECTED, "detected"),
    (TRUE, "tp"),
    (FALSE, "fp"),
    (MISSED, "fn"),
    (IGNORED_OBJECT, "ignored"),
    (IGNORED_DETECTION, "ignored"),
):
    OUTCOME_OF_KIND[_kind] = OUTCOMES.index(_name)
OUTCOME_OF_KIND[NOT_COUNTED] = len(OUTCOMES)

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Tagged:
    """What a user tagged and noted, by images."""

    tags: Mapping[str, npt.NDArray[np.intp]] = field(default_factory=dict)
    """For each tag, the positions of the images that have it, themselves or one of their marks."""
    noted: npt.NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))
    """The positions of the images that have a note, themselves or one of their marks."""


@dataclass(frozen=True)
class Selection:
    """What a filter chooses."""

    images: Flags
    """(I,) the images that are shown."""
    objects: Flags
    """(G,) the objects that are chosen."""
    detections: Flags
    """(N,) the detections of the chosen model that are chosen."""
    filters_marks: bool
    """Whether the filter says something about marks. If not, all marks of the images are chosen."""


class Failures:
    """Which conditions each mark of a side fails: a bit for each condition."""

    def __init__(self, side: Side, names: Sequence[str]) -> None:
        """Start without failures, except of marks that do not count."""
        self.side, self.names = side, tuple(names)
        self.bits: npt.NDArray[np.uint32] = np.where(side.kind == NOT_COUNTED, np.uint32(1), np.uint32(0))

    def add(self, name: str, passed: Flags) -> None:
        """Note which marks pass a condition."""
        self.bits[~passed] |= self._bit(name)

    def chosen(self, *without: str) -> Flags:
        """Which marks pass all conditions but some."""
        left = np.uint32(0xFFFFFFFF)
        for name in without:
            if name in self.names:
                left &= ~self._bit(name)
        passed: Flags = (self.bits & left) == 0
        return passed

    def _bit(self, name: str) -> np.uint32:
        bit: np.uint32 = np.uint32(1 << (self.names.index(name) + 1))
        return bit


def marks_of(collection: Collection, chosen: Filter) -> list[Marks]:
    """The marks of all models at the filter's thresholds; those of the scene if there is no model.

    Raises:
        ValueError: If the protocol has no such IoU threshold.
    """
    return [
        marks(collection, model, chosen.at_iou, chosen.at_score) for model in collection.models or (collection.scene,)
    ]


def select(collection: Collection, chosen: Filter, tagged: Tagged | None = None) -> Selection:
    """Which marks of the chosen model and which images a filter chooses.

    Args:
        collection: What is shown.
        chosen: The filter.
        tagged: Tags and notes.

    Raises:
        ValueError: If the filter names what is not in the collection.
    """
    of_model = marks_of(collection, chosen)[collection.model_at(chosen.model)]
    images = passing(image_failures(collection, chosen, tagged or Tagged()))
    sides = [failures(collection, chosen, of_model, side) for side in (of_model.objects, of_model.detections)]
    objects, detections = (one.chosen() & images[one.side.image] for one in sides)
    filters_marks = bool(sides[0].names)
    if filters_marks:
        images = np.zeros(len(images), np.bool_)
        images[of_model.objects.image[objects]] = True
        images[of_model.detections.image[detections]] = True
    return Selection(images, objects, detections, filters_marks)


def conditions(collection: Collection, chosen: Filter) -> list[str]:
    """The conditions of a filter on marks, by the keys of the filter."""
    found = [
        name
        for name, given in (
            ("class", chosen.classes),
            ("outcome", chosen.outcome),
            ("error", chosen.error),
            ("cell", chosen.true or chosen.predicted),
            ("score", chosen.score),
            ("iou", chosen.iou),
            ("size", chosen.size),
            ("area", chosen.area),
            ("flag", chosen.flag),
            ("issue", chosen.issue),
            ("change", chosen.change),
        )
        if given
    ]
    return found + [f"column.{name}" for name in chosen.columns if column_called(collection, name).of == "object"]


def failures(collection: Collection, chosen: Filter, of_model: Marks, side: Side) -> Failures:
    """Which conditions of a filter each mark fails.

    Raises:
        ValueError: If the filter names what is not in the collection.
    """
    found = Failures(side, conditions(collection, chosen))
    for name in found.names:
        found.add(name, _passed(collection, chosen, of_model, side, name))
    return found


def _passed(collection: Collection, chosen: Filter, of_model: Marks, side: Side, name: str) -> Flags:
    """Which marks of a side pass a condition."""
    if name in ("score", "iou", "size"):
        values: npt.NDArray[Any] = side.score if name == "score" else side.iou if name == "iou" else np.sqrt(side.area)
        return _in_ranges(values, getattr(chosen, name))
    if name == "cell":
        return _in_cells(collection, chosen, of_model, side)
    if name.startswith("column."):
        column = column_called(collection, name.removeprefix("column."))
        return in_column(column, chosen.columns[column.name]) if side.is_object else np.zeros(len(side), np.bool_)
    if name in ("flag", "issue"):
        bits = flag_bits(collection, side) if name == "flag" else issue_bits(collection, of_model, side)
        issues = () if collection.issues is None else collection.issues.kinds
        known = collection.flags if name == "flag" else issues
        mask = sum({1 << _position(known, one, name) for one in getattr(chosen, name)})
        passed: Flags = (bits & np.uint8(mask)) != 0
        return passed
    return _with_code(collection, chosen, side, name)


def _with_code(collection: Collection, chosen: Filter, side: Side, name: str) -> Flags:
    """Which marks of a side pass a condition on a column of codes."""
    codes: npt.NDArray[Any]
    if name == "class":
        wanted = [place for one in chosen.classes for place in collection.classes_called(one)]
        codes, count = side.category, len(collection.categories)
    elif name == "outcome":
        wanted = [OUTCOMES.index(one) for one in chosen.outcome]
        codes, count = OUTCOME_OF_KIND[side.kind], len(OUTCOMES)
    elif name == "error":
        wanted = [ERROR_KINDS.index(one) for one in chosen.error]
        codes, count = error_codes(side), len(ERROR_KINDS)
    elif name == "area":
        codes, labels = area_codes(collection, side)
        wanted, count = [_position(labels, one, "area range") for one in chosen.area], len(labels)
    else:
        wanted = [CHANGES.index(one) for one in chosen.change]
        codes, count = change_codes(collection, chosen, side), len(CHANGES)
    return _among(count + 1, wanted)[codes]


def error_codes(side: Side) -> npt.NDArray[np.uint8]:
    """The kind of error of each mark that is an error: a position in ERROR_KINDS, their number for other marks."""
    return np.where((side.kind == FALSE) | (side.kind == MISSED), side.error, np.uint8(len(ERROR_KINDS)))


def image_failures(collection: Collection, chosen: Filter, tagged: Tagged) -> npt.NDArray[np.bool_]:
    """(C, I) for each condition on images whether each image fails it: those of :func:`image_conditions`."""
    names = image_conditions(collection, chosen)
    failed = np.zeros((len(names), len(collection.table.image_ids)), np.bool_)
    for row, name in enumerate(names):
        if name == "text":
            wanted = [words.casefold() for words in chosen.text]
            known = collection.folded_names
            failed[row] = [not any(words in image for words in wanted) for image in known]
        elif name == "tag":
            failed[row] = True
            for tag in chosen.tag:
                failed[row, tagged.tags.get(tag, np.zeros(0, np.intp))] = False
        elif name == "noted":
            failed[row] = bool(chosen.noted)
            failed[row, tagged.noted] = not chosen.noted
        else:
            column = column_called(collection, name.removeprefix("column."))
            failed[row] = ~in_column(column, chosen.columns[column.name])
    return failed


def passing(failed: npt.NDArray[np.bool_]) -> Flags:
    """(I,) which images fail none of some conditions (C, I)."""
    passed: Flags = ~np.logical_or.reduce(failed, axis=0)
    return passed


def image_conditions(collection: Collection, chosen: Filter) -> list[str]:
    """The conditions of a filter on images, by the keys of the filter."""
    given = (("text", bool(chosen.text)), ("tag", bool(chosen.tag)), ("noted", chosen.noted is not None))
    found = [name for name, is_given in given if is_given]
    return found + [f"column.{name}" for name in chosen.columns if column_called(collection, name).of == "image"]


def in_column(column: Value, wanted: Sequence[str]) -> Flags:
    """Which rows of a column have one of some texts, or lie in one of some ranges.

    Raises:
        ValueError: If the column has numbers and a text is no range, or if it has no such text.
    """
    if column.texts is None:
        return _in_ranges(column.values, [Range.parse(text, f"column.{column.name}") for text in wanted])
    places = [
        _position(column.texts, text, f"value of {column.name}") if text else len(column.texts) for text in wanted
    ]
    passed: Flags = _among(len(column.texts) + 1, places)[column.values]  # -1 is the last place
    return passed


def area_codes(collection: Collection, side: Side) -> tuple[npt.NDArray[np.uint8], list[str]]:
    """The area range of each mark, as in the library's tables: the narrowest one; and the labels of the ranges."""
    ranges = collection.area_ranges
    codes = np.full(len(side), len(ranges), np.uint8)
    for at, (_, low, high) in sorted(enumerate(ranges), key=lambda one: (one[1][2] - one[1][1], -one[1][1]))[::-1]:
        codes[(low <= side.area) & (side.area <= high)] = at
    return codes, [label for label, _, _ in ranges]


def flag_bits(collection: Collection, side: Side) -> npt.NDArray[np.uint8]:
    """The flags of each mark as bits, in the order of the collection's."""
    bits = np.zeros(len(side), np.uint8)
    if side.is_object:
        rows = collection.table.objects.row
        for at, name in enumerate(collection.flags):
            bits |= collection.ground_truth.flags[name][rows].astype(np.uint8) << at
    return bits


def issue_bits(collection: Collection, of_model: Marks, side: Side) -> npt.NDArray[np.uint8]:
    """The kinds of issues of each mark as bits."""
    issues = collection.issues
    if issues is None:
        return np.zeros(len(side), np.uint8)
    if side.is_object:
        return issues.objects
    at = next((at for at, model in enumerate(collection.models) if model is of_model.model), 0)
    return issues.detections[at] if at < len(issues.detections) else np.zeros(len(side), np.uint8)


def change_codes(collection: Collection, chosen: Filter, side: Side) -> npt.NDArray[np.uint8]:
    """What became of each object between the two models: positions in CHANGES, their number for other marks.

    Raises:
        ValueError: If there are no two models.
    """
    codes = np.full(len(side), len(CHANGES), np.uint8)
    if len(collection.models) < 2:
        raise ValueError("change needs two models")
    pair = chosen.models or (collection.models[0].name, collection.models[1].name)
    a, b = (
        marks(collection, collection.models[collection.model_at(name)], chosen.at_iou, chosen.at_score).objects
        for name in pair
    )
    if not side.is_object:
        return codes
    found_a, found_b = a.kind == DETECTED, b.kind == DETECTED
    listed = [found_b & ~found_a, found_a & ~found_b, found_a & found_b, ~found_a & ~found_b]
    codes = np.select(listed, np.arange(len(CHANGES), dtype=np.uint8)).astype(np.uint8)
    codes[a.kind == IGNORED_OBJECT] = len(CHANGES)
    return codes


def _in_cells(collection: Collection, chosen: Filter, of_model: Marks, side: Side) -> Flags:
    """Which marks are in the chosen rows and columns of the confusion matrix."""
    objects, detections = of_model.confused
    other = objects if side.is_object else detections
    own = side.category.astype(np.int64)
    true, predicted = (own, other) if side.is_object else (other, own)
    background = len(collection.categories)
    passed = other >= 0
    for names, values in ((chosen.true, true), (chosen.predicted, predicted)):
        if names:
            places = [
                place
                for name in names
                for place in ([background] if name == BACKGROUND else collection.classes_called(name))
            ]
            passed = passed & _among(background + 1, places)[values]
    return passed


def column_called(collection: Collection, name: str) -> Value:
    """The column of a name.

    Raises:
        ValueError: If there is none.
    """
    if name not in collection.values:
        raise ValueError(f"no column is called {name!r}; there are {', '.join(map(repr, collection.values)) or 'none'}")
    return collection.values[name]


def _position(known: Sequence[str], name: str, what: str) -> int:
    if name not in known:
        shown = ", ".join(map(repr, known[:8])) + (", ..." if len(known) > 8 else "")
        raise ValueError(f"there is no {what} {name!r}; there are {shown or 'none'}")
    return known.index(name)


def _among(count: int, places: Sequence[int]) -> Flags:
    """(count,) whether each place is among some."""
    listed = np.zeros(count, np.bool_)
    listed[list(places)] = True
    return listed


def _in_ranges(values: npt.NDArray[Any], ranges: Sequence[Range]) -> Flags:
    """Which values lie in one of some ranges; NaN lies in none."""
    passed = np.zeros(len(values), np.bool_)
    for low, high in ranges:
        passed |= (values >= values.dtype.type(low)) & (values <= values.dtype.type(high))
    return passed
