"""Slices by columns and conditions: which rows they have, their intervals and differences, and what they refuse."""

from __future__ import annotations

import csv
import io
import json
import math

import numpy as np
import pytest

from ioukit import Detections, Evaluation, GroundTruth, evaluate
from ioukit.slices import Expression, slice_columns, slice_numbers
from ioukit.slices.parts import Bins, both, parts_of
from ioukit.slices.scene import Scene
from ioukit.statistics import replicate
from support.evaluated_scenes import coco, made

BOXES = [[0, 0, 30, 90], [50, 50, 40, 40], [52, 50, 40, 40], [10, 80, 80, 19], [0, 0, 10, 10], [0, 0, 100, 100]]


def _small(**more: object) -> Evaluation:
    gt = GroundTruth.from_arrays(
        image_ids=[1, 1, 1, 1, 2, 2],
        category_ids=[1, 1, 2, 1, 1, 2],
        boxes=BOXES,
        images=[1, 2],
        sizes=[[100, 100], [200, 100]],
        categories={1: "car", 2: "person"},
        crowd=[False] * 5 + [True],
        image_attributes={"weather": ["rain", "sun"], "speed": [30.0, math.nan]},
        **more,  # type: ignore[arg-type]
    )
    dt = Detections.from_arrays(
        image_ids=[1, 1, 2], category_ids=[1, 2, 1], boxes=[BOXES[0], BOXES[2], [20, 0, 9, 60]], scores=[0.9, 0.8, 0.7]
    )
    return evaluate(gt, dt)


def _objects(scene: Scene, by: str) -> dict[str, list[int]]:
    return {part.value: np.flatnonzero(part.chosen).tolist() for part in parts_of(scene, by)}


def test_computed_columns_are_right() -> None:
    scene = Scene(_small())
    assert _objects(scene, "shape") == {"tall": [0], "square": [1, 2, 4, 5], "wide": [3]}
    assert _objects(scene, "crowding") == {"alone": [4], "slight overlap": [0, 3, 5], "strong overlap": [1, 2]}
    assert _objects(scene, "truncation") == {"truncated": [0, 4, 5], "whole": [1, 2, 3]}
    assert _objects(scene, "position") == {
        "middle left": [0, 5],
        "bottom right": [1, 2],
        "bottom centre": [3],
        "top left": [4],
    }
    assert _objects(scene, "category") == {"car": [0, 1, 3, 4], "person": [2, 5]}
    assert _objects(scene, "crowd") == {"yes": [5], "no": [0, 1, 2, 3, 4]}
    covered = scene.column("covered").values.data
    np.testing.assert_allclose(covered, [200 / 2700, 38 / 40, 38 / 40, 40 * 10 / (80 * 19), 0, 0.01], rtol=1e-12)
    np.testing.assert_array_equal(scene.column("border_distance").values.data, [0, 10, 8, 1, 0, 0])
    assert scene.column("objects_in_image").values.data.tolist() == [4, 1]
    assert scene.column("image_width").values.data.tolist() == [100, 200]
    np.testing.assert_array_equal(scene.column("x").values.data[:2], [0.15, 0.7])


def test_crowds_cover_nothing() -> None:
    """The crowd of image 2 covers the small box there."""
    scene = Scene(_small())
    assert scene.column("covered").values.data[4] == 0
    assert scene.column("largest_overlap").values.data[4] == 0


def test_flags_of_the_data_come_before_computed_values() -> None:
    scene = Scene(_small(flags={"occluded": [True] + [False] * 5, "truncated": [False, True] + [False] * 4}))
    assert _objects(scene, "occlusion") == {"free": [1, 2, 3, 4, 5], "occluded": [0]}
    assert _objects(scene, "truncation") == {"truncated": [1], "whole": [0, 2, 3, 4, 5]}
    assert scene.column("truncation").of_detections is None


def test_attributes_of_the_data_are_columns() -> None:
    evaluation = _small(attributes={"blur": [0, 1, 2, 0, 1, 2], "note": ["a", "", "b", "a", "a", "a"]})
    scene = Scene(evaluation)
    assert _objects(scene, "blur") == {"0": [0, 3], "1": [1, 4], "2": [2, 5]}
    assert _objects(scene, "note") == {"a": [0, 3, 4, 5], "b": [2]}
    assert [part.chosen.tolist() for part in parts_of(scene, "weather")] == [[True, False], [False, True]]
    assert [part.chosen.tolist() for part in parts_of(scene, "speed")] == [[True, False]]  # NaN is in no slice
    listed = {one.name: one for one in slice_columns(evaluation)}
    assert (listed["speed"].missing, listed["blur"].of_detections, listed["weather"].of_detections) == (1, False, True)


