"""The AP that TIDE, the toolbox for the kinds of errors, computes and explains."""

from __future__ import annotations

import math

from ioukit.evaluation.protocols.coco import COCO
from ioukit.evaluation.protocols.measures import Measure
from ioukit.evaluation.protocols.parts import AreaRange, IgnoreRule

TIDE = COCO.replace(
    name="TIDE",
    iou_thresholds=(0.5,),
    # These doubles differ from those of linspace in the last bit at ten of 101 places.
    recall_thresholds=tuple(place / 100 for place in range(101)),
    max_dets=(100,),
    area_ranges=(AreaRange("all", 0.0, math.inf),),
    ties="first",
    cap_scope="image",
    ignored=(IgnoreRule("crowd", over_detection=True, repeated=True, more_than=True),),
    precision_epsilon=False,
    mean_over="with_objects_or_detections",
    summary=(
        Measure(
            "AP",
            headline=True,
            words="Average precision, the mean over {classes} with objects or detections, at {thresholds}. 1 is "
            "perfect.",
        ),
    ),
    reference="Bolya et al., ECCV 2020, arXiv:2008.08115; tidecv 1.0.1",
    meant_for=("bbox", "segm"),
)
"""The AP of tidecv 1.0.1, the program of TIDE (Bolya et al., ECCV 2020, arXiv:2008.08115): COCO's rules at IoU 0.5 with
100 detections per image over all classes, the first of objects with equal IoU, and a mean in which a class with
detections but without objects counts 0."""
