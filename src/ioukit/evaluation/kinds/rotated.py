"""Rotated boxes as Gaussians, and 3-D boxes as the rotated boxes that they cover on the ground."""

from __future__ import annotations

import numpy as np

from ioukit._boundary import PairColumns
from ioukit.evaluation.kinds.kind import Comparison, column_of, image_pairs, measured_pairs
from ioukit.overlap.rotated import elementwise_probiou


def probiou_columns(compared: Comparison) -> PairColumns:
    """ProbIoU of all pairs of one image, as boxes that do not meet have one, too. Crowds have no rule of their own."""
    sides = ((compared.ground_truth, "annotations"), (compared.detections, "detections"))
    objects, detections = (column_of(side, "rotated-probiou", "RotatedBoxes", array) for side, array in sides)
    rows, places = image_pairs(compared)
    if not len(rows):
        return PairColumns(rows, places, np.zeros(0))
    overlap = np.asarray(elementwise_probiou(detections[rows], objects[places]), np.float64)
    found = overlap > 0
    return PairColumns(rows[found], places[found], overlap[found])


def bird_eye_columns(compared: Comparison) -> PairColumns:
    """The overlaps of the rectangles that the boxes cover on the ground."""
    sides = ((compared.ground_truth, "annotations"), (compared.detections, "detections"))
    objects, detections = (
        column_of(side, "bev", "Boxes3D", array).to_bird_eye() if len(side) else () for side, array in sides
    )
    return measured_pairs(compared, objects, detections)