def test_a_table_comes_before_the_data() -> None:
    table = {"image_id": [1, 2], "weather": ["fog", "fog"], "area": [1, 2]}
    scene = Scene(_small(), [table])
    assert [part.value for part in parts_of(scene, "weather")] == ["fog"]
    assert scene.column("area").level == "image"


def test_numbers_are_cut_into_ranges() -> None:
    scene = Scene(_small())
    by = {"area": [0, 1600, 1e5]}
    assert [(part.value, np.flatnonzero(part.chosen).tolist()) for part in parts_of(scene, "area", by)] == [
        ("0 to 1,600", [3, 4]),
        ("1,600 to 100,000", [0, 1, 2, 5]),
    ]
    two = parts_of(scene, "area", {"area": 2})
    assert [int(part.chosen.sum()) for part in two] == [2, 4]  # the median is 1,600, and three have it or more
    named = parts_of(scene, "area", {"area": {"tiny": (0, 100), "huge": (100, 1e9)}})
    assert [(part.value, int(part.chosen.sum())) for part in named] == [("tiny", 1), ("huge", 6)]


def test_ranges_of_a_column_have_values() -> None:
    """Of few different numbers, or many equal ones, none of the ranges is empty, and one number is not all of them."""
    ids = made(images=60).matches.image_ids
    rain = np.where(np.arange(60) < 49, 0.0, np.arange(60) / 10)
    table = {"image_id": ids, "two": np.where(np.arange(60) < 30, 0.1, 0.3), "rain": rain, "dry": 10 - rain}
    table["far"] = np.where(np.arange(60) < 20, np.arange(60) / 4, np.inf)
    scene = Scene(made(images=60), table)
    found = {name: [(part.value, int(part.chosen.sum())) for part in parts_of(scene, name)] for name in [*table][1:]}
    assert found == {
        "two": [("below 0.2", 30), ("0.2 and more", 30)],
        "rain": [("below 4.9", 49), ("4.9 and more", 11)],
        "dry": [("below 10", 11), ("10 and more", 49)],
        "far": [("below 1.188", 5), ("1.188 to 2.375", 5), ("2.375 to 3.562", 5), ("3.562 and more", 45)],
    }


def test_images_and_objects_that_are_in_no_slice_are_told() -> None:
    data = made(images=40, seed=2)
    ids = data.matches.image_ids
    table = {"image_id": ids, "weather": np.where(ids % 4 == 0, "", "sun"), "none": np.full(40, np.nan), "all": ids % 2}
    bins = {"area": [0, 100, 2000]}
    found = slice_numbers(
        data, ["weather", "none", "all", "all", "area"], tables=table, bins=bins, keys=["AP"], replicates=0
    )
    gt = data.ground_truth
    assert gt is not None
    outside = int((~gt.crowd & (gt.areas > 2000)).sum())
    end = "they have no value, or one outside of its ranges"
    assert found.notes == (
        f"10 of 40 images are in no slice of weather: {end}",
        f"40 of 40 images are in no slice of none: {end}",
        f"{outside} of {int((~gt.crowd).sum())} objects are in no slice of area: {end}",
    )
    assert [one.name for one in found][1:3] == ["all: 0", "all: 1"]


def test_a_detection_belongs_to_a_slice_unless_it_certainly_does_not() -> None:
    scene = Scene(_small())
    (part,) = parts_of(scene, 'weather == "rain" and covered > 0.5')
    assert part.chosen.tolist() == [False, True, True, False, False, False]
    assert part.can_be_in.tolist() == [True, True, False]  # on rain, nobody knows; elsewhere it certainly does not
    assert part.can_be_out.tolist() == [True, True, True]
    assert part.shares_false_positives
    (part,) = parts_of(scene, "width < 35 or weather == 'sun'")
    assert part.can_be_in.tolist() == [True, False, True]
    assert not part.shares_false_positives
    first, second = parts_of(scene, "weather")[0], parts_of(scene, "shape")[1]
    joint = both(scene, first, second)
    assert (joint.name, joint.level) == ("weather: rain and shape: tall", "object")
    assert joint.chosen.tolist() == [True, False, False, False, False, False]
    assert joint.can_be_in.tolist() == [True, False, False]


def test_pairs_of_images_stay_images() -> None:
    scene = Scene(_small())
    joint = both(scene, parts_of(scene, "weather")[0], parts_of(scene, "speed")[0])
    assert (joint.level, joint.chosen.tolist()) == ("image", [True, False])


