"""Boundaries of masks: the smaller of the IoU of two masks and the IoU of their boundaries.

Reference: Cheng et al., Boundary IoU, CVPR 2021, arXiv:2103.16562, and the program of its authors.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ioukit._boundary import PairColumns
from ioukit.evaluation.kinds.kind import Comparison, candidate_pairs
from ioukit.evaluation.kinds.masks import masks_of_both

__all__ = ["columns"]


def columns(compared: Comparison) -> PairColumns:
    """The overlaps of the pairs that may overlap."""
    from ioukit.overlap.engines import masks as engine  # noqa: PLC0415 - comparing boxes should not load this

    objects, detections = masks_of_both(compared, "boundary")
    rows, places = candidate_pairs(compared, objects, detections)
    if not len(rows):
        return PairColumns(rows, places, np.zeros(0))
    overlap: npt.NDArray[np.float64] = np.zeros(len(rows))
    over = compared.over_detection[places]
    # As in the authors' program, the mask of a crowd is compared, not its boundary.
    of, to, threads = rows[over], places[over], compared.threads
    overlap[over] = engine.pairs("ioa_first", detections, objects, of, to, threads)
    of, to = rows[~over], places[~over]
    whole = engine.pairs("iou", detections, objects, of, to, threads)
    edges = detections.boundary(threads=threads or None), objects.boundary(threads=threads or None)
    overlap[~over] = np.minimum(whole, engine.pairs("iou", *edges, of, to, threads))
    found = overlap > 0
    return PairColumns(rows[found], places[found], overlap[found])
