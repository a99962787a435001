"""CrowdHuman: persons in crowds."""

from __future__ import annotations

import math

from ioukit.evaluation.protocols.coco import COCO
from ioukit.evaluation.protocols.measures import LOG_AVERAGE_MISS_RATE, Measure, MissRateRule
from ioukit.evaluation.protocols.parts import NO_CAP, AreaRange, IgnoreRule
from ioukit.evaluation.protocols.protocol import Protocol

__all__ = ["CROWDHUMAN"]

CROWDHUMAN = Protocol(
    name="CrowdHuman",
    iou_thresholds=(0.5,),
    recall_thresholds=COCO.recall_thresholds,  # only for drawn curves: AP does not need them
    max_dets=(NO_CAP,),
    area_ranges=(AreaRange("all", 0.0, math.inf),),
    threshold="more_than",
    ties="first",
    clipped_boxes=True,
    overlap_epsilon=1e-6,
    ignored=(IgnoreRule("ignore", over_detection=True, repeated=True),),
    integral="trapezoid_from_first",
    # Rounded, as in the reference.
    miss_rate=MissRateRule((0.01, 0.0178, 0.0316, 0.0562, 0.1, 0.1778, 0.3162, 0.5623, 1.0), reading="first_at_least"),
    precision_epsilon=False,
    summary=(
        Measure(
            "AP",
            line="AP = {value:.4f}",
            headline=True,
            words="Average precision, the mean over {classes} at {thresholds}. 1 is perfect.",
        ),
        LOG_AVERAGE_MISS_RATE,
        Measure(
            "JI",
            "JI",
            line="JI = {value:.4f}",
            headline=True,
            words="Jaccard index of the sets of detections and objects, at the best score threshold. 1 is perfect.",
        ),
    ),
    meant_for=("bbox",),
    reference="Shao et al., arXiv:1805.00123; Chu et al., CVPR 2020, arXiv:2003.09163; lib/evaluate of CrowdDet",
)
"""CrowdHuman (Shao et al., arXiv:1805.00123), as CrowdDet (Chu et al., CVPR 2020, arXiv:2003.09163) evaluates: AP, the
log-average miss rate MR-2 and the Jaccard index at IoU 0.5, with boxes that are cut at the borders of the image.
Objects with the flag ``ignore`` are ignored."""
