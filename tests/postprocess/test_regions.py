"""`nms` of regions that are no upright boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ioukit import Boxes3D, Masks, Polygons, RotatedBoxes, nms, pairwise_ioa, pairwise_iom, pairwise_iou
from postprocess.plain import greedy
from support.paths import DATA, load

CASES = load(DATA / "postprocess" / "nms.json")
CASE = CASES["mmcv_rotated"]


def rotated(count: int, seed: int = 0) -> tuple[RotatedBoxes, Any]:
    rng = np.random.default_rng(seed)
    rows = np.column_stack([
        rng.uniform(0, 60, (count, 2)), rng.uniform(4, 30, (count, 2)), rng.uniform(-3, 3, count)
    ])  # fmt: skip
    return RotatedBoxes(rows, unit="radians", sense="clockwise"), rng.integers(0, count, count) / count


def test_the_case_of_mmcv() -> None:
    """Its angles are clockwise radians."""
    boxes = RotatedBoxes(CASE["boxes"], unit="radians", sense="clockwise")
    assert nms(boxes, CASE["scores"], iou_threshold=CASE["iou_threshold"]).tolist() == CASE["keep"]
    aware = nms(boxes, CASE["scores"], iou_threshold=CASE["iou_threshold"], labels=CASE["labels"])
    assert aware.tolist() == CASE["class_aware_keep"]


@pytest.mark.parametrize("at", [False, True])
def test_survivors_are_those_of_the_definition(at: bool) -> None:
    boxes, scores = rotated(150)
    labels, batch = np.arange(150) % 2, np.arange(150) % 3
    codes = list(zip(labels, batch, strict=True))
    suppress: Any = "at_or_above" if at else "above"
    for threshold in (0.2, 0.5, 1.0):
        overlap = pairwise_iou(boxes, boxes)
        found = nms(boxes, scores, iou_threshold=threshold, suppress=suppress)
        assert found.tolist() == greedy(overlap, scores.tolist(), threshold, at=at)
        found = nms(boxes, scores, iou_threshold=threshold, labels=labels, batch=batch, suppress=suppress)
        assert found.tolist() == greedy(overlap, scores.tolist(), threshold, codes=codes, at=at)
    for of in ("first", "second"):
        found = nms(boxes, scores, iou_threshold=0.4, metric="ioa", of=of)
        assert found.tolist() == greedy(pairwise_ioa(boxes, boxes, of=of), scores.tolist(), 0.4)


def polygons(rng: np.random.Generator, count: int) -> Polygons:
    """Stars of six points, most of them not convex."""
    angles = np.arange(6) * np.pi / 3 + rng.uniform(0, 0.9, (count, 6))
    points = rng.uniform(4, 12, (count, 6, 1)) * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    return Polygons(list(rng.uniform(0, 40, (count, 1, 2)) + points))


def masks(rng: np.random.Generator, count: int) -> Masks:
    """Rectangles with holes."""
    arrays = np.zeros((count, 40, 40), bool)
    for array, (x, y), (width, height) in zip(
        arrays, rng.integers(0, 26, (count, 2)), rng.integers(5, 15, (count, 2)), strict=True
    ):
        array[y : y + height, x : x + width] = rng.random((height, width))[: 40 - y, : 40 - x] < 0.9
    return Masks.from_arrays(arrays)


def boxes3d(rng: np.random.Generator, count: int) -> Boxes3D:
    rows = [rng.uniform(0, 8, (count, 3)), rng.uniform(3, 8, (count, 3)), rng.uniform(-3, 3, (count, 1))]
    return Boxes3D(np.concatenate(rows, axis=1), z="centre", unit="radians", sense="counterclockwise")


@pytest.mark.parametrize("make", [polygons, masks, boxes3d])
def test_every_kind_of_region(make: Any) -> None:
    rng = np.random.default_rng(0)
    count, removed = 80, 0
    for _ in range(5):
        regions, scores = make(rng, count), rng.integers(0, 20, count) / 20
        labels, batch = rng.integers(0, 2, count), rng.integers(0, 3, count)
        codes = list(zip(labels, batch, strict=True))
        overlap, smaller = pairwise_iou(regions, regions), pairwise_iom(regions, regions)
        for threshold in (0.0, 0.1, 0.3, 0.6):
            found = nms(regions, scores, iou_threshold=threshold)
            assert found.tolist() == greedy(overlap, scores.tolist(), threshold)
            found = nms(regions, scores, iou_threshold=threshold, labels=labels, batch=batch)
            assert found.tolist() == greedy(overlap, scores.tolist(), threshold, codes=codes)
            found = nms(regions, scores, iou_threshold=threshold, metric="iom")
            assert found.tolist() == greedy(smaller, scores.tolist(), threshold)
            removed += count - len(found)
    assert removed > 500


def test_the_case_of_mmcv_with_quadrilaterals() -> None:
    case = CASES["mmcv_quadri"]
    quads = Polygons([np.array(quad, float).reshape(4, 2) for quad in case["quads"]])
    keep = nms(quads, case["scores"], iou_threshold=case["iou_threshold"])
    assert keep.tolist() == case["keep"]
    keep = nms(quads, case["scores"], iou_threshold=case["iou_threshold"], labels=case["labels"])
    assert keep.tolist() == case["class_aware_keep"]


def test_an_error_about_a_region_names_its_position_in_the_input() -> None:
    square, crossed = [[0, 0], [4, 0], [4, 4], [0, 4]], [[0, 0], [4, 4], [4, 0], [0, 4]]
    with pytest.raises(ValueError, match=r"^boxes\[2\] crosses"):
        nms(Polygons([square, square, crossed]), [0.1, 0.2, 0.9], iou_threshold=0.5)


def test_explanations() -> None:
    boxes, scores = rotated(80, seed=1)
    batch = np.arange(80) % 2
    overlap = pairwise_iou(boxes, boxes)
    for max_keep in (None, 4, 0):
        options: dict[str, Any] = {"iou_threshold": 0.2, "batch": batch, "score_threshold": 0.1, "max_keep": max_keep}
        result = nms(boxes, scores, explain=True, **options)
        assert_array_equal(result.keep, nms(boxes, scores, **options))
        for box in range(80):
            first = next((k for k in result.keep if overlap[k, box] > 0.2 and batch[k] == batch[box]), -1)
            if box in result.keep or scores[box] < 0.1:
                assert result.reason[box] == ("kept" if box in result.keep else "score")
                first = -1
            else:
                assert result.reason[box] == ("max_keep" if first < 0 else "overlap")
            assert result.suppressed_by[box] == first
            assert_array_equal(result.overlap[box], np.nan if first < 0 else overlap[first, box])


def test_empty_and_errors() -> None:
    boxes, scores = rotated(3)
    assert nms(boxes[[]], [], iou_threshold=0.5).tolist() == []
    assert nms(boxes, scores, iou_threshold=0.5).flags.writeable
    assert nms(boxes, scores, iou_threshold=1.0).tolist() == np.argsort(-scores, kind="stable").tolist()
    with pytest.raises(ValueError, match=r"scores\[1\] is NaN"):
        nms(boxes, [1, np.nan, 1], iou_threshold=0.5)
    with pytest.raises(ValueError, match=r"scores must have shape \(3,\)"):
        nms(boxes, [1, 2], iou_threshold=0.5)
    with pytest.raises((TypeError, ValueError), match="giou"):
        nms(boxes, scores, iou_threshold=0.5, metric="giou")


def test_scores_of_pytorch() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    boxes, scores = rotated(30)
    keep = nms(boxes, torch.from_numpy(scores), iou_threshold=0.3)
    assert keep.dtype == torch.int64
    assert_array_equal(keep.numpy(), nms(boxes, scores, iou_threshold=0.3))
