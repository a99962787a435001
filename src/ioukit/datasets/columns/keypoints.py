"""Keypoints of a data set: from what its files spell to an array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._array_types import Floats
from ioukit._checks import check_threads
from ioukit.datasets.columns._checks import check_readable_again
from ioukit.datasets.columns.lazy import Keypoints
from ioukit.errors import DatasetError

_EXPECTED = "numbers: x, y and visibility of as many points as the other records have"


def decode_keypoints(
    column: Any, *, source: str, array: str, points: int | None = None, threads: int | None = None
) -> npt.NDArray[np.float64]:
    """(N, P, 3) x, y and visibility or score; NaN for rows without keypoints.

    Args:
        column: (N,) the keypoints of COCO's records, or an array (N, P, 3).
        source: What messages call the data set.
        array: What messages call the records: ``annotations`` or ``detections``.
        points: P; that of the first row that has keypoints if ``None``.
        threads: How many threads; all cores if ``None``.

    Raises:
        DatasetError: If a row has another number of points, or something else.
    """
    if isinstance(column, np.ndarray):
        if points is not None and column.shape[1] != points:
            raise DatasetError(f"{source}: {array}: expected {points} keypoints each, found {column.shape[1]}")
        return column
    if not isinstance(column, Keypoints):
        return _of_records(column, source, array, points)
    if column.decoded is not None and points in (None, column.decoded.shape[1]):
        return cast("npt.NDArray[np.float64]", column.decoded)
    parts, order = [], []
    for path, rows, spans in column.files():
        check_readable_again(path, "keypoints")
        flat, points = _core.read_coco_keypoints(
            path, array, rows.astype(np.int64), np.ascontiguousarray(spans), points, check_threads(threads)
        )
        parts.append(flat.reshape(len(rows), points, 3))
        order.append(rows)
    if len(parts) == 1:
        return parts[0]
    ordered: npt.NDArray[np.float64] = np.concatenate(parts)[np.argsort(np.concatenate(order), kind="stable")]
    return ordered


def _of_records(column: Sequence[Any], source: str, array: str, points: int | None) -> npt.NDArray[np.float64]:
    given = [(row, value) for row, value in enumerate(column) if value is not None]
    if points is None:
        points = len(given[0][1]) // 3 if given else 0
    values = np.full((len(column), points, 3), np.nan)
    for row, value in given:
        try:
            numbers: npt.NDArray[np.float64] = np.array(value, np.float64)
        except (TypeError, ValueError):
            numbers = np.zeros((0, 0))
        if numbers.shape != (3 * points,) or not np.isfinite(numbers).all():
            other = numbers.shape != (3 * points,) and numbers.ndim == 1
            found = f"{numbers.size} numbers instead of {3 * points}" if other else "another value"
            raise DatasetError(f"{source}: {array}[{row}].keypoints: expected {_EXPECTED}, found {found}")
        values[row] = numbers.reshape(points, 3)
    return values


def boxes_of_keypoints(column: Any, source: str, threads: int | None) -> tuple[Floats, Floats]:
    """(N, 4) boxes ``[x, y, width, height]`` around all keypoints of detections, and (N,) their areas."""
    points = decode_keypoints(column, source=source, array="detections", threads=threads)
    if isinstance(column, Keypoints):
        points.flags.writeable = False
        column.decoded = points  # likely to be compared
    if not points.size:
        return np.full((len(points), 4), np.nan), np.full(len(points), np.nan)
    boxes = _core.keypoint_bounds(np.ascontiguousarray(points), points.shape[1], check_threads(threads))
    return boxes, boxes[:, 2] * boxes[:, 3]
