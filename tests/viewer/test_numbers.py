"""The numbers of what is filtered are those of an evaluation of these images and classes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import support.strategies  # noqa: F401 - the profile
from ioukit import COCO, Detections, GroundTruth, evaluate
from ioukit.evaluation import Evaluation
from ioukit.viewer.answers.collection import Collection, Model
from ioukit.viewer.answers.filters import Filter
from ioukit.viewer.answers.numbers import MOST_CLASSES, NumbersOfFilter, numbers
from viewer.shown_collections import COLLECTIONS, collection, tagged

if TYPE_CHECKING:
    from collections.abc import Callable

Items = list[tuple[str, str]]

# For each filter of images, which images it chooses, by a plain look at each.
IMAGE_FILTERS: dict[str, tuple[Items, Callable[[Collection, int], bool]]] = {
    "none": ([], lambda *_: True),
    "tag": ([("tag", "odd")], lambda shown, at: at in tagged(shown).tags["odd"]),
    "note": ([("noted", "yes")], lambda shown, at: at in tagged(shown).noted),
    "name": ([("text", "1")], lambda shown, at: "1" in shown.image_names[at]),
    "no name": ([("text", "nowhere")], lambda *_: False),
    "column": ([("column.rain..", "2..6")], lambda shown, at: 2 <= shown.values["rain.."].values[at] <= 6),
}
MARK_FILTERS: tuple[Items, ...] = (
    [],
    [("outcome", "fp")],
    [("error", "missed")],
    [("size", "..40")],
    [("score", "0.5..")],
)


def of_images(model: Model, images: list[int], *, score: float = -np.inf) -> Evaluation:
    """The library's evaluation of some images of a model, and of its detections with some score."""
    truth, found = model.evaluation.ground_truth, model.evaluation.detections
    assert truth is not None
    assert found is not None
    return evaluate(truth, found[found.scores >= score], model.evaluation.protocol, images=images)


def images_of(shown: Collection, name: str) -> list[int]:
    """The ids of the images that one of the filters of images chooses."""
    _, passes = IMAGE_FILTERS[name]
    return [number for at, number in enumerate(shown.table.image_ids.tolist()) if passes(shown, at)]


def same(found: float, expected: float) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@given(st.data())
def test_they_are_those_of_an_evaluation_of_the_images(data: st.DataObject) -> None:
    shown = collection(data.draw(st.sampled_from([name for name in COLLECTIONS if name != "no models"])))
    name = data.draw(st.sampled_from(sorted(IMAGE_FILTERS)))
    score, iou = data.draw(st.sampled_from([0.0, 0.3, 0.7])), data.draw(st.sampled_from(shown.protocol.iou_thresholds))
    more = data.draw(st.sampled_from(MARK_FILTERS))
    wanted = [*IMAGE_FILTERS[name][0], *more, ("at_score", str(score)), ("at_iou", repr(iou))]
    found = numbers(shown, Filter.parse(wanted), tagged(shown))
    images = images_of(shown, name)
    assert found.images == len(images)
    for model, shown_numbers in zip(shown.models, found.models, strict=True):
        evaluation = of_images(model, images)
        assert next(iter(shown_numbers.measures)) == evaluation.protocol.main_measure.key
        for key, value in shown_numbers.measures.items():
            np.testing.assert_equal(value, evaluation.summary[key])  # to the last bit
        curve = evaluation.score_curves(iou_threshold=iou).overall
        for name in ("scores", "precision", "recall", "f1"):
            np.testing.assert_array_equal(getattr(shown_numbers.curve, name), getattr(curve, name))
        point, counts = curve.at(score), shown_numbers.counts
        assert (counts.tp, counts.fp, counts.fn) == (
            point.true_positives,
            point.false_positives,
            point.false_negatives,
        )
        for name in ("precision", "recall", "f1"):
            same(getattr(counts, name), getattr(point, name))
    json.dumps(found.to_json(), allow_nan=False)


