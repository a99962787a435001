"""The options that several functions take, with their checks: the rule by which a box removes another, and limits."""

from __future__ import annotations

import math
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from ioukit._checks import check_choice
from ioukit.overlap.variants import Measure, OverlapMetric, measure_of

if TYPE_CHECKING:
    from ioukit.typing import FloatArray


SymmetricMetric: TypeAlias = Literal["iou", "iom", "giou", "diou", "ciou"]
"""The overlaps of the sparse join that do not depend on the order of the two boxes."""

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
    threshold = _number("iou_threshold", iou_threshold)
    least = 0.0 if metric in _RATIOS else -2.0 if metric == "ciou" else -1.0
    if not least <= threshold <= 1:  # also NaN
        percent = f"; did you mean {threshold / 100:g}?" if 1 < threshold <= 100 else ""
        raise ValueError(
            f"iou_threshold must be within [{least:g}, 1] for metric={metric!r}, got {threshold:g}{percent}"
        )
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
    return _least_single(rule.threshold, rule.strict)


@lru_cache(maxsize=64)  # NumPy's scalars take a tenth of the NMS of few boxes
def _least_single(threshold: float, strict: bool) -> float:
    low = np.float32(threshold)
    return float(np.nextafter(low, np.float32(np.inf)) if strict else low)


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
    most = count_limit("max_keep", max_keep)
    if score_threshold is None:
        return Limits(None, most)
    threshold = _number("score_threshold", score_threshold)
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


def _number(name: str, value: float) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, got {type(value).__name__}") from None
