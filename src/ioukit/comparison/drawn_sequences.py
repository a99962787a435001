"""Is a difference between two trackers more than the choice of sequences? What drawing and exchanging sequences says.

Frames of a sequence are alike, so the unit is a whole sequence: it is drawn, left out or exchanged with all its frames,
for both trackers together. Numbers of such data are computed from the sums of what is counted in their sequences.

Sequences are few, and two things follow:

- If two trackers are equally good, either could have made the result of a sequence. So the test exchanges their results
  in some sequences. With S sequences in which they differ there are 2 ** S ways, and the opposite of each has the same
  size. All 2 ** (S - 1) are tried if they are not too many. No p-value is below one of them.
- The limits are those of Student's t, with the mean of the variances of bootstrap and jackknife: so few sequences need
  both. `benchmarks/tracks_simulation.py` measures how often they hold.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit._checks import pluralize
from ioukit._columns import record
from ioukit._words_and_colours import percent
from ioukit.statistics.correction import ROUNDING, adjust_p_values
from ioukit.statistics.detectable import alarm, images_needed
from ioukit.statistics.differences import ComparedNumber
from ioukit.statistics.resampling import ImageGroups
from ioukit.statistics.spread import jackknifed, variances
from ioukit.statistics.student import t_quantile
from ioukit.tracks.draws import DRAWN_TUBE_KEYS, counts_behind, drawn_numbers, has_number
from ioukit.tracks.measures import RATIOS

if TYPE_CHECKING:
    from ioukit._array_types import Floats
    from ioukit.tracks.measures import Values

_FEW = 30
"""With no more sequences, limits are doubtful. Where lengths or differences vary much, those of 21 sequences hold in 87
to 91 % of the cases in which no sequence stands out (`benchmarks/tracks_simulation.py`)."""
_FEW_DF = 10
"""With fewer degrees of freedom, too."""


@record(frozen=True, eq=False, repr=False)
class TrackDifference(ComparedNumber):
    """One number of two trackers, and what these sequences can tell of its difference.

    Sequences are drawn, and exchanged between the trackers. The limits are NaN, and with them the standard error, if a
    single sequence has the number, or if it is a ratio, objects; or if no sequence changes the difference: it then says
    nothing about others.
    """

    sequences_needed: int | None
    """How many sequences of the same kind would show this difference with a probability of 0.8, if it is the true one;
    more than there are if it is not significant. It is not corrected for the number of pairs. ``None`` if the
    difference is 0, or if it cannot be told: where so few sequences could not show any difference, or the p-value is
    about 1."""
    warnings: tuple[str, ...] = ()
    """Why the limits may hold the true difference less often than they say; empty if nothing is known."""

    def notebook_values(self) -> dict[str, Any]:
        """What a notebook shows next to the two numbers."""
        return {**super().notebook_values(), "doubt of the limits": "; ".join(self.warnings)}

    def __repr__(self) -> str:
        doubt = f" (doubtful: {'; '.join(self.warnings)})" if self.warnings else ""
        return (
            f"TrackDifference({self.key}: {self.a:.4f} to {self.b:.4f}, {self.difference:+.4f}, {percent(self.level)} "
            f"from {self.low:+.4f} to {self.high:+.4f}{doubt}, p={self.p_value:.3g})"
        )


class Limits(NamedTuple):
    """The limits of a difference."""

    error: float
    """The standard error."""
    low: float
    """The lower limit."""
    high: float
    """The upper limit."""
    warnings: tuple[str, ...] = ()
    """Why they may hold less often than they say."""


class Exchanges(NamedTuple):
    """Which ways to exchange the results of two trackers the test tries."""

    differing: tuple[int, ...]
    """The sequences in which the trackers differ; only these are exchanged."""
    tried: int
    """How many ways are tried."""
    is_every: bool
    """Whether these are all."""

    @property
    def smallest_p_value(self) -> float:
        """The smallest p-value that there can be."""
        return 1 / self.tried if self.is_every else 1 / (1 + self.tried)


class Measured(NamedTuple):
    """What drawing and exchanging sequences says of a number."""

    difference: TrackDifference
    """Its difference."""
    sequences: int
    """How many sequences have the number."""
    exchanges: Exchanges
    """What the test tried, of these sequences."""


def measured_differences(
    a: Sequence[Values],
    b: Sequence[Values],
    numbers: Mapping[str, tuple[float, float]],
    *,
    level: float,
    replicates: int,
    permutations: int,
    seed: int,
) -> dict[str, Measured]:
    """The differences of combined numbers, by their keys.

    Each comes from the sequences that have the number; only those are exchanged in which the trackers differ in it.

    Args:
        a: (S,) the numbers of A in each sequence.
        b: (S,) those of B in the same sequences.
        numbers: The combined number of A, and that of B, by their keys.
        level: The probability of the limits, and 1 minus that of a false alarm.
        replicates: How many replicates of the bootstrap.
        permutations: How many ways to exchange results are tried at most.
        seed: The seed of both.
    """
    by_counts: dict[tuple[str, ...], list[str]] = {}
    for key in numbers:
        by_counts.setdefault(counts_behind(key, a[0]), []).append(key)
    groups: dict[tuple[tuple[int, ...], Exchanges], list[str]] = {}
    for names, those in by_counts.items():
        chosen = tuple(at for at, part in enumerate(a) if has_number(those[0], part))
        of_a, of_b = ([parts[at] for at in chosen] for parts in (a, b))
        groups.setdefault((chosen, exchanges_of(of_a, of_b, permutations, names)), []).extend(those)
    found = {}
    for (chosen, exchanges), those in groups.items():
        of_a, of_b = ([parts[at] for at in chosen] for parts in (a, b))
        which = which_sequences(len(chosen), len(a))
        limits = limits_of_differences(of_a, of_b, those, level=level, replicates=replicates, seed=seed, which=which)
        tests = tests_of_differences(of_a, of_b, those, exchanges, level=level, seed=seed)
        for key, (error, low, high, warnings), (share, needed) in zip(those, limits, tests, strict=True):
            here, there = numbers[key]
            p_value = math.nan if math.isnan(there - here) else share
            known = key, here, there, there - here, low, high, level, error, p_value
            found[key] = Measured(TrackDifference(*known, needed, warnings), len(chosen), exchanges)
    return found


def which_sequences(chosen: int, every: int) -> str:
    """What follows the word sequences if not all of them have a number."""
    return "" if chosen == every else " with objects"


def exchanges_of(
    a: Sequence[Values], b: Sequence[Values], permutations: int, names: Sequence[str] | None = None
) -> Exchanges:
    """What is tried: all ways if there are not more than so many permutations, or else so many random ones.

    Args:
        a: (S,) the numbers of A in each sequence.
        b: (S,) those of B in the same sequences.
        permutations: How many ways at most.
        names: In which of the numbers they must differ; in any, if ``None``.
    """
    pairs = zip(a, b, strict=True)
    differing = tuple(
        at for at, (one, other) in enumerate(pairs) if _differ(one, other, one if names is None else names)
    )
    every = 2 ** max(len(differing) - 1, 0)  # an exchange and its opposite have the same size
    return Exchanges(differing, min(every, permutations), every <= permutations)


def fewest_sequences(level: float, others: Sequence[float] = ()) -> int:
    """In how many sequences trackers must differ so that a p-value can be at most ``1 - level``.

    Args:
        level: The level.
        others: The p-values of other pairs of trackers; Holm's method then corrects the p-value for their number.
    """
    count = 1
    while adjust_p_values([0.5 ** (count - 1), *others])[0] > alarm(level):
        count += 1
    return count


def limits_of_differences(
    a: Sequence[Values],
    b: Sequence[Values],
    keys: Sequence[str],
    *,
    level: float,
    replicates: int,
    seed: int,
    which: str = "",
) -> list[Limits]:
    """(Q,) the limits of the differences of combined numbers.

    They are NaN for a single sequence, and those of ratios for a single one with objects. They are NaN, too, where no
    sequence changes the difference: nothing then tells how others would.

    Args:
        a: (S,) the numbers of A in each sequence.
        b: (S,) those of B in the same sequences.
        keys: (Q,) which numbers.
        level: The probability of the limits.
        replicates: How many replicates of the bootstrap.
        seed: Its seed.
        which: Which sequences these are, see :func:`which_sequences`.
    """
    count = len(a)
    if count < 2:
        return [Limits(np.nan, np.nan, np.nan)] * len(keys)
    groups = _groups(count)
    weights = groups.bootstrap(seed, 0, replicates).astype(np.float64)
    drawn = _apart(a, b, weights, keys)
    objects, is_ratio = np.array([part["GT_Dets"] for part in a]), np.isin(keys, (*RATIOS, *DRAWN_TUBE_KEYS))
    drawn[np.ix_(weights @ objects == 0, is_ratio)] = np.nan  # without objects, a ratio says nothing
    left_out = groups.left_out(seed)
    left = left_out.weights(0, len(left_out.stratum)).astype(np.float64)
    # As many sequences as there are: counts would be smaller without one, and so would their variance.
    left *= count / left.sum(axis=1, keepdims=True)
    jackknife, df = jackknifed(_apart(a, b, left, keys), left_out.stratum)
    errors = np.sqrt((variances(drawn) * count / (count - 1) + jackknife) / 2)
    if np.count_nonzero(objects) < 2:
        errors[is_ratio] = np.nan
    errors[errors <= ROUNDING] = np.nan
    freedoms = np.clip(df, 1, count - 1).tolist()
    values = differences_of(a, b, keys).tolist()
    found = []
    for value, error, freedom in zip(values, errors.tolist(), freedoms, strict=True):
        half = t_quantile((1 + level) / 2, freedom) * error
        warnings = () if math.isnan(error) else _warnings(count, freedom, which)
        found.append(Limits(error, value - half, value + half, warnings))
    return found


def _warnings(sequences: int, df: float, which: str) -> tuple[str, ...]:
    if sequences <= _FEW:
        return (f"there are {pluralize(sequences, 'sequence')}{which}",)
    return ("a few sequences decide the number",) if df < _FEW_DF else ()


def differences_of(a: Sequence[Values], b: Sequence[Values], keys: Sequence[str]) -> Floats:
    """(Q,) the differences of combined numbers, B minus A."""
    found: Floats = _apart(a, b, np.ones((1, len(a))), keys)[0]
    return found


def tests_of_differences(
    a: Sequence[Values], b: Sequence[Values], keys: Sequence[str], exchanges: Exchanges, *, level: float, seed: int
) -> list[tuple[float, int | None]]:
    """(Q,) the p-values, and how many sequences would show such a difference.

    This is ``None`` if the difference is 0, or cannot be told: where no p-value could be at most ``1 - level``, it says
    nothing of the size of a difference. Without sequences, the p-value is NaN.

    Args:
        a: (S,) the numbers of A in each sequence.
        b: (S,) those of B in the same sequences.
        keys: (Q,) which numbers.
        exchanges: What is tried.
        level: 1 minus the probability of a false alarm.
        seed: The seed of random exchanges.
    """
    count, number = len(a), exchanges.tried
    if not count:
        return [(np.nan, None)] * len(keys)
    observed = differences_of(a, b, keys)
    swaps = np.zeros((number, count), np.bool_)
    swaps[:, exchanges.differing] = _patterns(len(exchanges.differing), exchanges, seed)
    both = [*a, *b]
    of_a, of_b = (np.hstack(pair).astype(np.float64) for pair in ((~swaps, swaps), (swaps, ~swaps)))
    swapped = drawn_numbers(both, of_b, keys) - drawn_numbers(both, of_a, keys)
    reached = (np.abs(swapped) >= np.abs(observed) - ROUNDING).sum(axis=0)
    # All ways hold the data itself; of random ones, it counts as one more.
    p_values = reached / number if exchanges.is_every else (1 + reached) / (1 + number)
    # A difference d of n sequences spreads its own exchanges: their variance is larger by d ** 2 / n.
    variance = np.maximum((swapped**2).mean(axis=0) - observed**2 / count, 0) * count / max(count - 1, 1)
    if exchanges.smallest_p_value > alarm(level):
        return [(p_value, None) for p_value in p_values.tolist()]
    # Of more sequences of this kind, the trackers differ in the same share.
    fewest = math.ceil(fewest_sequences(level) * count / len(exchanges.differing))
    found = []
    columns = zip(observed.tolist(), np.sqrt(variance).tolist(), p_values.tolist(), strict=True)
    for value, error, p_value in columns:
        needed = images_needed(value, error, count, level=level, df=count - 1, p_value=p_value)
        found.append((p_value, needed if needed is None else max(needed, fewest)))
    return found


def _patterns(differing: int, exchanges: Exchanges, seed: int) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """(tried, differing) which results are exchanged."""
    if not exchanges.is_every:
        return _groups(differing).swaps(seed, 0, exchanges.tried)
    # Without the opposites: the last sequence is never exchanged.
    numbers = np.arange(exchanges.tried)[:, np.newaxis]
    return np.asarray(numbers >> np.arange(differing) & 1, np.bool_)


def _groups(count: int) -> ImageGroups:
    """Sequences as what is drawn."""
    return ImageGroups(np.arange(count), np.zeros(count, np.intp))


def _apart(a: Sequence[Values], b: Sequence[Values], weights: Floats, keys: Sequence[str]) -> Floats:
    return drawn_numbers(b, weights, keys) - drawn_numbers(a, weights, keys)


def _differ(one: Values, other: Values, names: Iterable[str]) -> bool:
    return any(not np.array_equal(one[name], other[name]) for name in names)
