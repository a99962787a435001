"""Finding label errors: laws on any data, and planted errors by their names."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ioukit import Detections, Evaluation, GroundTruth, MatchTable, evaluate, pairwise_iou
from ioukit.datasets import IdLists
from ioukit.evaluation import match
from ioukit.evaluation.protocols import PROTOCOLS
from ioukit.label_errors import LABEL_ERROR_KINDS, LabelErrors, find_label_errors
from ioukit.label_errors.evidence import RELIABLE, gather, largest
from ioukit.label_errors.judging import _object_pairs, _vanishing
from support.planted_labels import KINDS, plant, street
from support.planted_scenes import drawn, real

if TYPE_CHECKING:
    from numpy.typing import NDArray

COLUMNS = ("kind", "score", "image", "object", "detection", "other", "category", "suggested", "overlap", "expected")


@st.composite
def scenes(draw: st.DrawFn) -> Evaluation:
    """Random boxes, near each other: crowds, equal scores, scores outside of [0, 1], empty sides."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    objects, detections = draw(st.integers(0, 40)), draw(st.integers(0, 60))
    images, classes = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    places = np.concatenate([rng.integers(0, 60, (12, 2)), rng.integers(0, 30, (12, 2))], axis=1).astype(float)

    def boxes(count: int) -> NDArray[np.float64]:
        near = places[rng.integers(0, len(places), count)] + rng.integers(-3, 4, (count, 4))
        return np.concatenate([near[:, :2], np.maximum(near[:, 2:], 0)], axis=1)

    scores = draw(st.sampled_from(["spread", "equal", "logits", "ends"]))
    values = {
        "spread": rng.random(detections),
        "equal": np.full(detections, 0.5),
        "logits": rng.normal(0, 5, detections),
        "ends": rng.integers(0, 2, detections).astype(float),
    }[scores]
    truth = GroundTruth.from_arrays(
        image_ids=rng.integers(0, images, objects),
        category_ids=rng.integers(0, classes, objects),
        boxes=boxes(objects),
        crowd=rng.random(objects) < 0.2,
        images=np.arange(images),
        sizes=np.tile([90.0, 90.0], (images, 1)),
        categories={k: f"class {k}" for k in range(classes)},
        category_attributes={"frequency": ["f"] * classes},
        image_attributes={
            name: IdLists.of([np.flatnonzero(rng.random(classes) < 0.4).tolist() for _ in range(images)])
            for name in ("neg_category_ids", "not_exhaustive_category_ids")
        },
    )
    found = Detections.from_arrays(
        image_ids=rng.integers(0, images, detections),
        category_ids=rng.integers(0, classes, detections),
        boxes=boxes(detections),
        scores=values,
    )
    return evaluate(truth, found, PROTOCOLS[draw(st.sampled_from(["coco", "voc2012", "lvis", "crowdhuman"]))])


def same(one: LabelErrors, other: LabelErrors) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True) for name in COLUMNS[1:])


@given(scenes())
@settings(deadline=None, max_examples=100)
def test_laws(evaluation: Evaluation) -> None:
    errors = find_label_errors(evaluation)
    table = evaluation.near_matches()
    assert ((errors.score > 0) & (errors.score <= 1)).all()
    assert (np.diff(errors.score) <= 0).all()
    accused = errors.object[errors.object >= 0]
    assert len(np.unique(accused)) == len(accused)
    assert not table.ignores(table.protocol.main_area)[accused].any()
    assert (table.objects.special[accused] & 13 == 0).all()
    overlooked = errors.kind == 0
    assert ((errors.object < 0) == overlooked).all()
    assert ((errors.other >= 0) == (errors.kind == 3)).all()
    assert ((errors.suggested >= 0) == (errors.kind <= 2)).all()
    if table.protocol.name == "COCO":  # others choose in another way among objects that overlap a detection
        assert (table.matched_object(0.5)[errors.detection[overlooked]] < 0).all()
    assert same(find_label_errors(evaluation, threads=1), errors)
    per_image = errors.image_scores()
    assert per_image.shape == table.image_ids.shape
    assert ((per_image >= 0) & (per_image <= 1)).all()
    for row in errors.rows():
        assert row.kind in KINDS
        assert row.reason.endswith(".")
        # Such shares come from a regression: a rare class has one that no count of its labels gives.
        assert (" % of the " in row.reason) == ("An estimated " in row.reason)


