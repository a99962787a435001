"""Is tracker B better than A? Tests and limits beside plain ones, what changed, and sentences that are true."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ioukit import Detections, GroundTruth, Masks, TrackEvaluation, evaluate, evaluate_tracks
from ioukit.comparison import TrackComparison, TrackPair, compare_tracks
from ioukit.comparison.drawn_sequences import TrackDifference, measured_differences
from ioukit.comparison.track_changes import changed_objects
from ioukit.comparison.track_text import difference_row
from ioukit.comparison.words import needed_sentence
from ioukit.statistics import bootstrap_weights
from ioukit.tracks import EVENT_KINDS, TRACK_PROTOCOLS, TrackNumbers, TubeRules
from ioukit.tracks.draws import parts_of
from ioukit.tracks.measures import Values, together
from support.tracked_scenes import OBJECTS, tracked_truth, tracker
from support.trackeval_runs import painted

CHANGES = ("found", "lost", "new_switches", "gone_switches")


def evaluated(sequences: int, seed: int, *, main: str = "HOTA", **options: Any) -> TrackEvaluation:
    rules = replace(TRACK_PROTOCOLS["plain"], tubes=TubeRules() if main == "AP_all" else None, main=main)
    found = tracker(sequences, seed, **options)
    return evaluate_tracks(tracked_truth(sequences), found, protocol=rules, categories=[1, 2])


def compared(sequences: int, *, gain: float = 0.1, **options: Any) -> TrackComparison:
    a = evaluated(sequences, 2, found=0.7)
    return compare_tracks(a, evaluated(sequences, 3, found=0.7 + gain), **options)


def of_sequences(evaluation: TrackEvaluation) -> list[Values]:
    return [together(column) for column in zip(*evaluation.values, strict=True)]


def apart(a: list[Values], b: list[Values], key: str) -> float:
    return TrackNumbers(together(b))[key] - TrackNumbers(together(a))[key]


@pytest.mark.parametrize("sequences", [2, 5, 8])
@pytest.mark.parametrize("key", ["HOTA", "MOTA", "IDSW"])
def test_p_values_are_those_of_all_exchanges(sequences: int, key: str) -> None:
    (pair,) = compared(sequences).pairs
    a, b = of_sequences(pair.a), of_sequences(pair.b)
    observed = abs(apart(a, b, key))
    reached = 0
    for swapped in itertools.product([False, True], repeat=sequences):
        first = [other if swap else one for one, other, swap in zip(a, b, swapped, strict=True)]
        second = [one if swap else other for one, other, swap in zip(a, b, swapped, strict=True)]
        reached += abs(apart(first, second, key)) >= observed - 1e-9
    assert pair[key].p_value == reached / 2**sequences
    assert (pair.permutations, pair.is_every_permutation) == (2 ** (sequences - 1), True)
    assert pair.p_smallest == 2 / 2**sequences


def test_limits_are_those_of_plain_draws() -> None:
    sequences, replicates = 6, 40
    (pair,) = compared(sequences, replicates=replicates, seed=3).pairs
    a, b = of_sequences(pair.a), of_sequences(pair.b)

    def drawn(rows: list[int], key: str) -> float:
        return apart([a[at] for at in rows], [b[at] for at in rows], key)

    for key, scale in (("HOTA", 1.0), ("IDF1", 1.0), ("IDSW", sequences / (sequences - 1))):
        weights = bootstrap_weights(range(sequences), replicates, seed=3)
        replicated = [
            drawn([at for at, count in enumerate(row) for _ in range(count)], key) for row in weights.tolist()
        ]
        without = [scale * drawn([at for at in range(sequences) if at != left], key) for left in range(sequences)]
        of_bootstrap = np.var(replicated, ddof=1) * sequences / (sequences - 1)
        of_jackknife = (sequences - 1) * np.var(without)
        found = pair[key]
        np.testing.assert_allclose(found.standard_error, math.sqrt((of_bootstrap + of_jackknife) / 2), rtol=1e-9)
        np.testing.assert_allclose(found.low + found.high, 2 * found.difference, atol=1e-9)
        assert found.warnings == ("there are 6 sequences",)


def test_numbers_are_those_of_the_evaluations() -> None:
    found = compared(6)
    (pair,) = found.pairs
    for one in pair.differences:
        assert (one.a, one.b) == (pair.a.summary[one.key], pair.b.summary[one.key])
        assert one.difference == one.b - one.a
    back = compare_tracks(pair.b, pair.a).pairs[0]
    for one, other in zip(pair.differences, back.differences, strict=True):
        assert (one.difference, one.p_value) == (-other.difference, other.p_value)
        np.testing.assert_allclose([one.low, one.high], [-other.high, -other.low], atol=1e-9)
    assert repr(found) == f"TrackComparison(A HOTA={pair.a.summary['HOTA']:.4f}, B HOTA={pair.b.summary['HOTA']:.4f})"
    assert repr(pair).startswith("TrackPair(HOTA: A 0.")
    assert "(doubtful: there are 6 sequences)" in repr(pair["HOTA"])
    with pytest.raises(KeyError, match="the comparison has no number 'AP'"):
        pair["AP"]


def test_random_exchanges_of_many_sequences() -> None:
    (pair,) = compared(14, gain=0.0).pairs
    (again,) = compared(14, gain=0.0, permutations=2**13).pairs
    assert (pair.permutations, pair.is_every_permutation, pair.p_smallest) == (1000, False, 1 / 1001)
    assert (again.permutations, again.is_every_permutation) == (2**13, True)
    for one, other in zip(pair.differences, again.differences, strict=True):
        spread = math.sqrt(other.p_value * (1 - other.p_value) / 1000)
        assert abs(one.p_value - other.p_value) <= 4 * spread + 0.002
    assert pair.differences[0].warnings == ("there are 14 sequences",)


def test_what_changed_is_what_the_events_say() -> None:
    (pair,) = compared(3, gain=0.15).pairs
    expected = {name: dict.fromkeys(pair.changes.by_sequence()[name], 0) for name in pair.a.sequence_names}
    of_objects: Counter[tuple[Any, ...]] = Counter()
    rows = [{int(row): at for at, row in enumerate(one.events.object) if row >= 0} for one in (pair.a, pair.b)]
    assert rows[0].keys() == rows[1].keys()
    for row in rows[0]:
        of_a, of_b = (EVENT_KINDS[one.events.kind[at[row]]] for one, at in zip((pair.a, pair.b), rows, strict=True))
        at_a = rows[0][row]
        here = expected[pair.a.sequence_names[pair.a.events.sequence[at_a]]]
        before = dict(here)
        here[{(0, 0): "still_missed", (0, 1): "found", (1, 0): "lost"}.get(
            (of_a != "miss", of_b != "miss"), "still_found")] += 1  # fmt: skip
        if "switch" in (of_a, of_b):
            here["still_switches" if of_a == of_b else "new_switches" if of_b == "switch" else "gone_switches"] += 1
        which = pair.a.events.class_names[pair.a.events.category[at_a]], pair.a.events.object_track[at_a].item()
        of_objects.update(
            (*which, int(pair.a.events.sequence[at_a]), key) for key in CHANGES if here[key] > before[key]
        )
    assert pair.changes.by_sequence() == expected
    listed = changed_objects(pair.a, pair.b)
    assert {one[:3] for one in listed} == {key[:3] for key in of_objects}
    for name, track, sequence, *counts in listed:
        assert counts == [of_objects[name, track, sequence, key] for key in CHANGES]
    # Both lists of the JSON name an object alike.
    fields = ("sequence", "class", "track")
    costs = {tuple(row[key] for key in fields) for row in pair.a.costs.to_dicts() if row["of"] == "object"}
    changed = [tuple(row[key] for key in fields) for row in pair.to_dict()["changed_objects"]]
    assert {*changed} <= costs
    count = pair.changes.counts
    assert count["found"] + count["still_found"] == pair.b.summary["TP"]
    assert count["lost"] + count["still_found"] == pair.a.summary["TP"]
    assert count["gone_switches"] + count["still_switches"] == pair.a.summary["IDSW"]
    assert count["new_switches"] + count["still_switches"] == pair.b.summary["IDSW"]
    assert pair.changes.to_dict() == {"counts": dict(count), "sequences": expected}
    assert repr(pair.changes).startswith(f"TrackChanges({count['found']} found, {count['lost']} lost, ")


def test_too_few_sequences() -> None:
    (pair,) = compared(4, gain=0.3).pairs
    assert pair.verdict().startswith(
        "With 4 sequences no difference can be told from chance: the smallest possible p-value is 0.125. At least 6 in "
        "which they differ are needed. B is higher by "
    )
    assert (pair.outcome, pair.p_smallest, pair["HOTA"].p_value) == ("", 0.125, 0.125)
    assert {one.sequences_needed for one in pair.differences} == {None}
    alone = compared(1)
    said = alone.pairs[0].verdict()
    assert said.startswith("With 1 sequence no difference can be told from chance: the smallest possible p-value is 1.")
    assert math.isnan(alone.pairs[0]["HOTA"].low)
    assert alone.pairs[0]["HOTA"].sequences_needed is None
    assert "undefined" in alone.text()
    json.loads(alone.to_json())


def test_only_sequences_that_differ_count() -> None:
    a = evaluated(8, 1, found=0.6, same=range(4))
    (pair,) = compare_tracks(a, evaluated(8, 2, found=0.9, same=range(4))).pairs
    assert (pair.num_differing, pair.permutations, pair.p_smallest) == (4, 8, 0.125)
    assert pair.verdict().startswith(
        "With 8 sequences, in 4 of which they differ in HOTA, no difference can be told from chance"
    )
    (same,) = compare_tracks(a, a).pairs
    assert same.verdict() == f"A and B have the same HOTA, {100 * a.summary['HOTA']:.2f} %."
    assert {one.p_value for one in same.differences} == {1.0}


NUMBERS = r"([\d.]+)(?: ± ([\d.]+))? points? of [\w&]+ \(([\d.]+) to ([\d.]+) %\)"
CASES = (
    r"(?:(?P<cases>[\d,]+) of (?P<of>[\d,]+) cases|at most 1 of (?P<least>[\d,]+) cases|(?:nearly )?every case)"
    r"(?:; corrected for the number of pairs, p is (?P<corrected>[\d.]+))?"
)
BETTER = re.compile(rf"^(\w+) is (better|worse) than (\w+) by {NUMBERS}\. Chance alone would show as much in {CASES}\.")
OPEN = re.compile(
    rf"^(\d+) sequences cannot tell (\w+) and (\w+) apart(, with so many pairs to compare)?"
    r"(?:; (?:about|more than) ([\d,]+) would, if this difference is the true one(?P<alone> and no other pair is "
    r"compared)?)?"
    rf"\. \w+ is (higher|lower) by {NUMBERS}, "
    rf"and chance alone would show as much in {CASES}\."
)
FEW = re.compile(
    r"^With (\d+) sequences?(?:, in (\d+) of which they differ in [\w&]+,)? no difference can be told from chance: the "
    r"smallest possible p-value is ([\d.e-]+)(, corrected for the number of pairs by Holm's method)?\. At least (\d+) "
    rf"in which they differ are needed\. \w+ is (higher|lower) by {NUMBERS}\.$"
)


def check_numbers(pair: TrackPair, size: str, half: str | None, a: str, b: str) -> None:
    one = pair.difference
    digits = len(size.partition(".")[2])
    assert float(size) == round(100 * abs(one.difference), digits)
    assert (half is None) == (bool(one.warnings) or math.isnan(one.low))
    if half is not None:
        assert float(half) == round(50 * (one.high - one.low), digits)
    assert (float(a), float(b)) == (round(100 * one.a, 2), round(100 * one.b, 2))


def check_cases(pair: TrackPair, said: re.Match[str]) -> None:
    p_value, decides = pair.difference.p_value, pair.p_corrected
    is_corrected = decides is not None and p_value <= 0.05 and decides > p_value
    assert said["corrected"] == (f"{decides:.3f}" if is_corrected else None)
    if said["cases"]:
        share = int(said["cases"].replace(",", "")) / int(said["of"].replace(",", ""))
        assert abs(share - p_value) <= (1e-12 if pair.is_every_permutation else 0.001)
    elif said["least"]:
        assert p_value <= 1.001 / (1 + pair.permutations)
    else:
        assert p_value > 0.98


@settings(deadline=None, max_examples=30)
@given(
    st.integers(0, 10**6), st.sampled_from([2, 4, 6, 7, 31]), st.integers(2, 4), st.sampled_from([0.0, 0.05, 0.25]),
    st.integers(0, 3), st.sampled_from(["HOTA", "MOTA", "AP_all"]),
)  # fmt: skip
def test_sentences_are_true(seed: int, sequences: int, number: int, gain: float, same: int, main: str) -> None:
    names = ["one", "two", "three", "four"][:number]
    trackers = {
        name: evaluated(
            sequences, seed + at, main=main, found=0.6 + gain * (at % 2), same=range(min(same, sequences - 1))
        )
        for at, name in enumerate(names)
    }
    found = compare_tracks(trackers, replicates=50, permutations=200)
    text = " ".join(found.text(width=90).split())
    for pair in found.pairs:
        one, said = pair.difference, pair.verdict()
        assert said in text
        assert (one.key, one.a, one.b) == (main, pair.a.summary[main], pair.b.summary[main])
        assert f" {main}" in said
        decides = one.p_value if pair.p_corrected is None else pair.p_corrected
        assert (pair.p_corrected is None) == (number == 2)
        if abs(one.difference) < 1e-12:
            assert f"have the same {main}" in said
        elif few := FEW.match(said):
            assert pair.p_smallest > 0.05
            assert decides >= pair.p_smallest - 1e-12
            assert (few[1], few[2] or few[1]) == (str(sequences), str(pair.num_differing))
            assert math.isclose(float(few[3]), pair.p_smallest, rel_tol=0.01)
            assert bool(few[4]) == (number > 2)
            assert int(few[5]) == pair.fewest_differing > pair.num_differing
            assert (few[6] == "higher") == (one.difference > 0)
            check_numbers(pair, few[7], few[8], few[9], few[10])
        elif better := BETTER.match(said):
            assert decides <= 0.05
            assert (better[1], better[3]) == (pair.name_b, pair.name_a)
            assert (better[2] == "better") == (one.difference > 0)
            check_numbers(pair, better[4], better[5], better[6], better[7])
            check_cases(pair, better)
            assert ("interval contains 0" in said) == (one.low <= 0 <= one.high and not one.warnings)
        else:
            known = OPEN.match(said)
            assert known is not None, said
            assert decides > 0.05
            assert (known[1], known[2], known[3]) == (str(sequences), pair.name_a, pair.name_b)
            assert bool(known[4]) == (one.p_value <= 0.05)
            if known[5]:
                assert (bool(known["alone"]), known[4]) == (number > 2, None)
                assert int(known[5].replace(",", "")) >= min(one.sequences_needed or 0, 10**7) > sequences
            assert (known[7] == "higher") == (one.difference > 0)
            check_numbers(pair, known[8], known[9], known[10], known[11])
            check_cases(pair, known)
        check_changes(pair, text)
        assert sequences > 30 or all(one.warnings or math.isnan(one.low) for one in pair.differences)


def check_changes(pair: TrackPair, text: str) -> None:
    a, b = pair.names
    count = pair.changes.counts
    sentence = re.search(
        rf"{b} misses (no|[\d,]+) objects? that {a} follows, and follows (no|[\d,]+) objects? that {a} misses\. Both "
        rf"follow (none|[\d,]+); both miss (none|[\d,]+)\. .*? of ids: ([\d,]+) of {b} alone, ([\d,]+) of {a} alone, "
        rf"([\d,]+) of both\.",
        text,
    )
    assert sentence is not None
    numbers = [0 if one in ("no", "none") else int(one.replace(",", "")) for one in sentence.groups()]
    names = ("lost", "found", "still_found", "still_missed", "new_switches", "gone_switches", "still_switches")
    assert numbers == [count[name] for name in names]


def test_several_trackers_are_corrected_for_their_number() -> None:
    a = evaluated(7, 1, found=0.6)
    trackers = {"a": a, "b": evaluated(7, 2, found=0.95, switches=0.0), "c": evaluated(7, 3, found=0.95, switches=0.0)}
    found = compare_tracks(trackers)
    assert [pair.names for pair in found.pairs] == [("a", "b"), ("a", "c")]
    assert [pair.p_corrected for pair in found.pairs] == [2 / 64, 2 / 64]
    assert [pair.outcome for pair in found.pairs] == ["better", "better"]
    # With six sequences, the smallest p-value of one pair is 0.031, and of two pairs 0.062.
    few = compare_tracks({name: evaluated(6, at, found=0.5 + 0.4 * (at > 1)) for at, name in enumerate("abc", 1)})
    assert [pair.p_smallest for pair in few.pairs] == [2 / 32, 2 / 32]
    assert (
        "the smallest possible p-value is 0.0625, corrected for the number of pairs by Holm's method. At least 7 in "
        "which they differ are needed. b is higher by" in few.pairs[0].verdict()
    )
    rows, count = few.notebook_rows()
    assert count == len(list(rows)) == 2 * len(few.pairs[0].differences)
    assert "p-value is 0.0625" in few.notebook_caption()


def test_the_text_and_the_values() -> None:
    found = compared(7, gain=0.2)
    text, (pair,) = found.text(), found.pairs
    assert text.startswith(pair.verdict()[:60])
    assert "Intervals that may miss the true value in more than 5 % of cases: all (there are 7 sequences)." in " ".join(
        text.split()
    )
    assert max(map(len, found.text(width=60).splitlines())) <= 60
    values = json.loads(found.to_json())
    assert [one["name"] for one in values["trackers"]] == ["A", "B"]
    assert values["trackers"][1]["summary"] == pair.b.to_dict()["summary"]
    assert values["pairs"][0]["verdict"] == pair.verdict()
    assert values["pairs"][0]["differences"][0]["key"] == "HOTA"
    assert values["pairs"][0]["changes"]["counts"] == dict(pair.changes.counts)
    assert "doubt of the limits" in pair._repr_html_()


def with_box(gt: GroundTruth) -> GroundTruth:
    boxes = gt.boxes.copy()
    boxes[3, 2] += 1
    return GroundTruth.from_arrays(
        image_ids=gt.image_labels(),
        category_ids=gt.category_ids,
        boxes=boxes,
        categories={1: "car", 2: "person"},
        attributes={"track_id": gt.attributes["track_id"]},
    )


def test_other_data_are_refused() -> None:
    a = evaluated(3, 1, found=0.7)
    dt = tracker(2, 1, found=0.7)
    with pytest.raises(ValueError, match="not evaluated on the same ground truth: sequence 'S02' is in A alone"):
        compare_tracks(a, evaluate_tracks(tracked_truth(2), dt))
    with pytest.raises(ValueError, match="class 'car' is in A alone; evaluate both with the same categories="):
        compare_tracks(a, evaluate_tracks(tracked_truth(3), dt, categories=[2]))
    with pytest.raises(ValueError, match="sequence 'S00' has 8 frames in A and 9"):
        compare_tracks(a, evaluate_tracks(tracked_truth(3, frames=9), dt))
    fewer = tracked_truth(3)
    fewer = fewer.take(np.arange(len(fewer) - 1))
    with pytest.raises(ValueError, match=f"A has {3 * 8 * OBJECTS} objects and B has {3 * 8 * OBJECTS - 1}"):
        compare_tracks(a, evaluate_tracks(fewer, dt))
    with pytest.raises(ValueError, match="an object has another class, frame, track, box or kind of region"):
        compare_tracks(a, evaluate_tracks(with_box(tracked_truth(3)), dt))
    with pytest.raises(ValueError, match="expected at least two trackers, got 1"):
        compare_tracks(a)
    with pytest.raises(TypeError, match=r"expected what ioukit\.evaluate_tracks returns, got Evaluation"):
        compare_tracks(a, evaluate(tracked_truth(2), dt))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="level must be above 0 and below 1, got 2"):
        compare_tracks(a, a, level=2)
    with pytest.raises(ValueError, match="seed must be at least 0"):
        compare_tracks(a, a, seed=-1)
    other = evaluate_tracks(tracked_truth(3), dt, protocol=replace(TRACK_PROTOCOLS["plain"], name="mine"))
    with pytest.raises(ValueError, match=r"^A and B were evaluated by different protocols: A by plain, B by mine; "):
        compare_tracks(a, other)
    bare = TrackEvaluation(a.categories, a.sequence_names, a.values)
    with pytest.raises(ValueError, match="without the data that a comparison needs"):
        compare_tracks(a, bare)


def test_an_undefined_number_is_a_dash_in_the_table() -> None:
    known = TrackDifference("HOTA", 0.5, 0.6, 0.1, 0.05, 0.15, 0.95, 0.02, 0.01, 3)
    nan = math.nan
    unknown = TrackDifference("AP_all", nan, nan, nan, nan, nan, 0.95, nan, nan, None)
    assert difference_row(known) == ("HOTA", "50.00", "60.00", "+10.00", "+5.00 to +15.00", "0.010")
    assert difference_row(unknown) == ("AP_all", "-", "-", "-", "undefined", "-")


def test_what_rounds_to_zero_has_no_sign() -> None:
    found = [("FP", -0.3, -12.4, 0.4), ("IDSW", 0.0, 0.0, -0.0), ("HOTA", -0.00001, -0.00004, 0.0004)]
    rows = [
        difference_row(TrackDifference(key, 3.0, 3.0, difference, low, high, 0.95, 1.0, 1.0, 3))
        for key, difference, low, high in found
    ]
    assert [row[3:5] for row in rows] == [("0", "-12 to 0"), ("0", "0 to 0"), ("0.00", "0.00 to +0.04")]


def test_the_main_number_of_the_protocol_leads() -> None:
    mains = {"DAVIS": "J&F", "DAVIS-semi-supervised": "J&F", "TAO": "AP_all", "YouTube-VIS": "AP_all"}
    assert {one.name: one.main for one in TRACK_PROTOCOLS.values() if one.main != "HOTA"} == mains
    a, b = (evaluated(6, seed, main="AP_all", found=found) for seed, found in ((2, 0.6), (3, 0.9)))
    found = compare_tracks(a, b)
    (pair,) = found.pairs
    assert f" points of AP_all ({100 * a.summary['AP_all']:.2f} to {100 * b.summary['AP_all']:.2f} %)" in pair.verdict()
    assert [one.key for one in pair.differences][:2] == ["AP_all", "HOTA"]
    assert pair.to_dict()["main"] == a.to_dict()["main"] == a.table_keys[0] == "AP_all"
    assert "\nHOTA of each sequence; " in found.text()  # a sequence has no AP of whole tracks
    assert repr(found).startswith(f"TrackComparison(A AP_all={a.summary['AP_all']:.4f}, B AP_all=")
    with pytest.raises(ValueError, match=r"main must be a number that the protocol counts, HOTA or .* got 'J&F'"):
        replace(TRACK_PROTOCOLS["plain"], main="J&F")


def test_j_and_f_decide_in_davis() -> None:
    sides: list[Any] = [tracked_truth(6), tracker(6, 2, found=0.6), tracker(6, 3, found=0.9)]
    gt, *results = (
        replace(
            side,
            category_ids=np.ones_like(side.category_ids),
            regions={"Masks": Masks.from_arrays(painted(side.boxes))},
        )
        for side in sides
    )
    found = compare_tracks(*(evaluate_tracks(gt, dt, protocol="davis") for dt in results))
    (pair,) = found.pairs
    one = pair["J&F"]
    assert repr(pair.a).startswith(f"TrackEvaluation(J&F={one.a:.4f}, HOTA=")
    assert f" points of J&F ({100 * one.a:.2f} to {100 * one.b:.2f} %)" in pair.verdict()
    of_a, of_b = (each.sequences["S00"]["J&F"] for each in (pair.a, pair.b))
    table = found.text().partition("J&F of each sequence; ")[2]
    assert f"S00 {100 * of_a:.2f} {100 * of_b:.2f} " in " ".join(table.split())


def test_sequences_without_objects_have_no_j_and_f() -> None:
    def of_davis(side: Any) -> Any:
        regions = {"Masks": Masks.from_arrays(painted(side.boxes))}
        return replace(side, category_ids=np.ones_like(side.category_ids), regions=regions)

    def compared_of(sequences: int, objects: int) -> TrackComparison:
        gt = of_davis(tracked_truth(sequences))
        gt = gt[: len(gt) * objects // sequences]
        results = [tracker(sequences, seed, found=found) for seed, found in ((2, 0.6), (3, 0.9))]
        return compare_tracks(*(evaluate_tracks(gt, of_davis(dt), protocol="davis") for dt in results))

    found = compared_of(2, 1)
    (pair,) = found.pairs
    assert pair.verdict().startswith(
        "With 1 sequence with objects no difference can be told from chance: the smallest possible p-value is 1. At "
        "least 6 in which they differ are needed. B is higher by "
    )
    assert (pair.num_sequences, pair.num_differing, pair.p_smallest, pair["J&F"].p_value) == (1, 1, 1.0, 1.0)
    assert math.isnan(pair["J-Mean"].low)
    assert not math.isnan(pair["FP"].low)
    rows = [line.split() for line in found.text().splitlines()]
    assert next(row for row in rows if row[:1] == ["J&F"])[-2:] == ["undefined", "1.000"]
    assert rows[-1][:4] == ["S01", "-", "-", "-"]

    # Sequences without objects change no number of J and F.
    (few,) = compared_of(4, 3).pairs
    keys, a, b = ("J&F", "J-Mean", "F-Decay"), parts_of(few.a)[:3], parts_of(few.b)[:3]
    numbers = {key: (few[key].a, few[key].b) for key in keys}
    alone = measured_differences(a, b, numbers, level=0.95, replicates=1000, permutations=1000, seed=0)
    for key in keys:
        one = few[key]
        assert one.to_dict() == alone[key].difference.to_dict() | {"warnings": list(one.warnings)}
        assert (one.warnings, few["FP"].warnings) == (
            ("there are 3 sequences with objects",),
            ("there are 4 sequences",),
        )
    assert (few.num_sequences, few.num_differing, few.p_smallest) == (3, 3, 0.25)

    (nothing,) = compared_of(2, 0).pairs
    assert nothing.verdict() == "A and B have no J&F: there is no object to find."
    assert difference_row(nothing["J&F"]) == ("J&F", "-", "-", "-", "undefined", "-")
    assert nothing.to_dict()["differences"][0]["p_value"] is None


@pytest.mark.parametrize("sequences", [7, 40])
def test_a_difference_that_no_sequence_changes_has_no_interval(sequences: int) -> None:
    frames = [f"S{at:02d}/{frame}" for at in range(sequences) for frame in range(4)]

    def boxes(images: list[str]) -> dict[str, Any]:
        count = len(images)
        given = {"image_ids": images, "category_ids": [1] * count, "boxes": [[0, 0, 9, 9]] * count}
        return given | {"attributes": {"track_id": [1] * count}}

    def follows(images: list[str]) -> TrackEvaluation:
        return evaluate_tracks(
            GroundTruth.from_arrays(**boxes(frames)), Detections.from_arrays(**boxes(images), scores=None)
        )

    a, b = follows(frames), follows([one for one in frames if not one.endswith("3")])
    found = compare_tracks(a, b)
    (pair,) = found.pairs
    assert (pair["HOTA"].difference, pair["FN"].difference, pair["FP"].difference) == (-0.25, sequences, 0)
    for one in pair.differences:  # the same in every sequence: how others would differ is unknown
        assert np.isnan([one.low, one.high, one.standard_error]).all()
        assert (one.warnings, one.is_significant) == ((), one.difference != 0)
    assert re.search(r"^FP +0 +0 +0 +undefined +1\.000$", found.text(), re.MULTILINE)
    assert "Intervals that may miss" not in found.text()
    (pair,) = compare_tracks(a, follows(frames[1:])).pairs
    assert pair["FN"].low < 1 < pair["FN"].high
    assert math.isnan(pair["FP"].low)


def test_ratios_have_no_interval_of_a_single_sequence_with_objects() -> None:
    results = [tracker(3, seed, found=found) for seed, found in ((2, 0.6), (3, 0.9))]
    gt = tracked_truth(3)
    one, two = (
        compare_tracks(*(evaluate_tracks(gt[: number * len(gt) // 3], dt) for dt in results)).pairs[0]
        for number in (1, 2)
    )
    for key in ("HOTA", "MOTA", "IDF1"):
        assert math.isnan(one[key].low)
        assert one[key].warnings == ()
        assert -5 < two[key].low < two[key].high < 5  # three times the sequence without objects is not drawn
    assert one["FP"].low < one["FP"].high
    assert one["FP"].warnings == ("there are 3 sequences",)
    assert "\N{PLUS-MINUS SIGN}" not in one.verdict()


def test_how_many_sequences_would_show_a_difference() -> None:
    (pair,) = compared(7, gain=0.2).pairs
    assert {one.sequences_needed for one in pair.differences if one.is_significant} <= {*range(6, 41)}
    for one in pair.differences:
        assert one.is_significant or one.sequences_needed is None or one.sequences_needed > 7
    about = needed_sentence(pair.difference, is_corrected=False)
    assert about == (
        f"If this difference of HOTA is the true one, about {pair.difference.sequences_needed} sequences of this kind "
        "would show it with a probability of 0.8."
    )
    assert needed_sentence(pair.difference, is_corrected=True).endswith(" of 0.8, if this pair were the only one.")
    # With half of the sequences the same, it takes twice as many to have six that differ.
    a = evaluated(12, 1, found=0.5, switches=0.0, same=range(6))
    (half,) = compare_tracks(a, evaluated(12, 2, found=1.0, switches=0.0, same=range(6))).pairs
    assert (half.num_sequences, half.num_differing) == (12, 6)
    assert half["HOTA"].is_significant
    assert (half["HOTA"].sequences_needed or 0) >= 12
    (few,) = compared(5, gain=0.3).pairs
    said = needed_sentence(few.difference, is_corrected=False)
    assert said == "How many sequences would show this difference of HOTA cannot be told from these."
    (same,) = compare_tracks(a, a).pairs
    assert needed_sentence(same.difference, is_corrected=False) == ""


def test_too_few_permutations() -> None:
    (pair,) = compared(8, gain=0.3, permutations=10).pairs
    assert "is 0.0909. At least 19 permutations are needed. B is higher by" in pair.verdict()


def test_a_sequence_with_the_same_hota_is_not_exchanged() -> None:
    a, b = (evaluated(6, seed, found=found) for seed, found in ((2, 0.6), (3, 0.9)))
    values = [dict(one) for one in of_sequences(b)]
    values[0] = {**of_sequences(a)[0], "IDSW": 99}
    numbers = dict.fromkeys(("HOTA", "IDSW"), (0.5, 0.6))
    measured = measured_differences(
        of_sequences(a), values, numbers, level=0.95, replicates=20, permutations=1000, seed=0
    )
    assert [len(measured[key].exchanges.differing) for key in ("HOTA", "IDSW")] == [5, 6]


def test_without_an_object_nothing_is_compared() -> None:
    rules = replace(TRACK_PROTOCOLS["plain"], tubes=TubeRules(), main="AP_all")
    nothing = tracked_truth(6)[:0]
    results = [evaluate_tracks(nothing, tracker(6, seed, found=0.6), protocol=rules) for seed in (1, 2, 3)]
    found = compare_tracks(*results)
    assert found.pairs[0].verdict() == "A and B have no AP_all: there is no object to find."
    assert "A and C have no AP_all" in found.text()
    json.loads(found.to_json())
