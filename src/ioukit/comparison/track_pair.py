"""The record of two trackers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from ioukit._checks import pluralize
from ioukit._columns import Frozen, record
from ioukit._plain_values import plain_value
from ioukit._words_and_colours import percent
from ioukit.comparison.drawn_sequences import TrackDifference, which_sequences
from ioukit.comparison.track_changes import OBJECT_CHANGES, changed_objects
from ioukit.comparison.words import (
    EQUAL,
    chance,
    contains,
    correction_words,
    digits_for,
    is_denied,
    outcome,
    points,
    with_error,
    would_tell_apart,
)
from ioukit.statistics.detectable import alarm, fewest_permutations
from ioukit.statistics.differences import find_difference

if TYPE_CHECKING:
    from ioukit.comparison.track_changes import TrackChanges
    from ioukit.tracks import TrackEvaluation


@record(frozen=True, eq=False, repr=False)
class TrackPair(Frozen):
    """Two trackers: the differences of their numbers, and what changed. ``pair["HOTA"]`` is one difference."""

    name_a: str
    """The name of A."""
    name_b: str
    """The name of B."""
    a: TrackEvaluation
    """The evaluation of A."""
    b: TrackEvaluation
    """The evaluation of B."""
    differences: tuple[TrackDifference, ...]
    """The differences of all numbers, B minus A, with intervals and p-values."""
    changes: TrackChanges
    """What became of the objects and of the switches of ids, in each sequence."""
    num_sequences: int
    """How many sequences have the main number: those without objects have no ``J&F``."""
    num_differing: int
    """In how many of these the trackers differ in what the main number is made of."""
    fewest_differing: int
    """In how many they must differ so that a p-value can be small enough, corrected as :attr:`p_corrected` is."""
    permutations: int
    """How many ways to exchange the results were tried."""
    is_every_permutation: bool
    """Whether these are all ways; otherwise they are random."""
    p_smallest: float
    """The smallest p-value that these sequences could show, corrected as :attr:`p_corrected` is."""
    p_corrected: float | None = None
    """The p-value of the main number, corrected for the number of pairs, NaN if the number is undefined; ``None`` if
    there are only two trackers."""

    def __getitem__(self, key: str) -> TrackDifference:
        return find_difference(self.differences, key)

    @property
    def names(self) -> tuple[str, str]:
        """The names of A and B."""
        return self.name_a, self.name_b

    @property
    def difference(self) -> TrackDifference:
        """The difference of the main number of the protocol, which decides which tracker is better."""
        return self[self.a.main]

    @property
    def sequence_key(self) -> str:
        """The number of single sequences: the main one, or else HOTA, as a sequence has no AP of whole tracks."""
        return self.a.main if all(self.a.main in one for one in self.a.sequences.values()) else "HOTA"

    @property
    def outcome(self) -> Literal["better", "worse", ""]:
        """What the test shows of B; empty if it cannot tell the two apart."""
        return outcome(self.difference, p_corrected=self.p_corrected)

    def verdict(self) -> str:
        """Which tracker has the better main number, HOTA for most protocols, in two or three sentences.

        By how much, and how often chance alone would show as much; or why nothing can be told. One sentence says that
        the numbers are equal.
        """
        (a, b), one = self.names, self.difference
        if abs(one.difference) < EQUAL:
            return f"{a} and {b} have the same {one.key}, {percent(one.a, 2)}."
        if math.isnan(one.difference):
            return f"{a} and {b} have no {one.key}: there is no object to find."
        count = self.num_sequences
        sequences = f"{pluralize(count, 'sequence')}{which_sequences(count, len(self.a.sequence_names))}"
        # Limits that may not hold stand only where their doubt stands, too.
        digits = digits_for(100 * abs(one.difference))
        size = points(one.difference, digits) if one.warnings else with_error(one)
        size += f" of {one.key} ({100 * one.a:.2f} to {percent(one.b, 2)})"
        side = "higher" if one.difference > 0 else "lower"
        if self.p_smallest > alarm(one.level):
            return f"With {sequences}{self._shortage()} {b} is {side} by {size}."
        is_every = self.is_every_permutation  # the data itself is one of them
        cases = chance(one.p_value, self.permutations - is_every, is_every=is_every)
        decides = correction_words(one, self.p_corrected)
        often = f"hance alone would show as much in {cases}{decides}."
        shown = self.outcome
        if is_denied(one, shown=bool(shown)) and not one.warnings:
            often += f" The p-value decides this, though the interval {contains(shown=bool(shown))} 0."
        if shown:
            return f"{b} is {shown} than {a} by {size}. C{often}"
        would = would_tell_apart(
            one.sequences_needed, is_shown=one.is_significant, is_corrected=self.p_corrected is not None
        )
        return f"{sequences} cannot tell {a} and {b} apart{would}. {b} is {side} by {size}, and c{often}"

    def _shortage(self) -> str:
        """Why no difference can be told from chance, however large."""
        key, level = self.difference.key, self.difference.level
        differing = f", in {self.num_differing} of which they differ in {key},"
        which = "" if self.num_differing == self.num_sequences else differing
        corrected = "" if self.p_corrected is None else ", corrected for the number of pairs by Holm's method"
        least = f"{self.fewest_differing} in which they differ"
        if self.num_differing >= self.fewest_differing:
            tests = round(self.p_smallest * (1 + self.permutations))
            least = f"{fewest_permutations(level, tests):,} permutations"
        return (
            f"{which} no difference can be told from chance: the smallest possible p-value is {self.p_smallest:.3g}"
            f"{corrected}. At least {least} are needed."
        )

    def notebook_caption(self) -> str:
        """Which tracker is better."""
        return self.verdict()

    def notebook_rows(self) -> tuple[Sequence[Any], int]:
        """One row per number."""
        rows = [
            {"": one.key, self.name_a: one.a, self.name_b: one.b, **one.notebook_values()} for one in self.differences
        ]
        return rows, len(rows)

    def to_dict(self) -> dict[str, Any]:
        """The pair in plain Python values, without the evaluations."""
        return {
            "a": self.name_a,
            "b": self.name_b,
            "main": self.a.main,
            "verdict": self.verdict(),
            "differences": [one.to_dict() for one in self.differences],
            "changes": self.changes.to_dict(),
            "changed_objects": [
                {
                    "sequence": self.a.sequence_names[at],
                    "class": name,
                    "track": track,
                    **dict(zip(OBJECT_CHANGES, counts, strict=True)),
                }
                for name, track, at, *counts in changed_objects(self.a, self.b)
            ],
            "num_sequences": self.num_sequences,
            "num_differing": self.num_differing,
            "fewest_differing": self.fewest_differing,
            "permutations": self.permutations,
            "is_every_permutation": self.is_every_permutation,
            "p_smallest": self.p_smallest,
            "p_corrected": plain_value(self.p_corrected),
        }

    def __repr__(self) -> str:
        one = self.difference
        return f"TrackPair({one.key}: {self.name_a} {one.a:.4f}, {self.name_b} {one.b:.4f}, p={one.p_value:.3g})"
