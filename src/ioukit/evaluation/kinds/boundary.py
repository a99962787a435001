"""Boundaries of masks: the smaller of the IoU of two masks and the IoU of their boundaries."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ioukit._boundary import PairColumns
from ioukit.evaluation.kinds.kind import Comparison, candidate_pairs
from ioukit.evaluation.kinds.masks import masks_of_both

__all__ = ["columns"]


def columns(compared: Comparison) -> PairColumns:
    """The overlaps of the pairs whose boxes meet."""
    from ioukit.overlap.engines import masks as engine  # noqa: PLC0415 - who compares boxes waits for no engine

    objects, detections = masks_of_both(compared, "boundary")
    rows, places = candidate_pairs(compared)
    overlap: npt.NDArray[np.float64] = np.zeros(len(rows))
    over = compared.over_detection[places]
    edges = detections.boundary(), objects.boundary()
    for measure, chosen in (("iou", ~over), ("ioa_first", over)):
        if chosen.any():
            of, to, threads = rows[chosen], places[chosen], compared.threads
            whole = engine.pairs(measure, detections, objects, of, to, threads)
            overlap[chosen] = np.minimum(whole, engine.pairs(measure, *edges, of, to, threads))
    found = overlap > 0
    return PairColumns(rows[found], places[found], overlap[found])
