"""A number of a summary: what it is the mean of, its name, and how tables and pages show it."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, get_args

from ioukit._checks import check_choice

_FPPI = tuple(10.0 ** (place / 4 - 2) for place in range(9))

Quantity: TypeAlias = Literal["AP", "AR", "MR", "JI", "AOS", "FROC", "precision", "F1", "IoU", "LRP"]
OF_CURVES = ("AP", "MR", "JI", "AOS", "FROC")
"""Quantities that need detections ranked by their scores."""
Reading: TypeAlias = Literal["last_at_most", "first_at_least", "interpolated"]


@dataclass(frozen=True)
class Measure:
    """A number of the summary: a mean over a part of the curves."""

    key: str
    """Its name in the summary, in JSON and in tables per class."""
    quantity: Quantity = "AP"
    """``"AP"``, the mean of precisions; ``"AR"``, the mean of the recalls after the last detection; ``"MR"``, the
    log-average miss rate, see :class:`MissRateRule`; ``"FROC"``, the mean of the sensitivities at the false positives
    per image of that rule, see :meth:`ioukit.evaluation.MissRateCurve.sensitivity`; ``"JI"``, the Jaccard index of
    CrowdDet, see :func:`ioukit.evaluation.jaccard_indices`; ``"AOS"``, KITTI's average orientation similarity, which
    needs :attr:`ObjectChoice.orientation`; ``"precision"``, ``"F1"`` and ``"LRP"`` of all detections within the cap,
    see :class:`ioukit.evaluation.LRPPoint`, and ``"IoU"``, the mean IoU of their matches. All but ``"AP"``, ``"MR"``,
    ``"FROC"``, ``"JI"`` and ``"AOS"`` are numbers of counts, which protocols that do not rank have, too."""
    iou_threshold: float | None = None
    """The IoU threshold; ``None`` for the mean over all."""
    area_range: str | None = None
    """Label of the area range; ``None`` for the protocol's main one."""
    max_dets: int | None = None
    """Cap on the detections; ``None`` for the protocol's main one."""
    group: str | None = None
    """The categories with this value in :attr:`Protocol.category_groups`; ``None`` for all."""
    pooled: bool = False
    """Whether it counts the regions of all categories together (a micro average), instead of being the mean of the
    numbers of the categories (macro). Of one category, both are the same. For ``"FROC"`` and numbers of counts."""
    line: str = ""
    """Its line in the table, with ``{value}`` for the number, or ``{value:.4f}`` for another number of digits; the key
    and the number if empty."""
    headline: bool = False
    """Whether short summaries, and tables per class on the terminal, show it."""
    words: str = ""
    """Its meaning, in one or two sentences. ``{classes}`` and ``{thresholds}`` stand for what the mean is over."""
    fppi: float | None = None
    """Of ``"FROC"`` alone: the sensitivity at this number of false positives per image, instead of the mean over those
    of the rule."""

    def __post_init__(self) -> None:
        """Refuse an empty key and an unknown quantity."""
        if not self.key:
            raise ValueError("a measure must have a key")
        if self.quantity not in get_args(Quantity):
            raise ValueError(f"unknown quantity {self.quantity!r}; choose from {', '.join(get_args(Quantity))}")
        if self.pooled and ((self.quantity in OF_CURVES and self.quantity != "FROC") or self.group is not None):
            raise ValueError(f"only FROC or a number of counts over all categories can be pooled, got {self.key}")
        if self.fppi is not None and (self.quantity != "FROC" or not 0 < self.fppi < math.inf):
            raise ValueError(f"fppi must be a positive number of a measure of FROC, got {self.fppi!r} of {self.key}")

    @property
    def column(self) -> str:
        """What the arrays beside the curves call its quantity."""
        at = "" if self.fppi is None else f" at {self.fppi!r}"
        return f"{'pooled ' if self.pooled else ''}{self.quantity}{at}"

    @property
    def lower_is_better(self) -> bool:
        """Whether a lower number is better, as a miss rate is."""
        return self.quantity in ("MR", "LRP")

    def text(self, value: float) -> str:
        """The line of the table; an undefined number is -1, as COCO's tools print it."""
        number = -1.0 if value != value else value  # noqa: PLR0124 - NaN
        line = self.line or f"{self.key:<8} {{value}}"
        return re.sub(r"\{value(?::([^{}]*))?\}", lambda found: format(number, found[1] or "0.3f"), line)


LOG_AVERAGE_MISS_RATE = Measure(
    "MR-2",
    "MR",
    line="MR-2 = {value:.4f}",
    headline=True,
    words="Log-average miss rate over nine rates of false positives per image, from 0.01 to 1. 0 is perfect.",
)


def mean_average_precision(line: str) -> Measure:
    """The only number of some benchmarks: the mean AP over their classes, with its line in the table."""
    words = "Mean average precision, over {classes} at {thresholds}. 1 is perfect."
    return Measure("mAP", line=line, headline=True, words=words)


class MissRateRule(NamedTuple):
    """How a curve of the miss rate over the false positives per image (FPPI) becomes one number.

    The number is the geometric mean of the miss rates at some FPPI: ``exp(mean(log(max(miss rate, floor))))``. FROC is
    the mean of the sensitivities there, which are always interpolated: ``floor`` does not apply to it.
    """

    fppi: tuple[float, ...] = _FPPI
    """False positives per image at which the miss rate is read, in ascending order; nine from 0.01 to 1 for MR-2."""
    reading: Reading = "last_at_most"
    """Where it is read. ``"last_at_most"``: at the last point of the curve with at most this FPPI; 1 if there is none.
    ``"first_at_least"``: at the first point with at least this FPPI; at the last point of all if there is none.
    ``"interpolated"``: on the straight lines of :meth:`ioukit.evaluation.MissRateCurve.sensitivity`."""
    floor: float = 0.0
    """Lower miss rates count as this one. Without a floor, a single miss rate of 0 makes the mean 0."""


MR2 = MissRateRule()
"""MR-2 of Caltech, without a floor."""


def checked_miss_rate(rule: MissRateRule) -> MissRateRule:
    """The rule with numbers as floats.

    Raises:
        TypeError, ValueError: If it is no rule, or a value is invalid.
    """
    if not isinstance(rule, MissRateRule):
        raise TypeError(f"miss_rate must be a MissRateRule, got {rule!r}")
    fppi = tuple(float(each) for each in rule.fppi)
    if not fppi or any(not low < high for low, high in itertools.pairwise((0.0, *fppi, math.inf))):
        raise ValueError(f"miss_rate.fppi must rise from above 0, got {list(fppi)}")
    check_choice("miss_rate.reading", rule.reading, get_args(Reading))
    if not 0 <= rule.floor <= 1:
        raise ValueError(f"miss_rate.floor must be within [0, 1], got {rule.floor}")
    return MissRateRule(fppi, rule.reading, float(rule.floor))


def checked_measures(measures: Iterable[Measure]) -> tuple[Measure, ...]:
    """The measures.

    Raises:
        TypeError, ValueError: If one is no measure, there is none, or two have the same key.
    """
    listed = tuple(measures)
    for measure in listed:
        if not isinstance(measure, Measure):
            raise TypeError(f"summary must hold measures, got {measure!r}")
    if not listed:
        raise ValueError("summary must hold at least one measure")
    keys = [measure.key for measure in listed]
    if len(set(keys)) < len(keys):
        raise ValueError(f"keys of measures must differ, got {keys}")
    return listed
