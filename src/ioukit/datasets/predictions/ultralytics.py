"""Ultralytics' ``Results``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ioukit.datasets.formats.text_files import abbreviate, refuse
from ioukit.datasets.predictions.prediction import Prediction, column_of, numbers_of
from ioukit.regions.masks import Masks

__all__ = ["is_prediction", "read"]


def is_prediction(value: Any) -> bool:
    """Whether the value has the attributes of ``Results``."""
    return all(hasattr(value, name) for name in ("orig_shape", "names", "boxes", "masks", "path"))


def read(value: Any, where: str) -> Prediction:
    """``boxes`` or ``obb``, ``masks``, ``keypoints``; classes by ``names``, the image by ``path``.

    Angles of ``obb.xywhr`` are radians, clockwise on the screen. Masks that have the size of the image are taken as
    they are (``retina_masks=True``); others are drawn from their outlines ``masks.xy``, which are in pixels of the
    image. Tracks become the attribute ``track_id``, NaN where there is none.
    """
    turned = getattr(value, "obb", None)
    found = value.boxes if turned is None else turned
    if found is None:
        refuse(where, "boxes or obb", "a result without them, as of a classifier")
    place = f"{where}.{'boxes' if turned is None else 'obb'}"
    boxes = rotated = None
    if turned is None:
        boxes = numbers_of(found.xyxy, f"{place}.xyxy", 4)
    else:
        rotated = numbers_of(found.xywhr, f"{place}.xywhr", 5)
    count = len(found.conf)
    labels = column_of(found.cls, f"{place}.cls", count)
    tracks = getattr(found, "id", None)
    points = getattr(value, "keypoints", None)
    return Prediction(
        scores=column_of(found.conf, f"{place}.conf", count),
        labels=labels,
        names=_names(value.names, labels, f"{place}.cls"),
        boxes=boxes,
        rotated=rotated,
        masks=_masks(value, count),
        keypoints=None if points is None or not count else _keypoints(points.data, f"{where}.keypoints"),
        attributes={} if tracks is None else {"track_id": column_of(tracks, f"{place}.id", count)},
        image=value.path if isinstance(value.path, str) and value.path else None,
    )


def _names(names: Any, labels: Any, where: str) -> list[str] | None:
    if not names:
        return None
    known = dict(names) if hasattr(names, "keys") else dict(enumerate(names))
    missing = [label for label in labels.tolist() if label not in known]
    if missing:
        refuse(where, f"one of the {len(known):,} classes of the model", abbreviate(missing[0]))
    return [str(known[label]) for label in labels.tolist()]


def _masks(value: Any, count: int) -> Any:
    if value.masks is None or not count:
        return None
    height, width = value.orig_shape[:2]
    if tuple(value.masks.data.shape[-2:]) == (height, width):
        return value.masks.data
    outlines = [[one.ravel().tolist()] if len(one) > 2 else [] for one in map(np.asarray, value.masks.xy)]
    return Masks.from_polygons(outlines, height=height, width=width).to_rle()


def _keypoints(data: Any, where: str) -> Any:
    """(N, P, 3); points without a score get 1."""
    values = numbers_of(data, where, None, data.shape[-1])
    if values.shape[2] == 2:
        values = np.concatenate([values, np.ones((*values.shape[:2], 1))], axis=2)
    return values
