"""Image weights give the numbers of the written-out data set, to the last bit."""

from __future__ import annotations

import dataclasses
import functools
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ioukit
from evaluation.loop_batches import data_of_images, random_images
from ioukit import MatchTable
from ioukit.datasets import Categories, IdLists
from ioukit.evaluation import Evaluation, Measure, match
from ioukit.evaluation.protocols.registry import PROTOCOLS
from ioukit.statistics import Replicates, interleave, repeat_images, replicate
from ioukit.statistics.replicates import _written_out
from parity.same_bits import UNITS_OF_MEANS, assert_same_bits
from support.everything import assert_says_the_same
from support.region_cases import KINDS as REGION_KINDS
from support.region_cases import evaluated

NAMED = {
    "coco": ioukit.COCO,
    "coco of few": ioukit.COCO.replace(max_dets=[1, 2, 3], area_ranges={"all": (0, 1e10), "low": (0, 900)}),
    "class-agnostic": ioukit.COCO.replace(class_agnostic=True),
    "many thresholds": ioukit.COCO.replace(iou_thresholds=np.linspace(0.2, 0.95, 70).tolist()),
    "points": PROTOCOLS["voc2007"],
    "area": PROTOCOLS["voc2012"],
    "tide": PROTOCOLS["tide"],
    "ultralytics": PROTOCOLS["ultralytics"],
    "cap per category": ioukit.COCO.replace(cap_scope="category", max_dets=[5, 9]),
    "mean over all": ioukit.COCO.replace(mean_over="all"),
}


def distinct_scores(seed: int, count: int) -> list[Any]:
    """Random images on which no two detections have the same score."""
    images = random_images(seed, count, classes=4, dtype=np.float64)
    total = sum(len(found["scores"]) for found, _ in images)
    scores = iter(np.random.default_rng(seed).permutation(total) / max(total, 1))
    for found, _ in images:
        found["scores"] = np.array([next(scores) for _ in found["scores"]], np.float64)
    return images


def assert_is(ours: Replicates, at: int, evaluation: Evaluation) -> None:
    same = functools.partial(assert_same_bits, units=UNITS_OF_MEANS)  # means are taken in the order of NumPy 2.3
    same(ours.values[at].tolist(), [evaluation.summary[key] for key in ours.keys], f"data set {at}")
    if ours.per_class is not None:
        for row, one in zip(ours.per_class[at], evaluation.per_class, strict=True):
            same(row.tolist(), [one.summary[key] for key in ours.keys], f"{one.name} of data set {at}")


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), name=st.sampled_from(sorted(NAMED)), data=st.data())
def test_weights_are_the_written_out_data_set(seed: int, name: str, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 12))
    images = distinct_scores(seed, count)
    gt, dt = data_of_images(images)
    listed = gt.categories.ids
    table = match(gt, dt, NAMED[name])
    weights = np.random.default_rng(seed).integers(0, 6, (3, count))
    weights[0] = np.where(np.arange(count) == seed % count, 0, 1)  # one image left out
    ours = replicate(table, weights, per_class=True)
    for at, row in enumerate(weights):
        copies = [image for image, times in zip(images, row, strict=True) for _ in range(times)]
        if not copies:
            continue
        written = ioukit.evaluate(*data_of_images(copies), NAMED[name])
        if len(written.matches.categories) == len(listed) or name == "class-agnostic":
            assert_is(ours, at, written)
        whole = Evaluation.from_table(repeat_images(table, row))
        assert_is(ours, at, whole)


@cache
def of_single_images(kind: str) -> tuple[MatchTable, list[MatchTable]]:
    evaluation = evaluated(kind, 3)
    truth, found = evaluation.ground_truth, evaluation.detections
    assert truth is not None
    assert found is not None
    arguments: dict[str, Any] = {"iou_type": evaluation.matches.iou_type, "near": 0.1}
    whole = match(truth, found, evaluation.protocol, **arguments)
    singles = [match(truth, found, evaluation.protocol, images=[each], **arguments) for each in whole.image_ids]
    return whole, singles


@pytest.mark.parametrize("kind", REGION_KINDS)
@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_every_kind_of_region_has_the_rows_of_the_written_out_data_set(kind: str, seed: int) -> None:
    whole, singles = of_single_images(kind)
    counts = np.random.default_rng(seed).integers(0, 4, len(singles))
    if not counts.sum():
        counts[0] = 1
    source = np.repeat(np.arange(len(singles)), counts)
    copies = [dataclasses.replace(singles[at], image_ids=np.array([new])) for new, at in enumerate(source)]
    written = MatchTable.merge(copies)
    assert_says_the_same(repeat_images(whole, counts), written)
    assert_is(replicate(whole, [counts], per_class=True), 0, Evaluation.from_table(written))


