"""The conditions of a filter: which marks and which images pass each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit.evaluation.analysis.tide import ERROR_KINDS
from ioukit.viewer.answers.filters import BACKGROUND, CHANGES, OUTCOMES, Filter, Range
from ioukit.viewer.answers.iou_levels import DETECTED, IGNORED_OBJECT
from ioukit.viewer.answers.marks import Detections, Marks, Side, marks_at
from ioukit.viewer.answers.values import some_of

if TYPE_CHECKING:
    from ioukit.viewer.answers.collection import Collection
    from ioukit.viewer.answers.values import Value

__all__ = [
    "Tagged",
    "change_codes",
    "column_called",
    "flag_bits",
    "image_conditions",
    "image_failures",
    "in_column",
    "issue_bits",
    "kinds_of_issues",
    "mark_conditions",
    "marks_passing",
    "position_of",
]

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Tagged:
    """What a user tagged and noted, by images. Give the same object as long as nothing changes: selections are kept."""

    tags: Mapping[str, npt.NDArray[np.intp]] = field(default_factory=dict)
    """For each tag, the positions of the images that have it, themselves or one of their marks."""
    noted: npt.NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))
    """The positions of the images that have a note, themselves or one of their marks."""


def mark_conditions(collection: Collection, chosen: Filter) -> list[str]:
    """The conditions of a filter on marks, by the keys of the filter; ``cell`` is one of the confusion matrix."""
    given = {
        "class": chosen.classes,
        "outcome": chosen.outcome,
        "error": chosen.error,
        "cell": chosen.true or chosen.predicted,
        "score": chosen.score,
        "iou": chosen.iou,
        "size": chosen.size,
        "area": chosen.area,
        "flag": chosen.flag,
        "issue": chosen.issue,
        "change": chosen.change,
    }
    columns = [f"column.{name}" for name in chosen.columns if column_called(collection, name).of == "object"]
    return [name for name, wanted in given.items() if wanted] + columns


def marks_passing(collection: Collection, chosen: Filter, of_model: Marks, side: Side, name: str) -> Flags:
    """Which marks of a side pass a condition.

    Args:
        collection: What is shown.
        chosen: The filter.
        of_model: The marks of the model.
        side: Its objects or detections.
        name: One of :func:`mark_conditions`.

    Raises:
        ValueError: If the filter names what is not in the collection.
    """
    if name in ("score", "iou", "size"):
        return _in_ranges(getattr(side, name), getattr(chosen, name))
    if name == "cell":
        return _in_cells(collection, chosen, of_model, side)
    if name.startswith("column."):
        column = column_called(collection, name.removeprefix("column."))
        passed = in_column(column, chosen.columns[column.name])
        return passed if side.is_object else np.zeros(len(side), np.bool_)
    if name in ("flag", "issue"):
        bits = flag_bits(collection, side) if name == "flag" else issue_bits(collection, of_model, side)
        known = collection.flags if name == "flag" else kinds_of_issues(collection)
        mask = sum({1 << position_of(known, one, name) for one in getattr(chosen, name)})
        found: Flags = (bits & np.uint8(mask)) != 0
        return found
    codes: npt.NDArray[Any]
    if name == "class":
        wanted = [place for one in chosen.classes for place in collection.classes_called(one)]
        codes, count = side.category, len(collection.categories)
    elif name == "outcome":
        codes, wanted, count = side.outcome, [OUTCOMES.index(one) for one in chosen.outcome], len(OUTCOMES)
    elif name == "error":
        codes, wanted, count = side.error, [ERROR_KINDS.index(one) for one in chosen.error], len(ERROR_KINDS)
    elif name == "area":
        labels = [label for label, _, _ in collection.area_ranges]
        codes, wanted = side.area_range, [position_of(labels, one, "area range") for one in chosen.area]
        count = len(labels)
    else:
        codes, wanted = change_codes(collection, chosen, side), [CHANGES.index(one) for one in chosen.change]
        count = len(CHANGES)
    return _among(count + 1, wanted)[codes]


def image_failures(collection: Collection, chosen: Filter, tagged: Tagged) -> npt.NDArray[np.bool_]:
    """(C, I) for each condition on images whether each image fails it: those of :func:`image_conditions`.

    Raises:
        ValueError: If the filter names what is not in the collection.
    """
    names = image_conditions(collection, chosen)
    failed = np.zeros((len(names), len(collection.table.image_ids)), np.bool_)
    for row, name in enumerate(names):
        if name == "text":
            wanted = [words.casefold() for words in chosen.text]
            failed[row] = [not any(words in image for words in wanted) for image in collection.folded_names]
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


def image_conditions(collection: Collection, chosen: Filter) -> list[str]:
    """The conditions of a filter on images, by the keys of the filter."""
    given = (("text", bool(chosen.text)), ("tag", bool(chosen.tag)), ("noted", chosen.noted is not None))
    found = [name for name, is_given in given if is_given]
    return found + [f"column.{name}" for name in chosen.columns if column_called(collection, name).of == "image"]


def in_column(column: Value, wanted: Sequence[str]) -> Flags:
    """Which rows of a column have one of some texts, or lie in one of some ranges; an empty text stands for no text.

    Raises:
        ValueError: If the column has numbers and a text is no range, or if it has no such text.
    """
    if column.texts is None:
        return _in_ranges(column.values, [Range.parse(text, f"column.{column.name}") for text in wanted])
    none = len(column.texts)  # -1 is the last place
    places = [position_of(column.texts, text, f"value of {column.name}") if text else none for text in wanted]
    passed: Flags = _among(none + 1, places)[column.values]
    return passed


def flag_bits(collection: Collection, side: Side) -> npt.NDArray[np.uint8]:
    """The flags of each mark as bits, in the order of the collection's."""
    return collection.flag_bits if side.is_object else np.zeros(len(side), np.uint8)


