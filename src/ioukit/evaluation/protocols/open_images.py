"""Open Images: image labels say what was looked for, and one box may hold a group of objects."""

from __future__ import annotations

import math

from ioukit.evaluation.protocols.coco import COCO
from ioukit.evaluation.protocols.measures import mean_average_precision
from ioukit.evaluation.protocols.parts import AreaRange, IgnoreRule

OPEN_IMAGES = COCO.replace(
    name="Open Images",
    iou_thresholds=(0.5,),
    max_dets=(10_000,),
    area_ranges=(AreaRange("all", 0.0, math.inf),),
    choice="best_of_all_then_groups",
    ties="first",
    ignored=(IgnoreRule("group_of", over_detection=True, repeated=True),),
    integral="area",
    precision_epsilon=False,
    without_area="detections_left_out",
    summary=(mean_average_precision("OpenImagesV2_Precision/mAP@0.5IOU,{value:.6f}"),),
    meant_for=("bbox",),
    reference="Kuznetsova et al., IJCV 2020, arXiv:1811.00982; OpenImagesDetectionEvaluator of TensorFlow's models",
)
"""Open Images V2 detection, as ``OpenImagesDetectionEvaluator`` of TensorFlow's models evaluates: AP at IoU 0.5. A
detection without an object that lies in a box of a group, by at least half of its area, is ignored."""

OPEN_IMAGES_CHALLENGE = OPEN_IMAGES.replace(
    name="Open Images Challenge",
    ignored=(IgnoreRule("group_of", over_detection=True, repeated=True, counts_once=True),),
    verified="labelled",
    summary=(mean_average_precision("OpenImagesDetectionChallenge_Precision/mAP@0.5IOU,{value:.6f}"),),
    reference="Open Images Challenge 2018 and 2019; OpenImagesDetectionChallengeEvaluator of TensorFlow's models",
)
"""The Open Images Challenge, as ``OpenImagesDetectionChallengeEvaluator`` of TensorFlow's models evaluates: the rules
of :data:`OPEN_IMAGES`, but a group counts as one object, which its best detection finds, and detections of classes
without a label on the image are left out."""
