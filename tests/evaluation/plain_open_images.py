"""Open Images' AP in plain Python, from what the evaluators of TensorFlow's models do; and random scenes for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from evaluation.plain_analysis import plain_iou
from ioukit import Detections, GroundTruth
from ioukit.datasets import IdLists

__all__ = ["plain_open_images", "random_open_images"]


def random_open_images(seed: int) -> tuple[GroundTruth, Detections]:
    """Boxes on a grid, so that overlaps are often one half; some are groups, and some detections have no area."""
    random = np.random.default_rng(seed)
    objects, found = int(random.integers(1, 40)), int(random.integers(0, 120))
    places = [random.integers(0, 64, (objects, 2)), random.integers(4, 48, (objects, 2))]
    boxes = np.hstack(places) / 128
    groups = random.random(objects) < 0.3
    images, categories = random.integers(1, 5, objects), random.integers(1, 4, objects)
    source = random.integers(0, objects, found)
    near = boxes[source] + random.integers(-6, 7, (found, 4)) / 128
    near[:, 2:] = np.maximum(near[:, 2:], 0)
    lists = [IdLists.of(random.integers(1, 5, random.integers(0, 3)) for _ in range(5)) for _ in range(2)]
    gt = GroundTruth.from_arrays(
        image_ids=images,
        category_ids=categories,
        boxes=boxes,
        flags={"group_of": groups},
        images=[1, 2, 3, 4, 5],
        categories=[1, 2, 3, 4],
        image_attributes=dict(zip(("positive_category_ids", "negative_category_ids"), lists, strict=True)),
    )
    elsewhere = random.random(found) < 0.1
    dt = Detections.from_arrays(
        image_ids=np.where(elsewhere, 5, images[source]),
        category_ids=np.where(random.random(found) < 0.85, categories[source], 4),
        boxes=near,
        scores=(random.permutation(found) + 1) / (found + 1),
    )
    return gt, dt


def plain_open_images(gt: GroundTruth, dt: Detections, *, challenge: bool) -> dict[int, float]:
    """AP of each category that has objects to find. No scores may be equal."""
    labels: list[Any] = list(gt.images.attributes.values())
    hits: dict[int, list[tuple[float, bool]]] = {category: [] for category in gt.categories.ids.tolist()}
    objects = dict.fromkeys(hits, 0)
    for place, image in enumerate(gt.images.ids.tolist()):
        for category, found in hits.items():
            here = (gt.image_ids == image) & (gt.category_ids == category)
            rows = np.flatnonzero(
                (dt.image_ids == image) & (dt.category_ids == category) & (dt.boxes[:, 2:] > 0).all(1)
            )
            singles, groups = (np.flatnonzero(here & (gt.flag("group_of") == is_group)) for is_group in (False, True))
            objects[category] += len(singles) + (len(groups) if challenge else 0)
            if challenge and not here.any() and not any(category in lists[place] for lists in labels):
                continue
            taken: set[int] = set()
            for row in sorted(rows.tolist(), key=lambda row: -dt.scores[row]):
                overlaps = [plain_iou(dt.boxes[row], gt.boxes[one], crowd=False) for one in singles]
                shares = [plain_iou(dt.boxes[row], gt.boxes[one], crowd=True) for one in groups]
                best = int(singles[np.argmax(overlaps)]) if overlaps else -1
                if overlaps and max(overlaps) >= 0.5 and best not in taken:
                    taken.add(best)
                    found.append((float(dt.scores[row]), True))
                elif shares and max(shares) >= 0.5:
                    group = int(groups[np.argmax(shares)])
                    if challenge and group not in taken:  # the best detection in a group finds it
                        found.append((float(dt.scores[row]), True))
                    taken.add(group)
                else:
                    found.append((float(dt.scores[row]), False))
    return {
        category: _area([hit for _, hit in sorted(found, reverse=True)], objects[category])
        for category, found in hits.items()
        if objects[category]
    }


def _area(hits: list[bool], objects: int) -> float:
    precision = [sum(hits[:count]) / count for count in range(1, len(hits) + 1)]
    return sum(max(precision[at:]) / objects for at, hit in enumerate(hits) if hit)
