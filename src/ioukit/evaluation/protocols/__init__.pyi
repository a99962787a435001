"""The rules of an evaluation, as data: one file per protocol."""

from ioukit.evaluation.protocols.coco import COCO, COCO_KEYPOINTS
from ioukit.evaluation.protocols.crowdpose import CROWDPOSE
from ioukit.evaluation.protocols.froc import FROC, FROC_CENTRE
from ioukit.evaluation.protocols.icdar import ICDAR2015
from ioukit.evaluation.protocols.kitti import KITTI, KITTI_AOS, KITTI_R11
from ioukit.evaluation.protocols.lvis import LVIS, LVIS_FIXED
from ioukit.evaluation.protocols.measures import Measure, MissRateRule
from ioukit.evaluation.protocols.object_choice import ObjectChoice, ObjectLimit
from ioukit.evaluation.protocols.open_images import OPEN_IMAGES, OPEN_IMAGES_CHALLENGE
from ioukit.evaluation.protocols.own import read_protocol
from ioukit.evaluation.protocols.parts import NO_CAP, AreaRange, IgnoreRule, ValueRange
from ioukit.evaluation.protocols.pedestrians import CALTECH, CROWDHUMAN, WIDER_FACE
from ioukit.evaluation.protocols.protocol import MEASURE_RULES, Protocol, register_measure_rule
from ioukit.evaluation.protocols.registry import PROTOCOLS, find_protocol, register_protocol
from ioukit.evaluation.protocols.tide import TIDE
from ioukit.evaluation.protocols.ultralytics import ULTRALYTICS, ULTRALYTICS_8_3
from ioukit.evaluation.protocols.unranked import UNRANKED, UNRANKED_GREEDY
from ioukit.evaluation.protocols.voc import DOTA_TASK1, DOTA_TASK2, VOC2007, VOC2012

__all__ = [
    "CALTECH",
    "COCO",
    "COCO_KEYPOINTS",
    "CROWDHUMAN",
    "CROWDPOSE",
    "DOTA_TASK1",
    "DOTA_TASK2",
    "FROC",
    "FROC_CENTRE",
    "ICDAR2015",
    "KITTI",
    "KITTI_AOS",
    "KITTI_R11",
    "LVIS",
    "LVIS_FIXED",
    "MEASURE_RULES",
    "NO_CAP",
    "OPEN_IMAGES",
    "OPEN_IMAGES_CHALLENGE",
    "PROTOCOLS",
    "TIDE",
    "ULTRALYTICS",
    "ULTRALYTICS_8_3",
    "UNRANKED",
    "UNRANKED_GREEDY",
    "VOC2007",
    "VOC2012",
    "WIDER_FACE",
    "AreaRange",
    "IgnoreRule",
    "Measure",
    "MissRateRule",
    "ObjectChoice",
    "ObjectLimit",
    "Protocol",
    "ValueRange",
    "find_protocol",
    "read_protocol",
    "register_measure_rule",
    "register_protocol",
]
