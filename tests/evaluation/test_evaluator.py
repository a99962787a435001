"""`Evaluator`: the numbers of `evaluate`, for every split into updates, merges and ids."""

from __future__ import annotations

import copy
import pickle
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ioukit
from evaluation.loop_batches import Image, batch_of, data_of_images, random_images
from ioukit.datasets import Categories
from ioukit.evaluation import Evaluator, MatchTable, match
from parity.same_bits import assert_same_bits
from support.same_columns import assert_same_columns


def assert_same(ours: ioukit.Evaluation, expected: ioukit.Evaluation) -> None:
    for name in ("precision", "recall", "scores"):
        assert_same_bits(getattr(ours, name), getattr(expected, name), name)
    assert_same_bits(list(ours.summary.values()), list(expected.summary.values()), "summary")
    # Rows count through the parts of a sum, and objects are numbered in the order in which they come.
    assert_same_columns(ours.matches, expected.matches, but=("row", "sources", "id"))


def cut(images: list[Image], at: list[int]) -> list[list[Image]]:
    ends = sorted({min(place, len(images)) for place in at} | {len(images)})
    return [images[start:end] for start, end in zip([0, *ends], ends, strict=False)]


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), count=st.integers(1, 12), at=st.lists(st.integers(0, 12)), computed=st.booleans())
def test_any_split_gives_the_bits_of_evaluate(seed: int, count: int, at: list[int], computed: bool) -> None:
    dtype = [np.float32, np.float64][seed % 2]
    images = random_images(seed, count, dtype=dtype)
    evaluator = Evaluator()
    for part in cut(images, at):
        evaluator.update(*batch_of(part))
        if computed and len(evaluator):
            evaluator.compute()
    assert len(evaluator) == count
    assert_same(evaluator.compute(), ioukit.evaluate(*data_of_images(images)))


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    count=st.integers(1, 16),
    at=st.lists(st.integers(0, 16)),
    chunk=st.integers(1, 9),
    at_once=st.integers(1, 30),
)
def test_small_pieces_of_memory_change_nothing(seed: int, count: int, at: list[int], chunk: int, at_once: int) -> None:
    rng = np.random.default_rng(seed)
    images = [random_images(seed + k, 1, dtype=rng.choice([np.float32, np.float64]))[0] for k in range(count)]  # type: ignore[arg-type]
    far = 2**40 * int(rng.integers(0, 2))  # beyond int32
    for prediction, target in images[count // 2 :]:
        prediction["labels"] = prediction["labels"] + far
        target["labels"] = target["labels"] + far
    evaluator = Evaluator(keep_data=True)
    with (
        mock.patch("ioukit.evaluation.evaluator.buffers._CHUNK", chunk),
        mock.patch("ioukit.evaluation.evaluator.collected._AT_ONCE", at_once),
        mock.patch("ioukit.evaluation.evaluator.matched._MOST_PARTS", 3),
    ):
        for part in cut(images, at):
            evaluator.update(*batch_of(part))
            if len(evaluator) and rng.random() < 0.3:
                evaluator.compute()
        evaluation = evaluator.compute()
    assert_same(evaluation, ioukit.evaluate(*data_of_images(images)))
    gt, dt = evaluation.ground_truth, evaluation.detections
    assert gt is not None
    assert dt is not None
    assert gt.ids[evaluation.matches.objects.row].tolist() == evaluation.matches.objects.id.tolist()
    assert dt.scores[evaluation.matches.detections.row].tolist() == evaluation.matches.detections.score.tolist()


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), count=st.integers(1, 12), at=st.lists(st.integers(0, 12)), strings=st.booleans())
def test_given_ids_decide_the_order(seed: int, count: int, at: list[int], strings: bool) -> None:
    images = random_images(seed, count)
    numbers = np.random.default_rng(seed).permutation(count) * 7 - 3
    ids: Any = np.array([f"image {number}" for number in numbers]) if strings else numbers
    evaluator, start = Evaluator(near=0.1), 0
    for part in cut(images, at):
        named = ids[start : start + len(part)]
        start += len(part)
        predictions, targets = batch_of(part)
        if seed % 2:
            targets = [{**target, "image_id": one} for target, one in zip(targets, named.tolist(), strict=True)]
            evaluator.update(predictions, targets)
        else:
            evaluator.update(predictions, targets, image_ids=named)
    assert_same(evaluator.compute(), ioukit.evaluate(*data_of_images(images, ids), near=0.1))


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), counts=st.lists(st.integers(0, 5), min_size=1, max_size=4), with_ids=st.booleans())
def test_merged_evaluators_give_the_bits_of_one(seed: int, counts: list[int], with_ids: bool) -> None:
    images = random_images(seed, sum(counts), classes=2 + seed % 5)
    ids = np.random.default_rng(seed).permutation(len(images)) if with_ids else np.arange(len(images))
    total, start = Evaluator(), 0
    for place, count in enumerate(counts):
        one, end = Evaluator(), start + count
        one.update(*batch_of(images[start:end]), image_ids=ids[start:end] if with_ids else None)
        if place % 2 and count:
            one.compute()
        total.merge(one)
        assert len(one) == count
        start = end
    if not images:
        return
    assert_same(total.compute(), ioukit.evaluate(*data_of_images(images, ids)))
    numbers = total.compute().matches.objects.id
    assert sorted(numbers.tolist()) == list(range(1, len(numbers) + 1)) or with_ids


