"""Curves, outcomes, images and the matrix against their definitions, against each other and against scikit-learn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import support.strategies  # noqa: F401 - the profile
from evaluation.plain_analysis import f1, plain_curve, plain_matches, plain_matrix
from ioukit import COCO, Detections, GroundTruth, evaluate, read_coco
from ioukit.evaluation import ERROR_KINDS, Outcome, confusion_matrix, match, outcomes, score_curves
from parity.random_data import random_case
from support.data_rows import entries_in_data, errors_in_data, outcomes_in_data
from support.paths import DATA, DEMO

SCORES = [0.1, 0.3, 0.5, 0.5, 0.9]


@st.composite
def scenes(draw: st.DrawFn) -> tuple[GroundTruth, Detections]:
    """A few boxes on a coarse grid: equal scores, equal overlaps, crowds, images without either."""
    place = st.tuples(*[st.sampled_from([0, 2, 4, 6])] * 2, *[st.sampled_from([4, 6, 8])] * 2)

    def columns(count: int) -> dict[str, Any]:
        lists = {"image_ids": st.integers(1, 2), "category_ids": st.integers(1, 3), "boxes": place}
        made = {name: [draw(values) for _ in range(count)] for name, values in lists.items()}
        return made | {"boxes": np.array(made["boxes"], float).reshape(-1, 4)}

    objects, found = draw(st.integers(0, 6)), draw(st.integers(0, 9))
    return GroundTruth.from_arrays(
        **columns(objects),
        crowd=[draw(st.sampled_from([False, False, True])) for _ in range(objects)],
        images=[1, 2, 3],
        categories=[1, 2, 3],
    ), Detections.from_arrays(**columns(found), scores=[draw(st.sampled_from(SCORES)) for _ in range(found)])


@given(scenes(), st.sampled_from([0.5, 0.75]))
def test_curves_are_those_of_matching_anew_at_every_score(data: tuple[GroundTruth, Detections], iou: float) -> None:
    curves = score_curves(match(*data), iou_threshold=iou)
    for category, curve in zip((1, 2, 3), curves.per_class, strict=True):
        points = plain_curve(*data, category, iou)
        columns = (curve.scores, curve.true_positives, curve.false_positives)
        assert list(zip(*(column.tolist() for column in columns), strict=True)) == points
        objects = int(((data[0].category_ids == category) & ~data[0].crowd).sum())
        assert curve.num_ground_truth == objects
        best = f1(0, 0, objects), math.nan, 0
        for row, (score, tp, fp) in enumerate(points):
            assert curve.precision[row] == tp / (tp + fp)
            assert curve.f1[row] == pytest.approx(f1(tp, fp, objects - tp), abs=1e-15)
            assert math.isnan(curve.recall[row]) if not objects else curve.recall[row] == tp / objects
            if tp and not f1(tp, fp, objects - tp) <= best[0]:
                best = f1(tp, fp, objects - tp), score, tp
        found = curve.best
        np.testing.assert_array_equal([found.f1, found.score, found.true_positives], best)
    pooled = curves.overall
    for score in [-1.0, 0.2, *SCORES, 2.0]:
        parts, whole = [curve.at(score) for curve in curves.per_class], pooled.at(score)
        for count in ("true_positives", "false_positives", "false_negatives"):
            assert getattr(whole, count) == sum(getattr(part, count) for part in parts)


@given(scenes(), st.sampled_from([0.5, 0.75]), st.sampled_from([-math.inf, *SCORES, 2.0]))
def test_outcomes_are_those_of_matching_the_rest(
    data: tuple[GroundTruth, Detections], iou: float, score: float
) -> None:
    ground_truth, detections = data
    evaluation = evaluate(*data)
    became = outcomes_in_data(evaluation.matches, evaluation.outcomes(iou_threshold=iou, score_threshold=score))
    plain = plain_matches(*data, iou, believed=score, agnostic=False)
    assert became.matched_ground_truth.tolist() == plain.detection_match
    assert became.matched_detection.tolist() == plain.annotation_match
    for row, kind in enumerate(became.detections):
        wanted = Outcome.TRUE_POSITIVE if plain.detection_match[row] >= 0 else Outcome.FALSE_POSITIVE
        wanted = Outcome.IGNORED if plain.ignored[row] else wanted
        assert kind == (wanted if detections.scores[row] >= score else Outcome.NOT_COUNTED)
    for row, kind in enumerate(became.ground_truth):
        wanted = Outcome.TRUE_POSITIVE if plain.annotation_match[row] >= 0 else Outcome.FALSE_NEGATIVE
        assert kind == (Outcome.IGNORED if ground_truth.crowd[row] else wanted)

    # The counts of the curve at that score, and their sums over images.
    point = evaluation.score_curves(iou_threshold=iou).overall.at(score)
    images = evaluation.per_image(iou_threshold=iou, score_threshold=score)
    counts = (point.true_positives, point.false_positives, point.false_negatives)
    assert tuple(int((became.detections == kind).sum()) for kind in (1, 2)) == counts[:2]
    assert tuple(int((became.ground_truth == kind).sum()) for kind in (1, 3)) == (counts[0], counts[2])
    assert (images.true_positives.sum(), images.false_positives.sum(), images.false_negatives.sum()) == counts
    for at, image in enumerate(images.image_ids):
        kinds = became.detections[detections.image_ids == image]
        objects = became.ground_truth[ground_truth.image_ids == image]
        tp, fp, fn = (kinds == 1).sum(), (kinds == 2).sum(), (objects == 3).sum()
        assert (images.true_positives[at], images.false_positives[at], images.false_negatives[at]) == (tp, fp, fn)
        np.testing.assert_allclose(images.f1[at], f1(tp, fp, fn), rtol=1e-15)
        overlaps = became.match_iou[(detections.image_ids == image) & (became.detections == 1)]
        np.testing.assert_allclose(images.mean_iou[at], overlaps.mean() if len(overlaps) else np.nan)
    errors = images.false_positives + images.false_negatives
    key = [(-errors[at], images.f1[at], images.image_ids[at]) for at in images.worst(3)]
    assert key == sorted(key)
    assert len(key) == (errors > 0).sum()


@given(scenes(), st.sampled_from([0.5, 0.75]), st.sampled_from([*SCORES, 2.0]))
def test_the_matrix_is_that_of_its_rule(data: tuple[GroundTruth, Detections], iou: float, score: float) -> None:
    ground_truth, detections = data
    table = match(*data, near=iou)
    matrix = confusion_matrix(table, iou_threshold=iou, score_threshold=score)
    assert matrix.counts.tolist() == plain_matrix(*data, iou, score)
    # Every object once in its row, every detection that is not on a crowd once in its column.
    objects = [((ground_truth.category_ids == k) & ~ground_truth.crowd).sum() for k in (1, 2, 3)]
    assert matrix.counts[:-1].sum(axis=1).tolist() == objects
    ignored = np.array(plain_matches(*data, iou, believed=score, agnostic=True).ignored, bool)
    believed = (detections.scores >= score) & ~ignored
    assert matrix.counts[:, :-1].sum(axis=0).tolist() == [
        (believed & (detections.category_ids == k)).sum() for k in (1, 2, 3)
    ]
    # Cells lead back to the data.
    sizes = [[len(matrix.cell(true, predicted)) for predicted in range(4)] for true in range(4)]
    assert sizes == matrix.counts.tolist()
    entries = entries_in_data(table, matrix)
    for entry in range(len(matrix.true)):
        g, d, image = entries.ground_truth[entry], entries.detection[entry], matrix.image_ids[matrix.image[entry]]
        assert matrix.true[entry] == (ground_truth.category_ids[g] - 1 if g >= 0 else 3)
        assert matrix.predicted[entry] == (detections.category_ids[d] - 1 if d >= 0 else 3)
        assert g < 0 or ground_truth.image_ids[g] == image
        assert d < 0 or detections.image_ids[d] == image
    assert (np.diff(matrix.image) >= 0).all()


@given(scenes())
def test_kinds_of_errors_are_those_of_the_false_positives(data: tuple[GroundTruth, Detections]) -> None:
    evaluation = evaluate(*data)
    found = evaluation.error_kinds()
    errors = errors_in_data(evaluation.near_matches(), found)
    became = outcomes_in_data(evaluation.matches, evaluation.outcomes())
    assert ((errors.detection_kind >= 0) == (became.detections == Outcome.FALSE_POSITIVE)).all()
    assert (became.ground_truth[errors.missed] == Outcome.FALSE_NEGATIVE).all()
    assert all(found.counts[kind] == (errors.detection_kind == k).sum() for k, kind in enumerate(ERROR_KINDS[:-1]))
    assert found.counts["missed"] == errors.missed.sum()
    about = errors.detection_ground_truth >= 0
    assert (data[0].image_ids[errors.detection_ground_truth[about]] == data[1].image_ids[about]).all()
    np.testing.assert_equal(found.ap, evaluation.summary["AP50"])


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_any_protocol_and_any_selection(seed: int) -> None:
    """Area ranges, caps, class-agnostic matching, chosen images and categories."""
    case = random_case(seed)
    ground_truth, detections = GroundTruth.from_coco(case.gt), Detections.from_coco(case.dt)
    evaluation = evaluate(ground_truth, detections, COCO.replace(**case.protocol), **case.subset)
    table = evaluation.matches
    for at, area in enumerate(table.protocol.area_labels):
        iou = table.protocol.iou_thresholds[seed % len(table.protocol.iou_thresholds)]
        curves = evaluation.score_curves(iou_threshold=iou, area_range=area)
        recall = evaluation.recall[table.protocol.iou_thresholds.index(iou), :, at, -1]
        last = [curve.recall[-1] if len(curve.recall) else curve.at(0).recall for curve in curves.per_class]
        np.testing.assert_array_equal(recall, last)
        became = outcomes_in_data(table, evaluation.outcomes(iou_threshold=iou, area_range=area))
        point = curves.overall.at(-math.inf)
        assert (became.detections == Outcome.TRUE_POSITIVE).sum() == point.true_positives
        assert (became.ground_truth == Outcome.TRUE_POSITIVE).sum() == point.true_positives
        assert (became.ground_truth == Outcome.FALSE_NEGATIVE).sum() == point.false_negatives
        assert (became.detections != Outcome.NOT_COUNTED).sum() == len(table)
        images = evaluation.per_image(iou_threshold=iou, area_range=area)
        assert images.num_ground_truth.sum() == table.num_objects[:, at].sum()
        kinds = evaluation.error_kinds(iou_threshold=iou, area_range=area, background_threshold=min(0.1, iou))
        errors = errors_in_data(evaluation.near_matches(min(0.1, iou)), kinds)
        assert ((errors.detection_kind >= 0) == (became.detections == Outcome.FALSE_POSITIVE)).all()
        assert (became.ground_truth[errors.missed] == Outcome.FALSE_NEGATIVE).all()
        precision = evaluation.precision[table.protocol.iou_thresholds.index(iou), :, :, at, -1]
        defined = precision[~np.isnan(precision)]
        np.testing.assert_allclose(kinds.ap, defined.mean() if defined.size else np.nan, rtol=1e-12)
        assert (~np.isnan(table.matched_iou(iou, area)) == (table.matched_object(iou, area) >= 0)).all()
        rows = table.detections.row
        pairs = became.matched_ground_truth[rows] >= 0
        np.testing.assert_array_equal(table.matched_iou(iou, area)[pairs], became.match_iou[rows][pairs])
    matrix = evaluation.confusion(score_threshold=-math.inf)
    evaluated = became.ground_truth != Outcome.NOT_COUNTED
    assert matrix.counts[:-1].sum() == (evaluated & ~ground_truth.crowd).sum()
    assert sum(kinds.counts.values()) - kinds.counts["missed"] == (errors.detection_kind >= 0).sum()


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.data())
def test_tables_that_were_added_say_the_same(seed: int, data: st.DataObject) -> None:
    """Rows count through the data of the first part, then the second."""
    case = random_case(seed)
    ground_truth, detections = GroundTruth.from_coco(case.gt), Detections.from_coco(case.dt)
    protocol = COCO.replace(**case.protocol)
    ids = ground_truth.images.ids.tolist()
    first = sorted(data.draw(st.sets(st.sampled_from(ids))))
    parts = [match(*_part(case, images), protocol) for images in (first, [i for i in ids if i not in first])]
    whole = match(ground_truth, detections, protocol)
    iou = protocol.iou_thresholds[0]
    mine, theirs = (score_curves(table, iou_threshold=iou).overall for table in (parts[0] + parts[1], whole))
    for name in ("scores", "true_positives", "false_positives"):
        assert getattr(mine, name).tolist() == getattr(theirs, name).tolist()


def _part(case: Any, images: list[int]) -> tuple[GroundTruth, Detections]:
    gt = {
        **case.gt,
        "images": [image for image in case.gt["images"] if image["id"] in images],
        "annotations": [record for record in case.gt["annotations"] if record["image_id"] in images],
    }
    return GroundTruth.from_coco(gt), Detections.from_coco([d for d in case.dt if d["image_id"] in images])


@pytest.mark.parametrize("on", ["coco_val2014_100", "coco_ccby_images"])
def test_scikit_learn_says_the_same(on: str) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    files = {
        "coco_val2014_100": ("instances_val2014_100.json", "instances_val2014_fakebbox100_results.json"),
        "coco_ccby_images": (str(DEMO / "gt.json"), str(DEMO / "a.json")),
    }
    ground_truth, detections = read_coco(*(DATA / on / file for file in files[on]))
    evaluation = evaluate(ground_truth, detections)

    # The matrix of the pairs that were counted.
    matrix = evaluation.confusion(score_threshold=0.1)
    labels = np.arange(len(matrix.counts))
    assert (metrics.confusion_matrix(matrix.true, matrix.predicted, labels=labels) == matrix.counts).all()
    for by, name in (("truth", "true"), ("prediction", "pred")):
        shares = metrics.confusion_matrix(matrix.true, matrix.predicted, labels=labels, normalize=name)
        np.testing.assert_allclose(np.nan_to_num(matrix.normalized(by)), shares, rtol=1e-14)  # type: ignore[arg-type]

    # Objects that nobody found are positives below every score.
    table = evaluation.matches
    curves = evaluation.score_curves()
    counted, found = ~table.is_ignored(), table.is_true_positive()
    for k, curve in [*enumerate(curves.per_class), (-1, curves.overall)]:
        rows = counted & ((table.detections.category == k) | (k < 0))
        never = curve.num_ground_truth - int(found[rows].sum())
        if not curve.num_ground_truth or not rows.any():
            continue
        truth = np.append(found[rows], np.ones(never, bool))
        scores = np.append(table.detections.score[rows], np.full(never, -1.0))
        precision, recall, thresholds = metrics.precision_recall_curve(truth, scores)
        real = thresholds >= 0
        np.testing.assert_array_equal(thresholds[real][::-1], curve.scores)
        np.testing.assert_allclose(precision[:-1][real][::-1], curve.precision, rtol=1e-15)
        np.testing.assert_allclose(recall[:-1][real][::-1], curve.recall, rtol=1e-15)
        if not curve.true_positives[-1]:
            continue
        best = curve.best
        whole = metrics.precision_recall_fscore_support(truth, scores >= best.score, average="binary")
        np.testing.assert_allclose((best.precision, best.recall, best.f1), whole[:3], rtol=1e-14)
        harmonic = 2 * precision * recall / np.maximum(precision + recall, 1e-300)
        assert best.f1 == pytest.approx(harmonic[:-1][real].max(), abs=1e-14)


def test_recall_is_that_of_the_evaluation() -> None:
    evaluation = evaluate(
        *read_coco(
            DATA / "coco_val2014_100" / "instances_val2014_100.json",
            DATA / "coco_val2014_100" / "instances_val2014_fakebbox100_results.json",
        )
    )
    for t, iou in enumerate(COCO.iou_thresholds):
        for a, area in enumerate(evaluation.protocol.area_labels):
            curves = evaluation.score_curves(iou_threshold=iou, area_range=area)
            recall = [curve.at(-math.inf).recall for curve in curves.per_class]
            np.testing.assert_array_equal(recall, evaluation.recall[t, :, a, -1])


def test_an_evaluation_of_tables_alone_says_what_it_lacks() -> None:
    evaluation = evaluate(GroundTruth.from_arrays(image_ids=[], category_ids=[], boxes=[]), _nothing())
    bare = type(evaluation).from_table(evaluation.matches)
    assert bare.score_curves().overall.num_ground_truth == 0
    assert len(bare.outcomes().detections) == len(bare.per_image()) == 0
    for method in (bare.confusion, bare.error_kinds):
        with pytest.raises(ValueError, match=r"a match table alone, without the near pairs .* match with near=0.1"):
            method()
    table = evaluation.near_matches()
    assert type(evaluation).from_table(table).confusion().counts.sum() == 0


def test_nothing_at_all() -> None:
    ground_truth = GroundTruth.from_arrays(image_ids=[], category_ids=[], boxes=[], images=[1], categories=[1])
    for data in ((ground_truth, _nothing()), (_empty(), _nothing())):
        evaluation = evaluate(*data)
        assert math.isnan(evaluation.score_curves().overall.best.f1)
        assert evaluation.confusion().counts.sum() == 0
        assert np.isnan(evaluation.per_image().f1).all()
        assert math.isnan(evaluation.error_kinds().ap)
        assert len(outcomes(evaluation.matches).detections) == 0


def _nothing() -> Detections:
    return Detections.from_arrays(image_ids=[], category_ids=[], boxes=[], scores=[])


def _empty() -> GroundTruth:
    return GroundTruth.from_arrays(image_ids=[], category_ids=[], boxes=[])
