"""Why marks are right, wrong, found or missed: against plain rules and over all protocols."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import support.strategies  # noqa: F401 - the profile
from evaluation.test_rules import LISTS, protocols, scenes
from ioukit import COCO, Detections, GroundTruth, Protocol, evaluate
from ioukit.datasets import IdLists
from ioukit.evaluation import ERROR_KINDS, Outcome, match, outcomes
from ioukit.evaluation.analysis.outcomes_by_score import OutcomesByScore, Overlaps
from ioukit.evaluation.protocols.registry import PROTOCOLS
from ioukit.viewer.images.neighbours import Neighbours
from ioukit.viewer.images.reasons import Explainer, Reason
from support import region_cases
from viewer.plain_reasons import LEAST, Facts, check_detection, check_object
from viewer.said_reasons import check_words_of_detection, check_words_of_object

if TYPE_CHECKING:
    from ioukit.evaluation import MatchTable


def slices(images: np.ndarray[Any, Any], count: int) -> list[slice]:
    ends = np.searchsorted(images, np.arange(count + 1)).tolist()
    return [slice(*each) for each in itertools.pairwise(ends)]


def explained(
    gt: GroundTruth, dt: Detections, table: MatchTable, **options: Any
) -> tuple[dict[int, Reason], dict[int, Reason]]:
    """The reasons of all objects and of all detections, by their rows in the table."""
    count = len(table.image_ids)
    objects: dict[int, Reason] = {}
    detections: dict[int, Reason] = {}
    for of_objects, found in zip(
        slices(table.objects.image, count), slices(table.detections.image, count), strict=True
    ):
        neighbours = Neighbours(table, of_objects, found, **options)
        explainer = Explainer(gt, dt, table, neighbours)
        objects |= {row: explainer.object(row) for row in neighbours.objects}
        detections |= {row: explainer.detection(row) for row in neighbours.detections}
    return objects, detections


@st.composite
def crowded(draw: st.DrawFn) -> tuple[GroundTruth, Detections]:
    """Many boxes of two classes in one place, so that detections compete for objects, and overlaps near a limit."""
    place = st.tuples(*[st.sampled_from([0, 1, 2])] * 2, *[st.sampled_from([6, 8, 8 - 1e-7])] * 2)
    classes = st.sampled_from([1, 1, 1, 2])

    def columns(count: int) -> dict[str, Any]:
        return {
            "image_ids": [1] * count,
            "category_ids": [draw(classes) for _ in range(count)],
            "boxes": np.array([draw(place) for _ in range(count)], float).reshape(-1, 4),
        }

    objects, found = draw(st.integers(1, 5)), draw(st.integers(1, 8))
    rare = st.sampled_from([False, False, False, True])
    flags = {name: [draw(rare) for _ in range(objects)] for name in ("crowd", "difficult")}
    gt = GroundTruth.from_arrays(
        **columns(objects), flags=flags, images=[1], sizes=[[9, 12]], categories={1: "cat", 2: "dog"}
    )
    scores = [draw(st.sampled_from([0.2, 0.5, 0.9, 0.9 - 2e-8, 0.95])) for _ in range(found)]
    return gt, Detections.from_arrays(**columns(found), scores=scores)


@given(
    st.one_of(st.tuples(scenes(), protocols()), st.tuples(crowded(), protocols(federated=False))),
    st.sampled_from([0.0, 0.5, 0.9]),
    st.data(),
)
def test_reasons_are_true_by_plain_rules(
    scene: tuple[tuple[GroundTruth, Detections], Protocol], score: float, more: st.DataObject
) -> None:
    (gt, dt), protocol = scene
    threshold = more.draw(st.sampled_from(protocol.iou_thresholds))
    area = more.draw(st.sampled_from(protocol.area_ranges))
    table = match(gt, dt, protocol, near=LEAST)
    objects, detections = explained(
        gt, dt, table, iou_threshold=threshold, score_threshold=score, area_range=area.label
    )
    facts = Facts.of(table, gt, dt, threshold, area, score)
    row_of, place_of = [*table.detections.row.tolist(), -1], [*table.objects.row.tolist(), -1]
    assert len(objects) == len(table.objects)
    assert len(detections) == len(table)
    for at, reason in detections.items():
        check_detection(facts, row_of[at], reason, place_of[reason.object], row_of[reason.detection])
        check_words_of_detection(facts, row_of[at], reason.words, threshold)
    for at, reason in objects.items():
        check_object(facts, place_of[at], reason, row_of[reason.detection], place_of[reason.object])
        check_words_of_object(facts, place_of[at], reason.words, row_of[reason.detection], threshold)


NAMES = {1: "Car", 2: "Van", 3: "Pedestrian", 4: "dog"}


def every_flag(seed: int) -> tuple[GroundTruth, Detections]:
    """A scene that has what every protocol asks for."""
    rng = np.random.default_rng(seed)
    count, found, images = 200, 320, 9
    boxes = np.hstack([rng.uniform(0, 150, (count, 2)), rng.uniform(15, 80, (count, 2))])
    flags = {name: rng.random(count) < 0.15 for name in ("crowd", "difficult", "group_of", "ignore", "dont_care")}
    flags |= {name: rng.random(count) < 0.6 for name in ("easy", "medium", "hard")}
    category = rng.integers(1, 5, count)

    def lists() -> IdLists:
        return IdLists.of([np.flatnonzero(rng.random(4) < 0.4) + 1 for _ in range(images)])

    gt = GroundTruth.from_arrays(
        image_ids=rng.integers(1, images, count),
        category_ids=category,
        boxes=boxes,
        images=np.arange(1, images + 1),
        sizes=[[240, 240]] * images,
        categories=NAMES,
        flags=flags,
        attributes={
            "occluded": rng.integers(0, 4, count),
            "truncated": rng.random(count),
            "visibility": rng.random(count),
            "alpha": np.zeros(count),
        },
        category_attributes={"frequency": ["r", "c", "f", "f"]},
        image_attributes={name: lists() for name in LISTS},
    )
    kept = rng.integers(0, count, found)
    dt = Detections.from_arrays(
        image_ids=np.where(rng.random(found) < 0.05, images, gt.image_ids[kept]),
        category_ids=np.where(rng.random(found) < 0.2, rng.integers(1, 5, found), category[kept]),
        boxes=np.abs(boxes[kept] + rng.normal(0, 7, (found, 4))) * (rng.random((found, 1)) > 0.02) + [[0, 0, 0, 0]],
        scores=rng.random(found).round(2),
        attributes={"alpha": np.zeros(found)},
    )
    return gt, dt


OF_DETECTIONS = {
    Outcome.TRUE_POSITIVE: {"matched"},
    Outcome.FALSE_POSITIVE: {"taken", "below", "other_class", "background"},
    Outcome.IGNORED: {"ignored_match", "found_before", "not_exhaustive", "outside", "excused"},
    Outcome.NOT_COUNTED: {"below_score", "beyond_cap", "left_out"},
}
OF_OBJECTS = {
    Outcome.TRUE_POSITIVE: {"found"},
    Outcome.FALSE_NEGATIVE: {
        *("below_score", "beyond_cap", "left_out", "took_another", "low_iou", "other_class", "none")
    },
    Outcome.IGNORED: {"ignored"},
}


def check_outcomes(table: MatchTable, gt: GroundTruth, dt: Detections, **options: Any) -> None:
    """The reasons are those of the outcomes that the library has, and their other marks are those of the matches."""
    became = outcomes(table, **options)
    objects, detections = explained(gt, dt, table, **options)
    assert len(objects) == len(table.objects)
    assert len(detections) == len(table)
    for row, reason in detections.items():
        outcome = Outcome(became.detections[row])
        assert reason.code in OF_DETECTIONS[outcome], reason
        if outcome is Outcome.TRUE_POSITIVE or reason.code in ("ignored_match", "found_before"):
            assert reason.object == became.matched_object[row]
            assert reason.iou == became.match_iou[row]
        if reason.code == "taken":
            assert reason.object == became.matched_object[reason.detection]
            one, taker = table.detections.score[[row, reason.detection]]
            said = ("better score" in reason.words, "same score" in reason.words)
            assert said == ((taker > one, taker == one) if table.protocol.ranks else (False, False))
    if options.get("area_range", table.protocol.main_area) == table.protocol.main_area:
        level = OutcomesByScore(table, options["iou_threshold"], Overlaps.of(table))
        for row in np.flatnonzero(became.detections == Outcome.FALSE_POSITIVE).tolist():
            check_kind_of_error(table, level, row, detections[row])
    for row, reason in objects.items():
        assert reason.code in OF_OBJECTS[Outcome(became.objects[row])], reason
        if reason.code in ("found", "ignored"):
            assert reason.detection == became.matched_detection[row]
        if reason.detection >= 0:
            assert became.detections[reason.detection] != Outcome.NOT_COUNTED or reason.code in (
                *("below_score", "beyond_cap", "left_out", "low_iou", "took_another", "other_class"),
            )
    for reason in [*objects.values(), *detections.values()]:
        assert "ignored by" not in reason.words
        assert "the protocol ignores it" not in reason.words
        assert "  " not in reason.words
        assert ": ." not in reason.words


def check_kind_of_error(table: MatchTable, level: OutcomesByScore, row: int, reason: Reason) -> None:
    """The reason is about an object that makes the detection an error of the kind that the page shows."""
    kind = ERROR_KINDS[level.error[row]]
    if kind == "background":
        assert reason.code == "background" or reason.words.startswith("No object that counts has"), reason
        return
    assert not reason.words.startswith("No object"), reason
    assert not level.ignored[reason.object] or kind == "duplicate", reason
    of_object, of_detection = (
        table.evaluated_category(rows.category)[at]
        for rows, at in ((table.objects, reason.object), (table.detections, row))
    )
    assert (of_object == of_detection) == (kind in ("localisation", "duplicate")), reason
    if kind == "duplicate":
        assert reason.code == "taken", reason


@pytest.mark.parametrize("name", PROTOCOLS)
def test_reasons_agree_with_outcomes_in_every_protocol(name: str) -> None:
    protocol = PROTOCOLS[name]
    gt, dt = every_flag(3)
    table = match(gt, dt, protocol, near=min(LEAST, protocol.iou_thresholds[0]))
    for threshold in {protocol.iou_thresholds[0], protocol.main_iou, protocol.iou_thresholds[-1]}:
        for area in protocol.area_labels:
            for score in (0.0, 0.5):
                check_outcomes(table, gt, dt, iou_threshold=threshold, area_range=area, score_threshold=score)


@pytest.mark.parametrize("kind", region_cases.KINDS)
def test_reasons_agree_with_outcomes_for_every_kind_of_region(kind: str) -> None:
    for seed in range(3):
        evaluation = region_cases.evaluated(kind, seed)
        assert evaluation.ground_truth is not None
        assert evaluation.detections is not None
        for threshold in (0.5, 0.75):
            check_outcomes(
                evaluation.near_matches(),
                *(evaluation.ground_truth, evaluation.detections),
                iou_threshold=threshold,
                score_threshold=0.5,
            )


def words_of(gt: GroundTruth, dt: Detections, protocol: Protocol = COCO, **options: Any) -> tuple[list[str], list[str]]:
    """The sentences of objects and of detections, in the order of the data."""
    table = match(gt, dt, protocol, near=LEAST)
    found = explained(gt, dt, table, **{"iou_threshold": 0.5, "score_threshold": 0.3, **options})
    rows = table.objects.row, table.detections.row
    return tuple(  # type: ignore[return-value]
        [reasons[at].words for at in np.argsort(row).tolist()] for reasons, row in zip(found, rows, strict=True)
    )


def test_sentences() -> None:
    """Squares of side 10; shifted by 2 the IoU is 2/3, by 4 it is 3/7."""
    gt = GroundTruth.from_arrays(
        image_ids=[1] * 6,
        category_ids=[1, 1, 2, 2, 1, 1],
        boxes=[[x, 0, 10, 10] for x in (0, 100, 200, 300, 400)] + [[500, 0, 50, 50]],
        crowd=[0, 0, 0, 0, 0, 1],
        categories={1: "cat", 2: "dog"},
    )
    dt = Detections.from_arrays(
        image_ids=[1] * 7,
        category_ids=[1] * 7,
        boxes=[[x, 0, 10, 10] for x in (2, 0, 104, 200, 309, 402, 510)],
        scores=[0.95, 0.9, 0.8, 0.6, 0.4, 0.2, 0.35],
    )
    objects, detections = words_of(gt, dt)
    assert objects == [
        "A detection with score 0.950 matches it: IoU 0.67.",
        "The best detection of its class (IoU 0.43, score 0.800) is not close enough: a match needs at least 0.50.",
        "A detection of another class (cat, score 0.600, IoU 1.00) lies on it. No detection of its class has IoU 0.10 "
        "or more with it.",
        "No detection has IoU 0.10 or more with it.",
        "A detection matches it (IoU 0.67), but its score 0.20 is below the score threshold 0.30.",
        "It does not count: it is a crowd. The detection that matches it does not count either.",
    ]
    assert detections == [
        "It matches object 1: IoU 0.67, and a match needs at least 0.50.",
        "Object 1 has IoU 1.00 with it, but a detection with a better score (0.95, IoU 0.67) matches that object.",
        "It matches no object. The best of its class is object 2: IoU 0.43, and a match needs at least 0.50.",
        "It lies on object 3 (dog), of another class: IoU 1.00. No object of its class has IoU 0.10 or more with it.",
        "No object has IoU 0.10 or more with it.",
        "It does not count: its score 0.20 is below the score threshold 0.30.",
        "It matches object 6 (1.00 of the detection lies in it), which does not count: it is a crowd.",
    ]


def test_a_detection_of_another_class_that_does_not_count_is_no_empty_place() -> None:
    """As one of the same class is: below the score threshold, and beyond the cap of its class."""
    gt = GroundTruth.from_arrays(
        image_ids=[1] * 3,
        category_ids=[2] * 3,
        boxes=[[x, 0, 10, 10] for x in (0, 100, 200)],
        categories={1: "cat", 2: "dog"},
    )
    dt = Detections.from_arrays(
        image_ids=[1] * 5,
        category_ids=[1, 1, 1, 2, 2],
        boxes=[[x, 0, 10, 10] for x in (2, 300, 100, 400, 204)],
        scores=[0.2, 0.8, 0.7, 0.6, 0.1],
    )
    none_of_its_class = "No detection of its class has IoU 0.10 or more with it."
    low = "A detection of another class (cat, score 0.200, IoU 0.67) lies on it, but does not count"
    near = "The best detection of its class (IoU 0.43, score 0.100) is not close enough: a match needs at least 0.50."
    assert words_of(gt, dt)[0] == [
        f"{low}: its score 0.20 is below the score threshold 0.30. {none_of_its_class}",
        f"A detection of another class (cat, score 0.700, IoU 1.00) lies on it. {none_of_its_class}",
        f"{near} And it does not count: its score 0.10 is below the score threshold 0.30.",
    ]
    capped = "only the 2 best detections of each image and class count"
    objects = words_of(gt, dt, COCO.replace(max_dets=[2]), score_threshold=0)[0]
    assert objects[0] == f"{low}: {capped}. {none_of_its_class}"


def test_sentences_where_the_protocol_reads_no_scores() -> None:
    """Squares of side 10; shifted by 1 the IoU is 9/11, by 2 it is 2/3, by 3 it is 7/13, by 4 it is 3/7."""
    gt = GroundTruth.from_arrays(
        image_ids=[1] * 5,
        category_ids=[1, 1, 2, 1, 1],
        boxes=[[x, 0, 10, 10] for x in (0, 5, 100, 200, 300)],
        categories={1: "cat", 2: "dog"},
    )
    dt = Detections.from_arrays(
        image_ids=[1] * 6,
        category_ids=[1] * 6,
        boxes=[[x, 0, 10, 10] for x in (2, 1, -1, 100, 204, 305)],
        scores=None,
    )
    objects, detections = words_of(gt, dt, PROTOCOLS["unranked"], score_threshold=0)
    assert objects == [
        "A detection matches it: IoU 0.82.",
        "A detection matches it: IoU 0.54.",
        "A detection of another class (cat, IoU 1.00) lies on it. No detection of its class has IoU 0.10 or more with "
        "it.",
        "The best detection of its class (IoU 0.43) is not close enough: a match needs at least 0.50.",
        "The best detection of its class (IoU 0.33) is not close enough: a match needs at least 0.50.",
    ]
    assert detections[0] == (
        "It matches object 2: IoU 0.54, and a match needs at least 0.50. Object 1 has IoU 0.67 with it, which is "
        "more, but another detection (IoU 0.82) matches that object: pairs are chosen together, the most and "
        "then the closest."
    )
    assert "Object 1 has IoU 0.82 with it, but another detection (IoU 0.82) matches that object." in detections[1:3]


def test_a_crowd_is_named_only_where_no_other_object_is_near() -> None:
    """A share of a box that lies in a crowd is no IoU: it is nearly 1 in each crowd around the box."""
    gt = GroundTruth.from_arrays(
        image_ids=[1] * 3,
        category_ids=[2, 2, 1],
        boxes=[[0, 0, 90, 90], [10, 10, 20, 20], [300, 0, 10, 10]],
        crowd=[1, 0, 0],
        categories={1: "cat", 2: "dog"},
    )
    dt = Detections.from_arrays(
        image_ids=[1] * 3,
        category_ids=[1] * 3,
        boxes=np.array([[10, 10, 20, 21], [50, 50, 40.0000001, 40], [300, 0, 10, 20.0000001]]),
        scores=[0.9, 0.8, 0.7],
    )
    assert words_of(gt, dt)[1] == [
        "It lies on object 2 (dog), of another class: IoU 0.95. No object of its class has IoU 0.10 or more with it.",
        "No object that counts has IoU above 0.10 with it. It lies on object 1 (dog), of another class: 0.9999 of the "
        "detection lies in it. That object does not count: it is a crowd. No object of its class has IoU 0.10 or more "
        "with it.",
        "It matches no object. The best of its class is object 3: IoU 0.4999, and a match needs at least 0.50.",
    ]


def test_the_object_of_the_kind_of_error_comes_first() -> None:
    """The page writes the kind above the words: wrong class, wrong place, or both."""
    gt = GroundTruth.from_arrays(
        image_ids=[1] * 5,
        category_ids=[1, 2, 1, 2, 2],
        boxes=[[0, 0, 10, 10], [3, 0, 10, 10], [100, 0, 10, 10], [105, 0, 10, 10], [200, 0, 10, 10]],
        categories={1: "cat", 2: "dog"},
    )
    dt = Detections.from_arrays(
        image_ids=[1] * 4,
        category_ids=[1] * 4,
        boxes=[[x, 0, 10, 10] for x in (1, 2, 104, 205)],
        scores=[0.9, 0.8, 0.7, 0.6],
    )
    assert words_of(gt, dt)[1][1:] == [
        "It lies on object 2 (dog), of another class: IoU 0.82. Object 1 of its class has IoU 0.67 with it, but a "
        "detection with a better score (0.90, IoU 0.82) matches that object.",
        "It matches no object. The best of its class is object 3: IoU 0.43, and a match needs at least 0.50. Object 4 "
        "(dog) has IoU 0.82 with it, but that object is of another class.",
        "It lies on object 5 (dog), of another class: IoU 0.33, and a match needs at least 0.50. No object of its "
        "class has IoU 0.10 or more with it.",
    ]


def test_sentences_about_sizes_and_caps() -> None:
    gt = GroundTruth.from_arrays(
        image_ids=[1, 1], category_ids=[1, 1], boxes=[[0, 0, 10, 10], [50, 0, 40, 40]], categories={1: "cat"}
    )
    dt = Detections.from_arrays(
        image_ids=[1] * 3,
        category_ids=[1] * 3,
        boxes=[[0, 0, 10, 10], [52, 0, 40, 40], [200, 0, 9, 9]],
        scores=[0.9, 0.8, 0.7],
    )
    objects, detections = words_of(gt, dt, COCO.replace(max_dets=[2]), area_range="medium")
    assert objects[0] == (
        "It does not count: its area of 100 square pixels is outside of the range “medium” (1,024 to 9,216). The "
        "detection that matches it does not count either."
    )
    assert detections[2] == "It does not count: only the 2 best detections of each image and class count."
    _, detections = words_of(gt, dt, area_range="medium")
    assert detections[2] == (
        "It matches no object, and does not count: its area of 81 square pixels is outside of the range “medium” "
        "(1,024 to 9,216)."
    )


def test_a_match_that_does_not_count_is_named() -> None:
    """The flag ``void`` of pycocotools' annotations with the id 0."""
    gt = GroundTruth.from_arrays(
        image_ids=[1], category_ids=[1], boxes=[[0, 0, 10, 10]], flags={"void": [True]}, categories={1: "cat"}
    )
    dt = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 10, 10]], scores=[0.9])
    objects, detections = words_of(gt, dt)
    assert "but matches with it do not count" in objects[0]
    assert "and matches with that object do not count" in detections[0]


def test_names_of_classes_are_escaped() -> None:
    gt = GroundTruth.from_arrays(
        image_ids=[1], category_ids=[2], boxes=[[0, 0, 10, 10]], categories={1: "cat", 2: "right\u202eleft"}
    )
    dt = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 10, 10]], scores=[0.9])
    assert "\u202e" not in words_of(gt, dt)[1][0]


def test_near_pairs_are_needed() -> None:
    gt, dt = every_flag(0)
    for table in (evaluate(gt, dt).matches, match(gt, dt, near=0.6)):
        with pytest.raises(ValueError, match=r"needs the near pairs of a match table: match with near=0\.5"):
            Neighbours(table, slice(0, 1), slice(0, 1), iou_threshold=0.5, score_threshold=0)
