"""Tightness-aware IoU by the definition of its authors, from areas that Shapely computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ioukit import Boxes, Polygons, pairwise_intersection, pairwise_iou, pairwise_tiou
from support.polygon_oracles import convex_pair

shapely: Any = pytest.importorskip("shapely")


def plain_recall(iou: float, area: float, shared: float) -> float:
    """IoU times 1 minus the part of the object that the detection cuts off."""
    return iou * (1 - (area - shared) / area)


@pytest.mark.parametrize("kind", ["free", "inside", "corner"])
def test_recall_of_text(kind: str) -> None:
    rng = np.random.default_rng(11)
    pairs = [convex_pair(rng, kind) for _ in range(40)]
    objects, detections = (Polygons([pair[side] for pair in pairs]) for side in (0, 1))
    found = pairwise_tiou(objects, detections)
    for i, one in enumerate(objects.points()):
        for j, other in enumerate(detections.points()):
            a, b = shapely.Polygon(one), shapely.Polygon(other)
            shared = a.intersection(b).area
            expected = plain_recall(shared / a.union(b).area, a.area, shared)
            assert abs(found[i, j] - expected) < 1e-9
    assert (found <= pairwise_iou(objects, detections)).all()


def test_precision_of_text_as_on_the_page() -> None:
    """Words that do not overlap each other: what else a detection covers is the rest of the intersections."""
    rng = np.random.default_rng(12)
    for _ in range(30):
        cells = rng.permutation(36)[: int(rng.integers(1, 9))]
        low = np.stack([cells % 6, cells // 6], axis=1) * 10.0 + rng.uniform(0, 3, (len(cells), 2))
        objects = Polygons.from_boxes(
            Boxes(np.hstack([low, low + rng.uniform(2, 6, (len(cells), 2))]), dtype=np.float64)
        )
        start = rng.uniform(0, 50, (5, 2))
        detections = Polygons.from_boxes(
            Boxes(np.hstack([start, start + rng.uniform(1, 30, (5, 2))]), dtype=np.float64)
        )
        shared = pairwise_intersection(objects, detections)
        others = shared.sum(axis=0) - shared
        found = pairwise_iou(objects, detections) * (1 - others / detections.area)
        shapes, boxes = ([shapely.Polygon(p) for p in set_.points()] for set_ in (objects, detections))
        for i, one in enumerate(shapes):
            for j, box in enumerate(boxes):
                rest = shapely.unary_union([shape for k, shape in enumerate(shapes) if k != i])
                outlier = rest.intersection(box).area - rest.intersection(box).intersection(one).area
                iou = one.intersection(box).area / one.union(box).area
                assert_allclose(found[i, j], iou * (1 - outlier / box.area), rtol=0, atol=1e-9)


def test_the_object_is_the_first_set() -> None:
    whole, half = [[0, 0, 10, 10]], [[0, 0, 5, 10]]
    assert_array_equal(pairwise_tiou(whole, half), [[0.25]])
    assert_array_equal(pairwise_tiou(half, whole), [[0.5]])
