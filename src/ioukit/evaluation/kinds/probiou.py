"""Rotated boxes as Gaussians: ProbIoU in the place of the exact overlap."""

from __future__ import annotations

import numpy as np

from ioukit._boundary import PairColumns
from ioukit.evaluation.kinds.kind import Comparison, column_of, image_pairs
from ioukit.overlap.rotated import elementwise_probiou

__all__ = ["columns"]


def columns(compared: Comparison) -> PairColumns:
    """ProbIoU of all pairs of one image, as boxes that do not meet have one, too. Crowds have no rule of their own."""
    sides = ((compared.ground_truth, "annotations"), (compared.detections, "detections"))
    objects, detections = (column_of(side, "rotated-probiou", "RotatedBoxes", array) for side, array in sides)
    rows, places = image_pairs(compared)
    if not len(rows):
        return PairColumns(rows, places, np.zeros(0))
    overlap = np.asarray(elementwise_probiou(detections[rows], objects[places]), np.float64)
    found = overlap > 0
    return PairColumns(rows[found], places[found], overlap[found])
