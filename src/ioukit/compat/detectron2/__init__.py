"""The boxes of ``detectron2.structures``, over ioukit's overlaps.

Change ``from detectron2.structures import Boxes, pairwise_iou`` to
``from ioukit.compat.detectron2 import Boxes, pairwise_iou``. The boxes hold float32 tensors and therefore need PyTorch
(``pip install 'ioukit[torch]'``); `BoxMode` alone does without. As there, and unlike ioukit's own frozen values,
``clip``, ``scale`` and ``normalize_angles`` change the boxes in place. What differs:

=====================================  ===============================  ============================================
what                                   detectron2                       here
=====================================  ===============================  ============================================
`matched_pairwise_iou` of boxes        NaN                              0
without area
inverted boxes, NaN, infinity in an    a number without meaning         ValueError that names the row
overlap
rotated IoU                            float32 on corners up to 1e-5    float64, rounded once to float32
                                       off; CPU and CUDA differ
`BoxMode.convert` between modes of     AssertionError                   converted: no image size is needed
one relative unit
`BoxMode.convert` of a list of lists   AssertionError                   TypeError
integers in `BoxMode.convert`          computed in their dtype: uint8   int64, or floats where halves can appear
                                       wraps around
a wrong shape or index                 AssertionError                   ValueError, or TypeError for a wrong kind
=====================================  ===============================  ============================================

Angles are degrees, counterclockwise as one sees them in an image, whose y points down.
"""

from ioukit.compat.detectron2.box_mode import BoxMode
from ioukit.compat.detectron2.boxes import Boxes
from ioukit.compat.detectron2.overlaps import (
    matched_pairwise_iou,
    pairwise_intersection,
    pairwise_ioa,
    pairwise_iou,
    pairwise_iou_rotated,
    pairwise_point_box_distance,
)
from ioukit.compat.detectron2.rotated_boxes import RotatedBoxes

__all__ = [
    "BoxMode",
    "Boxes",
    "RotatedBoxes",
    "matched_pairwise_iou",
    "pairwise_intersection",
    "pairwise_ioa",
    "pairwise_iou",
    "pairwise_iou_rotated",
    "pairwise_point_box_distance",
]
