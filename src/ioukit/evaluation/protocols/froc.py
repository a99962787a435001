"""FROC: the sensitivity of detectors at a tolerable number of false positives per image, as in medical imaging."""

from __future__ import annotations

import math

from ioukit.evaluation.protocols.coco import COCO
from ioukit.evaluation.protocols.measures import Measure, MissRateRule
from ioukit.evaluation.protocols.parts import EVERY_OBJECT, NO_CAP, AreaRange, IgnoreRule
from ioukit.evaluation.protocols.protocol import Protocol

_FPPI = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)

FROC = Protocol(
    name="FROC",
    iou_thresholds=(0.1,),
    recall_thresholds=COCO.recall_thresholds,  # only for drawn curves
    max_dets=(NO_CAP,),
    area_ranges=(AreaRange("all", 0.0, math.inf),),
    miss_rate=MissRateRule(_FPPI, reading="interpolated"),
    precision_epsilon=False,
    summary=(
        Measure(
            "FROC",
            "FROC",
            pooled=True,
            line="FROC = {value:.4f}",
            headline=True,
            words="Mean sensitivity at 1/8, 1/4, 1/2, 1, 2, 4 and 8 false positives per image. 1 is perfect.",
        ),
        *(
            Measure(
                f"S{fppi:g}",
                "FROC",
                pooled=True,
                fppi=fppi,
                line=f"sensitivity at {fppi:5g} FPPI = {{value:.4f}}",
                words=f"The share of the objects that are found at {fppi:g} false positives per image.",
            )
            for fppi in _FPPI
        ),
    ),
    meant_for=("bbox", "segm", "rotated", "polygon", "box3d", "centre-in-box", "centre-in-mask"),
    reference="Setio et al., LUNA16, arXiv:1612.08012; nndet/evaluator/detection/froc.py of nnDetection",
)
"""FROC as nnDetection computes it: the mean of the sensitivities at 1/8, 1/4, 1/2, 1, 2, 4 and 8 false positives per
image, over the objects of all categories together. A detection takes the best free object with an IoU of at least 0.1;
further detections of an object are false positives."""

FROC_CENTRE = FROC.replace(
    name="FROC, centres",
    ties="first",
    ignored=(IgnoreRule(EVERY_OBJECT, repeated=True, counts_once=True),),
    meant_for=("centre-in-box", "centre-in-mask"),
    reference="Setio et al., LUNA16, arXiv:1612.08012; CAMELYON16; monai/metrics/froc.py of MONAI 1.5",
)
"""FROC as CAMELYON16 and MONAI compute it: the best detection in an object finds it, and further ones are ignored.
It is for ``iou_type="centre-in-box"`` and ``"centre-in-mask"``: the centre of a detection must lie in the object."""
