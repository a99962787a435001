"""Dicts with boxes, scores and labels: torchvision's, those of Transformers, and what TorchMetrics takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ioukit.datasets.predictions.prediction import Prediction, array_of, column_of, numbers_of, text_of

__all__ = ["is_prediction", "read"]

_BOXES = ("boxes", "bboxes")


def is_prediction(value: Any) -> bool:
    """Whether the value is a mapping with ``boxes``, or ``bboxes``, and ``scores``."""
    return isinstance(value, Mapping) and "scores" in value and any(name in value for name in _BOXES)


def read(value: Mapping[str, Any], where: str) -> Prediction:
    """``boxes`` (xyxy in pixels), ``scores``, ``labels``, and perhaps ``masks``, ``keypoints`` and ``text_labels``.

    ``labels`` may be names, as those of detectors with text in the place of classes. torchvision's masks are
    probabilities (N, 1, H, W). Its keypoints are (N, P, 3), with scores in ``keypoints_scores``.
    """
    key = next(name for name in _BOXES if name in value)
    boxes = numbers_of(value[key], f"{where}[{key!r}]", 4)
    count = len(boxes)
    labels = value.get("labels")
    text = text_of(labels, f"{where}['labels']", count)
    names = text or text_of(value.get("text_labels"), f"{where}['text_labels']", count)
    points = None
    if value.get("keypoints") is not None:
        points = _keypoints(value, where)
    return Prediction(
        scores=column_of(value["scores"], f"{where}['scores']", count),
        labels=None if text else column_of(labels, f"{where}['labels']", count),
        names=names,
        boxes=boxes,
        masks=value.get("masks"),
        keypoints=points,
    )


def _keypoints(value: Mapping[str, Any], where: str) -> Any:
    """(N, P, 3); the third number is the score of the point if there are scores."""
    points = numbers_of(value["keypoints"], f"{where}['keypoints']", None, 3)
    if value.get("keypoints_scores") is None:
        return points
    scores = array_of(value["keypoints_scores"], f"{where}['keypoints_scores']")
    if scores.shape != points.shape[:2]:
        return points
    return np.concatenate([points[..., :2], scores[..., None].astype(np.float64)], axis=2)
