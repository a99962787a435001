"""Two models at the edges: all right, none at all, equal to each other, of one image or class, with equal scores."""

from __future__ import annotations

import numpy as np

from ioukit import Detections, Evaluation, GroundTruth, evaluate

__all__ = ["odd_models"]


def odd_models(seed: int, images: int, classes: int, kinds: tuple[str, str]) -> list[Evaluation]:
    """Models of one kind each: all right, none at all, or some right and some wrong; with equal scores often."""
    rng = np.random.default_rng(seed)
    count = max(1, images * 2)
    image, category = rng.integers(0, images, count), rng.integers(0, classes, count)
    boxes = np.hstack([rng.uniform(0, 300, (count, 2)), rng.uniform(20, 90, (count, 2))])
    truth = GroundTruth.from_arrays(
        image_ids=image,
        category_ids=category,
        boxes=boxes,
        images=np.arange(images),
        categories={at: f"c{at}" for at in range(classes)},
        crowd=rng.random(count) < 0.1,
    )
    found = []
    for kind in kinds:
        rows = np.flatnonzero(rng.random(count) < {"right": 1.0, "none": 0.0}.get(kind, 0.7))
        moved = boxes[rows] * (1 if kind == "right" else 1 + 0.1 * rng.standard_normal((len(rows), 4)))
        scores = rng.choice([0.5, 0.9], len(rows))
        found.append(
            Detections.from_arrays(
                image_ids=image[rows], category_ids=category[rows], boxes=np.abs(moved), scores=scores
            )
        )
    if kinds == ("same", "same"):
        found[1] = found[0]
    return [evaluate(truth, one) for one in found]
