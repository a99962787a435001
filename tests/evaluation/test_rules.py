"""Every rule that a protocol can name against the plain one, over random scenes and all their combinations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import support.strategies  # noqa: F401 - the profile
from evaluation.plain_rules import plain_ap, plain_matching
from ioukit import COCO, Detections, GroundTruth, Protocol, evaluate
from ioukit.datasets import IdLists
from ioukit.evaluation import match
from ioukit.evaluation.protocols import IgnoreRule
from support.same_columns import assert_same_columns

RULES: dict[str, list[Any]] = {
    "choice": ["best_free", "best_of_all", "best_of_all_then_groups"],
    "threshold": ["at_least", "more_than"],
    "ties": ["last", "first"],
    "cap_scope": ["image_and_category", "image", "category"],
    "class_agnostic": [False, True],
    "inclusive_boxes": [False, True],
    "clipped_boxes": [False, True],
    "box_aspect_ratio": [0.0, 0.5],
    "overlap_epsilon": [0.0, 8.0],
    "counted_values": [(), (("height", 5, 9),), (("left", 1, 9), ("bottom", 0, 9))],
    "detection_values": [(), (("width", 0, 5),)],
    "integral": ["recalls", "points", "area", "trapezoid", "sloping_trapezoid"],
    "mean_over": ["with_objects", "with_objects_or_detections", "all"],
    "precision_epsilon": [True, False],
    "verified": ["all", "listed", "labelled", "with_objects"],
    "without_area": ["counted", "left_out", "detections_left_out"],
}
LISTS = ("neg_category_ids", "not_exhaustive_category_ids", "positive_category_ids", "negative_category_ids")
FEDERATED = {"verified", "without_area"}
IGNORED = [
    (),
    (IgnoreRule("crowd", over_detection=True, repeated=True),),
    (IgnoreRule("difficult"),),
    (IgnoreRule("crowd", over_detection=True, repeated=True, more_than=True),),
    (IgnoreRule("crowd", over_detection=True, repeated=True), IgnoreRule("difficult", repeated=True)),
    (IgnoreRule("nowhere"),),
    (IgnoreRule("crowd", over_detection=True, repeated=True, counts_once=True), IgnoreRule("difficult", repeated=True)),
    (IgnoreRule("crowd", counts_once=True),),
    (IgnoreRule("outside", over_detection=True, repeated=True), IgnoreRule("difficult")),
]


@st.composite
def scenes(draw: st.DrawFn) -> tuple[GroundTruth, Detections]:
    """Boxes on a coarse grid, so that overlaps, scores and areas are equal often, and equal to thresholds."""
    areas = st.sampled_from([0.0, 16.0, 32.0, 64.0])
    place = st.tuples(*[st.sampled_from([0, 2, 4])] * 2, *[st.sampled_from([4, 8])] * 2)

    def columns(count: int) -> dict[str, Any]:
        return {
            "image_ids": [draw(st.integers(1, 2)) for _ in range(count)],
            "category_ids": [draw(st.integers(1, 2)) for _ in range(count)],
            "boxes": np.array([draw(place) for _ in range(count)], float).reshape(-1, 4),
        }

    objects, found = draw(st.integers(0, 6)), draw(st.integers(0, 8))
    rare = st.sampled_from([False, False, True])
    flags = {name: [draw(rare) for _ in range(objects)] for name in ("crowd", "difficult")}
    lists = st.lists(st.lists(st.sampled_from([1, 2, 3, 7]), max_size=2), min_size=3, max_size=3).map(IdLists.of)
    gt = GroundTruth.from_arrays(
        **columns(objects),
        areas=[draw(areas) for _ in range(objects)],
        flags=flags,
        images=[1, 2, 3],
        sizes=[[7, 9], [12, 12], [5, 5]],
        categories=[1, 2, 3],
        image_attributes={name: draw(lists) for name in LISTS},
    )
    scores = [draw(st.sampled_from([0.2, 0.5, 0.9])) for _ in range(found)]
    return gt, Detections.from_arrays(**columns(found), scores=scores, areas=[draw(areas) for _ in range(found)])


@st.composite
def protocols(draw: st.DrawFn, *, federated: bool = True) -> Protocol:
    """With ``federated`` unset, all categories were looked for on all images, and areas of 0 count."""
    rules = {name: values if federated else values[:1] for name, values in RULES.items() if name in FEDERATED}
    return COCO.replace(
        name="drawn",
        iou_thresholds=draw(st.sampled_from([[0.5], [1 / 3, 0.5, 1.0], [0.25, 0.6]])),
        recall_thresholds=[0.0, 0.3, 0.5, 1.0],
        max_dets=draw(st.sampled_from([[1], [2, 5], [100]])),
        area_ranges=draw(st.sampled_from([{"all": (0, 1e9)}, {"all": (0, 1e9), "small": (0, 32)}])),
        ignored=draw(st.sampled_from(IGNORED)),
        **{name: draw(st.sampled_from(values)) for name, values in {**RULES, **rules}.items()},
    )


@given(scenes(), protocols(), st.sampled_from([0.1, 1 / 3, 0.6]))
def test_near_pairs_added_later_make_the_same_table(
    data: tuple[GroundTruth, Detections], protocol: Protocol, least: float
) -> None:
    later = evaluate(*data, protocol).near_matches(least)
    assert_same_columns(later, match(*data, protocol, near=least))


@given(scenes(), protocols())
def test_matches_and_numbers_are_those_of_the_plain_rules(
    data: tuple[GroundTruth, Detections], protocol: Protocol
) -> None:
    gt, dt = data
    evaluation = evaluate(gt, dt, protocol)
    table = evaluation.matches
    rows = table.detections.row
    for t, threshold in enumerate(protocol.iou_thresholds):
        for a, area in enumerate(protocol.area_ranges):
            if protocol.cap_scope != "category":  # where the cap is applied when curves are drawn
                plain = plain_matching(gt, dt, protocol, threshold, area, protocol.max_dets[-1])
                matched = table.matched_object(threshold, area.label)
                pairs = {
                    int(rows[at]): int(table.objects.row[matched[at]]) for at in np.flatnonzero(matched >= 0).tolist()
                }
                assert pairs == plain.matched
                assert set(rows.tolist()) == set(plain.counted)
                assert set(rows[table.is_ignored(threshold, area.label)].tolist()) == plain.ignored
            for m, cap in enumerate(protocol.max_dets):
                expected = plain_ap(gt, dt, protocol, threshold, area, cap)
                found = evaluation.curves.ap[t, :, a, m]
                if protocol.mean_over == "all":
                    found = np.nan_to_num(found, nan=0.0)
                np.testing.assert_allclose(found, list(expected.values()), rtol=1e-14, atol=0)


def _one(scores: list[float], boxes: list[list[float]]) -> Detections:
    count = len(scores)
    return Detections.from_arrays(image_ids=[1] * count, category_ids=[1] * count, boxes=boxes, scores=scores)


TWO = GroundTruth.from_arrays(image_ids=[1, 1], category_ids=[1, 1], boxes=[[0, 0, 10, 10], [4, 0, 10, 10]])
BETWEEN = [2.0, 0.0, 10.0, 10.0]  # IoU 2/3 with both


@pytest.mark.parametrize(("ties", "wanted"), [("last", [1, 0]), ("first", [0, 1])])
def test_of_equal_overlaps_the_first_or_the_last_is_the_best(ties: str, wanted: list[int]) -> None:
    table = match(TWO, _one([0.9, 0.8], [BETWEEN, BETWEEN]), COCO.replace(ties=ties))
    assert table.matched_object(0.5).tolist() == wanted


def test_the_best_object_of_all_is_not_found_twice() -> None:
    """As VOC has it: the second detection has IoU 1 with a taken object, and would have 3/7 with a free one."""
    dt = _one([0.9, 0.8], [[0, 0, 10, 10], [0, 0, 10, 10]])
    rules = {"iou_thresholds": [0.25]}
    assert match(TWO, dt, COCO.replace(**rules)).matched_object(0.25).tolist() == [0, 1]
    assert match(TWO, dt, COCO.replace(**rules, choice="best_of_all")).matched_object(0.25).tolist() == [0, -1]


def test_a_threshold_is_met_or_exceeded() -> None:
    gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 10, 10]])
    half = _one([0.9], [[0, 0, 10, 5]])
    for threshold, found in (("at_least", 0), ("more_than", -1)):
        assert match(gt, half, COCO.replace(threshold=threshold)).matched_object(0.5).tolist() == [found]


def test_a_mean_over_all_categories_counts_those_without_objects() -> None:
    gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 9, 9]], categories={1: "a", 2: "b"})
    dt = _one([0.9], [[0, 0, 9, 9]])
    assert evaluate(gt, dt).summary["AP"] == pytest.approx(1)
    assert evaluate(gt, dt, COCO.replace(mean_over="all")).summary["AP"] == pytest.approx(0.5)


def test_precision_without_the_epsilon_is_exact() -> None:
    plain = COCO.replace(precision_epsilon=False, integral="area")
    assert evaluate(TWO, _one([0.9, 0.8], [[0, 0, 10, 10], [4, 0, 10, 10]]), plain).summary["AP"] == 1.0


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(
        ValueError, match="unknown choice 'best'; choose from best_free, best_of_all, best_of_all_then_groups"
    ):
        COCO.replace(choice="best")
    with pytest.raises(ValueError, match="unknown summary 'voc'; choose from coco"):
        COCO.replace(summary="voc")


def test_near_pairs_change_no_match_where_a_cap_of_the_image_lies_between_equal_scores() -> None:
    """All categories are one: the cap takes the first in the file, though its category comes last."""
    box = [[0, 0, 9, 9]]
    gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=box, categories=[1, 2])
    dt = Detections.from_arrays(image_ids=[1, 1], category_ids=[2, 1], boxes=box * 2, scores=[0.5, 0.5])
    protocol = COCO.replace(class_agnostic=True, cap_scope="image", max_dets=[1])
    for near in (None, 0.5):
        table = match(gt, dt, protocol, near=near)
        assert table.detections.row[table.is_true_positive()].tolist() == [0]
        assert table.is_within_cap().sum() == 1


def test_inclusive_boxes_have_a_pixel_more() -> None:
    """Pixels 0 to 9 are ten pixels, of which 5 to 9 are five."""
    gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 9, 9]])
    pixels = COCO.replace(inclusive_boxes=True)
    assert match(gt, _one([0.9], [[5, 0, 4, 9]]), pixels).matched_iou(0.5).tolist() == [0.5]
    assert match(gt, _one([0.9], [[5, 0, 4, 9]])).matched_object(0.5).tolist() == [-1]  # 4 of 9
    point = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[7, 7, 0, 0]])
    assert match(point, _one([0.9], [[7, 7, 0, 0]]), pixels).matched_iou(0.5).tolist() == [1.0]


def test_a_match_with_an_ignored_object_may_need_more_than_the_others() -> None:
    gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 10, 10]], crowd=[True])
    half = _one([0.9], [[5, 0, 10, 10]])
    for more_than, ignored in ((False, True), (True, False)):
        rules = COCO.replace(ignored=[IgnoreRule("crowd", over_detection=True, repeated=True, more_than=more_than)])
        assert match(gt, half, rules).is_ignored(0.5).tolist() == [ignored]


@pytest.mark.parametrize("thresholds", [[0.5], [1 / 3, 0.5]])
def test_the_best_of_all_objects_may_need_more_than_the_threshold(thresholds: list[float]) -> None:
    gt = GroundTruth.from_arrays(image_ids=[1, 1], category_ids=[1, 1], boxes=[[0, 0, 4, 4]] * 2, crowd=[False, True])
    crowd = IgnoreRule("crowd", over_detection=True, repeated=True, more_than=True)
    for ties, found in (("last", -1), ("first", 0)):
        rules = COCO.replace(choice="best_of_all", ties=ties, ignored=[crowd], iou_thresholds=thresholds)
        assert match(gt, _one([0.9], [[0, 0, 4, 8]]), rules).matched_object(0.5).tolist() == [found]


@pytest.mark.parametrize("scope", ["image", "category"])
def test_a_mean_over_categories_with_detections_counts_those_found_for_nothing(scope: str) -> None:
    gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 9, 9]], categories=[1, 2, 3])
    dt = Detections.from_arrays(image_ids=[1, 1], category_ids=[1, 2], boxes=[[0, 0, 9, 9]] * 2, scores=[0.9, 0.8])
    rules = COCO.replace(mean_over="with_objects_or_detections", cap_scope=scope)
    evaluation = evaluate(gt, dt, rules)
    assert evaluation.summary["AP50"] == pytest.approx(0.5)
    aps = [result.summary["AP50"] for result in evaluation.per_class]
    assert aps[1] == 0
    assert np.isnan(aps[2])


def test_the_mean_of_points_divides_first() -> None:
    """As VOC 2007 rounds: eleven elevenths are not quite one."""
    rules = COCO.replace(integral="points", recall_thresholds=np.linspace(0, 1, 11), precision_epsilon=False)
    gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 9, 9]])
    total = 0.0
    for _ in range(11):
        total += 1.0 / 11
    assert evaluate(gt, _one([0.9], [[0, 0, 9, 9]]), rules).per_class[0].summary["AP50"] == total != 1.0
