"""The worst slices of a search as values that can be printed and written."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from ioukit._checks import pluralize
from ioukit._output import aligned, printable
from ioukit.slices.columns import Level
from ioukit.slices.results import csv_text, number_text, signed_text
from ioukit.statistics.detectable import alarm
from ioukit.statistics.estimating import defined

__all__ = ["WorstSlice", "WorstSlices"]


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
    """The share of the objects that count which it has, within [0, 1]."""
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
    """The lower limit of the difference, for this slice alone; NaN if its images form one cluster."""
    high: float
    """The upper limit of the difference, for this slice alone."""
    p_value: float
    """The probability of such a bad number by chance, if only this slice had been looked at; NaN if it is not known,
    as for objects that are all in one cluster."""
    adjusted_p_value: float
    """The probability that chance makes at least one of all slices look as bad."""


@dataclass(frozen=True)
class WorstSlices:
    """The result of :func:`ioukit.slices.worst_slices`."""

    slices: tuple[WorstSlice, ...]
    """The slices with the lowest adjusted p-values, the worst first; of equal p-values, the one furthest from chance
    first. Slices without a p-value come last."""
    looked_at: int
    """How many slices were looked at."""
    level: float
    """One minus the largest adjusted p-value of a slice that counts as found; and the probability of the limits."""
    least_objects: int
    """The least number of objects in a slice, and outside of it."""
    permutations: int
    """How many permutations the p-values are made of."""
    seed: int
    """The seed of the random numbers."""
    two_models: bool
    """Whether the slices are those on which a second model is worse than the first."""
    notes: tuple[str, ...] = ()
    """What was left out, and what a user should know about the data."""

    def __len__(self) -> int:
        return len(self.slices)

    def __iter__(self) -> Iterator[WorstSlice]:
        return iter(self.slices)

    @property
    def found(self) -> tuple[WorstSlice, ...]:
        """The slices that chance does not explain: their adjusted p-value is at most ``1 - level``."""
        return tuple(one for one in self.slices if one.adjusted_p_value <= alarm(self.level))

    def to_dict(self) -> dict[str, Any]:
        """All fields in plain Python values, ``None`` where a number is undefined."""
        return {
            "looked_at": self.looked_at,
            "found": len(self.found),
            "level": self.level,
            "least_objects": self.least_objects,
            "permutations": self.permutations,
            "seed": self.seed,
            "two_models": self.two_models,
            "slices": [
                {name: defined(value) if isinstance(value, float) else value for name, value in _row(one).items()}
                for one in self.slices
            ],
            "notes": list(self.notes),
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def to_csv(self) -> str:
        """A line per slice, every number to its last bit; an undefined number is empty."""
        return csv_text([_row(one) for one in self.slices])

    def table(self) -> str:
        """A line in words, then a row per slice; the line alone if no slice is large enough."""
        if not self.looked_at:
            least = pluralize(self.least_objects, "object")
            return f"no slice was compared: none has at least {least} inside and outside"
        compared = "the second model is worse than the first"
        if not self.two_models:
            compared = "the detector is worse than elsewhere"
        line = (
            f"{pluralize(self.looked_at, 'slice')} of at least {pluralize(self.least_objects, 'object')}: "
            f"on {len(self.found):,} of them {compared}, with {100 * self.level:.4g} % certainty for the whole search"
        )
        names = ("A", "B") if self.two_models else ("expected", "value")
        rows = [["slice", "images", "objects", "number", *names, "difference", "interval", "p", "adjusted p"]]
        for one in self.slices:
            interval = "-" if math.isnan(one.low) else f"{one.low:+.3f} to {one.high:+.3f}"
            rows.append(
                [
                    printable(one.name),
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
        return f"{line}\n{aligned(rows)}" if self.slices else line

    def __repr__(self) -> str:
        return f"WorstSlices({len(self.found)} found of {pluralize(self.looked_at, 'slice')})"


def _row(one: WorstSlice) -> dict[str, Any]:
    return {each.name: getattr(one, each.name) for each in fields(one)}
