"""What a score threshold is chosen for: rules, and their short names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit._checks import check_number

Numbers: TypeAlias = npt.NDArray[Any]
Found: TypeAlias = "tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]"

_MOST_BETA = 1e100  # its square times a count is finite


class Counts(NamedTuple):
    """Counts at every threshold, for B sets of images.

    Row 0 is the point at which no detection counts. The others belong to the scores in descending order.
    """

    true_positives: Numbers
    """(S + 1, B)"""
    false_positives: Numbers
    """(S + 1, B)"""
    objects: Numbers
    """(B,) objects to find."""
    images: Numbers
    """(B,) images."""
    false_positive_cost: Floats | None = None
    """(S + 1, B) the cost of the false positives, if the rule has costs."""
    missed_cost: Floats | None = None
    """(S + 1, B) the cost of the missed objects, in the same way."""


@dataclass(frozen=True)
class FBeta:
    """The best F-beta: ``(1 + b^2) TP / ((1 + b^2) TP + b^2 FN + FP)``.

    It is reached where a detection matches an object.
    """

    beta: float = 1.0
    """The weight of recall, relative to precision; within [0, 1e100]."""

    def __post_init__(self) -> None:
        check_number(beta=self.beta)
        if not 0 <= self.beta <= _MOST_BETA:
            raise ValueError(f"beta must be within [0, {_MOST_BETA:g}], got {self.beta}")

    @property
    def text(self) -> str:
        """``"f1"`` or ``"f-beta=..."``."""
        return "f1" if self.beta == 1 else f"f-beta={self.beta!r}"

    def choose(self, counts: Counts) -> Found:
        """(B,) the row of the threshold, and whether it reaches the aim; of several, the highest threshold."""
        tp, fp = counts.true_positives, counts.false_positives
        values = np.where(tp > 0, quotient(*f_beta_parts(tp, fp, counts.objects - tp, self.beta)), -1.0)
        at = values.argmax(axis=0)
        return at, np.asarray((tp > 0).any(axis=0))


@dataclass(frozen=True)
class PrecisionAtLeast:
    """The highest recall with at least this precision. If no threshold has it, no detection counts."""

    precision: float
    """Above 0, at most 1."""

    def __post_init__(self) -> None:
        _check_share(precision=self.precision)

    @property
    def text(self) -> str:
        """``"precision=..."``."""
        return f"precision={self.precision!r}"

    def choose(self, counts: Counts) -> Found:
        """(B,) the row of the threshold, and whether it reaches the aim; of several, the highest threshold."""
        tp = counts.true_positives
        good = (tp > 0) & (quotient(tp, tp + counts.false_positives) >= self.precision)
        values = np.where(good, tp, -1)
        reached = np.asarray(good.any(axis=0))
        return np.where(reached, values.argmax(axis=0), 0), reached


@dataclass(frozen=True)
class RecallAtLeast:
    """The highest precision with at least this recall. If no threshold has it, the highest recall there is."""

    recall: float
    """Above 0, at most 1."""

    def __post_init__(self) -> None:
        _check_share(recall=self.recall)

    @property
    def text(self) -> str:
        """``"recall=..."``."""
        return f"recall={self.recall!r}"

    def choose(self, counts: Counts) -> Found:
        """(B,) the row of the threshold, and whether it reaches the aim; of several, that with the most matches."""
        tp = counts.true_positives
        good = (tp > 0) & (quotient(tp, counts.objects) >= self.recall)
        precision = np.where(good, quotient(tp, tp + counts.false_positives), -1.0)
        best = precision == precision.max(axis=0)
        reached = np.asarray(good.any(axis=0))
        return np.where(reached, np.where(best, tp, -1).argmax(axis=0), tp.argmax(axis=0)), reached


@dataclass(frozen=True)
class LeastCost:
    """The least sum of costs: of each false positive, and of each object that is missed.

    This threshold always exists. It can be that no detection counts.
    """

    false_positive: float = 1.0
    """The cost of a false positive."""
    missed: float = 1.0
    """The cost of an object that no detection matches."""
    classes: Mapping[int | str, tuple[float, float]] = field(default_factory=dict)
    """Both costs for classes with other ones, by id or name."""

    def __post_init__(self) -> None:
        for name, pair in {"": (self.false_positive, self.missed), **self.classes}.items():
            where = f" of class {name!r}" if name else ""
            if not (isinstance(pair, tuple | list) and len(pair) == 2):
                raise ValueError(
                    f"the costs{where} must be a pair: of a false positive, of a missed object; got {pair!r}"
                )
            check_number(false_positive=pair[0], missed=pair[1])
            if not (min(pair) >= 0 and max(pair) < 1e100) or max(pair) == 0:
                raise ValueError(
                    f"the costs{where} must be at least 0, finite, and not both 0, got {pair[0]} for a false positive "
                    f"and {pair[1]} for a missed object"
                )

    @property
    def text(self) -> str:
        """``"cost=...:..."``, and the costs of single classes."""
        others = [f"{name}={a!r}:{b!r}" for name, (a, b) in self.classes.items()]
        return ", ".join([f"cost={self.false_positive!r}:{self.missed!r}", *others])

    def choose(self, counts: Counts) -> Found:
        """(B,) the row of the threshold; of several, the highest threshold."""
        assert counts.false_positive_cost is not None
        assert counts.missed_cost is not None
        at = (counts.false_positive_cost + counts.missed_cost).argmin(axis=0)
        return at, np.ones(at.shape, np.bool_)


@dataclass(frozen=True)
class FalsePositivesPerImage:
    """The highest recall with at most so many false positives per image, of all classes or of each class.

    It is reached if a detection matches an object before there are more false positives.
    """

    most: float
    """At least 0."""

    def __post_init__(self) -> None:
        check_number(most=self.most)
        if not 0 <= self.most < 1e100:
            raise ValueError(f"the false positives per image must be at least 0 and finite, got {self.most}")

    @property
    def text(self) -> str:
        """``"fppi=..."``."""
        return f"fppi={self.most!r}"

    def choose(self, counts: Counts) -> Found:
        """(B,) the row of the threshold, and whether it reaches the aim; of several, the highest threshold."""
        tp = counts.true_positives
        good = (tp > 0) & (quotient(counts.false_positives, counts.images) <= self.most)
        reached = np.asarray(good.any(axis=0))
        return np.where(reached, np.where(good, tp, -1).argmax(axis=0), 0), reached


Rule: TypeAlias = FBeta | PrecisionAtLeast | RecallAtLeast | LeastCost | FalsePositivesPerImage
"""What a threshold is chosen for."""

_FORMS = "f1, f-beta=2, precision=0.9, recall=0.8, cost=1:5 (false positive : missed object), fppi=0.1"


def find_rule(rule: Rule | str) -> Rule:
    """The rule of a short name, or the rule that was given.

    Names are ``"f1"``, ``"f-beta=2"``, ``"precision=0.9"``, ``"recall=0.8"``, ``"cost=1:5"`` (of a false positive and
    of a missed object) and ``"fppi=0.1"`` (false positives per image).

    Raises:
        ValueError: If it is none of these, or its number is out of range.
        TypeError: If it is neither a rule nor a string.
    """
    if isinstance(rule, Rule):
        return rule
    if not isinstance(rule, str):
        raise TypeError(f"rule must be a rule or its name, got {type(rule).__name__}")
    name, equals, value = rule.strip().lower().partition("=")
    short = re.fullmatch(r"f(\d+(?:\.\d+)?)", name)
    if short and not equals:
        return FBeta(float(short[1]))
    if name == "cost" and value.count(":") == 1:
        costs = [_number(part, rule) for part in value.split(":")]
        return LeastCost(costs[0], costs[1])
    kinds: dict[str, type[FBeta] | type[PrecisionAtLeast] | type[RecallAtLeast] | type[FalsePositivesPerImage]] = {
        "f-beta": FBeta,
        "precision": PrecisionAtLeast,
        "recall": RecallAtLeast,
        "fppi": FalsePositivesPerImage,
    }
    if name not in kinds or not equals:
        raise ValueError(f"unknown rule {rule!r}; expected one of {_FORMS}")
    return kinds[name](_number(value, rule))


def _number(text: str, rule: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"the rule {rule!r} needs a number, got {text!r}; expected one of {_FORMS}") from None


def f_beta_parts(tp: Numbers, fp: Numbers, fn: Numbers, beta: float) -> tuple[Floats, Floats]:
    """The numerator and denominator of F-beta. The same bits as :meth:`ioukit.evaluation.ScoreCurve.f_beta`."""
    weight = float(beta) ** 2
    return (1 + weight) * tp, (1 + weight) * tp + weight * fn + fp


def quotient(numerator: npt.NDArray[Any], denominator: npt.NDArray[Any]) -> Floats:
    """The quotient; NaN where the denominator is 0."""
    out: Floats = np.full(np.broadcast(numerator, denominator).shape, np.nan)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


def _check_share(**values: float) -> None:
    for name, value in values.items():
        check_number(**{name: value})
        if not 0 < value <= 1:
            raise ValueError(f"{name} must be above 0 and at most 1, got {value}")
