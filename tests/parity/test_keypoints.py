"""Keypoints against pycocotools: the same bits in all arrays, from files and records, with and without boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ioukit
from ioukit import DatasetError
from ioukit.evaluation import COCO_KEYPOINTS, MatchTable, keypoints_kind, match, register_kind
from ioukit.evaluation.kinds.registry import REGION_KINDS
from parity.random_keypoints import random_keypoint_case
from parity.reference import copied, run_pycocotools
from parity.same_bits import assert_same_bits, assert_same_evaluation
from support.everything import assert_says_the_same
from support.paths import write_coco

if TYPE_CHECKING:
    from pathlib import Path

CHUNK = 100
AREAS = {area.label: (area.low, area.high) for area in COCO_KEYPOINTS.area_ranges}


@pytest.mark.parametrize("first", range(0, 600, CHUNK))
def test_every_bit_is_that_of_pycocotools(first: int, tmp_path: Path) -> None:
    compared = 0
    for seed in range(first, first + CHUNK):
        gt, dt = random_keypoint_case(seed)
        reference = run_pycocotools(gt, dt, iou_type="keypoints")
        if seed % 2:
            ours = ioukit.evaluate(*write_coco(tmp_path, gt, dt), iou_type="keypoints")
        else:
            ours = ioukit.evaluate(copied(gt), copied(dt), iou_type="keypoints")
        try:
            assert_same_evaluation(ours, reference)
            assert_same_bits(list(ours.summary.values()), reference.stats, "the ten numbers")
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from None
        assert ours.table() == reference.table.rstrip("\n")
        compared += int((ours.recall > 0).any())
    assert compared > CHUNK / 2, "a generator of misses alone would let every engine pass"


@pytest.mark.parametrize("seed", range(5, 25))
def test_other_settings_threads_and_parts_change_no_bit(seed: int) -> None:
    gt, dt = random_keypoint_case(seed)
    protocol = COCO_KEYPOINTS.replace(iou_thresholds=[0.1, 0.5, 1.0], max_dets=[1, 3, 7])
    ours = ioukit.evaluate(gt, dt, protocol, iou_type="keypoints", threads=1, near=0.1)
    reference = run_pycocotools(gt, dt, iou_type="keypoints", iou_thresholds=[0.1, 0.5, 1.0], max_dets=[1, 3, 7])
    assert_same_evaluation(ours, reference)
    truth, found = ioukit.GroundTruth.from_coco(gt), ioukit.Detections.from_coco(dt)
    settings: dict[str, Any] = {"protocol": protocol, "iou_type": "keypoints", "near": 0.1}
    parts = [match(truth, found, images=[image], threads=2, **settings) for image in truth.images.ids.tolist()]
    assert_says_the_same(MatchTable.merge(parts), ours.matches)


@pytest.mark.parametrize("sigmas", [[], [0.1, 0], [0.1, -1], [float("nan")], [float("inf")], [[0.1]]])
def test_sigmas_that_measure_nothing_are_refused(sigmas: Any) -> None:
    with pytest.raises(ValueError, match="sigmas must be positive numbers, one per keypoint, got "):
        keypoints_kind("five", sigmas)


def test_a_kind_with_other_sigmas(tmp_path: Path) -> None:
    gt, dt = random_keypoint_case(3)
    for record in (*gt["annotations"], *dt):
        record["keypoints"] = record["keypoints"][:15]
    with pytest.raises(DatasetError, match="expected 17 keypoints per record, which COCO has, found 5; --sigmas"):
        ioukit.evaluate(*write_coco(tmp_path, gt, dt), iou_type="keypoints")
    register_kind(keypoints_kind("five", [0.05, 0.1, 0.2, 0.05, 0.1]))
    try:
        ours = ioukit.evaluate(*write_coco(tmp_path, gt, dt), iou_type="five")
    finally:
        del REGION_KINDS["five"]
    assert ours.protocol is COCO_KEYPOINTS
    reference = run_pycocotools(gt, dt, iou_type="keypoints", sigmas=[0.05, 0.1, 0.2, 0.05, 0.1])
    assert_same_evaluation(ours, reference)
    assert np.nanmax(ours.recall) > 0


@pytest.mark.parametrize(
    ("side", "row", "value", "says"),
    [
        ("dt", 2, None, r"detections\[2\]\.(bbox|keypoints): expected"),
        ("dt", 2, [1.0] * 48, r"detections\[2\]\.keypoints: .* 48 numbers instead of 51"),
        ("dt", 0, "none", r"detections\[0\]\.keypoints: .* another value"),
        ("gt", 1, None, r"annotations\[1\]\.keypoints: expected numbers, found none"),
        ("gt", slice(None), None, "iou_type='keypoints' needs annotations with keypoints, found boxes alone"),
    ],
)
@pytest.mark.parametrize("files", [True, False])
def test_what_is_wrong_is_named(side: str, row: Any, value: Any, says: str, files: bool, tmp_path: Path) -> None:
    gt, dt = random_keypoint_case(8)
    for record in (*gt["annotations"], *dt):
        record.update(image_id=gt["images"][0]["id"], category_id=gt["categories"][0]["id"])
    records = gt["annotations"] if side == "gt" else dt
    for record in records[row] if isinstance(row, slice) else [records[row]]:
        record["keypoints"] = value
        if value is None:
            del record["keypoints"]
    with pytest.raises(DatasetError, match=says):
        ioukit.evaluate(*(write_coco(tmp_path, gt, dt) if files else (gt, dt)), iou_type="keypoints")


def test_files_that_do_not_count_keypoints_are_counted() -> None:
    gt, dt = random_keypoint_case(8)
    for record in gt["annotations"]:
        record["num_keypoints"] = sum(value > 0 for value in record["keypoints"][2::3])
    told = ioukit.evaluate(copied(gt), dt, iou_type="keypoints")
    for record in gt["annotations"]:
        del record["num_keypoints"]
    assert ioukit.evaluate(gt, dt, iou_type="keypoints").to_json() == told.to_json()
    assert told.matches.objects.special.any()
