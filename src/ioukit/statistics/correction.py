"""P-values of several tests, corrected for their number."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from ioukit._checks import check_choice

Correction: TypeAlias = Literal["holm", "benjamini-hochberg", "none"]

ROUNDING = 1e-12
"""What a permutation may fall short of the observed statistic and still be as large: sums in another order. On few
images many permutations are the observed data again, and whether these count must not depend on a last bit."""


def adjust_p_values(p_values: npt.ArrayLike, method: Correction = "holm") -> npt.NDArray[np.float64]:
    """P-values that can be compared with a level, although many tests were made.

    Args:
        p_values: (N,) p-values within [0, 1]. NaN marks a test that could not be made; it stays NaN and does not count.
        method: ``"holm"`` keeps the chance of even one false alarm below the level, for any dependence of the tests.
            ``"benjamini-hochberg"`` keeps the expected share of false alarms among the alarms below the level; it finds
            more, and holds if the tests are independent or positively dependent. ``"none"`` changes nothing.

    Returns:
        (N,) adjusted p-values, at most 1, in the order of the input.

    Raises:
        ValueError: If a p-value is outside [0, 1], the shape is not (N,), or there is no such method.

    Example:
        >>> adjust_p_values([0.01, 0.04, 0.03]).tolist()
        [0.03, 0.06, 0.06]

    Source: Holm, A simple sequentially rejective multiple test procedure, 1979; Benjamini and Hochberg, Controlling the
    false discovery rate, 1995.
    """
    check_correction(method)
    given = np.asarray(p_values, np.float64)
    if given.ndim != 1:
        raise ValueError(f"p_values must have the shape (N,), got {given.shape}")
    outside = np.flatnonzero((given < 0) | (given > 1))
    if len(outside):
        raise ValueError(f"p_values must be within [0, 1], got {given[outside[0]]} at position {outside[0]}")
    adjusted: npt.NDArray[np.float64] = given.copy()
    tested = np.flatnonzero(~np.isnan(given))
    order = tested[np.argsort(given[tested], kind="stable")]
    count = len(order)
    ascending = given[order]
    if method == "holm":
        adjusted[order] = np.minimum(np.maximum.accumulate(ascending * np.arange(count, 0, -1)), 1)
    elif method == "benjamini-hochberg":
        scaled = ascending * (count / np.arange(1, count + 1))
        adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1)
    return adjusted


def stepped_down(
    observed: npt.ArrayLike,
    permuted: npt.ArrayLike,
    units: npt.NDArray[np.float64],
    hopeless: npt.NDArray[np.bool_] | None = None,
) -> npt.NDArray[np.float64]:
    """P-values of several tests by the same permutations, corrected for their number.

    Each test counts in a unit of its own, which must not depend on the order of the permutations. Its p-value is the
    share of permutations in which the largest of all tests that are not more significant is at least as large. This
    keeps the chance of even one false alarm below the level, as Holm's method does. But it needs no more permutations
    where there are more tests, and finds more where tests depend on each other.

    Args:
        observed: (N,) the statistics, two-sided; NaN where undefined.
        permuted: (B, N) the same in each permutation; NaN counts as larger than any other.
        units: (N,) the units; 0 counts as 1.
        hopeless: (N,) the tests whose p-values are above the level whatever is observed, as permutations tell. They
            raise no alarm, so the p-values of others need no correction for them.

    Returns:
        (N,) adjusted p-values; NaN where the statistic is undefined.

    Source: Westfall and Young, Resampling-Based Multiple Testing, 1993, algorithm 4.1. Of hopeless tests: Tarone, A
    modified Bonferroni method for discrete data, Biometrics 46, 1990.
    """
    values, drawn = np.abs(np.asarray(observed, np.float64)), np.abs(np.asarray(permuted, np.float64))
    units = np.where(units > 0, units, 1)
    sizes = values / units
    columns = np.where(np.isnan(drawn), np.inf, drawn / units)
    left_out = np.zeros(len(values), np.bool_) if hopeless is None else hopeless
    tested = np.flatnonzero(~np.isnan(values) & ~left_out)
    order = tested[np.argsort(-sizes[tested], kind="stable")]
    reached, highest = np.zeros(len(values)), np.zeros(len(drawn))
    for at in order[::-1]:  # the largest of this test and of all that are less significant
        highest = np.maximum(highest, columns[:, at])
        reached[at] = np.count_nonzero(highest >= sizes[at] - ROUNDING)
    for at in np.flatnonzero(left_out):
        reached[at] = np.count_nonzero(np.maximum(highest, columns[:, at]) >= sizes[at] - ROUNDING)
    adjusted = np.where(np.isnan(values), np.nan, (1 + reached) / (1 + len(drawn)))
    adjusted[order] = np.maximum.accumulate(adjusted[order])
    return adjusted


def check_correction(method: str) -> None:
    """Raises `ValueError` if there is no such correction."""
    check_choice("correction", method, get_args(Correction))
