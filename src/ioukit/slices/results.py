"""Numbers of slices, and the worst slices of a search, as values that can be printed, written and drawn."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from ioukit._checks import pluralize
from ioukit._notebook import Shown
from ioukit._output import aligned, printable, spreadsheet_text
from ioukit._plain_values import plain_value
from ioukit._words_and_colours import percent, shorten_apart
from ioukit.slices.columns import Level
from ioukit.statistics import Interval
from ioukit.statistics.detectable import alarm

FEWEST_CLUSTERS = 5
"""On how many images, or clusters, the objects of a slice with limits are. On fewer, limits would be so wide that they
tell little: those of a difference would hold in 99 to 100 %."""
SPLIT = "it differs within a cluster"
"""The end of a note on a column that makes no slices of images."""
_SHARED = (
    "* detections without a match count as false positives in these slices and in the rest, because nobody knows where "
    "they belong"
)
_NOT_COMPARED = f"{_SHARED}, so they have no difference to the rest (-); compare them between models"
_NO_INTERVAL = (
    f"no interval (-): the objects that count are in fewer than {FEWEST_CLUSTERS} images or clusters, or no image "
    "changes the number"
)
_PLAIN = ("name", "by", "value", "level", "images", "objects", "share", "shares_false_positives")
"""The fields of a slice that are no numbers of the detector."""


@dataclass(frozen=True, eq=False)
class Slice:
    """A part of a data set, and the numbers of the detector on it."""

    name: str
    """The column and its value, or the condition."""
    by: str
    """The column, or the condition."""
    value: str
    """The value or the range of the column; empty for a condition."""
    level: Level
    """``"image"`` for a part of the images, ``"object"`` for a part of the objects."""
    images: int
    """How many images it has; of a part of the objects, how many have at least one of them."""
    objects: int
    """How many objects it has that count: without crowds and others that are ignored."""
    share: float
    """The share of the images, or of the objects, that it has, within [0, 1]."""
    shares_false_positives: bool
    """Whether detections without a match count as false positives of this slice and of the rest, because it is not
    known where they belong. AP is then too low in a small slice; recall does not depend on it."""
    numbers: Mapping[str, Interval]
    """The numbers of the slice by key, with intervals; without limits if its objects are in fewer than five images, or
    clusters, or if no image changes the number."""
    rest: Mapping[str, float]
    """The same numbers of all other images or objects."""
    differences: Mapping[str, Interval]
    """The numbers of the slice minus those of the rest, with intervals. AP of few images is higher than AP of many, by
    chance alone; so for a slice of images, the mean difference of random sets of as many images is taken off, if there
    are replicates. AP of few objects is higher in the same way, and is not corrected. NaN if the slice
    :attr:`shares_false_positives` and the number depends on them."""
    of_b: Mapping[str, Interval] = field(default_factory=dict)
    """The numbers of the second model on the slice, if there is one."""
    changes: Mapping[str, Interval] = field(default_factory=dict)
    """The numbers of the second model minus those of the first, with intervals."""

    def to_dict(self) -> dict[str, Any]:
        """The fields in plain Python values, ``None`` where a number is undefined."""
        fields: dict[str, Any] = {name: getattr(self, name) for name in _PLAIN}
        fields["share"] = plain_value(self.share)
        fields["numbers"] = _intervals(self.numbers)
        fields["rest"] = plain_value(self.rest)
        fields["differences"] = _intervals(self.differences)
        if self.of_b:
            fields["of_b"], fields["changes"] = _intervals(self.of_b), _intervals(self.changes)
        return fields

    def to_row(self) -> dict[str, Any]:
        """One row of a table: a column for each number, its limits, and its difference to the rest."""
        row: dict[str, Any] = {name: getattr(self, name) for name in _PLAIN}
        for key in self.numbers:
            row |= _limits(key, self.numbers[key])
            row[f"{key} rest"] = self.rest[key]
            row |= _limits(f"{key} difference", self.differences[key])
            if self.of_b:
                row |= _limits(f"{key} b", self.of_b[key]) | _limits(f"{key} change", self.changes[key])
        return row


@dataclass(frozen=True, eq=False)
class SliceNumbers(Shown):
    """The result of :func:`ioukit.slices.slice_numbers`."""

    slices: tuple[Slice, ...]
    """The slices, in the order in which they were asked for."""
    keys: tuple[str, ...]
    """The numbers that each slice has."""
    whole: Mapping[str, float]
    """The same numbers of the whole data set."""
    level: float
    """The probability that an interval holds the true number."""
    replicates: int
    """How many replicates the intervals are made of; 0 for none."""
    seed: int
    """The seed of the replicates."""
    notes: tuple[str, ...] = ()
    """What a user should know about the data."""
    whole_of_b: Mapping[str, float] = field(default_factory=dict)
    """The numbers of the second model on the whole data set, if there is one."""

    def __len__(self) -> int:
        return len(self.slices)

    def __iter__(self) -> Iterator[Slice]:
        return iter(self.slices)

    def __getitem__(self, name: str) -> Slice:
        """The slice of a name, such as ``"weather: rain"``.

        Raises:
            KeyError: If there is none.
        """
        for one in self.slices:
            if one.name == name:
                return one
        raise KeyError(f"no slice {name!r}; there are {', '.join(one.name for one in self.slices)}")

    def notebook_rows(self) -> tuple[Iterable[Any], int]:
        """One row per slice, with the first number alone; :meth:`to_csv` has all of them."""
        main = self.keys[0]
        rows = []
        for one in self.slices:
            row: dict[str, Any] = {"name": one.name, "images": one.images, "objects": one.objects}
            row |= _limits(main, one.numbers[main])
            if self.whole_of_b:
                row |= {f"{main} of B": one.of_b[main].value} | _limits("change", one.changes[main])
            else:
                row |= {f"{main} of the rest": one.rest[main]} | _limits("difference", one.differences[main])
            rows.append(row)
        return rows, len(rows)

    def to_dict(self) -> dict[str, Any]:
        """All fields in plain Python values, ``None`` where a number is undefined."""
        fields: dict[str, Any] = {
            "keys": list(self.keys),
            "level": self.level,
            "replicates": self.replicates,
            "seed": self.seed,
            "whole": plain_value(self.whole),
            "slices": [one.to_dict() for one in self.slices],
            "notes": list(self.notes),
        }
        if self.whole_of_b:
            fields["whole_of_b"] = plain_value(self.whole_of_b)
        return fields

    def to_json(self, *, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def to_csv(self) -> str:
        """A line per slice, every number to its last bit; an undefined number is empty."""
        return csv_text([one.to_row() for one in self.slices])

    def table(self, key: str | None = None, *, width: int | None = None) -> str:
        """One number of each slice as text.

        Args:
            key: The number that has its interval and its difference shown; the first one if ``None``. The others are
                shown alone.
            width: How long lines may be: columns are left out until they fit.
        """
        main = self.keys[0] if key is None else key
        others = [each for each in self.keys if each != main]
        two = bool(self.whole_of_b)
        head = ["slice", "images", "objects", "share", main, "interval"]
        head += ["B", "B - A", "interval"] if two else ["rest", "difference", "interval"]
        rows = [[*head, *others]]
        whole = ["whole data set", "", "", "", number_text(self.whole[main]), ""]
        whole += (
            [number_text(self.whole_of_b[main]), signed_text(self.whole_of_b[main] - self.whole[main]), ""]
            if two
            else [""] * 3
        )
        rows.append([*whole, *(number_text(self.whole[each]) for each in others)])
        intervals: list[Interval] = []
        for name, one in zip(_fitting(self.slices, width), self.slices, strict=True):
            number = one.numbers[main]
            row = [
                name + (" *" if one.shares_false_positives else ""),
                f"{one.images:,}",
                f"{one.objects:,}",
                percent(one.share, 1),
                number_text(number.value),
                _range(number),
            ]
            shown = one.changes[main] if two else one.differences[main]
            intervals += [number, shown]
            row += [
                number_text(one.of_b[main].value) if two else number_text(one.rest[main]),
                signed_text(shown.value),
                _range(shown),
            ]
            rows.append([*row, *(number_text(one.numbers[each].value) for each in others)])
        last = len(rows[0]) - 1
        lines = [aligned(rows, width=width, drop=[3, 1, *range(last, last - len(others), -1), 5, 2, 6])]
        if self.replicates:
            lines.append(f"intervals: {percent(self.level)}, for each slice alone")
            if not two and any(one.level == "image" for one in self.slices):
                # A reader who subtracts the printed numbers gets another difference.
                lines.append("differences of slices of images: less what random sets of as many images have")
            if not two and any(one.level == "object" for one in self.slices):
                lines.append("differences of slices of objects: not corrected, often too high")
            if any(math.isnan(one.low) and not math.isnan(one.value) for one in intervals):
                lines.append(_NO_INTERVAL)
        starred = [one for one in self.slices if one.shares_false_positives]
        if starred:
            compared = two or all(math.isfinite(one.differences[main].value) for one in starred)
            lines.append(_SHARED if compared else _NOT_COMPARED)
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"SliceNumbers({len(self.slices)} slices, {', '.join(self.keys)})"


def csv_text(rows: list[dict[str, Any]]) -> str:
    """Rows as CSV, with the names of the columns first; an undefined number is empty, and no text is a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if rows:
        writer.writerow(map(spreadsheet_text, rows[0]))
        for row in rows:
            writer.writerow(map(_field, row.values()))
    return text.getvalue()


