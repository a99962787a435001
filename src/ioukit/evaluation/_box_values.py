"""Values of upright boxes, and of their attributes, by which protocols choose what counts."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ioukit.datasets import Detections, GroundTruth
from ioukit.errors import DatasetError
from ioukit.evaluation.protocols.parts import ValueRange

__all__ = ["within"]

_OF_BOXES = ("left", "top", "width", "height", "right", "bottom")


def within(side: GroundTruth | Detections, ranges: Iterable[ValueRange], array: str) -> npt.NDArray[np.bool_]:
    """(N,) whether all values of a row lie within their ranges.

    Args:
        side: The objects, or the detections.
        ranges: The ranges.
        array: The name of the rows in messages.

    Raises:
        DatasetError: If there is no such value, or it is not one number for each row.
    """
    inside = np.ones(len(side), np.bool_)
    for value, low, high in ranges:
        numbers = _numbers(side, value, array)
        inside &= ~(numbers < low) & ~(numbers > high)
    return inside


def _numbers(side: GroundTruth | Detections, value: str, array: str) -> npt.NDArray[np.float64]:
    if value in _OF_BOXES:
        at = _OF_BOXES.index(value)
        return side.boxes[:, at] if at < 4 else side.boxes[:, at - 4] + side.boxes[:, at - 2]
    column = side.attributes.get(value)
    if column is None or column.ndim != 1 or column.dtype.kind not in "biuf":
        found = "no such attribute" if column is None else f"shape {column.shape} of {column.dtype}"
        raise DatasetError(
            f"{side.source}: the attribute {value!r} of {array}: expected a number for each, found {found}; the "
            "protocol chooses rows by it, and from_arrays takes attributes="
        )
    return column.astype(np.float64)
