"""Rules of a gate: as data, and read from a file."""

from __future__ import annotations

import dataclasses
import json
import operator
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from ioukit._checks import check_choice, check_count
from ioukit._toml import check_fields, read_toml

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ioukit.evaluation import Protocol


Doubt: TypeAlias = Literal["pass", "fail", "undecided"]
BOUNDS = ("may_fall_by", "may_rise_by", "at_least", "at_most")
"""The fields of a rule of which it has one."""


def as_decimal(number: float) -> Decimal:
    """The number with the digits that Python shows; those of NumPy's numbers have their type around them."""
    return Decimal(repr(float(number)))


_FEWEST_REPLICATES = 20


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One thing that must hold: of a number of the evaluation, of its classes, or of a value of the run.

    A rule has a :attr:`metric` or a :attr:`value`, and one of the four bounds.

    The images are a sample, so a difference is known only within limits. Three things can be: the data show that the
    rule is broken, the data show that it holds, or both are possible. For the last case, :attr:`in_doubt` says what to
    do. ``"pass"`` blocks only what the data show to be worse. ``"fail"`` lets through only what the data show to be
    good enough; for :attr:`may_fall_by`, this is a test of non-inferiority.
    """

    metric: str | None = None
    """A number of the evaluation by its flat name, such as ``"AP"`` or ``"AP50/person"``."""
    value: str | None = None
    """The name of a value of the user, such as ``"latency"``. Values are compared as they are."""
    classes: Sequence[str] | str = ()
    """Names of classes, or ``"all"``: the rule is about the :attr:`metric` of each of them, and none may break it.
    ``"all"`` leaves out classes whose number is undefined, such as those without objects."""
    may_fall_by: float | None = None
    """By how much the number of the candidate may be lower than that of the baseline; at least 0. Of a metric below 1:
    two points of AP are 0.02."""
    may_rise_by: float | None = None
    """By how much it may be higher; at least 0. For numbers of which a low one is good."""
    at_least: float | None = None
    """The lowest number that the candidate may have."""
    at_most: float | None = None
    """The highest number that the candidate may have."""
    certainty: float | None = None
    """How certain the data must be, within [0.5, 1); that of the :class:`Rules` if ``None``. With :attr:`at_least` and
    :attr:`at_most`, the number itself is compared if it is ``None``."""
    in_doubt: Doubt | None = None
    """What happens if the data show neither: ``"pass"``, ``"fail"`` or ``"undecided"``; that of the :class:`Rules` if
    ``None``."""
    name: str | None = None
    """What messages call the rule; its words if ``None``."""

    def __post_init__(self) -> None:
        if (self.metric is None) == (self.value is None):
            raise ValueError("a rule needs a metric or a value, and not both")
        given = [bound for bound in BOUNDS if getattr(self, bound) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none"
            raise ValueError(f"a rule needs one of {', '.join(BOUNDS)}, found {found}")
        _check_limit(self.bound, self.limit)
        if not isinstance(self.classes, str):
            object.__setattr__(self, "classes", tuple(dict.fromkeys(self.classes)))
        elif self.classes != "all":
            raise ValueError(f"classes must be a list of names, or 'all', got {self.classes!r}")
        if self.value is not None and (self.classes or self.certainty is not None or self.in_doubt is not None):
            raise ValueError("a value is compared as it is: it has no classes, certainty or in_doubt")
        if self.classes and "/" in str(self.metric):
            raise ValueError(f"{self.metric!r} is the number of a class, so classes cannot be given, too")
        if self.certainty is not None:
            check_certainty(self.certainty)
        elif self.is_fixed and self.in_doubt is not None:
            raise ValueError(f"in_doubt needs a certainty: without one, {self.bound} compares the number itself")
        if self.in_doubt is not None:
            check_choice("in_doubt", self.in_doubt, get_args(Doubt))

    @property
    def bound(self) -> str:
        """Which of the four bounds it has."""
        return next(bound for bound in BOUNDS if getattr(self, bound) is not None)

    @property
    def limit(self) -> float:
        """The number of the bound."""
        limit: float = getattr(self, self.bound)
        return limit

    @property
    def forbids_low(self) -> bool:
        """Whether it forbids low numbers, and not high ones."""
        return self.bound in ("may_fall_by", "at_least")

    def allows(self, number: Decimal) -> bool:
        """Whether a number keeps the rule; of rules that compare, the difference."""
        limit = as_decimal(self.limit) * (-1 if self.bound == "may_fall_by" else 1)
        return number >= limit if self.forbids_low else number <= limit

    @property
    def compares(self) -> bool:
        """Whether it compares the candidate with the baseline."""
        return self.bound.startswith("may_")

    @property
    def is_fixed(self) -> bool:
        """Whether it is about the candidate alone."""
        return not self.compares

    @property
    def is_estimated(self) -> bool:
        """Whether it needs to know how much the number depends on the images."""
        return self.metric is not None and (self.compares or self.certainty is not None)

    @property
    def title(self) -> str:
        """What messages call it."""
        return self.name or str(self)

    def __str__(self) -> str:
        what = str(self.value if self.metric is None else self.metric)
        if self.classes == "all":
            what = f"{what} of every class"
        elif self.classes:
            what = f"{what} of {', '.join(self.classes)}"
        if self.is_fixed:
            return f"{what} must be {self.bound.replace('_', ' ')} {self.limit:g}"
        verb = "fall" if self.bound == "may_fall_by" else "rise"
        return f"{what} may not {verb}" + (f" by more than {self.limit:g}" if self.limit else "")


@dataclass(frozen=True, kw_only=True)
class Rules:
    """All rules of a gate, and what they share."""

    rules: Sequence[Rule]
    """The rules; at least one."""
    certainty: float = 0.95
    """How certain the data must be, within [0.5, 1), in rules that do not say it themselves."""
    in_doubt: Doubt = "pass"
    """What happens if the data show neither, in rules that do not say it themselves."""
    replicates: int = 1000
    """How many replicates of the bootstrap; at least 20, as fewer do not tell a standard error."""
    seed: int = 0
    """Of the random numbers; at least 0."""
    source: str = "rules"
    """What messages call them, such as the path of their file."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", tuple(self.rules))
        if not self.rules:
            raise ValueError("there must be at least one rule")
        check_certainty(self.certainty)
        check_choice("in_doubt", self.in_doubt, get_args(Doubt))
        check_count(replicates=self.replicates)
        if self.replicates < _FEWEST_REPLICATES:
            raise ValueError(f"replicates must be at least {_FEWEST_REPLICATES}, got {self.replicates}")
        if operator.index(self.seed) < 0:
            raise ValueError(f"seed must be at least 0, got {self.seed}")

    def certainty_of(self, rule: Rule) -> float:
        """How certain the data must be for a rule."""
        return self.certainty if rule.certainty is None else rule.certainty

    def doubt_of(self, rule: Rule) -> Doubt:
        """What happens if the data show neither that a rule holds nor that it does not."""
        return self.in_doubt if rule.in_doubt is None else rule.in_doubt


