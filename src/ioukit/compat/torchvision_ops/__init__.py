"""The box functions of ``torchvision.ops`` 0.29: tensors in, tensors out; NumPy arrays as well.

Change ``from torchvision.ops import box_iou`` to ``from ioukit.compat.torchvision_ops import box_iou``. Names, order of
the arguments, shapes and dtypes are torchvision's. What differs:

====================================  =================================  ==========================================
what                                  torchvision                        here
====================================  =================================  ==========================================
overlap of boxes without area         NaN (0/0)                          0; GIoU and DIoU keep their penalty
inverted boxes, NaN, infinity in an   a number without meaning           ValueError that names the row
overlap
``eps`` of DIoU and CIoU              added to the denominators, so that  taken and not used: denominators are guarded
                                      small normalized boxes are off
integers in an overlap                areas may overflow                 computed in float64, float32 result
integers in `box_area` and between    computed in their dtype: uint8     computed and returned in int64
``xyxy`` and ``xywh``                 corners wrap around
gradient of CIoU at a flat box        NaN                                finite
overlaps of rotated boxes             float32 kernel, off for thin ones  float64, rounded once to float32
rotated sets with batch dimensions    RuntimeError                       ValueError
``eps`` of a loss that is not 1e-7    used, in part, by CIoU             ValueError
losses of integers                    float32                            the same, from float64
losses otherwise                      added epsilons; NaN gradients at   the same on purpose: a training recipe stays
                                      boxes without area                 what it is; `ioukit.losses` has neither
an IoU near ``iou_threshold``         float32 against a double; on       float32 against the threshold as float32
                                      CUDA as here
`batched_nms` of large coordinates    shifted by class, which rounds;    labels are compared, coordinates stay
                                      wrong below 0
invalid boxes and NaN scores in NMS   kept or dropped by chance          ValueError that names the row
``torch.jit.script``                  works                              does not
====================================  =================================  ==========================================

Memory is shared with NumPy where it can be: overlaps of CPU tensors that need no gradient are ioukit's native ones.
"""

from ioukit.compat.torchvision_ops.boxes import (
    box_area,
    box_convert,
    clip_boxes_to_image,
    masks_to_boxes,
    remove_small_boxes,
)
from ioukit.compat.torchvision_ops.losses import (
    complete_box_iou_loss,
    distance_box_iou_loss,
    generalized_box_iou_loss,
)
from ioukit.compat.torchvision_ops.overlaps import (
    box_iou,
    complete_box_iou,
    distance_box_iou,
    generalized_box_iou,
)
from ioukit.compat.torchvision_ops.suppression import batched_nms, nms

__all__ = [
    "batched_nms",
    "box_area",
    "box_convert",
    "box_iou",
    "clip_boxes_to_image",
    "complete_box_iou",
    "complete_box_iou_loss",
    "distance_box_iou",
    "distance_box_iou_loss",
    "generalized_box_iou",
    "generalized_box_iou_loss",
    "masks_to_boxes",
    "nms",
    "remove_small_boxes",
]