@pytest.mark.parametrize(
    ("numbers", "bins", "names"),
    [
        ([*range(1, 10)], None, ["below 3", "3 to 4", "5 to 6", "7 and more"]),
        ([1, 1, 1, 2, 2, 2, 3, 3, 9], 4, ["below 2", "2", "3 and more"]),
        ([*range(1, 9), 9.5], None, ["below 3", "3 to 5", "5 to 7", "7 and more"]),
        ([*range(1, 10)], [1, 3, 4, 9], ["1 to 3", "3 to 4", "4 to 9"]),  # as asked for
    ],
)
def test_ranges_of_whole_numbers_do_not_seem_to_overlap(
    numbers: list[float], bins: int | list[float] | None, names: list[str]
) -> None:
    gt = GroundTruth.from_arrays(image_ids=range(9), category_ids=[1] * 9, boxes=[[0, 0, 9, 9]] * 9)
    dt = Detections.from_arrays(image_ids=[], category_ids=[], boxes=np.zeros((0, 4)), scores=[])
    table = {"image_id": range(9), "people": numbers}
    cut: Bins = {} if bins is None else {"people": bins}
    found = slice_numbers(evaluate(gt, dt), "people", tables=table, bins=cut, replicates=0)
    assert [one.value for one in found] == names
    assert sum(one.images for one in found) == 9


@pytest.mark.parametrize(
    ("by", "bins", "message"),
    [
        ("wether", None, "no column 'wether'; did you mean 'weather'"),
        ("wether == 'a'", None, "no column 'wether'; did you mean 'weather'"),
        ("1 < 2", None, "names no column"),
        ("weather, size", None, "'weather, size' names 2 columns: ask for each by itself"),
        ("speed >", None, "expected a name"),
        ("area", {"area": [2, 1]}, "at least two rising numbers"),
        ("area", {"area": 0}, "from 1 to 50, got 0"),
        ("area", {"area": {"a": (2, 1)}}, "must go from a lower to a higher"),
        ("weather", {"weather": 3}, "holds texts, so it has no bins"),
        ("crowd", {"crowd": 3}, "holds flags, so it has no bins"),
        ("area", {"width": 3}, "bins for 'width', which is not one of the columns"),
    ],
)
def test_what_makes_no_slice_is_refused(by: str, bins: dict[str, object] | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        slice_numbers(_small(), by, bins=bins, replicates=0)  # type: ignore[arg-type]


def test_one_number_may_be_a_text_and_none_is_refused() -> None:
    assert slice_numbers(_small(), "weather", keys="AP50", replicates=0).keys == ("AP50",)
    with pytest.raises(ValueError, match="keys must have at least one number, got none"):
        slice_numbers(_small(), "weather", keys=[], replicates=0)


def test_columns_with_too_many_values_are_refused() -> None:
    data = made(images=60)
    assert data.ground_truth is not None
    table = {"image_id": data.ground_truth.images.ids, "name": [f"n{at}" for at in range(60)]}
    with pytest.raises(ValueError, match="'name' has 60 values, and at most 50"):
        slice_numbers(data, "name", tables=table)


def test_a_match_table_alone_has_slices_of_images() -> None:
    data = made(images=20)
    ids = data.matches.image_ids
    table = {"image_id": ids, "odd": ids % 2 == 1}
    one = slice_numbers(data, "odd", tables=table, replicates=20)
    other = slice_numbers(Evaluation.from_table(data.matches), "odd", tables=table, replicates=20)
    assert one.to_dict() == other.to_dict()
    with pytest.raises(ValueError, match="no column 'area'; there are odd"):
        slice_numbers(Evaluation.from_table(data.matches), "area", tables=table)


def test_numbers_are_those_of_replicates_and_repeat() -> None:
    data = made(images=40, seed=2)
    ids = data.matches.image_ids
    table = {"image_id": ids, "odd": ids % 2 == 1}
    found = slice_numbers(data, ["odd", "size"], tables=table, keys=["AP", "AP50/dog"], replicates=60, seed=3)
    weights = (ids % 2 == 1)[np.newaxis].astype(int)
    assert found["odd: yes"].numbers["AP"].value == replicate(data.matches, weights, measures=["AP"]).values[0, 0]
    again = slice_numbers(
        data, ["odd", "size"], tables=table, keys=["AP", "AP50/dog"], replicates=60, seed=3, threads=1
    )
    assert again.to_json() == found.to_json()
    assert slice_numbers(data, ["odd"], tables=table, replicates=60, seed=4).to_json() != found.to_json()
    for one in found:
        interval = one.numbers["AP"]
        assert interval.low <= interval.high if one.images >= 5 else math.isnan(interval.low)
        assert interval.standard_error > 0 or one.images < 5


def _on_images(images: list[int], found: list[int], crowded: int) -> Evaluation:
    """Objects on twenty images, one on each and two on those listed; those of some images are detected."""
    every = [*range(20), *images]
    boxes = [[60.0 * at, 0, 40, 40] for at in range(20)] + [[60.0 * at + 4, 4, 40, 40] for at in images]
    gt = GroundTruth.from_arrays(
        image_ids=every, category_ids=[1] * len(every), boxes=boxes, crowd=[at == crowded for at in every]
    )
    seen = [at for at, image in enumerate(every) if image in found]
    dt = Detections.from_arrays(
        image_ids=[every[at] for at in seen],
        category_ids=[1] * len(seen),
        boxes=[boxes[at] for at in seen],
        scores=np.linspace(0.9, 0.5, len(seen)),
    )
    return evaluate(gt, dt)


@pytest.mark.parametrize(
    ("images", "found", "crowded", "known"),
    [
        ([1, 2, 3, 4], [1, 2, 4, 11], -1, False),  # four images hardly show how much others would differ
        ([1, 2, 3, 4, 5], [1, 2, 4, 11], -1, True),
        ([1, 2, 3, 4, 5], [1, 2, 4, 11], 5, False),  # crowds do not count
        ([1, 2, 3, 4, 5], [11], -1, False),  # all are missed, without any image, too: so the error is unknown
        ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 11], -1, False),  # all are found
    ],
)
def test_objects_have_an_interval_if_five_images_tell_of_them(
    images: list[int], found: list[int], crowded: int, known: bool
) -> None:
    data = _on_images(images, found, crowded)
    clear, overlapped = (Expression(text) for text in ("largest_overlap == 0", "largest_overlap > 0"))
    measured = slice_numbers(data, [clear, overlapped], keys=["AR100"])
    for one in measured:
        number, difference = one.numbers["AR100"], one.differences["AR100"]
        assert math.isnan(number.low) == math.isnan(number.high) == (one.name == overlapped.text and not known)
        assert math.isnan(difference.low) == (not known)
        plain = json.loads(measured.to_json())["slices"][measured.slices.index(one)]
        assert (plain["differences"]["AR100"]["low"] is None) == (not known)
    assert ("no interval (-): the objects that count are in fewer than 5 images" in measured.table()) == (not known)


