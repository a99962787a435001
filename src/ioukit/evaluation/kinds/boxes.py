"""Upright boxes."""

from __future__ import annotations

from ioukit._boundary import BoxColumns
from ioukit.evaluation.kinds.kind import Comparison, Kind

__all__ = ["BBOX"]


def _columns(compared: Comparison) -> BoxColumns:
    return BoxColumns(compared.ground_truth.boxes, compared.detections.boxes, compared.inclusive_boxes)


BBOX = Kind("bbox", "upright boxes", _columns)