def test_images_are_matched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    matched: list[int] = []

    def counted(ground_truth: Any, *args: Any, **kwargs: Any) -> MatchTable:
        matched.append(len(ground_truth.images))
        return match(ground_truth, *args, **kwargs)

    monkeypatch.setattr("ioukit.evaluation.evaluator.collected.match", counted)
    evaluator = Evaluator()
    images = random_images(1, 300)
    evaluator.update(*batch_of(images[:200]))
    first = evaluator.compute()
    assert evaluator.compute() is first
    evaluator.update(*batch_of(images[200:250]))
    evaluator.update(*batch_of(images[250:]))
    second = evaluator.compute()
    assert matched == [200, 100]
    assert first.counts["images"] == 200
    assert second.counts["images"] == 300


def test_keep_data_gives_the_rows_of_the_table() -> None:
    evaluator = Evaluator(keep_data=True)
    images = random_images(3, 20, classes=5)
    for part in cut(images, [3, 9, 15]):
        evaluator.update(*batch_of(part))
        evaluation = evaluator.compute()
    gt, dt, table = evaluation.ground_truth, evaluation.detections, evaluation.matches
    assert gt is not None
    assert dt is not None
    assert gt.ids[table.objects.row].tolist() == table.objects.id.tolist()
    assert dt.scores[table.detections.row].tolist() == table.detections.score.tolist()
    expected = ioukit.evaluate(*data_of_images(images))
    assert_same(evaluation, expected)
    assert evaluation.error_kinds().counts == expected.error_kinds().counts


def test_near_pairs_take_the_place_of_the_data() -> None:
    images = random_images(4, 20)
    expected = ioukit.evaluate(*data_of_images(images))
    evaluator = Evaluator(near=0.1)
    evaluator.update(*batch_of(images))
    assert evaluator.compute().error_kinds().counts == expected.error_kinds().counts
    without = Evaluator()
    without.update(*batch_of(images))
    with pytest.raises(ValueError, match=r"match with near=0\.1, or keep the data"):
        without.compute().error_kinds()


def test_reset_forgets_all_but_the_settings() -> None:
    evaluator = Evaluator(categories=["cat", "dog", "cow"])
    images = random_images(5, 6)
    evaluator.update(*batch_of(images))
    before = evaluator.compute()
    evaluator.reset()
    assert len(evaluator) == 0
    assert evaluator
    with pytest.raises(ValueError, match="at least one image"):
        evaluator.compute()
    evaluator.update(*batch_of(images))
    assert_same(evaluator.compute(), before)
    assert evaluator.compute().per_class["cat"].id == 0


@pytest.mark.parametrize("computed", [False, True])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_go_on_by_themselves(copied: Any, computed: bool) -> None:
    images = random_images(6, 12)
    evaluator = Evaluator()
    evaluator.update(*batch_of(images[:6]))
    if computed:
        evaluator.compute()
    other = copied(evaluator)
    other.update(*batch_of(images[6:]))
    assert len(evaluator) == 6
    assert_same(other.compute(), ioukit.evaluate(*data_of_images(images)))
    assert_same(evaluator.compute(), ioukit.evaluate(*data_of_images(images[:6])))


