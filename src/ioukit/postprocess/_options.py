"""Checks of the options that several functions take: thresholds, limits of counts, metrics."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from ioukit._checks import check_choice

if TYPE_CHECKING:
    from ioukit.typing import FloatArray

__all__ = [
    "Limits",
    "SymmetricMetric",
    "check_metric",
    "check_thresholds",
    "count_limit",
    "join_threshold",
    "limits_of",
]

SymmetricMetric: TypeAlias = Literal["iou", "iom", "giou", "diou", "ciou"]
"""The overlaps of the sparse join that do not depend on the order of the two boxes."""


class Limits(NamedTuple):
    """What removes a box apart from its overlaps."""

    score_threshold: float | None
    """Boxes with a lower score are left out."""
    max_keep: int
    """At most this many boxes are kept per image."""


def limits_of(score_threshold: float | None, max_keep: int | None) -> Limits:
    """The limits of `nms`, whose score threshold may be any number.

    Raises:
        ValueError: If the threshold is NaN, or ``max_keep`` is negative.
        TypeError: If one of them is not a number.
    """
    most = sys.maxsize if max_keep is None else count_limit("max_keep", max_keep)
    if score_threshold is None:
        return Limits(None, most)
    try:
        threshold = float(score_threshold)
    except (TypeError, ValueError):
        raise TypeError(f"score_threshold must be a number, got {type(score_threshold).__name__}") from None
    if math.isnan(threshold):
        raise ValueError("score_threshold must be a number, got nan")
    return Limits(threshold, most)


def count_limit(name: str, value: int | None) -> int:
    """The largest number of boxes to keep; `sys.maxsize` for None.

    Raises:
        ValueError: If it is negative.
        TypeError: If it is not an integer.
    """
    if value is None:
        return sys.maxsize
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be a whole number or None, got {type(value).__name__}")
    if value < 0:
        raise ValueError(f"{name} must be at least 0, got {value}")
    return int(value)


def check_thresholds(**values: float) -> None:
    """Raises `ValueError` for a threshold that is not finite or below 0."""
    for name, value in values.items():
        if not (math.isfinite(value) and value >= 0):
            raise ValueError(f"{name} must be finite and at least 0, got {value}")


def check_metric(metric: str) -> None:
    """Raises `ValueError` for a metric that is not symmetric."""
    check_choice("metric", metric, get_args(SymmetricMetric))


def join_threshold(threshold: float, boxes: FloatArray) -> float:
    """A threshold for the sparse join, which must be positive: at least the smallest normal number of the dtype."""
    smallest: Any = np.finfo(boxes.dtype).tiny
    return max(float(threshold), float(smallest))
