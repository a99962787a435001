"""The limits of an interval, from the numbers of replicates: percentile and BCa."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats

Method: TypeAlias = Literal["percentile", "bca"]

standard_normal = NormalDist()
"""The standard normal distribution."""


class Limits(NamedTuple):
    """What the replicates of one number say."""

    low: float
    """The lower limit."""
    high: float
    """The upper limit."""
    standard_error: float
    """The standard deviation of the replicates."""
    method: Method
    """How the limits were found: ``"percentile"`` where BCa was asked for and is undefined."""
    undefined: float
    """The share of replicates in which the number is NaN."""


def find_limits(
    value: float,
    replicates: Floats,
    level: float,
    *,
    left_out: Floats | None = None,
    groups: Sequence[npt.NDArray[np.intp]] = (),
) -> Limits:
    """The limits of an interval.

    Negated values give negated limits, to the last bit.

    Args:
        value: The number of the data.
        replicates: (B,) the number of each replicate; NaN where undefined, which are left out.
        level: The probability that the interval should hold the true number.
        left_out: (C,) the number without each cluster, for BCa; percentile limits if ``None``.
        groups: The positions of the clusters of each stratum; all clusters are one stratum if empty.
    """
    defined = replicates[~np.isnan(replicates)]
    undefined = 1 - len(defined) / len(replicates) if len(replicates) else math.nan
    method: Method = "percentile"
    if math.isnan(value) or len(defined) < 2:
        return Limits(math.nan, math.nan, math.nan, method, undefined)
    error = float(np.std(defined, ddof=1))
    tail = standard_normal.inv_cdf((1 + level) / 2)
    below, above = -tail, tail
    if left_out is not None:
        corrected = _bca(value, defined, tail, acceleration_of(left_out, groups))
        if corrected is not None:
            (below, above), method = corrected, "bca"
    return Limits(_quantile(defined, below), _quantile(defined, above), error, method, undefined)


def _bca(value: float, defined: Floats, tail: float, acceleration: float) -> tuple[float, float] | None:
    """The places of BCa's limits in a standard normal distribution; ``None`` where they are undefined.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, equations 14.9 to 14.15. Replicates that equal
    the value count half on each side.
    """
    equal = np.count_nonzero(defined == value) / 2
    less = np.count_nonzero(defined < value) + equal
    more = np.count_nonzero(defined > value) + equal
    if not less or not more or math.isnan(acceleration):
        return None
    smaller = standard_normal.inv_cdf(min(less, more) / len(defined))  # the same bits on both sides
    shift = smaller if less <= more else -smaller
    places = []
    for end in (-tail, tail):
        divisor = 1 - acceleration * (shift + end)
        if divisor <= 0:  # beyond the pole, the limits would change places
            return None
        places.append(shift + (shift + end) / divisor)
    return places[0], places[1]


def acceleration_of(left_out: Floats, groups: Sequence[npt.NDArray[np.intp]] = ()) -> float:
    """How the standard error changes with the number, from leaving each cluster out.

    It is NaN if the number is undefined without one of the clusters, and 0 if no cluster matters.

    Args:
        left_out: (C,) the number without each cluster.
        groups: The positions of the clusters of each stratum; all clusters are one stratum if empty.

    Source: Efron and Tibshirani, 1993, equation 14.15; of several strata, as for several samples: Davison and Hinkley,
    Bootstrap Methods and their Application, 1997, section 5.3.
    """
    if np.isnan(left_out).any() or not len(left_out):
        return math.nan
    influences = []
    for rows in groups or [np.arange(len(left_out))]:
        part = left_out[rows]
        influences.append((len(part) - 1) / len(part) * (part.mean() - part))
    influence = np.concatenate(influences)
    # Rounding alone can make the smallest influences; without any, nothing is skewed.
    largest = float(np.abs(influence).max())
    if largest <= float(np.abs(left_out).max()) * 1e-14:
        return 0.0
    share = influence / largest  # the powers of tiny numbers would be 0
    square = share * share  # not a power, whose last bit may depend on the sign
    second = float(square.sum())
    return float((square * share).sum()) / (6 * second * math.sqrt(second))


def _quantile(values: Floats, place: float) -> float:
    """The quantile at a place of the standard normal distribution; of ``-values`` at ``-place`` the negated bits."""
    below = standard_normal.cdf(-abs(place))
    # Not `-quantile`, which would make -0 of 0.
    return float(np.quantile(values, below)) if place < 0 else 0.0 - float(np.quantile(-values, below))
