"""Each rule against plain Python on scenes full of ties, and in blocks of any size."""

# mypy: disable-error-code="arg-type"
# Wrong arguments are tested here, and strings from tables.
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import support.strategies  # noqa: F401 - loads the profile
from ioukit import pairwise_ciou, pairwise_giou, pairwise_ioa, pairwise_iou
from ioukit.anchors import anchor_points
from ioukit.assign import (
    Outcome,
    assign_atss,
    assign_dual,
    assign_hungarian,
    assign_max_iou,
    assign_simota,
    assign_task_aligned,
    assign_uniform,
    assign_yolov3,
    assign_yolov5,
)
from ioukit.assign import _pairs as pairs_module
from ioukit.typing import FloatArray
from support import plain_assignment as plain

seeds = st.integers(0, 2**32 - 1)


class Scene(NamedTuple):
    predictions: FloatArray
    scores: FloatArray
    objects: FloatArray
    labels: Any
    points: FloatArray
    strides: FloatArray
    levels: tuple[int, ...]


def random_scene(seed: int) -> Scene:
    """A small image; coordinates on few values, so that overlaps, distances and costs tie."""
    rng = np.random.default_rng(seed)
    side, step = 32, int(rng.choice([1, 2, 4]))
    points, strides, levels = anchor_points((side, side), [4, 8, 16], dtype=np.float64)

    def boxes(count: int) -> FloatArray:
        corners = rng.integers(0, side // step + 1, (count, 2, 2)) * float(step)
        return np.sort(corners, axis=1).reshape(-1, 4)

    count = int(rng.integers(0, 6))
    objects = boxes(count)
    predictions = boxes(len(points))
    if count:
        near = rng.random(len(points)) < 0.5
        predictions[near] = objects[rng.integers(0, count, int(near.sum()))]
    # Whole rows repeat, so that costs tie: sums of the same numbers in another order would only nearly do so.
    rows = rng.random((4 if seed % 2 else 84, 3))
    rows[0] = [0.0, 1.0, 0.5]
    scores = rows[rng.integers(0, len(rows), len(points))]
    return Scene(predictions, scores, objects, rng.integers(0, 3, count), points, strides, levels)


@given(seeds, st.sampled_from(["none", "mmdet", "detectron2"]), st.booleans(), st.sampled_from([0.3, (0.1, 0.3)]))
def test_max_iou(seed: int, low_quality: Any, every_tie: bool, negative: Any) -> None:
    scene = random_scene(seed)
    result = assign_max_iou(
        scene.predictions, scene.objects, positive=0.5, negative=negative, low_quality=low_quality,
        min_positive_iou=0.1, every_tie=every_tie,
    )  # fmt: skip
    target, ignore = plain.max_iou(
        scene.predictions.tolist(), scene.objects.tolist(), 0.5, negative, low_quality, 0.1, every_tie
    )
    assert_array_equal(result.target, target)
    assert_array_equal(result.ignore, ignore)
    check_record(result, scene)


@given(seeds, st.sampled_from([1, 3, 9]))
def test_atss(seed: int, top_k: int) -> None:
    scene = random_scene(seed)
    result = assign_atss(scene.predictions, scene.objects, levels=scene.levels, top_k=top_k)
    expected = plain.atss(scene.predictions.tolist(), scene.objects.tolist(), scene.levels, top_k)
    assert_array_equal(result.target, expected)
    check_record(result, scene)


@given(seeds, st.sampled_from([1, 3, 9]))
def test_atss_takes_ignored_anchors_out_before_it_looks_for_candidates(seed: int, top_k: int) -> None:
    scene = random_scene(seed)
    rng = np.random.default_rng(seed)
    corners = np.sort(rng.integers(0, 33, (int(rng.integers(1, 4)), 2, 2)), axis=1).reshape(-1, 4)
    result = assign_atss(
        scene.predictions, scene.objects, levels=scene.levels, top_k=top_k, ignore_regions=corners, ignore_ioa=0.5
    )
    ignored: Any = (pairwise_ioa(corners, scene.predictions) > 0.5).any(axis=0)
    lists: list[Any] = [scene.predictions.tolist(), scene.objects.tolist(), scene.levels, top_k, ignored.tolist()]
    slow: Any = plain.atss
    assert_array_equal(result.target, slow(*lists))
    assert_array_equal(result.ignore, ignored)
    free = [part.sum() for part in np.split(~ignored, np.cumsum(scene.levels)[:-1])]
    if all(left >= min(top_k, size) for left, size in zip(free, scene.levels, strict=True)):
        assert_array_equal(result.target, slow(*lists, fill=True))  # MMDetection
    check_record(result, scene)
    kept = result.candidates
    assert_array_equal(kept.outcome == Outcome.IGNORED, ignored[kept.predictions])
    everything = assign_atss(scene.predictions, scene.objects, levels=scene.levels, top_k=top_k).candidates
    for gt in range(len(scene.objects)):
        nearest, own = everything.of(gt).predictions, kept.of(gt)
        assert set(own.predictions[own.outcome == Outcome.IGNORED]) == set(nearest[ignored[nearest]])


@given(seeds, st.sampled_from(["mmdet", "yolox"]), st.sampled_from([1, 10]))
def test_simota(seed: int, rule: Any, top_k: int) -> None:
    scene = random_scene(seed)
    result = assign_simota(
        scene.predictions, scene.scores, scene.objects, scene.labels, points=scene.points, strides=scene.strides,
        rule=rule, top_k=top_k,
    )  # fmt: skip
    lists: list[Any] = [np.asarray(part).tolist() for part in scene[:6]]
    slow: Any = plain.simota
    expected = slow(*lists, rule, top_k)
    assert_array_equal(result.target, expected)
    check_record(result, scene)


@given(seeds, st.sampled_from(["tood", "v8"]), st.sampled_from([1, 4, 13]), st.sampled_from([None, 1]))
def test_task_aligned(seed: int, rule: Any, top_k: int, second: int | None) -> None:
    scene = random_scene(seed)
    result = assign_task_aligned(
        scene.predictions, scene.scores, scene.objects, scene.labels, points=scene.points, rule=rule, alpha=1.0,
        beta=6.0, top_k=top_k, second_top_k=second,
    )  # fmt: skip
    ours = pairwise_iou if rule == "tood" else pairwise_ciou
    overlaps = np.maximum(ours(scene.objects, scene.predictions), 0)
    # The power as the code takes it: a cube squared.
    target, scores = plain.task_aligned(
        _Sixth.table(overlaps), scene.scores.tolist(), scene.objects.tolist(), scene.labels.tolist(),
        scene.points.tolist(), rule, 1.0, top_k, second,
    )  # fmt: skip
    assert_array_equal(result.target, target)
    assert_allclose(result.scores, scores, atol=1e-12)
    check_record(result, scene)


class _Sixth(float):
    """A number whose sixth power is rounded as by products."""

    @staticmethod
    def table(values: FloatArray) -> list[list[_Sixth]]:
        return [[_Sixth(value) for value in row] for row in values.tolist()]

    def __pow__(self, power: int, modulo: None = None) -> float:  # type: ignore[override]
        assert power == 6
        cube = float(self) * float(self) * float(self)
        return cube * cube


def check_record(result: Any, scene: Scene) -> None:
    """What holds whatever the rule."""
    assigned = result.target >= 0
    assert not (assigned & result.ignore).any()
    assert_array_equal(np.isnan(result.overlap), ~assigned)
    assert_array_equal(np.sort(result.pairs[:, 1]), np.flatnonzero(assigned))
    assert result.counts.sum() == assigned.sum()
    kept = result.candidates
    assert (np.diff(kept.objects) >= 0).all()
    marked = kept.outcome == 0
    assert_array_equal(result.target[kept.predictions[marked]], kept.objects[marked])
    for gt in range(result.objects):
        words = result.explain(gt)
        assert words.startswith(f"object {gt}: ")
        assert ("no prediction" in words.split("\n")[0]) == (result.counts[gt] == 0)
        assert result.counts[gt] > 0 or "\n- " in words
    assert not result.target.flags.writeable
    assert len(scene.predictions) == len(result)


@given(seeds)
def test_the_size_of_blocks_changes_nothing(seed: int) -> None:
    scene = random_scene(seed)

    def all_rules() -> list[Any]:
        arguments = scene.predictions, scene.scores, scene.objects, scene.labels
        return [
            assign_max_iou(scene.predictions, scene.objects, low_quality="mmdet"),
            assign_atss(scene.predictions, scene.objects, levels=scene.levels),
            assign_simota(*arguments, points=scene.points, strides=scene.strides),
            assign_simota(*arguments, points=scene.points, strides=scene.strides, rule="yolox"),
            assign_task_aligned(*arguments, points=scene.points, rule="tood"),
            *assign_dual(*arguments, points=scene.points, strides=[4, 8, 16]),
        ]

    whole = all_rules()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs_module, "BLOCK", 7)
        parts = all_rules()
    for one, other in zip(whole, parts, strict=True):
        assert_array_equal(one.target, other.target)
        assert_array_equal(one.overlap, other.overlap)
        assert_array_equal(one.candidates.outcome, other.candidates.outcome)


