"""Protocols whose thresholds and names differ from COCO's, and an evaluation with each."""

from __future__ import annotations

import math
from functools import cache

from ioukit import evaluate
from ioukit.evaluation import COCO, AreaRange, Evaluation, Measure
from support.evaluated_scenes import coco

__all__ = ["OTHER", "evaluated"]

_AREAS = (
    AreaRange("any", 0.0, math.inf),
    AreaRange("speck", 0.0, 90.0**2),
    AreaRange("blob", 90.0**2, math.inf),
)

OTHER = {
    # COCO's rule makes the measures. AP at IoU 0.50 and 0.75 are among them, and are undefined.
    "rule": COCO.replace(name="Loose", iou_thresholds=[0.3], area_ranges=_AREAS, max_dets=[50]),
    "own measures": COCO.replace(
        name="Loose",
        iou_thresholds=[0.3],
        area_ranges=_AREAS,
        max_dets=[50],
        mean_over="all",
        integral="area",
        summary=(
            Measure("found", headline=True, words="The mean over {classes} at {thresholds}."),
            Measure("found@30", iou_threshold=0.3),
            Measure("found specks", area_range="speck"),
            Measure("found blobs", iou_threshold=0.3, area_range="blob"),
            Measure("reach", "AR"),
        ),
    ),
}
"""Both have one IoU threshold, 0.3, and area ranges of their own names."""


@cache
def evaluated(name: str) -> Evaluation:
    """An evaluation of eighty classes, twelve of them without objects, with a protocol of :data:`OTHER`."""
    scene = coco()
    assert scene.ground_truth is not None
    assert scene.detections is not None
    return evaluate(scene.ground_truth, scene.detections, protocol=OTHER[name])
