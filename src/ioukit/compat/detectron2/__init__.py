"""The boxes and overlaps of ``detectron2.structures``, over ioukit.

Change ``from detectron2.structures import Boxes, pairwise_iou`` to
``from ioukit.compat.detectron2 import Boxes, pairwise_iou``. The boxes hold float32 tensors, so they need PyTorch
(``pip install 'ioukit[torch]'``); `BoxMode` does not. As in Detectron2, and unlike in ioukit, ``clip``, ``scale`` and
``normalize_angles`` change the boxes in place. The differences:

=====================================  ===============================  ============================================
what                                   detectron2                       here
=====================================  ===============================  ============================================
`matched_pairwise_iou` of boxes        NaN                              0
without an area
overlaps with inverted boxes, NaN or   a number without meaning         ValueError that names the row
infinity
rotated IoU                            float32 with errors up to 1e-5   float64, rounded once to float32
                                       at corners; CPU and CUDA differ
`BoxMode.convert` between modes of     AssertionError                   converted: no image size is needed
one relative unit
`BoxMode.convert` of a list of lists   AssertionError                   TypeError
integers in `BoxMode.convert`          computed in their dtype: uint8   int64, or floats where halves can occur
                                       overflows
a wrong shape or index                 AssertionError                   ValueError, or TypeError for a wrong type
=====================================  ===============================  ============================================

Angles are in degrees, and counterclockwise as seen in an image, where y points down.
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
