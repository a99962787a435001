"""What a comparison says is recomputed: every verdict, number and list of random models is read back from its text."""

from __future__ import annotations

import datetime
import itertools
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ioukit import Detections, evaluate
from ioukit.comparison import ModelComparison, compare_models
from ioukit.evaluation import Evaluation
from ioukit.report.comparison_page import comparison_data
from support.two_models import ground_truth, model

NOW = datetime.datetime(2026, 11, 27, tzinfo=datetime.timezone.utc)
BETTER = re.compile(
    r"^(\w+) is (better|worse) than (\w+) by ([\d.]+) ± ([\d.]+) points of AP \(([\d.]+) to ([\d.]+)\)\. "
    r"Chance alone would show as much in [^.]*(?:p is [\d.]+)?\."
    r"( The p-value decides this, though the interval contains 0\.)?$"
)
CORRECTED = re.compile(r"; corrected for the number of pairs, p is ([\d.]+)\.")
OPEN = re.compile(
    r"^(\d+) images cannot tell (\w+) and (\w+) apart(, with so many pairs to compare)?"
    r"(; (?:about|more than) [\d,]+ would, if this difference is the true one( and no other pair is compared)?)?\. .*$"
)


def models(seed: int, number: int, spread: float) -> dict[str, Evaluation]:
    """Models of which each finds a little more than the one before."""
    truth = ground_truth(seed, images=25)
    shares = [0.85 - spread * at for at in range(number)]
    names = "abcde"[:number]
    return {
        name: evaluate(truth, model(truth, 100 * seed + at, found=share))
        for at, (name, share) in enumerate(zip(names, shares, strict=True))
    }


def compared(seed: int, number: int, spread: float) -> ModelComparison:
    return compare_models(models(seed, number, spread), replicates=30, permutations=99, per_class=False)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([2, 3]), st.floats(0, 0.3))
def test_verdicts_are_true(seed: int, number: int, spread: float) -> None:
    found = compared(seed, number, spread)
    for pair in found.pairs:
        one, said = pair.difference, pair.verdict()
        p_value = one.p_value if found.ranking is None else found.ranking.p_value(*pair.names)
        if math.isnan(one.difference) or abs(one.difference) < 1e-12:
            continue
        corrected = CORRECTED.search(said)
        assert bool(corrected) == (one.p_value <= 0.05 and p_value > one.p_value)
        assert corrected is None or corrected[1] == f"{p_value:.3f}"
        parsed = BETTER.match(said)
        if parsed is None:
            known = OPEN.match(said)
            assert known is not None, said
            assert known[1] == str(pair.comparison.num_images)
            assert p_value > 0.05
            assert bool(known[4]) == (one.p_value <= 0.05)
            assert bool(known[5]) == (one.images_needed is not None and not known[4])
            assert bool(known[6]) == (bool(known[5]) and number > 2)
            continue
        assert p_value <= 0.05
        assert bool(parsed[8]) == (one.low <= 0 <= one.high)
        assert (parsed[1], parsed[3]) == (pair.name_b, pair.name_a)
        assert (parsed[2] == "better") == (one.difference > 0)
        digits = len(parsed[4].partition(".")[2])
        assert float(parsed[4]) == round(100 * abs(one.difference), digits)
        assert float(parsed[5]) == round(50 * (one.high - one.low), digits)
        assert (float(parsed[6]), float(parsed[7])) == (round(one.a, 3), round(one.b, 3))
        # The interval lies around the number that stands before it.
        assert math.isclose(one.low + one.high, 2 * one.difference, abs_tol=1e-12)


