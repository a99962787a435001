"""`Boxes`: upright boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit._arrays import namespace_of
from ioukit.compat.detectron2._tensor_boxes import TensorBoxes

if TYPE_CHECKING:
    from ioukit.typing import Array

__all__ = ["Boxes"]


class Boxes(TensorBoxes):
    """N upright boxes, xyxy in pixels.

    Args:
        tensor: (N, 4), or nothing; becomes float32.

    Raises:
        ValueError: If the shape is another.
        ModuleNotFoundError: If PyTorch is not installed.
    """

    _columns = 4

    def area(self) -> Array:
        """(N,)."""
        width, height = self._size()
        return width * height

    def _size(self) -> tuple[Array, Array]:
        return self.tensor[:, 2] - self.tensor[:, 0], self.tensor[:, 3] - self.tensor[:, 1]

    def clip(self, box_size: tuple[int, int]) -> None:
        """Shrinks the boxes to an image of (height, width), in place.

        Raises:
            ValueError: If a coordinate is NaN or infinite.
        """
        if not self.tensor.isfinite().all():
            raise ValueError("Boxes to clip must be finite")
        height, width = box_size
        x, y = self.tensor[:, 0::2].clamp(0, width), self.tensor[:, 1::2].clamp(0, height)
        self.tensor = namespace_of(self.tensor).stack([x[:, 0], y[:, 0], x[:, 1], y[:, 1]], axis=-1)

    def inside_box(self, box_size: tuple[int, int], boundary_threshold: int = 0) -> Array:
        """(N,) bool: boxes within an image of (height, width), or less than the threshold outside it."""
        height, width = box_size
        x1, y1, x2, y2 = self.tensor.unbind(dim=1)
        low, beyond = -boundary_threshold, boundary_threshold
        return (x1 >= low) & (y1 >= low) & (x2 < width + beyond) & (y2 < height + beyond)

    def get_centers(self) -> Array:
        """(N, 2), x and y."""
        return (self.tensor[:, :2] + self.tensor[:, 2:]) / 2

    def scale(self, scale_x: float, scale_y: float) -> None:
        """Multiplies all x and all y, in place: the boxes of a resized image."""
        self.tensor[:, 0::2] *= scale_x
        self.tensor[:, 1::2] *= scale_y
