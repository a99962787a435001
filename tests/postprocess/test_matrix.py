"""Matrix, Fast and Cluster NMS over pairs are those over tables."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import ioukit
from support import fusion_oracles as oracle
from support.paths import DATA, load

CASES = load(DATA / "postprocess" / "nms.json")
FAMILY = CASES["family"]
BOXES, SCORES = np.array(FAMILY["boxes"]), np.array(FAMILY["scores"])
seeds = pytest.mark.parametrize("seed", range(10))


def in_place(keep: Any, scores: Any, count: int) -> Any:
    """The scores where the boxes stood."""
    placed = np.full(count, np.nan)
    placed[keep] = scores
    return placed


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("gaussian_sigma2_rescored", {}),
        ("linear_rescored", {"kernel": "linear"}),
        ("gaussian_sigma2_class_aware", {"labels": FAMILY["labels"]}),
    ],
)
def test_matrix_nms_of_the_family(name: str, options: dict[str, Any]) -> None:
    keep, scores = ioukit.matrix_nms(BOXES, SCORES, **options)
    assert_allclose(in_place(keep, scores, len(BOXES)), FAMILY[f"matrix_nms_{name}"], rtol=1e-12)


@seeds
@pytest.mark.parametrize("kernel", ["gaussian", "linear"])
def test_matrix_nms_is_the_table(seed: int, kernel: Any) -> None:
    boxes, scores, labels = oracle.crowd(seed, 50)
    for kinds in (None, labels):
        keep, lowered = ioukit.matrix_nms(boxes, scores, kernel=kernel, labels=kinds)
        plain = None if kinds is None else kinds.tolist()
        expected = oracle.matrix(boxes.tolist(), scores.tolist(), kernel=kernel, sigma=2.0, labels=plain)
        assert_allclose(in_place(keep, lowered, len(boxes)), expected, rtol=1e-12, atol=1e-300)
        assert (np.diff(lowered) <= 0).all()
        least = float(np.median(lowered))
        fewer, best = ioukit.matrix_nms(boxes, scores, kernel=kernel, labels=kinds, score_threshold=least)
        assert_array_equal(fewer, keep[lowered >= least])
        assert_array_equal(best, lowered[lowered >= least])
        assert_array_equal(ioukit.matrix_nms(boxes, scores, kernel=kernel, labels=kinds, max_keep=7)[0], keep[:7])


def test_a_large_sigma_overflows_nothing() -> None:
    keep, scores = ioukit.matrix_nms(BOXES, SCORES, sigma=1e6)
    assert np.isfinite(scores).all()
    assert scores[0] == SCORES.max()
    assert len(keep) == len(BOXES)


def test_equal_boxes_divide_by_nothing() -> None:
    boxes = [[0, 0, 10, 10], [0, 0, 10, 10], [0, 0, 10, 10], [0, 0, 10, 5]]
    keep, scores = ioukit.matrix_nms(boxes, [0.9, 0.8, 0.7, 0.6], kernel="linear")
    assert_array_equal(in_place(keep, scores, 4), [0.9, 0.0, 0.0, 0.3])


@pytest.mark.parametrize("threshold", FAMILY["fast_nms"])
def test_fast_nms_of_the_family(threshold: str) -> None:
    expected = FAMILY["fast_nms"][threshold]
    assert ioukit.fast_nms(BOXES, SCORES, iou_threshold=float(threshold)).tolist() == expected


def test_the_chain_and_the_edge_of_the_threshold() -> None:
    cases = {case["id"]: case for case in CASES["policy"]["cases"]}
    chain = cases["transitive_suppression"]
    given, options = (chain["boxes"], chain["scores"]), {"iou_threshold": chain["iou_threshold"]}
    assert ioukit.fast_nms(*given, **options).tolist() == chain["fast_nms_keep"]
    assert ioukit.cluster_nms(*given, **options).keep.tolist() == chain["greedy_keep"]
    assert ioukit.cluster_nms(*given, iterations=1, **options).keep.tolist() == chain["fast_nms_keep"]
    edge = cases["iou_equals_threshold_exact"]
    assert ioukit.fast_nms(edge["boxes"], edge["scores"], iou_threshold=0.5).tolist() == edge["strict_gt_keep"]
    third = cases["iou_equals_threshold"]  # in float32 too the threshold is rounded as the overlap is
    for dtype in (np.float32, np.float64):
        boxes = np.array(third["boxes"], dtype)
        assert ioukit.fast_nms(boxes, third["scores"], iou_threshold=1 / 3).tolist() == third["strict_gt_keep"]


@seeds
@pytest.mark.parametrize("threshold", [0.0, 0.1, 0.5, 0.8, 1.0, 2.0])
def test_fast_and_cluster_nms_are_the_loops(seed: int, threshold: float) -> None:
    boxes, scores, labels = oracle.crowd(seed, 60)
    plain = boxes.tolist(), scores.tolist()
    for kinds in (None, labels):
        same = None if kinds is None else kinds.tolist()
        options: dict[str, Any] = {"iou_threshold": threshold, "labels": kinds}
        assert ioukit.fast_nms(boxes, scores, **options).tolist() == oracle.fast(*plain, threshold, same)
        found = ioukit.cluster_nms(boxes, scores, **options)
        assert found.keep.tolist() == oracle.greedy(*plain, threshold, same)  # the fixpoint
        assert_array_equal(found.boxes, boxes[found.keep])
        assert_array_equal(found.scores, scores[found.keep])
        assert set(ioukit.fast_nms(boxes, scores, **options)) <= set(found.keep)
    for rounds in (1, 2, 3):
        found = ioukit.cluster_nms(boxes, scores, iou_threshold=threshold, iterations=rounds)
        assert found.keep.tolist() == oracle.cluster(*plain, threshold, rounds)


@seeds
@pytest.mark.parametrize("variant", ["score_penalty", "score_penalty_distance"])
def test_score_penalties(seed: int, variant: Any) -> None:
    boxes, scores, _ = oracle.crowd(seed, 40)
    found = ioukit.cluster_nms(boxes, scores, variant=variant, score_threshold=0.0)
    left = oracle.greedy(boxes.tolist(), scores.tolist(), 0.5)
    order = oracle.ranked(scores.tolist())
    expected = scores.copy()
    for i in left:
        for j in order[order.index(i) + 1 :]:
            a, b = boxes[i], boxes[j]
            u = oracle.iou(a, b)
            factor = math.exp(-u * u / 0.2)
            if variant == "score_penalty_distance":
                centres = math.dist((a[:2] + a[2:]) / 2, (b[:2] + b[2:]) / 2)
                diagonal = math.dist(np.minimum(a[:2], b[:2]), np.maximum(a[2:], b[2:]))
                factor = min(factor + (centres / diagonal) ** (2 * 0.6), 1.0) if u > 0 else 1.0
            expected[j] *= factor
    assert_allclose(in_place(found.keep, found.scores, 40)[found.keep], expected[found.keep], rtol=1e-12)
    assert_array_equal(np.sort(found.keep), np.flatnonzero(expected >= 0))
    few = ioukit.cluster_nms(boxes, scores, variant=variant)
    assert_array_equal(few.keep, found.keep[found.scores >= 0.01])


@seeds
def test_weighted(seed: int) -> None:
    boxes, scores, _ = oracle.crowd(seed, 50)
    found = ioukit.cluster_nms(boxes, scores, variant="weighted", weight_threshold=0.4)
    left = oracle.greedy(boxes.tolist(), scores.tolist(), 0.5)
    order = oracle.ranked(scores.tolist())
    assert found.keep.tolist() == left
    assert_array_equal(found.scores, scores[left])
    for i, box in zip(left, found.boxes, strict=True):
        parts = [(scores[i], boxes[i])]
        for j in order[order.index(i) + 1 :]:
            u = oracle.iou(boxes[i], boxes[j])
            if u > 0.4:
                parts.append((scores[j] * u, boxes[j]))
        total = sum(weight for weight, _ in parts)
        mean = sum(weight * corners for weight, corners in parts) / total if total else boxes[i]
        assert_allclose(box, mean, rtol=1e-12)
        if len(parts) == 1:
            assert_array_equal(box, boxes[i])


def test_the_order_of_the_input_does_not_matter() -> None:
    boxes, _, labels = oracle.crowd(4, 70)
    rng = np.random.default_rng(4)
    scores, shuffle = rng.permutation(70) / 70.0, rng.permutation(70)
    options, shuffled = {"labels": labels}, {"labels": labels[shuffle]}
    for function in (ioukit.fast_nms, lambda *a, **k: ioukit.cluster_nms(*a, **k).keep):
        assert_array_equal(
            function(boxes, scores, **options), shuffle[function(boxes[shuffle], scores[shuffle], **shuffled)]
        )


def test_empty_and_dtypes() -> None:
    empty = np.zeros((0, 4), np.float16)
    assert ioukit.fast_nms(empty, []).shape == (0,)
    assert ioukit.matrix_nms(empty, [])[0].shape == (0,)
    found = ioukit.cluster_nms(empty, np.zeros(0, np.float16), variant="weighted")
    assert (found.boxes.shape, found.boxes.dtype, found.scores.dtype) == ((0, 4), np.float16, np.float16)
    boxes, scores, _ = oracle.crowd(4, 20)
    found = ioukit.cluster_nms(boxes, scores, variant="weighted")
    sides = np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], axis=1)
    other = ioukit.cluster_nms(sides, scores, variant="weighted", format="xywh").boxes
    assert_allclose(other[:, 2:], found.boxes[:, 2:] - found.boxes[:, :2], rtol=1e-12)


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        ("matrix_nms", {"kernel": "cubic"}, "unknown kernel 'cubic'; choose from gaussian, linear"),
        ("matrix_nms", {"sigma": -1}, "sigma must be positive"),
        ("fast_nms", {"iou_threshold": float("nan")}, "iou_threshold must be finite and at least 0, got nan"),
        ("cluster_nms", {"variant": "dist"}, "unknown variant 'dist'; choose from plain, score_penalty"),
        ("cluster_nms", {"iterations": 0}, "iterations must be at least 1, or None"),
        ("cluster_nms", {"metric": "nwd"}, "unknown metric 'nwd'"),
    ],
)
def test_bad_values(function: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        getattr(ioukit, function)([[0, 0, 1, 1]], [0.5], **options)


def test_tensors_come_back_as_tensors() -> None:
    torch = pytest.importorskip("torch")
    found = ioukit.cluster_nms(torch.tensor(BOXES, dtype=torch.float32), torch.tensor(SCORES), variant="weighted")
    expected = ioukit.cluster_nms(BOXES.astype(np.float32), SCORES, variant="weighted")
    for got, wanted in zip(found, expected, strict=True):
        assert isinstance(got, torch.Tensor)
        assert_array_equal(got.numpy(), wanted)


def test_scores_that_are_only_compared_may_be_any() -> None:
    """What multiplies or averages scores needs them finite and at least 0; the rest orders them as `nms` does."""
    boxes = [[0, 0, 10, 10], [0, 0, 10, 8], [20, 0, 30, 10], [20, 0, 30, 8], [40, 0, 50, 10]]
    scores = [-2.0, -0.5, math.inf, -math.inf, 0.25]
    wanted = [2, 4, 1]
    assert ioukit.nms(boxes, scores, iou_threshold=0.5).tolist() == wanted
    assert ioukit.fast_nms(boxes, scores, iou_threshold=0.5).tolist() == wanted
    assert ioukit.cluster_nms(boxes, scores, iou_threshold=0.5).keep.tolist() == wanted
    assert ioukit.non_maximum_merge(boxes, scores, iou_threshold=0.5).keep.tolist() == wanted
    tiles = ioukit.cut_tiles((60, 20), 60)
    assert ioukit.TiledNms(tiles, iou_threshold=0.5).add(tiles[0], boxes, scores).rows.tolist() == wanted
    for function in ("nms", "fast_nms", "non_maximum_merge"):
        with pytest.raises(ValueError, match=r"scores\[1\] is NaN, which is neither better nor worse"):
            getattr(ioukit, function)(boxes[:2], [0, math.nan], iou_threshold=0.5)
    for function in ("soft_nms", "matrix_nms"):
        with pytest.raises(ValueError, match=r"scores\[0\] is -2.0: every score must be finite and at least 0"):
            getattr(ioukit, function)(boxes, scores)
    with pytest.raises(ValueError, match=r"scores\[0\] is -2.0"):
        ioukit.cluster_nms(boxes, scores, variant="weighted")


def test_a_score_at_the_threshold_stays_in_the_whole_room() -> None:
    boxes, scores = [[0, 0, 10, 10], [20, 0, 30, 10]], [0.5, 0.25]
    for threshold, wanted in ((0.25, [0, 1]), (0.375, [0]), (0.5, [0])):
        assert ioukit.nms(boxes, scores, iou_threshold=0.5, score_threshold=threshold).tolist() == wanted
        assert ioukit.soft_nms(boxes, scores, score_threshold=threshold)[0].tolist() == wanted
        assert ioukit.matrix_nms(boxes, scores, score_threshold=threshold)[0].tolist() == wanted
        found = ioukit.cluster_nms(boxes, scores, variant="score_penalty", score_threshold=threshold)
        assert found.keep.tolist() == wanted
        fused = ioukit.weighted_boxes_fusion([boxes], [scores], skip_box_threshold=threshold)
        assert len(fused.scores) == len(wanted)
        rows = ioukit.filter_detections(boxes, [[score] for score in scores], score_threshold=threshold).rows
        assert rows.tolist() == wanted
