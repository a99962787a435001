"""In which cell of its image the centre of an object lies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ioukit.datasets.columns.ground_truth import GroundTruth


UNKNOWN, OUTSIDE = -1, -2
"""In the place of a cell: the size of the image is unknown; the centre lies outside of the image."""


def cell_of_centres(gt: GroundTruth, images: npt.NDArray[np.int64], cells: int) -> npt.NDArray[np.int64]:
    """(N,) the cell of the centre of each box: row times ``cells`` plus column, or :data:`UNKNOWN` or :data:`OUTSIDE`.

    Args:
        gt: The data set.
        images: (N,) the position of the image of each object.
        cells: How many cells the image has along each side. The last ones include the edge of the image.
    """
    sizes = gt.images.sizes[images]
    known = np.logical_and(sizes[:, 0] > 0, sizes[:, 1] > 0)
    centres = (gt.boxes[known, :2] + gt.boxes[known, 2:] / 2) / sizes[known]
    inside: npt.NDArray[np.bool_] = np.asarray(((centres >= 0) & (centres <= 1)).all(axis=1))
    column, row = np.minimum(np.where(inside[:, np.newaxis], centres, 0.0) * cells, cells - 1).astype(np.int64).T
    found = np.full(len(gt), UNKNOWN)
    found[known] = np.where(inside, row * cells + column, OUTSIDE)
    return found