@given(scenes())
@settings(deadline=None, max_examples=60)
def test_a_sum_of_tables_is_examined_like_the_whole(evaluation: Evaluation) -> None:
    truth, found = evaluation.ground_truth, evaluation.detections
    assert truth is not None
    assert found is not None
    images = evaluation.matches.image_ids
    parts = [
        match(truth, found, evaluation.protocol, images=part, near=0.1)
        for part in np.array_split(images, 2)
        if len(part)
    ]
    whole = match(truth, found, evaluation.protocol, near=0.1)
    errors = find_label_errors(Evaluation.from_table(whole))
    assert same(find_label_errors(Evaluation.from_table(MatchTable.merge(parts))), errors)
    assert np.isnan(errors.boxes).all()
    assert all(row.file_name == "" and row.box is None for row in errors.rows())


@given(scenes())
@settings(deadline=None, max_examples=60)
def test_the_overlap_of_two_objects_of_a_table_is_a_lower_bound(evaluation: Evaluation) -> None:
    truth = evaluation.ground_truth
    assert truth is not None
    if evaluation.protocol.clipped_boxes or evaluation.protocol.inclusive_boxes:
        return  # its IoU is not that of the boxes
    table = evaluation.near_matches()
    known = gather(Evaluation.from_table(table), threads=None)
    first, second, bound = _object_pairs(known, None)
    if not len(first):
        return
    rows = table.objects.row
    boxes = truth.boxes
    for one, other, value in zip(first.tolist(), second.tolist(), bound.tolist(), strict=True):
        exact = pairwise_iou(boxes[rows[one]][None], boxes[rows[other]][None], format="xywh")[0, 0]
        assert value <= exact + 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_planted_errors_are_named(kind: str) -> None:
    truth, found = street(200, seed=3)
    planted = plant(truth, {kind: 0.05}, seed=1)
    evaluation = evaluate(planted.ground_truth, found)
    errors = find_label_errors(evaluation)
    table = evaluation.near_matches()
    place = KINDS.index(kind)
    top = errors.chosen(kinds=[kind], top=len(planted.wrong[kind]) // 4)
    assert len(top) >= 8
    assert set(top.kind.tolist()) == {place}
    if kind == "overlooked":
        right = [_shows(planted.missing, found, row) for row in table.detections.row[top.detection].tolist()]
    else:
        wrong = set(planted.wrong[kind].tolist())
        numbers = table.objects.id
        right = [bool({int(numbers[a]), int(numbers[b])} & wrong) for a, b in zip(top.object, top.other, strict=True)]
    assert np.mean(right) >= 0.6, right
    rows = top.rows()
    if kind == "swapped":
        was = dict(zip(truth.ids.tolist(), truth.category_ids.tolist(), strict=True))
        names = dict(zip(truth.categories.ids.tolist(), truth.categories.names, strict=True))
        suggested = [row.suggested_category == names[was[row.annotation_id]] for row in rows if row.annotation_id]
        assert np.mean(suggested) >= 0.7
    if kind in ("overlooked", "badly_drawn"):
        assert all(row.suggested_box is not None for row in rows)


def _shows(missing: GroundTruth, found: Detections, row: int) -> bool:
    near = pairwise_iou(missing.boxes, found.boxes[row][None], format="xywh")[:, 0] >= 0.5
    alike = (missing.image_ids == found.image_ids[row]) & (missing.category_ids == found.category_ids[row])
    return bool((near & alike).any())


def test_right_labels_and_a_perfect_model_are_not_suspicious() -> None:
    truth, _ = street(60, seed=2)
    found = Detections.from_arrays(
        image_ids=truth.image_ids,
        category_ids=truth.category_ids,
        boxes=truth.boxes,
        scores=np.random.default_rng(0).uniform(0.8, 1, len(truth)),
    )
    errors = find_label_errors(evaluate(truth, found))
    assert (errors.score[errors.kind != 3] < 0.2).all()


def test_the_scores_are_probabilities() -> None:
    """At a rate of 2 % of each kind, about as many labels are wrong as the scores add up to."""
    expected = wrong = 0.0
    for seed in range(3):
        truth, found = street(300, seed=seed)
        planted = plant(truth, dict.fromkeys(KINDS, 0.02), seed)
        evaluation = evaluate(planted.ground_truth, found)
        errors = find_label_errors(evaluation).chosen(at_least=0.2, kinds=KINDS[1:])
        numbers = evaluation.near_matches().objects.id
        ids = np.concatenate([planted.wrong[kind] for kind in KINDS[1:]] + [planted.originals])
        hit = np.isin(numbers[errors.object], ids)
        expected, wrong = expected + float(errors.score.sum()), wrong + float(hit.sum())
    assert 0.7 < wrong / expected < 1.4


@pytest.mark.parametrize(
    ("kind", "rate"), [("overlooked", 0.1), ("overlooked", 0.3), ("swapped", 0.1), ("swapped", 0.25)]
)
def test_many_errors_do_not_hide_each_other(kind: str, rate: float) -> None:
    """Labels with a score of 0.5 or more are wrong, and most of the errors are expected, however many there are."""
    truth, found = street(300, seed=4)
    planted = plant(truth, {kind: rate}, 4)
    evaluation = evaluate(planted.ground_truth, found)
    errors = find_label_errors(evaluation).chosen(kinds=[kind])
    likely = errors.chosen(at_least=0.5)
    if kind == "overlooked":
        missing = planted.missing
        right = [_shows(missing, found, row) for row in evaluation.matches.detections.row[likely.detection].tolist()]
        count = len(missing)
    else:
        numbers = evaluation.near_matches().objects.id
        right = np.isin(numbers[likely.object], planted.wrong[kind]).tolist()
        count = len(planted.wrong[kind])
    assert np.mean(right) > 0.85
    assert 0.6 < float(errors.score.sum()) / count < 1.2
    assert len(likely) > 0.25 * count


@pytest.mark.parametrize("name", ["street", "60 classes", "aerial", "crowd", "yolact"])
def test_right_labels_are_hardly_ever_likely_wrong(name: str) -> None:
    """Nothing is planted: a model that confuses classes and misses objects is no reason to blame the labels."""
    sets = {"street": lambda: street(200, seed=1), "60 classes": lambda: street(200, 60, seed=5)}
    truth, found = sets[name]() if name in sets else real()[name] if name == "yolact" else drawn(name)
    errors = find_label_errors(evaluate(truth, found)).chosen(at_least=0.5)
    assert len(errors) <= 0.01 * len(truth)


@pytest.mark.parametrize("kind", ["overlooked", "swapped", "doubled"])
@pytest.mark.parametrize("rate", [0.02, 0.1])
def test_the_number_of_wrong_labels_is_estimated(kind: str, rate: float) -> None:
    """The scores of all labels add up to the number of planted errors, within a factor of two."""
    truth, found = street(400, seed=6)
    planted = plant(truth, {kind: rate}, 1)
    errors = find_label_errors(evaluate(planted.ground_truth, found)).chosen(kinds=[kind])
    assert 0.5 < errors.score.sum() / len(planted.wrong[kind]) < 2


def test_a_class_that_is_always_swapped_for_another_is_found() -> None:
    """The pair of classes is frequent because of the wrong labels, which must not excuse them."""
    truth, found = street(300, seed=4)
    planted = plant(truth, {"swapped": 0.05}, 2, by_rule=True)
    evaluation = evaluate(planted.ground_truth, found)
    errors = find_label_errors(evaluation).chosen(kinds=["swapped"], top=len(planted.wrong["swapped"]) // 2)
    right = np.isin(evaluation.near_matches().objects.id[errors.object], planted.wrong["swapped"])
    assert right.mean() > 0.7


def test_the_rest_of_the_image_tells_the_class() -> None:
    """Two objects with the same label and detections: one among objects of the other class, one among its own."""
    rng = np.random.default_rng(0)
    images, kinds = np.repeat(np.arange(60), 5), np.repeat(np.arange(60) % 2, 5)
    boxes = np.tile(np.stack([np.arange(5) * 100.0, *np.full((3, 5), 50.0)], axis=1), (60, 1))
    scores = np.stack([rng.uniform(0.4, 0.9, len(images)), rng.uniform(0.05, 0.6, len(images))])
    doubtful = np.array([0, 5])  # in an image of class 0 and in one of class 1
    labels = kinds.copy()
    labels[doubtful] = 1
    classes = np.stack([kinds, 1 - kinds])
    classes[:, doubtful], scores[:, doubtful] = np.array([[0], [1]]), np.array([[0.5], [0.4]])
    truth = GroundTruth.from_arrays(image_ids=images, category_ids=labels, boxes=boxes)
    found = Detections.from_arrays(
        image_ids=np.tile(images, 2), category_ids=classes.ravel(), boxes=np.tile(boxes, (2, 1)), scores=scores.ravel()
    )
    rows = find_label_errors(evaluate(truth, found)).chosen(kinds=["swapped"]).rows()
    strange, usual = (next(row.score for row in rows if row.annotation_id == at) for at in truth.ids[doubtful])
    assert strange > 5 * usual


def test_an_object_inside_a_merged_box_is_found() -> None:
    """Two detections match nothing and overlap an annotation. One annotation is the box around it and its own one."""
    rng = np.random.default_rng(0)
    boxes = np.tile([[100.0, 100.0, 60.0, 50.0], [160.0, 100.0, 40.0, 50.0]], (80, 1))
    detections, scores = boxes + rng.uniform(-2, 2, boxes.shape), rng.uniform(0.4, 0.9, 160)
    boxes[0], boxes[2] = [100.0, 100.0, 100.0, 50.0], [100.0, 100.0, 80.0, 50.0]
    detections[:4], scores[:4] = [[100.0, 100.0, 60.0, 50.0], [160.0, 100.0, 40.0, 50.0]] * 2, 0.6
    images, kept = np.repeat(np.arange(80), 2), np.setdiff1d(np.arange(160), [1, 3])
    truth = GroundTruth.from_arrays(image_ids=images[kept], category_ids=kept * 0, boxes=boxes[kept])
    found = Detections.from_arrays(image_ids=images, category_ids=images * 0, boxes=detections, scores=scores)
    rows = find_label_errors(evaluate(truth, found)).chosen(kinds=["overlooked"]).rows()
    merged, part = (next(row.score for row in rows if row.image_id == image) for image in (0, 1))
    assert merged > 3 * part


def confused(truth: GroundTruth, found: Detections, share: float, seed: int) -> Detections:
    """Detections of which a share, at every score, has a class at random."""
    rng = np.random.default_rng(seed)
    classes = np.where(rng.random(len(found)) < share, rng.choice(truth.categories.ids, len(found)), found.category_ids)
    return Detections.from_arrays(
        image_ids=found.image_ids, category_ids=classes, boxes=found.boxes, scores=found.scores
    )  # fmt: skip


@pytest.mark.parametrize("name", ["street", "many classes", "aerial"])
def test_a_model_that_confuses_classes_at_every_score_makes_no_label_likely_wrong(name: str) -> None:
    for seed in range(3):
        truth, found = street(200, seed=seed) if name == "street" else drawn(name, seed)
        errors = find_label_errors(evaluate(truth, confused(truth, found, 0.05, seed)))
        assert (errors.score >= 0.5).sum() <= 0.01 * len(truth)


def test_the_rest_of_the_images_tells_whether_labels_or_detections_have_the_wrong_class() -> None:
    """As many confident detections are of another class than the label; only the images differ."""
    sums = []
    for wrong in ("labels", "detections"):
        expected = 0.0
        for seed in range(3):
            truth, found = street(300, seed=seed)
            if wrong == "labels":
                truth = plant(truth, {"swapped": 0.06}, seed).ground_truth
            else:
                found = confused(truth, found, 0.06, seed)
            expected += float(find_label_errors(evaluate(truth, found)).chosen(kinds=["swapped"]).score.sum())
        sums.append(expected)
    assert sums[0] > 3 * sums[1], sums


@pytest.mark.parametrize("share", [0.02, 0.04])
def test_objects_without_a_trace_are_not_likely_of_nothing(share: float) -> None:
    """A model that overlooks objects at random looks as if there were labels of nothing."""
    for seed in range(3):
        truth, found = street(300, seed=seed)
        gone = truth.boxes[np.random.default_rng(seed).random(len(truth)) < share]
        images = truth.image_ids[np.random.default_rng(seed).random(len(truth)) < share]
        overlap = pairwise_iou(found.boxes, gone, format="xywh") * (found.image_ids[:, None] == images)
        errors = find_label_errors(evaluate(truth, found.take(np.flatnonzero(overlap.max(axis=1) < 0.1))))
        assert (errors.chosen(kinds=["spurious"]).score >= 0.5).sum() <= 0.002 * len(truth)


def test_a_class_of_which_many_objects_vanish_is_one_that_the_model_misses() -> None:
    truth, found = street(300, seed=5)
    rows = np.flatnonzero(truth.category_ids == 3)[::4]
    overlap = pairwise_iou(found.boxes, truth.boxes[rows], format="xywh")
    overlap *= found.image_ids[:, None] == truth.image_ids[rows]
    evaluation = evaluate(truth, found.take(np.flatnonzero(overlap.max(axis=1) < 0.1)))
    known = gather(evaluation, threads=1)
    gone = np.flatnonzero(np.isin(known.table.objects.id, truth.ids[rows]))
    more = _vanishing(known, gone)
    of_class = known.table.objects.category == known.table.objects.category[gone[0]]
    assert (more[~of_class] < 0.01).all()
    assert 0.1 < more[of_class].min() == more[of_class].max() < 0.25


def test_no_class_is_in_doubt_where_its_own_detection_is_the_stronger_one() -> None:
    truth, found = street(100, seed=2)
    known = evaluate(truth, found)
    errors, table = find_label_errors(known).chosen(kinds=["swapped"]), known.near_matches()
    evidence = gather(known, threads=1)
    same = table.objects.category[evidence.pairs.object] == table.detections.category[evidence.pairs.detection]
    own = largest(evidence.strength, evidence.pairs.object, same, len(table.objects))
    assert len(errors) > 20
    assert (evidence.score[errors.detection] > own[errors.object]).all()


def test_boxes_around_nothing_do_not_teach_what_is_found() -> None:
    """They are small. Were they taken for misses, small objects would seem to be missed often, which excuses them."""
    truth, found = street(60, seed=4)
    size = truth.images.sizes[0]
    corners = np.tile(size - 3, (len(truth.images), 1))
    labels = [truth.image_ids, truth.images.ids], [truth.category_ids, np.full(len(truth.images), 1)]
    boxes = np.concatenate([truth.boxes, np.concatenate([corners, np.full((len(corners), 2), 2.5)], axis=1)])
    kept = (found.boxes[:, :2] + found.boxes[:, 2:] < size - 4).all(axis=1)  # none lies on these boxes
    more = GroundTruth.from_arrays(
        image_ids=np.concatenate(labels[0]), category_ids=np.concatenate(labels[1]), boxes=boxes,
        images=truth.images.ids, sizes=truth.images.sizes, categories={k: f"class {k}" for k in range(1, 13)},
    )  # fmt: skip
    before, after = (gather(evaluate(gt, found.take(np.flatnonzero(kept))), threads=1) for gt in (truth, more))
    miss = [1 - known.any_found[np.argsort(known.table.objects.row)][: len(truth)] for known in (before, after)]
    chosen = np.maximum(*miss) < 1
    ratio = miss[1][chosen] / miss[0][chosen]
    assert np.ptp(miss[0]) > 0.1
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)


@pytest.mark.parametrize("least", [0.0, 0.3, 0.4, 0.45, 0.5, 0.6, 0.8])
def test_detections_without_low_scores_do_not_accuse_what_they_miss(least: float) -> None:
    """The chances of a miss add up to the misses, and few objects are accused, whatever scores were left out."""
    truth, found = real()["yolact"]
    evaluation = evaluate(truth, found.take(np.flatnonzero(found.scores >= least)))
    known, errors = gather(evaluation, threads=1), find_label_errors(evaluation)
    for chances, support in ((known.any_found, known.any_support), (known.own_found, known.own_support)):
        reliable = (support >= RELIABLE)[known.accusable]
        assert chances[known.accusable].sum() == pytest.approx(reliable.sum(), rel=1e-6)
    nothing = errors.score[np.array(errors.kinds) == "spurious"]
    assert nothing.sum() < 0.02 * len(truth)
    assert not (nothing >= 0.5).any()


def test_of_detections_on_nothing_the_surer_one_is_more_suspicious() -> None:
    """Missing objects limit the share of matches at high scores; this must not let the odds fall there."""
    truth, found = drawn("documents", 3)
    planted = plant(truth, {"overlooked": 0.1}, 3)
    known = gather(evaluate(planted.ground_truth, found), threads=1)
    for category in np.unique(known.table.detections.category):
        rows = np.flatnonzero(np.isfinite(known.alone) & (known.table.detections.category == category))
        assert (np.diff(known.alone[rows][np.argsort(known.score[rows])]) >= 0).all()


def test_matches_on_crowds_do_not_teach_how_often_detections_match() -> None:
    """Detections without an object are excused there. So only matches were left, and any detection would seem sure."""
    truth, found = street(60, seed=4)
    more = 1000 + np.arange(80)  # images with an object on a crowd, and its detection
    whole, box = [0.0, 0.0, 640.0, 480.0], [100.0, 100.0, 80.0, 80.0]
    images = np.append(truth.images.ids, more)
    labels = GroundTruth.from_arrays(
        image_ids=np.concatenate([truth.image_ids, more, more]), crowd=np.arange(len(truth) + 160) >= len(truth) + 80,
        category_ids=np.append(truth.category_ids, np.ones(160, np.int64)), images=images,
        boxes=np.concatenate([truth.boxes, np.tile(box, (80, 1)), np.tile(whole, (80, 1))]),
        sizes=np.tile([640.0, 480.0], (len(images), 1)), categories={k: f"class {k}" for k in range(1, 13)},
    )  # fmt: skip
    detections = Detections.from_arrays(
        image_ids=np.append(found.image_ids, more), category_ids=np.append(found.category_ids, np.ones(80, np.int64)),
        boxes=np.concatenate([found.boxes, np.tile(box, (80, 1))]), scores=np.append(found.scores, np.full(80, 0.5)),
    )  # fmt: skip
    before, after = (gather(evaluate(gt, dt), threads=1) for gt, dt in ((truth, found), (labels, detections)))
    by_row = [known.logits[np.argsort(known.table.detections.row)][: len(found)] for known in (before, after)]
    np.testing.assert_allclose(by_row[1], by_row[0], rtol=1e-6)


def test_a_class_is_in_doubt_before_a_box_that_another_detection_fits() -> None:
    """A neighbour's detection overlaps the object a little, too; it is no reason to draw the box again."""
    truth, found = street(100, seed=4)
    lonely = 1 + int(truth.image_ids.max())
    box, beside = [100.0, 100.0, 80.0, 80.0], [140.0, 100.0, 80.0, 80.0]  # IoU 1/3
    images = np.append(truth.images.ids, lonely)
    labels = GroundTruth.from_arrays(
        image_ids=np.append(truth.image_ids, lonely), category_ids=np.append(truth.category_ids, 1),
        boxes=np.concatenate([truth.boxes, [box]]), images=images, sizes=np.tile([640.0, 480.0], (len(images), 1)),
    )  # fmt: skip
    detections = Detections.from_arrays(
        image_ids=np.append(found.image_ids, [lonely] * 2), category_ids=np.append(found.category_ids, [3, 1]),
        boxes=np.concatenate([found.boxes, [box, beside]]), scores=np.append(found.scores, [0.6, 0.9]),
    )  # fmt: skip
    rows = [row for row in find_label_errors(evaluate(labels, detections)).rows() if row.image_id == lonely]
    assert [row.kind for row in rows if row.annotation_id] == ["swapped"]


def test_wrong_classes_in_crowds_are_no_doubles() -> None:
    """Objects overlap there; one with a wrong class has no detection of its class, but one of another class."""
    kinds: list[str] = []
    for seed in (20, 23):
        truth, found = drawn("crowd", seed)
        planted = plant(truth, {"swapped": 0.1}, 1)
        rows = find_label_errors(evaluate(planted.ground_truth, found)).rows()
        kinds += [row.kind for row in rows if row.annotation_id in planted.wrong["swapped"]]
    assert kinds.count("swapped") > 0.77 * len(kinds)


def test_lists_and_copies() -> None:
    truth, found = real()["yolact"]
    errors = find_label_errors(evaluate(truth, found))
    few = errors.chosen(top=7, at_least=0.1)
    assert len(few) == 7
    assert same(few, errors[:7])
    assert errors.chosen(kinds=["spurious"]).kinds == ["spurious"] * int((errors.kind == 4).sum())
    for again in (copy.deepcopy(few), pickle.loads(pickle.dumps(few))):
        assert same(again, few)
        assert again.to_json() == few.to_json()
    with pytest.raises(ValueError, match="read-only"):
        errors.score[0] = 1
    assert repr(few).startswith("LabelErrors(7 rows: ")
    found_dict = few.to_dict()
    assert sum(found_dict["counts"].values()) == 7
    assert list(found_dict["counts"]) == [kind.key for kind in LABEL_ERROR_KINDS]
    assert found_dict["errors"][0]["score"] == few.score[0]


def test_wrong_use() -> None:
    truth, found = real()["val2014"]
    evaluation = evaluate(truth, found)
    with pytest.raises(TypeError, match=r"expected an Evaluation, got MatchTable: Evaluation\.from_table"):
        find_label_errors(evaluation.matches)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"without the near pairs that this needs: match with near=0\.1"):
        find_label_errors(Evaluation.from_table(evaluation.matches))
    errors = find_label_errors(evaluation)
    with pytest.raises(ValueError, match=r"at_least must be within \[0, 1\], got 1.5"):
        errors.chosen(at_least=1.5)
    with pytest.raises(ValueError, match="top"):
        errors.chosen(top=-1)
    with pytest.raises(ValueError, match="unknown kind 'blurred'; choose from overlooked, "):
        errors.chosen(kinds=["blurred"])
    with pytest.raises(TypeError, match="expected a list of kinds, got 'swapped'"):
        errors.chosen(kinds="swapped")


def test_a_share_of_a_class_with_one_annotation_is_called_an_estimate() -> None:
    """None of its annotations is found, so the share is mostly that of the other class."""
    images = np.arange(60)
    boxes = np.tile([10.0, 10.0, 50.0, 50.0], (60, 1))
    labels = GroundTruth.from_arrays(image_ids=images, category_ids=np.r_[[1] * 59, 2], boxes=boxes)
    found = Detections.from_arrays(
        image_ids=images[:59], category_ids=[1] * 59, boxes=boxes[:59], scores=np.linspace(0.25, 0.9, 59)
    )
    errors = find_label_errors(evaluate(labels, found)).chosen(kinds=["spurious"])
    share = float(errors.expected[0])
    assert errors.rows()[0].reason == (
        f"No reliable detection lies on the annotation. An estimated {100 * share:.0f} % of the annotations of 2 of "
        "this size have one."
    )
    assert share > 0.5
