"""How large marks are: square roots of areas, and the area range of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Rows
from ioukit.datasets import Detections
from ioukit.evaluation import Protocol
from ioukit.evaluation.counting import narrowest_range

_ROWS = 1 << 18  # at once


class Sizes(NamedTuple):
    """The sizes of all objects, or of all detections of a model."""

    size: npt.NDArray[np.float32]
    """Square root of the area, in pixels; NaN if it is not known."""
    area_range: npt.NDArray[np.uint8]
    """Position in :attr:`ioukit.Protocol.size_ranges` of the narrowest one; their number for none."""

    @classmethod
    def of(cls, rows: Rows, areas: Callable[[Rows], npt.NDArray[np.float64]], protocol: Protocol) -> Sizes:
        """The sizes of some rows of a data set.

        Args:
            rows: The rows.
            areas: Returns the areas of rows.
            protocol: The rules, which have the area ranges.
        """
        size, code = np.empty(len(rows), np.float32), np.empty(len(rows), np.uint8)
        for start in range(0, len(rows), _ROWS):
            part = slice(start, start + _ROWS)
            area = areas(rows[part])
            with np.errstate(invalid="ignore"):
                size[part] = np.sqrt(area)
            found = narrowest_range(area, protocol)
            code[part] = np.where(found < 0, len(protocol.size_ranges), found)
        return cls(size, code)


def areas_of(detections: Detections) -> Callable[[Rows], npt.NDArray[np.float64]]:
    """A function that returns the areas of rows of detections."""
    areas, boxes = detections.areas, detections.boxes
    if areas is not None:
        return lambda rows: areas[rows]
    return lambda rows: boxes[rows, 2] * boxes[rows, 3]  # as `Detections.areas_or_those_of_boxes` has it
