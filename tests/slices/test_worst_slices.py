"""The search for the worst slices: planted harm is found, and data without an effect gives as few alarms as asked."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any

import numpy as np
import pytest

from ioukit import Detections, Evaluation, GroundTruth, evaluate
from ioukit.evaluation import match
from ioukit.evaluation.protocols import find_protocol
from ioukit.slices import slice_numbers, worst_slices
from ioukit.slices.match_tables import ObjectPart, tables_of_objects
from ioukit.slices.trials import recall_difference
from support.evaluated_scenes import coco, made

IMAGES = 150


def _data(seed: int, images: int = IMAGES) -> tuple[Evaluation, GroundTruth, Detections, dict[str, Any]]:
    data = made(images=images, seed=seed)
    gt, dt = data.ground_truth, data.detections
    assert gt is not None
    assert dt is not None
    rng = np.random.default_rng(seed)
    table = {
        "image_id": gt.images.ids,
        "weather": rng.choice(["sun", "rain", "fog"], images),
        "speed": rng.random(images),
        "camera": rng.choice(["front", "rear"], images, p=[0.8, 0.2]),
    }
    return data, gt, dt, table


def _without(dt: Detections, images: Any, share: float, seed: int = 0) -> Detections:
    """The detections without some of those on these images."""
    lost = np.isin(dt.image_ids, images) & (np.random.default_rng(seed).random(len(dt)) < share)
    return dt.take(~lost)


def test_a_harmed_scene_is_found() -> None:
    for seed in range(3):
        _, gt, dt, table = _data(seed)
        harmed = evaluate(gt, _without(dt, gt.images.ids[table["weather"] == "fog"], 0.5))
        found = worst_slices(harmed, ["weather", "speed", "camera", "position"], tables=table, replicates=50)
        worst = found.slices[0]
        assert worst.name == "weather: fog"
        assert found.found == (worst,)
        assert worst.key == "AP"
        assert worst.value < worst.expected
        assert worst.low < worst.difference < worst.high < 0
        assert (worst.images, worst.share) == (int((table["weather"] == "fog").sum()), worst.images / IMAGES)


def test_harmed_objects_are_found_by_their_recall() -> None:
    _, gt, dt, _ = _data(4)
    small = gt.areas < 96**2
    at = evaluate(gt, dt).matches
    finds = np.isin(at.matched_object(), np.flatnonzero(small[at.objects.row]))
    lost = at.detections.row[finds][::2]
    harmed = evaluate(gt, dt.take(np.setdiff1d(np.arange(len(dt)), lost)))
    found = worst_slices(harmed, ["size", "shape", "position"])
    assert found.slices[0].name in ("size: medium", "size: small")
    assert {one.name for one in found.found} >= {"size: medium"}
    assert {one.key for one in found} == {"AR100"}
    assert found.slices[0].high < 0


def test_a_harmed_pair_is_found_and_what_it_is_part_of_is_not_blamed() -> None:
    _, gt, dt, table = _data(5, 400)
    both = gt.images.ids[(table["weather"] == "fog") & (table["camera"] == "front")]
    harmed = evaluate(gt, _without(dt, both, 0.5))
    found = worst_slices(harmed, ["weather", "camera"], tables=table, pairs=True, replicates=50)
    assert "weather: fog and camera: front" in {one.name for one in found.found}
    assert "weather: fog and camera: rear" not in {one.name for one in found}
    # Harm to fog alone: pairs with fog are as bad as fog, so they are not listed.
    harmed = evaluate(gt, _without(dt, gt.images.ids[table["weather"] == "fog"], 0.5))
    found = worst_slices(harmed, ["weather", "camera", "position"], tables=table, pairs=True, replicates=50)
    assert found.found[0].name == "weather: fog"
    assert len(found.found) <= 3


def test_the_slice_on_which_a_second_model_is_worse_is_found() -> None:
    data, gt, dt, table = _data(6)
    harmed = evaluate(gt, _without(dt, gt.images.ids[table["weather"] == "rain"], 0.3))
    found = worst_slices(data, ["weather", "camera", "speed"], b=harmed, tables=table, replicates=50)
    worst = found.slices[0]
    assert (worst.name, found.two_models) == ("weather: rain", True)
    assert worst.adjusted_p_value <= 0.05
    assert "weather: sun" not in {one.name for one in found}  # B is the same there
    assert worst.difference == worst.value - worst.expected
    swapped = worst_slices(harmed, ["weather", "camera"], b=data, tables=table, replicates=50)
    assert swapped.found == ()


def test_data_without_an_effect_gives_no_more_alarms_than_asked() -> None:
    """At 95 % and 40 data sets, 2 alarms are expected; 7 or more have a probability of 0.3 %."""
    alarms = 0
    for seed in range(40):
        data, _, _, table = _data(1000 + seed, 100)
        found = worst_slices(
            data, ["weather", "speed", "camera", "position"], tables=table, permutations=60, replicates=1, seed=seed
        )
        alarms += bool(found.found)
    assert alarms < 7


def test_images_of_a_cluster_are_one_unit() -> None:
    """Ten videos of fifteen images: one bad video is no proof that its weather is bad."""
    _, gt, dt, _ = _data(8)
    video = np.arange(IMAGES) // 15
    table = {"image_id": gt.images.ids, "weather": np.where(video < 3, "fog", "sun"), "speed": np.arange(IMAGES) % 2}
    harmed = evaluate(gt, _without(dt, gt.images.ids[video == 0], 0.9))
    alone = worst_slices(harmed, "weather", tables=table, replicates=20)
    together = worst_slices(harmed, ["weather", "speed"], tables=table, clusters=video, replicates=20)
    assert [one.name for one in alone.found] == ["weather: fog"]
    assert together.found == ()
    assert together.notes[0] == "speed is left out: it differs within a cluster"
    assert together.notes[1].startswith(
        "there are no limits for slices of objects on fewer than 10 clusters, nor for other"
    )
    assert [math.isnan(one.low) for one in together.slices] == [True]
    none = worst_slices(harmed, "speed", tables=table, clusters=video, replicates=20)
    assert (
        none.table()
        == "no slice was compared: none that differs within no cluster has at least 50 objects inside and outside"
    )


def test_objects_of_one_image_prove_nothing() -> None:
    """Images differ in how much of them is found; a slice of the objects of one image cannot be told from chance."""
    rng = np.random.default_rng(0)
    image = np.repeat(np.arange(40), 30)
    boxes = np.stack([np.tile(np.arange(30) * 30.0, 40), *np.full((3, 1200), 20.0)], axis=1)
    data: dict[str, Any] = {"image_ids": image, "category_ids": np.ones(1200), "boxes": boxes}
    marks = {"first": image == 0, "third": np.arange(1200) % 3 == 0}
    kept = rng.random(1200) < rng.beta(2, 2, 40)[image]
    kept[image == 0] = rng.random(30) < 0.2
    truth = GroundTruth.from_arrays(**data, attributes=marks)
    found = Detections.from_arrays(
        **{name: column[kept] for name, column in data.items()}, scores=rng.random(kept.sum())
    )
    searched = worst_slices(evaluate(truth, found), ["first", "third"], least_objects=20)
    assert [one.name for one in searched][-1] == "first: yes"  # what has no p-value comes last
    last = searched.slices[-1]
    assert np.isnan([last.p_value, last.adjusted_p_value, last.low, last.high]).all()
    assert last not in searched.found
    assert all(one.p_value > 0 for one in searched.slices[:-1])


def test_too_few_permutations_can_show_nothing() -> None:
    _, gt, dt, table = _data(0)
    none_on_fog = evaluate(gt, _without(dt, gt.images.ids[table["weather"] == "fog"], 1.0))
    options: dict[str, Any] = {"tables": table, "replicates": 20}
    few = worst_slices(none_on_fog, ["weather", "position"], permutations=38, **options)
    end = "38 permutations cannot show any, with 95 % certainty for the whole search; at least 39 are needed"
    assert few.table().splitlines()[0].endswith(end)
    assert (few.found, few.permutations_needed) == ((), 39)
    enough = worst_slices(none_on_fog, ["weather", "position"], permutations=39, **options)
    assert [one.name for one in enough.found] == ["weather: fog"]
    assert math.isnan(enough.slices[0].low), "no image changes an AP of 0"


def test_a_column_of_a_table_with_a_computed_name_is_searched_once() -> None:
    data, gt, _, _ = _data(0)
    table = {"image_id": gt.images.ids, "size": np.arange(IMAGES) % 2, "shape": np.arange(IMAGES) % 3}
    found = worst_slices(data, tables=table, replicates=1, permutations=20, most_shown=1000)
    names = [one.name for one in found]
    assert len(names) == len(set(names))
    assert "size is the column of the table, which hides the other one" in found.notes
    assert "shape is the column of the table, which hides the other one" in found.notes


def test_what_is_left_out_or_compared_otherwise_is_told() -> None:
    data, _, _, table = _data(0)
    weather = np.where(np.arange(IMAGES) < 30, "", table["weather"])
    for by in ("weather", None):
        found = worst_slices(data, by, tables={**table, "weather": weather}, replicates=1, key="AP50")
        left = "30 of 150 images are in no slice of weather: they have no value, or one outside of its ranges"
        assert left in found.notes
        assert ("slices of objects are compared by AR100, not by AP50" in found.notes) == (by is None)


def test_whole_classes_cannot_be_compared_class_by_class() -> None:
    _, gt, dt, _ = _data(0)
    found = worst_slices(evaluate(gt, dt.take(dt.category_ids != 1)), ["category", "position"], replicates=20)
    assert found.not_compared == 3
    assert f"{found.looked_at} slices of at least 50 objects, of which 3 cannot be compared: " in found.table()
    named = "category: cat, category: dog, category: person"
    assert (
        f"recall is compared class by class, which {named} do not allow: no class is inside and outside" in found.notes
    )


def test_of_a_miss_rate_the_highest_is_the_worst() -> None:
    _, gt, dt, table = _data(0)
    fog = gt.images.ids[table["weather"] == "fog"]
    protocol = find_protocol("crowdhuman")
    harmed = evaluate(gt, _without(dt, fog, 0.6), protocol)
    options: dict[str, Any] = {"key": "MR-2", "tables": table, "replicates": 20, "permutations": 60}
    found = worst_slices(harmed, "weather", **options)
    assert [one.name for one in found.found] == ["weather: fog"]
    assert found.slices[0].difference > 0
    better = evaluate(gt, _without(dt, fog, 0.1), protocol)
    second = worst_slices(better, "weather", b=harmed, **options)
    assert [one.name for one in second.found] == ["weather: fog"]


def test_one_cluster_has_no_limits() -> None:
    data, gt, _, _ = _data(3)
    video = np.arange(IMAGES) // 50
    table = {"image_id": gt.images.ids, "video": video}
    found = worst_slices(data, "video", tables=table, clusters=video, replicates=20, permutations=20)
    assert len(found)
    assert all(np.isnan([one.low, one.high]).all() for one in found)
    numbers = slice_numbers(data, "video", tables=table, clusters=video, replicates=20)
    for one in numbers:
        assert np.isfinite(one.numbers["AP"].value)
        assert np.isnan(one.numbers["AP"].low)
        assert np.isnan(one.differences["AP"].high)
    rest = slice_numbers(data, "video < 1", tables=table, clusters=video == 0, replicates=20)
    assert np.isnan(rest.slices[0].differences["AP"].low)


def test_recall_difference_is_the_weighted_mean_over_classes() -> None:
    data = coco()
    gt, dt = data.ground_truth, data.detections
    assert gt is not None
    assert dt is not None
    inside = gt.areas > 5000
    none = np.zeros(len(dt), np.bool_)
    tables = list(tables_of_objects((gt, dt), data.matches, [ObjectPart(inside, none), ObjectPart(~inside, none)]))
    found = recall_difference(tables[0], tables[1], np.arange(len(gt.images)))
    results = [Evaluation.from_table(table).per_class for table in tables]
    total = weights = recalls = 0.0
    for one, other in zip(*results, strict=True):
        if one.num_ground_truth and other.num_ground_truth:
            weight = one.num_ground_truth * other.num_ground_truth / (one.num_ground_truth + other.num_ground_truth)
            total += weight * (one.summary["AR100"] - other.summary["AR100"])
            recalls += weight * one.summary["AR100"]
            weights += weight
    assert found.difference == pytest.approx(total / weights, abs=1e-12)
    assert found.recall == pytest.approx(recalls / weights, abs=1e-12)
    assert found.influence.sum() == pytest.approx(0, abs=1e-12)


def test_what_chance_does_is_neither_too_much_nor_too_little_if_classes_are_on_few_images() -> None:
    """Whole images are found or missed; over many draws, the mean of the squares is the variance of the difference."""
    rng = np.random.default_rng(3)
    image, category = np.repeat(np.arange(6), 4), np.array([0, 0, 1, 1] * 2 + [0] * 8 + [1, 2, 2, 2] * 2)
    boxes = np.stack([np.tile(np.arange(4) * 30.0, 6), *np.full((3, 24), 20.0)], axis=1)
    gt = GroundTruth.from_arrays(image_ids=image, category_ids=category, boxes=boxes)
    inside = np.isin(image, [0, 4]) | (np.arange(24) % 4 == 1)
    differences, squares = [], []
    for _ in range(400):
        kept = (rng.random(6) < 0.6)[image]
        dt = Detections.from_arrays(
            image_ids=image[kept], category_ids=category[kept], boxes=boxes[kept], scores=rng.random(kept.sum())
        )
        none = np.zeros(len(dt), np.bool_)
        parts = [ObjectPart(inside, none), ObjectPart(~inside, none)]
        one, other = tables_of_objects((gt, dt), match(gt, dt), parts)
        found = recall_difference(one, other, np.arange(6))
        differences.append(found.difference)
        squares.append((found.influence_if_alike**2).sum())
    # Within a cluster, classes are found together, which the scale of a class alone cannot know.
    assert np.mean(squares) == pytest.approx(np.var(differences), rel=0.2)
    assert np.mean(differences) == pytest.approx(0, abs=0.05)


@pytest.mark.parametrize("few", [False, True])
def test_objects_of_a_few_images_are_found_as_rarely_as_asked(*, few: bool) -> None:
    """Images differ in how much of them is found, and most of a slice is on a few; so it may look far worse.

    Of 150 data sets without an effect, 16 or more give an alarm with a probability of 0.4 % if 5 % do so each.
    """
    alarms = 0
    for seed in range(150):
        rng = np.random.default_rng([seed, few])
        image = np.repeat(np.arange(20), 20)
        boxes = np.stack([np.tile(np.arange(20) * 30.0, 20), *np.full((3, 400), 20.0)], axis=1)
        data: dict[str, Any] = {"image_ids": image, "category_ids": np.ones(400), "boxes": boxes}
        on_many = np.arange(20) < 3 if few else rng.random(20) < 0.25
        marks = {"mark": rng.random(400) < np.where(on_many, 0.9, 0.0 if few else 0.03)[image]}
        kept = rng.random(400) < np.clip(rng.normal(0.7, 0.3, 20), 0.02, 0.98)[image]
        truth = GroundTruth.from_arrays(**data, attributes=marks)
        found = Detections.from_arrays(
            **{name: column[kept] for name, column in data.items()}, scores=rng.random(kept.sum())
        )
        alarms += bool(worst_slices(evaluate(truth, found), "mark", least_objects=10, replicates=1).found)
    assert alarms < 16


def test_influences_give_the_standard_error_of_the_bootstrap() -> None:
    data, gt, dt, _ = _data(9)
    inside = gt.boxes[:, 2] > gt.boxes[:, 3]
    none = np.zeros(len(dt), np.bool_)
    parts = [ObjectPart(inside, none), ObjectPart(~inside, none)]
    one, other = tables_of_objects((gt, dt), data.matches, parts)
    found = recall_difference(one, other, np.arange(IMAGES))
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(200):
        images = rng.integers(0, IMAGES, IMAGES)
        rows = [np.flatnonzero(gt.image_ids == gt.images.ids[one]) for one in images]
        theirs = [np.flatnonzero(dt.image_ids == gt.images.ids[one]) for one in images]
        copy = GroundTruth.from_arrays(
            image_ids=np.repeat(np.arange(IMAGES), [len(one) for one in rows]),
            category_ids=gt.category_ids[np.concatenate(rows)],
            boxes=gt.boxes[np.concatenate(rows)],
            crowd=gt.crowd[np.concatenate(rows)],
            images=np.arange(IMAGES),
        )
        detected = Detections.from_arrays(
            image_ids=np.repeat(np.arange(IMAGES), [len(one) for one in theirs]),
            category_ids=dt.category_ids[np.concatenate(theirs)],
            boxes=dt.boxes[np.concatenate(theirs)],
            scores=dt.scores[np.concatenate(theirs)],
        )
        wide, free = inside[np.concatenate(rows)], np.zeros(len(detected), np.bool_)
        choices = [ObjectPart(wide, free), ObjectPart(~wide, free)]
        one, other = tables_of_objects((copy, detected), match(copy, detected), choices)
        drawn.append(recall_difference(one, other, np.arange(IMAGES)).difference)
    assert np.sqrt((found.influence**2).sum()) == pytest.approx(np.std(drawn), rel=0.2)


def test_the_same_seed_gives_the_same_result_for_any_number_of_threads() -> None:
    data, _, _, table = _data(2)
    options: dict[str, Any] = {"tables": table, "permutations": 30, "replicates": 20}
    one = worst_slices(data, threads=1, **options)
    assert worst_slices(data, threads=3, **options).to_json() == one.to_json()
    assert worst_slices(data, seed=1, **options).to_json() != one.to_json()


def test_columns_are_chosen_and_small_slices_left_out() -> None:
    data, gt, _, table = _data(2)
    names = {"file": [f"{one}.png" for one in gt.images.ids], "scene": [f"scene {one // 2}" for one in gt.images.ids]}
    table = {**table, **names, "rare": gt.images.ids == 1}
    found = worst_slices(data, tables=table, permutations=10, replicates=1, most_shown=3)
    assert len(found) == 3
    assert any(note.startswith("scene is left out: column 'scene' has 76 values") for note in found.notes)
    assert not any(note.startswith("file") for note in found.notes), "it names each image, and makes no slices"
    every = worst_slices(data, ["rare"], tables=table, permutations=10, replicates=1)
    assert (every.looked_at, len(every)) == (0, 0)
    assert every.table().startswith("no slice was compared: none has at least 50 objects inside and outside")
    with pytest.raises(ValueError, match="slices to look at, and most_slices is 2: ask for fewer columns"):
        worst_slices(data, tables=table, most_slices=2)
    options: dict[str, Any] = {"least_objects": 5, "most_slices": 14, "permutations": 5}
    few = worst_slices(data, ["weather", "position"], pairs=True, tables=table, **options)
    assert few.looked_at == 14
    assert "with the most objects are looked at" in few.notes[0]


def test_results_are_written_as_text_json_and_csv() -> None:
    data, _, _, table = _data(3)
    found = worst_slices(data, ["weather", "size"], tables=table, permutations=20, replicates=10)
    lines = found.table().splitlines()
    assert "with 95 % certainty for the whole search" in lines[0]
    assert lines[1].split()[:4] == ["slice", "images", "objects", "measure"]
    assert json.loads(found.to_json())["looked_at"] == found.looked_at
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [row["name"] for row in rows] == [one.name for one in found]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 1.0}, "level must be"),
        ({"permutations": 0}, "permutations must be at least 1"),
        ({"least_objects": 0}, "least_objects must be at least 1"),
        ({"key": "APx"}, "no number 'APx'"),
        ({"by": "wether"}, "no column 'wether'"),
        ({"bins": {"aera": 3}}, "bins for 'aera', which is not one of the columns"),
    ],
)
def test_wrong_arguments_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        worst_slices(made(images=10), **options)


def test_data_without_rows_has_no_worst_slices() -> None:
    for data in (made(objects=False), made(detections=False), made(images=1, seed=3)):
        found = worst_slices(data, permutations=5, replicates=5, least_objects=1)
        json.loads(found.to_json())
        found.table()


def test_objects_on_few_clusters_have_no_limits() -> None:
    """With eight videos, limits of recall hold the true difference too seldom; the note says why there are none."""
    data, *_ = _data(3)
    for count in (8, 12):
        video = np.arange(IMAGES) * count // IMAGES
        found = worst_slices(data, ["size", "shape"], clusters=video, replicates=20, permutations=20)
        assert len(found)
        assert {bool(np.isnan(one.low)) for one in found} == {count == 8}
        assert any("no limits for slices of objects on fewer than 10 clusters" in one for one in found.notes) == (
            count == 8
        )


def test_objects_on_few_images_have_no_limits() -> None:
    """However many images there are besides."""
    data, *_ = _data(3)
    assert data.ground_truth is not None
    images = data.ground_truth.images.ids
    few = {"image_id": images, "part": np.where(np.arange(len(images)) < 7, "few", "many")}
    by = ["part == 'few' and area > 0", "part == 'many' and area > 0"]
    found = worst_slices(data, by, tables=few, least_objects=5, replicates=20, permutations=20)
    assert len(found)
    assert {bool(np.isnan(one.low)) for one in found} == {True}
