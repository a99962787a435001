"""Several models in the order of one number, and which of them cannot be told apart."""

from __future__ import annotations

import itertools
import string
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit._columns import Frozen, record
from ioukit._plain_values import plain_value
from ioukit.comparison.words import ranking_note, ranking_sentence
from ioukit.statistics import Difference, Interval, adjust_p_values
from ioukit.statistics.detectable import alarm


@record(frozen=True, eq=False, repr=False)
class Ranking(Frozen):
    """Models in the order of one number, the best first; those without the number come last."""

    key: str
    """The key of the number."""
    names: tuple[str, ...]
    """(N,) the names of the models."""
    intervals: tuple[Interval, ...]
    """(N,) the number of each model with its interval."""
    letters: tuple[str, ...]
    """(N,) the letters of the groups of each model: two models with no common letter differ significantly, two with a
    common letter cannot be told apart."""
    p_values: npt.NDArray[np.float64]
    """(N, N) the p-values of all pairs, corrected for the number of pairs; NaN for a model with itself."""
    level: float
    """Pairs with a corrected p-value of at most ``1 - level`` differ significantly."""
    correction: str
    """How the p-values are corrected."""
    permutations: int
    """How many permutations each p-value comes from."""
    shortage: str = ""
    """Why the tests cannot show any difference: too few images, clusters or permutations; empty if they can."""

    def p_value(self, first: str, second: str) -> float:
        """The corrected p-value of two models."""
        return float(self.p_values[self.names.index(first), self.names.index(second)])

    def verdict(self) -> str:
        """Which model is best, and which others cannot be told apart from it, in a sentence."""
        values = [one.value for one in self.intervals]
        return ranking_sentence(self.key, self.names, values, self.letters, self.shortage)

    def note(self) -> str:
        """What the letters mean, in a sentence or two."""
        return ranking_note(self.names, self.intervals, self.level, self.correction)

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python values, ``None`` where a number is undefined."""
        return {
            "key": self.key,
            "verdict": self.verdict(),
            "models": [
                {"name": name, "letters": letters, **interval.to_dict()}
                for name, letters, interval in zip(self.names, self.letters, self.intervals, strict=True)
            ],
            "p_values": plain_value(self.p_values.tolist()),
            "level": self.level,
            "correction": self.correction,
            "permutations": self.permutations,
            "shortage": self.shortage,
        }

    def __repr__(self) -> str:
        numbers = zip(self.names, self.intervals, self.letters, strict=True)
        return f"Ranking({self.key}: {', '.join(f'{name} {one.value:.4f} {mark}' for name, one, mark in numbers)})"


def ranking_of(
    intervals: Mapping[str, Interval],
    differences: Mapping[tuple[str, str], Difference],
    *,
    lower_is_better: bool,
    level: float,
    correction: Any,
    permutations: int,
    shortage: str,
) -> Ranking:
    """The models in the order of the number of the intervals.

    Args:
        intervals: The number of each model, by its name.
        differences: The difference of each pair of models, in the order of ``intervals``.
        lower_is_better: Whether a lower number is better, as a miss rate is.
        level: 1 minus the probability of a false alarm.
        correction: How p-values are corrected for the number of pairs.
        permutations: How many permutations each p-value comes from.
        shortage: See :attr:`Ranking.shortage`.
    """
    sign = 1 if lower_is_better else -1
    values = [one.value for one in intervals.values()]
    order = sorted(range(len(values)), key=lambda at: (np.isnan(values[at]), sign * values[at]))
    names = [list(intervals)[at] for at in order]
    pairs = list(itertools.combinations(range(len(names)), 2))
    given = [_of_pair(differences, names[first], names[second]).p_value for first, second in pairs]
    adjusted = adjust_p_values(given, correction)
    p_values = np.full((len(names), len(names)), np.nan)
    for (first, second), value in zip(pairs, adjusted.tolist(), strict=True):
        p_values[first, second] = p_values[second, first] = value
    apart = [pair for pair in pairs if p_values[pair] <= alarm(level)]
    return Ranking(
        intervals[names[0]].key,
        tuple(names),
        tuple(intervals[name] for name in names),
        _letters(len(names), groups_not_apart(len(names), apart)),
        p_values,
        level,
        correction,
        permutations,
        shortage,
    )


def groups_not_apart(count: int, apart: Sequence[tuple[int, int]]) -> list[tuple[int, ...]]:
    """The largest groups without two members that are apart, in the order of their first members.

    Two members that are not apart share at least one group; two that are apart share none. Every member has a group.

    Args:
        count: How many members there are: 0 to ``count - 1``.
        apart: The pairs of members that are apart.

    Reference: Piepho, An Algorithm for a Letter-Based Representation of All-Pairwise Comparisons, Journal of
    Computational and Graphical Statistics 13, 2004: insert and absorb.

    Examples:
        >>> from ioukit.comparison.ranking_models import groups_not_apart
        >>> groups_not_apart(3, [(0, 2)])
        [(0, 1), (1, 2)]
    """
    groups = [frozenset(range(count))] if count else []
    for pair in apart:
        split = [group for group in groups if group.issuperset(pair)]
        groups = [group for group in groups if group not in split]
        for part in (group - {member} for group in split for member in pair):
            if not any(part <= other for other in groups):
                groups = [other for other in groups if not other < part] + [part]
    return sorted(tuple(sorted(group)) for group in groups)


def _of_pair(differences: Mapping[tuple[str, str], Difference], first: str, second: str) -> Difference:
    return differences[first, second] if (first, second) in differences else differences[second, first]


def _letters(count: int, groups: Sequence[tuple[int, ...]]) -> tuple[str, ...]:
    """(N,) the letters of each member; with more than 26 groups, numbers."""
    alphabet = string.ascii_lowercase
    marks = alphabet if len(groups) <= len(alphabet) else [f"{place} " for place in range(1, len(groups) + 1)]
    return tuple(
        "".join(mark for mark, group in zip(marks, groups, strict=False) if at in group).strip() for at in range(count)
    )
