"""JSON text of the columns of a data set, one text per row: for the writers of COCO's files and of those like them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.datasets.columns._regions import KEYPOINTS, SEGMENTATIONS, WITHOUT_KEYPOINTS
from ioukit.datasets.columns.id_lists import IdLists
from ioukit.datasets.columns.keypoints import decode_keypoints
from ioukit.datasets.columns.lazy import ValuesOfFiles

if TYPE_CHECKING:
    from ioukit.datasets.columns.detections import Detections
    from ioukit.datasets.columns.ground_truth import GroundTruth

__all__ = ["DRAWN", "attribute_texts", "json_text", "keypoint_counts", "keypoint_texts", "segmentation_texts"]

_BREAKS = re.compile(r"[\r\n][ \t\r\n]*")

DRAWN = ("Masks", "Polygons", "RotatedBoxes")
"""The sets of regions that can be spelled as segmentations, in the order in which one is chosen."""


def json_text(value: Any) -> str:
    """The JSON text of a value, on one line and in ASCII; NumPy's values become Python's."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("ascii")
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def segmentation_texts(data: GroundTruth | Detections) -> list[str] | None:
    """(N,) the segmentation of each row, empty for a row without one; ``None`` if the data has none.

    Values of files keep their digits. Masks become compressed RLE; polygons and rotated boxes become polygons.
    """
    column = data.regions.get(SEGMENTATIONS)
    if column is not None:
        return _texts(column)
    kind = next((name for name in DRAWN if name in data.regions), None)
    if kind is None:
        return None
    regions: Any = data.regions[kind]
    if kind == "Masks":
        return [json_text(record) for record in regions.to_rle()]
    rings = regions.to_flat() if kind == "Polygons" else regions.corners().reshape(len(regions), 8).tolist()
    return [f"[{json_text(list(map(float, ring)))}]" for ring in rings]


def _texts(column: Sequence[Any]) -> list[str]:
    if isinstance(column, ValuesOfFiles):
        return [_one_line(text) for text in column.texts()]
    return ["" if value is None else json_text(value) for value in column]


def _one_line(text: bytes) -> str:
    """The text without line breaks and what follows them, which are never inside of a string of JSON."""
    return "" if text == b"null" else _BREAKS.sub("", text.decode("utf-8"))


def keypoint_texts(data: GroundTruth | Detections) -> list[str] | None:
    """(N,) ``x, y, v`` of all keypoints of each row, empty for a row without; ``None`` if the data has none."""
    column = data.regions.get(KEYPOINTS)
    if column is None:
        return None
    if not isinstance(column, np.ndarray):
        return _texts(column)
    return ["" if np.isnan(points).any() else json_text(points.reshape(-1)) for points in column]


def keypoint_counts(gt: GroundTruth) -> list[int]:
    """(N,) how many keypoints of each row are labelled: none where the flag ``without_keypoints`` says so."""
    points = decode_keypoints(gt.regions[KEYPOINTS], source=gt.source, array="annotations")
    counts: list[int] = (points[..., 2] > 0).sum(axis=1).tolist()
    flag = gt.flags.get(WITHOUT_KEYPOINTS)
    if flag is None:
        return counts
    return [0 if without else max(count, 1) for count, without in zip(counts, flag.tolist(), strict=True)]


def attribute_texts(columns: Mapping[str, Any], flags: Mapping[str, Any], count: int) -> list[str] | None:
    """(N,) an object with the attributes of each row, empty for a row without; ``None`` if there are none.

    A flag that is not set, a number that is NaN and an empty text are left out.
    """
    parts: list[list[str]] = [[] for _ in range(count)]
    for name, flag in flags.items():
        member = f"{json_text(name)}:true"
        for row in np.flatnonzero(flag).tolist():
            parts[row].append(member)
    for name, column in columns.items():
        key = json_text(name)
        for row, text in enumerate(_value_texts(column)):
            if text:
                parts[row].append(f"{key}:{text}")
    texts = [f"{{{','.join(members)}}}" if members else "" for members in parts]
    return texts if any(texts) else None


def _value_texts(column: Any) -> Iterable[str]:
    if isinstance(column, IdLists):
        return map(json_text, column.tolist())
    array = np.asarray(column)
    if array.ndim > 1:
        return map(_row_text, array)
    if array.dtype.kind == "f":
        return (repr(value) if finite else "" for value, finite in zip(array.tolist(), np.isfinite(array), strict=True))
    if array.dtype.kind == "U":
        return (json_text(value) if value else "" for value in array.tolist())
    return map(json_text, array.tolist() if array.dtype.kind in "iub" else map(str, array.tolist()))


def _row_text(row: np.ndarray[Any, Any]) -> str:
    """The text of one row of a column with several values per row; ``null`` for a number that is not finite."""
    if row.dtype.kind != "f":
        return json_text(row)
    if not np.isfinite(row).any():
        return ""
    values = row.astype(object)
    values[~np.isfinite(row)] = None
    return json_text(values)
