"""Benchmarks of pedestrians and faces: CrowdHuman, Caltech, WIDER FACE."""

from __future__ import annotations

import math

from ioukit.evaluation.protocols.coco import COCO
from ioukit.evaluation.protocols.measures import LOG_AVERAGE_MISS_RATE, Measure, MissRateRule
from ioukit.evaluation.protocols.parts import NO_CAP, AreaRange, IgnoreRule, ValueRange
from ioukit.evaluation.protocols.protocol import Protocol

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


_SUBSETS = ("easy", "medium", "hard")

WIDER_FACE = Protocol(
    name="WIDER FACE",
    iou_thresholds=(0.5,),
    recall_thresholds=COCO.recall_thresholds,  # only for drawn curves
    max_dets=(NO_CAP,),
    # Per category: tables then list the detections on images without faces, whose scores set the scale, too.
    cap_scope="category",
    area_ranges=tuple(AreaRange(subset, 0.0, math.inf) for subset in _SUBSETS),
    ranges_by="flag",
    choice="best_of_all",
    ties="first",
    inclusive_boxes=True,
    ignored=(),
    integral="score_steps",
    precision_epsilon=False,
    verified="with_objects",
    summary=tuple(
        Measure(
            f"AP{subset}",
            area_range=subset,
            line=f"{subset.title():<6} AP: {{value:.4f}}",
            headline=True,
            words=f"Average precision of the {subset} faces, over {{classes}} at {{thresholds}}. 1 is perfect.",
        )
        for subset in _SUBSETS
    ),
    meant_for=("bbox",),
    reference="Yang et al., CVPR 2016, arXiv:1511.06523; the Matlab code of the benchmark by its Python port",
)
"""WIDER FACE (Yang et al., CVPR 2016, arXiv:1511.06523), as its Matlab code and the port WiderFace-Evaluation evaluate:
VOC's rules at IoU 0.5 for three subsets of the faces, with curves that are read at 1,000 scores. The flags ``easy``,
``medium`` and ``hard`` of the objects say which faces count."""
