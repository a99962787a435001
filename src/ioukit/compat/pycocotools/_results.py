"""What `loadRes` adds to the records of results."""

from __future__ import annotations

from typing import Any

import numpy as np

from ioukit.compat.pycocotools import mask as mask_utils

__all__ = ["complete"]

Record = dict[str, Any]


def complete(records: list[Record]) -> str:
    """Completes records in place; the first one tells what all of them are.

    Returns:
        ``"captions"``, ``"boxes"``, ``"masks"``, ``"keypoints"`` or ``"unknown"``.
    """
    first = records[0]
    if "caption" in first:
        for number, record in enumerate(records, 1):
            record["id"] = number
        return "captions"
    if "bbox" in first and not _is_empty(first["bbox"]):
        for number, record in enumerate(records, 1):
            _of_box(record, number)
        return "boxes"
    if "segmentation" in first:
        _of_masks(records)
        return "masks"
    if "keypoints" in first:
        for number, record in enumerate(records, 1):
            _of_keypoints(record, number)
        return "keypoints"
    return "unknown"


def _is_empty(box: Any) -> bool:
    return isinstance(box, list) and not box


def _of_box(record: Record, number: int) -> None:
    x, y, width, height = record["bbox"][:4]
    if "segmentation" not in record:
        right, bottom = x + width, y + height
        record["segmentation"] = [[x, y, x, bottom, right, bottom, right, y]]
    record["area"] = width * height
    record["id"] = number
    record["iscrowd"] = 0


def _of_masks(records: list[Record]) -> None:
    masks = [record["segmentation"] for record in records]
    areas, boxes = mask_utils.area(masks), mask_utils.toBbox(masks)
    for number, (record, area, box) in enumerate(zip(records, areas, boxes, strict=True), 1):
        record["area"] = area
        if "bbox" not in record:
            record["bbox"] = box
        record["id"] = number
        record["iscrowd"] = 0


def _of_keypoints(record: Record, number: int) -> None:
    points = record["keypoints"]
    (left, right), (top, bottom) = ((np.min(side), np.max(side)) for side in (points[0::3], points[1::3]))
    record["area"] = (right - left) * (bottom - top)
    record["id"] = number
    record["bbox"] = [left, top, right - left, bottom - top]
