"""The box functions of ``torchvision.ops`` 0.29, for tensors and for NumPy arrays.

Change ``from torchvision.ops import box_iou`` to ``from ioukit.compat.torchvision_ops import box_iou``. Names, the
order of the arguments, shapes and dtypes are those of torchvision. The differences:

====================================  =================================  ==========================================
what                                  torchvision                        here
====================================  =================================  ==========================================
overlap of boxes without an area      NaN (0/0)                          0; GIoU and DIoU keep their penalty
overlaps with inverted boxes, NaN or  a number without meaning           ValueError that names the row
infinity
``eps`` of DIoU and CIoU              added to the denominators, which   accepted and not used: denominators are
                                      changes small normalized boxes     guarded
overlaps of integers                  areas may overflow                 computed in float64, returned in float32
integers in `box_area` and between    computed in their dtype: uint8     computed and returned in int64
``xyxy`` and ``xywh``                 corners overflow
gradient of CIoU for a box without    NaN                                finite
height
overlaps of rotated boxes             float32, inexact for thin boxes    float64, rounded once to float32
rotated sets with batch dimensions    RuntimeError                       ValueError
``eps`` of a loss that is not 1e-7    used, in part, by CIoU             ValueError
losses of integers                    float32                            float32, computed in float64
all other losses                      added epsilons; NaN gradients for  the same on purpose, so that a training does
                                      boxes without an area              not change; `ioukit.losses` has neither
an IoU near ``iou_threshold``         float32 compared with a double;    float32 compared with the threshold in
                                      on CUDA as here                    float32
float16 and bfloat16 in NMS           float32 under autocast; on the     computed and compared in float32
                                      CPU without it a RuntimeError
`batched_nms` of large coordinates    shifted by class, which rounds;    labels are compared, coordinates stay
                                      wrong below 0
invalid boxes and NaN scores in NMS   kept or dropped by chance          ValueError that names the row
``torch.jit.script``                  works                              TypeError with the reason; ``torch.compile``
                                                                         works
a wrong shape in NMS                  RuntimeError                       ValueError
a list where a tensor belongs         AttributeError or TypeError        TypeError that names the argument
====================================  =================================  ==========================================

Overlaps of tensors on the CPU that need no gradient are computed by ioukit's native code in shared memory.
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
