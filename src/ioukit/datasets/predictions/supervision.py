"""Supervision's ``Detections``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ioukit.datasets.formats.text_files import refuse
from ioukit.datasets.predictions.prediction import Prediction, array_of, column_of, numbers_of, text_of
from ioukit.regions.rotated import RotatedBoxes

__all__ = ["is_prediction", "read"]

_NAMES, _CORNERS = "class_name", "xyxyxyxy"  # keys of `data`


def is_prediction(value: Any) -> bool:
    """Whether the value has the attributes of ``Detections``."""
    return all(hasattr(value, name) for name in ("xyxy", "confidence", "class_id", "tracker_id", "data"))


def read(value: Any, where: str) -> Prediction:
    """``xyxy``, ``confidence``, ``class_id``, ``mask`` and ``tracker_id``; ``class_name`` and ``xyxyxyxy`` of ``data``.

    Tracks become the attribute ``track_id``. Corners of oriented boxes become rotated boxes.
    """
    boxes = numbers_of(value.xyxy, f"{where}.xyxy", 4)
    count = len(boxes)
    if value.confidence is None and count:
        refuse(f"{where}.confidence", "a score per box", "nothing")
    scores = np.zeros(0) if value.confidence is None else column_of(value.confidence, f"{where}.confidence", count)
    data = value.data or {}
    names = text_of(data.get(_NAMES), f"{where}.data[{_NAMES!r}]", count)
    labels = None
    if value.class_id is not None or (names is None and count):
        labels = column_of(value.class_id, f"{where}.class_id", count)
    tracks = value.tracker_id
    return Prediction(
        scores=scores,
        labels=labels,
        names=names,
        boxes=boxes,
        rotated=_rotated(data.get(_CORNERS), f"{where}.data[{_CORNERS!r}]"),
        masks=None if value.mask is None else array_of(value.mask, f"{where}.mask"),
        attributes={} if tracks is None else {"track_id": column_of(tracks, f"{where}.tracker_id", count)},
    )


def _rotated(corners: Any, where: str) -> Any:
    if corners is None:
        return None
    points = numbers_of(corners, where, 4, 2)
    try:
        # Corners are float32, so those of a small box far from the origin are off by some thousandths of its size.
        boxes = RotatedBoxes.from_corners(points, unit="radians", sense="clockwise", tolerance=0.01)
    except ValueError as error:
        refuse(where, "corners of rectangles", str(error))
    return boxes.numpy()
