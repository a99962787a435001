"""Choosing a part, beside plain Python over lists of objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ioukit
from ioukit import Detections, GroundTruth, datasets
from ioukit.datasets.operations.choices import near
from support.operation_cases import data_sets, objects, quick
from support.paths import DATA

VAL2014 = DATA / "coco_val2014_100"


@quick
@given(gt=data_sets(), data=st.data())
def test_a_subset_has_the_objects_that_a_loop_chooses(gt: GroundTruth, data: st.DataObject) -> None:
    classes = data.draw(st.none() | st.lists(st.sampled_from(gt.categories.names), min_size=1, unique=True))
    images = data.draw(st.none() | st.lists(st.sampled_from(list(gt.images.names)), min_size=1, unique=True))
    sizes = data.draw(st.none() | st.just(["0:16", "30:81"]))
    drop = data.draw(st.booleans())
    found = datasets.subset(gt, classes=classes, images=images, sizes=sizes, drop_empty_images=drop)
    areas = [width * height for _, _, width, height in gt.boxes.tolist()]
    expected = [
        row
        for row, area in zip(objects(gt), areas, strict=True)
        if (classes is None or row[1] in classes)
        and (images is None or row[0] in images)
        and (sizes is None or area <= 16 or 30 <= area <= 81)
    ]
    assert objects(found) == expected
    named = [name for name in gt.images.names if images is None or name in images]
    assert list(found.images.names) == [name for name in named if not drop or name in {row[0] for row in expected}]
    assert set(found.ids.tolist()) <= set(gt.ids.tolist())
    dt = Detections.from_arrays(
        image_ids=gt.image_labels() if len(gt) else gt.images.labels[:0],
        category_ids=gt.category_ids,
        boxes=gt.boxes,
        scores=np.zeros(len(gt)),
    )
    kept = datasets.subset_detections(dt, found)
    assert kept.known_to(found).image_labels().tolist() == kept.image_labels().tolist()
    everything = [row for row in objects(gt) if row[1] in found.categories.names and row[0] in set(found.images.names)]
    assert len(kept) == len(everything)


def test_names_of_sizes_are_those_of_coco() -> None:
    gt = GroundTruth.from_coco(VAL2014 / "instances_val2014_100.json")
    for area_range in ioukit.COCO.area_ranges:
        if area_range.label == "all":
            continue
        expected = (gt.areas >= area_range.low) & (gt.areas <= area_range.high)
        assert len(datasets.subset(gt, sizes=[area_range.label])) == expected.sum()


def test_a_draw_depends_on_the_seed_alone() -> None:
    gt = GroundTruth.from_coco(VAL2014 / "instances_val2014_100.json")
    first = datasets.subset(gt, sample=0.3, seed=5)
    assert len(first.images) == 30
    assert datasets.subset(gt.take(np.arange(len(gt))[::-1]), sample=30, seed=5).images.ids.tolist() == (
        first.images.ids.tolist()
    )
    assert datasets.subset(gt, sample=30, seed=6).images.ids.tolist() != first.images.ids.tolist()
    assert len(datasets.subset(gt, sample=0, seed=5).images) == 0
    assert len(datasets.subset(gt, sample=1.0).images) == 100


def test_split_gives_each_image_to_one_part() -> None:
    gt = GroundTruth.from_coco(VAL2014 / "instances_val2014_100.json")
    parts = datasets.split(gt, {"train": 0.7, "val": 0.2, "test": 0.1}, seed=3)
    assert {name: len(part.images) for name, part in parts.items()} == {"train": 70, "val": 20, "test": 10}
    ids = np.concatenate([part.images.ids for part in parts.values()])
    assert sorted(ids.tolist()) == gt.images.ids.tolist()
    assert sum(map(len, parts.values())) == len(gt)
    for wrong in ({}, {"a": 0.5}, {"a": 1.5, "b": -0.5}, {"a": float("nan")}):
        with pytest.raises(ValueError, match="shares must be at least 0 and sum to 1, got "):
            datasets.split(gt, wrong)
    thirds = datasets.split(gt, {"a": 1 / 3, "b": 1 / 3, "c": 1 / 3})
    assert sorted(len(part.images) for part in thirds.values()) == [33, 33, 34]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"classes": ["preson"]}, "no category has the name 'preson'; did you mean 'person'"),
        ({"images": ["COCO_val2014_000000000042"]}, None),
        ({"images": ["nothing.jpg"]}, "no image has the id or the name 'nothing.jpg'"),
        ({"sizes": ["tiny"]}, "a size must be small, medium, large, or low:high"),
        ({"sizes": ["9:4"]}, "a size must be"),
        ({"sizes": ["nan:4"]}, "a size must be"),
        ({"sample": 101}, "a sample of 0 to 100 images"),
        ({"sample": 1.5}, "a share of the images"),
        ({"sample": float("nan")}, "sample must be"),
        ({"sample": 2, "seed": -1}, "seed"),
    ],
)
def test_wrong_choices_are_refused(options: dict[str, Any], message: str | None) -> None:
    gt = GroundTruth.from_coco(VAL2014 / "instances_val2014_100.json")
    if message is None:
        assert len(datasets.subset(gt, **options).images) == 1
        return
    with pytest.raises(ValueError, match=message):
        datasets.subset(gt, **options)


def images(count: int) -> GroundTruth:
    return GroundTruth.from_arrays(image_ids=[], category_ids=[], boxes=[], images=range(1, count + 1))


@settings(max_examples=400)
@given(
    count=st.integers(0, 40),
    weights=st.lists(st.integers(0, 5), min_size=1, max_size=5).filter(any),
    seed=st.integers(0, 9),
)
def test_parts_are_rounded_by_the_largest_remainder(count: int, weights: list[int], seed: int) -> None:
    total = sum(weights)
    parts = datasets.split(images(count), {str(at): weight / total for at, weight in enumerate(weights)}, seed=seed)
    expected = [count * weight // total for weight in weights]
    lost = sorted(range(len(weights)), key=lambda at: (-(count * weights[at] % total), at))
    for at in lost[: count - sum(expected)]:
        expected[at] += 1
    assert [len(part.images) for part in parts.values()] == expected


def test_the_seed_of_a_split_is_0_unless_given() -> None:
    shares = {"a": 0.5, "b": 0.5}
    splits = (
        datasets.split(images(30), shares),
        datasets.split(images(30), shares, seed=0),
        datasets.split(images(30), shares, seed=1),
    )
    chosen = [parts["a"].images.ids.tolist() for parts in splits]
    assert chosen[0] == chosen[1] != chosen[2]


def test_the_seed_of_a_sample_is_0_unless_given() -> None:
    drawn = (datasets.subset(images(30), sample=15), datasets.subset(images(30), sample=15, seed=0))
    assert drawn[0].images.ids.tolist() == drawn[1].images.ids.tolist()


def test_sizes_may_be_pairs_and_one_area() -> None:
    gt = GroundTruth.from_arrays(image_ids=[1] * 3, category_ids=[1] * 3, boxes=[[0, 0, 2, w] for w in (2, 3, 4)])
    for size in ((6, 6), (6.0, 7.5), "6:6", np.array([5, 6])):
        assert datasets.subset(gt, sizes=[size]).areas.tolist() == [6]  # type: ignore[list-item]


@pytest.mark.parametrize(("sample", "count"), [(0, 0), (30, 30), (0.0, 0), (1.0, 30), (0.5, 15)])
def test_samples_at_the_ends(sample: float, count: int) -> None:
    assert len(datasets.subset(images(30), sample=sample).images) == count


def test_an_image_of_a_name_that_several_have_is_chosen_by_id() -> None:
    gt = GroundTruth.from_arrays(
        image_ids=[], category_ids=[], boxes=[], images=[1, 2, 3], names=["a/x.jpg", "b/x.jpg", "x"]
    )
    for name, count in (("x.jpg", 2), ("x", 3)):
        with pytest.raises(ValueError, match=f"{count} images have the name '{name}': choose them by id"):
            datasets.subset(gt, images=[name])
    choices: list[Any] = [["b/x.jpg", 3], [3, "b/x.jpg", 3], np.array(["3", "b/x.jpg"])]
    for wanted in choices:
        assert datasets.subset(gt, images=wanted).images.ids.tolist() == [2, 3]
    assert datasets.subset(gt, images=np.array([3, 1])).images.ids.tolist() == [1, 3]
    with pytest.raises(ValueError, match=r"no image has the id or the name '4'; there are '1', '2', '3'$"):
        datasets.subset(images(3), images=[4])
    with pytest.raises(TypeError, match=r"expected a list of images, got 'x'; write \['x'\]"):
        datasets.subset(gt, images="x")
    with pytest.raises(TypeError, match=r"expected a list of sizes, got 'small'; write \['small'\]"):
        datasets.subset(gt, sizes="small")


@pytest.mark.parametrize(
    ("name", "known", "end"),
    [
        ("CAR", ["bus", "car"], "did you mean 'car'?"),
        ("cat", ["Cat", "cats", "cot"], "did you mean 'Cat' or 'cats' or 'cot'?"),
        ("CATS", ["cats", "CATX"], "did you mean 'cats' or 'CATX'?"),
        ("aaaa", ["aaab", "aaac", "aaad", "aaae"], "did you mean 'aaae' or 'aaad' or 'aaac'?"),
        ("q", ["bus"], "there are 'bus'"),
        ("q", list("abcde"), "there are 'a', 'b', 'c', 'd', 'e'"),
        ("q", list("abcdef"), "there are 'a', 'b', 'c', 'd', 'e', ..."),
    ],
)
def test_what_may_have_been_meant(name: str, known: list[str], end: str) -> None:
    assert near(name, known) == f"; {end}"