def default_rules(protocol: Protocol) -> Rules:
    """The rule without a file: the main number of the protocol may not fall, with a certainty of 95 %.

    It breaks if the data show that the number fell. The main number of COCO is AP. A miss rate may not rise.
    """
    main = protocol.main_measure
    rule = Rule(metric=main.key, may_rise_by=0.0) if main.lower_is_better else Rule(metric=main.key, may_fall_by=0.0)
    return Rules(rules=(rule,), source="the default rule")


def check_certainty(certainty: float) -> None:
    """Raises an error if it is not a number within [0.5, 1)."""
    if not isinstance(certainty, int | float) or not 0.5 <= certainty < 1:
        raise ValueError(f"certainty must be at least 0.5 and below 1, got {certainty!r}")


def _check_limit(bound: str, limit: float) -> None:
    # Not math.isfinite, which cannot tell of an integer that is larger than every float.
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not abs(limit) <= sys.float_info.max:
        raise ValueError(f"{bound} must be a finite number, got {limit!r}")
    if bound.startswith("may_") and limit < 0:
        raise ValueError(f"{bound} must be at least 0, got {limit!r}")


_TEXTS = ("metric", "value", "in_doubt", "name")
_RULE = tuple(field.name for field in dataclasses.fields(Rule))
_RULES = tuple(field.name for field in dataclasses.fields(Rules) if field.name != "source")


def read_rules(path: str | os.PathLike[str]) -> Rules:
    r"""Read rules from a TOML file.

    The file has the fields of :class:`Rules`, and a table ``[[rules]]`` with the fields of :class:`Rule` for each rule.

    Args:
        path: The file.

    Raises:
        ValueError: If the file is not TOML, or a field is unknown or invalid; the message names the file and the rule.
        OSError: If the file cannot be read.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder, "gate.toml")
        ...     _ = file.write_text('certainty = 0.9\n[[rules]]\nmetric = "AP"\nmay_fall_by = 0.005')
        ...     print(read_rules(file).rules[0])
        AP may not fall by more than 0.005
    """
    source = os.fspath(path)
    given = read_toml(path)
    try:
        check_fields(given, _RULES)
        listed = given.pop("rules", [])
        if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
            raise ValueError("rules: expected tables [[rules]]")
        for name in ("replicates", "seed"):
            if name in given and (not isinstance(given[name], int) or isinstance(given[name], bool)):
                raise ValueError(f"{name}: expected a whole number, found {json.dumps(given[name], default=str)}")
        return Rules(rules=[_rule(one, f"rules[{at}]") for at, one in enumerate(listed)], source=source, **given)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None


def _rule(given: Mapping[str, Any], where: str) -> Rule:
    check_fields(given, _RULE, f"{where}.")
    for name, value in given.items():
        if name in _TEXTS and not isinstance(value, str):
            raise ValueError(f"{where}.{name}: expected text, found {json.dumps(value, default=str)}")
    classes = given.get("classes", "all")
    if classes != "all" and not (
        classes and isinstance(classes, list) and all(isinstance(one, str) for one in classes)
    ):
        found = json.dumps(classes, default=str)
        raise ValueError(f'{where}.classes: expected a list of names, or "all", found {found}')
    try:
        return Rule(**given)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
