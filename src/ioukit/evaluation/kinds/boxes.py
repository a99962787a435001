"""Upright boxes."""

from __future__ import annotations

from ioukit._boundary import BoxColumns
from ioukit.evaluation.kinds.kind import Comparison, Kind


def _columns(compared: Comparison) -> BoxColumns:
    protocol = compared.protocol
    objects, detections = compared.ground_truth.boxes, compared.detections.boxes
    if not (protocol.clipped_boxes or protocol.box_aspect_ratio or protocol.overlap_epsilon):
        return BoxColumns(objects, detections, protocol.inclusive_boxes)
    from ioukit.evaluation.kinds.box_rules import image_sizes, with_aspect_ratio  # noqa: PLC0415 - COCO has no such rule

    if protocol.box_aspect_ratio:
        objects, detections = with_aspect_ratio(compared)
    sizes = image_sizes(compared) if protocol.clipped_boxes else None
    return BoxColumns(objects, detections, protocol.inclusive_boxes, protocol.overlap_epsilon, sizes)


BBOX = Kind("bbox", "upright boxes", _columns)
