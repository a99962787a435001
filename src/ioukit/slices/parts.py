"""The parts of a data set: images or objects that are chosen by a column or a condition."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Flags
from ioukit._checks import pluralize
from ioukit.slices.columns import Column, Level, Values
from ioukit.slices.computed import SIZE, size_ranges
from ioukit.slices.expression import Expression
from ioukit.slices.match_tables import check_object_parts
from ioukit.slices.scene import Scene

Bins: TypeAlias = Mapping[str, int | Sequence[float] | Mapping[str, tuple[float, float]]]

_MOST_VALUES = 50
_FEW = 8
_QUANTILES = 4


@dataclass(frozen=True, eq=False)
class Part:
    """Some images, or some objects, of a data set."""

    by: str
    """The column or the condition."""
    value: str
    """The value or the range of the column; empty for a condition."""
    level: Level
    """Whether it is a part of the images or of the objects."""
    chosen: Flags
    """(J,) whether each image of the ground truth is chosen, or (G,) whether each object is."""
    can_be_in: Flags
    """(N,) whether each detection can belong to the chosen objects; empty for a part of the images."""
    can_be_out: Flags
    """(N,) whether each detection can belong to the other objects; empty for a part of the images."""

    @property
    def name(self) -> str:
        """What tables show."""
        return f"{self.by}: {self.value}" if self.value else self.by

    @property
    def shares_false_positives(self) -> bool:
        """Whether some detections can belong to the chosen objects and to the others."""
        return bool((self.can_be_in & self.can_be_out).any())


def parts_of(scene: Scene, by: str | Expression, bins: Bins | None = None) -> list[Part]:
    """The parts that a column or a condition makes.

    Args:
        scene: The data.
        by: The name of a column, ``"size"``, or a condition.
        bins: How columns of numbers are cut, by name: edges, named ranges, or a number of bins with equally many rows.

    Raises:
        ValueError: If there is no such column, the condition is invalid, the column has more than 50 values, or the
            bins are invalid.
    """
    bins = bins or {}
    if isinstance(by, str) and by in scene.columns:
        return list(_of_column(scene, scene.columns[by], by, bins.get(by)))
    if by == SIZE and "area" in scene.columns:
        ranges = bins.get(SIZE) or size_ranges(scene.evaluation.protocol)
        return list(_of_column(scene, scene.columns["area"], SIZE, ranges))
    if isinstance(by, str) and by.isidentifier():
        scene.column(by)  # raises the error with similar names
    listed = str(by).split(",")
    if len(listed) > 1 and all(one.strip() == SIZE or one.strip() in scene.columns for one in listed):
        raise ValueError(f"{by!r} names {len(listed)} columns: ask for each by itself")
    return [_of_condition(scene, Expression(by) if isinstance(by, str) else by)]


def listed_parts(scene: Scene, asked: Sequence[str | Expression], bins: Bins | None) -> list[Part]:
    """The parts that columns and conditions make, in order.

    Raises:
        ValueError: As :func:`parts_of`, and if bins are about a column that is not asked for.
    """
    check_bins(bins, asked)
    parts = [part for one in asked for part in parts_of(scene, one, bins)]
    if any(part.level == "object" for part in parts):
        check_object_parts(scene.evaluation.protocol)
    return parts


def notes_on_the_rest(scene: Scene, asked: Sequence[str | Expression], parts: Sequence[Part]) -> list[str]:
    """For each column, how many images or objects are in none of its parts."""
    table, notes = scene.evaluation.matches, []
    for by in asked:
        name = str(by) if by in scene.columns or by != SIZE else "area"
        column = None if isinstance(by, Expression) else scene.columns.get(name)
        if column is None:
            continue  # a condition says itself what it leaves out
        of_images = column.level == "image"
        rows = scene.evaluated if of_images else table.objects.row[~table.ignores(table.protocol.main_area)]
        chosen = np.zeros(scene.rows(column.level), np.bool_)
        for part in parts:
            chosen |= part.chosen if part.by == by else False
        if left := int((~chosen[rows]).sum()):
            counted = pluralize(len(rows), "image" if of_images else "object")
            notes.append(
                f"{left:,} of {counted} are in no slice of {by}: they have no value, or one outside of its ranges"
            )
    return notes


def check_bins(bins: Bins | None, asked: Sequence[str | Expression]) -> None:
    """Refuse bins about a column that makes no slices.

    Raises:
        ValueError: If there are some.
    """
    foreign = [name for name in bins or {} if name not in asked]
    if foreign:
        raise ValueError(f"bins for {foreign[0]!r}, which is not one of the columns that make slices")


def both(scene: Scene, first: Part, second: Part) -> Part:
    """The images or objects that are in two parts."""
    name = f"{first.name} and {second.name}"
    if first.level == second.level == "image":
        return _of_images(name, "", first.chosen & second.chosen)
    one, other = (as_objects(scene, part) for part in (first, second))
    return Part(
        name,
        "",
        "object",
        one.chosen & other.chosen,
        one.can_be_in & other.can_be_in,
        one.can_be_out | other.can_be_out,
    )


def as_objects(scene: Scene, part: Part) -> Part:
    """A part of the objects; of a part of the images, all objects on them."""
    if part.level == "object":
        return part
    images = Values(part.chosen, np.zeros(len(part.chosen), np.bool_), np.zeros(len(part.chosen), np.bool_))
    objects, detections = scene.on_images(images)
    inside = detections.data.astype(np.bool_)
    return Part(part.by, part.value, "object", objects.data.astype(np.bool_), inside, ~inside)


def _of_condition(scene: Scene, expression: Expression) -> Part:
    unknown = [name for name in expression.names if name not in scene.columns]
    if unknown:
        hint = [*scene.columns]
        raise expression.unknown_name(unknown[0], hint)
    if not expression.names:
        raise ValueError(f"expression {expression.text!r} names no column")
    levels = {scene.columns[name].level for name in expression.names}
    level: Level = "object" if "object" in levels else "image"
    found = expression.truth(lambda name: scene.values(name, level), scene.rows(level))
    if level == "image":
        return _of_images(expression.text, "", found.can_be_true)
    theirs = expression.truth(scene.values_of_detections, scene.num_detections)
    certain = theirs.can_be_true & ~theirs.can_be_false
    return Part(expression.text, "", "object", found.can_be_true, theirs.can_be_true, ~certain)


def _of_column(scene: Scene, column: Column, by: str, bins: Any) -> Iterator[Part]:
    values = scene.values(column.name, column.level)
    theirs = None if column.level == "image" else scene.values_of_detections(column.name)
    whole = all(map(_are_whole, [values] if theirs is None else [values, theirs]))
    for label, low, high in _cuts(by, values, bins, whole=whole):
        chosen = _within(values, low, high)
        if theirs is None:
            yield _of_images(by, label, chosen)
        else:
            inside = _within(theirs, low, high)
            yield Part(by, label, "object", chosen, inside | theirs.unknown, ~inside | theirs.unknown)


def _of_images(by: str, value: str, chosen: Flags) -> Part:
    none = np.zeros(0, np.bool_)
    return Part(by, value, "image", chosen, none, none)


def _within(values: Values, low: Any, high: Any) -> Flags:
    with np.errstate(invalid="ignore"):
        inside = (values.data >= low) & (values.data <= high) if values.kind == "number" else values.data == low
    return np.asarray(inside & values.known, np.bool_)


def _are_whole(values: Values) -> bool:
    """Whether all values are whole numbers."""
    known = values.data[values.known]
    return values.kind == "number" and bool((known == np.floor(known)).all())


def _cuts(by: str, values: Values, bins: Any, *, whole: bool) -> Iterator[tuple[str, Any, Any]]:
    """The label, the lowest and the highest value of each part; ``whole`` if detections have whole numbers, too."""
    known = values.data[values.known]
    if values.kind != "number" and bins is not None:
        raise ValueError(f"column {by!r} holds {values.kind}s, so it has no bins")
    if values.kind == "flag":
        yield from (("yes", True, True), ("no", False, False))
        return
    if values.kind == "text":
        found = np.unique(known).tolist()
        if len(found) > _MOST_VALUES:
            raise ValueError(
                f"column {by!r} has {len(found):,} values, and at most {_MOST_VALUES} parts are made: "
                f"choose some with a condition, such as {by} in ({found[0]!r}, {found[1]!r})"
            )
        yield from ((value, value, value) for value in found)
        return
    if isinstance(bins, Mapping):
        for label, (low, high) in bins.items():
            if not float(low) <= float(high):
                raise ValueError(f"bin {label!r} of {by!r} must go from a lower to a higher number, got {low}, {high}")
            yield str(label), float(low), float(high)
        return
    distinct = np.unique(known)
    if bins is None and len(distinct) <= _FEW and _are_whole(values):
        yield from ((f"{value:g}", value, value) for value in distinct.tolist())
        return
    # Edges that are asked for stay in the names, by which programs find slices.
    chosen = bins is None or isinstance(bins, int | np.integer)
    yield from _between(_edges(by, known, bins), whole=whole and chosen)


def _edges(by: str, known: npt.NDArray[np.float64], bins: Any) -> list[float]:
    if bins is None or isinstance(bins, int | np.integer):
        count = _QUANTILES if bins is None else int(bins)
        if not 1 <= count <= _MOST_VALUES:
            raise ValueError(f"the number of bins of {by!r} must be from 1 to {_MOST_VALUES}, got {count}")
        if not len(known):
            return []
        finite = np.sort(known[np.isfinite(known)])
        if not len(finite):
            return [-math.inf, math.inf]
        edges = np.unique(np.quantile(finite, np.arange(1, count) / count))
        if count > 1 and edges[-1] == finite[0] < finite[-1]:  # most rows have the lowest value
            edges = np.append(edges, finite[np.searchsorted(finite, finite[0], "right")])
        below = np.searchsorted(finite, edges)
        inner = edges[np.diff(below, prepend=0) > 0].tolist()  # no range without a value
        return [-math.inf, *inner, math.inf]
    given = np.asarray(bins, np.float64)
    if given.ndim != 1 or len(given) < 2 or np.isnan(given).any() or not (given[1:] > given[:-1]).all():
        raise ValueError(f"edges of the bins of {by!r} must be at least two rising numbers, got {bins!r}")
    return [float(edge) for edge in given]


def _between(edges: Sequence[float], *, whole: bool) -> Iterator[tuple[str, float, float]]:
    """The ranges between edges: each includes its lower edge, and the last one also its upper edge.

    Of whole numbers, labels say the lowest and the highest one: "1 to 2" and "3 to 4", not "1 to 3" and "3 to 4".
    """
    for at, (low, high) in enumerate(itertools.pairwise(edges)):
        end = high if at == len(edges) - 2 else math.nextafter(high, -math.inf)
        first, last = (np.ceil(low), np.floor(end)) if whole and np.ceil(low) <= np.floor(end) else (low, high)
        if math.isinf(low) and math.isinf(high):
            label = "any"
        elif math.isinf(low):
            label = f"below {_number(np.ceil(high) if whole else high)}"
        elif math.isinf(high):
            label = f"{_number(first)} and more"
        else:
            label = _number(first) if first == last else f"{_number(first)} to {_number(last)}"
        yield label, low, end


def _number(value: float) -> str:
    size = abs(value)
    return f"{value:,.0f}" if 1000 <= size < 1e9 else f"{value:.4g}"
