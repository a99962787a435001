"""Two models: exchanging them changes signs alone, equal ones do not differ, the permutation test is exact."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ioukit import Detections, GroundTruth, evaluate
from ioukit.comparison.words import verdict
from ioukit.evaluation import Evaluation, MatchTable
from ioukit.evaluation.protocols import CROWDHUMAN, FROC, WIDER_FACE
from ioukit.statistics import (
    ClassDifference,
    Comparison,
    Difference,
    adjust_p_values,
    bootstrap_weights,
    compare,
    detectable_difference,
    images_needed,
    permutation_swaps,
    repeat_images,
    replicate,
    resampling,
)
from ioukit.statistics.class_clusters import differing_clusters
from ioukit.statistics.copies import interleave
from ioukit.statistics.correction import stepped_down
from ioukit.statistics.detectable import alarm, fewest_clusters, fewest_permutations, smallest_p_value
from ioukit.statistics.estimating import enough_groups
from ioukit.statistics.evidence import Evidence
from ioukit.statistics.named_numbers import labels_of, named_numbers
from ioukit.statistics.resampling import image_groups
from ioukit.statistics.spread import jackknifed
from ioukit.statistics.student import t_quantile
from support.odd_models import odd_models
from support.paths import DEMO
from support.two_models import ground_truth, model, pair, ranked

FEW: dict[str, Any] = {"replicates": 25, "permutations": 25}
NEGATED = {"difference", "low", "high"}
EXCHANGED = {"a": "b", "b": "a", "low": "high", "high": "low"}


def exchanged(row: dict[str, Any]) -> dict[str, Any]:
    """The dictionary of a difference with the two models in each other's place."""
    moved = {EXCHANGED.get(name, name): value for name, value in row.items()}
    return {name: -moved[name] + 0.0 if name in NEGATED and moved[name] is not None else moved[name] for name in row}


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from(["plain", "clusters", "strata"]))
def test_exchanging_the_models_changes_the_signs_alone(seed: int, groups: str) -> None:
    a, b = pair(seed, b={"found": 0.9, "shift": 0.02})
    options: dict[str, Any] = {**FEW, "seed": seed, "per_class": ["AP", "AP50"]}
    if groups != "plain":
        options[groups] = {number: number // 4 for number in a.matches.image_ids.tolist()}
    one, other = compare(a, b, **options).to_dict(), compare(b, a, **options).to_dict()
    assert one["differences"] == [exchanged(row) for row in other["differences"]]
    for key, rows in one["per_class"].items():
        assert rows == [exchanged(row) for row in other["per_class"][key]]


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10**6))
def test_equal_models_do_not_differ(seed: int) -> None:
    truth = ground_truth(seed)
    found = model(truth, seed)
    comparison = compare(evaluate(truth, found), evaluate(truth, found), **FEW, per_class="AP")
    listed: list[Difference | ClassDifference] = [*comparison.differences, *comparison.per_class["AP"]]
    for one in listed:
        if math.isnan(one.a):
            assert math.isnan(one.p_value)
            continue
        assert (one.difference, one.p_value) == (0, 1)
        # A number that rests on one image has no limits.
        assert math.isnan(one.low) or (one.low, one.high, one.standard_error) == (0, 0, 0)
        assert not one.is_significant
    assert all(one.images_needed is None for one in comparison.differences)


