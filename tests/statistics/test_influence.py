"""What each detection, object and image adds equals evaluating without it."""

from __future__ import annotations

import dataclasses
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.plain_kitti import random_images, write_images
from ioukit import COCO, Detections, GroundTruth, evaluate, read_coco
from ioukit.datasets import read_kitti, read_kitti_detections
from ioukit.evaluation import Evaluation, Measure, match
from ioukit.evaluation.protocols.registry import PROTOCOLS
from ioukit.evaluation.summary import value_of
from ioukit.statistics import Influence, detection_influence, image_influence, object_influence
from support.paths import EXAMPLES
from support.plain_influence import assert_equals_evaluating_again
from support.random_scenes import RULES, random_data, random_evaluation, without_data
from support.region_cases import KINDS as REGION_KINDS
from support.region_cases import evaluated

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OF: dict[str, Callable[..., Influence]] = {
    "detection": detection_influence,
    "object": object_influence,
    "image": image_influence,
}


def measures_of(evaluation: Evaluation) -> list[Measure]:
    return [measure for measure in evaluation.protocol.measures if evaluation.protocol.defines(measure)]


def example() -> Evaluation:
    folder = EXAMPLES / "coco_val2017_100"
    return evaluate(*read_coco(folder / "ground_truth.json", folder / "yolact.json"))


@pytest.mark.parametrize("of", OF)
@settings(deadline=None, max_examples=100)
@given(seed=st.integers(0, 10**6), rules=st.sampled_from(sorted(RULES)), data=st.data())
def test_equals_evaluating_without_it(of: str, seed: int, rules: str, data: st.DataObject) -> None:
    evaluation = random_evaluation(seed, rules)
    measure = data.draw(st.sampled_from(measures_of(evaluation)))
    assert_equals_evaluating_again(OF[of](evaluation, measure, threads=1), evaluation, measure)


@pytest.mark.parametrize("of", OF)
@pytest.mark.parametrize("rules", RULES)
def test_every_rule_is_met(of: str, rules: str) -> None:
    """Hypothesis may draw few sets for one protocol; these stay the same, and some rows of each matter."""
    matters = 0
    for seed in range(12):
        evaluation = random_evaluation(seed, rules)
        measures = measures_of(evaluation)
        measure = measures[seed % len(measures)]
        found = OF[of](evaluation, measure, threads=1)
        assert_equals_evaluating_again(found, evaluation, measure)
        matters += int((np.nan_to_num(found.adds) != 0).sum())
    assert matters > 0


def test_equal_scores_at_a_cap_choose_in_another_order_than_their_ranks() -> None:
    """A detection beyond the smaller cap takes the object of one within it, which has the same score."""
    evaluation = random_evaluation(1116, "class-agnostic, cap per image")
    measure = Measure("AP at less", max_dets=2)
    assert_equals_evaluating_again(detection_influence(evaluation, measure), evaluation, measure)


@pytest.mark.parametrize("of", OF)
@pytest.mark.parametrize("kind", sorted(REGION_KINDS))
def test_every_kind_of_region(of: str, kind: str) -> None:
    evaluation = evaluated(kind)
    measure = evaluation.protocol.main_measure
    assert_equals_evaluating_again(OF[of](evaluation), evaluation, measure)


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), rules=st.sampled_from(sorted(set(RULES) - {"lvis", "lvis fixed"})))
def test_a_table_alone_gives_the_same(seed: int, rules: str) -> None:
    evaluation = random_evaluation(seed, rules)
    table = match(*random_data(seed), RULES[rules], near=0.1)
    for of, function in OF.items():
        if of == "object" and rules.startswith("groups") and rules != "groups":
            continue  # needs the image labels
        whole, alone = function(evaluation), function(table)
        np.testing.assert_array_equal(alone.adds, whole.adds)
        np.testing.assert_array_equal(alone.without, whole.without)
        again = function(Evaluation.from_table(table))
        np.testing.assert_array_equal(again.adds, whole.adds)
        if whole.class_without is not None:
            np.testing.assert_array_equal(alone.class_without, whole.class_without)


def test_a_real_detector() -> None:
    evaluation = example()
    for of, function in OF.items():
        found = function(evaluation)
        rng = np.random.default_rng(0)
        rows = rng.choice(len(found), min(30, len(found)), replace=False)
        gt, dt, table = evaluation.ground_truth, evaluation.detections, found.matches
        assert gt is not None
        assert dt is not None
        for row in rows.tolist():
            objects, detections, images = gt, dt, table.image_ids
            if of == "detection":
                detections = dt.take(np.arange(len(dt)) != table.detections.row[row])
            elif of == "object":
                objects = gt.take(np.arange(len(gt)) != table.objects.row[row])
            else:
                images = np.delete(images, row)
            again = evaluate(objects, detections, images=images)
            assert found.without[row] == pytest.approx(again.summary["AP"], abs=1e-12)
            if found.class_without is not None:
                rows_of = table.detections if of == "detection" else table.objects
                of_class = again.per_class[int(rows_of.category[row])].summary["AP"]
                np.testing.assert_array_equal(found.class_without[row], of_class)


