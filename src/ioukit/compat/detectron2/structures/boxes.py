"""`Boxes`: upright boxes, and their overlaps; `BoxMode`. As ``detectron2.structures.boxes``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ioukit
from ioukit._arrays import namespace_of
from ioukit.compat._torchscript import not_for_torchscript
from ioukit.compat.detectron2.structures._tensor_boxes import TensorBoxes
from ioukit.compat.detectron2.structures.box_mode import BoxMode

if TYPE_CHECKING:
    from ioukit.typing import Array

__all__ = [
    "BoxMode",
    "Boxes",
    "matched_pairwise_iou",
    "pairwise_intersection",
    "pairwise_ioa",
    "pairwise_iou",
    "pairwise_point_box_distance",
]


@not_for_torchscript
class Boxes(TensorBoxes):
    """N upright boxes, xyxy in pixels.

    Args:
        tensor: (N, 4), or an empty list; converted to float32.

    Raises:
        ValueError: If the shape is not (N, 4).
        ModuleNotFoundError: If PyTorch is not installed.
    """

    _columns = 4

    def area(self) -> Array:
        """(N,) areas."""
        width, height = self._size()
        return width * height

    def _size(self) -> tuple[Array, Array]:
        return self.tensor[:, 2] - self.tensor[:, 0], self.tensor[:, 3] - self.tensor[:, 1]

    def clip(self, box_size: tuple[int, int]) -> None:
        """Clips the boxes to an image of size (height, width), in place.

        Raises:
            ValueError: If a coordinate is NaN or infinite.
        """
        if not self.tensor.isfinite().all():
            raise ValueError("Boxes to clip must be finite")
        height, width = box_size
        x, y = self.tensor[:, 0::2].clamp(0, width), self.tensor[:, 1::2].clamp(0, height)
        self.tensor = namespace_of(self.tensor).stack([x[:, 0], y[:, 0], x[:, 1], y[:, 1]], axis=-1)

    def _bounds(self) -> tuple[Array, Array, Array, Array]:
        x1, y1, x2, y2 = self.tensor.unbind(dim=1)
        return x1, y1, x2, y2

    def get_centers(self) -> Array:
        """(N, 2) x and y of the centres."""
        return (self.tensor[:, :2] + self.tensor[:, 2:]) / 2

    def scale(self, scale_x: float, scale_y: float) -> None:
        """Multiplies all x and all y, in place, as for a resized image."""
        self.tensor[:, 0::2] *= scale_x
        self.tensor[:, 1::2] *= scale_y


@not_for_torchscript
def pairwise_intersection(boxes1: Boxes, boxes2: Boxes) -> Array:
    """Areas of the intersections, (N, M): `ioukit.pairwise_intersection`."""
    return ioukit.pairwise_intersection(*_tensors(boxes1, boxes2))


@not_for_torchscript
def pairwise_iou(boxes1: Boxes, boxes2: Boxes) -> Array:
    """IoU of every box of one set with every box of another, (N, M): `ioukit.pairwise_iou`."""
    return ioukit.pairwise_iou(*_tensors(boxes1, boxes2))


@not_for_torchscript
def pairwise_ioa(boxes1: Boxes, boxes2: Boxes) -> Array:
    """Intersection over the area of the second box, (N, M): `ioukit.pairwise_ioa`."""
    return ioukit.pairwise_ioa(*_tensors(boxes1, boxes2))


@not_for_torchscript
def matched_pairwise_iou(boxes1: Boxes, boxes2: Boxes) -> Array:
    """IoU of each box with its counterpart, (N,): `ioukit.elementwise_iou`.

    Raises:
        ValueError: If the two sets have different lengths.
    """
    if len(boxes1) != len(boxes2):
        raise ValueError(f"boxes1 and boxes2 must have one length, got {len(boxes1)} and {len(boxes2)}")
    return ioukit.elementwise_iou(*_tensors(boxes1, boxes2))


@not_for_torchscript
def pairwise_point_box_distance(points: Array, boxes: Boxes) -> Array:
    """The distances of points from the sides of boxes.

    Args:
        points: (N, 2) x and y.
        boxes: M boxes.

    Returns:
        (N, M, 4) distances from the left, upper, right and lower side, which are all positive for a point inside.
    """
    x, y = (points[:, None, k] for k in range(2))  # (N, 1)
    x1, y1, x2, y2 = boxes.tensor.unbind(dim=1)  # (M,)
    return namespace_of(boxes.tensor).stack([x - x1, y - y1, x2 - x, y2 - y], axis=2)


def _tensors(boxes1: Boxes, boxes2: Boxes) -> tuple[Array, Array]:
    for name, boxes in (("boxes1", boxes1), ("boxes2", boxes2)):
        if not isinstance(boxes, Boxes):
            raise TypeError(f"{name} must be ioukit.compat.detectron2.Boxes, got {type(boxes).__name__}")
    return boxes1.tensor, boxes2.tensor
