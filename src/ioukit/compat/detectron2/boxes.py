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