@pytest.mark.parametrize("clusters", [None, [0, 0, 1, 2, 3, 3]])
def test_p_values_are_those_of_mixed_data(clusters: list[int] | None) -> None:
    """The mixed data sets are put together and evaluated one by one. Scores of models are compared by their ranks."""
    truth = ground_truth(5, images=6)
    found = [model(truth, seed) for seed in (1, 2)]
    by_rank = [ranked(one) for one in found]
    a, b = (evaluate(truth, one) for one in found)
    comparison = compare(a, b, keys=["AP", "AR1"], replicates=5, permutations=30, seed=9, clusters=clusters)
    swaps = permutation_swaps(a.matches.image_ids, 30, seed=9, clusters=clusters)
    if clusters:  # four of them are swapped in 16 ways, one of which is the data itself
        swaps = np.array(list(itertools.product([False, True], repeat=4)))[1:, clusters]
    reached = {"AP": 0, "AR1": 0}
    for row in swaps:
        swapped = set(a.matches.image_ids[row].tolist())
        mixed = []
        for first, second in (by_rank, by_rank[::-1]):
            one, other = (
                each.take(np.isin(each.image_ids, list(swapped)) == inside)
                for each, inside in ((first, False), (second, True))
            )
            mixed.append(evaluate(truth, type(first).concat([one, other])).summary)
        for key in reached:
            reached[key] += abs(mixed[1][key] - mixed[0][key]) >= abs(b.summary[key] - a.summary[key])
    for key, count in reached.items():
        assert comparison[key].p_value == (1 + count) / (1 + len(swaps))


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 10**6), st.sampled_from([0.001, 0.5, 1000.0]), st.sampled_from([1.0, 3.0]))
def test_the_scale_of_scores_changes_no_bit(seed: int, factor: float, power: float) -> None:
    truth = ground_truth(seed)
    a, found = evaluate(truth, model(truth, 1)), model(truth, 2, found=0.6)
    rescaled = dataclasses.replace(found, scores=factor * found.scores**power)
    options: dict[str, Any] = {**FEW, "per_class": "AP", "seed": seed}
    assert compare(a, evaluate(truth, found), **options).to_dict() == (
        compare(a, evaluate(truth, rescaled), **options).to_dict()
    )


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 10**6))
def test_limits_and_errors_are_those_of_paired_data_sets(seed: int) -> None:
    a, b = pair(seed)
    ids = a.matches.image_ids
    one = compare(a, b, keys="AP50", replicates=30, permutations=1, seed=seed, level=0.5)["AP50"]
    left = image_groups(ids, None, None).left_out(seed)
    drawn, without = (
        np.subtract(*(replicate(each.matches, weights, measures=["AP50"]).values[:, 0] for each in (b, a)))
        for weights in (bootstrap_weights(ids, 30, seed=seed), left.weights(0, 12))
    )
    _, df = jackknifed(without[:, None], left.stratum)
    error = math.sqrt(np.var(drawn, ddof=1) * 12 / 11)
    table = a.matches
    carriers = len(np.unique(table.objects.image[~table.ignores("all")]))
    degrees = min(max(df[0], 1), carriers - 1)
    assert one.difference == b.summary["AP50"] - a.summary["AP50"]
    assert one.standard_error == pytest.approx(error)
    assert one.low + one.high == pytest.approx(2 * one.difference)
    assert one.high - one.low >= 2 * t_quantile(0.75, degrees) * error - 1e-12  # more where classes are absent


@pytest.mark.parametrize("images", [8, 60])
def test_what_a_test_detects_is_told_by_its_permutations(images: int) -> None:
    """Recall is a mean over these images: their differences tell the error, without their mean."""
    boxes = np.tile([0.0, 0.0, 9.0, 9.0], (20, 1)) + np.arange(20)[:, None] * [20, 0, 0, 0]
    truth = GroundTruth.from_arrays(
        image_ids=np.repeat(np.arange(images), 20),
        category_ids=np.zeros(20 * images, int),
        boxes=np.tile(boxes, (images, 1)),
    )
    found = np.random.default_rng(3).binomial(20, [[0.6] * images, [0.52] * images])

    def of(counts: np.ndarray) -> Evaluation:
        rows = np.flatnonzero((np.arange(20) < counts[:, None]).ravel())
        return evaluate(
            truth,
            Detections.from_arrays(
                image_ids=truth.image_ids[rows], category_ids=truth.category_ids[rows], boxes=truth.boxes[rows],
                scores=np.full(len(rows), 0.5),
            ),
        )  # fmt: skip

    one = compare(*map(of, found), keys="AR100", replicates=2, permutations=4000)["AR100"]
    error = np.std((found[1] - found[0]) / 20, ddof=1) / math.sqrt(images)
    assert one.detectable == pytest.approx(detectable_difference(error, df=images - 1), rel=0.05)


def test_threads_and_batches_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = pair(2)
    plain = repr(compare(a, b, **FEW, per_class="AP").to_dict())
    for threads, size in [(1, 1), (2, 1 << 26), (3, 700)]:
        monkeypatch.setattr(resampling, "_BYTES", size)
        assert repr(compare(a, b, **FEW, per_class="AP", threads=threads).to_dict()) == plain


