"""What a gate says is recomputed: every verdict, number and bound is read back from its text."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ioukit.runs import GateResult, Rule, Rules, check_rules, gate_junit, gate_markdown
from ioukit.runs.gate.gate_result import RuleCheck, RuleResult
from ioukit.statistics import compare, intervals
from support.odd_models import odd_models

if TYPE_CHECKING:
    from ioukit import Evaluation

NUMBER = r"[-+]?\d[\d.e+-]*|undefined"
BOUNDS = re.compile(rf"at least ({NUMBER}) \(([\d.]+) %\), at most ({NUMBER}) \(([\d.]+) %\)")
CHECK = re.compile(rf"(\S+)  (?:({NUMBER}) -> )?({NUMBER})(?:  ({NUMBER}))?(?:; (.*))?")
CHANGE = re.compile(
    rf".+ (fell|rose|is the same,) (?:by )?({NUMBER})(?: points)? "
    rf"\((?:change of )?({NUMBER}) to ({NUMBER})(?: points)?\): (not allowed|allowed|in doubt)"
    r"(?:; it may (not )?(fall|rise)(?: by (1(?= point(?:;|$))|[\d.e-]+(?= points)) points?)?)?"
    r"(?:; chance alone would show such a (?:fall|rise) in (?:at most )?\d+ of [\d,]+ cases)?(?:; in_doubt is (\w+))?"
)
CHANCE = re.compile(r"; chance alone would show such a (?:fall|rise) in (?:at most )?(\d+) of ([\d,]+) cases")
BETWEEN, SUCH_A_CHANGE = "the limit lies between the bounds", "chance alone would show such a change"
DOUBT = re.compile(
    rf"in doubt(?: for (\d+) of (\d+) classes)?: ({BETWEEN})?(?: or )?({SUCH_A_CHANGE})?; in_doubt is (\w+)"
)
OF_CLASS = re.compile(r"; by chance in (at most )?\d+ of [\d,]+ cases|; by chance in nearly every case")
CODES = {"passed": 0, "broken": 1, "undecided": 2}


@st.composite
def gates(draw: st.DrawFn) -> tuple[GateResult, Evaluation, Evaluation, Rules]:
    kinds = st.sampled_from(
        [("some", "some"), ("same", "same"), ("right", "none"), ("some", "right"), ("none", "none")]
    )
    images, classes = draw(st.sampled_from([1, 2, 3, 12])), draw(st.sampled_from([1, 2, 5]))
    baseline, candidate = odd_models(draw(st.integers(0, 10**6)), images, classes, draw(kinds))
    fallen = baseline.summary["AP"] - candidate.summary["AP"]
    latency = draw(st.sampled_from([12.3, 12.8, 12.80000001]))
    doubt: st.SearchStrategy[Any] = st.sampled_from(["pass", "fail", "undecided"])
    margin = st.sampled_from([0.0, 0.01, 0.02, min(max(0.0, fallen), 0.99)])
    rules = Rules(
        rules=[
            Rule(metric="AP", may_fall_by=draw(margin), in_doubt=draw(doubt)),
            Rule(metric="AP50", classes="all", may_fall_by=draw(margin), certainty=draw(st.sampled_from([0.8, 0.95]))),
            Rule(metric="AR100", may_rise_by=draw(margin)),
            Rule(metric="AP", at_least=draw(st.sampled_from([0.3, 1.0])), certainty=0.9),
            Rule(metric="AP50", at_most=0.5),
            Rule(value="latency", may_rise_by=0.5),
        ],
        replicates=20,
    )
    values: dict[str, Any] = {"candidate_values": {"latency": latency}, "baseline_values": {"latency": 12.3}}
    return check_rules(candidate, baseline, rules, **values), baseline, candidate, rules


def allowed(rule: Rule, text: str) -> bool:
    """Whether a number, or a difference, keeps a rule, from its text."""
    number = float(text)
    if rule.bound in ("may_fall_by", "at_least"):
        return number >= (rule.limit if rule.bound == "at_least" else -rule.limit)
    return number <= rule.limit


def check_line(
    line: str, rule: Rule, certainty: float | None, count: int, models: tuple[Evaluation, Evaluation]
) -> str:
    """What the numbers of a line show; the numbers themselves are compared with those of the evaluations."""
    parsed = CHECK.fullmatch(line)
    assert parsed, line
    key, before, after, difference, bounds = parsed.groups()
    baseline, candidate = (one.metrics(per_class=("AP", "AP50")).get(key, math.nan) for one in models)
    if rule.metric is not None:
        assert math.isnan(candidate) if after == "undefined" else abs(float(after) - candidate) <= 5e-5 + 1e-12
        if rule.compares and difference != "undefined":
            assert abs(float(before) - baseline) <= 5e-5 + 1e-12
            assert abs(float(difference) - (candidate - baseline)) <= 5e-5 + 1e-12
    main = difference if rule.compares else after
    if bounds is None:
        if main == "undefined" or (certainty is not None and float(main) != 0):
            return "undefined"
        return "holds" if allowed(rule, main) else "broken"
    (match,) = BOUNDS.finditer(bounds)
    low, first, high, second = match.groups()
    assert float(low) < float(high), "bounds without a width show nothing"
    assert float(low) <= float(main) + 1e-4 or not rule.compares
    low_alone = rule.bound in ("may_fall_by", "at_least")
    assert certainty is not None
    strict = 100 * (1 - (1 - certainty) / count)
    expected = (100 * certainty, strict) if low_alone else (strict, 100 * certainty)
    assert abs(float(first) - expected[0]) < 1e-3
    assert abs(float(second) - expected[1]) < 1e-3
    on = images_with_objects(models[0], key)
    for side, text, level in (("low", low, expected[0]), ("high", high, expected[1])):
        if 0.5**on > 1 - level / 100:  # by chance, all images agree more often than that
            assert float(text) == {"low": -float(rule.compares), "high": 1.0}[side]
            continue
        two_sided = 2 * level / 100 - 1
        one: Any
        if rule.compares:
            one = compare(*models, keys=[key], level=two_sided, replicates=20, permutations=1).differences[0]
        else:
            one = intervals(models[1], key, level=two_sided, replicates=20)[key]
        at_end = abs(float(main)) == 1 or (not rule.compares and float(main) == 0)
        if one.high - one.low > 1e-9 and not at_end:
            assert abs(float(text) - getattr(one, side)) <= 5e-5 + 1e-12
        else:  # nothing varies, or all images agree: the bounds of the gate are wider
            assert (float(text) - getattr(one, side)) * (1 if side == "high" else -1) >= -5e-5 - 1e-12
    worst, best = (low, high) if low_alone else (high, low)
    shown = "holds" if allowed(rule, worst) else "in doubt" if allowed(rule, best) else "broken"
    if OF_CLASS.search(bounds):
        assert shown != "in doubt", "chance is a doubt of what the bounds decide"
        return "in doubt"
    return shown


def images_with_objects(evaluation: Evaluation, key: str) -> int:
    """On how many images there are objects that count, of the class of a number or of any."""
    name, gt = key.partition("/")[2], evaluation.ground_truth
    assert gt is not None
    of_class = gt.category_ids == evaluation.per_class[name].id if name else np.ones(len(gt), np.bool_)
    return len(np.unique(gt.image_ids[of_class & ~gt.crowd]))


def check_change(reason: str, rule: Rule, check: RuleCheck, doubt: str) -> None:
    """The sentence about one number says its change, its bounds, and what the rule makes of them."""
    parsed = CHANGE.fullmatch(reason)
    assert parsed, reason
    way, *numbers, said, forbidden, direction, limit, asked = parsed.groups()
    assert (way == "is the same,") == (abs(check.difference) < 1e-12)
    if way == "is the same,":
        assert abs(float(numbers.pop(0)) - check.candidate) <= 5.1e-5
    else:
        assert float(numbers[0]) > 0
    sign = -100 if way == "fell" else 100
    bounds = sorted((sign * check.low, sign * check.high))
    for text, value in zip(numbers[::-1], (*bounds[::-1], sign * check.difference), strict=False):
        assert abs(float(text) - value) <= 5.1e-3
    assert sign * check.difference >= -1e-10
    assert said == {"broken": "not allowed", "holds": "allowed"}.get(check.finding, check.finding)
    assert float(limit or 0) == pytest.approx(100 * rule.limit, rel=1e-4)
    # That a number may not fall at all goes without saying: gates are there for that.
    assert direction == ("rise" if rule.bound == "may_rise_by" else "fall" if rule.limit else None)
    assert bool(forbidden) == (direction is not None and not rule.limit)
    assert asked == (doubt if said == "in doubt" else None)


def check_reason(reason: str, found: list[str], lines: list[str], doubt: str) -> None:
    """The reason says what the lines show."""
    assert ("it does not hold" in reason) == ("broken" in found)
    if "broken" in found and len(found) > 1:
        names = [line.partition("  ")[0].partition("/")[2] for line, each in zip(lines, found, strict=True)
                 if each == "broken"]  # fmt: skip
        assert reason.endswith(f" for {', '.join(names)}")
    bounded = ["at least" in line for line in lines]
    if "the data show" in reason or "by its bounds" in reason:
        assert any(one for one, each in zip(bounded, found, strict=True) if each != "in doubt")
    if "same number" in reason:
        assert bounded.count(False) == (
            len(found) if "whichever" in reason else int(re.findall(r"for (\d+) of", reason)[0])
        )
    open_ones = DOUBT.fullmatch(reason)
    assert bool(open_ones) == ("in doubt" in found and not {"broken", "undefined"} & set(found))
    if open_ones:
        by_chance = [bool(OF_CLASS.search(line)) for line, each in zip(lines, found, strict=True) if each == "in doubt"]
        assert (bool(open_ones[3]), bool(open_ones[4])) == (not all(by_chance), any(by_chance))
        assert open_ones[5] == doubt
        if len(found) > 1:
            assert (open_ones[1], open_ones[2]) == (str(found.count("in doubt")), str(len(found)))


def outcome_of(found: list[str], doubt: str) -> str:
    if "broken" in found:
        return "broken"
    if "undefined" in found or not found:
        return "undecided"
    return {"pass": "passed", "fail": "broken", "undecided": "undecided"}[doubt] if "in doubt" in found else "passed"


def cells(result: RuleResult, markdown: str) -> list[str]:
    """The lines of a rule as its rows of the table in Markdown have them."""
    keys = [check.key for check in result.checks]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in markdown.splitlines() if line[:1] == "|"]
    made = []
    for key, before, after, difference, bounds in (row for row in rows if len(row) == 5 and row[0] in keys):
        numbers = f"{before} -> {after}  {difference}" if before else after
        shown = bounds.partition("; doubtful: ")[0]
        made.append(f"{key}  {numbers}{'; ' if shown else ''}{shown}")
    return made


@settings(deadline=None, max_examples=20)
@given(gates())
def test_every_line_of_a_gate_is_true(made: tuple[GateResult, Evaluation, Evaluation, Rules]) -> None:
    result, baseline, candidate, rules = made
    head, *paragraphs = result.to_text().split("\n\n")
    first = head.splitlines()[0]
    images = len(candidate.matches.image_ids)
    assert first == f"{result.outcome}: candidate compared with baseline, {images:,} image{'' if images == 1 else 's'}"
    markdown, junit = gate_markdown(result), ElementTree.fromstring(gate_junit(result).encode())
    outcomes, one_image = [], "cannot be decided" in head
    for one, rule, paragraph in zip(result.results, rules.rules, paragraphs, strict=True):
        unknown = one_image and one.certainty is not None  # nothing tells how sure the numbers are
        title, *said = (line.strip() for line in paragraph.splitlines())
        lines = [line for line in said if not line.startswith("doubtful: ")]
        doubts = [check.doubts for check in one.checks if check.doubts]
        assert [line for line in said if line not in lines] == [f"doubtful: {'; '.join(reasons)}" for reasons in doubts]
        changed = CHANGE.fullmatch(one.reason)
        assert title.split(maxsplit=1) == [one.outcome, one.reason if changed else str(rule)]
        reason = one.reason if changed else lines.pop(0)
        said = said if changed else said[1:]
        found = [
            "undefined" if unknown or f"{line.split()[0]}, " in f"{reason.partition(':')[0]}, " else shown
            for line in lines
            for shown in [check_line(line, rule, one.certainty, len(lines), (baseline, candidate))]
        ]
        doubt = rules.doubt_of(rule)
        if by_chance := CHANCE.search(reason):
            # The bounds alone break the rule, or show that it holds.
            assert one.certainty is not None
            assert found == ["broken"] or (found == ["holds"] and doubt != "pass")
            p_value = one.checks[0].p_value
            assert p_value > 1 - (one.certainty or 0)
            both_sides = compare(baseline, candidate, keys=one.checks[0].key, replicates=2)[one.checks[0].key].p_value
            assert p_value <= both_sides + 1e-12
            assert float(by_chance[1]) / float(by_chance[2].replace(",", "")) == pytest.approx(p_value, abs=0.02)
            found = ["in doubt"]
        elif found == ["broken"] and rule.compares and one.certainty is not None:
            assert one.checks[0].p_value <= 1 - one.certainty + 1e-12
        if changed:
            check_change(reason, rule, one.checks[0], doubt)
        else:
            check_reason(reason, found, lines, doubt)
        assert outcome_of(found, doubt) == one.outcome
        assert found == [check.finding for check in one.checks]
        outcomes.append(one.outcome)
        (case,) = (case for case in junit.iter("testcase") if case.get("name") == str(rule))
        assert [child.tag for child in case] == {"passed": [], "broken": ["failure"], "undecided": ["error"]}[
            one.outcome
        ]
        for child in case:
            assert child.get("message") == f"{reason}: {'; '.join(said)}"
        assert set(lines) <= set(cells(one, markdown))
    whole = "broken" if "broken" in outcomes else "undecided" if one_image or "undecided" in outcomes else "passed"
    assert (result.outcome, result.exit_code) == (whole, CODES[whole])