def test_the_images_that_cost_most_are_those_without_which_ap_is_highest() -> None:
    evaluation = example()
    found = image_influence(evaluation)
    ids = evaluation.matches.image_ids
    without = [
        evaluate(evaluation.ground_truth, evaluation.detections, images=np.delete(ids, at)).summary["AP"]  # type: ignore[arg-type]
        for at in range(len(ids))
    ]
    true_ones = np.argsort(-np.array(without), kind="stable")[:20]
    worst = found.worst()
    assert [row.image_id for row in worst] == ids[true_ones].tolist()
    assert [row.position for row in worst] == true_ones.tolist()
    assert all(row.adds < 0 for row in worst)
    assert all(row.adds > 0 for row in found.best())
    assert [row.adds for row in worst] == sorted(row.adds for row in worst)


def test_a_harmed_scene_is_named() -> None:
    """The detections of one image out of sixty are moved off their objects: no image costs more."""
    rng = np.random.default_rng(4)
    images = np.repeat(np.arange(60), 8)
    boxes = np.hstack([rng.uniform(0, 500, (480, 2)), rng.uniform(20, 90, (480, 2))])
    category, scores = rng.integers(1, 4, 480), rng.uniform(0.5, 1, 480)
    moved = boxes + np.hstack([rng.normal(0, 2, (480, 2)), np.zeros((480, 2))])
    moved[images == 17, 0] += 300
    gt = GroundTruth.from_arrays(image_ids=images, category_ids=category, boxes=boxes)
    dt = Detections.from_arrays(image_ids=images, category_ids=category, boxes=moved, scores=scores)
    evaluation = evaluate(gt, dt)
    assert image_influence(evaluation).worst(1)[0].image_id == 17
    assert {row.image_id for row in detection_influence(evaluation).worst(8)} == {17}
    assert {row.image_id for row in object_influence(evaluation).worst(8)} == {17}


def test_the_last_object_takes_its_category_out_of_the_mean() -> None:
    box = [[0, 0, 9, 9]]
    gt = GroundTruth.from_arrays(image_ids=[1, 1], category_ids=[1, 2], boxes=box * 2)
    dt = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=box, scores=[0.9])
    found = object_influence(evaluate(gt, dt))
    assert found.value == pytest.approx(0.5)
    assert found.without.tolist() == pytest.approx([0.0, 1.0])
    assert np.isnan(found.class_without).all()  # type: ignore[arg-type]
    worst = found.worst()
    assert len(worst) == 1
    assert worst[0]._asdict() == {
        "position": 1,
        "image_id": 1,
        "row": 1,
        "category": "2",
        "score": None,
        "adds": pytest.approx(-0.5),
        "without": pytest.approx(1.0),
    }
    only = evaluate(gt.take([0]), dt)
    assert np.isnan(object_influence(only).without).all()
    assert np.isnan(object_influence(only).adds).all()
    assert object_influence(only).worst() == ()
    assert np.isnan(image_influence(only).without).all()


def test_of_a_number_that_is_better_if_lower_the_images_that_raise_it_cost_most() -> None:
    """LRP is an error; the object of the second of three images is missed."""
    rows: dict[str, Any] = {"category_ids": [1] * 3, "boxes": [[0, 0, 9, 9]] * 3, "image_ids": [1, 2, 3]}
    found = Detections.from_arrays(**rows, scores=[0.9, 0.8, 0.7])
    evaluation = evaluate(GroundTruth.from_arrays(**rows), found[found.image_ids != 2], "unranked")
    influence = image_influence(evaluation, "LRP")
    (worst,) = influence.worst()
    assert (worst.image_id, worst.without) == (2, 0)
    assert worst.adds == pytest.approx(1 / 3)
    assert [one.image_id for one in influence.best()] == [1, 3]


def test_empty_images_and_empty_data() -> None:
    gt = GroundTruth.from_arrays(image_ids=[2], category_ids=[1], boxes=[[0, 0, 9, 9]], images=[1, 2, 3])
    none = Detections.from_arrays(image_ids=[], category_ids=[], boxes=np.zeros((0, 4)), scores=[])
    found = image_influence(evaluate(gt, none))
    np.testing.assert_array_equal(found.adds, [0.0, np.nan, 0.0])
    assert len(detection_influence(evaluate(gt, none))) == 0
    assert detection_influence(evaluate(gt, none)).worst() == ()
    nothing = evaluate(gt.take([]), none)
    assert np.isnan(image_influence(nothing).value)
    assert np.isnan(image_influence(nothing).adds).all()


@pytest.mark.parametrize("of", OF)
def test_the_number_of_threads_changes_no_bit(of: str) -> None:
    evaluation = example()
    one, four = OF[of](evaluation, "AP75", threads=1), OF[of](evaluation, "AP75", threads=4)
    np.testing.assert_array_equal(one.adds, four.adds)
    np.testing.assert_array_equal(one.without, four.without)