def test_simota_gives_what_there_is_where_few_predictions_take_part() -> None:
    boxes, points = [[0, 0, 10, 10], [0, 0, 10, 10]], [[5, 5], [500, 500]]
    objects = [[0, 0, 10, 10], [0, 0, 10, 11], [900, 900, 910, 910]]
    for rule in ("mmdet", "yolox"):
        result = assign_simota(
            boxes,
            [[0.5], [0.5]],
            objects,
            [0, 0, 0],
            points=points,
            strides=8,
            rule=rule,
        )
        assert result.target.tolist() == [0, -1]
        assert "no prediction" in result.explain(2)
    nothing = assign_simota(boxes, [[0.5], [0.5]], objects, [0, 0, 0], points=[[-500, 0], [500, 500]], strides=8)
    assert nothing.target.tolist() == [-1, -1]
    assert nothing.explain(0) == "object 0: no prediction\n- no centre inside: no prediction lies in its reach"


def test_objectness_multiplies_the_scores_of_yolox() -> None:
    scene = random_scene(7)
    half = np.full(len(scene.points), 0.5)
    where: dict[str, Any] = {"points": scene.points, "strides": scene.strides, "rule": "yolox"}
    one = assign_simota(scene.predictions, scene.scores, scene.objects, scene.labels, objectness=half, **where)
    other = assign_simota(scene.predictions, scene.scores / 2, scene.objects, scene.labels, **where)
    assert_array_equal(one.target, other.target)
    assert_array_equal(one.cost, other.cost)


