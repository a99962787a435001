"""ICDAR 2015: precision, recall and hmean of the texts that a detector finds in a scene."""

from __future__ import annotations

import math

from ioukit.evaluation.protocols.measures import Measure, Quantity
from ioukit.evaluation.protocols.parts import NO_CAP, AreaRange, IgnoreRule
from ioukit.evaluation.protocols.protocol import Protocol


def _measure(key: str, quantity: Quantity, words: str) -> Measure:
    words = f"{words}, over the texts of all images together. 1 is perfect."
    return Measure(key, quantity, pooled=True, line=f"{key} = {{value:.4f}}", headline=True, words=words)


ICDAR2015 = Protocol(
    name="ICDAR 2015",
    iou_thresholds=(0.5,),
    recall_thresholds=(),
    max_dets=(NO_CAP,),
    area_ranges=(AreaRange("all", 0.0, math.inf),),
    choice="in_order",
    threshold="more_than",
    ignored=(IgnoreRule("dont_care", over_detection=True, repeated=True),),
    precision_epsilon=False,
    summary=(
        _measure("hmean", "F1", "The harmonic mean of precision and recall"),
        _measure("precision", "precision", "The share of the detections that find a text"),
        _measure("recall", "AR", "The share of the texts that are found"),
    ),
    reference="Karatzas et al., ICDAR 2015; the evaluation script of its task 4.1, text localisation",
    meant_for=("polygon", "rotated"),
)
"""Text localisation of ICDAR 2015 (Incidental Scene Text), as the script of the competition evaluates: a detection
that lies in a text with the flag ``dont_care`` by more than half of its own area does not count. Of the others, each
text takes the first free detection with an IoU of more than 0.5, in the order of the data. Scores are not read. It is
meant for ``iou_type="polygon"``."""
