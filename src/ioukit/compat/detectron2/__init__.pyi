"""The boxes, overlaps and suppressions of ``detectron2.structures`` and ``detectron2.layers``, over ioukit."""

from ioukit.compat.detectron2 import layers as layers
from ioukit.compat.detectron2 import structures as structures
from ioukit.compat.detectron2.layers import batched_nms as batched_nms
from ioukit.compat.detectron2.layers import batched_nms_rotated as batched_nms_rotated
from ioukit.compat.detectron2.layers import nms_rotated as nms_rotated
from ioukit.compat.detectron2.layers import pairwise_iou_rotated as pairwise_iou_rotated
from ioukit.compat.detectron2.structures import Boxes as Boxes
from ioukit.compat.detectron2.structures import BoxMode as BoxMode
from ioukit.compat.detectron2.structures import RotatedBoxes as RotatedBoxes
from ioukit.compat.detectron2.structures import matched_pairwise_iou as matched_pairwise_iou
from ioukit.compat.detectron2.structures import pairwise_intersection as pairwise_intersection
from ioukit.compat.detectron2.structures import pairwise_ioa as pairwise_ioa
from ioukit.compat.detectron2.structures import pairwise_iou as pairwise_iou
from ioukit.compat.detectron2.structures import pairwise_point_box_distance as pairwise_point_box_distance

# `layers` has a module of this name, too.
from ioukit.compat.torchvision_ops import nms as nms
