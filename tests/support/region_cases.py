"""Small evaluations of every kind of region, for figures and reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import COCO, Boxes3D, Detections, GroundTruth, Masks, Polygons, RotatedBoxes, evaluate

if TYPE_CHECKING:
    from ioukit.evaluation import Evaluation
    from ioukit.regions import Regions
    from ioukit.typing import FloatArray

__all__ = ["KINDS", "PERSON", "boxes_in_space", "evaluated", "keypoints", "masks", "polygons", "rotated_boxes"]

WIDTH, HEIGHT, IMAGES = 320, 240, 3
NAMES = {1: "cat", 2: "dog"}

PERSON = np.array([
    [0, -92], [3, -95], [-3, -95], [7, -93], [-7, -93], [14, -78], [-14, -78], [20, -60], [-20, -60], [22, -42],
    [-22, -42], [10, -45], [-10, -45], [10, -22], [-10, -22], [10, 0], [-10, 0],
]) / 100  # fmt: skip
"""COCO's 17 keypoints of a standing person of height 1, whose feet are at 0."""


def _places(seed: int) -> tuple[np.random.Generator, FloatArray, FloatArray]:
    """Centres and sides of fifteen boxes, five per image."""
    rng = np.random.default_rng(seed)
    sides = rng.uniform(30, 90, (5 * IMAGES, 2))
    return rng, rng.uniform(sides / 2, np.array([WIDTH, HEIGHT]) - sides / 2), sides


def _data(truth: dict[str, Any], found: dict[str, Any], rng: np.random.Generator) -> tuple[GroundTruth, Detections]:
    """Ground truth with one object per row, and detections of four fifths of them."""
    images = np.repeat(np.arange(1, IMAGES + 1), 5)
    categories = rng.integers(1, 3, len(images))
    kept = np.flatnonzero(rng.random(len(images)) < 0.8)
    said = np.where(rng.random(len(images)) < 0.2, 3 - categories, categories)
    gt = GroundTruth.from_arrays(
        image_ids=images,
        category_ids=categories,
        images=np.arange(1, IMAGES + 1),
        sizes=[[WIDTH, HEIGHT]] * IMAGES,
        categories=NAMES,
        **truth,
    )
    dt = Detections.from_arrays(
        image_ids=images[kept],
        category_ids=said[kept],
        scores=rng.uniform(0.3, 1, len(kept)).round(3),
        **{name: column[kept] for name, column in found.items()},
    )
    return gt, dt


def masks(seed: int = 0) -> tuple[GroundTruth, Detections]:
    """Ellipses with a hole, and two pixels that touch at a corner; RLE on both sides."""
    rng, centres, sides = _places(seed)
    y, x = np.mgrid[:HEIGHT, :WIDTH]

    def drawn(centre: FloatArray, side: FloatArray) -> Any:
        radius = np.hypot((x - centre[0]) / side[0] * 2, (y - centre[1]) / side[1] * 2)
        pixels = (radius <= 1) & (radius > 0.3)
        pixels[0, 0] = pixels[1, 1] = True
        return pixels

    truth = Masks.from_arrays([drawn(*place) for place in zip(centres, sides, strict=True)])
    moved = centres + rng.normal(0, 4, centres.shape)
    found = Masks.from_arrays([drawn(*place) for place in zip(moved, sides, strict=True)])
    return _data({"regions": truth}, {"regions": found}, rng)


def keypoints(seed: int = 0) -> tuple[GroundTruth, Detections]:
    """Persons with some keypoints that are hidden or not labelled."""
    rng, centres, sides = _places(seed)
    shape = (len(centres), 17, 2)
    places = centres[:, None] + (PERSON + np.array([0, 0.5]) + rng.normal(0, 0.02, shape)) * sides[:, None, 1:]
    visibility = rng.choice([0, 1, 2], shape[:2], p=[0.1, 0.2, 0.7])
    truth = np.dstack([np.where(visibility[..., None] > 0, places, 0), visibility])
    found = np.dstack([places + rng.normal(0, 2, shape), np.ones(shape[:2])])
    boxes = np.hstack([centres - sides / 2, sides])
    return _data({"keypoints": truth, "boxes": boxes}, {"keypoints": found, "boxes": boxes}, rng)


def rotated_boxes(seed: int = 0) -> tuple[GroundTruth, Detections]:
    """Rotated boxes."""
    rng, centres, sides = _places(seed)
    rows = np.hstack([centres, sides, rng.uniform(-90, 90, (len(sides), 1))])

    def boxes(numbers: FloatArray) -> Regions:
        return RotatedBoxes(numbers, unit="degrees", sense="clockwise")

    return _data(
        {"regions": boxes(rows)}, {"regions": boxes(rows + rng.normal(0, [3, 3, 0.5, 0.5, 4], rows.shape))}, rng
    )


def polygons(seed: int = 0) -> tuple[GroundTruth, Detections]:
    """Stars with five points."""
    rng, centres, sides = _places(seed)
    turns = np.pi * np.arange(10) / 5
    star = np.stack([np.cos(turns), np.sin(turns)], axis=1) * np.tile([1, 0.5], 5)[:, None]

    def stars(middle: FloatArray) -> Regions:
        return Polygons([place + star * side / 2 for place, side in zip(middle, sides, strict=True)])

    return _data({"regions": stars(centres)}, {"regions": stars(centres + rng.normal(0, 2, centres.shape))}, rng)


def boxes_in_space(seed: int = 0) -> tuple[GroundTruth, Detections]:
    """Cars on a plane, a few of them beyond the origin."""
    rng = np.random.default_rng(seed)
    count = 5 * IMAGES
    rows = np.column_stack([
        rng.uniform(-20, 40, count), rng.uniform(-15, 15, count), np.zeros(count), np.full(count, 4.4),
        np.full(count, 1.8), np.full(count, 1.5), rng.uniform(-np.pi, np.pi, count),
    ])  # fmt: skip

    def cars(numbers: FloatArray) -> Regions:
        return Boxes3D(numbers, z="bottom", unit="radians", sense="counterclockwise")

    moved = rows + rng.normal(0, [0.2, 0.2, 0, 0, 0, 0, 0.03], rows.shape)
    return _data({"regions": cars(rows)}, {"regions": cars(moved)}, rng)


KINDS = {
    "segm": masks,
    "boundary": masks,
    "keypoints": keypoints,
    "rotated": rotated_boxes,
    "rotated-probiou": rotated_boxes,
    "polygon": polygons,
    "box3d": boxes_in_space,
    "bev": boxes_in_space,
}
"""What makes the data of each kind of region but upright boxes."""


def evaluated(kind: str, seed: int = 0) -> Evaluation:
    """The evaluation of one of the kinds."""
    protocol = COCO.replace(area_ranges={"all": (0, 1e10)}) if kind in ("box3d", "bev") else None
    return evaluate(*KINDS[kind](seed), protocol, iou_type=kind)
