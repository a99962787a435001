"""Panoptic quality: numbers that can be counted, the plain oracle, sums of parts, files."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import json
import math
import pickle
import threading
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from evaluation.plain_panoptic import plain_panoptic, random_panoptic
from ioukit.datasets.formats.panoptic_png import SegmentMap
from ioukit.evaluation import PanopticQuality, panoptic_quality
from ioukit.evaluation.segmentation.panoptic import pair_areas
from support.panoptic_files import colours, write_panoptic

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CATEGORIES = [
    {"id": 1, "name": "person", "isthing": 1},
    {"id": 2, "name": "car", "isthing": 1},
    {"id": 9, "name": "sky", "isthing": 0},
]
COLUMNS = ("image", "category", "ground_truth", "prediction", "intersection", "union")


def segments(*pairs: tuple[int, int], crowd: tuple[int, ...] = ()) -> list[dict[str, int]]:
    return [{"id": number, "category_id": category, "iscrowd": int(number in crowd)} for number, category in pairs]


def counts_of(truth: Any, found: Any, gt: list[Any], dt: list[Any], category: str = "person") -> list[int]:
    """Matches, wrong and missed segments of a category in one image."""
    one = panoptic_quality({1: (truth, gt)}, {1: (found, dt)}, CATEGORIES).per_class[category]
    return [one.true_positives, one.false_positives, one.false_negatives]


def test_numbers_that_can_be_counted() -> None:
    truth = np.array([[1, 1, 1, 1, 2, 2, 3, 3], [1, 1, 1, 1, 2, 2, 3, 3]])
    found = np.array([[4, 4, 4, 5, 5, 5, 6, 6], [4, 4, 4, 5, 5, 5, 6, 7]])
    quality = panoptic_quality(
        {3: (truth, segments((1, 1), (2, 1), (3, 9)))},
        {3: (found, segments((4, 1), (5, 1), (6, 9), (7, 2)))},
        CATEGORIES,
    )
    person, car, sky = quality.per_class
    assert (person.iou_sum, person.true_positives) == (6 / 8 + 4 / 6, 2)
    assert (person.pq, person.sq, person.rq) == (person.iou_sum / 2, person.iou_sum / 2, 1.0)
    assert (car.pq, car.sq, car.rq, car.false_positives) == (0.0, 0.0, 0.0, 1)
    assert (sky.pq, sky.sq, sky.rq) == (0.75, 0.75, 1.0)
    assert quality.overall.pq == (person.pq + 0.0 + 0.75) / 3
    assert quality.things.num_categories == 2
    assert quality.stuff.sq == 0.75
    assert quality.summary["PQ_things"] == quality.things.pq
    rows = quality.outcomes
    assert rows.ground_truth.tolist() == [1, 2, 3, 0]
    assert rows.prediction.tolist() == [4, 5, 6, 7]
    assert (rows.intersection.tolist(), rows.union.tolist()) == ([6, 4, 3, 0], [8, 6, 4, 0])
    assert rows.iou.tolist() == [0.75, 4 / 6, 0.75, 0.0]
    assert quality.image_ids.tolist() == [3]
    assert quality.table() == "\n".join(
        [
            "          |    PQ     SQ     RQ     N",
            "--------------------------------------",
            "All       |  48.6   48.6   66.7     3",
            "Things    |  35.4   35.4   50.0     2",
            "Stuff     |  75.0   75.0  100.0     1",
        ]
    )
    assert repr(quality) == "PanopticQuality(PQ=0.4861, SQ=0.4861, RQ=0.6667, 1 image, 3 classes)"
    assert dict(quality.counts) == {
        "images": 1,
        "categories": 3,
        "things": 2,
        "stuff": 1,
        "true_positives": 3,
        "false_positives": 1,
        "false_negatives": 0,
    }


def test_an_iou_of_one_half_is_no_match() -> None:
    assert counts_of([[1, 1, 0]], [[2, 0, 0]], segments((1, 1)), segments((2, 1))) == [0, 1, 1]
    assert counts_of([[1, 1, 1]], [[2, 2, 0]], segments((1, 1)), segments((2, 1))) == [1, 0, 0]


def test_another_category_is_no_match() -> None:
    pair = [[1, 1]], [[2, 2]], segments((1, 1)), segments((2, 2))
    assert counts_of(*pair) == [0, 0, 1]
    assert counts_of(*pair, category="car") == [0, 1, 0]


def test_the_union_leaves_out_void() -> None:
    quality = panoptic_quality(
        {1: ([[1, 0, 0, 0]], segments((1, 1)))}, {1: ([[2, 2, 2, 2]], segments((2, 1)))}, CATEGORIES
    )
    assert quality.per_class["person"].pq == 1.0


@pytest.mark.parametrize(("truth", "wrong"), [([[0, 0, 0, 1]], 0), ([[0, 0, 1, 1]], 1), ([[0, 1, 1, 1]], 1)])
def test_a_prediction_is_ignored_if_more_than_half_of_it_is_void(truth: Any, wrong: int) -> None:
    assert counts_of(truth, [[5, 5, 5, 5]], segments((1, 9)), segments((5, 1))) == [0, wrong, 0]


def test_crowds_are_ignored_for_their_category() -> None:
    truth, found = [[1, 1, 1, 2]], [[5, 5, 5, 5]]
    of_person = segments((1, 1), (2, 9), crowd=(1,))
    assert counts_of(truth, found, of_person, segments((5, 1))) == [0, 0, 0]
    assert counts_of(truth, found, of_person, segments((5, 2)), "car") == [0, 1, 0]
    # Void and the crowd add up; of two crowds of a category the last one counts, as in panopticapi.
    assert counts_of([[1, 0, 0, 2, 2]], [[5, 5, 5, 5, 5]], of_person, segments((5, 1))) == [0, 0, 0]
    both = segments((1, 1), (2, 1), crowd=(1, 2))
    assert counts_of([[1, 1, 2]], [[5, 5, 5]], both, segments((5, 1))) == [0, 1, 0]
    assert counts_of([[1, 1, 2]], [[5, 5, 5]], both[::-1], segments((5, 1))) == [0, 0, 0]
    # A crowd is no crowd of predictions.
    assert counts_of([[1]], [[5]], segments((1, 1)), segments((5, 1), crowd=(5,))) == [1, 0, 0]


@pytest.mark.parametrize("seed", range(80))
def test_it_equals_the_plain_oracle(seed: int) -> None:
    gt, dt, categories = random_panoptic(seed)
    expected = plain_panoptic(gt, dt)
    quality = panoptic_quality(gt, dt, categories, threads=1)
    for one in quality.per_class:
        iou_sum, *counts = expected.get(one.id, (0, 0, 0, 0))
        assert [one.true_positives, one.false_positives, one.false_negatives] == counts
        assert one.iou_sum == pytest.approx(float(iou_sum), rel=1e-15)
        if one.id not in expected:
            assert math.isnan(one.pq)
    things = {record["id"]: record["isthing"] for record in categories}
    for average, kinds in ((quality.overall, (0, 1)), (quality.things, (1,)), (quality.stuff, (0,))):
        numbers = [value for number, value in expected.items() if things[number] in kinds]
        assert average.num_categories == len(numbers)
        if not numbers:
            assert math.isnan(average.pq)
            assert math.isnan(average.rq)
            continue
        weights = [tp + (fp + fn) / 2 for _, tp, fp, fn in numbers]
        qualities = [float(n[0]) / weight for n, weight in zip(numbers, weights, strict=True)]
        assert average.pq == pytest.approx(sum(qualities) / len(numbers), rel=1e-14)
        assert average.sq == pytest.approx(sum(float(n[0]) / max(n[1], 1) for n in numbers) / len(numbers), rel=1e-14)
        recognised = [n[1] / weight for n, weight in zip(numbers, weights, strict=True)]
        assert average.rq == pytest.approx(sum(recognised) / len(numbers), rel=1e-14)


def same(a: PanopticQuality, b: PanopticQuality) -> None:
    assert a.to_json() == b.to_json()
    assert a.image_ids.tolist() == b.image_ids.tolist()
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(a.outcomes, name), getattr(b.outcomes, name))


@pytest.mark.parametrize("seed", range(20))
def test_any_split_gives_the_same_bits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    gt: dict[int, Any] = {}
    dt: dict[int, Any] = {}
    categories = random_panoptic(1000 * seed)[2]  # for all
    ids = [record["id"] for record in categories]
    for k in range(8):
        truth, found, _ = random_panoptic(1000 * seed + k)
        for data, images in ((gt, truth), (dt, found)):
            for number, (pixels, info) in images.items():
                data[100 * k + number] = pixels, [{**one, "category_id": ids[one["id"] % len(ids)]} for one in info]
    every = panoptic_quality(gt, dt, categories)
    for count in (2, 3, len(gt)):
        chunks = np.array_split(rng.permutation(list(gt)), count)
        parts = [panoptic_quality({n: gt[n] for n in c}, {n: dt[n] for n in c}, categories) for c in chunks]
        same(PanopticQuality.merge(parts), every)
        same(sum(parts[1:], start=parts[0]), every)
    same(panoptic_quality(dict(reversed(gt.items())), dt, categories, threads=3), every)
    same(panoptic_quality(gt, dt, categories[::-1], threads=1), every)


def small(image: Any = 1, categories: Any = CATEGORIES) -> PanopticQuality:
    return panoptic_quality({image: ([[1]], segments((1, 1)))}, {image: ([[1]], segments((1, 1)))}, categories)


def test_an_image_in_two_parts() -> None:
    with pytest.raises(ValueError, match=r"image 1 is in two results; .*duplicates='first'"):
        small() + small()
    merged = PanopticQuality.merge([small(), small(2), small(1)], duplicates="first")
    assert (merged.repeated_images, merged.image_ids.tolist(), len(merged.outcomes)) == (1, [1, 2], 2)
    assert PanopticQuality.merge([merged, small(3)]).repeated_images == 1
    with pytest.raises(ValueError, match="unknown duplicates 'last'"):
        PanopticQuality.merge([small()], duplicates="last")


def test_parts_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="at least one result"):
        PanopticQuality.merge([])
    other = [{**CATEGORIES[0], "isthing": 0}, *CATEGORIES[1:]]
    with pytest.raises(ValueError, match="different categories do not add up"):
        small() + small(2, other)
    with pytest.raises(ValueError, match="image ids of some results are strings"):
        small() + small("a")
    with pytest.raises(TypeError):
        small() + 1  # type: ignore[operator]
    assert (small("b") + small("a")).image_ids.tolist() == ["a", "b"]


def test_results_are_frozen_also_in_copies() -> None:
    quality = small()
    for one in (quality, copy.deepcopy(quality), pickle.loads(pickle.dumps(quality))):
        same(one, quality)
        with pytest.raises(dataclasses.FrozenInstanceError):
            one.repeated_images = 3  # type: ignore[misc]
        with pytest.raises(ValueError, match="read-only"):
            one.outcomes.union[0] = 3
        assert one.per_class["person"].pq == 1.0
        assert pickle.loads(pickle.dumps(one.per_class["person"])).rq == 1.0


def test_undefined_is_nan_and_null() -> None:
    quality = small()
    assert math.isnan(quality.stuff.pq)
    assert "Stuff     |   nan    nan    nan     0" in quality.table()
    document = json.loads(quality.to_json(), parse_constant=pytest.fail)
    assert document["summary"]["PQ"] == 1.0
    assert document["summary"]["SQ_stuff"] is None
    assert document["per_class"][1] == {
        "id": 2,
        "name": "car",
        "is_thing": True,
        "PQ": None,
        "SQ": None,
        "RQ": None,
        "iou_sum": 0.0,
        "true_positives": 0,
        "false_positives": 0,
        "false_negatives": 0,
    }
    empty = panoptic_quality({}, {}, CATEGORIES)
    assert math.isnan(empty.overall.pq)
    assert (len(empty.outcomes), empty.counts["images"]) == (0, 0)
    same(empty + quality, quality)


def test_a_class_is_found_by_its_name() -> None:
    with pytest.raises(KeyError, match=r"no category has the name 'cat'; did you mean 'car'\?"):
        small().per_class["cat"]


def test_every_form_of_ids_gives_the_same() -> None:
    gt, dt, categories = random_panoptic(5)
    every = panoptic_quality(gt, dt, categories)
    for change in (
        colours,
        np.asfortranarray,
        lambda ids: ids.astype(np.uint32),
        lambda ids: ids.astype(np.int32)[::1],
        lambda ids: ids.astype(np.uint64),
        lambda ids: colours(ids)[:, ::-1][:, ::-1],
        lambda ids: ids.tolist(),
    ):
        changed = [{image: (change(ids), info) for image, (ids, info) in data.items()} for data in (gt, dt)]
        same(panoptic_quality(changed[0], changed[1], categories), every)
        same(panoptic_quality(gt, changed[1], categories), every)


@pytest.mark.parametrize("kind", ["blocks", "noise", "one", "none"])
def test_pairs_are_counted(kind: str) -> None:
    rng = np.random.default_rng(3)
    shape = {"one": (1, 1), "none": (0, 7)}.get(kind, (23, 31))
    first, second = rng.integers(0, 2**24, 9), rng.integers(0, 2**24, 9)
    a, b = first[rng.integers(0, 9, shape)], second[rng.integers(0, 9, shape)]
    if kind == "blocks":
        a, b = np.repeat(np.repeat(a, 5, 0), 7, 1), np.repeat(np.repeat(b, 7, 1), 5, 0)
    expected = sorted(Counter(zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)).items())
    for one, other in itertools.product((a, colours(a)), (b, colours(b))):
        found = pair_areas(SegmentMap(one, "a"), SegmentMap(other, "b"))
        assert [((g, d), n) for g, d, n in zip(*map(np.ndarray.tolist, found), strict=True)] == expected


def test_files_give_what_arrays_give(tmp_path: Path) -> None:
    gt, dt, categories = random_panoptic(12)
    every = panoptic_quality(gt, dt, categories)
    gt_file = write_panoptic(tmp_path / "gt.json", gt, categories)
    dt_file = write_panoptic(tmp_path / "dt.json", dict(reversed(dt.items())))
    for threads in (1, 2, 8, None):
        same(panoptic_quality(gt_file, dt_file, threads=threads), every)
    same(panoptic_quality(str(gt_file), dt), every)
    same(panoptic_quality(gt, dt_file, categories), every)
    (tmp_path / "gt").rename(tmp_path / "elsewhere")
    same(panoptic_quality(gt_file, dt_file, gt_folder=tmp_path / "elsewhere", dt_folder=tmp_path / "dt"), every)


def test_a_palette_and_an_alpha_channel_keep_the_ids(tmp_path: Path) -> None:
    gt, dt, categories = random_panoptic(12)
    gt_file = write_panoptic(tmp_path / "gt.json", gt, categories)
    pil = pytest.importorskip("PIL.Image")
    for place, file in enumerate(sorted((tmp_path / "gt").iterdir())):
        with pil.open(file) as opened:
            changed = opened.quantize(256) if place % 2 else opened.convert("RGBA")
        changed.save(file)
    same(panoptic_quality(gt_file, dt), panoptic_quality(gt, dt, categories))


def test_some_of_the_images() -> None:
    gt, dt, categories = random_panoptic(12)
    few = sorted(gt)[:2]
    expected = panoptic_quality({n: gt[n] for n in few}, {n: dt[n] for n in few}, categories)
    same(panoptic_quality(gt, dt, categories, images=few[::-1]), expected)
    same(panoptic_quality(gt, {n: dt[n] for n in few}, categories, images=few), expected)


def test_a_mapping_may_load_images_when_they_are_asked_for() -> None:
    gt, dt, categories = random_panoptic(12)
    asked: list[int] = []

    class Lazy(dict[Any, Any]):
        def __init__(self) -> None:
            super().__init__(dict.fromkeys(np.array(list(dt))))  # ids as NumPy's integers

        def __getitem__(self, key: Any) -> Any:
            assert threading.current_thread() is threading.main_thread()
            asked.append(key)
            return dt[key]

        def __iter__(self) -> Iterator[Any]:
            return super().__iter__()

    same(panoptic_quality(gt, Lazy(), categories, threads=2), panoptic_quality(gt, dt, categories))
    assert asked == sorted(gt)
