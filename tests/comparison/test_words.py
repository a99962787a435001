"""The sentences, in correct English for each number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ioukit import Evaluation, evaluate
from ioukit.comparison import changes
from ioukit.comparison.words import (
    chance,
    change_sentences,
    detectable_sentence,
    doubt_sentence,
    points,
    ranking_note,
    ranking_sentence,
    sample_size,
    shortage_of,
    signed_points,
    threshold_text,
    verdict,
    verdict_notes,
)
from ioukit.statistics import Difference, Interval
from support.planted_scenes import drawn

NAN = float("nan")


def difference(**fields: Any) -> Difference:
    known = {
        "key": "AP", "a": 0.412, "b": 0.418, "difference": 0.006, "low": 0.002, "high": 0.010, "level": 0.95,
        "standard_error": 0.002, "p_value": 0.002, "detectable": 0.0056, "power": 0.8, "images_needed": 4_400,
        "method": "t", "undefined": 0.0,
    }  # fmt: skip
    return Difference(**{**known, **fields})


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {},
            "B is better than A by 0.6 ± 0.4 points of AP (0.412 to 0.418). "
            "Chance alone would show as much in 2 of 1,000 cases.",
        ),
        (
            {"a": 0.418, "b": 0.412, "difference": -0.006, "low": -0.01, "high": -0.002, "p_value": 1 / 1001},
            "B is worse than A by 0.6 ± 0.4 points of AP (0.418 to 0.412). "
            "Chance alone would show as much in at most 1 of 1,000 cases.",
        ),
        (
            {"b": 0.413, "difference": 0.001, "low": -0.004, "high": 0.006, "p_value": 0.35, "images_needed": 18_722},
            "5,000 images cannot tell A and B apart; about 19,000 would, if this difference is the true one. "
            "B is higher by 0.1 ± 0.5 points of AP (0.412 to 0.413), and chance alone would show as much in "
            "350 of 1,000 cases.",
        ),
        (
            {"b": 0.411, "difference": -1e-6, "low": -0.004, "high": 0.006, "p_value": 0.999, "images_needed": 10**9},
            "5,000 images cannot tell A and B apart; more than 10,000,000 would, if this difference is the true one. "
            "B is lower by 0.0001 ± 0.5000 points of AP (0.412 to 0.411), and chance alone would show as much in "
            "nearly every case.",
        ),
        ({"b": 0.412, "difference": 0.0}, "A and B have the same AP, 0.412 (difference 0.0 ± 0.4 points)."),
        ({"b": 0.412, "difference": 0.0, "low": 0.0, "high": 0.0}, "A and B have the same AP, 0.412."),
        ({"a": NAN, "b": NAN, "difference": NAN}, "AP is undefined: there are no objects to find."),
        (
            {"low": NAN, "high": NAN, "p_value": 0.5, "images_needed": None},
            "5,000 images cannot tell A and B apart. B is higher by 0.6 points of AP (0.412 to 0.418), and chance "
            "alone would show as much in 500 of 1,000 cases.",
        ),
    ],
)
def test_verdicts(fields: dict[str, Any], said: str) -> None:
    assert verdict(difference(**fields), ("A", "B"), 5_000, 1_000) == said


def test_a_lower_miss_rate_is_better() -> None:
    text = verdict(difference(key="MR-2"), ("A", "B"), 5_000, 1_000, lower_is_better=True)
    assert text.startswith("B is worse than A by 0.6 ± 0.4 points of MR-2 (0.412 to 0.418).")


def test_fewer_images_than_there_are_would_not_do() -> None:
    """Significant alone, and not among many pairs: the images that are needed are for one pair."""
    one = difference(p_value=0.03, images_needed=3_000)
    text = verdict(one, ("A", "B"), 5_000, 1_000, p_corrected=0.09)
    assert text.startswith("5,000 images cannot tell A and B apart, with so many pairs to compare. B is ")


def test_among_many_pairs_the_images_that_are_needed_are_for_one_pair_alone() -> None:
    """A number that the correction does not count stands nowhere without these words."""
    one = difference(p_value=0.2, images_needed=9_000)
    text = verdict(one, ("A", "B"), 5_000, 1_000, p_corrected=0.6)
    assert "; about 9,000 would, if this difference is the true one and no other pair is compared. B is " in text
    # 80 % power needs more images than there are, though these show the difference of the pair alone.
    text = verdict(difference(p_value=0.03, images_needed=5_100), ("A", "B"), 5_000, 1_000, p_corrected=0.09)
    assert text.startswith("5,000 images cannot tell A and B apart, with so many pairs to compare. B is ")


def test_with_clusters_so_many_clusters_are_needed() -> None:
    one = difference(p_value=0.3, images_needed=900)
    text = verdict(one, ("A", "B"), 60, 1_000, num_clusters=10)
    assert text.startswith(
        "10 clusters cannot tell A and B apart; about 150 would, if this difference is the true one."
    )


def test_one_image() -> None:
    text = verdict(difference(p_value=0.5, images_needed=7), ("A", "B"), 1, 1)
    assert text.startswith("1 image cannot tell A and B apart; about 7 would,")
    assert detectable_sentence(difference(), "1 image").endswith("of samples of 1 image.")
    assert detectable_sentence(difference(detectable=NAN), "1 image") == ""
    assert detectable_sentence(difference(), sample_size(5_000, 5_000)) == (
        "A true difference of 0.6 points of AP would show in 80 % of samples of 5,000 images."
    )


@pytest.mark.parametrize(
    ("p_value", "permutations", "said"),
    [
        (1 / 1001, 1000, "at most 1 of 1,000 cases"),
        (2 / 1001, 1000, "2 of 1,000 cases"),
        (0.01, 99, "at most 1 of 99 cases"),
        (0.02, 99, "2 of 100 cases"),
        (1.0, 1000, "nearly every case"),
        (1.0, 1, "nearly every case"),
        (0.5, 1, "at most 1 of 2 cases"),
        (1 / 100_001, 100_000, "at most 1 of 100,000 cases"),
        (2 / 100_001, 100_000, "1 of 1,000 cases"),
    ],
)
def test_chances(p_value: float, permutations: int, said: str) -> None:
    assert chance(p_value, permutations) == said


@pytest.mark.parametrize(
    ("p_value", "permutations", "said"),
    [
        (2 / 32, 31, "2 of 32 cases"),
        (1 / 32, 31, "1 of 32 cases"),
        (1.0, 31, "every case"),
        (3 / 8192, 8191, "3 of 8,192 cases"),
    ],
)
def test_chances_among_all_exchanges_are_counts(p_value: float, permutations: int, said: str) -> None:
    assert chance(p_value, permutations, is_every=True) == said


def test_points() -> None:
    assert [points(value) for value in (0.006, 0.0, 0.01, 1.0)] == [
        "0.6 points",
        "0.0 points",
        "1.0 points",
        "100.0 points",
    ]
    assert points(0.01, 0) == "1 point"
    assert [signed_points(value) for value in (0.006, -0.006, 0.0, -1e-9)] == ["+0.60", "-0.60", "0.00", "0.00"]


def pair() -> tuple[Evaluation, Evaluation]:
    truth, found = drawn("crowd")
    return evaluate(truth, found), evaluate(truth, found[found.scores > 0.4])


def test_sentences_about_changes() -> None:
    a, b = pair()
    changed = changes(a, b, score_threshold=0.0)
    count = changed.counts
    first, *_, last = change_sentences(changed, ("A", "B"), same_boxes=False)
    assert first == (
        f"B misses {count['lost'] + count['other_class_now']:,} objects that A finds, and finds no object that A "
        f"misses. Both find {count['still_found']:,}; both miss {count['still_missed']:,}."
    )
    assert last == (
        f"B has no new false positive; {count['gone_false_positive']:,} of A are gone, "
        f"{count['still_false_positive']:,} stay."
    )
    same = change_sentences(changes(a, a), ("A", "B"), same_boxes=False)
    assert len(same) == 2
    assert same[0].startswith("B misses no object that A finds, and finds no object that A misses. Both find ")
    assert same[1].startswith("B has no new false positive; none of A are gone, ")


def interval(**fields: Any) -> Interval:
    known = {
        "key": "AP", "value": 0.4, "low": 0.3, "high": 0.5, "level": 0.95, "standard_error": 0.05, "method": "t",
        "replicates": 1000, "undefined": 0.0,
    }  # fmt: skip
    return Interval(**{**known, **fields})


def test_what_intervals_and_letters_mean() -> None:
    said = "Models with a common letter cannot be told apart: permutation tests of all pairs at 5 %"
    plain, names = [interval()] * 3, "xyz"
    assert ranking_note(names, plain, 0.95, "holm") == f"{said}, corrected for the number of pairs by Holm."
    assert ranking_note(names, plain, 0.95, "none") == f"{said}."
    few = interval(warnings=("there are 8 videos",))
    assert ranking_note(names, [interval(), interval(bias=0.02), few], 0.95, "none") == (
        f"Intervals are for endlessly many images: AP of this many is too high, by about 0.020. {said}. "
        "Intervals that may miss the true value in more than 5 % of cases: z (there are 8 videos)."
    )
    several = ranking_note(names, [interval(bias=0.031), interval(bias=0.02), interval()], 0.95, "none")
    assert "AP of this many is too high, by about 0.020 to 0.031. " in several
    low = ranking_note(names, [interval(bias=-0.02), interval(bias=-0.01), interval(bias=0.004)], 0.95, "none")
    assert "AP of this many is too high, by about 0.004, or too low, by about 0.010 to 0.020. " in low
    assert ranking_note(names, [few] * 3, 0.95, "none").endswith("in more than 5 % of cases: there are 8 videos.")


@pytest.mark.parametrize(
    ("permutations", "clusters", "images", "tests", "said"),
    [
        (19, 6, 6, 1, ""),
        (18, 6, 6, 1, "18 permutations cannot show any difference; at least 19 are needed"),
        (1, 6, 6, 1, "1 permutation cannot show any difference; at least 19 are needed"),
        (1000, 5, 5, 1, "5 images cannot show any difference; at least 6 are needed"),
        (10, 5, 90, 1, "5 clusters cannot show any difference; at least 6 are needed"),
        (59, 7, 7, 3, ""),
        (58, 7, 7, 3, "58 permutations cannot show any difference with so many pairs to compare; at least 59 are "
         "needed"),
        (59, 6, 6, 3, "6 images cannot show any difference with so many pairs to compare; at least 7 are needed"),
        (1000, 99, 99, 55, "1,000 permutations cannot show any difference with so many pairs to compare; at least "
         "1,099 are needed"),
    ],
)  # fmt: skip
def test_what_a_test_lacks(permutations: int, clusters: int, images: int, tests: int, said: str) -> None:
    assert shortage_of(0.95, permutations, clusters, images, tests) == said


def test_a_test_that_cannot_show_anything_blames_no_images() -> None:
    few = "58 permutations cannot show any difference; at least 59 are needed"
    assert verdict(difference(p_value=1 / 59), ("A", "B"), 5000, 58, p_corrected=3 / 59, shortage=few) == (
        f"{few}. B is higher by 0.6 ± 0.4 points of AP (0.412 to 0.418), and chance alone would show as much in at "
        "most 1 of 58 cases; corrected for the number of pairs, p is 0.051."
    )
    assert ranking_sentence("AP", "xyz", [0.5, 0.4, 0.3], "aaa", few) == f"x has the best AP, 0.500, but {few}."


@pytest.mark.parametrize(
    ("values", "letters", "said"),
    [
        ([0.5, 0.5, 0.5], "aaa", "x, y and z have the same AP, 0.500."),
        ([0.5, 0.5, 0.3], "aab", "x and y have the best AP, 0.500; they are better than z."),
        ([0.5, 0.5, 0.3], "aaa", "x and y have the best AP, 0.500; z cannot be told apart from them."),
        ([0.5, 0.5, 0.3], ["a", "ab", "b"], "x and y have the best AP, 0.500; z cannot be told apart from all of "
         "them."),
        ([0.5, 0.5, 0.3, 0.2], "aaaa", "x and y have the best AP, 0.500, but neither of the others can be told apart "
         "from them."),
        ([0.5, 0.5, 0.3, 0.2], "aabb", "x and y have the best AP, 0.500; they are better than both others."),
        ([0.5, 0.5, 0.3, 0.2], "aabc", "x and y have the best AP, 0.500; they are better than both others."),
    ],
)  # fmt: skip
def test_rankings_with_equal_models(values: list[float], letters: list[str], said: str) -> None:
    assert ranking_sentence("AP", "xyzw"[: len(values)], values, letters) == said


@settings(deadline=None)
@given(st.lists(st.floats(-20, 1) | st.sampled_from([0.0, 0.33, 0.3264, 1e-9]), min_size=1, max_size=20), st.data())
def test_a_threshold_is_shown_with_digits_that_choose_the_same(scores: list[float], data: st.DataObject) -> None:
    values = np.array(scores)
    for threshold in (data.draw(st.sampled_from(scores)), data.draw(st.floats(-20, 1))):
        text = threshold_text(threshold, values)
        np.testing.assert_array_equal(values >= float(text), values >= threshold)


def test_thresholds() -> None:
    scores = np.array([0.2, 0.3261, 0.32634, 0.9])
    shown = [threshold_text(each, scores) for each in (0.32634, 0.9, 0.5, 0.3261, -np.inf)]
    assert shown == ["0.3263", "0.90", "0.50", "0.32", ""]
    assert threshold_text(0.32634, scores[::3]) == "0.32"


def test_plus_and_minus_are_explained_where_they_stand() -> None:
    for limits in ({}, {"low": -1.0}, {"high": 1.0}, {"low": NAN}):
        one = difference(detectable=NAN, **limits)
        assert ("±" in verdict(one, ("A", "B"), 100, 1000)) == ("±" in verdict_notes(one, "100 images"))


def test_whose_limits_are_doubtful() -> None:
    few, other = ("the objects that count are on 3 images",), ("the number is close to 1", "there are 3 images")
    found = [difference(warnings=few), difference(key="AP50"), difference(key="APs", warnings=few)]
    assert doubt_sentence(found[1:2], 0.95) == ""
    assert doubt_sentence([*found, difference(key="AR", warnings=other)], 0.95) == (
        "Intervals that may miss the true value in more than 5 % of cases: AP and APs (the objects that count "
        "are on 3 images), AR (the number is close to 1; there are 3 images)."
    )
    every = [difference(key=key, warnings=few) for key in ("AP", "AP50", "APs")]
    assert doubt_sentence(every, 0.95).endswith(
        "in more than 5 % of cases: all (the objects that count are on 3 images)."
    )
    mixed = [*every, difference(key="AR", warnings=(*few, "the number is close to 1"))]
    assert doubt_sentence(mixed, 0.95).endswith(
        "in more than 5 % of cases: all (the objects that count are on 3 images), AR (the number is close to 1)."
    )
    without = [difference(low=NAN, warnings=few), difference(key="APm"), difference(key="APl", low=NAN, warnings=few)]
    assert doubt_sentence(without, 0.95) == (
        "Without an interval: AP and APl (the objects that count are on 3 images)."
    )
    assert doubt_sentence([difference(a=NAN, b=NAN, difference=NAN, low=NAN, warnings=few)], 0.95) == ""


def test_the_p_value_decides_where_the_interval_says_the_opposite() -> None:
    """Only there, it is said: below the verdict, and below the table with the keys of the rows."""
    wide, narrow, doubtful = difference(low=-0.004), difference(key="AR", p_value=0.2), ("there are 3 images",)
    assert "decides" not in verdict(difference(), ("A", "B"), 5_000, 1_000)
    assert verdict(wide, ("A", "B"), 5_000, 1_000).endswith(
        "in 2 of 1,000 cases. The p-value decides this, though the interval contains 0."
    )
    assert verdict(narrow, ("A", "B"), 5_000, 1_000).endswith("this, though the interval does not contain 0.")
    said = "Interval and p-value disagree about a difference of AP and AR; the p-value decides."
    assert doubt_sentence([wide, difference(key="AP50"), narrow], 0.95) == said
    assert doubt_sentence([wide, difference(key="APs", warnings=doubtful), narrow], 0.95).endswith(f"images). {said}")


def test_a_corrected_p_value_decides() -> None:
    known = verdict(difference(p_value=0.02), ("A", "B"), 4000, 1000, p_corrected=0.2)
    assert known.startswith("4,000 images cannot tell A and B apart, with so many pairs to compare. B is higher by ")
    assert verdict(difference(p_value=0.02), ("A", "B"), 5000, 1000, p_corrected=0.04).startswith("B is better than A")
    assert "pairs" not in verdict(difference(p_value=0.3), ("A", "B"), 5000, 1000, p_corrected=0.9)


def test_a_correction_that_matters_is_said() -> None:
    end = "; corrected for the number of pairs, p is 0.040."
    assert verdict(difference(p_value=0.02), ("A", "B"), 5000, 1000, p_corrected=0.04).endswith(end)
    assert "pairs" not in verdict(difference(p_value=0.02), ("A", "B"), 5000, 1000, p_corrected=0.02)


def test_what_a_verdict_needs() -> None:
    sample = sample_size(40, 5_000)
    assert verdict_notes(difference(), sample).endswith(
        "in 80 % of samples of 40 clusters. ± is half the 95 % interval; a point is 0.01."
    )
    equal = difference(difference=0.0, low=0.0, high=0.0)
    assert verdict_notes(equal, sample) == verdict_notes(difference(difference=NAN), sample) == ""
    assert "±" not in verdict_notes(difference(low=NAN), sample)


@pytest.mark.parametrize(
    ("letters", "said"),
    [
        (["a", "b", "b"], "x has the best AP, 0.500; it is better than both others."),
        (["a", "a", "b"], "x has the best AP, 0.500; y cannot be told apart from it."),
        (["a", "a", "a"], "x has the best AP, 0.500, but neither of the others can be told apart from it."),
        (["a", "a", "ab", "b"], "x has the best AP, 0.500; y and z cannot be told apart from it."),
        (["a", "a", "a", "a"], "x has the best AP, 0.500, but none of the others can be told apart from it."),
        (["a", "b", "b", "b"], "x has the best AP, 0.500; it is better than all others."),
    ],
)
def test_rankings(letters: list[str], said: str) -> None:
    names = ["x", "y", "z", "w"][: len(letters)]
    assert ranking_sentence("AP", names, [0.5, 0.4, 0.3, 0.2], letters) == said