@settings(deadline=None, max_examples=12)
@given(st.integers(0, 10**6), st.sampled_from([3, 5]), st.sampled_from([0.0, 0.05, 0.2]))
def test_letters_and_verdicts_agree(seed: int, number: int, spread: float) -> None:
    """A model is called better than another exactly if they share no letter."""
    found = compared(seed, number, spread)
    ranking = found.ranking
    assert ranking is not None
    letters = dict(zip(ranking.names, ranking.letters, strict=True))
    for one, other in itertools.combinations(ranking.names, 2):
        apart = ranking.p_value(one, other) <= 0.05
        assert apart == (not set(letters[one]) & set(letters[other]))
    for pair in found.pairs:
        apart = not set(letters[pair.name_a]) & set(letters[pair.name_b])
        assert bool(BETTER.match(pair.verdict())) == apart
    best = ranking.names[0]
    assert ranking.verdict().startswith(f"{best} has the best AP, {ranking.intervals[0].value:.3f}")
    assert ranking.intervals[0].value == max(one.value for one in ranking.intervals)


def test_classes_of_several_pairs_are_corrected_for_the_pairs() -> None:
    """A class that differs under a pair that cannot be told apart would be one of many tests."""
    given = models(3, 3, 0.2)
    alone = compare_models({name: given[name] for name in "ab"}, replicates=30, permutations=99).pairs[0].comparison
    several = compare_models(given, replicates=30, permutations=99).pairs[0].comparison
    for one, other in zip(alone.per_class["AP"], several.per_class["AP"], strict=True):
        assert other.p_adjusted == pytest.approx(min(2 * one.p_adjusted, 1), nan_ok=True)
    plain = compare_models(given, replicates=30, permutations=99, correction="none").pairs[0].comparison
    assert [one.p_adjusted for one in plain.per_class["AP"]] == [one.p_value for one in plain.per_class["AP"]]


NOTHING = re.compile(
    r"(\d+) (images?|permutations?|clusters?) cannot show any difference( with so many .*)?; at least (\d+)"
)


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from([2, 3]), st.integers(2, 8), st.sampled_from([10, 30, 99]))
def test_what_cannot_be_shown_is_said(seed: int, number: int, images: int, permutations: int) -> None:
    """Too few images or permutations are blamed where they are too few, with the number that would do."""
    truth = ground_truth(seed, images=images)
    sides = {name: evaluate(truth, model(truth, seed + at)) for at, name in enumerate("abc"[:number])}
    found = compare_models(sides, replicates=10, permutations=permutations, per_class=False)
    tests = number * (number - 1) // 2
    smallest = tests * max(1 / (1 + permutations), 2 / 2**images)
    for pair in found.pairs:
        one, said = pair.difference, pair.verdict()
        assert math.isnan(one.p_value) or one.p_value >= smallest / tests
        assert math.isnan(one.detectable) or (one.detectable <= 1 and smallest / tests <= 0.05)
        assert one.images_needed is None or (one.images_needed >= 6 and permutations >= 19) or one.is_significant
        if math.isnan(one.difference) or abs(one.difference) < 1e-12:
            continue
        parsed = NOTHING.match(said)
        assert (parsed is not None) == (smallest > 0.05), said
        if parsed is not None:
            at_least = int(parsed[4])
            of_images = parsed[2].startswith("image")
            assert int(parsed[1]) == (images if of_images else permutations)
            enough, fewer = (2.0 ** (1 - n) if of_images else 1 / (1 + n) for n in (at_least, at_least - 1))
            assert tests * enough <= 0.05 + 1e-12 < tests * fewer
    if found.ranking is not None:
        assert bool(found.ranking.shortage) == (smallest > 0.05)


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10**6))
def test_the_sentence_of_an_interval_is_true(seed: int) -> None:
    evaluation = models(seed, 1, 0)["a"]
    for one in evaluation.intervals(replicates=20, seed=seed).values():
        said = one.sentence()
        assert said.startswith(one.key)
        numbers = [float(number) for number in re.findall(r"(?<![\w.])\d\.\d{3}", said)]
        if math.isnan(one.value):
            assert numbers == []
            continue
        if math.isnan(one.low):  # of one image with objects
            assert numbers == [round(one.value, 3)]
            assert said.endswith("limits undefined")
            continue
        about = [round(one.estimate, 3)] if one.bias else []
        assert numbers == [round(one.value, 3), *about, round(one.low, 3), round(one.high, 3)]
        assert one.low <= one.estimate <= one.high
        assert ("doubtful" in said) == bool(one.warnings)


