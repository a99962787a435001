"""COCO results whose image ids are strings, such as names of files, which the reader refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ioukit.datasets import Detections
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    import os


_FIELDS = ("image_id", "category_id", "bbox", "score")


def read_named_images(path: str | os.PathLike[str]) -> Detections | None:
    """Detections from COCO results whose image ids are strings: the names of files, or numbers as strings.

    COCO's ids are integers, and `Detections.from_coco` takes no others. These ids are kept as they are, for
    `ioukit.checks.check` and for the repair ``images=stem``.

    Args:
        path: A ``.json`` file with a list of records, each with ``image_id``, ``category_id``, ``bbox`` as
            ``[x, y, width, height]`` and ``score``. Other keys are ignored.

    Returns:
        The detections; ``None`` if no image id is a string, or if the file is no list of records.

    Raises:
        DatasetError: If a record lacks a field, or a value is invalid.
        OSError: If the file cannot be read.
    """
    try:
        records = json.loads(Path(path).read_bytes())
    except (ValueError, RecursionError):
        return None
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        return None
    if not any(isinstance(record.get("image_id"), str) for record in records):
        return None
    for row, record in enumerate(records):
        _check(record, f"{path}: detections[{row}]")
    return Detections.from_arrays(
        image_ids=[str(record["image_id"]) for record in records],
        category_ids=[record["category_id"] for record in records],
        boxes=[record["bbox"] for record in records],
        scores=[record["score"] for record in records],
        source=str(path),
    )


def _check(record: dict[str, Any], where: str) -> None:
    for name in _FIELDS:
        if name not in record:
            raise DatasetError(f"{where}: expected {name}, found a record without it")
    if not isinstance(record["image_id"], int | str) or isinstance(record["image_id"], bool):
        raise DatasetError(f"{where}.image_id: expected an integer or a string, found {record['image_id']!r}")
    if not _is_number(record["category_id"], int):
        raise DatasetError(f"{where}.category_id: expected an integer, found {record['category_id']!r}")
    box = record["bbox"]
    if not isinstance(box, list) or len(box) != 4 or not all(_is_number(value, int | float) for value in box):
        raise DatasetError(f"{where}.bbox: expected 4 numbers, found {box!r}")
    if not _is_number(record["score"], int | float):
        raise DatasetError(f"{where}.score: expected a number, found {record['score']!r}")


def _is_number(value: object, kinds: Any) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool) and abs(value) < 2**63