@given(st.data())
def test_errors_and_confusions_are_those_of_an_evaluation_of_the_images(data: st.DataObject) -> None:
    without = ("no models", "kitti")  # what is left out of KITTI's detections changes what the others are
    shown = collection(data.draw(st.sampled_from([name for name in COLLECTIONS if name not in without])))
    name, score = data.draw(st.sampled_from(sorted(IMAGE_FILTERS))), data.draw(st.sampled_from([0.0, 0.3, 0.7]))
    model = data.draw(st.sampled_from(shown.models))
    wanted = [*IMAGE_FILTERS[name][0], ("at_score", str(score)), ("model", model.name)]
    found = numbers(shown, Filter.parse(wanted), tagged(shown))
    evaluation = of_images(model, images_of(shown, name), score=score)
    iou = shown.protocol.main_iou
    assert found.errors == evaluation.error_kinds(background_threshold=min(0.1, iou)).counts
    matrix = evaluation.confusion(iou_threshold=iou, score_threshold=score)
    true, predicted = np.nonzero(matrix.counts)
    np.testing.assert_array_equal(found.confusions, np.column_stack([true, predicted, matrix.counts[true, predicted]]))


@pytest.mark.parametrize("name", ["two models, hard names", "lvis", "crowdhuman", "open_images"])
def test_with_classes_they_are_the_mean_over_these(name: str) -> None:
    shown = collection(name)
    chosen = [place for place in range(len(shown.categories)) if place % 3 == 0]
    keys = [("class", shown.class_keys[place]) for place in chosen]
    found = numbers(shown, Filter.parse([*keys, ("at_score", "0.3")]), tagged(shown))
    evaluation = of_images(shown.models[0], shown.table.image_ids.tolist())
    for key, value in found.models[0].measures.items():
        of_classes = np.array([evaluation.per_class[place].summary[key] for place in chosen])
        same(value, float(np.nanmean(of_classes)) if not np.isnan(of_classes).all() else np.nan)
    curves, counts = evaluation.score_curves().per_class, found.models[0].counts
    points = [curves[place].at(0.3) for place in chosen]
    assert counts.tp == sum(point.true_positives for point in points)
    assert counts.fp == sum(point.false_positives for point in points)
    assert counts.fn == sum(point.false_negatives for point in points)
    curve = found.models[0].curve
    assert curve is not None
    assert curve.num_ground_truth == counts.tp + counts.fn
    matrix = evaluation.confusion(iou_threshold=shown.protocol.main_iou, score_threshold=0.3).counts
    expected = [
        [true, predicted, matrix[true, predicted]]
        for true, predicted in zip(*map(np.ndarray.tolist, np.nonzero(matrix)), strict=True)
        if {true, predicted} & {*chosen}
    ]
    np.testing.assert_array_equal(found.confusions, expected)


def many_classes(count: int) -> NumbersOfFilter:
    """Objects of all classes; those of each class but the last are detected as the next one, twice those of class 3."""
    classes = np.repeat(np.arange(count), np.where(np.arange(count) == 3, 2, 1))
    images = np.arange(len(classes))
    boxes = np.tile([0.0, 0, 9, 9], (len(classes), 1))
    truth = GroundTruth.from_arrays(
        image_ids=images, category_ids=classes, boxes=boxes, categories={k: f"c{k}" for k in range(count)}
    )
    other = np.minimum(classes + 1, count - 1)
    found = Detections.from_arrays(image_ids=images, category_ids=other, boxes=boxes, scores=np.ones(len(classes)))
    return numbers(Collection.of(truth, {"model": evaluate(truth, found, COCO)}), Filter(at_score=0.5))


def test_few_classes_are_a_matrix_and_many_a_list_by_how_often() -> None:
    few = many_classes(MOST_CLASSES).to_json()
    assert few["classes"] == [*range(MOST_CLASSES)]
    assert [3, 4, 2] in few["cells"]
    assert [MOST_CLASSES - 1, MOST_CLASSES - 1, 1] in few["cells"]
    many = many_classes(MOST_CLASSES + 1).to_json()
    assert many["classes"] is None
    assert many["cells"][0] == [3, 4, 2]
    assert many["cells"][1:3] == [[0, 1, 1], [1, 2, 1]]
    assert all(true != predicted for true, predicted, _ in many["cells"])


def test_without_detections_there_are_none() -> None:
    with pytest.raises(ValueError, match="numbers need detections: there is ground truth alone"):
        numbers(collection("no models"), Filter())
