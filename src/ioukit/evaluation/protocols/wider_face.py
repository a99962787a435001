"""WIDER FACE: faces on photographs."""

from __future__ import annotations

import math

from ioukit.evaluation.protocols.coco import COCO
from ioukit.evaluation.protocols.measures import Measure
from ioukit.evaluation.protocols.parts import NO_CAP, AreaRange
from ioukit.evaluation.protocols.protocol import Protocol

__all__ = ["WIDER_FACE"]

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
