"""The record of one number of two trackers."""

from __future__ import annotations

from typing import Any

from ioukit._columns import Frozen, record
from ioukit._plain_values import plain_values
from ioukit._words_and_colours import percent
from ioukit.statistics.detectable import alarm


@record(frozen=True, eq=False, repr=False)
class TrackDifference(Frozen):
    """One number of two trackers, and whether the difference can be chance."""

    key: str
    """Its name, such as ``"HOTA"``."""
    a: float
    """The number of the first tracker."""
    b: float
    """The number of the second tracker."""
    difference: float
    """``b - a``: above 0 if the number of the second tracker is higher."""
    low: float
    """The lower limit of the difference; NaN if a single sequence has the number, or if it is a ratio, objects, or if
    no sequence changes the difference: it then says nothing about others."""
    high: float
    """The upper limit of the difference."""
    level: float
    """The probability with which such limits hold the true difference, for example 0.95."""
    standard_error: float
    """The standard deviation of the difference over sets of as many sequences; NaN where the limits are."""
    p_value: float
    """The probability of a difference at least as large if the results of both trackers were exchanged in sequences at
    random: two-sided, by permutation. NaN if the number is undefined."""
    sequences_needed: int | None
    """How many sequences of the same kind would show this difference with a probability of 0.8, if it is the true one;
    more than there are if it is not significant. It is not corrected for the number of pairs. ``None`` if the
    difference is 0, or if it cannot be told: where so few sequences could not show any difference, or the p-value is
    about 1."""
    warnings: tuple[str, ...] = ()
    """Why the limits may hold the true difference less often than they say; empty if nothing is known."""

    @property
    def is_significant(self) -> bool:
        """Whether the p-value is at most ``1 - level``."""
        return self.p_value <= alarm(self.level)

    def to_dict(self) -> dict[str, Any]:
        """The fields in plain Python values, ``None`` where a number is undefined."""
        return plain_values(self)

    def __repr__(self) -> str:
        doubt = f" (doubtful: {'; '.join(self.warnings)})" if self.warnings else ""
        return (
            f"TrackDifference({self.key}: {self.a:.4f} to {self.b:.4f}, {self.difference:+.4f}, {percent(self.level)} "
            f"from {self.low:+.4f} to {self.high:+.4f}{doubt}, p={self.p_value:.3g})"
        )