def test_precision_of_objects_that_share_false_positives_is_not_compared_with_the_rest() -> None:
    """AP of a smaller slice is lower for their sake alone; recall is not."""
    one = slice_numbers(_on_images([1, 2, 3, 4, 5], [1, 2, 4, 11], -1), "crowding", keys=["AP", "AR100"]).slices[0]
    assert one.shares_false_positives
    assert [math.isnan(one.differences[key].value) for key in ("AP", "AR100")] == [True, False]
    assert math.isfinite(one.numbers["AP"].value - one.rest["AP"])
    assert one.to_dict()["differences"]["AP"]["value"] is None


def test_a_change_that_no_image_changes_has_no_interval() -> None:
    """Two models that agree on a few images may differ on others."""
    few = [1, 2, 3, 4, 5]
    nothing, everything = _on_images(few, [11], -1), _on_images(few, list(range(20)), -1)
    by, keys = Expression("largest_overlap > 0"), ["AR100"]
    same = slice_numbers(nothing, by, b=nothing, keys=keys).slices[0].changes["AR100"]
    assert same.value == 0
    assert math.isnan(same.low)
    better = slice_numbers(nothing, by, b=everything, keys=keys).slices[0].changes["AR100"]
    assert better.value == 1
    assert math.isnan(better.low)


