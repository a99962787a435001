"""3-D boxes, seen from above."""

from __future__ import annotations

from ioukit._boundary import PairColumns
from ioukit.evaluation.kinds.kind import Comparison, column_of, measured_pairs

__all__ = ["columns"]


def columns(compared: Comparison) -> PairColumns:
    """The overlaps of the rectangles that the boxes cover on the ground."""
    sides = ((compared.ground_truth, "annotations"), (compared.detections, "detections"))
    objects, detections = (
        column_of(side, "bev", "Boxes3D", array).to_bird_eye() if len(side) else () for side, array in sides
    )
    return measured_pairs(compared, objects, detections)
