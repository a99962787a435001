"""Quadrilaterals and hulls of other projects, as `Polygons` (sources: tests/data/rotated/SOURCES.md)."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ioukit import Polygons, RotatedBoxes, elementwise_iou, nms, pairwise_intersection, pairwise_ioa, pairwise_iou
from support.paths import DATA, load

TABLES = {table["id"]: table for table in json.loads((DATA / "rotated" / "rotated_iou.json").read_text())["tables"]}
NMS = load(DATA / "postprocess" / "nms.json")["mmcv_quadri"]


def flat(rows: list[list[float]]) -> Polygons:
    return Polygons.from_flat(rows)


def test_every_table_is_read() -> None:
    """The rotated boxes among them are in test_rotated.py, too."""
    assert set(TABLES) == {
        "mmcv_box_iou_rotated", "mmcv_box_iou_quadri", "mmcv_convex_iou", "detectron2_many_boxes",
        "detectron2_extreme_1266",
    }  # fmt: skip


def test_difference_mmcv_takes_quadrilaterals_for_rectangles() -> None:
    """mmcv projects points on two sides to find those inside, which is right for rectangles only."""
    table = TABLES["mmcv_box_iou_quadri"]
    first, second = flat(table["quads1"]), flat(table["quads2"])
    iou, ioa = pairwise_iou(first, second), pairwise_ioa(first, second, of="first")
    assert_allclose(iou, table["shapely_f64_polygon_iou"], rtol=0, atol=1e-15)
    assert_allclose(
        pairwise_iou(first.convex_hull(), second.convex_hull()), table["shapely_f64_convex_hull_iou"], atol=1e-15
    )
    right = np.ones(iou.shape, bool)
    for row, column in table["upstream_wrong_cells"]:
        right[row, column] = False
    for found, key in ((iou, "upstream_iou"), (ioa, "upstream_iof_over_quads1")):
        theirs = np.array(table[key])
        assert_allclose(found[right], theirs[right], rtol=0, atol=table["upstream_atol"])
        assert (theirs[~right] == 1).all()
        assert (found[~right] < 0.9).all()
    assert ioa[0, 1] == 0.875


def test_hulls_of_point_sets() -> None:
    """mmcv's convex_iou: IoU of the hull of nine points with a polygon, and GIoU with the hull of both."""
    table = TABLES["mmcv_convex_iou"]
    first, second = flat(table["pointsets_9pt"]).convex_hull(), flat(table["polygons"])
    iou = pairwise_iou(first, second)
    assert_allclose(iou, table["shapely_f64_hull_iou"], rtol=0, atol=1e-15)
    assert_allclose(iou, table["upstream_iou"], rtol=0, atol=table["upstream_atol"])
    both = Polygons([np.concatenate(pair) for pair in zip(first.points(), second.points(), strict=True)]).convex_hull()
    union = first.area + second.area - np.diag(pairwise_intersection(first, second))
    giou = elementwise_iou(first, second) - (both.area - union) / both.area
    assert_allclose(giou, table["upstream_aligned_giou"], rtol=0, atol=table["upstream_atol"])


def test_nms_of_quadrilaterals() -> None:
    quads, threshold = flat(NMS["quads"]), NMS["iou_threshold"]
    assert nms(quads, NMS["scores"], iou_threshold=threshold).tolist() == NMS["keep"]
    aware = nms(quads, NMS["scores"], iou_threshold=threshold, labels=NMS["labels"])
    assert aware.tolist() == NMS["class_aware_keep"]


def detectron2(rows: Any) -> RotatedBoxes:
    return RotatedBoxes(rows, unit="degrees", sense="counterclockwise")


@pytest.mark.parametrize("threads", [1, 2])
def test_many_boxes_of_detectron2(threads: int) -> None:
    """The table states the rule: boxes along a diagonal, and second boxes that grow in height."""
    steps = np.arange(200.0)
    middle, ten = 5 + 20 * steps, np.full(200, 10.0)
    second = np.stack([middle, middle, ten, 1 + 9 * steps / 200, 0 * steps], axis=1)
    first = np.stack([middle, middle, ten, ten, 0 * steps], axis=1)[:100]
    expected = np.zeros((100, 200))
    np.fill_diagonal(expected, second[:100, 3] / 10)
    assert_allclose(pairwise_iou(detectron2(first), detectron2(second), threads=threads), expected, atol=1e-15)


def test_extreme_coordinates_of_detectron2() -> None:
    """Issue 1266: below 0 or NaN in float32."""
    table = TABLES["detectron2_extreme_1266"]
    for a, b in (("a", "b"), ("b", "a")):
        assert pairwise_iou(detectron2(table[a]), detectron2(table[b])).item() == 0
