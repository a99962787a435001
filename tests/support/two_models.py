"""Pairs of models on one ground truth, with small and with planted differences."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ioukit import Detections, GroundTruth, evaluate
from ioukit.evaluation import COCO, Evaluation, Protocol

__all__ = ["ground_truth", "model", "pair", "ranked"]


def ground_truth(seed: int = 0, *, images: int = 12, categories: int = 3) -> GroundTruth:
    """Boxes of three categories, the last one rare; sizes on both sides of COCO's limits."""
    rng = np.random.default_rng(seed)
    count = rng.integers(0, 5, images)
    image = np.repeat(np.arange(images), count)
    category = np.minimum(rng.geometric(0.5, len(image)), categories)
    corner, size = rng.uniform(0, 400, (len(image), 2)), rng.uniform(8, 140, (len(image), 2))
    return GroundTruth.from_coco(
        {
            "images": [{"id": 10 + k, "width": 640, "height": 640, "file_name": f"{k}.jpg"} for k in range(images)],
            "categories": [{"id": k + 1, "name": name} for k, name in enumerate(["car", "cat", "owl"][:categories])],
            "annotations": [
                {"id": k + 1, "image_id": 10 + int(i), "category_id": int(c), "bbox": [*map(float, [*p, *s])],
                 "area": float(s[0] * s[1]), "iscrowd": int(rng.random() < 0.05)}
                for k, (i, c, p, s) in enumerate(zip(image, category, corner, size, strict=True))
            ],
        }
    )  # fmt: skip


def model(truth: GroundTruth, seed: int, *, found: float = 0.8, shift: float = 0.05) -> Detections:
    """Detections: a share of the objects with shifted boxes, and some false positives. No two scores are equal."""
    rng = np.random.default_rng([seed, 7])
    rows = np.flatnonzero(rng.random(len(truth)) < found)
    boxes = truth.boxes[rows] * (1 + shift * rng.normal(size=(len(rows), 4)))
    extra = max(1, len(truth) // 4)
    image = np.concatenate([truth.image_ids[rows], rng.choice(truth.images.ids, extra)])
    category = np.concatenate([truth.category_ids[rows], rng.choice(truth.categories.ids, extra)])
    wrong = np.column_stack([rng.uniform(0, 400, (extra, 2)), rng.uniform(8, 140, (extra, 2))])
    scores = np.concatenate([rng.beta(5, 2, len(rows)), rng.beta(2, 5, extra)])
    return Detections.from_arrays(
        image_ids=image, category_ids=category, boxes=np.concatenate([boxes, wrong]), scores=scores
    )


def pair(
    seed: int = 0, protocol: Protocol = COCO, *, images: int = 12, a: Any = None, b: Any = None
) -> tuple[Evaluation, Evaluation]:
    """Two evaluated models; ``a`` and ``b`` are options of :func:`model`."""
    truth = ground_truth(seed, images=images)
    options = (a or {}, b or {})
    one, other = (evaluate(truth, model(truth, 100 * seed + k, **each), protocol) for k, each in enumerate(options))
    return one, other


def ranked(found: Detections) -> Detections:
    """With scores 0, -1, -2, ... for the highest score of a class, the next one, ..."""
    rows = list(zip(found.category_ids.tolist(), found.scores.tolist(), strict=True))
    ranks = [-sum(other > score for number, other in rows if number == category) for category, score in rows]
    return dataclasses.replace(found, scores=np.array(ranks, np.float64))
