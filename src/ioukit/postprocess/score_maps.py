"""Maps from the score of a detector to the probability that a detection is right; all of them keep the order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ioukit._checks import check_finite, check_positive
from ioukit._columns import Frozen, record

if TYPE_CHECKING:
    import numpy.typing as npt


_EDGE = 1e-7
"""Scores are moved this far away from 0 and 1, where their log odds are infinite."""


@dataclass(frozen=True)
class TemperatureMap:
    """``sigmoid(log_odds(score) / temperature)``: a temperature above 1 moves scores towards 0.5.

    Source: Guo, Pleiss, Sun, Weinberger, On Calibration of Modern Neural Networks, ICML 2017, arXiv:1706.04599.
    """

    temperature: float
    """Above 0."""

    def __post_init__(self) -> None:
        check_positive(temperature=self.temperature)

    def __call__(self, scores: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """(N,) the calibrated scores.

        Raises:
            ValueError: If a score is outside of [0, 1].
        """
        return _sigmoid(log_odds(scores) / self.temperature)


@dataclass(frozen=True)
class PlattMap:
    """``sigmoid(slope * log_odds(score) + offset)``.

    Source: Platt, Probabilistic Outputs for Support Vector Machines, 1999, with the log odds of the score as input.
    """

    slope: float
    """At least 0; with 0 all scores are equal."""
    offset: float
    """Above 0 it raises all scores."""

    def __post_init__(self) -> None:
        check_finite(slope=self.slope, offset=self.offset)
        if self.slope < 0:
            raise ValueError(f"slope must be at least 0, so that the order of scores stays, got {self.slope}")

    def __call__(self, scores: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """(N,) the calibrated scores.

        Raises:
            ValueError: If a score is outside of [0, 1].
        """
        return _sigmoid(self.slope * log_odds(scores) + self.offset)


@record(frozen=True, eq=False, repr=False)
class IsotonicMap(Frozen):
    """Straight lines between points that do not fall. Below the first point and above the last, it is constant.

    Many scores become equal: all between two points with the same value.
    """

    scores: npt.NDArray[np.float64]
    """(P,) scores of the points, strictly ascending, within [0, 1]."""
    values: npt.NDArray[np.float64]
    """(P,) calibrated scores of the points, ascending or equal, within [0, 1]."""

    def __call__(self, scores: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """(N,) the calibrated scores.

        Raises:
            ValueError: If a score is outside of [0, 1].
        """
        # The rounding of a line may pass the value of its end by one bit; limits keep the order.
        given = checked_scores(scores)
        right = np.clip(np.searchsorted(self.scores, given, side="left"), 0, len(self.scores) - 1)
        left = np.maximum(right - 1, 0)
        return np.clip(np.interp(given, self.scores, self.values), self.values[left], self.values[right])

    def checked(self) -> IsotonicMap:
        """The map itself.

        Raises:
            ValueError: If it has no point, or a number breaks a rule of its field.
        """
        x, y = self.scores, self.values
        if x.ndim != 1 or x.shape != y.shape or not len(x):
            raise ValueError(f"scores and values must have one shape (P,) with P >= 1, got {x.shape} and {y.shape}")
        if not (np.diff(x) > 0).all():
            raise ValueError("scores must ascend strictly")
        if not (np.diff(y) >= 0).all():
            raise ValueError("values must not fall")
        if min(x[0], y[0]) < 0 or max(x[-1], y[-1]) > 1:
            raise ValueError("scores and values must be within [0, 1]")
        return self

    def __repr__(self) -> str:
        return f"IsotonicMap({len(self.scores):,} points)"


ScoreMap: TypeAlias = TemperatureMap | PlattMap | IsotonicMap
"""A map from scores to calibrated scores."""


def log_odds(scores: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """(N,) ``log(p / (1 - p))`` of scores within [0, 1]; 0 and 1 count as 1e-7 and 1 - 1e-7.

    Raises:
        ValueError: If a score is outside of [0, 1].
    """
    inside = np.clip(checked_scores(scores), _EDGE, 1 - _EDGE)
    return np.log(inside) - np.log1p(-inside)


def checked_scores(scores: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """(N,) scores within [0, 1] in float64.

    Raises:
        ValueError: If a score is outside of [0, 1].
    """
    given = np.asarray(scores, np.float64)
    if given.size and not (given.min() >= 0 and given.max() <= 1):
        wrong = given[~((given >= 0) & (given <= 1))].flat[0]
        raise ValueError(f"calibration takes probabilities: scores must be within [0, 1], got {wrong:g}")
    return given


def _sigmoid(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """``1 / (1 + exp(-x))`` without overflow."""
    small = np.exp(-np.abs(x))
    result: npt.NDArray[np.float64] = np.where(x >= 0, 1 / (1 + small), small / (1 + small))
    return result
