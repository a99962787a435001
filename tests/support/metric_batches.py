"""Random predictions and targets as training loops have them, and random arguments of a metric of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

__all__ = ["random_arguments", "random_batches", "same_results"]

FORMATS = ("xyxy", "xywh", "cxcywh")


def random_arguments(rng: np.random.Generator) -> dict[str, Any]:
    """Arguments of the metric."""
    kinds: Any = ("bbox", "segm", ("bbox", "segm"), ("segm", "bbox"))[rng.integers(4)]
    chosen: dict[str, Any] = {"iou_type": kinds, "box_format": FORMATS[rng.integers(3)]}
    if rng.random() < 0.3:
        chosen["iou_thresholds"] = [[0.5], [0.75, 0.5], [0.1, 0.3], [0.5, 0.5, 0.9], [0.999, 1.0]][rng.integers(5)]
    if rng.random() < 0.3:
        chosen["rec_thresholds"] = [[0.0, 0.5, 1.0], [0.25], [0.1, 0.2, 0.3]][rng.integers(3)]
    if rng.random() < 0.4:
        chosen["max_detection_thresholds"] = [[1, 2, 100], [3, 1, 2], [1, 100, 300], [100, 100, 100]][rng.integers(4)]
    chosen["class_metrics"] = bool(rng.random() < 0.6)
    chosen["extended_summary"] = bool(rng.random() < 0.5)
    chosen["average"] = "micro" if rng.random() < 0.4 else "macro"
    return chosen


def random_batches(rng: np.random.Generator, arguments: dict[str, Any], *, images: int) -> list[Any]:
    """Pairs of predictions and targets, each a list with a dict per image."""
    kinds = arguments["iou_type"]
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    form = _Form(rng, kinds, arguments["box_format"])
    batches = []
    while images:
        size = int(rng.integers(1, images + 1))
        pairs = [form.image() for _ in range(size)]
        batches.append(([pair[0] for pair in pairs], [pair[1] for pair in pairs]))
        images -= size
    return batches


class _Form:
    """What all images of a random set have in common."""

    def __init__(self, rng: np.random.Generator, kinds: Sequence[str], box_format: str) -> None:
        self.rng, self.kinds, self.box_format = rng, kinds, box_format
        self.labels = int(rng.integers(1, 5))
        self.dtype = (torch.float32, torch.float32, torch.float64, torch.float16, torch.int64)[rng.integers(5)]
        self.label_dtype = (torch.int64, torch.int32, torch.uint8)[rng.integers(3)]
        self.mask_dtype = (torch.bool, torch.uint8)[rng.integers(2)]
        self.side = float(rng.choice([12, 60, 200]))
        self.scores = (None, 4, 1)[rng.integers(3)]  # None: all differ; else how many there are
        self.crowds, self.areas, self.empty = (rng.random() < 0.4 for _ in range(3))
        # With two kinds, TorchMetrics gives the detections of the numbers per class other areas.
        self.inverted = kinds == ("bbox",) and rng.random() < 0.15

    def image(self) -> tuple[dict[str, Any], dict[str, Any]]:
        rng = self.rng
        counts = [0 if self.empty and rng.random() < 0.4 else int(rng.integers(0, 7)) for _ in range(2)]
        objects = self._corners(counts[1])
        found = self._corners(counts[0])
        near = rng.random(counts[0]) < 0.7
        if counts[1]:  # most detections lie near an object
            chosen = objects[rng.integers(0, counts[1], counts[0])]
            found[near] = (chosen + np.round(rng.normal(0, self.side / 40, chosen.shape), 1))[near]
            if not self.inverted:
                found[:, 2:] = np.maximum(found[:, 2:], found[:, :2])
        scores = rng.random(counts[0]) if self.scores is None else rng.integers(1, self.scores + 1, counts[0]) / 8
        preds = self._regions(found) | {
            "scores": torch.tensor(scores, dtype=torch.float32),
            "labels": self._labels(counts[0]),
        }
        target = self._regions(objects) | {"labels": self._labels(counts[1])}
        if self.crowds:
            target["iscrowd"] = torch.tensor(rng.integers(0, 2, counts[1]))
        if self.areas and rng.random() < 0.8:
            target["area"] = torch.tensor(rng.choice([0.0, 500.0, 5000.0, 20000.0], counts[1]), dtype=torch.float32)
        return preds, target

    def _corners(self, count: int) -> np.ndarray[Any, Any]:
        low = self.rng.integers(0, int(self.side * 4), (count, 2)) / 4
        size = self.rng.integers(0 if self.rng.random() < 0.3 else 1, int(self.side * 2), (count, 2)) / 4
        if self.inverted:
            size *= self.rng.choice([1, 1, -1], (count, 2))
        return np.concatenate([low, low + size], axis=1)

    def _labels(self, count: int) -> torch.Tensor:
        return torch.tensor(self.rng.integers(0, self.labels, count) * 3, dtype=self.label_dtype)

    def _regions(self, corners: np.ndarray[Any, Any]) -> dict[str, torch.Tensor]:
        found = {}
        if "bbox" in self.kinds:
            low, high = corners[:, :2], corners[:, 2:]
            first = (low + high) / 2 if self.box_format == "cxcywh" else low
            second = high if self.box_format == "xyxy" else high - low
            boxes = torch.tensor(np.concatenate([first, second], axis=1)).to(self.dtype)
            found["boxes"] = boxes if len(boxes) or self.rng.random() < 0.5 else torch.tensor([])
        if "segm" in self.kinds:
            span = int(self.side) + 2
            masks = np.zeros((len(corners), span, span), np.uint8)
            for mask, (x, y, x2, y2) in zip(masks, np.clip(corners, 0, span).astype(int), strict=True):
                mask[y:y2, x:x2] = 1
                mask[self.rng.random(mask.shape) < 0.02] ^= 1
            found["masks"] = torch.tensor(masks).to(self.mask_dtype)
        return found


def same_results(found: Any, expected: Any) -> None:
    """Fails unless two results have the same keys in the same order, types, shapes and bits."""
    assert list(found) == list(expected)
    for key, value in expected.items():
        if isinstance(value, dict):
            same_results(found[key], value)
        elif isinstance(value, list):
            assert found[key] == value, key
        else:
            assert (found[key].dtype, found[key].shape) == (value.dtype, value.shape), key
            assert torch.equal(found[key], value), (key, found[key], value)
