"""The results of a comparison of two models: records.

Owns: what every difference of two models has, of images, classes, seeds or sequences, and how it is found by its key.
Does not own: how differences are found (`comparing.py`, `seeds.py`, `comparison/drawn_sequences.py`), nor sentences
(`comparison/words.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, TypeVar

from ioukit._checks import pluralize
from ioukit._columns import Frozen, record
from ioukit._plain_values import plain_values
from ioukit._words_and_colours import percent
from ioukit.statistics.detectable import alarm


@record(frozen=True, eq=False, repr=False)
class ComparedNumber(Frozen):
    """One number of two models, and whether the difference can be chance."""

    key: str
    """Its name, such as ``"AP"`` or ``"AP50/person"``."""
    a: float
    """The number of the first model; NaN if undefined, as all others are then."""
    b: float
    """The number of the second model."""
    difference: float
    """``b - a``: above 0 if the number of the second model is higher."""
    low: float
    """The lower limit of the difference."""
    high: float
    """The upper limit of the difference."""
    level: float
    """The probability with which such limits hold the true difference, for example 0.95."""
    standard_error: float
    """The standard deviation of the difference over sets of as many images."""
    p_value: float
    """The probability of a difference at least as large if the detections of both models were exchanged at random:
    two-sided, by permutation."""

    @property
    def is_significant(self) -> bool:
        """Whether the p-value is at most ``1 - level``."""
        return self.p_value <= alarm(self.level)

    def notebook_values(self) -> dict[str, Any]:
        """What a notebook shows next to the two numbers."""
        return {"difference": self.difference, "low": self.low, "high": self.high, "p-value": self.p_value}

    def to_dict(self) -> dict[str, Any]:
        """The fields in plain Python values, ``None`` where a number is undefined."""
        return plain_values(self)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.key}: {self.a:.4f} to {self.b:.4f}, {self.difference:+.4f}, "
            f"{percent(self.level)} from {self.low:+.4f} to {self.high:+.4f}, p={self.p_value:.3g})"
        )


@record(frozen=True, eq=False, repr=False)
class Difference(ComparedNumber):
    """One number of two models, and what these images can tell of its difference."""

    detectable: float
    """The smallest true difference that this data would show with a probability of :attr:`power`. NaN if none would:
    there are too few images, clusters or permutations for a p-value of ``1 - level``, or the models differ in too few
    images."""
    power: float
    """See :attr:`detectable`."""
    images_needed: int | None
    """How many images of the same kind would show this difference with that probability, if it is the true one; more
    than there are if it is not significant. ``None`` if the difference is 0 or undefined, or no number of images would
    do with so few permutations."""
    method: str
    """How the limits were found: ``"t"``, of Student's t distribution."""
    undefined: float
    """The share of replicates in which the difference is undefined."""
    warnings: tuple[str, ...] = ()
    """See :attr:`Interval.warnings`."""
    vanished: Mapping[str, float] = field(default_factory=dict)
    """For a mean over categories: the share of replicates in which a category had no objects to find, for each category
    that vanished at least once. The mean is then over the others."""


@record(frozen=True, eq=False, repr=False)
class ClassDifference(ComparedNumber):
    """One number of one category of two models. Its limits are not corrected for the number of categories."""

    category: str
    """The name of the category, each once: with ``#`` and its id if others have the same, or it is empty."""
    category_id: int
    """Its id."""
    num_objects: int
    """Objects to find, without ignored ones."""
    p_adjusted: float
    """The p-value corrected for the number of categories, see ``correction`` of :func:`compare`."""
    method: str
    """How the limits were found, as :attr:`Difference.method`."""
    undefined: float
    """The share of replicates in which the difference is undefined, because no image with an object was drawn."""
    warnings: tuple[str, ...] = ()
    """See :attr:`Interval.warnings`."""

    @property
    def is_significant(self) -> bool:
        """Whether the corrected p-value is at most ``1 - level``."""
        return self.p_adjusted <= alarm(self.level)

    def __repr__(self) -> str:
        return (
            f"ClassDifference({self.key}/{self.category}: {self.difference:+.4f}, {percent(self.level)} from "
            f"{self.low:+.4f} to {self.high:+.4f}, p={self.p_adjusted:.3g} corrected)"
        )


_Difference = TypeVar("_Difference", bound=ComparedNumber)


def find_difference(differences: Sequence[_Difference], key: str) -> _Difference:
    """The difference of one number.

    Raises:
        KeyError: If there is none with this key.
    """
    for difference in differences:
        if difference.key == key:
            return difference
    known = ", ".join(difference.key for difference in differences)
    raise KeyError(f"the comparison has no number {key!r}; there are {known}")


@record(frozen=True, eq=False, repr=False)
class Comparison(Frozen):
    """The result of :func:`compare`: ``comparison["AP"]`` is one difference."""

    differences: tuple[Difference, ...]
    """One per key, in the order in which they were asked for."""
    per_class: Mapping[str, tuple[ClassDifference, ...]]
    """For each key of ``per_class``, one difference per category, sorted by id."""
    num_images: int
    """How many images both models were evaluated on."""
    num_clusters: int
    """How many clusters these images form; as many as images if no clusters were given."""
    replicates: int
    """How many replicates of the bootstrap were drawn."""
    permutations: int
    """How many permutations were made."""
    is_every_permutation: bool
    """Whether these are all ways to exchange the images, or clusters, on which the models differ, besides the data
    itself; otherwise they are random."""
    seed: int
    """The seed of both."""
    correction: str
    """How the p-values of categories are corrected for their number."""

    def __getitem__(self, key: str) -> Difference:
        return find_difference(self.differences, key)

    def notebook_rows(self) -> tuple[Iterable[Any], int]:
        """One row per number."""
        rows = [{"": one.key, "first": one.a, "second": one.b, **one.notebook_values()} for one in self.differences]
        return rows, len(rows)

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python values, ``None`` where a number is undefined."""
        return plain_values(self)

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{one.key} {one.difference:+.4f} (p={one.p_value:.3g})"
            for one in self.differences[:3]
            if not math.isnan(one.difference)
        )
        return f"Comparison({shown or 'no number is defined'}, {pluralize(self.num_images, 'image')})"
