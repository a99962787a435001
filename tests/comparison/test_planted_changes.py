"""A change that is made on purpose is named: as the kind of error, the class, the images."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import numpy.typing as npt
import pytest

from ioukit import Detections, Evaluation, GroundTruth, evaluate
from ioukit.comparison import ObjectChange, changes, compare_models, parts
from support.planted_scenes import drawn, real

SETS = ("yolact", "val2014", "crowd", "aerial", "many classes")


@functools.cache
def data(name: str) -> tuple[GroundTruth, Detections, Evaluation]:
    truth, found = real()[name] if name in ("yolact", "val2014") else drawn(name)
    return truth, found, evaluate(truth, found)


def with_boxes(found: Detections, boxes: npt.NDArray[np.float64]) -> Detections:
    return Detections.from_arrays(
        image_ids=found.image_ids, category_ids=found.category_ids, boxes=boxes, scores=found.scores
    )


@pytest.mark.parametrize("name", SETS)
def test_shifted_boxes_are_errors_of_localisation(name: str) -> None:
    truth, found, a = data(name)
    shifted = np.random.default_rng(3).random(len(found)) < 0.1
    boxes = found.boxes.copy()
    boxes[shifted, 0] += 0.3 * boxes[shifted, 2]
    b = evaluate(truth, with_boxes(found, boxes))
    split = parts(a, b)
    assert split.kinds is not None
    assert split.difference < 0
    assert max(split.kinds, key=lambda kind: abs((split.kinds or {})[kind])) == "localisation"
    assert split.kinds["localisation"] == pytest.approx(split.difference, rel=0.25)
    # What changed is on the images with shifted boxes; it is exactly 0 on the others.
    touched = np.isin(split.image_ids, found.image_ids[shifted])
    assert not split.images[~touched].any()
    assert np.median(split.images[touched]) < 0

    changed = changes(a, b, score_threshold=0.0)
    worse = np.isin(changed.objects.kind, [ObjectChange.WORSE_PLACED, ObjectChange.LOST, ObjectChange.OTHER_CLASS_NOW])
    better = np.isin(changed.objects.kind, [ObjectChange.BETTER_PLACED, ObjectChange.FOUND])
    assert worse.sum() > 3 * better.sum()
    rows = a.matches.detections.row[changed.objects.detection_a[worse]]
    assert shifted[rows].mean() > 0.9


@pytest.mark.parametrize("name", SETS)
def test_a_dropped_class_is_the_class_with_the_largest_part(name: str) -> None:
    truth, found, a = data(name)
    ap = np.array([one.summary["AP"] for one in a.per_class])
    dropped = int(np.nanargmax(ap))
    number = a.matches.categories.ids[dropped]
    b = evaluate(truth, found[found.category_ids != number])
    split = parts(a, b)
    assert split.largest_classes(1).tolist() == [dropped]
    assert split.classes[dropped] == pytest.approx(split.difference, abs=1e-12)
    assert not np.delete(split.classes, dropped).any()
    assert split.kinds is not None
    assert split.kinds["missed"] < 0.8 * split.difference  # the rest were seen as another class, too
    changed = changes(a, b, score_threshold=0.0)
    counts = changed.by_class()
    assert np.flatnonzero(counts["lost"] + counts["other_class_now"]).tolist() == [dropped]
    assert changed.counts["found"] == changed.counts["new_false_positive"] == 0


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("harm", ["no detections", "false alarms", "lower scores"])
def test_a_harmed_scene_has_the_images_with_the_largest_parts(name: str, harm: str) -> None:
    truth, found, a = data(name)
    with_objects = np.unique(truth.image_ids[np.isin(truth.image_ids, found.image_ids)])
    scene = with_objects[:: max(len(with_objects) // 8, 1)][:8]
    inside = np.isin(found.image_ids, scene)
    scores, images, labels, boxes = found.scores.copy(), found.image_ids, found.category_ids, found.boxes
    if harm == "no detections":
        kept = ~inside
        images, labels, boxes, scores = images[kept], labels[kept], boxes[kept], scores[kept]
    elif harm == "false alarms":  # ten boxes in a corner for every class of the image, at high scores
        pairs = np.unique(np.stack([truth.image_ids, truth.category_ids], 1)[np.isin(truth.image_ids, scene)], axis=0)
        pairs = pairs.repeat(10, axis=0)
        images, labels = np.append(images, pairs[:, 0]), np.append(labels, pairs[:, 1])
        corner = np.tile([-500.0, -500.0, 5.0, 5.0], (len(pairs), 1)) + np.arange(len(pairs))[:, None] * [9, 0, 0, 0]
        boxes, scores = np.concatenate([boxes, corner]), np.append(scores, np.full(len(pairs), scores.max()))
    else:
        scores[inside] *= 0.02
    b = evaluate(truth, Detections.from_arrays(image_ids=images, category_ids=labels, boxes=boxes, scores=scores))
    split = parts(a, b)
    assert split.difference < 0
    inside_part = split.images[np.isin(split.image_ids, scene)]
    outside_part = split.images[~np.isin(split.image_ids, scene)]
    assert inside_part.sum() == pytest.approx(split.difference, rel=0.05)
    assert np.abs(outside_part).max(initial=0) < 0.2 * np.abs(inside_part).max()
    assert set(split.image_ids[split.largest_images(3, sign=-1)].tolist()) <= set(scene.tolist())
    if harm == "false alarms":
        assert split.false_positives.sum() == pytest.approx(split.difference, rel=0.05)
        assert split.kinds is not None
        assert split.kinds["background"] == pytest.approx(split.difference, rel=0.05)


@pytest.mark.parametrize("name", SETS)
def test_other_scores_of_the_same_boxes_are_scores_alone(name: str) -> None:
    truth, found, a = data(name)
    order = np.random.default_rng(2).permutation(len(found))
    noise = np.random.default_rng(5).normal(0, 0.15, len(found))
    scores = np.clip(found.scores + noise, 0.01, 1)
    moved = Detections.from_arrays(
        image_ids=found.image_ids, category_ids=found.category_ids, boxes=found.boxes, scores=scores
    )
    b = evaluate(truth, moved.take(order))
    split = parts(a, b)
    assert split.kinds is not None
    assert split.difference
    assert split.kinds["score"] == pytest.approx(split.difference)
    assert not any(part for kind, part in split.kinds.items() if kind != "score")
    other = compare_models({"a": a, "b": b}, replicates=20, permutations=20, per_class=False)
    assert "Both have the same boxes: only scores differ." in other.text()
    same = compare_models({"a": b, "b": evaluate(truth, moved)}, replicates=20, permutations=20, per_class=False)
    assert "only scores differ" not in same.text(), "only the order of those that were cut to 0.01 and 1"
    ties = dataclasses.replace(moved, scores=np.round(moved.scores, 1))
    tied = {"a": evaluate(truth, ties), "b": evaluate(truth, ties.take(order))}
    text = " ".join(compare_models(tied, replicates=20, permutations=20, per_class=False).text().split())
    assert "Both have the same boxes and scores: only their order differs, which decides between equal" in text
    c = evaluate(truth, moved[np.arange(len(found)) > 0])
    assert "same boxes" not in compare_models({"a": a, "c": c}, replicates=20, permutations=20, per_class=False).text()
