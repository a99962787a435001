"""Checking rules: a candidate compared with a baseline."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ioukit._near_names import suggest
from ioukit._progress import as_part
from ioukit.evaluation._same_scene import check_same_ground_truth
from ioukit.evaluation.class_results import class_labels
from ioukit.runs.gate.by_chance import ROUNDING, ByChance
from ioukit.runs.gate.gate_result import (
    Finding,
    GateResult,
    Outcome,
    RuleCheck,
    RuleResult,
    certainties_of,
)
from ioukit.runs.gate.rules import Rule, Rules, as_decimal, default_rules
from ioukit.statistics.estimating import enough_groups
from ioukit.statistics.evidence import Estimate, Evidence
from ioukit.statistics.named_numbers import named_numbers
from ioukit.statistics.resampling import Labels

if TYPE_CHECKING:
    from ioukit.evaluation import Evaluation


def check_rules(
    candidate: Evaluation,
    baseline: Evaluation | None = None,
    rules: Rules | None = None,
    *,
    candidate_values: Mapping[str, float] | None = None,
    baseline_values: Mapping[str, float] | None = None,
    names: tuple[str, str] = ("candidate", "baseline"),
    strata: Labels | None = None,
    clusters: Labels | None = None,
    threads: int | None = None,
) -> GateResult:
    """Check whether a candidate keeps rules, most of them in comparison with a baseline.

    Bounds of a difference are those of :func:`ioukit.statistics.compare`, and bounds of a number of the candidate those
    of :func:`ioukit.statistics.intervals`, without the bias of AP. They are one-sided, because a rule forbids one
    direction: with a certainty of 95 %, they are the limits of an interval with a level of 90 %.

    A rule about several classes is broken if the data show it for one of them. The more classes, the likelier is such a
    finding by chance; so for K classes, that bound has a certainty of ``1 - (1 - certainty) / K`` (Bonferroni). The
    data show that the rule holds if they show it for every class. That bound needs no correction, because chance would
    have to help every class (an intersection-union test).

    Few images show nothing: all of n images, or clusters, with objects agree by chance with a probability of
    ``0.5 ** n``. Where that is more than a bound may err, it is the least or the greatest number that there is. If few
    images differ, bounds are too close. So a rule that compares is broken only if a permutation test shows the change,
    too, as :func:`ioukit.statistics.compare` makes it, on one side, and of classes with its correction; else it is in
    doubt. Where doubt does not pass, a rule holds by a change of more than its limit only if the test shows it, too.

    A number that is the same in both runs, whichever images are drawn, has no bounds: it did not change. A class on few
    images that takes a part of its variance from other classes has bounds even then. Without any spread, a change of n
    images or clusters leaves room for a share of ``1 - (1 - certainty) ** (1 / n)`` that differ.

    Args:
        candidate: The evaluation of the model that may replace the baseline.
        baseline: The evaluation of the model that it is compared with, on the same ground truth. Rules about the
            candidate alone need none.
        rules: The rules; :func:`default_rules` if ``None``.
        candidate_values: The values of the candidate, such as its latency.
        baseline_values: The values of the baseline.
        names: What messages call the two.
        strata: The stratum of each image, as for :func:`ioukit.statistics.compare`.
        clusters: The cluster of each image, such as its video, in the same way. Images of one video are alike: without
            clusters, a gate breaks too often on them.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Returns:
        The outcome. It is ``"undecided"`` if the two were not evaluated on the same ground truth, a value is missing,
        or a number is undefined.

    Raises:
        ValueError: If there is no such metric or class, no model can break or keep a limit, or a rule needs a baseline
            and there is none.

    Sources: Efron and Tibshirani, An Introduction to the Bootstrap, 1993. Berger, Multiparameter hypothesis testing and
    acceptance sampling, Technometrics 24, 1982 (intersection-union tests).
    """
    asked = default_rules(candidate.protocol) if rules is None else rules
    compares = any(rule.compares for rule in asked.rules)
    if compares and baseline is None:
        raise ValueError(f"{asked.source}: a rule compares with a baseline: give one")
    shown = (names[0], names[1] if baseline is not None else "")
    if compares and baseline is not None:
        try:
            check_same_ground_truth(baseline, candidate, names=(names[1], names[0]))
        except ValueError as error:
            return GateResult(shown[1], shown[0], (), str(error), len(candidate.matches.image_ids))
    sides = _Sides(
        candidate.metrics(per_class=tuple(candidate.summary)),
        baseline.metrics(per_class=tuple(baseline.summary)) if compares and baseline is not None else {},
        candidate_values or {},
        baseline_values or {},
        class_labels(candidate.per_class),
    )
    keys = {rule: _keys(rule, sides, asked.source) for rule in asked.rules}
    estimated = [rule for rule in asked.rules if rule.is_estimated and keys[rule]]
    replicates, reason, num_clusters = 0, "", 0
    estimates: dict[tuple[str, bool], Estimate] = {}
    by_chance = None
    if estimated and len(candidate.matches.image_ids) < 2:
        reason = "one image does not tell how much the numbers depend on the images"
    elif estimated:
        replicates = asked.replicates
        sorts = {rule.compares for rule in estimated}
        for at, of_difference in enumerate(sorts):
            # The candidate's numbers need their bias, which is that of the first evaluation.
            evaluations = [baseline, candidate] if of_difference and baseline is not None else [candidate]
            needed = dict.fromkeys(key for rule in estimated if rule.compares == of_difference for key in keys[rule])
            groups = enough_groups(candidate.matches, strata, clusters)
            num_clusters = groups.num_clusters
            numbers = named_numbers(candidate, list(needed))
            evidence = Evidence(numbers, evaluations, groups, replicates, asked.seed, threads)
            with as_part(at, len(sorts)):
                found = evidence.differences if of_difference else evidence.estimates
            estimates.update(((key, of_difference), one) for key, one in zip(needed, found, strict=True))
            by_chance = ByChance(evidence, list(needed)) if of_difference else by_chance
    results = tuple(_result(rule, asked, keys[rule], sides, estimates, by_chance) for rule in asked.rules)
    images = len(candidate.matches.image_ids)
    return GateResult(shown[1], shown[0], results, reason, images, num_clusters, replicates, asked.seed)


class _Sides(NamedTuple):
    """The numbers of the two runs."""

    candidate: Mapping[str, float]
    baseline: Mapping[str, float]
    candidate_values: Mapping[str, float]
    baseline_values: Mapping[str, float]
    labels: Sequence[str]

    def numbers(self, rule: Rule, key: str) -> tuple[float, float]:
        """The numbers of the baseline and of the candidate; NaN if there is none, or the rule does not need it."""
        of_values = rule.metric is None
        baseline = self.baseline_values if of_values else self.baseline
        candidate = self.candidate_values if of_values else self.candidate
        return baseline.get(key, math.nan) if rule.compares else math.nan, candidate.get(key, math.nan)


def _keys(rule: Rule, sides: _Sides, source: str) -> list[str]:
    """The numbers that a rule is about.

    Raises:
        ValueError: If there is no such metric or class.
    """
    if rule.metric is None:
        return [str(rule.value)]
    known = sides.candidate
    _check_known(rule.metric, known, "metric", source)
    _check_reachable(rule, source)
    if rule.is_estimated and rule.metric.startswith("counts/"):
        raise ValueError(f"{source}: {rule.metric} is a count: use at_least or at_most without a certainty")
    if rule.classes == "all":
        every = [f"{rule.metric}/{label}" for label in sides.labels]
        return [key for key in every if not all(map(math.isnan, sides.numbers(rule, key)))]
    for name in rule.classes:
        _check_known(f"{rule.metric}/{name}", known, "class", source, shown=name)
    return [f"{rule.metric}/{name}" for name in rule.classes] or [rule.metric]


def _check_reachable(rule: Rule, source: str) -> None:
    """Refuses limits of a number between 0 and 1 that no model can break, or keep: most often points, not hundredths.

    Raises:
        ValueError: If the limit is such a one. What counts, and values of the user, have other ranges.
    """
    limit = rule.limit
    if str(rule.metric).startswith("counts/") or (limit < 1 if rule.compares else 0 <= limit <= 1):
        return
    expected = "at least 0 and below 1" if rule.compares else "from 0 to 1"
    points = f"; {limit:g} point{'' if limit == 1 else 's'} would be {limit / 100:g}" if 1 <= limit <= 100 else ""
    raise ValueError(
        f"{source}: {rule.title!r}: {rule.metric} is a number between 0 and 1, so {rule.bound} must be {expected}, got "
        f"{limit:g}{points}"
    )


def _check_known(key: str, known: Mapping[str, float], what: str, source: str, *, shown: str | None = None) -> None:
    if key in known:
        return
    start = key.removesuffix(shown) if shown else ""
    names = [one.removeprefix(start) for one in known if one.startswith(start)]
    word = shown or key
    hint = suggest(word, names, f"there are {', '.join(names[:12])}")
    raise ValueError(f"{source}: there is no {what} {word!r}{hint}")


def _result(
    rule: Rule,
    rules: Rules,
    keys: Sequence[str],
    sides: _Sides,
    estimates: Mapping[tuple[str, bool], Estimate],
    by_chance: ByChance | None,
) -> RuleResult:
    certainty = rules.certainty_of(rule) if rule.is_estimated else None
    checks = []
    for key in keys:
        numbers = sides.numbers(rule, key)
        if certainty is None:
            checks.append(RuleCheck(key, *numbers, _exact(rule, *numbers)))
            continue
        estimate = estimates.get((key, rule.compares))
        if estimate is None or math.isnan(estimate.value):
            checks.append(RuleCheck(key, *numbers, "undefined"))
            continue
        bounds = _bounds(rule, estimate, certainties_of(rule, certainty, len(keys)))
        if math.isnan(bounds[0]):
            checks.append(RuleCheck(key, *numbers, _exact(rule, *numbers)))
            continue
        checks.append(RuleCheck(key, *numbers, _finding(rule, *bounds), *bounds, estimate.warnings))
    if certainty is not None and rule.compares and by_chance is not None:
        # Where few images differ, a number has few values, and its bounds are too close.
        checks = by_chance.confirmed(rule, checks, certainty, strict=rules.doubt_of(rule) != "pass")
    outcome = _outcome(rule, rules, checks)
    has_bounds = rule.compares and len(checks) == 1 and not math.isnan(checks[0].low)
    reason = _change(rule, rules, checks[0]) if has_bounds else _reason(rule, rules, checks, certainty)
    return RuleResult(rule, outcome, tuple(checks), certainty, reason)


def _bounds(rule: Rule, estimate: Estimate, certainties: tuple[float, float]) -> tuple[float, float]:
    """One-sided bounds; NaN if the two runs have the same number in every data set that was drawn."""
    least = -float(rule.compares)
    if math.isnan(estimate.error):  # one image, or cluster, with objects does not tell how another one would differ
        return least, 1.0
    limits = estimate.limits_of_difference if rule.compares else estimate.limits
    low, high = (limits(2 * one - 1)[side] for side, one in enumerate(certainties))
    has_no_spread = math.hypot(estimate.error, estimate.doubt) <= ROUNDING
    if has_no_spread and rule.compares and abs(estimate.value) <= ROUNDING:
        return math.nan, math.nan
    # A class has no spread if all of its images are right, or all wrong, though it takes one from the other classes.
    if has_no_spread or estimate.value in ((-1, 1) if rule.compares else (0, 1)):
        # No spread is no proof: if all n clusters agree, a share of 1 - (1 - certainty)^(1/n) may still differ.
        count = estimate.clusters or 1
        shares = [1 - (1 - one) ** (1 / count) for one in certainties]
        low = min(low, estimate.value - shares[0] * (estimate.value + rule.compares))
        high = max(high, estimate.value + shares[1] * (1 - estimate.value))
    return (
        low if estimate.shows(certainties[0]) else least,
        high if estimate.shows(certainties[1]) else 1.0,
    )


def _finding(rule: Rule, low: float, high: float) -> Finding:
    """What bounds show about a rule."""
    worst, best = (low, high) if rule.forbids_low else (high, low)
    return "holds" if rule.allows(as_decimal(worst)) else "in doubt" if rule.allows(as_decimal(best)) else "broken"


def _exact(rule: Rule, baseline: float, candidate: float) -> Finding:
    """Whether numbers keep a rule as they are. Differences are those of the decimal numbers: 12.8 - 12.3 is 0.5."""
    if math.isnan(candidate - baseline if rule.compares else candidate):
        return "undefined"
    value = as_decimal(candidate) - (as_decimal(baseline) if rule.compares else 0)
    return "holds" if rule.allows(value) else "broken"


def _outcome(rule: Rule, rules: Rules, checks: Sequence[RuleCheck]) -> Outcome:
    found = {check.finding for check in checks}
    if "broken" in found:
        return "broken"
    if "undefined" in found or not checks:
        return "undecided"
    if "in doubt" in found:
        outcomes: dict[str, Outcome] = {"pass": "passed", "fail": "broken", "undecided": "undecided"}
        return outcomes[rules.doubt_of(rule)]
    return "passed"


def _reason(rule: Rule, rules: Rules, checks: Sequence[RuleCheck], certainty: float | None) -> str:
    """Why the outcome is what it is."""
    if not checks:
        return "no class has a number"
    of = {
        finding: [check for check in checks if check.finding == finding]
        for finding in ("broken", "undefined", "in doubt")
    }
    many = len(checks) > 1
    if of["broken"]:
        named = f" for {', '.join(check.key.partition('/')[2] or check.key for check in of['broken'])}" if many else ""
        return f"it does not hold{named}" if certainty is None else f"the data show that it does not hold{named}"
    if of["undefined"]:
        if rule.metric is None:
            return _missing_value(rule, of["undefined"][0])
        return f"{', '.join(check.key for check in of['undefined'])}: the number or its bounds are undefined"
    if of["in doubt"]:
        named = f" for {len(of['in doubt']):,} of {len(checks):,} classes" if many else ""
        by_chance = [not math.isnan(check.p_value) for check in of["in doubt"]]
        why = [] if all(by_chance) else ["the limit lies between the bounds"]
        why += ["chance alone would show such a change"] if any(by_chance) else []
        return f"in doubt{named}: {' or '.join(why)}; in_doubt is {rules.doubt_of(rule)}"
    return "it holds" if certainty is None else _why_it_holds(rule, rules, checks)


def _change(rule: Rule, rules: Rules, check: RuleCheck) -> str:
    """How a number changed, and whether it may: ``"AP fell by 5.20 points (3.81 to 7.52): not allowed"``."""
    sign = -1 if check.difference < 0 else 1
    size = 100 * abs(check.difference)
    digits = next((each for each in range(2, 10) if size >= 0.5 * 10**-each), 2)  # so that no change looks like 0
    limits = " to ".join([f"{100 * sign * value:.{digits}f}" for value in (check.low, check.high)][::sign])
    change = f"{'fell' if sign < 0 else 'rose'} by {size:.{digits}f} points ({limits})"
    if abs(check.difference) < ROUNDING:
        change = f"is the same, {check.candidate:.4f} (change of {limits} points)"
    allowed = {"broken": "not allowed", "holds": "allowed"}.get(check.finding, check.finding)
    allowance = f"{100 * rule.limit:g}"
    limit = f"; it may {'fall' if rule.forbids_low else 'rise'} by {allowance} point{'' if allowance == '1' else 's'}"
    if not rule.limit:
        limit = "" if rule.forbids_low else "; it may not rise"
    doubt = f"; in_doubt is {rules.doubt_of(rule)}" if check.finding == "in doubt" else ""
    if doubt and not math.isnan(check.p_value):
        way = "fall" if sign < 0 else "rise"
        doubt = f"; chance alone would show such a {way} in {check.chance()}{doubt}"
    return f"{check.key} {change}: {allowed}{limit}{doubt}"


def _why_it_holds(rule: Rule, rules: Rules, checks: Sequence[RuleCheck]) -> str:
    """Why a rule holds by bounds, or because nothing differs."""
    same = sum(math.isnan(check.low) for check in checks)
    if same == len(checks):
        return "it holds: both have the same number, whichever images are drawn"
    also = f"; both have the same number for {same:,} of {len(checks):,} classes" if same else ""
    # Where doubt passes, too, no permutation test was made of what holds by its bounds.
    tested = not rule.compares or rules.doubt_of(rule) != "pass"
    return f"{'the data show that it holds' if tested else 'it holds by its bounds'}{also}"


def _missing_value(rule: Rule, check: RuleCheck) -> str:
    """Which run lacks a value, and how to add it; or why there is no difference."""
    lacking = ["candidate"] if math.isnan(check.candidate) else []
    if rule.compares and math.isnan(check.baseline):
        lacking.insert(0, "baseline")
    if not lacking:
        return f"{check.key!r} is infinite in the baseline and the candidate, so their difference is undefined"
    return f"no value {check.key!r} in the {' and the '.join(lacking)}: add it with `ioukit eval --value`"
