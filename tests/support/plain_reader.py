"""The content of a COCO file, by Python's own `json` and plain rules: slow, short and obviously right."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Columns", "RefusedError", "parse", "read_plainly"]

MAX_COORDINATE = 2.0**53


class RefusedError(Exception):
    """The files are not a COCO data set."""


@dataclass(frozen=True)
class Columns:
    """Everything that ioukit keeps of two files, as lists."""

    image_ids: list[int]
    category_ids: list[int]
    category_names: list[str]
    annotations: list[tuple[Any, ...]]  # id, image, category, box, area, crowd
    detections: list[tuple[Any, ...]]  # image, category, box, score


def parse(text: bytes) -> Any:
    """The JSON value, by Python, with its extensions NaN and Infinity."""
    try:
        return json.loads(text.decode("utf-8"))
    except ValueError as error:
        raise RefusedError(str(error)) from error


def read_plainly(ground_truth: bytes, detections: bytes) -> Columns:
    """Reads both files; raises `RefusedError` for what `on_invalid="error"` refuses."""
    gt, dt = parse(ground_truth), parse(detections)
    if not isinstance(gt, dict) or not isinstance(dt, list):
        raise RefusedError("kind of document")
    images = [integer(record, "id") for record in records(gt.get("images"))]
    categories = [(integer(record, "id"), record.get("name")) for record in records(gt.get("categories"))]
    annotations = [
        (
            integer(a, "id"),
            integer(a, "image_id"),
            integer(a, "category_id"),
            box(a),
            area_of(a),
            flag(a.get("iscrowd", 0)),
        )
        for a in records(gt.get("annotations"))
    ]
    results = [
        (integer(d, "image_id"), integer(d, "category_id"), box(d), real(d.get("score"), math.isfinite))
        for d in records(dt)
    ]
    category_ids = [number for number, _ in categories]
    for ids in (images, category_ids, [a[0] for a in annotations]):
        if len(set(ids)) < len(ids):
            raise RefusedError("repeated id")
    for image, category in [a[1:3] for a in annotations] + [d[:2] for d in results]:
        if image not in images or category not in category_ids:
            raise RefusedError("unknown id")
    names = [name if isinstance(name, str) else str(number) for number, name in categories]
    by_id = sorted(zip(category_ids, names, strict=True))  # images and categories are kept by rising id
    return Columns(sorted(images), [i for i, _ in by_id], [name for _, name in by_id], annotations, results)


def records(values: Any) -> Sequence[dict[str, Any]]:
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise RefusedError("records")
    return values


def real(value: Any, accept: Callable[[float], bool]) -> float:
    """The double nearest to a JSON number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RefusedError("kind of number")
    try:
        number = float(value)
    except OverflowError:
        raise RefusedError("too large") from None
    if not math.isfinite(number) or not accept(number):
        raise RefusedError("number")
    return number


def integer(record: dict[str, Any], key: str) -> int:
    """An id of 64 bits; some tools write it as a float."""
    value = record.get(key)
    if isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63:
        return value
    return int(real(value, lambda number: number.is_integer() and abs(number) < MAX_COORDINATE))


def area_of(record: dict[str, Any]) -> float:
    """`area`, or else that of the box. Records with a mask instead are refused: what is read here has no valid mask."""
    if "area" in record:
        return real(record["area"], lambda area: area >= 0)
    if record.get("segmentation") not in (None, [], {}):
        raise RefusedError("mask")
    _, _, width, height = box(record)
    return width * height


def flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    return bool(real(value, lambda number: number in (0.0, 1.0)))


def box(record: dict[str, Any]) -> tuple[float, ...]:
    value = record.get("bbox")
    if not isinstance(value, list) or len(value) != 4:
        raise RefusedError("box")
    numbers = tuple(real(v, lambda number: abs(number) <= MAX_COORDINATE) for v in value)
    if numbers[2] < 0 or numbers[3] < 0:
        raise RefusedError("inverted box")
    return numbers


def bits(values: Any) -> list[int]:
    """The bits of doubles, so that 0.0 and -0.0 differ."""
    array: list[int] = np.asarray(values, dtype=np.float64).reshape(-1).view(np.int64).tolist()
    return array
