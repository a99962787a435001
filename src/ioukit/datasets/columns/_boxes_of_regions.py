"""Boxes and areas of detections whose records have a mask or keypoints instead of a box."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit._columns import take_rows
from ioukit.datasets.columns._checks import check_readable_again
from ioukit.datasets.columns._regions import KEYPOINTS, SEGMENTATIONS
from ioukit.datasets.columns.keypoints import boxes_of_keypoints
from ioukit.datasets.columns.lazy import ValuesOfFiles
from ioukit.datasets.columns.masks import boxes_of_masks
from ioukit.errors import DatasetError

__all__ = ["boxes_of_regions", "readable_rows"]

Floats = npt.NDArray[np.float64]


def boxes_of_regions(regions: Mapping[str, Any], source: str, threads: int | None) -> tuple[Floats, Floats]:
    """(N, 4) boxes ``[x, y, width, height]`` around the masks of detections, or else around their keypoints, and areas.

    Raises:
        DatasetError: If a mask or keypoints cannot be read.
    """
    if SEGMENTATIONS in regions:
        return boxes_of_masks(regions[SEGMENTATIONS], source, threads)
    return boxes_of_keypoints(regions[KEYPOINTS], source, threads)


def readable_rows(regions: Mapping[str, Any], source: str, threads: int | None) -> npt.NDArray[np.intp]:
    """The rows whose boxes can be computed. Halves that can be read as a whole are not looked at one by one.

    Raises:
        DatasetError: If no row can be read again, because the source was a pipe.
    """
    for name, column in regions.items():
        if isinstance(column, ValuesOfFiles):
            for path, _, _ in column.files():
                check_readable_again(path, name)
    count = max(map(len, regions.values()))
    good: list[npt.NDArray[np.intp]] = [np.zeros(0, np.intp)]
    left = [np.arange(count)]
    while left:
        rows = left.pop()
        try:
            boxes_of_regions(take_rows(regions, rows), source, threads)
            good.append(rows)
        except DatasetError:
            left += np.array_split(rows, 2) if len(rows) > 1 else []
    return np.sort(np.concatenate(good))
