"""What a gate found."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from ioukit._checks import pluralize
from ioukit._notebook import Shown
from ioukit._plain_values import plain_value, plain_values
from ioukit._words_and_colours import percent
from ioukit.comparison.words import chance
from ioukit.runs.gate.rules import Rule, as_decimal

Outcome: TypeAlias = Literal["passed", "broken", "undecided"]
Finding: TypeAlias = Literal["holds", "broken", "in doubt", "undefined"]
EXIT_CODES: dict[Outcome, int] = {"passed": 0, "broken": 1, "undecided": 2}
"""The exit code of `ioukit gate` for each outcome."""
PERMUTATIONS = 1000
"""How many permutations a test has, at most."""
_MOST_SHOWN = 20  # numbers of a rule in a text


@dataclass(frozen=True)
class RuleCheck:
    """A rule and one number: of the whole, of a class, or a value."""

    key: str
    """The name of the number: ``"AP"``, ``"AP/person"``, ``"latency"``."""
    baseline: float
    """The number of the baseline; NaN if it is undefined or there is no baseline."""
    candidate: float
    """The number of the candidate; NaN if it is undefined."""
    finding: Finding
    """``"holds"`` or ``"broken"`` if the data show it or numbers are compared as they are, ``"in doubt"`` if the data
    show neither, or ``"undefined"``. Where doubt passes, it is ``"holds"`` if the bounds alone say so."""
    low: float = math.nan
    """The lower bound of the difference, or of the number if the rule is about the candidate alone. NaN if the number
    is compared as it is, or is the same in both runs, whichever images are drawn."""
    high: float = math.nan
    """The upper bound. Each of the two is one-sided."""
    doubts: tuple[str, ...] = ()
    """Why the bounds may be wrong more often than they say, as :attr:`ioukit.statistics.Interval.warnings`."""
    p_value: float = math.nan
    """How often chance alone shows such a change, by a permutation test on one side. Of the classes of a rule that is
    broken, it is corrected for their number. More than 1 minus the certainty is doubt, but for a rule that holds with a
    margin. NaN unless the bounds alone break the rule; or let it hold by a change of more than the limit, where doubt
    does not pass."""
    permutations: int = 0
    """How many permutations the p-value comes from; fewer than 1,000 if these are all ways to exchange the images, or
    clusters, on which the runs differ."""

    @property
    def difference(self) -> float:
        """``candidate - baseline``."""
        return self.candidate - self.baseline

    def chance(self) -> str:
        """The p-value in words, such as ``"2 of 32 cases"``."""
        return chance(self.p_value, self.permutations, is_every=self.permutations < PERMUTATIONS)

    def notebook_values(self, gate: GateResult) -> dict[str, float | None]:
        """What a notebook shows of the number: bounds and a difference where there are any."""
        shown = {gate.baseline or "baseline": self.baseline, gate.candidate: self.candidate}
        shown |= {"difference": self.difference, "at least": self.low, "at most": self.high}
        return {title: None if math.isnan(value) else value for title, value in shown.items()}

    def to_dict(self) -> dict[str, Any]:
        """The fields in plain Python values, ``None`` where a number is undefined."""
        return {**plain_values(self), "difference": plain_value(self.difference)}


@dataclass(frozen=True)
class RuleResult:
    """A rule, and whether it is broken."""

    rule: Rule
    """The rule."""
    outcome: Outcome
    """``"passed"``, ``"broken"``, or ``"undecided"``: a number is undefined, or doubt is to be undecided."""
    checks: tuple[RuleCheck, ...]
    """The numbers: one, or one per class."""
    certainty: float | None
    """How certain the bounds are; ``None`` if numbers are compared as they are."""
    reason: str
    """Why, in one sentence."""

    @property
    def title(self) -> str:
        """What the rule is called."""
        return self.rule.title

    @property
    def lines(self) -> list[str]:
        """What it is called and why; the reason alone where it says how the number of the rule changed."""
        says_all = not self.rule.name and any(self.reason.startswith(f"{check.key} ") for check in self.checks)
        if says_all:
            return [self.reason]
        return [f"{self.rule.name}: {self.rule}" if self.rule.name else self.title, self.reason]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python values, ``None`` where a number is undefined."""
        return {**plain_values(self), "rule": str(self.rule), "name": self.rule.name}


