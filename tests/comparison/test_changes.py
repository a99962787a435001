"""What became of objects and false positives."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given

from comparison.two_models import two_models
from evaluation.small_scene import DT, GT
from ioukit import Detections, Evaluation, evaluate, pairwise_iou
from ioukit.comparison import DetectionChange, ObjectChange, changes
from ioukit.evaluation import Outcome

if TYPE_CHECKING:
    from comparison.two_models import TwoModels
    from ioukit.comparison import Changes

Row = tuple[Any, ...]


def kinds_by_id(changed: Changes) -> dict[int, ObjectChange]:
    return {
        number: ObjectChange(kind)
        for number, kind in zip(changed.objects.id.tolist(), changed.objects.kind.tolist(), strict=True)
    }


def test_every_kind_on_a_scene_to_check_by_hand() -> None:
    """Annotations 1 to 6 of the scene; the detections of B change one thing each."""
    better = DT.boxes.copy()
    better[0] = [0, 0, 10, 10]  # the same place as annotation 1, IoU 1 instead of 2/3
    b = Detections.from_arrays(
        image_ids=[*DT.image_ids.tolist(), 1],
        category_ids=[1, 1, 1, 1, 2, 1, 1, 2, 1, 1, 2],  # 4: the right class; 7: another class
        boxes=[*better.tolist(), [300, 0, 10, 10]],  # annotation 4 is found
        scores=[*DT.scores.tolist(), 0.35],
    )
    one, other = evaluate(GT, DT), evaluate(GT, b)
    changed = changes(one, other, score_threshold=0.0)
    ids = one.matches.objects.id
    assert [kinds_by_id(changed)[int(number)].name for number in ids if number in kinds_by_id(changed)] == [
        "BETTER_PLACED", "STILL_MISSED", "RIGHT_CLASS_NOW", "FOUND", "OTHER_CLASS_NOW",
    ]  # fmt: skip
    rows = changed.objects
    assert rows.score_a[0] == rows.score_b[0] == 0.95
    assert (rows.iou_a[0], rows.iou_b[0]) == (pytest.approx(2 / 3), 1)
    assert (rows.category_a[2], rows.category_b[2]) == (0, 1)
    assert (rows.category_a[4], rows.category_b[4]) == (0, 1)
    assert np.isnan([rows.score_a[3], rows.iou_a[3], rows.score_a[1], rows.score_b[1]]).all()
    # The detection of another class is no false positive of B any more, and the one that changed its class is new.
    kinds = [DetectionChange(kind).name for kind in changed.detections.kind]
    assert kinds == ["NEW", "GONE", *["STILL"] * (len(kinds) - 2)]
    assert changed.detections.score_b[0] == 0.99
    assert changed.detections.score_a[1] == 0.6
    back = changes(other, one, score_threshold=0.0)
    assert [kind.name for kind in kinds_by_id(back).values()].count("OTHER_CLASS_NOW") == 1
    assert back.counts["lost"] == 1


@given(two_models())
def test_each_object_is_what_both_outcomes_say(models: TwoModels) -> None:
    a, b = (evaluate(models.truth, each) for each in (models.a, models.b))
    changed = changes(a, b, score_threshold=(0.2, 0.3))
    found = [
        one.outcomes(score_threshold=score).objects == Outcome.TRUE_POSITIVE for one, score in ((a, 0.2), (b, 0.3))
    ]
    rows = changed.objects
    counted = ~a.matches.ignores("all")
    assert rows.row.tolist() == np.flatnonzero(counted).tolist()
    of_a, of_b = found[0][rows.row], found[1][rows.row]
    gained = np.isin(rows.kind, [ObjectChange.FOUND, ObjectChange.RIGHT_CLASS_NOW])
    lost = np.isin(rows.kind, [ObjectChange.LOST, ObjectChange.OTHER_CLASS_NOW])
    assert gained.tolist() == (~of_a & of_b).tolist()
    assert lost.tolist() == (of_a & ~of_b).tolist()
    assert (rows.kind == ObjectChange.STILL_MISSED).tolist() == (~of_a & ~of_b).tolist()
    both = of_a & of_b
    gain = rows.iou_b - rows.iou_a
    assert (rows.kind[both] == ObjectChange.BETTER_PLACED).tolist() == (gain[both] >= 0.05).tolist()
    assert (rows.kind[both] == ObjectChange.WORSE_PLACED).tolist() == (gain[both] <= -0.05).tolist()
    assert (rows.category_a[of_a] == rows.category[of_a]).all()
    for model, detection, category, score in (
        (a, rows.detection_a, rows.category_a, rows.score_a), (b, rows.detection_b, rows.category_b, rows.score_b),
    ):  # fmt: skip
        table = model.near_matches()
        has = detection >= 0
        assert (table.detections.image[detection[has]] == rows.image[has]).all()
        assert (table.detections.category[detection[has]] == category[has]).all()
        np.testing.assert_array_equal(score[has], table.detections.score[detection[has]])
        assert np.isnan(score[~has]).all()


@given(two_models())
def test_each_false_positive_is_listed_once(models: TwoModels) -> None:
    a, b = (evaluate(models.truth, each) for each in (models.a, models.b))
    for one, other, paired_by in (
        (a, b, "boxes"),
        (Evaluation.from_table(a.near_matches()), Evaluation.from_table(b.near_matches()), "scores"),
    ):
        changed = changes(one, other, score_threshold=0.0)
        rows = changed.detections
        assert changed.paired_by == paired_by
        for model, listed in ((one, rows.detection_a), (other, rows.detection_b)):
            wanted = np.flatnonzero(model.outcomes(score_threshold=0.0).detections == Outcome.FALSE_POSITIVE)
            assert sorted(listed[listed >= 0].tolist()) == wanted.tolist()
        assert ((rows.kind == DetectionChange.NEW) == (rows.detection_a < 0)).all()
        assert ((rows.kind == DetectionChange.GONE) == (rows.detection_b < 0)).all()
        assert (np.diff(rows.kind) >= 0).all()  # new, gone, still
        assert sum(changed.by_image()["new_false_positive"]) == changed.counts["new_false_positive"]
        assert sum(changed.by_class()["gone_false_positive"]) == changed.counts["gone_false_positive"]


@given(two_models())
def test_pairs_of_false_positives_overlap_and_none_is_left_that_could_be_paired(models: TwoModels) -> None:
    a, b = (evaluate(models.truth, each) for each in (models.a, models.b))
    rows = changes(a, b, score_threshold=0.0).detections
    boxes_a = models.a.boxes[a.matches.detections.row]
    boxes_b = models.b.boxes[b.matches.detections.row]
    still = rows.take(rows.kind == DetectionChange.STILL)
    for of_a, of_b in zip(still.detection_a, still.detection_b, strict=True):
        assert pairwise_iou(boxes_a[[of_a]], boxes_b[[of_b]], format="xywh")[0, 0] >= 0.5
    new, gone = (rows.take(rows.kind == kind) for kind in (DetectionChange.NEW, DetectionChange.GONE))
    apart = pairwise_iou(boxes_a[gone.detection_a], boxes_b[new.detection_b], format="xywh")
    same = (gone.image[:, None] == new.image) & (gone.category[:, None] == new.category)
    assert not (same & (apart >= 0.5)).any()


@given(two_models())
def test_equal_models_have_no_changes(models: TwoModels) -> None:
    a = evaluate(models.truth, models.a)
    counts = changes(a, evaluate(models.truth, models.a)).counts
    nothing = {"better_placed", "worse_placed", "found", "lost", "right_class_now", "other_class_now"}
    assert not any(counts[kind] for kind in nothing | {"new_false_positive", "gone_false_positive"})


def test_each_model_has_the_score_of_its_best_f1() -> None:
    a, b = evaluate(GT, DT), evaluate(GT, DT[DT.scores > 0.6])
    wanted = tuple(one.score_curves().overall.best.score for one in (a, b))
    assert changes(a, b).score_thresholds == wanted
    empty = evaluate(GT, DT[DT.scores > 2])
    assert changes(a, empty).score_thresholds == (wanted[0], -math.inf)


def test_tables_without_near_pairs_know_no_other_class() -> None:
    b = evaluate(GT, Detections.from_arrays(image_ids=[2], category_ids=[2], boxes=[[0, 0, 10, 10]], scores=[0.9]))
    a = evaluate(GT, DT)
    assert changes(a, b, score_threshold=0.0).counts["other_class_now"] == 1
    tables = [Evaluation.from_table(one.matches) for one in (a, b)]
    counts = changes(tables[0], tables[1], score_threshold=0.0).counts
    assert (counts["other_class_now"], counts["lost"]) == (0, 2)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"iou_threshold": 0.52}, "no IoU threshold 0.52"),
        ({"area_range": "huge"}, "no area range 'huge'"),
        ({"score_threshold": math.nan}, "score_threshold must be a number"),
        ({"score_threshold": (0.1, 0.2, 0.3)}, "one for A and one for B"),
        ({"placement": -0.1}, "placement must be at least 0, got -0.1"),
    ],
)
def test_wrong_values(options: dict[str, Any], says: str) -> None:
    a = evaluate(GT, DT)
    with pytest.raises(ValueError, match=says):
        changes(a, a, **options)


def test_other_ground_truth_is_refused() -> None:
    with pytest.raises(ValueError, match="not evaluated on the same ground truth"):
        changes(evaluate(GT, DT), evaluate(GT, DT, images=[1, 2]))
