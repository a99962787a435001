"""What each tool returns, read by attribute or key: no tool is imported.

A tool has two functions: ``is_<tool>`` says whether an object is one of its results and must not raise an error, and
``read_<tool>`` makes a `Prediction` of it. `reading.py` lists them, in the order in which an object is compared.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from ioukit.datasets.formats.text_files import abbreviate, refuse
from ioukit.datasets.predictions.prediction import (
    Prediction,
    array_of,
    boxes_or_rotated,
    column_of,
    member_of,
    numbers_of,
    text_of,
)
from ioukit.regions.masks import Masks
from ioukit.regions.rotated import RotatedBoxes

_BOX_KEYS = ("boxes", "bboxes")
_CLASS_NAMES, _CORNERS = "class_name", "xyxyxyxy"  # keys of `data`


def is_dict(value: Any) -> bool:
    """Whether the value is a mapping with ``boxes``, or ``bboxes``, and ``scores``."""
    return isinstance(value, Mapping) and "scores" in value and any(name in value for name in _BOX_KEYS)


def read_dict(value: Mapping[str, Any], where: str) -> Prediction:
    """``boxes`` (xyxy in pixels), ``scores``, ``labels``, and perhaps ``masks``, ``keypoints`` and ``text_labels``.

    ``labels`` may be names, as those of detectors with text in the place of classes. torchvision's masks are
    probabilities (N, 1, H, W). Its keypoints are (N, P, 3), with scores in ``keypoints_scores``.
    """
    key = next(name for name in _BOX_KEYS if name in value)
    boxes = numbers_of(value[key], f"{where}[{key!r}]", 4)
    count = len(boxes)
    labels = value.get("labels")
    text = text_of(labels, f"{where}['labels']", count)
    names = text or text_of(value.get("text_labels"), f"{where}['text_labels']", count)
    return Prediction(
        scores=column_of(value["scores"], f"{where}['scores']", count),
        labels=None if text else column_of(labels, f"{where}['labels']", count),
        names=names,
        boxes=boxes,
        masks=value.get("masks"),
        keypoints=None if value.get("keypoints") is None else _keypoints_of_dict(value, where),
    )


def _keypoints_of_dict(value: Mapping[str, Any], where: str) -> Any:
    """(N, P, 3); the third number is the score of the point if there are scores."""
    points = numbers_of(value["keypoints"], f"{where}['keypoints']", None, 3)
    if value.get("keypoints_scores") is None:
        return points
    scores = array_of(value["keypoints_scores"], f"{where}['keypoints_scores']")
    if scores.shape != points.shape[:2]:
        return points
    return np.concatenate([points[..., :2], scores[..., None].astype(np.float64)], axis=2)


def is_ultralytics(value: Any) -> bool:
    """Whether the value has the attributes of ``Results``."""
    return all(hasattr(value, name) for name in ("orig_shape", "names", "boxes", "masks", "path"))


def read_ultralytics(value: Any, where: str) -> Prediction:
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
    boxes = numbers_of(found.xyxy, f"{place}.xyxy", 4) if turned is None else None
    rotated = None if turned is None else numbers_of(found.xywhr, f"{place}.xywhr", 5)
    count = len(found.conf)
    labels = column_of(found.cls, f"{place}.cls", count)
    tracks = getattr(found, "id", None)
    points = getattr(value, "keypoints", None)
    return Prediction(
        scores=column_of(found.conf, f"{place}.conf", count),
        labels=labels,
        names=_names_of_labels(value.names, labels, f"{place}.cls"),
        boxes=boxes,
        rotated=rotated,
        masks=_masks_of_ultralytics(value, count),
        keypoints=None if points is None or not count else _keypoints_of_ultralytics(points.data, f"{where}.keypoints"),
        attributes={} if tracks is None else {"track_id": column_of(tracks, f"{place}.id", count)},
        image=value.path if isinstance(value.path, str) and value.path else None,
    )


def _names_of_labels(names: Any, labels: Any, where: str) -> list[str] | None:
    if not names:
        return None
    known = dict(names) if hasattr(names, "keys") else dict(enumerate(names))
    missing = [label for label in labels.tolist() if label not in known]
    if missing:
        refuse(where, f"one of the {len(known):,} classes of the model", abbreviate(missing[0]))
    return [str(known[label]) for label in labels.tolist()]


def _masks_of_ultralytics(value: Any, count: int) -> Any:
    if value.masks is None or not count:
        return None
    height, width = value.orig_shape[:2]
    if tuple(value.masks.data.shape[-2:]) == (height, width):
        return value.masks.data
    outlines = [[one.ravel().tolist()] if len(one) > 2 else [] for one in map(np.asarray, value.masks.xy)]
    return Masks.from_polygons(outlines, height=height, width=width).to_rle()


def _keypoints_of_ultralytics(data: Any, where: str) -> Any:
    """(N, P, 3); points without a score get 1."""
    values = numbers_of(data, where, None, data.shape[-1])
    if values.shape[2] == 2:
        values = np.concatenate([values, np.ones((*values.shape[:2], 1))], axis=2)
    return values


def is_supervision(value: Any) -> bool:
    """Whether the value has the attributes of ``Detections``."""
    return all(hasattr(value, name) for name in ("xyxy", "confidence", "class_id", "tracker_id", "data"))


def read_supervision(value: Any, where: str) -> Prediction:
    """``xyxy``, ``confidence``, ``class_id``, ``mask`` and ``tracker_id``; ``class_name`` and ``xyxyxyxy`` of ``data``.

    Tracks become the attribute ``track_id``. Corners of oriented boxes become rotated boxes.
    """
    boxes = numbers_of(value.xyxy, f"{where}.xyxy", 4)
    count = len(boxes)
    scores = None if value.confidence is None else column_of(value.confidence, f"{where}.confidence", count)
    data = value.data or {}
    names = text_of(data.get(_CLASS_NAMES), f"{where}.data[{_CLASS_NAMES!r}]", count)
    labels = None
    if value.class_id is not None or (names is None and count):
        labels = column_of(value.class_id, f"{where}.class_id", count)
    tracks = value.tracker_id
    return Prediction(
        scores=scores,
        labels=labels,
        names=names,
        boxes=boxes,
        rotated=_rotated_of_corners(data.get(_CORNERS), f"{where}.data[{_CORNERS!r}]"),
        masks=None if value.mask is None else array_of(value.mask, f"{where}.mask"),
        attributes={} if tracks is None else {"track_id": column_of(tracks, f"{where}.tracker_id", count)},
    )


def _rotated_of_corners(corners: Any, where: str) -> Any:
    if corners is None:
        return None
    points = numbers_of(corners, where, 4, 2)
    try:
        # Corners are float32, so those of a small box far from the origin are off by some thousandths of its size.
        boxes = RotatedBoxes.from_corners(points, unit="radians", sense="clockwise", tolerance=0.01)
    except ValueError as error:
        refuse(where, "corners of rectangles", str(error))
    return boxes.numpy()


def is_detectron2(value: Any) -> bool:
    """Whether the value has the attributes of ``Instances``, or is a dict with ``instances``."""
    if isinstance(value, Mapping):
        return "instances" in value and is_detectron2(value["instances"])
    return hasattr(value, "get_fields") and hasattr(value, "image_size")


def read_detectron2(value: Any, where: str) -> Prediction:
    """``pred_boxes``, ``scores``, ``pred_classes``, ``pred_masks`` or ``pred_masks_rle``, ``pred_keypoints``.

    Boxes of five numbers are rotated: ``cx, cy, width, height``, and an angle in degrees, counterclockwise on the
    screen. Keypoints are shifted by half a pixel, as Detectron2 does when it writes COCO's results: its models have the
    centre of a pixel at 0.5, COCO's annotations at 0.
    """
    instances = value["instances"] if isinstance(value, Mapping) else value
    fields = instances.get_fields()
    boxes, rotated, count = boxes_or_rotated(fields.get("pred_boxes"), f"{where}.pred_boxes")
    if rotated is not None:
        rotated[:, 4] = -np.radians(rotated[:, 4])
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


def is_mmdetection(value: Any) -> bool:
    """Whether the value has ``pred_instances`` with ``bboxes``."""
    return member_of(member_of(value, "pred_instances"), "bboxes") is not None


def read_mmdetection(value: Any, where: str) -> Prediction:
    """``pred_instances`` with ``bboxes``, ``scores``, ``labels`` and perhaps ``masks``; the image by ``img_id``.

    Boxes of five numbers are MMRotate's: ``cx, cy, width, height``, and an angle in radians, clockwise on the screen.
    Without ``img_id``, the image is that of ``img_path``.
    """
    found, place = member_of(value, "pred_instances"), f"{where}.pred_instances"
    if array_of(member_of(found, "bboxes"), f"{place}.bboxes").shape[-1] == 8:
        refuse(f"{place}.bboxes", "4 or 5 numbers per box", "8: quadrilaterals, which are no rotated boxes")
    boxes, rotated, count = boxes_or_rotated(member_of(found, "bboxes"), f"{place}.bboxes")
    return Prediction(
        scores=column_of(member_of(found, "scores"), f"{place}.scores", count),
        labels=column_of(member_of(found, "labels"), f"{place}.labels", count),
        boxes=boxes,
        rotated=rotated,
        masks=member_of(found, "masks"),
        image=_image_of_sample(value),
    )


def _image_of_sample(value: Any) -> int | str | None:
    number = member_of(value, "img_id")
    if number is None:
        path = member_of(value, "img_path")
        return path if isinstance(path, str) else None
    return number if isinstance(number, str) else operator.index(number)
