"""Batches of a validation loop in torchmetrics' layout, and the same data for `evaluate`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ioukit import Detections, GroundTruth

__all__ = ["batch_of", "data_of_images", "random_images"]

Image = tuple[dict[str, Any], dict[str, Any]]


def random_images(seed: int, count: int, *, classes: int = 3, most: int = 8, dtype: Any = np.float32) -> list[Image]:
    """Predictions and targets of images, some of them empty. Boxes lie on a grid, so that overlaps and scores tie."""
    rng = np.random.default_rng(seed)
    images = []
    for _ in range(count):
        objects = int(rng.integers(0, most))
        low = rng.integers(0, 40, (objects, 2)) * 2.5
        truth = np.concatenate([low, low + rng.integers(1, 50, (objects, 2)) * 2.5], axis=1).astype(dtype)
        target = {"boxes": truth, "labels": rng.integers(0, classes, objects)}
        if rng.random() < 0.5:
            target["iscrowd"] = (rng.random(objects) < 0.2).astype(np.int64)
        if rng.random() < 0.5:
            target["area"] = (rng.random(objects) * 12000).astype(dtype)
        rows = rng.integers(0, objects, int(rng.integers(0, 2 * most))) if objects else np.zeros(0, np.int64)
        found = truth[rows] + rng.integers(-3, 4, (len(rows), 4)).astype(dtype)
        found[:, 2:] = np.maximum(found[:, :2], found[:, 2:])
        labels = np.where(rng.random(len(rows)) < 0.8, target["labels"][rows], rng.integers(0, classes, len(rows)))
        scores = (rng.integers(0, 8, len(rows)) / 8).astype(dtype)
        images.append(({"boxes": found, "scores": scores, "labels": labels}, target))
    return images


def batch_of(images: list[Image]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Two lists, as `update` takes them."""
    return [prediction for prediction, _ in images], [target for _, target in images]


def _sides(corners: Any) -> Any:
    boxes = np.asarray(corners, np.float64).reshape(-1, 4)
    return np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], axis=1)


def data_of_images(images: list[Image], ids: Any = None) -> tuple[GroundTruth, Detections]:
    """The same images, built without the evaluator."""
    ids = np.arange(len(images)) if ids is None else np.asarray(ids)
    boxes, areas, crowd, categories, of = [], [], [], [], []
    for number, (_, target) in zip(ids, images, strict=True):
        sides = _sides(target["boxes"])
        boxes.append(sides)
        areas.append(np.asarray(target.get("area", sides[:, 2] * sides[:, 3]), np.float64))
        crowd.append(np.asarray(target.get("iscrowd", np.zeros(len(sides), np.int64)), np.int64))
        categories.append(np.asarray(target["labels"], np.int64))
        of += [number] * len(sides)
    found = [prediction for prediction, _ in images]
    labels = np.concatenate([np.asarray(one["labels"], np.int64) for one in found])
    listed = np.union1d(np.concatenate(categories), labels)
    gt = GroundTruth.from_arrays(
        image_ids=np.array(of, ids.dtype),
        category_ids=np.concatenate(categories),
        boxes=np.concatenate(boxes),
        areas=np.concatenate(areas),
        crowd=np.concatenate(crowd),
        images=ids,
        categories=listed,
    )
    dt = Detections.from_arrays(
        image_ids=np.repeat(ids, [len(one["scores"]) for one in found]),
        category_ids=labels,
        boxes=np.concatenate([_sides(one["boxes"]) for one in found]),
        scores=np.concatenate([np.asarray(one["scores"], np.float64) for one in found]),
    )
    return gt, dt
