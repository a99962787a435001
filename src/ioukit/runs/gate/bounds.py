"""What the data show about numbers: bounds that they keep with some certainty.

A rule has one direction, so its bounds are one-sided: with a certainty of 95 %, the upper bound is the upper limit of
an interval with a level of 90 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ioukit.statistics.estimating import enough_groups, left_out, resampled
from ioukit.statistics.limits import find_limits
from ioukit.statistics.named_numbers import named_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ioukit.evaluation import Evaluation
    from ioukit.statistics.resampling import ImageGroups


_FEWEST, _MOST = 1000, 200_000
_BEYOND = 10  # replicates that must lie beyond a bound, so that it does not depend on a few of them


class Bounds(NamedTuple):
    """What a number is, and between what it is with some certainty."""

    value: float
    """The number; NaN if undefined."""
    low: float
    """The number of all images of this kind is higher, with this certainty; NaN if undefined."""
    high: float
    """It is lower."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """The replicates of some numbers of a candidate, and of a baseline if there is one."""

    keys: tuple[str, ...]
    """(Q,) the numbers."""
    observed: tuple[npt.NDArray[np.float64], ...]
    """For the candidate, and for the baseline: (Q,) the numbers."""
    replicates: tuple[npt.NDArray[np.float64], ...]
    """In the same way, (B, Q) the numbers of each replicate."""
    without: npt.NDArray[np.float64] | None
    """(I, Q) the numbers of the candidate without each image, for BCa; ``None`` if only differences are asked for."""
    groups: ImageGroups
    """The images."""

    @cached_property
    def _at(self) -> dict[str, int]:
        return {key: at for at, key in enumerate(self.keys)}

    def bounds(self, key: str, certainties: tuple[float, float], *, difference: bool) -> Bounds:
        """The bounds of a number of the candidate (BCa), or of its difference to the baseline (percentiles).

        These are the methods of :func:`ioukit.statistics.intervals` and :func:`ioukit.statistics.compare`: a number is
        biased, and in a difference the bias cancels.

        Args:
            key: The number.
            certainties: How certain the lower and the upper bound are.
            difference: Whether the difference is meant.
        """
        at = self._at[key]
        value, *of_baseline = (float(each[at]) for each in self.observed)
        drawn, without = self.replicates[0][:, at], None if self.without is None else self.without[:, at]
        if difference:
            value, drawn, without = value - of_baseline[0], drawn - self.replicates[1][:, at], None
        limits = [
            find_limits(value, drawn, 2 * certainty - 1, left_out=without, groups=self.groups.strata)
            for certainty in certainties
        ]
        return Bounds(value, limits[0].low, limits[1].high)


def gathered(
    evaluations: Sequence[Evaluation],
    keys: Sequence[str],
    *,
    replicates: int,
    seed: int,
    numbers_too: bool,
    threads: int | None,
) -> Evidence:
    """The evidence about some numbers. The images of a replicate are the same for all evaluations.

    Args:
        evaluations: The candidate, and the baseline if there is one.
        keys: The numbers.
        replicates: How many replicates of the bootstrap.
        seed: Of the random numbers.
        numbers_too: Whether bounds of the candidate's numbers are asked for, and not only those of differences.
        threads: How many threads; all cores if ``None``.

    Raises:
        ValueError: If there is no such number, or there are fewer than two images.
    """
    first = evaluations[0]
    numbers = named_numbers(first, keys)
    tables = [evaluation.matches for evaluation in evaluations]
    groups = enough_groups(first.matches, None, None)
    return Evidence(
        numbers.keys,
        tuple(numbers.observed(evaluation) for evaluation in evaluations),
        resampled(tables, numbers, groups, replicates, seed, threads).values,
        left_out(tables[:1], numbers, groups, threads)[0] if numbers_too else None,
        groups,
    )


def replicates_needed(error: float, asked: int | None, why: str) -> int:
    """How many replicates tell a bound that is exceeded with this probability.

    Args:
        error: The probability, of the rule with the smallest one.
        asked: How many the user wants, if any.
        why: What needs the small probability, for the message.

    Raises:
        ValueError: If the user wants too few, or too many would be needed.
    """
    needed = math.ceil(_BEYOND / error * (1 - 1e-9))  # of 1 - 0.95, which is a little below 0.05
    if asked is not None and asked < needed:
        raise ValueError(f"replicates is {asked:,}, but {why} needs at least {needed:,}")
    if asked is None and needed > _MOST:
        raise ValueError(
            f"{why} needs {needed:,} replicates, more than {_MOST:,}: choose fewer classes, or less certainty"
        )
    return max(_FEWEST, needed) if asked is None else asked
