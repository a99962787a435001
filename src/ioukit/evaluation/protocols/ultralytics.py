"""The AP that Ultralytics' validator prints."""

from __future__ import annotations

import math

from ioukit.evaluation.protocols.coco import COCO
from ioukit.evaluation.protocols.measures import Measure
from ioukit.evaluation.protocols.parts import AreaRange

ULTRALYTICS = COCO.replace(
    name="Ultralytics",
    max_dets=(300,),
    area_ranges=(AreaRange("all", 0.0, math.inf),),
    ties="first",
    cap_scope="image",
    ignored=(),
    integral="trapezoid",
    precision_epsilon=False,
    summary=(
        Measure(
            "mAP50",
            iou_threshold=0.5,
            headline=True,
            words="Mean average precision at IoU 0.50, over {classes}. 0.995 is perfect.",
        ),
        Measure(
            "mAP50-95",
            headline=True,
            words="Mean average precision, over {classes} and {thresholds}. 0.995 is perfect.",
        ),
    ),
    meant_for=("bbox",),
    reference="Ultralytics 8.4.190: its validator of boxes",
)
"""Ultralytics 8.4.190: COCO's matching with 300 detections per image over all classes, the first of objects with equal
IoU and no crowds. AP is an area under straight lines."""

ULTRALYTICS_8_3 = ULTRALYTICS.replace(
    name="Ultralytics 8.3",
    choice="best_of_all",
    ties="last",
    integral="sloping_trapezoid",
    reference="Ultralytics 8.0 to 8.4.36, and YOLOv5: their validators of boxes",
)
"""Ultralytics 8.0 to 8.4.36 and YOLOv5: a detection looks only at its best object, and the area under a straight line
from the end of the curve to recall 1 counts, too. Most published numbers of Ultralytics' YOLO models are by these
rules."""