def other_protocol(name: str, folder: Path) -> Evaluation:
    """Small data, evaluated by a protocol whose numbers need whole curves."""
    gt, dt = random_data(9)
    if name == "kitti":
        images = [image for seed in range(3) for image in random_images(seed)]
        labels, results = write_images(folder, images)
        gt = read_kitti(labels)
        return evaluate(gt, read_kitti_detections(results, ground_truth=gt), PROTOCOLS["kitti"])
    protocol = PROTOCOLS[name]
    if name == "wider-face":
        flags = {label: np.ones(len(gt), np.bool_) for label in protocol.area_labels}
        gt = dataclasses.replace(gt, flags={**gt.flags, **flags})
    return evaluate(gt, dt, protocol.replace(clipped_boxes=False, counted_values=(), detection_values=()))


@pytest.mark.parametrize("name", ["crowdhuman", "caltech", "wider-face", "kitti"])
def test_other_numbers_are_refused_for_detections_and_computed_for_images(name: str, tmp_path: Path) -> None:
    evaluation = other_protocol(name, tmp_path)
    for function in (detection_influence, object_influence):
        with pytest.raises(ValueError, match="is not available; image_influence is"):
            function(evaluation)
    for measure in measures_of(evaluation):
        found = image_influence(evaluation, measure)
        ids = found.matches.image_ids
        again = [
            evaluate(evaluation.ground_truth, evaluation.detections, evaluation.protocol, images=np.delete(ids, at))  # type: ignore[arg-type]
            for at in range(len(ids))
        ]
        without = np.array([value_of(each.curves, measure) for each in again])
        np.testing.assert_allclose(found.without, without, rtol=0, atol=1e-12)
        np.testing.assert_allclose(found.adds, found.value - without, rtol=0, atol=1e-12)
        better = without < found.value if measure.quantity == "MR" else without > found.value
        assert {row.position for row in found.worst(99)} == set(np.flatnonzero(better).tolist())


def refused(function: Callable[..., Any], *args: Any) -> str:
    with pytest.raises((ValueError, TypeError, IndexError)) as error:
        function(*args)
    return str(error.value)


def test_what_is_refused() -> None:
    evaluation = random_evaluation(7, "coco of few")
    assert refused(detection_influence, evaluation, "AP99").startswith("the protocol COCO has no number 'AP99'; there")
    assert "lacks the IoU threshold" in refused(image_influence, evaluation, Measure("AP60", iou_threshold=0.6))
    assert refused(detection_influence, 3) == "expected an Evaluation or a MatchTable, got int"
    gt, dt = random_data(7)
    plain = match(gt, dt, COCO)
    assert refused(detection_influence, plain).endswith("near=0.5 or less, got none")
    assert refused(object_influence, match(gt, dt, COCO, near=0.7)).endswith("got those from an IoU of 0.7 on")
    assert "near" in refused(detection_influence, without_data(evaluation))
    assert len(image_influence(plain)) == len(gt.images)
    lvis = evaluate(gt, dt, PROTOCOLS["lvis"], near=0.1)
    assert "needs the ground truth" in refused(object_influence, lvis.matches)
    assert len(detection_influence(lvis.matches)) == len(lvis.matches)
    found = image_influence(evaluation)
    assert refused(found.worst, 0) == "count must be at least 1, got 0"
    assert refused(found.__getitem__, 99) == f"there are {len(found)} images, got position 99"


def test_areas_that_a_table_does_not_tell() -> None:
    """A detection with a match at every threshold does not tell whether it would be ignored without one."""
    boxes = [[0.0, 0.0, 8.0, 8.0]]
    gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=boxes)
    dt = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=boxes, scores=[0.5])
    table = match(gt, dt, COCO, near=0.5)
    assert "'small'" in refused(detection_influence, table, "APs")
    assert detection_influence(table, "AP").adds.tolist() == pytest.approx([1.0])
    assert detection_influence(evaluate(gt, dt), "APs").adds.tolist() == pytest.approx([1.0])
    assert image_influence(table, "APs").value == pytest.approx(1.0)


def test_a_table_that_was_changed_is_refused() -> None:
    evaluation = random_evaluation(11, "coco")
    table = match(*random_data(11), COCO, near=0.1)
    assert table.near is not None
    assert len(table.pairs)
    without_pairs = dataclasses.replace(table, near=table.near.take([]))
    assert "is not the one that its near pairs give" in refused(detection_influence, without_pairs)
    assert "is not the one that its near pairs give" in refused(object_influence, without_pairs)
    assert len(detection_influence(evaluation)) == len(table)


def test_rows_say_what_they_are() -> None:
    evaluation = example()
    found = detection_influence(evaluation, "AP50")
    assert repr(found) == f"Influence(AP50={evaluation.summary['AP50']:.4f}, {len(found):,} detections)"
    dt = evaluation.detections
    assert dt is not None
    for row in (*found.worst(3), *found.best(3), found[-1]):
        assert row.row is not None
        assert row.image_id == dt.image_ids[row.row]
        assert row.score == dt.scores[row.row]
        assert found.value - row.adds == pytest.approx(row.without, abs=1e-15)
    with pytest.raises(ValueError, match="read-only"):
        found.adds[0] = 1
    same = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(same.adds, found.adds)
