"""Detectron2's ``Instances``, and the dict that its models return for an image."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ioukit.datasets.predictions.prediction import Prediction, array_of, column_of, numbers_of

__all__ = ["is_prediction", "read"]

_ANGLE = 4


def is_prediction(value: Any) -> bool:
    """Whether the value has the attributes of ``Instances``, or is a dict with ``instances``."""
    if isinstance(value, Mapping):
        return "instances" in value and is_prediction(value["instances"])
    return hasattr(value, "get_fields") and hasattr(value, "image_size")


def read(value: Any, where: str) -> Prediction:
    """``pred_boxes``, ``scores``, ``pred_classes``, ``pred_masks`` or ``pred_masks_rle``, ``pred_keypoints``.

    Boxes of five numbers are rotated: ``cx, cy, width, height``, and an angle in degrees, counterclockwise on the
    screen. Keypoints are shifted by half a pixel, as Detectron2 does when it writes COCO's results: its models have the
    centre of a pixel at 0.5, COCO's annotations at 0.
    """
    instances = value["instances"] if isinstance(value, Mapping) else value
    fields = instances.get_fields()
    given = fields.get("pred_boxes")
    boxes = rotated = None
    if given is not None and array_of(given, f"{where}.pred_boxes").shape[-1] == _ANGLE + 1:
        rotated = numbers_of(given, f"{where}.pred_boxes", 5)
        rotated[:, _ANGLE] = -np.radians(rotated[:, _ANGLE])
        count = len(rotated)
    else:
        boxes = numbers_of(given, f"{where}.pred_boxes", 4)
        count = len(boxes)
    points = fields.get("pred_keypoints")
    if points is not None:
        points = numbers_of(points, f"{where}.pred_keypoints", None, 3) - [0.5, 0.5, 0]
    masks = fields.get("pred_masks_rle", fields.get("pred_masks"))
    return Prediction(
        scores=column_of(fields.get("scores"), f"{where}.scores", count),
        labels=column_of(fields.get("pred_classes"), f"{where}.pred_classes", count),
        boxes=boxes,
        rotated=rotated,
        masks=getattr(masks, "tensor", masks),
        keypoints=points,
    )