def test_dual_gives_each_object_one_prediction_of_the_second_head() -> None:
    scene = random_scene(21)
    many, one = assign_dual(scene.predictions, scene.scores, scene.objects, scene.labels, points=scene.points)
    assert len(scene.objects) == 4
    assert (one.counts <= 1).all()
    assert (many.counts >= one.counts).all()
    assert many.counts.max() > 1
    other = assign_dual(
        scene.predictions, scene.scores, scene.objects, scene.labels, points=scene.points,
        one_to_one=(scene.predictions[::-1].copy(), scene.scores),
    )  # fmt: skip
    assert_array_equal(other.one_to_many.target, many.target)
    assert (other.one_to_one.target != one.target).any()


@given(seeds)
def test_hungarian_costs_least(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(0, 4))
    predictions, objects = (np.sort(rng.integers(0, 9, (n, 2, 2)) * 4.0, axis=1).reshape(-1, 4) for n in (5, count))
    scores, labels = rng.random((5, 2)), rng.integers(0, 2, count)
    result = assign_hungarian(predictions, scores, objects, labels, image_size=(32, 32))

    def cxcywh(boxes: FloatArray) -> FloatArray:
        return np.concatenate([(boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]], axis=1) / 32

    cost = -scores[:, labels] - 2 * pairwise_giou(predictions, objects)
    cost += 5 * np.abs(cxcywh(predictions)[:, None] - cxcywh(objects)[None]).sum(axis=2)
    assert (result.counts == 1).all()
    chosen = np.flatnonzero(result.target >= 0)
    assert_allclose(result.cost[chosen], cost[chosen, result.target[chosen]], atol=1e-12)
    assert_allclose(np.nansum(result.cost), plain.least_cost(cost.tolist(), count), atol=1e-9)
    for gt in range(count):
        assert f"object {gt}: 1 prediction (" in result.explain(gt)


@given(seeds)
def test_yolov3(seed: int) -> None:
    rng = np.random.default_rng(seed)
    anchors = [[[8, 8], [8, 16]], [[32, 16], [16, 32], [32, 32]]]
    low = rng.integers(-4, 17, (int(rng.integers(0, 8)), 2)) * 4.0
    objects = np.concatenate([low, low + rng.choice([4, 8, 16, 32], low.shape)], axis=1)
    result = assign_yolov3(objects, anchors=anchors, strides=[8, 16], image_size=(64, 64))
    expected = np.full(len(result), -1)
    for (scale, anchor, row, column), gt in plain.yolov3(objects.tolist(), anchors, [8, 16], 64).items():
        grid = 8 // (scale + 1)
        expected[scale * 2 * 64 + (anchor * grid + row) * grid + column] = gt
    assert_array_equal(result.target, expected)
    outside = ~result.facts["on_image"]
    assert (result.counts[outside] == 0).all()
    for gt in np.flatnonzero(outside).tolist():
        assert "its centre is not on the image" in result.explain(gt)
    for gt in np.flatnonzero(~outside & (result.counts == 0)).tolist():
        assert "which came later, took its cell" in result.explain(gt)


