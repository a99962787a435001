"""Rules are broken, kept or undecided as the data show it, with the bounds of the paired bootstrap."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from ioukit import Detections, Evaluation, GroundTruth, evaluate
from ioukit.evaluation import COCO
from ioukit.runs import GateResult, Rule, Rules, check_rules, gate_junit, gate_markdown
from ioukit.runs.gate.by_chance import with_margin
from ioukit.statistics import compare, intervals
from runs.two_models import IMAGES, pair
from support.evaluated_scenes import made

ALL_CLASSES = Rule(metric="AP", classes="all", may_fall_by=0.0)


def checked(rule: Rule, lost: float, *, of: int | None = None, **options: Any) -> GateResult:
    """One rule, and a candidate that lacks a part of the detections."""
    baseline, candidate = pair(lost, of)
    return check_rules(candidate, baseline, Rules(rules=(rule,), **options))


# A candidate that lacks a tenth of the detections has an AP that is lower by about 0.04.
@pytest.mark.parametrize(
    ("lost", "margin", "in_doubt", "finding", "outcome"),
    [
        (0.0, 0.0, "fail", "holds", "passed"),  # equal models: the data show that it did not fall
        (0.3, 0.0, "pass", "broken", "broken"),
        (0.3, 0.0, "undecided", "broken", "broken"),
        (0.3, 0.99, "fail", "holds", "passed"),
        (-0.3, 0.0, "fail", "holds", "passed"),  # a candidate that is better
    ],
)
def test_what_the_data_show_is_decided(lost: float, margin: float, in_doubt: Any, finding: str, outcome: str) -> None:
    result = checked(Rule(metric="AP", may_fall_by=margin, in_doubt=in_doubt), lost)
    (only,) = result.results
    assert (only.checks[0].finding, only.outcome, result.outcome) == (finding, outcome, outcome)
    assert result.exit_code == {"passed": 0, "broken": 1, "undecided": 2}[outcome]
    assert result.passed is (outcome == "passed")


@pytest.mark.parametrize(("in_doubt", "outcome"), [("pass", "passed"), ("fail", "broken"), ("undecided", "undecided")])
def test_doubt_is_decided_by_the_rule(in_doubt: Any, outcome: str) -> None:
    baseline, candidate = pair(0.1)
    margin = baseline.summary["AP"] - candidate.summary["AP"]  # in the middle of the bounds
    for rule, all_rules in (
        (Rule(metric="AP", may_fall_by=margin, in_doubt=in_doubt), {}),
        (Rule(metric="AP", may_fall_by=margin), {"in_doubt": in_doubt}),
    ):
        result = check_rules(candidate, baseline, Rules(rules=(rule,), **all_rules))
        assert result.results[0].checks[0].finding == "in doubt"
        assert result.outcome == outcome
        assert result.results[0].reason.endswith(f"in_doubt is {in_doubt}")


def test_the_bounds_are_those_of_compare() -> None:
    """One-sided: a certainty of 95 % is a level of 90 %."""
    baseline, candidate = pair(0.1)
    for certainty, replicates, level in ((0.95, 1000, 0.9), (0.9, 700, 0.8)):
        rules = Rules(rules=(Rule(metric="AP", may_fall_by=0), Rule(metric="AP50/car", may_fall_by=0)),
                      certainty=certainty, replicates=replicates, seed=3)  # fmt: skip
        result = check_rules(candidate, baseline, rules)
        expected = compare(
            baseline, candidate, keys=["AP", "AP50/car"], level=level, replicates=replicates, permutations=1, seed=3
        )
        for one, difference in zip(result.results, expected.differences, strict=True):
            (check,) = one.checks
            assert (check.baseline, check.candidate) == (difference.a, difference.b)
            assert (check.low, check.high) == pytest.approx((difference.low, difference.high), abs=1e-15)
            assert check.doubts == difference.warnings
        assert (result.replicates, result.seed, result.num_images) == (replicates, 3, IMAGES)


def perfect_but_for(*missed: Sequence[int]) -> Evaluation:
    """One object of each class on each of 1,000 images, all of which are found but those on some images."""
    images, classes = 1000, len(missed)
    image, category = np.repeat(np.arange(images), classes), np.tile(np.arange(classes), images)
    boxes = np.column_stack([10.0 + 100 * category, *np.full((3, len(image)), 50.0)])
    names = {number: f"c{number}" for number in range(classes)}
    truth = GroundTruth.from_arrays(image_ids=image, category_ids=category, boxes=boxes, categories=names)
    every = Detections.from_arrays(
        image_ids=image, category_ids=category, boxes=boxes, scores=np.linspace(0.9, 0.5, len(image))
    )
    gone = [row for row in range(len(image)) if image[row] in missed[category[row]]]
    return evaluate(truth, every.take(np.setdiff1d(np.arange(len(image)), gone)))


NINE = {image: image % 9 for image in range(1000)}
"""So few clusters that all 512 ways to exchange them are made: of k that differ, all agree in 512 / 2^k of them."""


@pytest.mark.parametrize(
    ("missed", "clusters", "shown"),
    [(2, None, False), (4, None, False), (6, None, True), (3, NINE, False), (4, NINE, False)],
)
def test_few_images_that_differ_show_no_fall_and_no_rise(missed: int, clusters: Any, *, shown: bool) -> None:
    """AP has few values then, so that the bounds are too close. Of k images, all agree by chance with 1 / 2^k."""
    fewer, every = perfect_but_for(range(25, 25 + missed)), perfect_but_for(())
    falls, rises = Rule(metric="AP", may_fall_by=0.0), Rule(metric="AP", may_fall_by=0.0, in_doubt="fail")
    for rule, models, way, finding in (
        (falls, (fewer, every), "fall", "broken"), (rises, (every, fewer), "rise", "holds")
    ):  # fmt: skip
        result = check_rules(*models, Rules(rules=(rule,)), clusters=clusters)
        (check,) = result.results[0].checks
        assert check.low * check.high > 0
        assert check.p_value == (0.5**missed)
        assert check.finding == (finding if shown else "in doubt")
        assert result.exit_code == int(finding == "broken" if shown else rule.in_doubt == "fail")
        said = re.search(rf"chance alone would show such a {way} in (\d+) of (\d+) cases", result.to_text())
        assert bool(said) == (not shown)
        if said:  # all ways to exchange the images, or clusters, that differ
            assert (int(said[1]), int(said[2])) == (1, 2**missed)


@pytest.mark.parametrize("bound", ["may_fall_by", "may_rise_by"])
def test_a_margin_asks_less_of_few_images_that_differ(bound: str) -> None:
    """Of k images, all agree with ((1 - margin / gain) / 2) ^ k if the number is worse by the margin."""
    models = perfect_but_for(()), perfect_but_for((25, 26, 27))
    models = models if bound == "may_fall_by" else models[::-1]
    gain = 1 / 101  # a recall below 1 takes one of the precisions
    for margin, finding, p_value in ((0, "in doubt", 1 / 8), (0.2, "in doubt", 1 / 8), (0.3, "holds", 1 / 8),
                                     (1, "holds", math.nan), (2, "holds", math.nan)):  # fmt: skip
        if margin < 1:
            assert with_margin(1 / 8, margin * gain, gain) == pytest.approx(((1 - margin) / 2) ** 3)
        limit: dict[str, Any] = {bound: margin * gain}
        rule = Rule(metric="AP", **limit, in_doubt="undecided")
        (check,) = check_rules(*models, Rules(rules=(rule,)), clusters=NINE).results[0].checks
        assert check.difference == pytest.approx(gain if bound == "may_fall_by" else -gain)
        assert check.finding == finding
        assert check.p_value == pytest.approx(p_value, nan_ok=True)


@pytest.mark.parametrize(("missed", "finding"), [(3, "in doubt"), (4, "in doubt"), (6, "broken")])
def test_few_images_that_differ_break_no_rule_about_classes(missed: int, finding: str) -> None:
    """A class of which nothing differs can never fall, so the other one needs no correction for it."""
    baseline, candidate = perfect_but_for((), ()), perfect_but_for(range(25, 25 + missed), ())
    result = check_rules(candidate, baseline, Rules(rules=(ALL_CLASSES,)), clusters=NINE if missed < 5 else None)
    (only,), (first, second) = result.results, result.results[0].checks
    assert (first.key, first.finding) == ("AP/c0", finding)
    assert first.p_value == (0.5**missed)
    assert (second.finding, math.isnan(second.p_value)) == ("holds", True)
    if finding == "in doubt":
        assert only.reason == "in doubt for 1 of 2 classes: chance alone would show such a change; in_doubt is pass"
        assert f"AP/c0  {first.baseline:.4f} -> {first.candidate:.4f}" in result.to_text()
        assert f"(97.5 %); by chance in 1 of {2**missed} cases" in result.to_text()
        assert f"(97.5 %); by chance in 1 of {2**missed} cases" in gate_markdown(result)


def test_the_fall_of_a_class_is_corrected_for_the_number_of_classes() -> None:
    """A class falls on five images. Another one, of which six differ, would fall by chance as far with 1 / 2^6."""
    baseline, candidate = perfect_but_for((), (31, 32, 33)), perfect_but_for(range(25, 30), (34, 35, 36))
    single = Rule(metric="AP/c0", may_fall_by=0)
    of_all, alone = check_rules(candidate, baseline, Rules(rules=(ALL_CLASSES, single))).results
    assert alone.checks[0].p_value == pytest.approx(0.5**5, abs=0.01)
    assert of_all.checks[0].p_value == pytest.approx(1 - (1 - 0.5**5) * (1 - 0.5**6), abs=0.01)
    assert of_all.checks[0].p_value > alone.checks[0].p_value + 0.01
    assert math.isnan(of_all.checks[1].p_value)


def test_classes_that_hold_must_not_do_so_by_chance() -> None:
    """All of them must hold, so none needs a correction; where doubt passes, none is tested."""
    baseline, candidate = perfect_but_for((25, 26, 27), range(30, 38)), perfect_but_for((), ())
    strict = Rules(rules=(dataclasses.replace(ALL_CLASSES, in_doubt="fail"),))
    result = check_rules(candidate, baseline, strict)
    assert [check.finding for check in result.results[0].checks] == ["in doubt", "holds"]
    assert [check.p_value for check in result.results[0].checks] == pytest.approx([0.5**3, 0.5**8], abs=0.02)
    result = check_rules(candidate, baseline, Rules(rules=(ALL_CLASSES,)))
    assert [(check.finding, math.isnan(check.p_value)) for check in result.results[0].checks] == 2 * [("holds", True)]
    assert result.results[0].reason == "it holds by its bounds"


@pytest.mark.parametrize("certainty", [0.95, 0.9999, 0.9999999])
def test_a_large_fall_breaks_a_rule_of_any_certainty(certainty: float) -> None:
    """Also where a thousand permutations cannot be as rare as the certainty asks."""
    baseline, candidate = pair(0.6)
    rules = Rules(rules=(Rule(metric="AP", may_fall_by=0),), certainty=certainty)
    (check,) = check_rules(candidate, baseline, rules).results[0].checks
    assert check.finding == "broken"
    assert check.p_value == pytest.approx(1 / 1001)


def test_bounds_that_are_doubtful_say_why() -> None:
    """In the text below the bounds, in the table, and in the file of a build."""
    baseline, candidate = pair(0.1)
    clusters = {image: place % 9 for place, image in enumerate(baseline.matches.image_ids.tolist())}
    rules = Rules(rules=(Rule(metric="AP", may_fall_by=0.01, in_doubt="fail"), Rule(metric="AP", at_least=0.1)))
    result = check_rules(candidate, baseline, rules, clusters=clusters)
    bounded, exact = (one.checks[0] for one in result.results)
    assert (bounded.doubts, exact.doubts) == (("there are 9 clusters",), ())
    assert [line.strip() for line in result.to_text().splitlines()].count("doubtful: there are 9 clusters") == 1
    assert gate_markdown(result).count("doubtful: there are 9 clusters") == 1
    assert result.outcome == "broken"
    assert "doubtful: there are 9 clusters" in gate_junit(result)


@pytest.mark.parametrize("groups", ["clusters", "strata"])
def test_groups_of_images_are_those_of_compare(groups: str) -> None:
    baseline, candidate = pair(0.1)
    labels: Any = {groups: {image: place % 9 for place, image in enumerate(baseline.matches.image_ids.tolist())}}
    result = check_rules(candidate, baseline, **labels)
    alone = check_rules(candidate, baseline)
    expected = compare(baseline, candidate, keys="AP", level=0.9, permutations=1, **labels)["AP"]
    check = result.results[0].checks[0]
    in_clusters = f"{IMAGES} images in 9 clusters" in result.to_text()
    assert in_clusters == (groups == "clusters") == (result.to_dict()["clusters"] == 9)
    assert (check.low, check.high) == pytest.approx((expected.low, expected.high), abs=1e-15)
    assert check.low != alone.results[0].checks[0].low


def test_nothing_is_shown_by_bounds_without_a_width() -> None:
    """Equal models did not change, whatever the images; two images that agree do not tell what the next one does."""
    (equal,) = checked(Rule(metric="AP", classes=["person", "car"], may_fall_by=0.0, in_doubt="fail"), 0.0).results
    assert (equal.outcome, [check.finding for check in equal.checks]) == ("passed", ["holds", "holds"])
    assert equal.reason == "it holds: both have the same number, whichever images are drawn"
    assert all(math.isnan(check.low) for check in equal.checks)
    for images, finding in ((2, "in doubt"), (60, "broken")):
        boxes, numbers = [[10, 10, 50, 50]] * images, list(range(images))
        gt = GroundTruth.from_arrays(image_ids=numbers, category_ids=[1] * images, boxes=boxes)
        dt = Detections.from_arrays(image_ids=numbers, category_ids=[1] * images, boxes=boxes, scores=[0.9] * images)
        (check,) = check_rules(evaluate(gt, dt.take([])), evaluate(gt, dt)).results[0].checks
        assert (check.difference, check.finding, check.low < check.high) == (-1, finding, True)
        # A sample of n that agrees has a probability of at most 5 % if more than this share disagrees. Two images agree
        # by chance in one direction with 25 %, so they show nothing.
        share = 1 - 0.05 ** (1 / images) if images > 2 else 1
        assert check.high == pytest.approx(-1 + 2 * share, abs=1e-12)


def test_a_rule_with_a_name_says_its_limit() -> None:
    rule = Rule(metric="AP", classes=["car", "bird"], may_fall_by=0.9, name="rare ones")
    assert "rare ones: AP of car, bird may not fall by more than 0.9" in checked(rule, 0.1).to_text()


def test_an_exchange_of_the_models_turns_the_rule_around() -> None:
    baseline, candidate = pair(0.1)
    falls = check_rules(candidate, baseline, Rules(rules=(Rule(metric="AP", may_fall_by=0.01),)))
    rises = check_rules(baseline, candidate, Rules(rules=(Rule(metric="AP", may_rise_by=0.01),)))
    one, other = falls.results[0].checks[0], rises.results[0].checks[0]
    assert (one.finding, one.low, one.high) == (other.finding, -other.high, -other.low)


def test_one_class_of_many_breaks_a_rule() -> None:
    rule = Rule(metric="AP", classes=["person", "car", "bird"], may_fall_by=0.0)
    result = checked(rule, 0.4, of=2)
    findings = {check.key: check.finding for check in result.results[0].checks}
    assert findings == {"AP/person": "holds", "AP/car": "broken", "AP/bird": "holds"}
    assert result.results[0].reason == "the data show that it does not hold for car"
    assert checked(Rule(metric="AP", classes=["person", "bird"], may_fall_by=0.0), 0.4, of=2).passed


def test_the_bound_that_breaks_is_corrected_for_the_number_of_classes() -> None:
    names = ["person", "car", "bird"]
    many = checked(Rule(metric="AP", classes=names, may_fall_by=0), 0.1, replicates=2000).results[0]
    for name, check in zip(names, many.checks, strict=True):
        alone = checked(Rule(metric=f"AP/{name}", may_fall_by=0), 0.1, replicates=2000).results[0].checks[0]
        corrected = Rule(metric=f"AP/{name}", may_fall_by=0, certainty=1 - 0.05 / 3)
        strict = checked(corrected, 0.1, replicates=2000).results[0].checks[0]
        assert check.low == alone.low
        assert check.high == pytest.approx(strict.high, abs=1e-15)
        assert alone.high < check.high


def rare_and_usual(images: int, *, found: bool) -> Evaluation:
    """A class on so few images, of which a detector finds all objects or none, and a usual class on 40 images."""
    count = 40
    rare, usual = np.zeros(images, np.int64), np.ones(count, np.int64)
    category, image = np.concatenate([rare, usual]), np.concatenate([np.arange(images), np.arange(count)])
    boxes = np.column_stack([10.0 + 100 * category, np.full(len(category), 10.0), *np.full((2, len(category)), 50.0)])
    gt = GroundTruth.from_arrays(
        image_ids=image, category_ids=category, boxes=boxes, images=np.arange(count), categories={0: "rare", 1: "usual"}
    )
    rng = np.random.default_rng(int(found))
    kept = np.flatnonzero(np.where(category == 0, found, rng.random(len(category)) < 0.7))
    scores = rng.uniform(0.1, 1, len(kept))
    return evaluate(
        gt,
        Detections.from_arrays(image_ids=image[kept], category_ids=category[kept], boxes=boxes[kept], scores=scores),
    )


@pytest.mark.parametrize(
    ("images", "classes", "finding"),
    [(1, ["rare"], "in doubt"), (2, ["rare"], "in doubt"), (4, ["rare"], "in doubt"), (7, ["rare"], "broken"),
     (5, ["rare", "usual"], "in doubt"), (9, ["rare", "usual"], "broken")],
)  # fmt: skip
def test_a_class_on_so_few_images_that_chance_explains_all_is_in_doubt(
    images: int, classes: list[str], finding: str
) -> None:
    """One model finds every object of a rare class, the other one none. Of n images, chance does so with 0.5 ** n."""
    rule = Rule(metric="AP", classes=tuple(classes), may_fall_by=0.0)
    baseline, candidate = (rare_and_usual(images, found=found) for found in (True, False))
    check = check_rules(candidate, baseline, Rules(rules=(rule,))).results[0].checks[0]
    assert (check.key, check.finding, check.high == 1) == ("AP/rare", finding, 0.5**images > 0.05 / len(classes))


@pytest.mark.parametrize("found", [False, True])
def test_a_class_of_which_all_images_agree_may_differ_on_others(*, found: bool) -> None:
    """Of n images that agree, a share of 1 - 0.05 ** (1 / n) of all may disagree, whatever other classes do."""
    rule = Rule(metric="AP", classes=("rare", "usual"), at_least=0.5, certainty=0.95)
    check = check_rules(rare_and_usual(12, found=found), rules=Rules(rules=(rule,))).results[0].checks[0]
    share = 1 - 0.05 ** (1 / 12)
    assert check.low <= 1 - share if found else check.high >= share


def test_all_classes_are_those_that_have_a_number() -> None:
    result = checked(Rule(metric="AP", classes="all", may_fall_by=0.99), 0.1)
    assert [check.key for check in result.results[0].checks] == ["AP/person", "AP/car", "AP/bird"]
    result = checked(Rule(metric="AP", classes=["unicorn", "car"], may_fall_by=0.99), 0.1)
    assert (result.outcome, result.results[0].reason) == (
        "undecided",
        "AP/unicorn: the number or its bounds are undefined",
    )
    empty = made(objects=False)
    result = check_rules(empty, empty, Rules(rules=(Rule(metric="AP", classes="all", may_fall_by=0.99),)))
    assert (result.outcome, result.results[0].reason) == ("undecided", "no class has a number")


def test_a_rule_that_is_broken_counts_more_than_one_that_is_undecided() -> None:
    baseline, candidate = pair(0.3)
    broken, undefined = Rule(metric="AP", may_fall_by=0), Rule(metric="AP/unicorn", may_fall_by=0)
    good = Rule(metric="AP", may_fall_by=0.99)
    for rules, outcome in (
        ((broken, undefined, good), "broken"),
        ((undefined, good), "undecided"),
        ((good,), "passed"),
    ):
        assert check_rules(candidate, baseline, Rules(rules=rules)).outcome == outcome


def test_numbers_of_the_candidate_alone() -> None:
    _, candidate = pair(0.1)
    ap = candidate.summary["AP"]
    for rule, finding in (
        (Rule(metric="AP", at_least=ap), "holds"),
        (Rule(metric="AP", at_least=math.nextafter(ap, 1)), "broken"),
        (Rule(metric="AP", at_most=ap), "holds"),
        (Rule(metric="counts/images", at_least=IMAGES + 1), "broken"),
        (Rule(metric="counts/dropped", at_most=0), "holds"),
        (Rule(metric="AP", at_least=ap, certainty=0.9), "in doubt"),
        (Rule(metric="AP", at_least=ap - 0.3, certainty=0.9), "holds"),
        (Rule(metric="AP", at_least=ap + 0.3, certainty=0.9), "broken"),
    ):
        result = check_rules(candidate, rules=Rules(rules=(rule,)))
        (check,) = result.results[0].checks
        assert (check.finding, math.isnan(check.baseline), result.baseline) == (finding, True, "")
        if rule.certainty is not None:
            expected = intervals(candidate, "AP", level=0.8)["AP"]
            assert (check.low, check.high) == pytest.approx((expected.low, expected.high), abs=1e-15)
            assert check.doubts == expected.warnings


@pytest.mark.parametrize(
    ("fields", "baseline", "candidate", "finding"),
    [
        ({"at_most": 20}, None, 20.0, "holds"),
        ({"at_most": 20}, None, 20.1, "broken"),
        ({"at_least": 20}, None, 20.1, "holds"),
        ({"may_rise_by": 0.5}, 12.3, 12.8, "holds"),  # 12.8 - 12.3 is above 0.5 in binary
        ({"may_rise_by": 0.5}, 12.3, 12.81, "broken"),
        ({"may_fall_by": 0.1}, 0.3, 0.2, "holds"),
        ({"may_fall_by": 0.1}, 0.3, 0.19, "broken"),
        ({"may_rise_by": 0}, 1e-300, 2e-300, "broken"),
        ({"may_rise_by": np.float64(0.5)}, np.float64(12.3), np.float32(12.5), "holds"),
        ({"at_most": 20}, None, math.inf, "broken"),
        ({"at_most": 20}, 5.0, None, "undefined"),
        ({"may_rise_by": 20}, None, 5.0, "undefined"),
    ],
)
def test_values_are_compared_as_they_are(
    fields: dict[str, Any], baseline: float | None, candidate: float | None, finding: str
) -> None:
    before, after = pair()
    result = check_rules(
        after,
        before,
        Rules(rules=(Rule(value="latency", **fields),)),
        candidate_values={} if candidate is None else {"latency": candidate},
        baseline_values={} if baseline is None else {"latency": baseline},
    )
    assert result.results[0].checks[0].finding == finding
    assert result.outcome == {"holds": "passed", "broken": "broken", "undefined": "undecided"}[finding]
    assert result.replicates == 0
    lacking = "candidate" if candidate is None else "baseline"
    if finding == "undefined":
        assert result.results[0].reason == f"no value 'latency' in the {lacking}: add it with `ioukit eval --value`"


def test_infinite_values_have_no_difference() -> None:
    before, after = pair()
    rules = Rules(rules=(Rule(value="latency", may_rise_by=1),))
    endless = {"latency": math.inf}
    (only,) = check_rules(after, before, rules, candidate_values=endless, baseline_values=endless).results
    assert (only.outcome, only.checks[0].finding) == ("undecided", "undefined")
    assert only.reason == "'latency' is infinite in the baseline and the candidate, so their difference is undefined"


def test_runs_that_cannot_be_compared() -> None:
    baseline, candidate = pair()
    other = pair(seed=1)[1]
    result = check_rules(other, baseline, names=("B@1", "main@1"))
    assert (result.outcome, result.exit_code, result.results) == ("undecided", 2, ())
    assert result.reason.startswith("main@1 and B@1 were not evaluated on the same ground truth: ")
    gt, dt = candidate.ground_truth, candidate.detections
    assert gt is not None
    assert dt is not None
    result = check_rules(evaluate(gt, dt, COCO.replace(max_dets=[1, 10])), baseline)
    assert "their protocols differ: max_dets is" in result.reason
    # Rules about the candidate alone do not ask for that.
    assert check_rules(other, baseline, Rules(rules=(Rule(metric="AP", at_least=0),))).passed


def test_one_image_shows_nothing() -> None:
    baseline, candidate = pair(0.3, images=1)
    result = check_rules(candidate, baseline)
    assert (result.outcome, result.results[0].checks[0].finding) == ("undecided", "undefined")
    assert result.reason.startswith("one image does not tell")


@pytest.mark.parametrize(
    ("rule", "options", "message"),
    [
        (Rule(metric="ap", may_fall_by=0), {}, r"rules: there is no metric 'ap'; did you mean 'AP'"),
        (Rule(metric="AP", classes=["Person"], may_fall_by=0), {}, "there is no class 'Person'; did you mean 'person'"),
        (Rule(metric="AP/perso", may_fall_by=0), {}, r"did you mean .*'AP/person'"),
        (Rule(metric="counts/images", may_fall_by=0), {}, "is a count: use at_least or at_most"),
        (
            Rule(metric="AP", may_fall_by=2),
            {"source": "gate.toml"},
            "^gate.toml: 'AP may not fall by more than 2': AP is a number between 0 and 1, so may_fall_by must be at "
            "least 0 and below 1, got 2; 2 points would be 0.02$",
        ),
        (Rule(metric="AP", may_fall_by=1), {}, "got 1; 1 point would be 0.01$"),
        (Rule(metric="AP50", classes="all", may_rise_by=1e3, name="x"), {}, "'x': AP50 is .* may_rise_by .* got 1000$"),
        (Rule(metric="AP", at_least=40), {}, "at_least must be from 0 to 1, got 40; 40 points would be 0.4$"),
        (Rule(metric="AP/car", at_most=40, certainty=0.9), {}, "AP/car is .* at_most must be from 0 to 1, got 40; "),
        (Rule(metric="AP", at_least=-0.1), {}, "at_least must be from 0 to 1, got -0.1$"),
    ],
)
def test_rules_that_do_not_fit_the_data(rule: Rule, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        checked(rule, 0.1, **options)


def test_a_baseline_is_needed_for_a_comparison() -> None:
    with pytest.raises(ValueError, match="compares with a baseline: give one"):
        check_rules(pair()[1])


def test_bounds_come_together_at_the_difference_as_the_certainty_falls_to_a_half() -> None:
    for certainty, width in ((0.5, 1e-12), (0.51, 2e-3)):
        (check,) = checked(Rule(metric="AP", may_fall_by=0, certainty=certainty), 0.1).results[0].checks
        assert check.low <= check.difference + 1e-12
        assert check.high >= check.difference - 1e-12
        assert 0 <= check.high - check.low <= width


def test_a_certainty_close_to_1_needs_no_more_replicates() -> None:
    """Limits are quantiles of a distribution, not of replicates: they widen as far as one asks."""
    highs = []
    for certainty in (0.95, 0.999, 0.9999999):
        result = checked(Rule(metric="AP", classes=["car", "bird"], may_fall_by=0, certainty=certainty), 0.1)
        assert result.replicates == 1000
        highs.append(result.results[0].checks[0].high)
    assert highs == sorted(highs)
    assert highs[2] > highs[1] + 0.01


def test_threads_change_no_bit() -> None:
    baseline, candidate = pair(0.1)
    results = [check_rules(candidate, baseline, threads=threads).to_dict() for threads in (1, 2, None)]
    assert results[0] == results[1] == results[2]
    ours, theirs = (Evaluation.from_table(one.near_matches()) for one in (candidate, baseline))
    assert check_rules(ours, theirs).to_dict() == results[0], "as from a ledger"


def moved(wrong: int, score: float, classes: int = 1) -> Evaluation:
    """Everything is found on 40 images, and there is one false positive of the first class."""
    box, count = np.array([10.0, 10.0, 50.0, 50.0]), 40 * classes
    images, labels = np.repeat(np.arange(1, 41), classes), np.tile(np.arange(1, classes + 1), 40)
    truth = GroundTruth.from_arrays(image_ids=images, category_ids=labels, boxes=np.tile(box, (count, 1)))
    boxes = np.tile(box, (count + 1, 1))
    boxes[-1, 0] += 200
    columns = np.append(images, wrong), np.append(labels, 1), np.append(images / 50, score)
    found = Detections.from_arrays(image_ids=columns[0], category_ids=columns[1], boxes=boxes, scores=columns[2])
    return evaluate(truth, found)


def test_a_number_that_is_the_same_neither_rose_nor_fell() -> None:
    """A false positive that moves to another image leaves AP as it is, and its bounds have a width."""
    same = check_rules(moved(7, 0.71), moved(3, 0.71)).results[0]
    (check,) = same.checks
    assert (check.difference, check.finding) == (0, "in doubt")
    size = f"{100 * check.high:.2f}"
    assert same.reason == (
        f"AP is the same, {check.candidate:.4f} (change of -{size} to {size} points): in doubt; in_doubt is pass"
    )


def test_a_small_change_is_not_shown_as_0() -> None:
    result = check_rules(moved(7, 0.13, 40), moved(7, 0.11, 40)).results[0]
    (check,) = result.checks
    assert -5e-5 < check.difference < 0
    assert re.match(r"AP fell by 0\.00\d*[1-9] points \(", result.reason)
