"""The regions that a data set has besides its boxes: one column per kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit.datasets.columns._checks import pixel_boxes
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from ioukit.regions.regions import Regions


SEGMENTATIONS = "segmentations"
"""The name of the column of masks as in COCO's files: polygons or RLE."""
KEYPOINTS = "keypoints"
"""The name of the column of keypoints: (N, P, 3) of x, y and visibility or score."""
WITHOUT_KEYPOINTS = "without_keypoints"
"""The name of the flag of objects that have no labelled keypoint."""
WITHOUT_AREA = "without_area"
"""The name of the flag of objects whose area is still to be computed. No data set that is complete has it."""


def region_columns(
    regions: Regions | Sequence[Regions] | None,
    segmentations: Sequence[Any] | None,
    keypoints: npt.ArrayLike | None,
    length: int,
) -> dict[str, Any]:
    """Columns by kind, each with ``length`` rows. A set of regions has the name of its type, such as ``"Masks"``."""
    from ioukit.regions.regions import Regions  # noqa: PLC0415 - files of boxes should not load regions

    columns: dict[str, Any] = {}
    given = [] if regions is None else [regions] if isinstance(regions, Regions) else list(regions)
    for one in given:
        if not isinstance(one, Regions):
            raise TypeError(f"regions must be sets of regions such as Masks or RotatedBoxes, got {type(one).__name__}")
        if type(one).__name__ in columns:
            raise ValueError(f"regions must be of different kinds, got {type(one).__name__} twice")
        columns[type(one).__name__] = one
    if segmentations is not None:
        columns[SEGMENTATIONS] = list(segmentations)
    if keypoints is not None:
        points: npt.NDArray[np.float64] = np.array(keypoints, np.float64)
        if points.ndim != 3 or points.shape[2] != 3:
            raise ValueError(f"keypoints must have shape (N, P, 3), got {points.shape}")
        columns[KEYPOINTS] = points
    for name, column in columns.items():
        if len(column) != length:
            raise ValueError(f"{name} must have {length:,} rows, got {len(column):,}")
    return columns


def region_sets(columns: Mapping[str, Any]) -> list[Regions]:
    """The columns that are sets of regions, in order."""
    from ioukit.regions.regions import Regions  # noqa: PLC0415 - as above

    return [column for column in columns.values() if isinstance(column, Regions)]


def bounding_boxes(columns: Mapping[str, Any], source: str) -> npt.NDArray[np.float64]:
    """(N, 4) ``[x, y, width, height]`` around the regions of the first column that is a set of regions.

    Raises:
        DatasetError: If there is none.
    """
    from ioukit.regions.boxes import Boxes  # noqa: PLC0415 - as above

    for column in region_sets(columns):
        around: Any = column if isinstance(column, Boxes) else column.to_boxes()
        return pixel_boxes(around, len(column))
    raise DatasetError(f"{source}: expected boxes, or a set of regions to take them from")