def issue_bits(collection: Collection, of_model: Marks, side: Side) -> npt.NDArray[np.uint8]:
    """The kinds of issues of each mark as bits."""
    issues = collection.issues
    if issues is None:
        return np.zeros(len(side), np.uint8)
    if not isinstance(side, Detections):
        return issues.objects
    at = next((at for at, model in enumerate(collection.models) if model is of_model.model), 0)
    if at >= len(issues.detections):
        return np.zeros(len(side), np.uint8)
    return issues.detections[at] if side.rows is None else issues.detections[at][side.rows]


def change_codes(collection: Collection, chosen: Filter, side: Side) -> npt.NDArray[np.uint8]:
    """What became of each object between the two models: positions in CHANGES, their number for other marks.

    They are those of :func:`ioukit.comparison.changes`: ``won`` are its objects found, of any class before.

    Raises:
        ValueError: If there are no two models.
    """
    if len(collection.models) < 2:
        raise ValueError("change needs two models")
    pair = chosen.models or (collection.models[0].name, collection.models[1].name)
    a, b = (
        marks_at(collection, collection.models[collection.model_at(name)], chosen.at_iou, chosen.at_score).objects
        for name in pair
    )
    if not side.is_object:
        return np.full(len(side), len(CHANGES), np.uint8)
    found_a, found_b = a.kind == DETECTED, b.kind == DETECTED
    listed = [found_b & ~found_a, found_a & ~found_b, found_a & found_b]
    codes: npt.NDArray[np.uint8] = np.select(listed, [np.uint8(at) for at in range(3)], np.uint8(3)).astype(np.uint8)
    codes[a.kind == IGNORED_OBJECT] = len(CHANGES)
    return codes


def _in_cells(collection: Collection, chosen: Filter, of_model: Marks, side: Side) -> Flags:
    """Which marks are in the chosen rows and columns of the confusion matrix."""
    other, of_detections = of_model.confused
    if isinstance(side, Detections):
        other = of_detections if side.rows is None else of_detections[side.rows]
    own = side.category
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
            passed &= _among(background + 1, places)[values]
    return passed


def column_called(collection: Collection, name: str) -> Value:
    """The column of a name.

    Raises:
        ValueError: If there is none.
    """
    if name not in collection.values:
        raise ValueError(f"no column is called {name!r}; there are {', '.join(map(repr, collection.values)) or 'none'}")
    return collection.values[name]


def kinds_of_issues(collection: Collection) -> tuple[str, ...]:
    """The kinds of issues of labels.

    Raises:
        ValueError: If nobody looked for them.
    """
    if collection.issues is None:
        raise ValueError("issue needs labels that were checked: start with --issues (in Python: issues=True)")
    return collection.issues.kinds


def position_of(known: Sequence[str], name: str, what: str) -> int:
    """The position of a name among some.

    Raises:
        ValueError: If it is not one of them; ``what`` says what they are.
    """
    if name not in known:
        raise ValueError(f"there is no {what} {name!r}; there are {some_of(known)}")
    return known.index(name)


def _among(count: int, places: Sequence[int]) -> Flags:
    """(count,) whether each place is among some."""
    listed = np.zeros(count, np.bool_)
    listed[list(places)] = True
    return listed


def _in_ranges(values: npt.NDArray[Any], ranges: Sequence[Range]) -> Flags:
    """Which values lie in one of some ranges; NaN lies in none. Limits are rounded to the precision of the values."""
    passed = np.zeros(len(values), np.bool_)
    for low, high in ranges:
        with np.errstate(over="ignore"):
            first, last = values.dtype.type(low), values.dtype.type(high)
        within = values >= first
        within &= values <= last
        passed |= within
    return passed
