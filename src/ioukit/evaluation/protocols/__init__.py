"""The rules of an evaluation, as data: one file per protocol."""

from ioukit.evaluation.protocols.coco import COCO, COCO_KEYPOINTS
from ioukit.evaluation.protocols.measures import Measure
from ioukit.evaluation.protocols.protocol import (
    MEASURE_RULES,
    AreaRange,
    IgnoreRule,
    Protocol,
    register_measure_rule,
)
from ioukit.evaluation.protocols.registry import PROTOCOLS, find_protocol, register_protocol

__all__ = [
    "COCO",
    "COCO_KEYPOINTS",
    "MEASURE_RULES",
    "PROTOCOLS",
    "AreaRange",
    "IgnoreRule",
    "Measure",
    "Protocol",
    "find_protocol",
    "register_measure_rule",
    "register_protocol",
]
