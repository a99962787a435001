"""The rule by which one box removes another: a metric and a threshold, in the dtype in which they are compared."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from ioukit._checks import check_choice
from ioukit.overlap.variants import Measure, OverlapMetric, measure_of

if TYPE_CHECKING:
    from typing import Any

__all__ = ["Rule", "Suppress", "condition", "least_reaching", "rule_of"]

Suppress: TypeAlias = Literal["above", "at_or_above"]
"""Whether an overlap must be above the threshold to remove a box, or may be equal to it."""

_RATIOS = ("iou", "ioa", "iom")


class Rule(NamedTuple):
    """When a box that is kept removes another box."""

    metric: OverlapMetric
    """The name of the overlap."""
    measure: Measure
    """The overlap of the box that is kept with the other box, in this order."""
    threshold: float
    strict: bool
    """Whether the overlap must be above the threshold, not equal to it."""


def condition(threshold: float, suppress: Suppress) -> str:
    """The condition on the overlap in words, such as ``"above 0.5"``."""
    return f"{'above' if suppress == 'above' else 'at or above'} {threshold:g}"


def rule_of(metric: str, of: str | None, iou_threshold: float, suppress: str) -> Rule:
    """The rule of these arguments of `nms`.

    Raises:
        ValueError: If a name is unknown, or the threshold is outside the range of the metric.
        TypeError: If the threshold is not a number.
    """
    measure = measure_of(metric, of)
    check_choice("suppress", suppress, get_args(Suppress))
    try:
        threshold = float(iou_threshold)
    except (TypeError, ValueError):
        raise TypeError(f"iou_threshold must be a number, got {type(iou_threshold).__name__}") from None
    least = 0.0 if metric in _RATIOS else -2.0 if metric == "ciou" else -1.0
    if not least <= threshold <= 1:  # also NaN
        raise ValueError(f"iou_threshold must be within [{least:g}, 1] for metric={metric!r}, got {threshold:g}")
    strict = suppress == "above"
    if threshold == 0 and not strict and metric in _RATIOS:
        raise ValueError(
            "iou_threshold must be above 0 for suppress='at_or_above': every two boxes have an overlap of at least 0"
        )
    return Rule(metric, measure, threshold, strict)  # type: ignore[arg-type]


def least_reaching(rule: Rule, dtype: np.dtype[Any]) -> float:
    """The smallest overlap that removes a box, for overlaps computed in ``dtype``, float32 or float64.

    The threshold is rounded to ``dtype`` first, as NumPy does when it compares an array with a Python number.
    """
    if dtype == np.float64:
        return math.nextafter(rule.threshold, math.inf) if rule.strict else rule.threshold
    low = np.float32(rule.threshold)
    return float(np.nextafter(low, np.float32(np.inf)) if rule.strict else low)