def test_differences_are_those_that_chance_does_not_make() -> None:
    """AP of few images is higher than that of the others, for random images, too."""
    data = coco()
    ids = data.matches.image_ids
    chosen = np.random.default_rng(1).permutation(np.arange(len(ids)) < 20)
    table = {"image_id": ids, "few": chosen}
    few, many = slice_numbers(data, "few", tables=table, keys=["AP"], replicates=20)
    plain = slice_numbers(data, "few", tables=table, keys=["AP"], replicates=0)["few: yes"]
    assert plain.differences["AP"].value == few.numbers["AP"].value - few.rest["AP"]
    by_chance = plain.differences["AP"].value - few.differences["AP"].value
    rng = np.random.default_rng(7)
    sets = np.array([rng.permutation(chosen) for _ in range(300)]).astype(np.int64)
    made_by_chance = [replicate(data.matches, one, measures=["AP"]).values[:, 0] for one in (sets, 1 - sets)]
    expected = float((made_by_chance[0] - made_by_chance[1]).mean())
    error = float((made_by_chance[0] - made_by_chance[1]).std()) * math.sqrt(1 / 50 + 1 / 300)
    assert expected > 0.01
    assert abs(by_chance - expected) < 4 * error
    assert few.differences["AP"].value == pytest.approx(-many.differences["AP"].value, abs=1e-12)
    halves = {"image_id": ids, "half": np.random.default_rng(2).permutation(np.arange(len(ids)) < len(ids) // 2)}
    half = slice_numbers(data, "half", tables=halves, keys=["AP"], replicates=20).slices[0]
    assert half.differences["AP"].value == half.numbers["AP"].value - half.rest["AP"], "of halves, none is smaller"


def test_a_second_model_has_changes() -> None:
    data = made(images=60, seed=1)
    gt, dt = data.ground_truth, data.detections
    assert gt is not None
    assert dt is not None
    harmed = evaluate(gt, dt.take(~((dt.image_ids % 2 == 1) & (np.arange(len(dt)) % 3 == 0))))
    table = {"image_id": gt.images.ids, "odd": gt.images.ids % 2 == 1}
    found = slice_numbers(data, ["odd", "size"], b=harmed, tables=table, keys=["AP"], replicates=100)
    worse, same = found["odd: yes"], found["odd: no"]
    assert worse.changes["AP"].high < 0
    assert same.changes["AP"].value == 0
    assert math.isnan(same.changes["AP"].low), "they agree on these images"
    assert worse.of_b["AP"].value == worse.numbers["AP"].value + worse.changes["AP"].value
    assert "B - A" in found.table()
    other = made(images=60, seed=2)
    with pytest.raises(ValueError, match=r"\bA\b.*\bB\b"):
        slice_numbers(data, "size", b=other)


def test_results_are_written_as_text_json_and_csv() -> None:
    found = slice_numbers(_small(), ["weather", "crowding"], keys=["AP", "AR100"], replicates=10)
    lines = found.table().splitlines()
    assert lines[0].split() == [
        "slice",
        "images",
        "objects",
        "share",
        "AP",
        "interval",
        "rest",
        "difference",
        "interval",
        "AR100",
    ]
    assert lines[2].startswith("weather: rain ")
    assert lines[4].startswith("crowding: alone * ")
    assert lines[-1].startswith("* detections without a match count")
    assert json.loads(found.to_json())["slices"][0]["name"] == "weather: rain"
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert len(rows) == len(found) == 5
    assert float(rows[0]["AP"]) == found["weather: rain"].numbers["AP"].value
    assert found.table("AR100").splitlines()[0].split()[4] == "AR100"
    with pytest.raises(KeyError, match="no slice 'a'; there are weather: rain"):
        found["a"]


def test_long_values_leave_room_for_numbers() -> None:
    """The names in a terminal's table are cut so that they still differ; a file has the whole ones."""
    values = ["r" * 90, "r" * 89 + "s"]
    found = slice_numbers(_small(), ["place"], tables={"image_id": [1, 2], "place": values}, keys=["AP"], replicates=0)
    lines = found.table(width=80).splitlines()
    assert max(map(len, lines)) <= 80
    assert {"AP", "difference"} <= set(lines[0].split())
    names = [line.split()[1] for line in lines[2:4]]
    assert len(set(names)) == 2
    assert all("…" in line and value[-1] == line.split()[1][-1] for line, value in zip(lines[2:4], values, strict=True))
    assert all(f"place: {value}" in found.table() for value in values)


def test_no_text_of_a_csv_is_a_formula() -> None:
    evaluation = _small()
    table = {"image_id": [1, 2], "place": ["=HYPERLINK(0)", "-9 to 3"]}
    found = slice_numbers(evaluation, ["place"], keys=["AP"], replicates=10, tables=table)
    read = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [row["value"] for row in read] == ["'-9 to 3", "'=HYPERLINK(0)"]
    assert {one.value for one in found.slices} == {"-9 to 3", "=HYPERLINK(0)"}


def test_data_without_rows_has_slices() -> None:
    for data in (made(objects=False), made(detections=False), made(images=1, seed=3)):
        found = slice_numbers(data, ["size", "shape", "objects_in_image", "crowding"], replicates=5)
        assert all(0 <= one.share <= 1 for one in found)
        json.loads(found.to_json())
        found.table()