@dataclass(frozen=True, repr=False)
class GateResult(Shown):
    """Whether a candidate may replace a baseline."""

    baseline: str
    """The name of the baseline; empty if there is none."""
    candidate: str
    """The name of the candidate."""
    results: tuple[RuleResult, ...]
    """One per rule; none if the runs cannot be compared."""
    reason: str = ""
    """Why the runs cannot be compared; empty if they can."""
    num_images: int = 0
    """How many images the runs were evaluated on."""
    num_clusters: int = 0
    """How many images, or clusters of them, were drawn for bounds; 0 if none were."""
    replicates: int = 0
    """How many replicates of the bootstrap were drawn."""
    seed: int = 0
    """Their seed."""

    @property
    def outcome(self) -> Outcome:
        """``"broken"`` if a rule is broken; else ``"undecided"`` if one is, or the runs cannot be compared."""
        outcomes = {result.outcome for result in self.results}
        if "broken" in outcomes:
            return "broken"
        return "undecided" if self.reason or "undecided" in outcomes else "passed"

    @property
    def passed(self) -> bool:
        """Whether all rules passed."""
        return self.outcome == "passed"

    @property
    def exit_code(self) -> int:
        """0 if all rules passed, 1 if one is broken, 2 if it cannot be decided."""
        return EXIT_CODES[self.outcome]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python values, ``None`` where a number is undefined."""
        return {
            "outcome": self.outcome,
            "baseline": self.baseline or None,
            "candidate": self.candidate,
            "reason": self.reason or None,
            "rules": [result.to_dict() for result in self.results],
            "images": self.num_images,
            "clusters": self.num_clusters,
            "replicates": self.replicates,
            "seed": self.seed,
        }

    def __repr__(self) -> str:
        return f"GateResult({self.notebook_caption()})"

    def notebook_caption(self) -> str:
        """The outcome."""
        return "; ".join(self._outcome_in_words())

    def notebook_rows(self) -> tuple[Iterable[Any], int]:
        """One row per rule and number."""
        rows = [
            {"rule": result.title, "outcome": result.outcome, "": check.key, **check.notebook_values(self)}
            | {"why": result.reason}
            for result in self.results
            for check in result.checks
        ]
        return rows, len(rows)

    def _outcome_in_words(self) -> list[str]:
        runs = f"{self.candidate} compared with {self.baseline}" if self.baseline else self.candidate
        images = pluralize(self.num_images, "image")
        if self.num_clusters not in (0, self.num_images):
            images += f" in {pluralize(self.num_clusters, 'cluster')}"
        words = [f"{self.outcome}: {runs}, {images}"]
        return [*words, f"cannot be decided: {self.reason}"] if self.reason else words

    def to_text(self) -> str:
        """The outcome, and a few lines for each rule."""
        lines = self._outcome_in_words()
        for result in self.results:
            said = list(result.lines)
            for check in result.checks[:_MOST_SHOWN]:
                said += filter(None, (shown_check(check, result), shown_doubts(check)))
            lines += ["", *(f"{'' if at else result.outcome:9}  {line}" for at, line in enumerate(said))]
            if len(result.checks) > _MOST_SHOWN:
                lines.append(f"           and {len(result.checks) - _MOST_SHOWN:,} more")
        return "\n".join(lines)


def certainties_of(rule: Rule, certainty: float, count: int) -> tuple[float, float]:
    """How certain the lower and the upper bound are: the one that can break the rule for one of several classes more.

    Args:
        rule: The rule.
        certainty: Its certainty.
        count: How many numbers it is about.
    """
    of_many = 1 - (1 - certainty) / count
    return (certainty, of_many) if rule.forbids_low else (of_many, certainty)


def shown_check(check: RuleCheck, result: RuleResult) -> str:
    """The numbers of a check: ``AP  0.4120 -> 0.4180  +0.0060; at least -0.0010 (95 %), at most +0.0130 (95 %)``."""
    parts = [check.key, *shown_numbers(check, result.rule)]
    if result.rule.compares:
        parts[1:3] = [f"{parts[1]} -> {parts[2]}"]
    text, bounds = "  ".join(parts), shown_bounds(check, result)
    return f"{text}; {bounds}" if bounds else text


def shown_numbers(check: RuleCheck, rule: Rule) -> list[str]:
    """The number of the candidate; if the rule compares, that of the baseline before it and the difference after it."""
    exact = None if not math.isnan(check.low) or check.finding == "undefined" else check.finding == "holds"
    if not rule.compares:
        return [_shown(check.candidate, rule, exact)]
    return [_shown(check.baseline, rule), _shown(check.candidate, rule), _shown(check.difference, rule, exact, "+")]


def shown_bounds(check: RuleCheck, result: RuleResult) -> str:
    """The one-sided bounds, and how certain each is, and how often chance makes as much of a class; empty without."""
    if result.certainty is None or math.isnan(check.low):
        return ""
    rule, sign = result.rule, "+" if result.rule.compares else ""
    low, high = (rule.allows(as_decimal(bound)) for bound in (check.low, check.high))
    certain = [f" ({percent(each)})" for each in certainties_of(rule, result.certainty, len(result.checks))]
    often = ""
    if len(result.checks) > 1 and check.finding == "in doubt" and not math.isnan(check.p_value):
        often = f"; by chance in {check.chance()}"
    return (
        f"at least {_shown(check.low, rule, low, sign)}{certain[0]}, "
        f"at most {_shown(check.high, rule, high, sign)}{certain[1]}{often}"
    )


def shown_doubts(check: RuleCheck) -> str:
    """Why the bounds are doubtful; empty if they are not."""
    return f"doubtful: {'; '.join(check.doubts)}" if check.doubts else ""


def _shown(value: float, rule: Rule, allowed: bool | None = None, sign: str = "") -> str:
    """A number with four decimals, or with as many as show whether the rule allows it."""
    if math.isnan(value):
        return "undefined"
    texts = (f"{value:{sign}.{digits}f}" for digits in range(4, 10))
    texts = (text if float(text) else text.lstrip("+-") for text in texts)
    return next((text for text in texts if allowed in (None, rule.allows(Decimal(text)))), f"{value:{sign}}")
