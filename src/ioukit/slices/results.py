"""Numbers of slices as values that can be printed, written and drawn."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ioukit._output import aligned, printable, spreadsheet_text
from ioukit.slices.columns import Level
from ioukit.statistics import Interval
from ioukit.statistics.estimating import defined

__all__ = ["Slice", "SliceNumbers", "csv_text", "number_text", "signed_text"]

_SHARED = (
    "* detections without a match count as false positives in these slices and in the rest, because nobody knows where "
    "they belong; compare their AP between models, not with other slices"
)


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
    """The numbers of the slice by key, with intervals; without limits if its images form one cluster."""
    rest: Mapping[str, float]
    """The same numbers of all other images or objects."""
    differences: Mapping[str, Interval]
    """The numbers of the slice minus those of the rest, with intervals. AP of few images is higher than AP of many, by
    chance alone; so for a slice of images, the mean difference of random sets of as many images is taken off, if there
    are replicates. AP of few objects is higher in the same way, and is not corrected."""
    of_b: Mapping[str, Interval] = field(default_factory=dict)
    """The numbers of the second model on the slice, if there is one."""
    changes: Mapping[str, Interval] = field(default_factory=dict)
    """The numbers of the second model minus those of the first, with intervals."""

    def to_dict(self) -> dict[str, Any]:
        """The fields in plain Python values, ``None`` where a number is undefined."""
        fields: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("name", "by", "value", "level", "images", "objects", "share", "shares_false_positives")
        }
        fields["share"] = defined(self.share)
        fields["numbers"] = _intervals(self.numbers)
        fields["rest"] = {key: defined(value) for key, value in self.rest.items()}
        fields["differences"] = _intervals(self.differences)
        if self.of_b:
            fields["of_b"], fields["changes"] = _intervals(self.of_b), _intervals(self.changes)
        return fields

    def to_row(self) -> dict[str, Any]:
        """One row of a table: a column for each number, its limits, and its difference to the rest."""
        row: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("name", "by", "value", "level", "images", "objects", "share", "shares_false_positives")
        }
        for key in self.numbers:
            row |= _limits(key, self.numbers[key])
            row[f"{key} rest"] = self.rest[key]
            row |= _limits(f"{key} difference", self.differences[key])
            if self.of_b:
                row |= _limits(f"{key} b", self.of_b[key]) | _limits(f"{key} change", self.changes[key])
        return row


@dataclass(frozen=True, eq=False)
class SliceNumbers:
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

    def to_dict(self) -> dict[str, Any]:
        """All fields in plain Python values, ``None`` where a number is undefined."""
        fields: dict[str, Any] = {
            "keys": list(self.keys),
            "level": self.level,
            "replicates": self.replicates,
            "seed": self.seed,
            "whole": {key: defined(value) for key, value in self.whole.items()},
            "slices": [one.to_dict() for one in self.slices],
            "notes": list(self.notes),
        }
        if self.whole_of_b:
            fields["whole_of_b"] = {key: defined(value) for key, value in self.whole_of_b.items()}
        return fields

    def to_json(self, *, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def to_csv(self) -> str:
        """A line per slice, every number to its last bit; an undefined number is empty."""
        return csv_text([one.to_row() for one in self.slices])

    def table(self, key: str | None = None) -> str:
        """One number of each slice as text.

        Args:
            key: The number that has its interval and its difference shown; the first one if ``None``. The others are
                shown alone.
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
        for one in self.slices:
            number = one.numbers[main]
            row = [
                printable(one.name) + (" *" if one.shares_false_positives else ""),
                f"{one.images:,}",
                f"{one.objects:,}",
                f"{100 * one.share:.1f} %",
                number_text(number.value),
                _range(number),
            ]
            shown = one.changes[main] if two else one.differences[main]
            row += [
                number_text(one.of_b[main].value) if two else number_text(one.rest[main]),
                signed_text(shown.value),
                _range(shown),
            ]
            rows.append([*row, *(number_text(one.numbers[each].value) for each in others)])
        lines = [aligned(rows)]
        if any(one.shares_false_positives for one in self.slices):
            lines.append(_SHARED)
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
        key: {name: defined(getattr(one, name)) for name in ("value", "low", "high", "standard_error", "undefined")}
        for key, one in given.items()
    }


def number_text(value: float) -> str:
    """A number with three digits; a dash if it is undefined."""
    return "-" if math.isnan(value) else f"{value:.3f}"


def signed_text(value: float) -> str:
    """The same with a sign."""
    return "-" if math.isnan(value) else f"{value:+.3f}"


def _range(interval: Interval) -> str:
    if math.isnan(interval.low):
        return "-"
    return f"{interval.low:.3f} to {interval.high:.3f}"