PLUS_MINUS = re.compile(r"by ([\d.]+) ± ([\d.]+) points of AP \(([\d.]+) to ([\d.]+)\)")
NOTES = re.compile(
    r"(?:A true difference of ([\d.]+) points? of AP would show in "
    r"([\d.]+) % of samples of (\d+) images?\. )?± is half the ([\d.]+) % interval; a point is 0\.01\."
)
FOUND = re.compile(
    r"(\w+) misses (no|\d+) objects? that (\w+) finds, and finds (no|\d+) objects? that \w+ misses\. Both find "
    r"(none|\d+); both miss (none|\d+)\."
)


@settings(deadline=None, max_examples=12)
@given(st.integers(0, 10**6), st.sampled_from(["other", "rescored", "empty"]))
def test_page_and_terminal_say_the_same_in_the_same_units(seed: int, kind: str) -> None:
    """± is half of the interval of the page's table, in points; scores alone that differ are told in both places."""
    truth, rng = ground_truth(seed, images=10), np.random.default_rng(seed)
    first = model(truth, seed)
    second = model(truth, seed + 1) if kind == "other" else first
    if kind == "rescored":
        second = Detections.from_arrays(
            image_ids=first.image_ids,
            category_ids=first.category_ids,
            boxes=first.boxes,
            scores=rng.permutation(first.scores),
        )
    both = {
        "a": evaluate(truth, first),
        "b": evaluate(truth, second.take(np.arange(0 if kind == "empty" else len(second)))),
    }
    found = compare_models(both, replicates=30, permutations=99, per_class=False)
    page, (pair,) = comparison_data(found, images=None, title=None, photographs=0, created=NOW), found.pairs
    text = " ".join(found.text().split())
    assert page.lead == pair.verdict()
    assert page.lead in text
    assert page.lead_notes in text
    assert page.pairs[0].changes_lead.replace("A ", "a ").replace("B ", "b ") in text.replace("A ", "a ").replace(
        "B ", "b "
    )
    assert (
        ("only scores differ" in page.pairs[0].changes_lead) == (kind == "rescored") == ("only scores differ" in text)
    )
    difference, parsed = pair.difference, PLUS_MINUS.search(page.lead)
    if parsed is not None:
        row = page.pairs[0].numbers[0]
        low, high = (float(one) for one in row.interval.replace("\N{MINUS SIGN}", "-").split(" to "))
        assert math.isclose(float(parsed[2]), (high - low) / 2, abs_tol=0.06)
        assert math.isclose(float(parsed[1]), 100 * abs(float(row.b) - float(row.a)), abs_tol=0.11)
        notes = NOTES.fullmatch(page.lead_notes)
        assert notes, page.lead_notes
        assert notes[4] == f"{100 * difference.level:g}"
        assert (notes[1] is None) == math.isnan(difference.detectable)
        if notes[1] is not None:
            assert notes[3] == "10"
            assert math.isclose(float(notes[1]), 100 * difference.detectable, abs_tol=0.06)
    numbers = FOUND.search(text)
    assert numbers, text
    thresholds = pair.changes.score_thresholds
    right = [
        {
            int(one.matches.objects.row[place])
            for place in one.outcomes(iou_threshold=pair.changes.iou_threshold, score_threshold=least).matched_object
            if place >= 0 and not one.matches.ignores("all")[place]
        }
        for one, least in zip(both.values(), thresholds, strict=True)
    ]
    counted = int((~both["a"].matches.ignores("all")).sum())
    expected = (
        len(right[0] - right[1]),
        len(right[1] - right[0]),
        len(right[0] & right[1]),
        counted - len(set.union(*right)),
    )
    said = [0 if one in ("no", "none") else int(one) for one in (numbers[2], numbers[4], numbers[5], numbers[6])]
    assert said == [*expected]
