"""`Boxes3D`: what its numbers mean, and the overlap of two sets (sources: tests/data/rotated/SOURCES.md)."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import ioukit
from ioukit import Boxes3D, RotatedBoxes, elementwise_iou, pairwise_intersection, pairwise_iou
from support.paths import DATA

CASES = json.loads((DATA / "rotated" / "iou3d.json").read_text())
HOW: dict[str, Any] = {"z": "centre", "unit": "radians", "sense": "counterclockwise"}


def boxes3d(rows: Any, **changed: Any) -> Boxes3D:
    return Boxes3D(rows, **{**HOW, **changed})


def test_the_cases_of_mmcv() -> None:
    rows = CASES["aligned"]["rows"]
    first, second = (boxes3d([row[name] for row in rows]) for name in "ab")
    assert_allclose(elementwise_iou(first, second), [row["derived"] for row in rows], rtol=1e-12, atol=1e-15)
    assert_allclose(elementwise_iou(first, second), [row["upstream_iou3d"] for row in rows], atol=1e-4)
    table = CASES["pairwise"]
    first, second = boxes3d(table["boxes1"]), boxes3d(table["boxes2"])
    assert_allclose(pairwise_iou(first, second), table["derived_iou3d"], rtol=1e-12, atol=1e-15)
    areas = pairwise_intersection(first.to_bird_eye(), second.to_bird_eye())
    assert_allclose(areas, table["upstream_bev_overlap_area"], atol=1e-4)


def test_nms_of_mmcv_is_that_of_the_boxes_seen_from_above() -> None:
    """mmcv's nms3d ignores z; `nms` of `Boxes3D` compares volumes."""
    case = CASES["nms"]
    boxes, scores, threshold = boxes3d(case["boxes"]), case["scores"], case["iou_threshold"]
    assert ioukit.nms(boxes.to_bird_eye(), scores, iou_threshold=threshold).tolist() == case["keep"]
    moved = boxes.shift(0, 0, 0).numpy()
    moved[3, 2] += 1.9  # moves the box that suppresses two similar boxes above both of them
    apart = boxes3d(moved)
    assert ioukit.nms(apart.to_bird_eye(), scores, iou_threshold=threshold).tolist() == case["keep"]
    assert ioukit.nms(apart, scores, iou_threshold=threshold).tolist() != case["keep"]


def test_volumes_in_place_of_areas() -> None:
    first, second = boxes3d([1, 1, 1, 2, 2, 2, 0]), boxes3d([[1, 1, 2, 2, 2, 4, np.pi / 2], [1, 1, 3, 2, 2, 2, 0]])
    values = {
        name: getattr(ioukit, f"pairwise_{name}")(first, second) for name in ("intersection", "iou", "ioa", "iom")
    }
    assert_allclose(values["intersection"], [[8, 0]], atol=1e-14)
    assert_allclose(values["iou"], [[0.5, 0]], atol=1e-15)
    assert_allclose(values["ioa"], [[0.5, 0]], atol=1e-15)
    assert_allclose(values["iom"], [[1, 0]], atol=1e-15)
    assert_array_equal(second.volume, [16, 8])
    assert_array_equal(second.area, second.volume)
    rng = np.random.default_rng(0)
    many = boxes3d(rng.uniform(0.5, 3, (200, 7)))
    table = pairwise_iou(many, many)
    assert_array_equal(np.diag(table), np.ones(200))
    assert_array_equal(table, table.T)
    assert_array_equal(elementwise_iou(many[:1], many), table[0])


def test_z_of_the_centre_and_of_the_bottom() -> None:
    centre = boxes3d([[0, 0, 1, 2, 3, 4, 0.5]])
    bottom = centre.convert(z="bottom")
    assert_array_equal(bottom.numpy(), [[0, 0, -1, 2, 3, 4, 0.5]])
    assert bottom.convert(z="centre") == centre
    assert pairwise_iou(centre, bottom).item() == 1
    assert_array_equal(bottom.center, [[0, 0, 1]])
    misread = Boxes3D(bottom.numpy(), **HOW)
    assert pairwise_iou(centre, misread).item() == pytest.approx(1 / 3)


def test_seen_from_above() -> None:
    """Counterclockwise turns x towards y. In an image, whose y points down, that is clockwise."""
    box = boxes3d([0, 0, 0, 4, 2, 1, 90], unit="degrees")
    assert_array_equal(box.to_bird_eye().corners()[0, 1], [1, 2])
    assert box.to_bird_eye() == RotatedBoxes([0, 0, 4, 2, 90], unit="degrees", sense="clockwise")
    assert box.to_boxes().to_list() == [[-1, -2, 1, 2]]
    other = box.convert(sense="clockwise")
    assert other.angle == -90
    assert other.to_bird_eye() == box.to_bird_eye().convert(sense="counterclockwise")
    assert pairwise_iou(box, other).item() == 1


def test_a_frozen_value() -> None:
    boxes = boxes3d([[1, 2, 3, 4, 5, 6, 0.5], [0, 0, 0, 1, 0, 1, 0]])
    assert pickle.loads(pickle.dumps(boxes)) == boxes
    assert hash(boxes) == hash(boxes[:])
    assert boxes != boxes3d(boxes.numpy(), z="bottom")
    assert Boxes3D.concat([boxes[:1].convert(z="bottom", unit="degrees"), boxes[1:]])[1].z == "bottom"
    assert boxes.drop_empty() == boxes[:1]
    assert_array_equal(boxes.shift(1, 2, 3).center[0], [2, 4, 6])
    assert repr(boxes[1:]) == (
        "Boxes3D([[0., 0., 0., 1., 0., 1., 0.]], z='centre', unit='radians', sense='counterclockwise', dtype=float64)"
    )
    assert boxes3d([]).shape == (0, 7)


def test_bad_arguments() -> None:
    with pytest.raises(TypeError, match="'z'"):
        Boxes3D([], unit="radians", sense="clockwise")  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="unknown z 'top'; choose from centre, bottom"):
        boxes3d([], z="top")
    with pytest.raises(ValueError, match=r"shape \(N, 7\) or \(7,\), x, y, z, dx, dy, dz, yaw, got \(1, 5\)"):
        boxes3d([[0, 0, 1, 1, 0]])
    with pytest.raises(ValueError, match=r"boxes\[0\] is .*: negative dz"):
        boxes3d([0, 0, 0, 1, 1, -1, 0])
    with pytest.raises(ValueError, match="elementwise needs two sets of one length, got 2 and 3"):
        elementwise_iou(boxes3d(np.ones((2, 7))), boxes3d(np.ones((3, 7))))