def test_p_values_of_classes_are_corrected() -> None:
    a, b = pair(2, images=30, b={"found": 0.5})
    for correction in ("holm", "benjamini-hochberg", "none"):
        comparison = compare(a, b, replicates=9, permutations=60, per_class=("AP", "APs"), correction=correction)
        assert comparison.correction == correction
        for key, rows in comparison.per_class.items():
            assert [row.category for row in rows] == ["car", "cat", "owl"]
            assert [row.key for row in rows] == [key] * 3
            found = adjust_p_values([row.p_value for row in rows], correction)
            np.testing.assert_array_equal([row.p_adjusted for row in rows], found)
            for row, theirs in zip(rows, b.per_class, strict=True):
                assert row.b == pytest.approx(theirs.summary[key], nan_ok=True)
                if key == "AP":
                    assert row.num_objects == theirs.num_ground_truth
    alone = compare(a, b, keys=["AP/cat"], replicates=9, permutations=60)["AP/cat"]
    (cat,) = (row for row in comparison.per_class["AP"] if row.category == "cat")
    assert (alone.difference, alone.low, alone.p_value) == (cat.difference, cat.low, cat.p_value)


def test_a_class_among_many_that_loses_everything_is_found() -> None:
    """However many classes there are: the corrected p-value does not grow with their number alone."""
    names = {number: f"class {number}" for number in range(1, 81)}
    rng = np.random.default_rng(0)
    image, category = np.repeat(np.arange(120), 4), rng.integers(1, 81, 480)
    category[::8] = 1
    boxes = np.column_stack([rng.uniform(0, 400, (480, 2)), rng.uniform(20, 90, (480, 2))])
    truth = GroundTruth.from_arrays(
        image_ids=image, category_ids=category, boxes=boxes, images=np.arange(120), categories=names
    )
    found, lost = (model(truth, 3).take(keep) for keep in (slice(None), model(truth, 3).category_ids != 1))
    models = evaluate(truth, found), evaluate(truth, lost)
    compared = compare(*models, keys="AP", per_class="AP", replicates=50, permutations=200)
    one, *others = compared.per_class["AP"]
    assert one.difference == -one.a
    assert one.p_adjusted == one.p_value == 1 / 201
    assert not any(other.is_significant for other in others)


def test_a_class_on_one_image_does_not_hide_the_others() -> None:
    """Its difference is as large in every permutation, so it can never be found, and counts as no further test."""
    names = {1: "usual", 2: "other", 3: "rare"}
    rng = np.random.default_rng(1)
    image, category = np.tile(np.arange(40), 2), np.repeat([1, 2], 40)
    boxes = np.column_stack([rng.uniform(0, 400, (80, 2)), rng.uniform(20, 90, (80, 2))])
    found = []
    for rare in (False, True):
        of = np.append(image, 0)[: 81 if rare else 80], np.append(category, 3)[: 81 if rare else 80]
        placed = np.vstack([boxes, [450, 10, 30, 30]])[: len(of[0])]
        truth = GroundTruth.from_arrays(image_ids=of[0], category_ids=of[1], boxes=placed, categories=names)
        every = model(truth, 3)
        lost = every.take(every.category_ids == 2)
        compared = compare(evaluate(truth, every), evaluate(truth, lost), per_class="AP", replicates=50)
        found.append({one.category: (one.p_value, one.p_adjusted) for one in compared.per_class["AP"]})
    assert all(one["usual"][0] == one["usual"][1] < 0.02 for one in found)
    assert found[1]["rare"] == (1, 1)


def test_corrected_p_values_are_those_of_every_step_written_out() -> None:
    """Westfall and Young: the k-th largest is compared with the largest of it and all smaller ones."""
    rng = np.random.default_rng(4)
    drawn = rng.normal(size=(99, 5)) * [1, 1, 3, 0.1, 1]
    drawn[:, 1] = drawn[:, 0] + 0.1 * rng.normal(size=99)
    drawn[7, 2] = math.nan
    observed = np.array([2.2, -2.9, 1.0, 0.25, math.nan])
    units = np.sqrt(np.nanmean(drawn**2, axis=0))
    sizes, others = np.abs(observed / units), np.nan_to_num(np.abs(drawn / units), nan=math.inf)
    order = sorted(range(4), key=lambda at: -sizes[at])
    expected, highest = np.full(5, np.nan), 0.0
    for place, at in enumerate(order):
        rest = order[place:]
        reached = sum(max(row[other] for other in rest) >= sizes[at] for row in others)
        highest = max(highest, (1 + reached) / 100)
        expected[at] = highest
    np.testing.assert_array_equal(stepped_down(observed, drawn, units), expected)
    # A test that no permutation could find corrects none of the others, and is corrected for all of them.
    with_it = stepped_down(
        [*observed, 7.0],
        np.column_stack([drawn, np.full(99, 7.0)]),
        np.append(units, 1.0),
        np.array([False] * 5 + [True]),
    )
    np.testing.assert_array_equal(with_it, [*expected, 1.0])
    assert stepped_down([0.5], np.full((9, 1), 0.4), np.ones(1)).tolist() == [0.1]
    assert stepped_down([0.0, 0.0], np.zeros((9, 2)), np.zeros(2)).tolist() == [1, 1]
    assert stepped_down([], np.zeros((9, 0)), np.zeros(0)).tolist() == []


