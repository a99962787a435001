"""The object keypoint similarity, whose steps the core shares with NumPy, has the bits of NumPy alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ioukit import _core
from ioukit.datasets.columns.keypoints import boxes_of_keypoints
from ioukit.evaluation import keypoint_similarity


def plain_similarity(detection: Any, keypoints: Any, box: Any, area: float, sigmas: Any) -> float:
    """The similarity of one pair, in the operations and the order of pycocotools."""
    labelled = keypoints[:, 2] > 0
    variances = (sigmas * 2) ** 2
    if labelled.any():
        dx, dy = detection[:, 0] - keypoints[:, 0], detection[:, 1] - keypoints[:, 1]
    else:
        low, high = box[:2] - box[2:], box[:2] + box[2:] * 2
        zeros = np.zeros(len(sigmas))
        dx, dy = (
            np.max((zeros, low[axis] - detection[:, axis]), axis=0)
            + np.max((zeros, detection[:, axis] - high[axis]), axis=0)
            for axis in (0, 1)
        )
    exponents = (dx**2 + dy**2) / variances / (area + np.spacing(1)) / 2
    if labelled.any():
        exponents = exponents[labelled]
    return float(np.sum(np.exp(-exponents)) / exponents.shape[0])


def drawn(rng: np.random.Generator, points: int) -> tuple[Any, Any, Any, Any, Any]:
    """Detections near and far from objects, some of them equal to one; a fifth of the objects without labels."""
    num_detections, num_objects = 12, 9
    scale = 10.0 ** rng.integers(-3, 4)
    at = rng.normal(size=(num_objects, points, 2)) * scale
    labels = rng.integers(0, 3, (num_objects, points, 1)) * (rng.random((num_objects, 1, 1)) < 0.8)
    moved = rng.normal(size=(num_detections, points, 2)) * scale * 10.0 ** rng.integers(-3, 1)
    moved *= rng.random((num_detections, 1, 1)) < 0.8
    found = at[rng.integers(0, num_objects, num_detections)] + moved
    detections = np.concatenate([found, np.ones((num_detections, points, 1))], axis=2)
    boxes = np.abs(rng.normal(size=(num_objects, 4))) * scale
    areas = boxes[:, 2] * boxes[:, 3] * (rng.random(num_objects) < 0.9)
    return detections, np.concatenate([at, labels], axis=2), boxes, areas, rng.uniform(0.01, 0.11, points)


@pytest.mark.parametrize("points", [*range(1, 35), 100, 127, 128, 129, 136, 250, 257, 600])
def test_every_bit_is_that_of_numpy(points: int) -> None:
    rng = np.random.default_rng(points)
    for _ in range(4):
        detections, objects, boxes, areas, sigmas = drawn(rng, points)
        pairs = rng.integers(0, len(detections), 60), rng.integers(0, len(objects), 60)
        found = keypoint_similarity(detections, objects, boxes, areas, pairs, sigmas)
        expected = [
            plain_similarity(detections[row], objects[place], boxes[place], areas[place], sigmas)
            for row, place in zip(*pairs, strict=True)
        ]
        np.testing.assert_array_equal(found, expected, strict=True)


def test_more_pairs_than_a_step_have_the_same_bits() -> None:
    rng = np.random.default_rng(1)
    detections, objects, boxes, areas, sigmas = drawn(rng, 17)
    pairs = rng.integers(0, len(detections), 40_000), rng.integers(0, len(objects), 40_000)
    whole = keypoint_similarity(detections, objects, boxes, areas, pairs, sigmas)
    shuffled = rng.permutation(40_000)
    again = keypoint_similarity(detections, objects, boxes, areas, (pairs[0][shuffled], pairs[1][shuffled]), sigmas)
    np.testing.assert_array_equal(whole[shuffled], again)
    none = (pairs[0][:0], pairs[1][:0])
    assert keypoint_similarity(detections, objects, boxes, areas, none, sigmas).shape == (0,)


def test_rows_that_do_not_fit_are_refused() -> None:
    detections, objects, boxes, areas, sigmas = drawn(np.random.default_rng(2), 17)
    one = np.array([0])
    with pytest.raises(IndexError, match="positions of their sets"):
        keypoint_similarity(detections, objects, boxes, areas, (one, np.array([len(objects)])), sigmas)
    with pytest.raises(ValueError, match="as many points as sigmas"):
        keypoint_similarity(detections, objects, boxes, areas, (one, one), sigmas[:16])
    measured = detections, objects, boxes, areas, sigmas
    with pytest.raises(ValueError, match="as many terms of each pair as sigmas"):
        _core.keypoint_means(measured, one, np.zeros(16), 1)
    with pytest.raises(ValueError, match="rows of as many points as it says"):
        _core.keypoint_bounds(np.zeros(9), 2, 1)
    with pytest.raises(ValueError, match="a category of every row"):
        _core.pairs_of_images(one, one, (one, one[:0]))


def test_boxes_are_around_all_points() -> None:
    points = np.random.default_rng(3).normal(size=(10_000, 5, 3))
    points[7] = np.nan
    points[8, 3, 1] = np.nan
    boxes, areas = boxes_of_keypoints(points, "here", 2)
    low, high = points[..., :2].min(axis=1), points[..., :2].max(axis=1)
    np.testing.assert_array_equal(boxes, np.concatenate([low, high - low], axis=1))
    np.testing.assert_array_equal(areas, boxes[:, 2] * boxes[:, 3])
    assert np.isnan(boxes[7]).all()
    assert np.isnan(boxes[8]).tolist() == [False, True, False, True]
    for empty in (points[:0], points[:, :0]):
        boxes, areas = boxes_of_keypoints(empty, "here", None)
        assert boxes.shape == (len(empty), 4)
        assert np.isnan(boxes).all()
        assert np.isnan(areas).all()


@pytest.mark.parametrize("by_category", [True, False])
def test_the_pairs_of_images_are_all_pairs_of_one_image(by_category: bool) -> None:
    rng = np.random.default_rng(4)
    for images in (1, 3, 40):
        objects, detections = (rng.integers(-images, images, count) for count in (50, 70))
        of_objects, of_detections = (rng.integers(0, 3, count) for count in (50, 70))
        alike = detections[:, None] == objects
        if by_category:
            alike &= of_detections[:, None] == of_objects
        found = _core.pairs_of_images(objects, detections, (of_objects, of_detections) if by_category else None)
        np.testing.assert_array_equal(found, np.nonzero(alike), strict=True)
