"""What marks are filtered and counted by, and the conditions of a filter on marks and on images.

Owns: the keys (``outcome``, ``class``, a column of the user's): for each its values and the number that every mark has
there. A facet counts these numbers, and a condition looks them up, so that both agree on what a value is. Names of the
filter are looked up here, once per filter, and what the collection does not have is refused here.

Does not own: the spelling of filters (`filters.py`), the columns of marks (`marks.py`), which marks pass all conditions
(`selecting.py`). Scores, IoUs and sizes are the exception to the rule above: ranges compare the numbers themselves,
because the bins of a histogram are wider than a range may be.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Flags
from ioukit.evaluation.analysis.outcomes_by_score import DETECTED, IGNORED_OBJECT
from ioukit.evaluation.analysis.tide import ERROR_KINDS
from ioukit.viewer.answers.bins import IOU_EDGES
from ioukit.viewer.answers.filters import BACKGROUND, CHANGES, OUTCOMES, Filter, Range
from ioukit.viewer.answers.marks import Side, marks_at
from ioukit.viewer.answers.values import some_of

if TYPE_CHECKING:
    from ioukit.viewer.answers.collection import Collection
    from ioukit.viewer.answers.values import Value


Codes = npt.NDArray[Any]

_CHANGE_OF_FOUND = np.array(
    [[CHANGES.index("neither"), CHANGES.index("won")], [CHANGES.index("lost"), CHANGES.index("both")]], np.uint8
)
"""[found by the first model, found by the other] the position in CHANGES."""
_NEED_DETECTIONS = ("outcome", "error", "score", "iou", "true", "predicted", "change")
_NAMED = {name: name for name in ("outcome", "error", "area", "flag", "issue", "change")} | {"area": "area range"}
"""The keys of marks that have names, besides the class, and what a name stands for."""
_NOT_THERE = {
    "issue": "issue needs labels that were checked: start with --issues (in Python: issues=True)",
    "change": "change needs two models",
}
"""Why some keys may be missing."""
_NEED_NO_DETECTIONS = (("outcome", "detected"), ("outcome", "ignored"))
_NEED_SCORES = ("score", "at_score")


@dataclass(frozen=True)
class Tagged:
    """What a user tagged and noted, by images. Give the same object as long as nothing changes: selections are kept."""

    tags: Mapping[str, npt.NDArray[np.intp]] = field(default_factory=dict)
    """For each tag, the positions of the images that have it, themselves or one of their marks."""
    noted: npt.NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))
    """The positions of the images that have a note, themselves or one of their marks."""


class Key(NamedTuple):
    """Something that marks are counted by: a number for each mark."""

    name: str
    """The key of the filter."""
    codes: Callable[[Side], Codes]
    """The number of each mark: a position in the names, or the bin; their number for none."""
    names: Sequence[str] = ()
    """What the numbers stand for."""
    edges: npt.NDArray[np.float64] | None = None
    """The edges of the bins, if the numbers are bins of a histogram."""
    are_bits: bool = False
    """Whether a mark may have several names: the number holds a bit for each."""
    of_objects: bool = False
    """Whether detections have none."""

    @property
    def size(self) -> int:
        """All numbers are below this one."""
        return 256 if self.are_bits else len(self.names) + 1 if self.edges is None else len(self.edges)

    def passing(self, wanted: Sequence[int]) -> Callable[[Side], Flags]:
        """A test for the marks that have one of some names.

        Args:
            wanted: Positions of names.
        """
        passes = np.zeros(self.size, np.bool_)
        if self.are_bits:
            passes[:] = np.arange(self.size) & sum(1 << place for place in set(wanted))
        else:
            passes[list(wanted)] = True

        def test(side: Side) -> Flags:
            found: Flags = passes[self.codes(side)] if side.is_object or not self.of_objects else _none(side)
            return found

        return test


class Condition(NamedTuple):
    """A condition of a filter."""

    name: str
    """The key of the filter; ``cell`` for one on the confusion matrix."""
    test: Callable[[Any], Flags]
    """Which marks of a side pass; of a condition on images, which images pass, whatever is given."""


def keys_of_marks(collection: Collection, chosen: Filter) -> list[Key]:
    """What marks are counted by.

    Args:
        collection: What is shown.
        chosen: The filter, for the thresholds and the models of ``change``.
    """
    keys = [
        Key("outcome", lambda side: side.outcome, OUTCOMES),
        Key("error", lambda side: side.error, ERROR_KINDS),
        Key("area", lambda side: side.area_range, [label for label, _, _ in collection.protocol.size_ranges]),
        *(
            [Key("score", lambda side: side.score_bin, edges=collection.score_edges)]
            if collection.protocol.ranks
            else []
        ),
        Key("iou", lambda side: side.iou_bin, edges=IOU_EDGES),
        Key("size", lambda side: side.size_bin, edges=collection.size_edges),
        Key("class", lambda side: side.category, collection.categories.names),
    ]
    if collection.issues is not None:
        keys.append(Key("issue", lambda side: side.issue, collection.issues.kinds, are_bits=True))
    keys.append(Key("flag", lambda side: side.flag, collection.flags, are_bits=True, of_objects=True))
    if len(collection.models) > 1:
        keys.append(Key("change", lambda _: _change_codes(collection, chosen), CHANGES, of_objects=True))
    keys += [_key_of_column(value) for value in collection.values.values() if value.of == "object"]
    return keys


def _key_of_column(value: Value) -> Key:
    edges = value.edges if value.texts is None else None
    return Key(f"column.{value.name}", lambda _: value.codes, value.texts or (), edges, of_objects=True)


def conditions_on_marks(collection: Collection, chosen: Filter) -> list[Condition]:
    """The conditions of a filter on marks.

    Raises:
        ValueError: If the filter names what is not in the collection.
    """
    keys = {key.name: key for key in keys_of_marks(collection, chosen)}
    found = []
    if chosen.classes:  # what is not there is refused here
        places = [place for one in chosen.classes for place in collection.classes_called(one)]
        found.append(Condition("class", keys["class"].passing(places)))
    for name, what in _NAMED.items():
        wanted = getattr(chosen, name)
        if wanted and name not in keys:
            raise ValueError(_NOT_THERE[name])
        if wanted:
            places = [_position_of(keys[name].names, one, what) for one in wanted]
            found.append(Condition(name, keys[name].passing(places)))
    found += [
        Condition(name, functools.partial(_in_ranges_of, name, getattr(chosen, name)))
        for name in ("score", "iou", "size")
        if getattr(chosen, name)
    ]
    if chosen.true or chosen.predicted:
        found.append(Condition("cell", _in_cells(collection, chosen)))
    for name, texts in chosen.columns.items():
        column = column_called(collection, name)
        if column.of == "object":
            found.append(Condition(f"column.{name}", _of_objects(_in_column(column, texts))))
    return found


def conditions_on_images(collection: Collection, chosen: Filter, tagged: Tagged) -> list[Condition]:
    """The conditions of a filter on images.

    Raises:
        ValueError: If the filter names what is not in the collection.
    """
    count = len(collection.table.image_ids)
    found = []
    if chosen.text:
        words = [one.casefold() for one in chosen.text]
        named = np.array([any(one in name for one in words) for name in collection.folded_names], np.bool_)
        found.append(Condition("text", lambda _: named))
    if chosen.tag:
        rows = np.concatenate([tagged.tags.get(tag, np.zeros(0, np.intp)) for tag in chosen.tag])
        found.append(Condition("tag", lambda _: among(count, rows)))
    if chosen.noted is not None:
        found.append(Condition("noted", lambda _: among(count, tagged.noted) == chosen.noted))
    for name, wanted in chosen.columns.items():
        column = column_called(collection, name)
        if column.of == "image":
            found.append(Condition(f"column.{name}", _in_column(column, wanted)))
    return found


def check_scores(collection: Collection, chosen: Filter) -> None:
    """Refuse a filter or an order by scores where the protocol does not read them.

    Raises:
        ValueError: If there is one.
    """
    if collection.protocol.ranks:
        return
    for key, text in chosen.items():
        if key in _NEED_SCORES or (key, text) == ("sort", "score"):
            name = f"{key}={text}" if key == "sort" else key
            raise ValueError(f"{name} cannot be used: the protocol {collection.protocol.name!r} does not read scores")


def check_filter(collection: Collection, chosen: Filter) -> None:
    """Refuse a filter that the collection cannot answer, or that leaves out everything because there is no model.

    Raises:
        ValueError: If there is no such class, model, column, text, flag, issue, area range or IoU threshold, or if the
            filter needs detections, scores, two models or checked labels that are not there.
    """
    check_scores(collection, chosen)
    if not collection.models:
        for key, text in chosen.items():
            if key in _NEED_DETECTIONS and (key, text) not in _NEED_NO_DETECTIONS:
                raise ValueError(f"{key} needs detections: there is ground truth alone")
    conditions_on_marks(collection, chosen)
    conditions_on_images(collection, chosen, Tagged())
    for model in (chosen.model, *(chosen.models or ())):
        collection.model_at(model)
    if chosen.at_iou is not None:
        collection.protocol.position_of_iou(chosen.at_iou)
    if chosen.sort is not None and chosen.sort.startswith("column."):
        column_called(collection, chosen.sort.removeprefix("column."))


def column_called(collection: Collection, name: str) -> Value:
    """The column of a name.

    Raises:
        ValueError: If there is none.
    """
    if name not in collection.values:
        raise ValueError(f"no column is called {name!r}; there are {', '.join(map(repr, collection.values)) or 'none'}")
    return collection.values[name]


def _in_column(column: Value, wanted: Sequence[str]) -> Callable[[Any], Flags]:
    """A test for the rows of a column that have one of some texts, or lie in one of some ranges.

    An empty text stands for no text.

    Raises:
        ValueError: If the column has numbers and a text is no range, or if it has no such text.
    """
    if column.texts is None:
        ranges = [Range.parse(text, f"column.{column.name}") for text in wanted]
        return lambda _: _in_ranges(column.values, ranges)
    none = len(column.texts)  # -1 is the last place
    places = [_position_of(column.texts, text, f"value of {column.name}") if text else none for text in wanted]
    return lambda _: among(none + 1, places)[column.values]


def _of_objects(test: Callable[[Any], Flags]) -> Callable[[Side], Flags]:
    """The test of a column of objects, which no detection passes."""
    return lambda side: test(side) if side.is_object else _none(side)


def _in_cells(collection: Collection, chosen: Filter) -> Callable[[Side], Flags]:
    """A test for the marks in the chosen rows and columns of the confusion matrix."""
    background = len(collection.categories)

    def classes_among(names: Sequence[str]) -> Flags | None:
        places = [
            at for name in names for at in ([background] if name == BACKGROUND else collection.classes_called(name))
        ]
        return among(background + 1, places) if names else None

    in_row, in_column = classes_among(chosen.true), classes_among(chosen.predicted)

    def test(side: Side) -> Flags:
        other = side.confused
        true, predicted = (side.category, other) if side.is_object else (other, side.category)
        passed = other >= 0
        for wanted, values in ((in_row, true), (in_column, predicted)):
            if wanted is not None:
                passed &= wanted[values]
        return passed

    return test


def _change_codes(collection: Collection, chosen: Filter) -> Codes:
    """What became of each object between the two models: positions in CHANGES, their number for ignored objects.

    They are those of :func:`ioukit.comparison.changes`: ``won`` are its objects found, of any class before.
    """
    pair = chosen.models or (collection.models[0].name, collection.models[1].name)
    a, b = (
        marks_at(collection, collection.models[collection.model_at(name)], chosen.at_iou, chosen.at_score).objects
        for name in pair
    )
    found_a, found_b = a.kind == DETECTED, b.kind == DETECTED
    codes: Codes = _CHANGE_OF_FOUND[found_a.view(np.uint8), found_b.view(np.uint8)]
    codes[a.kind == IGNORED_OBJECT] = len(CHANGES)
    return codes


def _position_of(known: Sequence[str], name: str, what: str) -> int:
    """The position of a name among some.

    Raises:
        ValueError: If it is not one of them; ``what`` says what they are.
    """
    if name not in known:
        raise ValueError(f"there is no {what} {name!r}; there are {some_of(known)}")
    return known.index(name)


def _none(side: Side) -> Flags:
    return np.zeros(len(side), np.bool_)


def among(count: int, places: Any) -> Flags:
    """(count,) whether each place is among some."""
    listed = np.zeros(count, np.bool_)
    listed[np.asarray(places, np.intp)] = True
    return listed


def _in_ranges_of(column: str, ranges: Sequence[Range], side: Side) -> Flags:
    return _in_ranges(getattr(side, column), ranges)


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