def test_a_large_difference_is_found_and_a_small_one_is_not() -> None:
    truth = ground_truth(11, images=80)
    good, alike, bad = (
        evaluate(truth, model(truth, seed, found=share)) for seed, share in ((1, 0.9), (2, 0.9), (3, 0.3))
    )
    large, small = (
        compare(good, other, keys="AP50", replicates=200, permutations=199)["AP50"] for other in (bad, alike)
    )
    assert large.is_significant
    assert large.high < 0
    assert large.images_needed is not None
    assert large.images_needed < 80
    assert not small.is_significant
    assert small.low < 0 < small.high
    assert small.images_needed is not None
    assert small.images_needed > 80
    assert large.detectable < abs(large.difference)
    assert small.detectable > abs(small.difference)


@given(
    st.floats(-1, 1), st.floats(0, 1), st.integers(2, 10**6), st.sampled_from([0.8, 0.95, 0.99]),
    st.sampled_from([0.5, 0.8, 0.95]), st.none() | st.floats(0.001, 1),
)  # fmt: skip
def test_images_needed_follow_the_square_root(
    difference: float, error: float, images: int, level: float, power: float, p_value: float | None
) -> None:
    found = images_needed(difference, error, images, level=level, power=power, p_value=p_value)
    if abs(difference) < 1e-12 or (p_value is not None and p_value > max(0.999, 1 - level + 1e-12)):
        assert found is None
        return
    assert found is not None
    assert found >= 2
    if p_value is not None and p_value > 1 - level + 1e-12:
        assert found > images
        assert found >= images_needed(difference, error, images, level=level, power=power)  # type: ignore[operator]
    elif found > 2:
        # On so many images, the difference is the smallest that can be detected.
        smallest = detectable_difference(error * math.sqrt(images / found), level=level, power=power)
        assert smallest <= abs(difference) * (1 + 1e-9)
        fewer = detectable_difference(error * math.sqrt(images / (found - 1)), level=level, power=power)
        assert fewer >= abs(difference) * (1 - 1e-9)


def test_a_weak_p_value_needs_as_many_images_as_its_standard_errors() -> None:
    assert images_needed(0.03, 0.01, 1000, p_value=0.04) == images_needed(0.03, 0.01, 1000) == 873
    weaker = images_needed(0.03, 0.01, 1000, p_value=0.3173105078629141)  # one standard error
    assert weaker == images_needed(0.01, 0.01, 1000) == 7849
    assert images_needed(0.001, 0.01, 1000, p_value=0.3) == images_needed(0.001, 0.01, 1000)


@pytest.mark.parametrize("protocol", ["coco", "unranked"])
@pytest.mark.parametrize("number", [1, 2, 3, 4, 6])
def test_images_that_do_not_differ_have_no_say(number: int, protocol: str) -> None:
    """Model B lacks the detections of a few images. Only these can be exchanged, although all ranks move."""
    images = np.arange(60)
    boxes = np.tile([10.0, 10.0, 50.0, 50.0], (60, 1))
    truth = GroundTruth.from_arrays(image_ids=images, category_ids=images % 2, boxes=boxes)
    found = Detections.from_arrays(
        image_ids=images, category_ids=images % 2, boxes=boxes, scores=np.random.default_rng(number).random(60)
    )
    fewer = found[found.image_ids >= number]
    keys = ["AP", "AP50"] if protocol == "coco" else "F50"
    comparison = compare(evaluate(truth, found, protocol), evaluate(truth, fewer, protocol), keys=keys, replicates=20)
    for one in comparison.differences:
        assert one.difference < 0
        assert one.p_value >= 2.0 ** (1 - number)
        assert one.is_significant == (one.p_value <= 0.05)
        if number == 1:
            assert (one.p_value, one.images_needed) == (1, None)
        else:
            assert one.images_needed is not None
            # Six images that differ, in 80 % of samples.
            assert one.images_needed >= {2: 236, 3: 157, 4: 118, 6: 78}[number]


