"""`RotatedBoxes`: boxes rotated about their centres, and their overlaps. As ``detectron2.structures.rotated_boxes``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ioukit._arrays import namespace_of
from ioukit.compat._torchscript import not_for_torchscript
from ioukit.compat.detectron2.layers.rotated_boxes import pairwise_iou_rotated
from ioukit.compat.detectron2.structures.boxes import TensorBoxes, check_class, half_extents

if TYPE_CHECKING:
    from ioukit.typing import Array

__all__ = ["RotatedBoxes", "pairwise_iou"]


@not_for_torchscript
class RotatedBoxes(TensorBoxes):
    """N rotated boxes: centre x and y, width, height, degrees counterclockwise.

    Args:
        tensor: (N, 5), or an empty list; converted to float32.

    Raises:
        ValueError: If the shape is not (N, 5).
        ModuleNotFoundError: If PyTorch is not installed.
    """

    _columns = 5

    def _size(self) -> tuple[Array, Array]:
        return self.tensor[:, 2], self.tensor[:, 3]

    def normalize_angles(self) -> None:
        """Adds whole turns, in place, so that all angles are within [-180, 180)."""
        self.tensor[:, 4] = (self.tensor[:, 4] + 180) % 360 - 180

    def clip(self, box_size: tuple[int, int], clip_angle_threshold: float = 1.0) -> None:
        """Clips the boxes whose angle is at most a threshold to an image of size (height, width), in place.

        All other boxes stay as they are, because the part inside the image is not a rotated box. All angles are
        normalized.

        Args:
            box_size: (height, width) of the image.
            clip_angle_threshold: In degrees.
        """
        height, width = box_size
        self.normalize_angles()
        rows = (self.tensor[:, 4].abs() <= clip_angle_threshold).nonzero()[:, 0]
        x, y, w, h = (self.tensor[rows, k] for k in range(4))
        x1, x2 = (x - w / 2).clamp(0, width), (x + w / 2).clamp(0, width)
        y1, y2 = (y - h / 2).clamp(0, height), (y + h / 2).clamp(0, height)
        self.tensor[rows, 0], self.tensor[rows, 1] = (x1 + x2) / 2, (y1 + y2) / 2
        # Rounding must not make a box larger than it was.
        self.tensor[rows, 2], self.tensor[rows, 3] = (x2 - x1).minimum(w), (y2 - y1).minimum(h)

    def _bounds(self) -> tuple[Array, Array, Array, Array]:
        x, y = self.tensor[:, 0], self.tensor[:, 1]
        half_width, half_height = half_extents(namespace_of(self.tensor), self.tensor).unbind(dim=-1)
        return x - half_width, y - half_height, x + half_width, y + half_height

    def get_centers(self) -> Array:
        """(N, 2) x and y of the centres."""
        return self.tensor[:, :2]

    def scale(self, scale_x: float, scale_y: float) -> None:
        """Scales the boxes as for a resized image, in place.

        With two different factors a rotated rectangle becomes a parallelogram. The new box has the side lengths of this
        parallelogram and the direction of its height.
        """
        radians = self.tensor[:, 4] * (math.pi / 180)
        cos, sin = radians.cos(), radians.sin()
        self.tensor[:, 0] *= scale_x
        self.tensor[:, 1] *= scale_y
        self.tensor[:, 2] *= (scale_x * cos).hypot(scale_y * sin)
        self.tensor[:, 3] *= (scale_x * sin).hypot(scale_y * cos)
        self.tensor[:, 4] = (scale_x * sin).atan2(scale_y * cos) * (180 / math.pi)


@not_for_torchscript
def pairwise_iou(boxes1: RotatedBoxes, boxes2: RotatedBoxes) -> Array:
    """IoU of rotated boxes, (N, M) float32 without a gradient: `pairwise_iou_rotated` of ``detectron2.structures``.

    Raises:
        TypeError: If an argument is not `RotatedBoxes`.
    """
    check_class(RotatedBoxes, boxes1=boxes1, boxes2=boxes2)
    return pairwise_iou_rotated(boxes1, boxes2)
