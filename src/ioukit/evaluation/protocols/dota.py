"""DOTA: Detection of Oriented Objects in Aerial Images."""

from __future__ import annotations

from ioukit.evaluation.protocols.measures import Measure
from ioukit.evaluation.protocols.voc import VOC2007

__all__ = ["DOTA_TASK1", "DOTA_TASK2"]

_MEASURES = (
    Measure(
        "mAP",
        line="map: {value:.4f}",
        headline=True,
        words="Mean average precision, over {classes} at {thresholds}. 1 is perfect.",
    ),
)

DOTA_TASK1 = VOC2007.replace(
    name="DOTA task 1",
    inclusive_boxes=False,
    summary=_MEASURES,
    reference="Xia et al., CVPR 2018, arXiv:1711.10398; dota_evaluation_task1.py of DOTA_devkit",
    meant_for=("polygon", "rotated"),
)
"""DOTA's task 1, oriented boxes, as DOTA_devkit evaluates: the rules of :data:`VOC2007` for polygons, which are
compared by their exact overlap. It is meant for ``iou_type="polygon"`` or ``"rotated"``."""

DOTA_TASK2 = VOC2007.replace(
    name="DOTA task 2",
    summary=_MEASURES,
    reference="Xia et al., CVPR 2018, arXiv:1711.10398; dota_evaluation_task2.py of DOTA_devkit",
)
"""DOTA's task 2, horizontal boxes, as DOTA_devkit evaluates: the rules of :data:`VOC2007`. The kit cuts the digits
after the point off the coordinates of objects, and leaves those of detections."""