@pytest.mark.parametrize("seed", range(4))
def test_few_images_that_differ_are_exchanged_in_every_way(seed: int) -> None:
    """A coin says which model misses the object of each of five images. Each exchange is evaluated by itself."""
    images, rng = np.arange(40), np.random.default_rng(seed)
    boxes = np.tile([10.0, 10.0, 50.0, 50.0], (40, 1))
    truth = GroundTruth.from_arrays(image_ids=images, category_ids=images * 0, boxes=boxes)
    found = Detections.from_arrays(image_ids=images, category_ids=images * 0, boxes=boxes, scores=rng.random(40))
    differing, missed_by_a = rng.choice(40, 5, replace=False), rng.random(5) < 0.5

    def difference(swapped: tuple[bool, ...]) -> float:
        of_a = missed_by_a ^ np.array(swapped)
        sides = (found[~np.isin(found.image_ids, differing[missed])] for missed in (of_a, ~of_a))
        a, b = (evaluate(truth, side).summary["AP"] for side in sides)
        return b - a

    every = [difference(swapped) for swapped in itertools.product([False, True], repeat=5)]
    exact = np.mean([abs(one) >= abs(every[0]) - 1e-9 for one in every])
    a, b = (found[~np.isin(found.image_ids, differing[missed])] for missed in (missed_by_a, ~missed_by_a))
    one = compare(evaluate(truth, a), evaluate(truth, b), keys="AP", replicates=2, permutations=32 * 8 - 1)["AP"]
    assert one.difference == pytest.approx(every[0])
    assert one.p_value == pytest.approx(exact)


@given(st.integers(1, 40), st.floats(0.01, 1), st.sampled_from([0.8, 0.95, 0.99]), st.sampled_from([0.5, 0.8, 0.95]))
def test_images_needed_hold_enough_that_differ(images: int, share: float, level: float, power: float) -> None:
    """For a difference beyond all doubt, the number of images that differ decides: a binomial tail, summed slowly."""
    found = images_needed(0.5, 0.0, images, level=level, power=power, differing=share)
    assert found is not None
    fewest = fewest_clusters(level)

    def enough(draws: int) -> float:
        chances = [1.0]  # of each number of images that differ
        for _ in range(draws):
            padded = np.append(chances, 0.0)
            chances = (padded * (1 - share) + np.append(0.0, padded[:-1]) * share).tolist()
        return sum(chances[fewest:])

    assert enough(found) >= power - 1e-9
    assert enough(found - 1) < power + 1e-9


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.booleans())
def test_the_clusters_that_differ_are_found(seed: int, clustered: bool) -> None:
    """Against the sorted rows of each class on each cluster."""
    truth = ground_truth(seed)
    found = model(truth, seed)
    rng = np.random.default_rng(seed)
    changed = rng.random(len(found)) < 0.1
    other = dataclasses.replace(found, scores=np.where(changed, found.scores * 0.5, found.scores))
    a, b = (evaluate(truth, one) for one in (found, other[rng.random(len(other)) < 0.95]))
    labels = {number: number // 4 for number in a.matches.image_ids.tolist()} if clustered else None
    groups = enough_groups(a.matches, None, labels)

    def rows(table: MatchTable, category: int, cluster: int) -> list[tuple[Any, ...]]:
        of = table.detections
        kept = (groups.cluster[of.image] == cluster) & (of.category == category)
        return sorted(
            (int(of.category[at]), float(of.score[at]), of.matched[at].tobytes(), of.ignored[at].tobytes())
            for at in np.flatnonzero(kept).tolist()
        )

    where = differing_clusters((a.matches, b.matches), groups)
    differs = set(zip(where.classes.tolist(), where.clusters.tolist(), strict=True))
    places = 0
    for category in range(len(a.matches.evaluated)):
        for cluster in range(groups.num_clusters):
            sides = [rows(one.matches, category, cluster) for one in (a, b)]
            assert ((category, cluster) in differs) == (sides[0] != sides[1])
            places += any(sides)
    assert where.places == places


def test_a_difference_in_one_image_promises_no_number_of_images() -> None:
    truth = ground_truth(3)
    found = model(truth, 3)
    sides = (found, found[found.image_ids != found.image_ids[0]])
    one = compare(*(evaluate(truth, side, "unranked") for side in sides), **FEW).differences[0]
    assert one.difference != 0
    assert (one.p_value, one.images_needed) == (1, None)
    assert "would, if this difference is the true one" not in verdict(one, ("A", "B"), 25, len(truth.images.ids))


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from([4, 12]))
def test_what_is_not_significant_needs_more_images_than_there_are(seed: int, images: int) -> None:
    a, b = pair(seed, images=images)
    for one in compare(a, b, replicates=20, permutations=20, seed=seed).differences:
        if one.images_needed is not None and not one.is_significant:
            assert one.images_needed > images


