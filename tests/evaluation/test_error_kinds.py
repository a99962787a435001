"""The kinds of errors of TIDE."""

from __future__ import annotations

import math
import pickle
from typing import Any

import pytest

from evaluation.small_scene import DT, GT
from ioukit import COCO, Detections, Evaluation, GroundTruth, evaluate
from ioukit.evaluation import ERROR_KINDS, error_kinds, match
from support.data_rows import errors_in_data


def test_every_kind() -> None:
    evaluation = evaluate(GT, DT)
    errors = evaluation.error_kinds()
    rows = errors_in_data(evaluation.near_matches(), errors)
    named = [ERROR_KINDS[kind] if kind >= 0 else "-" for kind in rows.detection_kind]
    place, background = "localisation", "background"
    assert named == ["-", "duplicate", place, place, "classification", "both", background, "-", "-", background]
    assert rows.detection_ground_truth.tolist() == [-1, 0, 1, 1, 2, 2, -1, -1, -1, -1]
    assert rows.missed.tolist() == [False, False, False, True, False, False]
    assert errors.counts == dict(zip(ERROR_KINDS, [1, 2, 1, 1, 2, 1], strict=True))
    # Cats: right, right, then all wrong, of 3 objects: recall 2/3 with precision 1, 67 of 101 recalls. Dogs: nothing.
    assert errors.ap == pytest.approx(67 / 101 / 2)
    # The third cat is found by the better of two detections, the fourth of all; the other is left out.
    assert errors.delta_ap["localisation"] == pytest.approx((67 + 34 * 3 / 4) / 101 / 2 - errors.ap)
    assert errors.delta_ap["classification"] == pytest.approx(51 / 101 / 2)  # one of two dogs is found
    assert errors.delta_ap["background"] == errors.delta_ap["both"] == errors.delta_ap["duplicate"] == 0
    assert errors.delta_ap["missed"] == 0  # one dog is left, and no dog is detected
    assert errors.delta_ap["false_positive"] == 0
    # Without what nobody found the two cats are all; of dogs there is nothing left.
    assert errors.delta_ap["false_negative"] == pytest.approx(1 - errors.ap)


def test_it_pickles() -> None:
    evaluation = evaluate(GT, DT)
    assert evaluation.summary["AP50"] == evaluation.error_kinds().ap
    for value in (evaluation, pickle.loads(pickle.dumps(evaluation))):
        errors = value.error_kinds()
        again = pickle.loads(pickle.dumps(errors))
        assert again.delta_ap == errors.delta_ap
        assert again.counts == errors.counts
        assert repr(again) == repr(errors)


def test_without_classes_there_is_no_wrong_one() -> None:
    evaluation = evaluate(GT, DT, COCO.replace(class_agnostic=True))
    errors = evaluation.error_kinds()
    rows = errors_in_data(evaluation.near_matches(), errors)
    place, right = ERROR_KINDS.index("localisation"), -1
    assert rows.detection_kind[[4, 5]].tolist() == [right, place]  # 3/7 of an object found by another
    assert errors.counts["classification"] == errors.counts["both"] == 0
    assert (errors.counts["missed"], rows.missed[3]) == (1, True)
    assert errors.ap == evaluation.summary["AP50"]
    assert errors.delta_ap["missed"] == pytest.approx(_without_missed(evaluation, [0, 1, 2, 4, 5]) - errors.ap)


def _without_missed(evaluation: Evaluation, rows: list[int]) -> float:
    gt = evaluation.ground_truth
    assert gt is not None
    fewer = GroundTruth.from_arrays(
        image_ids=gt.image_ids[rows],
        category_ids=gt.category_ids[rows],
        boxes=gt.boxes[rows],
        crowd=gt.crowd[rows],
        images=gt.images.ids,
        categories=gt.categories.ids,
    )
    return evaluate(fewer, DT, evaluation.protocol).summary["AP50"]


def test_a_threshold_of_one() -> None:
    """COCO's matching asks for no more than 1 - 1e-10: a copy is a duplicate, not badly placed."""
    box = [0.0, 0.0, 10.0, 10.0]
    ground_truth = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[box])
    detections = Detections.from_arrays(
        image_ids=[1] * 3, category_ids=[1] * 3, boxes=[box, box, [0.0, 0.0, 10.0, 9.9]], scores=[0.9, 0.8, 0.7]
    )
    errors = evaluate(ground_truth, detections, COCO.replace(iou_thresholds=[1.0])).error_kinds(iou_threshold=1.0)
    assert errors.detection_kind.tolist() == [-1, ERROR_KINDS.index("duplicate"), ERROR_KINDS.index("localisation")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"iou_threshold": 0.4}, "no IoU threshold 0.4; there are 0.5, "),
        ({"background_threshold": 0.0}, "above 0 and at most iou_threshold 0.5, got 0.0"),
        ({"background_threshold": 0.6}, "above 0 and at most iou_threshold 0.5, got 0.6"),
        ({"background_threshold": math.nan}, "background_threshold must be a number, got nan"),
        ({"background_threshold": None}, "background_threshold must be a number, got None"),
        ({"max_dets_per_image": 1.5}, "max_dets_per_image must be an integer, got 1.5"),
        ({"max_dets_per_image": 0}, "max_dets_per_image must be at least 1, got 0"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        error_kinds(match(GT, DT, near=0.1), **arguments)


def test_other_sizes() -> None:
    whole, table = evaluate(GT, DT).error_kinds(), match(GT, DT, COCO.replace(area_ranges={"tiny": (0, 50)}), near=0.1)
    with pytest.raises(ValueError, match="no area range 'all'; there are tiny"):
        error_kinds(table, area_range="all")
    # All objects are larger, and what matches nothing is so too.
    errors = error_kinds(table)
    assert errors.area_range == "tiny"
    assert math.isnan(errors.ap)
    assert sum(errors.counts.values()) == 0 < sum(whole.counts.values())


@pytest.mark.parametrize(("corrected_on", "gain"), [(1, 1.0), (2, 0.5)])
def test_a_detection_of_another_class_keeps_its_place_among_equal_scores(corrected_on: int, gain: float) -> None:
    """The corrected detection is a dog then, before or behind a wrong dog with the same score on the other image."""
    box, classes = [[0, 0, 9, 9]], {1: "cat", 2: "dog"}
    truth = GroundTruth.from_arrays(
        image_ids=[corrected_on], category_ids=[2], boxes=box, categories=classes, images=[1, 2]
    )
    found = Detections.from_arrays(
        image_ids=[corrected_on, 3 - corrected_on], category_ids=[1, 2], boxes=box * 2, scores=[0.5, 0.5]
    )
    errors = evaluate(truth, found).error_kinds()
    assert (errors.ap, errors.counts["classification"], errors.counts["background"]) == (0.0, 1, 1)
    assert errors.delta_ap["classification"] == pytest.approx(gain)
