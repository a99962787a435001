"""The rule by which one box removes another: a metric and a threshold, in the dtype in which they are compared."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from ioukit.overlap._measure import METRICS, Measure, OverlapMetric, ioa

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


_MEASURES = {
    (metric, of): ioa(of or "second") if metric == "ioa" else Measure(metric)
    for metric in METRICS
    for of in ((None, "first", "second") if metric == "ioa" else (None,))
}


def rule_of(metric: str, of: str | None, iou_threshold: float, suppress: str) -> Rule:
    """The rule of these arguments of `nms`.

    Raises:
        ValueError: If a name is unknown, or the threshold is outside the range of the metric.
        TypeError: If the threshold is not a number.
    """
    measure = _MEASURES.get((metric, of))  # type: ignore[arg-type]
    if measure is None:
        if metric not in METRICS:
            raise ValueError(f"unknown metric {metric!r}; choose from {', '.join(METRICS)}")
        if metric == "ioa":
            raise ValueError(f"unknown of={of!r}; choose from second, first")
        raise ValueError(f"of={of!r} is for metric='ioa' alone, got metric={metric!r}")
    if suppress not in ("above", "at_or_above"):
        raise ValueError(f"unknown suppress {suppress!r}; choose from above, at_or_above")
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


def least_reaching(rule: Rule, dtype: np.dtype[Any] | Literal["bfloat16"]) -> float:
    """The smallest overlap, computed in float32 or float64, that removes a box after rounding to ``dtype``.

    The threshold is rounded to ``dtype`` first, as NumPy does when it compares an array with a Python number.
    """
    if dtype == np.float64:
        return math.nextafter(rule.threshold, math.inf) if rule.strict else rule.threshold
    if dtype == np.float32:
        low = np.float32(rule.threshold)
        return float(np.nextafter(low, np.float32(np.inf)) if rule.strict else low)
    step = _Steps(8, -126) if isinstance(dtype, str) else _Steps(11, -14)
    low_half = step.rounded(rule.threshold)
    if rule.strict:
        low_half = step.next(low_half)
    # Values from half way to the number below round up to it. The value half way does so only if the number is even.
    middle = np.float32((step.next(low_half, -1) + low_half) / 2)
    if step.rounded(float(middle)) < low_half:
        middle = np.nextafter(middle, np.float32(np.inf))
    return float(middle)


class _Steps(NamedTuple):
    """The numbers of a floating type: the bits of its significand, and the exponent of its smallest normal number."""

    bits: int
    least: int

    def spacing(self, value: float) -> float:
        exponent = math.frexp(value)[1] - 1 if value else self.least
        return math.ldexp(1.0, max(exponent, self.least) - self.bits + 1)

    def rounded(self, value: float) -> float:
        step = self.spacing(value)
        return round(value / step) * step  # Python rounds half to even

    def next(self, value: float, sign: int = 1) -> float:
        """The next number of this type after ``value``, or the one before it if ``sign`` is -1."""
        step = self.spacing(value)
        toward_zero = value and sign * value < 0
        if toward_zero and abs(math.frexp(value)[0]) == 0.5:  # at a power of two the steps halve
            step = max(step / 2, math.ldexp(1.0, self.least - self.bits + 1))
        return value + sign * step
