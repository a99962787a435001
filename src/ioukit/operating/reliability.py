"""The reliability diagram: the mean score in ranges of the score, and how many detections in each are right.

Owns the ranges and what is known without drawing images again. Does not own the intervals and the calibration errors
(`calibration.py`), which need `ioukit.statistics`: the report draws the diagram without it.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit._columns import Frozen, record
from ioukit.evaluation.analysis._quotient import quotient

Rows = npt.NDArray[np.intp]


@record(frozen=True, eq=False, repr=False)
class Reliability(Frozen):
    """The reliability diagram: for each range of scores, the mean score and the share of detections that are right."""

    edges: Floats
    """(B + 1,) ends of the ranges. A range holds its upper end, and the first one also 0."""
    counts: npt.NDArray[np.int64]
    """(B,) detections in each range."""
    mean_scores: Floats
    """(B,) mean score; NaN without detections."""
    precision: Floats
    """(B,) share of the detections that match an object; NaN without detections."""
    low: Floats
    """(B,) lower limit of the precision; NaN if no intervals were asked for, or no image changes it."""
    high: Floats
    """(B,) upper limit of the precision."""
    level: float
    """The probability that such an interval holds the true precision."""


def reliability_of(
    score: Floats,
    found: npt.NDArray[np.generic],
    place: Rows,
    bins: int,
    limits: tuple[Floats, Floats, float] | None = None,
) -> Reliability:
    """The reliability diagram of some detections.

    Args:
        score: (n,) their scores.
        found: (n,) 1 for true positives, 0 for false positives.
        place: (n,) the range of each.
        bins: The number of ranges.
        limits: (B,) lower and upper limits of the precision, and their level; no intervals if ``None``.
    """
    counts = np.bincount(place, minlength=bins)
    undefined = np.full(bins, np.nan)
    return Reliability(
        np.linspace(0, 1, bins + 1),
        counts.astype(np.int64),
        quotient(np.bincount(place, score, bins), counts),
        quotient(np.bincount(place, found, bins), counts),
        *((undefined, undefined, math.nan) if limits is None else limits),
    )


def place_of(score: Floats, bins: int) -> Rows:
    """(n,) the range of each score: of those between edges a and b, it is above a and at most b; 0 is in the first."""
    return np.clip(np.searchsorted(np.linspace(0, 1, bins + 1), score, side="left") - 1, 0, bins - 1)
