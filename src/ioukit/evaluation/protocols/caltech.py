"""The Caltech pedestrian benchmark."""

from __future__ import annotations

import math

from ioukit.evaluation.protocols.coco import COCO
from ioukit.evaluation.protocols.measures import LOG_AVERAGE_MISS_RATE, MissRateRule
from ioukit.evaluation.protocols.parts import NO_CAP, AreaRange, IgnoreRule, ValueRange
from ioukit.evaluation.protocols.protocol import Protocol

__all__ = ["CALTECH"]

CALTECH = Protocol(
    name="Caltech",
    iou_thresholds=(0.5,),
    recall_thresholds=COCO.recall_thresholds,  # only for drawn curves
    max_dets=(NO_CAP,),
    area_ranges=(AreaRange("all", 0.0, math.inf),),
    box_aspect_ratio=0.41,
    ignored=(
        IgnoreRule("ignore", over_detection=True, repeated=True),
        IgnoreRule("outside", over_detection=True, repeated=True),
    ),
    counted_values=(
        ValueRange("height", 50.0),
        ValueRange("visibility", 0.65),
        ValueRange("left", 5.0),
        ValueRange("top", 5.0),
        ValueRange("right", high=635.0),
        ValueRange("bottom", high=475.0),
    ),
    # The lowest height that counts, divided by 1.25.
    detection_values=(ValueRange("height", 40.0),),
    miss_rate=MissRateRule(floor=1e-10),
    precision_epsilon=False,
    summary=(LOG_AVERAGE_MISS_RATE,),
    meant_for=("bbox",),
    reference="Dollar et al., PAMI 2012; dbEval.m 3.2.1 and Piotr's toolbox 3.40",
)
"""The Caltech pedestrian benchmark with its subset Reasonable, as its Matlab code evaluates: MR-2 at IoU 0.5 over
persons of at least 50 pixels of which at least 65 % is visible. Other objects, and those with the flag ``ignore``, are
ignored. The attribute ``visibility`` holds the share of each person that is visible. Reference: Dollar, Wojek, Schiele,
Perona, Pedestrian Detection: An Evaluation of the State of the Art, PAMI 2012."""
