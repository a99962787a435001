"""What `Boxes` and `RotatedBoxes` have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ioukit._arrays import library_of, namespace_of
from ioukit._optional import import_extra

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import Self

    from ioukit.typing import Array

__all__ = ["TensorBoxes"]


class TensorBoxes(ABC):
    """N boxes in the rows of a float32 tensor, which methods may change in place."""

    _columns: ClassVar[int]

    def __init__(self, tensor: Array) -> None:
        torch = import_extra("torch", extra="torch", needed_by=f"ioukit.compat.detectron2.{type(self).__name__}")
        if library_of(tensor) != "torch":
            tensor = torch.as_tensor(np.asarray(tensor))
        tensor = tensor.to(torch.float32)
        if tensor.numel() == 0:  # a new tensor would lose the graph of the gradient
            tensor = tensor.reshape(-1, self._columns)
        if tensor.ndim != 2 or tensor.shape[1] != self._columns:
            raise ValueError(f"{type(self).__name__} must have shape (N, {self._columns}), got {tuple(tensor.shape)}")
        self.tensor = tensor

    def clone(self) -> Self:
        """A copy in new memory."""
        return type(self)(self.tensor.clone())

    def to(self, device: Any, non_blocking: bool = False) -> Self:
        """The boxes on another device.

        Args:
            device: The device, as ``torch.Tensor.to`` takes it.
            non_blocking: Whether the copy may run while the program goes on, as in ``torch.Tensor.to``.
        """
        return type(self)(self.tensor.to(device=device, non_blocking=non_blocking))

    @property
    def device(self) -> Any:
        """The device of the tensor."""
        return self.tensor.device

    @abstractmethod
    def area(self) -> Array:
        """(N,) areas."""

    @abstractmethod
    def _size(self) -> tuple[Array, Array]:
        """(N,) widths and (N,) heights."""

    @abstractmethod
    def get_centers(self) -> Array:
        """(N, 2) x and y of the centres."""

    @abstractmethod
    def _bounds(self) -> tuple[Array, Array, Array, Array]:
        """(N,) smallest x, smallest y, largest x and largest y."""

    def inside_box(self, box_size: tuple[int, int], boundary_threshold: int = 0) -> Array:
        """(N,) bool, true for boxes that are wholly inside an image, or less than the threshold outside.

        Args:
            box_size: (height, width) of the image.
            boundary_threshold: In pixels.
        """
        height, width = box_size
        x1, y1, x2, y2 = self._bounds()
        low, beyond = -boundary_threshold, boundary_threshold
        return (x1 >= low) & (y1 >= low) & (x2 < width + beyond) & (y2 < height + beyond)

    def nonempty(self, threshold: float = 0.0) -> Array:
        """(N,) bool, true for boxes whose width and height are both above the threshold."""
        width, height = self._size()
        return (width > threshold) & (height > threshold)

    @classmethod
    def cat(cls, boxes_list: Sequence[Self]) -> Self:
        """The boxes of several sets, in order; no boxes for an empty list.

        Raises:
            TypeError: If an element is of another class.
        """
        for position, boxes in enumerate(boxes_list):
            if not isinstance(boxes, cls):
                raise TypeError(f"boxes_list[{position}] must be {cls.__name__}, got {type(boxes).__name__}")
        if not boxes_list:
            return cls([])
        tensors = [boxes.tensor for boxes in boxes_list]
        return cls(namespace_of(tensors[0]).concat(tensors, axis=0))

    def __getitem__(self, item: int | slice | Array) -> Self:
        """The boxes of the selected rows; an integer selects a set of one box."""
        if isinstance(item, (int, np.integer)):
            return type(self)(self.tensor[item].reshape(1, -1))
        rows = self.tensor[item]
        if rows.ndim != 2:
            raise ValueError(f"indexing {type(self).__name__} with {item} does not select rows")
        return type(self)(rows)

    def __len__(self) -> int:
        return int(self.tensor.shape[0])

    def __iter__(self) -> Iterator[Array]:
        """The rows, as tensors."""
        yield from self.tensor

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.tensor})"
