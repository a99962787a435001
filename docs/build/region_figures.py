"""Figures of masks, keypoints, rotated boxes and boxes in space, those of docs/figures.md and docs/kinds.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import COCO, Boxes3D, Detections, GroundTruth, Masks, RotatedBoxes, evaluate, plots
from ioukit.datasets.shapes import CLASSES, draw_scene

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from ioukit.typing import FloatArray

__all__ = ["REGIONS", "masks"]

SIZE = (320, 240)

PERSON = np.array([
    [0, -92], [3, -95], [-3, -95], [7, -93], [-7, -93], [14, -78], [-14, -78], [20, -60], [-20, -60], [22, -42],
    [-22, -42], [10, -45], [-10, -45], [10, -22], [-10, -22], [10, 0], [-10, 0],
]) / 100  # fmt: skip
"""COCO's 17 keypoints of a standing person of height 1, whose feet are at 0."""


def moved(mask: Any, step: FloatArray) -> Any:
    """A mask that is moved by whole pixels."""
    x, y = step.round().astype(int).tolist()
    return np.roll(mask, (y, x), axis=(0, 1))


def masks() -> Figure:
    """A drawn scene, and masks that a middling network might find in it."""
    rng = np.random.default_rng(12)
    scene = draw_scene(53, seed=5, size=SIZE, handwritten=False)
    kept = rng.random(len(scene.labels)) < 0.75
    found = np.array([moved(mask, rng.normal(0, 2.5, 2)) for mask in scene.masks[kept]])
    said = np.where(rng.random(len(found)) < 0.75, scene.labels[kept], 0)
    names = dict(enumerate(CLASSES))
    truth = GroundTruth.from_arrays(
        image_ids=[1] * len(scene.labels), category_ids=scene.labels, regions=Masks.from_arrays(scene.masks),
        images=[1], sizes=[SIZE], categories=names,
    )  # fmt: skip
    detections = Detections.from_arrays(
        image_ids=[1] * len(said), category_ids=said, scores=rng.uniform(0.4, 1, len(said)).round(2),
        regions=Masks.from_arrays(found),
    )  # fmt: skip
    evaluation = evaluate(truth, detections, iou_type="segm")
    return plots.boxes_figure(evaluation, 1, image=scene.pixels, score_threshold=0.3).figure


def keypoints() -> Figure:
    """Four persons; one is found in the wrong place."""
    rng = np.random.default_rng(3)
    feet, tall = np.array([[60, 225], [130, 210], [200, 225], [270, 215]]), np.array([150, 140, 170, 130])
    places = feet[:, None] + (PERSON * [1.3, 1] + rng.normal(0, 0.02, (4, 17, 2))) * tall[:, None, None]
    visibility = rng.choice([0, 1, 2], (4, 17), p=[0.06, 0.14, 0.8])
    boxes = np.concatenate([places.min(axis=1) - 4, np.ptp(places, axis=1) + 8], axis=1)
    truth = GroundTruth.from_arrays(
        image_ids=[1] * 4, category_ids=[1] * 4, boxes=boxes, keypoints=np.dstack([places, visibility]),
        images=[1], sizes=[SIZE], categories={1: "person"},
    )  # fmt: skip
    found = places + rng.normal(0, 1.5, places.shape) + np.array([[0, 0], [0, 0], [22, -14], [0, 0]])[:, None]
    detections = Detections.from_arrays(
        image_ids=[1] * 4, category_ids=[1] * 4, boxes=boxes, scores=[0.93, 0.88, 0.71, 0.64],
        keypoints=np.dstack([found, np.ones((4, 17))]),
    )  # fmt: skip
    return plots.boxes_figure(evaluate(truth, detections, iou_type="keypoints"), 1).figure


def rotated() -> Figure:
    """Ships in a harbour."""
    rng = np.random.default_rng(8)
    rows = np.array([
        [60, 60, 90, 22, 30], [70, 150, 70, 18, 35], [170, 70, 110, 26, -60], [250, 60, 60, 16, 10],
        [250, 160, 100, 24, -30], [150, 190, 60, 16, 80],
    ])  # fmt: skip
    found = (rows + rng.normal(0, [3, 3, 4, 1, 4], rows.shape))[[0, 1, 2, 4, 5]]
    found[1, 4] += 90
    scores = np.array([0.95, 0.61, 0.9, 0.83, 0.7])

    def ships(numbers: FloatArray) -> RotatedBoxes:
        return RotatedBoxes(numbers, unit="degrees", sense="clockwise")

    truth = GroundTruth.from_arrays(
        image_ids=[1] * 6, category_ids=[1] * 6, regions=ships(rows), images=[1], sizes=[SIZE], categories={1: "ship"}
    )
    detections = Detections.from_arrays(image_ids=[1] * 5, category_ids=[1] * 5, scores=scores, regions=ships(found))
    return plots.boxes_figure(evaluate(truth, detections, iou_type="rotated"), 1, score_threshold=0.5).figure


def bird_eye() -> Figure:
    """A road with cars in both directions."""
    rng = np.random.default_rng(2)
    lanes = [(x, lane, 0.0 if lane < 0 else np.pi) for lane in (-5.2, -1.8, 1.8, 5.2) for x in (4, 16, 28)]
    rows = np.array([[x + rng.uniform(0, 6), y, 0, 4.4, 1.8, 1.5, yaw] for x, y, yaw in lanes])
    found = (rows + rng.normal(0, [0.2, 0.15, 0, 0, 0, 0, 0.03], rows.shape))[rng.random(len(rows)) < 0.75]
    found = np.concatenate([found, [[22, 10, 0, 4.4, 1.8, 1.5, 0.6]]])
    scores = np.append(rng.uniform(0.6, 1, len(found) - 1), 0.55).round(2)

    def cars(numbers: FloatArray) -> Boxes3D:
        return Boxes3D(numbers, z="bottom", unit="radians", sense="counterclockwise")

    count = len(rows)
    truth = GroundTruth.from_arrays(
        image_ids=[1] * count, category_ids=[1] * count, regions=cars(rows), categories={1: "car"}
    )
    detections = Detections.from_arrays(
        image_ids=[1] * len(found), category_ids=[1] * len(found), scores=scores, regions=cars(found)
    )
    evaluation = evaluate(truth, detections, COCO.replace(area_ranges={"all": (0, 1e10)}), iou_type="bev")
    return plots.boxes_figure(evaluation, 1, score_threshold=0.5).figure


REGIONS: dict[str, Callable[[], Figure]] = {"keypoints": keypoints, "rotated": rotated, "bird_eye": bird_eye}
"""Figures without pixels."""
