"""The record, its words, its arrays, and the errors of all rules."""

# mypy: disable-error-code="arg-type"
# Wrong arguments are tested here, and strings from tables.
from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ioukit import Boxes
from ioukit.assign import (
    assign_atss,
    assign_grid,
    assign_hungarian,
    assign_max_iou,
    assign_overlaps,
    assign_simota,
    assign_task_aligned,
    assign_yolov3,
    assign_yolov5,
)
from support.paths import ROOT

ANCHORS = [[0, 0, 10, 10], [10, 10, 20, 20], [5, 5, 15, 15], [32, 32, 38, 42]]
OBJECTS = [[0, 0, 10, 9], [0, 10, 10, 19]]
GRID: dict[str, Any] = {"anchors": [[[16, 16]]], "strides": [16], "image_size": (64, 64)}
DECODE = json.loads((ROOT / "tests" / "data" / "anchors" / "yolo_decode.json").read_text(encoding="utf-8"))


def test_tiny_objects_are_padded_by_the_strides_of_v8() -> None:
    given: dict[str, Any] = {"points": [[4.0, 4.0]], "rule": "v8"}
    box = [[5, 5, 7, 7]]
    bare = assign_task_aligned(box, [[0.9]], box, [0], **given)
    assert bare.explain(0) == "object 0: no prediction\n- no centre inside: no prediction lies in its reach"
    assert assign_task_aligned(box, [[0.9]], box, [0], strides=[8, 16], **given).target.tolist() == [0]


def test_low_quality_gives_nothing_to_what_overlaps_nothing() -> None:
    """The originals give it every prediction of IoU 0."""
    for low_quality in ("mmdet", "detectron2"):
        result = assign_max_iou(ANCHORS, [[100, 100, 110, 110]], low_quality=low_quality)
        assert result.target.tolist() == [-1] * 4