def test_the_chosen_power_is_reached() -> None:
    """Of normal differences whose true size is the detectable one, a test at the level finds the share `power`."""
    rng = np.random.default_rng(0)
    for power in (0.5, 0.8, 0.9):
        true = detectable_difference(1.0, power=power)
        found = np.abs(true + rng.normal(size=200_000)) > 1.959963984540054
        assert found.mean() == pytest.approx(power, abs=0.005)


def test_all_swaps_of_few_images_give_the_exact_test() -> None:
    """Over all 2^n permutations, every data set of the orbit has the p-value of its rank."""
    truth = ground_truth(5, images=6)
    a, b = (evaluate(truth, model(truth, seed)) for seed in (1, 2))
    swaps = np.array(list(itertools.product([0, 1], repeat=6)))
    place = np.stack([1 - swaps, swaps], axis=2).reshape(len(swaps), -1)
    both = interleave(a.matches, b.matches)
    values = [replicate(both, weights, measures=["AP"]).values[:, 0] for weights in (place, 1 - place)]
    differences = values[1] - values[0]
    assert differences[0] == b.summary["AP"] - a.summary["AP"]
    np.testing.assert_array_equal(differences, -differences[::-1])
    p = np.mean(np.abs(differences)[None, :] >= np.abs(differences)[:, None], axis=1)
    assert all(np.mean(p <= level) <= level + 1e-12 for level in np.linspace(0, 1, 41))


@pytest.mark.parametrize("clusters", [2, 3, 4, 5, 6])
def test_few_clusters_cannot_show_a_difference(clusters: int) -> None:
    """Each of the 2^n ways to exchange clusters has an opposite, so no p-value is below 2 / 2^n."""
    truth = ground_truth(7, images=24)
    good, bad = (evaluate(truth, model(truth, seed, found=share)) for seed, share in ((1, 0.95), (2, 0.1)))
    for seed in range(5):
        found = compare(
            good, bad, keys=["AP50", "AP50/cat"], per_class="AP50", replicates=20, permutations=400, seed=seed,
            clusters=np.arange(24) % clusters,
        )  # fmt: skip
        for one in found.differences:
            assert one.p_value >= 2 / 2**clusters
            assert math.isnan(one.detectable) or clusters == 6
            assert one.images_needed is not None
            assert one.images_needed >= 6 * 24 / clusters
        assert all(one.p_adjusted >= 2 / 2**clusters for one in found.per_class["AP50"])


def test_models_that_differ_in_few_images_detect_no_size() -> None:
    """Of 40 images, three differ: a quarter of all permutations are the data or its opposite."""
    truth = ground_truth(3, images=40)
    found = model(truth, 3)
    ids = np.unique(found.image_ids)
    for images, known in ((3, False), (20, True)):
        less = found[~np.isin(found.image_ids, ids[:images])]
        one = compare(
            *(evaluate(truth, each, "unranked") for each in (found, less)), replicates=20, permutations=100
        ).differences[0]
        assert math.isfinite(one.detectable) == known


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99, 0.999])
def test_the_fewest_that_can_show_a_difference(level: float) -> None:
    for tests in (1, 3, 55, 1307):
        permutations, clusters = fewest_permutations(level, tests), fewest_clusters(level, tests)
        assert tests / (1 + permutations) <= 1 - level + 1e-12 <= tests / permutations + 2e-12
        assert tests * 2.0 ** (1 - clusters) <= 1 - level + 1e-12 < tests * 2.0 ** (2 - clusters)
        # Exactly as many do, in the arithmetic of the correction.
        assert adjust_p_values([1 / (1 + permutations)] * tests)[0] <= alarm(level)
        assert smallest_p_value(permutations, clusters) <= alarm(level) / tests


def test_a_comparison_says_what_it_holds() -> None:
    a, b = pair(4)
    comparison = compare(a, b, **FEW, keys=["AP", "AP/cat"], per_class="AP", clusters=np.arange(12) // 2)
    assert isinstance(comparison, Comparison)
    assert comparison.num_images == 12
    assert comparison.num_clusters == 6
    assert repr(comparison).startswith("Comparison(AP ")
    assert repr(comparison["AP"]).startswith("Difference(AP: ")
    assert repr(comparison.per_class["AP"][0]).startswith("ClassDifference(AP/car: ")
    with pytest.raises(KeyError, match="the comparison has no number 'AR1'; there are AP, AP/cat"):
        comparison["AR1"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"keys": "AP/dog"}, "no number 'AP/dog'"),
        ({"per_class": "AP/cat"}, "unknown number of per_class 'AP/cat'; choose from AP, AP50"),
        ({"correction": "sidak"}, "unknown correction 'sidak'"),
        ({"power": 0.3}, "power must be at least 0.5, got 0.3"),
        ({"power": 1}, "power must be above 0 and below 1, got 1"),
        ({"permutations": 0}, "permutations must be at least 1"),
    ],
)
def test_what_cannot_be_compared_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare(*pair(0), **arguments)