@pytest.mark.parametrize("name", ["kitti", "lvis", "open-images"])
def test_protocols_with_rules_of_their_own(name: str) -> None:
    gt, dt = data_of_images(distinct_scores(4, 9))
    gt = dataclasses.replace(
        gt, attributes={key: np.zeros(len(gt)) for key in ("occluded", "truncated")},
        categories=dataclasses.replace(
            gt.categories,
            names=("Car", "Pedestrian", "Cyclist", "Van"),
            attributes={"frequency": np.array(list("rcff"))},
        ),
    )  # fmt: skip
    lists = ("neg_category_ids", "not_exhaustive_category_ids", "positive_category_ids", "negative_category_ids")
    gt = dataclasses.replace(
        gt, images=dataclasses.replace(gt.images, attributes={key: IdLists.of([[0, 1]] * 9) for key in lists})
    )
    if name == "open-images":
        gt = dataclasses.replace(gt, flags={"group_of": np.zeros(len(gt), bool), **gt.flags})
    table = match(gt, dt, PROTOCOLS[name])
    weights = np.random.default_rng(1).integers(0, 4, (4, 9))
    ours = replicate(table, weights, per_class=True)
    for at, row in enumerate(weights):
        assert_is(ours, at, Evaluation.from_table(repeat_images(table, row)))


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10**6), swapped=st.data())
def test_interleaved_tables_swap_image_by_image(seed: int, swapped: st.DataObject) -> None:
    images, others = distinct_scores(seed, 8), distinct_scores(seed + 1, 8)
    others = [(found, target) for (found, _), (_, target) in zip(others, images, strict=True)]
    for side in (images, others):  # ranks: the tables are put together by them
        of_all = [pair for found, _ in side for pair in zip(found["labels"], found["scores"], strict=True)]
        for found, _ in side:
            of_image = zip(found["labels"], found["scores"], strict=True)
            found["scores"] = np.array([-sum(o > s for k, o in of_all if k == label) for label, s in of_image], float)
    first, second = data_of_images(images), data_of_images(others)
    named = Categories(np.arange(4), tuple("abcd"))
    whole = [dataclasses.replace(gt, categories=named) for gt, _ in (first, second)]
    tables = [match(gt, dt) for gt, dt in zip(whole, (first[1], second[1]), strict=True)]
    swap = np.array(swapped.draw(st.lists(st.integers(0, 1), min_size=8, max_size=8)))
    ours = replicate(interleave(*tables), [np.stack([1 - swap, swap], axis=1).ravel()])
    mixed_gt, mixed_dt = data_of_images(
        [pair[way] for way, pair in zip(swap, zip(images, others, strict=True), strict=True)]
    )
    mixed_gt = dataclasses.replace(mixed_gt, categories=whole[0].categories)
    assert_is(ours, 0, ioukit.evaluate(mixed_gt, mixed_dt))


def small() -> MatchTable:
    return match(*data_of_images(distinct_scores(5, 6)))


def test_own_measures_and_any_number_of_threads() -> None:
    table = small()
    weights = np.random.default_rng(0).integers(0, 3, (40, 6))
    own = [Measure("mine", "AR", iou_threshold=0.6, max_dets=10), Measure("none", iou_threshold=0.33)]
    wanted: list[str | Measure] = ["AP50", *own]
    ours = replicate(table, weights, measures=wanted, per_class=True, threads=1)
    assert ours.keys == ("AP50", "mine", "none")
    assert np.isnan(ours.values[:, 2]).all()
    assert (len(ours), repr(ours)) == (40, "Replicates(AP50, mine, none: 40 data sets)")
    for alone in ("AP50", own[0]):
        one = replicate(table, weights, measures=alone)
        assert_same_bits(one.values[:, 0].tolist(), ours.values[:, ours.keys.index(one.keys[0])].tolist(), one.keys[0])
    again = replicate(table, weights, measures=wanted, per_class=True, threads=2)
    assert again.values.tobytes() == ours.values.tobytes()
    measures = [table.protocol.measures[1], *own]
    slow = _written_out(table, weights.astype(np.uint16), measures, True, None)
    assert slow.values.tobytes() == ours.values.tobytes()
    assert slow.per_class is not None
    assert ours.per_class is not None
    assert slow.per_class.tobytes() == ours.per_class.tobytes()


def test_empty_data_sets() -> None:
    table = small()
    assert replicate(table, np.zeros((0, 6), int)).values.shape == (0, 12)
    assert np.isnan(replicate(table, np.zeros((2, 6), int)).values).all()
    nothing = repeat_images(table, np.zeros(6, int))
    assert len(nothing) == len(nothing.objects) == 0
    assert replicate(nothing, np.zeros((3, 0), int)).values.shape == (3, 12)
    assert np.isnan(replicate(nothing, np.zeros((3, 0), int)).values).all()


@pytest.mark.parametrize(
    ("weights", "error", "words"),
    [
        ([1, 1], ValueError, r"weights must have the shape \(B, 6\)"),
        ([[1] * 5], ValueError, r"a number for each image, got \(1, 5\)"),
        ([[1.0] * 6], TypeError, "weights must be integers, got float64"),
        ([[-1] * 6], ValueError, "weights must be from 0 to 65,535, got -1 to -1"),
        ([[70_000] * 6], ValueError, "got 70000 to 70000"),
    ],
)
def test_wrong_weights(weights: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        replicate(small(), weights)


def test_a_data_set_with_too_many_rows() -> None:
    table = repeat_images(small(), [3000] * 6)
    rows = max(len(table.detections), len(table.objects))
    assert rows * 60_000 > 2**32
    weights = np.zeros((2, len(table.image_ids)), np.int64)
    weights[1, 0] = 60_000
    assert np.isfinite(replicate(table, weights, measures=["AP50"]).values[1, 0])
    with pytest.raises(ValueError, match=r"weights make a data set of [\d,]+ rows; there may be 4,294,967,295"):
        replicate(table, np.full_like(weights, 60_000), measures=["AP50"])


def test_wrong_calls() -> None:
    table = small()
    with pytest.raises(ValueError, match="no number 'AP5'; there are AP, AP50"):
        replicate(table, [[1] * 6], measures=["AP5"])
    with pytest.raises(ValueError, match="counts must have a number for each of 6 images"):
        repeat_images(table, [1])
    with pytest.raises(TypeError, match="counts must be integers"):
        repeat_images(table, [0.5] * 6)
    with pytest.raises(ValueError, match="counts must be at least 0, got -2"):
        repeat_images(table, [-2] * 6)
    with pytest.raises(ValueError, match="the same images, got 6 and 5 images"):
        interleave(table, repeat_images(table, [1, 1, 1, 1, 1, 0]))