def test_cells_of_the_published_tables() -> None:
    by_place: dict[tuple[float, ...], Any] = {}
    for row in DECODE["cell_assignment"]:
        (x, y), stride = row["centre_px"], row["stride"]
        grid: dict[str, Any] = {"anchors": [[[6, 6]]], "strides": [stride], "image_size": (416, 416)}
        box = Boxes([[x, y, 6, 6]], "cxcywh", dtype=np.float64)
        cells = 416 // stride
        three = assign_yolov3(box, **grid)
        assert [three.pairs[0, 1] % cells, three.pairs[0, 1] // cells] == row["yolov3_cell"]
        five = assign_yolov5(box, **grid)
        assert [[p % cells, p // cells] for p in five.pairs[:, 1].tolist()] == row["yolov5_cells"]
        assert five.duplicates == len(row["yolov5_cells"]) - len({tuple(cell) for cell in row["yolov5_cells"]})
        by_place[x, y, stride] = five
    assert by_place[96.0, 64.0, 8].duplicates == 2


@pytest.mark.parametrize("row", DECODE["anchor_wh_match"]["rows"], ids=lambda row: str(row["gt_wh"]))
def test_shapes_of_the_published_tables(row: Any) -> None:
    sizes = DECODE["anchor_wh_match"]["anchors"]
    grid: dict[str, Any] = {
        "anchors": [sizes[:3], sizes[3:6], sizes[6:]], "strides": [8, 16, 32], "image_size": (416, 416),
    }  # fmt: skip
    box = Boxes([[201, 203, *row["gt_wh"]]], "cxcywh", dtype=np.float64)
    starts = np.cumsum([0, *(3 * n * n for n in (52, 26, 13))])

    def anchors_of(places: Any) -> list[int]:
        scale = np.searchsorted(starts, places, "right") - 1
        cells = np.array([52, 26, 13])[scale] ** 2
        return sorted(set((scale * 3 + (places - starts[scale]) // cells).tolist()))

    three = assign_yolov3(box, **grid)
    assert len(three) == DECODE["n_predictions"]["416_3anchors"]
    assert anchors_of(three.pairs[:, 1]) == [row["best"]]
    assert three.facts["best"] == pytest.approx(max(row["wh_iou"]), abs=1e-12)
    five = assign_yolov5(box, **grid)
    assert anchors_of(five.pairs[:, 1]) == row["yolov5_ratio_lt4"]
    assert five.facts["ratio"] == pytest.approx(min(row["max_side_ratio"]))


def test_predictions_near_an_object_are_ignored_by_yolov3() -> None:
    box = [[8.0, 8, 24, 24]]
    predictions = np.zeros((16, 4))
    predictions[3] = [8, 8, 24, 23]
    predictions[4] = [8, 8, 24, 16]
    result = assign_yolov3(box, predictions=predictions, **GRID)
    assert np.flatnonzero(result.ignore).tolist() == [3]  # above 0.5, and 0.5 is not
    assert result.target[5] == 0
    extra = assign_yolov3(box, anchors=[[[16, 16], [16, 20]]], strides=[16], image_size=(64, 64), extra_iou=0.7)
    assert extra.counts.tolist() == [2]


def test_regions_are_ignored_by_atss() -> None:
    crowd = [[30, 30, 40, 45]]
    result = assign_atss(ANCHORS, OBJECTS, levels=[4], ignore_regions=crowd)
    assert np.flatnonzero(result.ignore).tolist() == [3]
    everything = assign_atss(ANCHORS, OBJECTS, levels=[4], ignore_regions=[[-100, -100, 100, 100]])
    assert everything.ignore.all()
    assert (everything.target == -1).all()


def test_hungarian_repeats_and_focal() -> None:
    boxes = [[0, 0, 4, 4], [0, 0, 5, 5], [8, 8, 9, 9]]
    twice = assign_hungarian(boxes, [[0.9], [0.8], [0.7]], [[0, 0, 4, 4]], [0], image_size=(10, 10), repeats=2)
    assert twice.target.tolist() == [0, 0, -1]
    # Boxes alike, so that the class decides: the focal cost, like the probability, prefers the surer one.
    focal = assign_hungarian(
        [boxes[0]] * 2, [[0.2], [0.6]], [[0, 0, 4, 4]], [0], image_size=(10, 10), classification="focal"
    )
    assert focal.target.tolist() == [-1, 0]
    expected = -0.25 * 0.4**2 * np.log(0.6 + 1e-8) + 0.75 * 0.6**2 * np.log(0.4 + 1e-8)
    assert focal.cost[1] == pytest.approx(expected - 2)
    ready = assign_hungarian(
        [boxes[0]] * 2, [[0.2], [0.6]], [[0, 0, 4, 4]], [0], image_size=(10, 10), costs="deformable_detr"
    )
    assert ready.cost[1] == pytest.approx(2 * expected - 2)
    normalized = Boxes([[0, 0, 0.4, 0.4]], normalized=True)
    assert assign_hungarian(normalized, [[0.9]], normalized, [0]).target.tolist() == [0]
    with pytest.raises(ValueError, match="image_size is needed: the boxes are in pixels"):
        assign_hungarian(Boxes(boxes), [[0.9]] * 3, Boxes(boxes), [0] * 3)
    with pytest.raises(ValueError, match="leave image_size out"):
        assign_hungarian(normalized, [[0.9]], normalized, [0], image_size=(10, 10))


@pytest.mark.parametrize("objects", [[], np.empty((0, 4)), np.empty((0, 4), np.float32)])
def test_no_objects(objects: Any) -> None:
    predictions = np.array(ANCHORS, np.float32)
    scores, points = np.full((4, 2), 0.5, np.float32), predictions[:, :2]
    results = [
        assign_max_iou(predictions, objects, low_quality="mmdet"),
        assign_atss(predictions, objects, levels=[4]),
        assign_simota(predictions, scores, objects, [], points=points, strides=8),
        assign_task_aligned(predictions, scores, objects, [], points=points),
        assign_task_aligned(predictions, scores, objects, [], points=points, rule="tood"),
        assign_grid(predictions, objects, [1, 1, 0, 0]),
        assign_overlaps(np.empty((0, 4))),
    ]
    for result in results:
        assert result.target.tolist() == [-1] * 4
        assert not result.ignore.any()
        assert result.pairs.shape == (0, 2)
        assert result.overlap.dtype in (np.float32, np.float64)
    assert assign_yolov3(objects, **GRID).counts.tolist() == []
    assert assign_yolov5(objects, **GRID).pairs.shape == (0, 2)


def test_no_predictions() -> None:
    none = np.empty((0, 4))
    assert len(assign_max_iou(none, OBJECTS, low_quality="mmdet")) == 0
    assert len(assign_atss(none, OBJECTS, levels=[0, 0])) == 0
    scores, points = np.empty((0, 3)), np.empty((0, 2))
    for rule in ("mmdet", "yolox"):
        result = assign_simota(none, scores, OBJECTS, [0, 1], points=points, strides=8, rule=rule)
        assert result.unassigned.tolist() == [0, 1]
    for which in ("tood", "v8"):
        result = assign_task_aligned(none, scores, OBJECTS, [0, 1], points=points, rule=which)
        assert result.unassigned.tolist() == [0, 1]


def test_the_record_is_frozen() -> None:
    result = assign_max_iou(ANCHORS, OBJECTS)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.objects = 3  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        result.target[0] = 1
    with pytest.raises(TypeError):
        result.facts["best"] = np.zeros(1)  # type: ignore[index]
    with pytest.raises(ValueError, match="read-only"):
        result.candidates.overlap[0] = 1
    with pytest.raises(ValueError, match="same predictions and objects compare, got 4 and 3 predictions"):
        result.compare(assign_max_iou(ANCHORS[:3], OBJECTS))
    assert repr(result.compare(result)) == "<AssignmentChange: 0 predictions differ>"


def check_same(ours: Any, other: Any) -> None:
    for name in ("target", "ignore", "overlap", "cost", "metric", "scores", "pairs"):
        one, two = getattr(ours, name), getattr(other, name)
        assert (one is None) == (two is None)
        if one is not None:
            assert_array_equal(one, np.asarray(two))


def all_rules(kind: Any) -> list[Any]:
    rng = np.random.default_rng(3)
    low = rng.uniform(0, 50, (40, 2))
    boxes = np.concatenate([low, low + rng.uniform(4, 30, (40, 2))], axis=1).astype(np.float32)
    predictions, objects = kind(boxes), kind(boxes[:4] + 1)
    scores, labels = kind(rng.random((40, 3), np.float32)), kind(np.array([0, 1, 2, 0]))
    points = kind((boxes[:, :2] + boxes[:, 2:]) / 2)
    arguments = predictions, scores, objects, labels
    grid = {**GRID, "anchors": [kind(np.array([[16.0, 16.0], [8.0, 8.0]], np.float32))]}
    return [
        assign_max_iou(predictions, objects, low_quality="mmdet"),
        assign_atss(predictions, objects, levels=[30, 10]),
        assign_simota(*arguments, points=points, strides=kind(np.full(40, 8.0, np.float32))),
        assign_task_aligned(*arguments, points=points),
        assign_yolov3(objects, **grid),
        assign_yolov5(objects, **grid),
    ]


def test_tensors_come_back_as_tensors() -> None:
    torch = pytest.importorskip("torch")
    for ours, other in zip(all_rules(lambda x: x), all_rules(torch.from_numpy), strict=True):
        assert isinstance(other.target, torch.Tensor)
        assert other.target.dtype == torch.int64
        assert other.ignore.dtype == torch.bool
        assert isinstance(other.positive, torch.Tensor)
        check_same(ours, other)
        assert repr(ours) == repr(other)
        assert [ours.explain(k) for k in range(4)] == [other.explain(k) for k in range(4)]
        assert len(other.compare(ours).predictions) == 0
    grad = torch.tensor(ANCHORS, dtype=torch.float32, requires_grad=True)
    assert assign_max_iou(grad, torch.tensor(OBJECTS)).target.tolist() == [0, -1, -1, -1]


def test_jax_arrays_come_back_as_such() -> None:
    jax = pytest.importorskip("jax")
    for ours, other in zip(all_rules(lambda x: x), all_rules(jax.numpy.asarray), strict=True):
        assert isinstance(other.target, jax.Array)
        check_same(ours, other)
    with pytest.raises(TypeError, match="predictions has no values to look at"):
        jax.jit(lambda boxes: assign_max_iou(boxes, boxes).target)(jax.numpy.asarray(ANCHORS, dtype="float32"))


POINTS = [[5, 5], [15, 15], [10, 10], [35, 37]]
SCORES = [[0.5, 0.5]] * 4


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: assign_max_iou(ANCHORS, [[0, 0, 5]]), r"objects must have shape \(N, 4\), got \(1, 3\)"),
        (lambda: assign_max_iou([[0, 0, float("nan"), 1]], OBJECTS), r"predictions\[0\] is .* must be finite"),
        (lambda: assign_max_iou(ANCHORS, OBJECTS, positive=1.5), r"positive must be within \[0, 1\], got 1.5"),
        (lambda: assign_max_iou(ANCHORS, OBJECTS, negative=0.6), "negative must be a threshold, or an interval"),
        (lambda: assign_max_iou(ANCHORS, OBJECTS, negative=(0.3, 0.1)), "negative must be a threshold"),
        (lambda: assign_max_iou(ANCHORS, OBJECTS, low_quality="x"), "unknown low_quality 'x'; choose from none, mmdet"),
        (lambda: assign_max_iou(ANCHORS, OBJECTS, format="yxyx"), "unknown format 'yxyx'"),
        (lambda: assign_max_iou(Boxes(ANCHORS), OBJECTS, format="xywh"), "predictions are Boxes in 'xyxy'"),
        (lambda: assign_max_iou(Boxes([[0, 0, 1, 1]]), Boxes([[0, 0, 1, 1]], normalized=True)), "do not mix"),
        (lambda: assign_max_iou(ANCHORS, OBJECTS, ignore_regions=OBJECTS, ignore_of="x"), "unknown ignore_of 'x'"),
        (lambda: assign_overlaps([[1.5]]), r"overlaps must be within \[0, 1\], got 1.5 to 1.5"),
        (lambda: assign_grid(ANCHORS, OBJECTS, [1, 0]), r"responsible must have shape \(4,\)"),
        (lambda: assign_atss(ANCHORS, OBJECTS, levels=[3]), "levels must add up to the 4 anchors, got .* 3"),
        (lambda: assign_atss(ANCHORS, OBJECTS, levels=[4], top_k=0), "top_k must be at least 1"),
        (lambda: assign_atss(ANCHORS, OBJECTS, levels=[4], margin=-1), "margin must not be negative"),
        (lambda: assign_simota(ANCHORS, SCORES, OBJECTS, [0, 2], points=POINTS, strides=8),
         r"labels\[1\] is 2, but scores has 2 classes"),
        (lambda: assign_simota(ANCHORS, SCORES, OBJECTS, [0], points=POINTS, strides=8),
         r"labels must have shape \(2,\)"),
        (lambda: assign_simota(ANCHORS, SCORES, OBJECTS, [0.5, 1], points=POINTS, strides=8),
         "labels must be integers"),
        (lambda: assign_simota(ANCHORS, [[2.0, 0]] * 4, OBJECTS, [0, 1], points=POINTS, strides=8),
         r"scores\[0, 0\] is 2: scores are probabilities"),
        (lambda: assign_simota(ANCHORS, [[0.5, np.nan]] * 4, OBJECTS, [0, 1], points=POINTS, strides=8),
         r"scores\[0, 1\] is nan: every value must be finite"),
        (lambda: assign_simota(ANCHORS, SCORES[:3], OBJECTS, [0, 1], points=POINTS, strides=8),
         r"scores must have shape \(4, C\)"),
        (lambda: assign_simota(ANCHORS, SCORES, OBJECTS, [0, 1], points=POINTS[:3], strides=8),
         r"points must have shape \(4, 2\)"),
        (lambda: assign_simota(ANCHORS, SCORES, OBJECTS, [0, 1], points=POINTS, strides=[8, 8, 8, 0]),
         "strides must be positive, got 0"),
        (lambda: assign_simota(ANCHORS, SCORES, OBJECTS, [0, 1], points=POINTS, strides=8, rule="x"),
         "unknown rule 'x'"),
        (lambda: assign_simota(ANCHORS, SCORES, OBJECTS, [0, 1], points=POINTS, strides=8, top_k=0), "top_k must be"),
        (lambda: assign_simota(ANCHORS, SCORES, OBJECTS, [0, 1], points=POINTS, strides=8, objectness=[1, 1, 1, 1]),
         "objectness is for rule='yolox' alone"),
        (lambda: assign_task_aligned(ANCHORS, SCORES, OBJECTS, [0, 1], points=POINTS, rule="x"), "unknown rule 'x'"),
        (lambda: assign_task_aligned(ANCHORS, SCORES, OBJECTS, [0, 1], points=POINTS, rule="tood", strides=[8]),
         "strides are for rule='v8' alone"),
        (lambda: assign_task_aligned(ANCHORS, SCORES, OBJECTS, [0, 1], points=POINTS, alpha=-1),
         "must not be negative"),
        (lambda: assign_task_aligned(ANCHORS, SCORES, OBJECTS, [0, 1], points=POINTS, second_top_k=0),
         "second_top_k must"),
        (lambda: assign_hungarian(ANCHORS, SCORES, OBJECTS, [0, 1], image_size=(9, 9), repeats=0), "repeats must be"),
        (lambda: assign_hungarian(ANCHORS, SCORES, OBJECTS, [0, 1], image_size=(9, 0)), "height must be positive"),
        (lambda: assign_hungarian(ANCHORS, SCORES, OBJECTS, [0, 1], image_size=(9, 9), classification="x"),
         "unknown classification 'x'"),
        (lambda: assign_hungarian(ANCHORS, SCORES, OBJECTS, [0, 1], image_size=(9, 9), costs="x"),
         "unknown costs 'x'; choose from detr, deformable_detr"),
        (lambda: assign_yolov3(OBJECTS, anchors=[[[1, 1]]], strides=[8, 16], image_size=(64, 64)),
         "one each per scale"),
        (lambda: assign_yolov3(OBJECTS, anchors=[[[1, 1]]], strides=[7], image_size=(64, 64)),
         r"strides\[0\] is 7, which does not divide an image of 64 x 64"),
        (lambda: assign_yolov3(OBJECTS, anchors=[[[1, 0]]], strides=[8], image_size=(64, 64)),
         r"anchors\[0\] must be \(A, 2\) positive"),
        (lambda: assign_yolov3(OBJECTS, predictions=ANCHORS, **GRID), r"predictions must have shape \(16, 4\)"),
        (lambda: assign_yolov3(OBJECTS, predictions=[[0, 0, 1, 1]] * 16, ignore_threshold=2, **GRID),
         "ignore_threshold"),
        (lambda: assign_yolov5(OBJECTS, ratio=1, **GRID), "ratio must be above 1"),
        (lambda: assign_yolov5(OBJECTS, offset=1, **GRID), "offset must be within"),
    ],
)  # fmt: skip
def test_errors(call: Any, says: str) -> None:
    with pytest.raises((ValueError, TypeError), match=says):
        call()


def test_a_diverged_box_is_named_by_hungarian() -> None:
    diverged = np.array([[0, 0, 10, 10], [0, 0, np.inf, 10]])
    with pytest.raises(ValueError, match=r"predictions\[1\] is .* every coordinate must be finite"):
        assign_hungarian(diverged, [[0.5]] * 2, [[0, 0, 10, 10]], [0], image_size=(20, 20))
    with (
        pytest.raises(ValueError, match=r"the cost of predictions\[1\] and objects\[0\] is (nan|inf)"),
        np.errstate(all="ignore"),
    ):
        assign_hungarian(diverged, [[0.5]] * 2, [[0.0, 0, 10, 10]], [0], image_size=(20, 20), check=False)