def test_tables_alone_are_compared() -> None:
    a, b = pair(6)
    alone = [Evaluation.from_table(one.matches) for one in (a, b)]
    assert compare(*alone, **FEW).to_dict() == compare(a, b, **FEW).to_dict()
    weights = np.full(12, 2)
    twice = [Evaluation.from_table(repeat_images(one.matches, weights)) for one in (a, b)]
    assert compare(*twice, **FEW, clusters=np.repeat(np.arange(12), 2)).num_clusters == 12


def test_models_of_other_ground_truth_are_refused() -> None:
    with pytest.raises(ValueError, match="A and B were not evaluated on the same ground truth: A has 12 images and B"):
        compare(pair(0)[0], pair(0, images=13)[1])


@pytest.mark.parametrize("towards", [-1.0, 1.0])
def test_a_last_bit_does_not_decide_whether_a_permutation_reaches_the_data(
    towards: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With six images, one of 32 permutations is the data again; other versions of NumPy add up in another order."""
    a, b = (evaluate(DEMO / "gt.json", DEMO / f"{name}.json") for name in "ab")
    few: dict[str, Any] = {"replicates": 3, "permutations": 300, "per_class": "AP", "correction": "westfall-young"}
    before = compare(a, b, **few)
    observed = Evidence.observed.func  # type: ignore[attr-defined]

    def moved(evidence: Evidence) -> tuple[Any, ...]:
        of_a, of_b = observed(evidence)
        return of_a, of_b + towards * np.sign(of_b - of_a) * 2.0**-52

    monkeypatch.setattr(Evidence, "observed", property(moved))
    after = compare(a, b, **few)
    p_values = [[one.p_value for one in result.differences] for result in (before, after)]
    assert p_values[0] == p_values[1]
    adjusted = [[one.p_adjusted for rows in result.per_class.values() for one in rows] for result in (before, after)]
    np.testing.assert_array_equal(adjusted[0], adjusted[1])


def test_classes_that_are_asked_for_are_drawn_once() -> None:
    """With many classes, their numbers in all replicates are the most that a comparison keeps."""
    a, b = pair(3)
    keys = ["AP", *(f"AP/{label}" for label in labels_of(a.matches))]
    for asked in (keys, keys[:3]):
        evidence = Evidence(named_numbers(a, asked), (a, b), enough_groups(a.matches, None, None), 5, 0)
        assert [drawn.shape for drawn in evidence.drawn] == [(5, len(keys))] * 2


def test_limits_stay_where_a_difference_can_be() -> None:
    """Three images, of which one decides: Student's t alone would allow differences of several hundred points."""
    rows: dict[str, Any] = {"image_ids": [1, 2, 3], "category_ids": [1, 1, 1], "boxes": [[0, 0, 9, 9]] * 3}
    truth = GroundTruth.from_arrays(**rows)
    a = evaluate(truth, Detections.from_arrays(**rows, scores=[0.9, 0.8, 0.7]), "froc")
    b = evaluate(truth, Detections.from_arrays(**rows, scores=[0.9, 0.8, 0.7])[:1], "froc")
    found = compare(a, b, **FEW)["FROC"]
    assert found.difference == pytest.approx(-2 / 3)
    assert -1 <= found.low < found.difference < found.high <= 1
    assert found.low == -1
    assert found.standard_error * t_quantile(0.975, 2) > 1 / 3  # so it would be lower
    said = verdict(found, ("A", "B"), 3, 25)
    assert "66.7 points of FROC" in said
    assert "±" not in said


@pytest.mark.parametrize("images", [2, 5, 8])
def test_few_images_are_swapped_in_every_way(images: int) -> None:
    """The p-value of n images that differ is a share of all 2 ** n ways, whatever the seed; or else of some of them."""
    a, b = odd_models(3, images, 2, ("some", "right"))
    differ = len(np.unique(differing_clusters((a.matches, b.matches), enough_groups(a.matches, None, None)).clusters))
    found = [compare(a, b, keys="AP", replicates=2, permutations=300, seed=seed) for seed in (0, 1)]
    assert [(one.permutations, one.is_every_permutation) for one in found] == [(2**differ - 1, True)] * 2
    ways = np.array(list(itertools.product([False, True], repeat=images)))
    both = interleave(a.matches, b.matches)
    sides = [np.stack([ways ^ other, ~ways ^ other], axis=2).reshape(len(ways), -1) for other in (True, False)]
    first, second = (replicate(both, side.astype(np.uint16), measures=["AP"]).values[:, 0] for side in sides)
    reached = ~(np.abs(second - first) < abs(found[0]["AP"].difference) - 1e-9)
    assert [one["AP"].p_value for one in found] == [float(np.mean(reached))] * 2
    if differ > 1:
        fewer = compare(a, b, keys="AP", replicates=2, permutations=2**differ - 2)
        assert (fewer.permutations, fewer.is_every_permutation) == (2**differ - 2, False)


def test_measures_of_more_than_the_order_in_a_class_are_exchanged_as_they_are() -> None:
    """Beside every exchange of detections written out: JI and WIDER FACE read scores, a pooled FROC orders classes."""
    rng, images, classes = np.random.default_rng(4), 5, 3
    rows = np.repeat(np.arange(1, images + 1), 5)
    boxes = np.concatenate([rng.uniform(0, 400, (len(rows), 2)), rng.uniform(30, 90, (len(rows), 2))], axis=1)
    truth = GroundTruth.from_arrays(
        image_ids=rows, category_ids=1 + rng.integers(0, classes, len(rows)), boxes=boxes,
        images=np.arange(1, images + 1), sizes=np.full((images, 2), 500),
        flags={name: np.ones(len(rows), bool) for name in ("easy", "medium", "hard")},
    )  # fmt: skip
    label = truth.category_ids

    def drawn(scale: float) -> Detections:
        wrong = rng.permutation(len(rows))[:10]
        place = boxes + rng.normal(0, 4, boxes.shape)
        place[wrong, :2] += 300
        # The first class has higher scores than all others.
        scores = (0.3 + 0.4 * rng.random(len(rows)) + 0.3 * (label == 1)) ** scale
        return Detections.from_arrays(image_ids=rows, category_ids=label, boxes=place, scores=scores)

    for protocol, ordered, scale in ((CROWDHUMAN, False, 1.0), (WIDER_FACE, False, 1.0), (FROC, True, 3.0)):
        sides = [drawn(1.0), drawn(scale)]
        found = compare(*(evaluate(truth, side, protocol=protocol) for side in sides), **{**FEW, "permutations": 31})
        # Of which the models have scores on different scales, the order among all of a model is exchanged.
        places = [
            (1 + np.argsort(np.argsort(side.scores))) / (1 + len(rows)) if ordered else side.scores for side in sides
        ]
        differences = []
        for swapped in itertools.product([False, True], repeat=images):
            of_b = np.array(swapped)[rows - 1]
            values = []
            for other in (of_b, ~of_b):
                taken = Detections.from_arrays(
                    image_ids=rows, category_ids=label, boxes=np.where(other[:, None], sides[1].boxes, sides[0].boxes),
                    scores=np.where(other, places[1], places[0]),
                )  # fmt: skip
                values.append(evaluate(truth, taken, protocol=protocol).summary)
            differences.append({key: values[1][key] - values[0][key] for key in values[0]})
        for one in found.differences:
            sizes = np.abs([each[one.key] for each in differences])
            assert sizes[0] == pytest.approx(abs(one.difference), abs=1e-12)
            assert one.p_value == np.mean(sizes >= abs(one.difference) - 1e-9), (protocol.name, one.key)


def test_a_difference_without_any_spread_says_so_unless_the_models_are_alike() -> None:
    truth = ground_truth(1, images=30)
    perfect = Detections.from_arrays(
        image_ids=truth.image_ids, category_ids=truth.category_ids, boxes=truth.boxes, scores=np.full(len(truth), 0.9)
    )
    other = dataclasses.replace(perfect, scores=np.linspace(0.5, 0.9, len(perfect)))
    models = [evaluate(truth, one) for one in (perfect, other)]
    (one,) = compare(*models, keys="AP50", **FEW).differences
    assert (one.difference, one.low, one.high) == (0, 0, 0)
    assert one.warnings == ("no image changes the number, so its error is unknown",)
    (same,) = compare(models[0], models[0], keys="AP50", **FEW).differences
    assert same.warnings == ()
