"""The boxes, overlaps and suppressions of ``detectron2.structures`` and ``detectron2.layers``, over ioukit.

Put ``ioukit.compat.detectron2`` in the place of ``detectron2``: ``from detectron2.structures import Boxes`` becomes
``from ioukit.compat.detectron2.structures import Boxes``. The same holds for ``detectron2.layers``, and for the modules
``boxes`` and ``rotated_boxes`` of ``structures`` and ``nms`` and ``rotated_boxes`` of ``layers``. All names are in
``ioukit.compat.detectron2`` itself, too, where `pairwise_iou` is that of upright boxes.

The boxes hold float32 tensors, so they need PyTorch (``pip install 'ioukit[torch]'``); `BoxMode` does not. As in
Detectron2, and unlike in ioukit, ``clip``, ``scale`` and ``normalize_angles`` change the boxes in place.
The differences:

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
`batched_nms_rotated` of large         shifted by class, which rounds   classes are compared, coordinates stay
coordinates
invalid boxes and NaN scores in NMS    kept or dropped by chance        ValueError that names the row
``torch.jit.script`` of a function or  works                            TypeError with the reason
a class
=====================================  ===============================  ============================================

Angles are in degrees, and counterclockwise as seen in an image, where y points down.
"""

from ioukit.compat.detectron2.layers import (
    batched_nms,
    batched_nms_rotated,
    nms_rotated,
    pairwise_iou_rotated,
)
from ioukit.compat.detectron2.structures import (
    Boxes,
    BoxMode,
    RotatedBoxes,
    matched_pairwise_iou,
    pairwise_intersection,
    pairwise_ioa,
    pairwise_iou,
    pairwise_point_box_distance,
)
from ioukit.compat.torchvision_ops import nms  # `layers` has a module of this name, too

__all__ = [
    "BoxMode",
    "Boxes",
    "RotatedBoxes",
    "batched_nms",
    "batched_nms_rotated",
    "matched_pairwise_iou",
    "nms",
    "nms_rotated",
    "pairwise_intersection",
    "pairwise_ioa",
    "pairwise_iou",
    "pairwise_iou_rotated",
    "pairwise_point_box_distance",
]