@given(seeds)
def test_yolov5_pairs_are_the_cells_near_the_centre(seed: int) -> None:
    rng = np.random.default_rng(seed)
    low = rng.integers(0, 28, (int(rng.integers(0, 6)), 2)) * 2.0
    objects = np.concatenate([low, np.minimum(low + rng.choice([2, 6, 10, 40], low.shape), 64)], axis=1)
    anchors, strides = [[[6, 6], [12, 12]], [[24, 24]]], [8, 16]
    result = assign_yolov5(objects, anchors=anchors, strides=strides, image_size=(64, 64))
    expected, start = set(), 0
    for sizes, stride in zip(anchors, strides, strict=True):
        cells = 64 // stride
        for number, (aw, ah) in enumerate(sizes):
            for gt, (x1, y1, x2, y2) in enumerate(objects.tolist()):
                w, h = x2 - x1, y2 - y1
                if not (w and h and max(w / aw, aw / w, h / ah, ah / h) < 4):
                    continue
                x, y = (x1 + x2) / 2 / stride, (y1 + y2) / 2 / stride
                spots = {(int(x), int(y))}
                # The half of the cell that the centre is in says which neighbour is near; the middle has none.
                spots |= {(int(x) - 1, int(y))} if x % 1 < 0.5 and x > 1 else set()
                spots |= {(int(x), int(y) - 1)} if y % 1 < 0.5 and y > 1 else set()
                spots |= {(int(x) + 1, int(y))} if x % 1 > 0.5 and x < cells - 1 else set()
                spots |= {(int(x), int(y) + 1)} if y % 1 > 0.5 and y < cells - 1 else set()
                for column, row in spots:
                    place = (number * cells + min(row, cells - 1)) * cells + min(column, cells - 1)
                    expected.add((gt, start + place))
        start += len(sizes) * cells * cells
    assert set(map(tuple, result.pairs.tolist())) == expected
    once = assign_yolov5(objects, anchors=anchors, strides=strides, image_size=(64, 64), duplicates=False)
    assert once.duplicates == 0
    assert len(once.pairs) == len(expected) == len(result.pairs) - result.duplicates
    # Without repeats the order stays, and each target is still an object that learns there.
    assert_array_equal(once.target >= 0, result.target >= 0)


@pytest.mark.parametrize("block", [1, 2**18])
def test_of_equal_objects_the_first_has_the_prediction(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs_module, "BLOCK", block)
    box, points = [[0.0, 0.0, 8.0, 8.0]], [[4.0, 4.0]]
    objects, labels = box * 3, [0, 0, 0]
    results = [
        assign_max_iou(box, objects),
        assign_atss(box, objects, levels=[1]),
        assign_simota(box, [[0.5]], objects, labels, points=points, strides=8.0),
        assign_simota(box, [[0.5]], objects, labels, points=points, strides=8.0, rule="yolox"),
        assign_task_aligned(box, [[0.5]], objects, labels, points=points, rule="tood"),
        assign_task_aligned(box, [[0.5]], objects, labels, points=points, rule="v8"),
    ]
    assert [result.target.tolist() for result in results] == [[0]] * 6
    assert "stolen by object 0 with the same" in results[1].explain(2)


@given(seeds, st.integers(1, 5))
def test_uniform(seed: int, top_k: int) -> None:
    scene = random_scene(seed)
    half = scene.strides.reshape(-1, 1)
    anchors = np.concatenate([scene.points - half, scene.points + half], axis=1)
    found = assign_uniform(scene.predictions, anchors, scene.objects, top_k=top_k)
    by_prediction, by_anchor = (pairwise_iou(boxes, scene.objects) for boxes in (scene.predictions, anchors))
    target, taken = [-1] * len(anchors), set()
    for gt, box in enumerate(scene.objects):
        for boxes in (scene.predictions, anchors):
            distance = [l1(one, box) for one in boxes]
            taken |= {(gt, p) for p in sorted(range(len(boxes)), key=lambda p: (distance[p], p))[:top_k]}
    for gt, p in sorted(taken):
        if by_anchor[p, gt] >= 0.15 and (target[p] < 0 or by_anchor[p, gt] > by_anchor[p, target[p]]):
            target[p] = gt
    mine = {p for _, p in taken}
    ignored = [target[p] < 0 and (p in mine or (by_prediction[p] > 0.7).any()) for p in range(len(anchors))]
    assert_array_equal(found.target, target)
    assert_array_equal(found.ignore, ignored)


def l1(box: Any, other: Any) -> Any:
    one, two = ([(x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1] for x1, y1, x2, y2 in (box, other))
    return sum(abs(a - b) for a, b in zip(one, two, strict=True))


def test_uniform_says_what_it_wants() -> None:
    box = [[0.0, 0, 4, 4]]
    with pytest.raises(ValueError, match=r"anchors must have shape \(1, 4\), one per prediction, got \(2, 4\)"):
        assign_uniform(box, box * 2, box)
    with pytest.raises(ValueError, match="top_k must be at least 1, got 0"):
        assign_uniform(box, box, box, top_k=0)
    with pytest.raises(ValueError, match=r"positive must be within \[0, 1\], got 2"):
        assign_uniform(box, box, box, positive=2)
    assert "1 candidate: below 0.15 (best 0.06)" in assign_uniform(box, [[0, 0, 1, 1]], box).explain(0)