@pytest.mark.parametrize(
    ("categories", "names"),
    [
        (["cat", "dog", "cow"], ("cat", "dog", "cow")),
        ([2, 0, 1], ("0", "1", "2")),
        (np.array([2, 0, 1]), ("0", "1", "2")),
        ({1: "dog", 0: "cat", 2: "cow"}, ("cat", "dog", "cow")),
        (Categories(np.array([0, 1, 2]), ("cat", "dog", "cow")), ("cat", "dog", "cow")),
        ({0: "cat", 1: "dog", 2: "cow", 10**12: "far"}, ("cat", "dog", "cow", "far")),
    ],
)
def test_categories_are_given(categories: Any, names: tuple[str, ...]) -> None:
    evaluator = Evaluator(categories=categories)
    images = random_images(7, 10)
    evaluator.update(*batch_of(images))
    assert tuple(result.name for result in evaluator.compute().per_class) == names
    assert evaluator.compute().summary == ioukit.evaluate(*data_of_images(images)).summary
    assert evaluator.categories is not None
    assert evaluator.categories.names == names


def test_names_of_classes_are_labels_where_categories_have_names() -> None:
    evaluator = Evaluator(categories=["cat", "dog"])
    prediction = {"boxes": [[0, 0, 9, 9], [20, 0, 29, 9]], "scores": [0.5, 0.4], "labels": ["dog", "cat"]}
    evaluator.update([prediction], [{"boxes": [[0, 0, 9, 9]], "labels": np.array(["dog"])}])
    assert evaluator.compute().per_class["dog"].num_ground_truth == 1
    assert evaluator.compute().matches.detections.category.tolist() == [0, 1]
    with pytest.raises(ValueError, match=r"predictions\[0\]: labels: row 1: expected the name of a category.*did you"):
        evaluator.update([{**prediction, "labels": ["dog", "cats"]}], [{"boxes": [], "labels": []}])


def test_categories_that_were_seen_grow() -> None:
    evaluator = Evaluator()
    for label in (5, 2, 5, 9):
        box = [[0.0, 0.0, 9.0, 9.0]]
        evaluator.update([{"boxes": box, "scores": [0.5], "labels": [label]}], [{"boxes": box, "labels": [label]}])
        evaluator.compute()
    assert [result.id for result in evaluator.compute().per_class] == [2, 5, 9]
    assert evaluator.compute().counts["detections"] == 4


def test_columns_of_a_batch() -> None:
    images = random_images(8, 24)
    gt, dt = data_of_images(images, np.arange(24) * 3)
    evaluator = Evaluator()
    for place in range(3):
        ids = gt.images.ids[place::3]
        evaluator.update(dt.filter(images=ids), gt.filter(images=ids))
    evaluation = evaluator.compute()
    expected = ioukit.evaluate(gt, dt)
    assert_same(evaluation, expected)
    assert sorted(evaluation.matches.objects.id.tolist()) == gt.ids.tolist()


def test_names_of_the_ground_truth_fill_in_for_ids() -> None:
    box = [[0.0, 0.0, 9.0, 9.0]]
    evaluator = Evaluator()
    evaluator.update([{"boxes": box, "scores": [0.5], "labels": [1]}], [{"boxes": box, "labels": [1]}], image_ids=[1])
    gt = ioukit.GroundTruth.from_arrays(
        image_ids=[2], category_ids=[1], boxes=[[0, 0, 9, 9]], categories={1: "cat", 2: "dog"}
    )
    dt = ioukit.Detections.from_arrays(image_ids=[2], category_ids=[2], boxes=[[0, 0, 9, 9]], scores=[0.5])
    evaluator.update(dt, gt)
    assert [result.name for result in evaluator.compute().per_class] == ["cat", "dog"]
    cow = ioukit.GroundTruth.from_arrays(
        image_ids=[3], category_ids=[1], boxes=[[0, 0, 9, 9]], categories={1: "cow", 2: "dog"}
    )
    nothing = dt.take([])
    with pytest.raises(ioukit.DatasetError, match="categories: 1: expected the name 'cat', as before, found 'cow'"):
        evaluator.update(nothing, cow)
    other = Evaluator()
    other.update(nothing, cow)
    with pytest.raises(ioukit.DatasetError, match="categories: 1: expected the name 'cat', as before, found 'cow'"):
        evaluator.merge(other)
    assert len(evaluator) == 2
