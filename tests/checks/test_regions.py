"""`check` on other regions than upright boxes: what counts, and where masks and rotated boxes lie."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from ioukit import Detections, GroundTruth
from ioukit.checks import Checked, check

SIZE = (640, 480)


def codes(found: Checked) -> list[str]:
    return [finding.code for finding in found if finding.harmful]


def persons(seed: int, visibility: int = 2, images: int = 20) -> tuple[GroundTruth, Detections]:
    """Objects and detections with 17 keypoints each."""
    rng = np.random.default_rng(seed)
    boxes = np.hstack([rng.uniform(0, 300, (3 * images, 2)), rng.uniform(60, 150, (3 * images, 2))])
    points = boxes[:, None, :2] + rng.random((len(boxes), 17, 2)) * boxes[:, None, 2:]
    shown = np.full((len(boxes), 17, 1), float(visibility))
    rows: dict[str, Any] = {"image_ids": np.repeat(np.arange(1, images + 1), 3), "category_ids": [1] * len(boxes)}
    gt = GroundTruth.from_arrays(
        **rows, boxes=boxes, keypoints=np.concatenate([points, shown], axis=2), categories={1: "person"},
        images=np.arange(1, images + 1), sizes=[SIZE] * images,
    )  # fmt: skip
    near = np.concatenate([points + rng.normal(0, 2, points.shape), np.ones_like(shown)], axis=2)
    return gt, Detections.from_arrays(**rows, boxes=boxes, keypoints=near, scores=rng.random(len(boxes)))


class TestNothingCounts:
    """`no_objects` follows the protocol: what it ignores is no object."""

    @pytest.mark.parametrize("seed", range(3))
    def test_no_labelled_keypoint(self, seed: int) -> None:
        gt, dt = persons(seed, visibility=0)
        (finding,) = [one for one in check(gt, dt, iou_type="keypoints") if one.harmful]
        assert (finding.code, finding.suspicion.sure) == ("no_objects", "sure")
        assert "60 of 60 annotations have the flag 'without_keypoints'" in finding.suspicion.message
        assert codes(check(gt, iou_type="keypoints")) == ["no_objects"]
        assert "no_objects" not in codes(check(gt, dt)), "boxes count without keypoints"

    def test_one_labelled_keypoint_is_enough(self) -> None:
        gt, dt = persons(0, visibility=0)
        points = np.array(gt.regions["keypoints"])
        points[0, 3, 2] = 1
        labelled = dataclasses.replace(gt, regions={"keypoints": points})
        assert "no_objects" not in codes(check(labelled, dt, iou_type="keypoints"))

    @pytest.mark.parametrize("seed", range(3))
    def test_labelled_keypoints_give_no_finding(self, seed: int) -> None:
        assert codes(check(*persons(seed), iou_type="keypoints")) == []

    @pytest.mark.parametrize("images", [1, 2])
    def test_crowds_and_difficult_objects(self, images: int) -> None:
        gt, dt = persons(0, images=images)
        for flag, protocol, other in (("crowd", "coco", "voc2012"), ("difficult", "voc2012", "coco")):
            flagged = dataclasses.replace(gt, flags={flag: np.ones(len(gt), np.bool_)})
            assert "no_objects" in codes(check(flagged, dt, protocol)), (flag, protocol)
            if flag == "difficult":
                assert "no_objects" not in codes(check(flagged, dt, other)), (flag, other)
