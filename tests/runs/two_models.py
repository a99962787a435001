"""Two models on the same images: the second one is the first with a planted change."""

from __future__ import annotations

from functools import cache

import numpy as np

from ioukit import Detections, Evaluation, GroundTruth, evaluate

__all__ = ["IMAGES", "pair"]

IMAGES = 80
NAMES = {1: "person", 2: "car", 3: "bird", 4: "unicorn"}  # of the last one there are no objects


@cache
def pair(
    lost: float = 0.0, of: int | None = None, seed: int = 0, images: int = IMAGES
) -> tuple[Evaluation, Evaluation]:
    """A baseline, and a candidate that lacks a part of the detections.

    Args:
        lost: The part of the detections that the candidate lacks, at random. If negative,
            the baseline lacks them.
        of: The class that loses them; all if ``None``.
        seed: Of the random objects.
        images: How many images.
    """
    rng = np.random.default_rng(seed)
    count = 6 * images
    boxes = np.concatenate([rng.uniform(0, 400, (count, 2)), rng.uniform(10, 120, (count, 2))], axis=1)
    images_of, classes = rng.permutation(np.arange(count) % images) + 1, rng.integers(1, 4, count)
    gt = GroundTruth.from_arrays(
        image_ids=images_of, category_ids=classes, boxes=boxes, images=np.arange(1, images + 1), categories=NAMES
    )
    found = boxes + rng.normal(0, 0.06, (count, 4)) * boxes[:, [2, 3, 2, 3]]
    found[:, 2:] = np.maximum(found[:, 2:], 1)
    scores = rng.uniform(0.2, 1, count).round(3)
    kept = np.flatnonzero(rng.random(count) < 0.8)
    rest = kept if of is None else kept[classes[kept] == of]
    gone = rest[rng.random(len(rest)) < abs(lost)]
    fewer = np.setdiff1d(kept, gone)
    sides = [
        evaluate(
            gt,
            Detections.from_arrays(
                image_ids=images_of[rows], category_ids=classes[rows], boxes=found[rows], scores=scores[rows]
            ),
        )
        for rows in (kept, fewer)
    ]
    return (sides[0], sides[1]) if lost >= 0 else (sides[1], sides[0])