def _field(value: Any) -> Any:
    if isinstance(value, str):
        return spreadsheet_text(value)
    return "" if isinstance(value, float) and math.isnan(value) else value


def _limits(key: str, interval: Interval) -> dict[str, float]:
    return {key: interval.value, f"{key} low": interval.low, f"{key} high": interval.high}


def _intervals(given: Mapping[str, Interval]) -> dict[str, dict[str, float | None]]:
    return {
        key: {name: plain_value(getattr(one, name)) for name in ("value", "low", "high", "standard_error", "undefined")}
        for key, one in given.items()
    }


def number_text(value: float) -> str:
    """A number with three digits; a dash if it is undefined."""
    return "-" if math.isnan(value) else f"{value:.3f}"


def signed_text(value: float) -> str:
    """The same with a sign."""
    return "-" if math.isnan(value) else f"{value:+.3f}"


def _fitting(slices: Sequence[Slice | WorstSlice], width: int | None) -> list[str]:
    """The names of slices for a table, of at most half a line each."""
    names = [printable(one.name) for one in slices]
    return names if width is None else shorten_apart(names, width // 2)


def _range(interval: Interval) -> str:
    if math.isnan(interval.low):
        return "-"
    return f"{interval.low:.3f} to {interval.high:.3f}"


@dataclass(frozen=True)
class WorstSlice:
    """A slice on which a number is worse than elsewhere: lower, or higher if it is a miss rate."""

    name: str
    """The columns and their values, or the condition."""
    level: Level
    """``"image"`` for a part of the images, ``"object"`` for a part of the objects."""
    images: int
    """How many images it has, or how many have at least one of its objects."""
    objects: int
    """How many objects it has that count."""
    share: float
    """The share of the images, or of the objects, that it has, within [0, 1]."""
    key: str
    """The number that was looked at."""
    value: float
    """The number on the slice; of the second model, if there is one."""
    expected: float
    """What it is compared with. For images: the mean of the number on random sets of as many images. For objects: the
    recall of all other objects, with the same weight of each class. With two models: the number of the first one."""
    difference: float
    """:attr:`value` minus :attr:`expected`."""
    low: float
    """The lower limit of the difference, for this slice alone; NaN if its objects are in one cluster. Of a slice of
    objects, NaN if they, or the others, are in fewer than 10 clusters."""
    high: float
    """The upper limit of the difference, for this slice alone."""
    p_value: float
    """The probability of such a bad number by chance, if only this slice had been looked at; NaN if it is not known,
    as for objects that are all in one cluster."""
    adjusted_p_value: float
    """The probability that chance makes at least one of all slices look as bad."""


@dataclass(frozen=True)
class WorstSlices(Shown):
    """The result of :func:`ioukit.slices.worst_slices`."""

    slices: tuple[WorstSlice, ...]
    """The slices with the lowest adjusted p-values, the worst first; of equal p-values, the one furthest from chance
    first. Slices without a p-value come last."""
    looked_at: int
    """How many slices were looked at."""
    not_compared: int
    """How many of these have no p-value though there may be a difference, so that nothing can be shown of them: as no
    class has objects inside and outside, or all objects are in one cluster."""
    level: float
    """One minus the largest adjusted p-value of a slice that counts as found; and the probability of the limits."""
    least_objects: int
    """The least number of objects in a slice, and outside of it."""
    permutations: int
    """How many permutations the p-values are made of."""
    permutations_needed: int
    """How many a slice needs to be found at this level, whatever the data."""
    seed: int
    """The seed of the random numbers."""
    two_models: bool
    """Whether the slices are those on which a second model is worse than the first."""
    num_found: int
    """How many slices chance does not explain."""
    notes: tuple[str, ...] = ()
    """What was left out, and what a user should know about the data."""

    def __len__(self) -> int:
        return len(self.slices)

    def __iter__(self) -> Iterator[WorstSlice]:
        return iter(self.slices)

    @property
    def found(self) -> tuple[WorstSlice, ...]:
        """The slices that chance does not explain: their adjusted p-value is at most ``1 - level``. All are listed."""
        return tuple(one for one in self.slices if one.adjusted_p_value <= alarm(self.level))

    def to_dict(self) -> dict[str, Any]:
        """All fields in plain Python values, ``None`` where a number is undefined."""
        return {
            "looked_at": self.looked_at,
            "not_compared": self.not_compared,
            "found": self.num_found,
            "level": self.level,
            "least_objects": self.least_objects,
            "permutations": self.permutations,
            "permutations_needed": self.permutations_needed,
            "seed": self.seed,
            "two_models": self.two_models,
            "slices": [{name: plain_value(value) for name, value in _row(one).items()} for one in self.slices],
            "notes": list(self.notes),
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def to_csv(self) -> str:
        """A line per slice, every number to its last bit; an undefined number is empty."""
        return csv_text([_row(one) for one in self.slices])

    def table(self, *, width: int | None = None) -> str:
        """A line in words, then a row per slice, and what to know of them; the line alone if no slice is large enough.

        Args:
            width: How long lines may be: columns are left out until they fit.
        """
        if not self.looked_at:
            least = pluralize(self.least_objects, "object")
            which = " that differs within no cluster" if any(note.endswith(SPLIT) for note in self.notes) else ""
            return f"no slice was compared: none{which} has at least {least} inside and outside"
        lines = [self._verdict()]
        if self.slices:
            lines.append(aligned(self._rows(width), width=width, drop=(8, 1, 4, 5, 7, 2)))
        if named := ", ".join(printable(one.name) for one in self.found if one.low <= 0 <= one.high):
            lines.append(f"the adjusted p-value decides, though the interval contains 0: {named}")
        return "\n".join(lines)

    def _verdict(self) -> str:
        sure = f"with {percent(self.level)} certainty for the whole search"
        slices = f"{pluralize(self.looked_at, 'slice')} of at least {pluralize(self.least_objects, 'object')}"
        if self.not_compared:
            slices += f", of which {self.not_compared:,} cannot be compared"
        if self.permutations < self.permutations_needed:
            few = pluralize(self.permutations, "permutation")
            return f"{slices}: {few} cannot show any, {sure}; at least {self.permutations_needed:,} are needed"
        compared = "the second model is worse there than the first"
        if not self.two_models:
            compared = "the detector is worse there than elsewhere"
        return (
            f"{slices}: {self.num_found or 'none'} {'show' if self.num_found > 1 else 'shows'} that {compared}, {sure}"
        )

    def _rows(self, width: int | None) -> list[list[str]]:
        names = ("A", "B") if self.two_models else ("expected", "value")
        rows = [["slice", "images", "objects", "measure", *names, "difference", "interval", "p", "adjusted p"]]
        for name, one in zip(_fitting(self.slices, width), self.slices, strict=True):
            interval = "-" if math.isnan(one.low) else f"{one.low:+.3f} to {one.high:+.3f}"
            rows.append(
                [
                    name,
                    f"{one.images:,}",
                    f"{one.objects:,}",
                    one.key,
                    number_text(one.expected),
                    number_text(one.value),
                    signed_text(one.difference),
                    interval,
                    number_text(one.p_value),
                    number_text(one.adjusted_p_value),
                ]
            )
        return rows

    def __repr__(self) -> str:
        return f"WorstSlices({self.num_found} found of {pluralize(self.looked_at, 'slice')})"


def _row(one: WorstSlice) -> dict[str, Any]:
    return {each.name: getattr(one, each.name) for each in fields(one)}
