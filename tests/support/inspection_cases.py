"""Data sets to make pages of: ordinary ones, empty ones, large ones, and regions of every kind."""

from __future__ import annotations

import numpy as np

from ioukit import GroundTruth, Inspection, Polygons, RotatedBoxes, inspect
from support.paths import DEMO, EXAMPLES

__all__ = ["CASES", "coco", "crowds"]


def coco() -> Inspection:
    """A hundred images and 80 classes of COCO."""
    return inspect(EXAMPLES / "coco_val2017_100" / "ground_truth.json")


def crowds() -> Inspection:
    """Six images that have crowds."""
    return inspect(DEMO / "gt.json")


def many() -> Inspection:
    """A thousand and more classes, 20,000 images and long names."""
    rng = np.random.default_rng(1)
    count, images, classes = 40_000, 20_000, 1_203
    boxes = np.hstack([rng.uniform(0, 500, (count, 2)), rng.uniform(1, 150, (count, 2))])
    return inspect(
        GroundTruth.from_arrays(
            image_ids=rng.integers(1, images + 1, count),
            category_ids=(classes * rng.random(count) ** 3).astype(int),
            boxes=boxes,
            images=np.arange(1, images + 1),
            sizes=np.full((images, 2), 640.0),
            categories={k: f"the class with the number {k} " * (1 + k % 4) for k in range(classes)},
        )
    )


def unsized() -> Inspection:
    """No sizes of images, one class, boxes without an area, and a right-to-left name."""
    return inspect(
        GroundTruth.from_arrays(
            image_ids=["a", "a", "b"], category_ids=[1, 1, 1],
            boxes=np.array([[0, 0, 0, 0], [1, 1, 9, 0], [5, 5, 0, 9]]),
            images=np.array(["a", "b", "c"]), categories={1: "\u05e9\u05dc\u05d5\u05dd \U0001f600 <b>"},
        )
    )  # fmt: skip


def nothing() -> Inspection:
    """Neither images nor classes."""
    return inspect(GroundTruth.from_coco({"images": [], "categories": [], "annotations": []}))


def rotated() -> Inspection:
    """Rotated boxes."""
    rng = np.random.default_rng(2)
    numbers = np.hstack([rng.uniform(50, 400, (30, 2)), rng.uniform(5, 80, (30, 2)), rng.uniform(-90, 90, (30, 1))])
    regions = RotatedBoxes(numbers, unit="degrees", sense="clockwise")
    return inspect(
        GroundTruth.from_arrays(
            image_ids=np.arange(30) % 4, category_ids=np.arange(30) % 3, regions=regions, images=np.arange(4),
            sizes=np.full((4, 2), 450.0),
        )
    )  # fmt: skip


def polygons() -> Inspection:
    """Polygons and difficult objects."""
    corners = np.array([[0, 0], [40, 5], [30, 40], [10, 30]])
    regions = Polygons([corners + place for place in (0, 20, 300)])
    return inspect(
        GroundTruth.from_arrays(
            image_ids=[1, 1, 1], category_ids=[1, 1, 2], regions=regions, flags={"difficult": [True, False, False]}
        )
    )


CASES = {
    "coco": coco,
    "crowds": crowds,
    "1,203 classes": many,
    "no sizes": unsized,
    "nothing": nothing,
    "rotated": rotated,
    "polygons": polygons,
}
