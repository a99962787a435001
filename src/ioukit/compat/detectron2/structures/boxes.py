"""`Boxes`: upright boxes, and their overlaps; `BoxMode`. As ``detectron2.structures.boxes``.

`TensorBoxes` is what `Boxes` and `RotatedBoxes` have in common.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

import ioukit
from ioukit._arrays import library_of, namespace_of
from ioukit._optional import import_extra
from ioukit.compat._torchscript import not_for_torchscript
from ioukit.regions.formats import convert_array

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import Self

    from ioukit.typing import Array, BoxFormat

__all__ = [
    "BoxMode",
    "Boxes",
    "matched_pairwise_iou",
    "pairwise_intersection",
    "pairwise_ioa",
    "pairwise_iou",
    "pairwise_point_box_distance",
]


class BoxMode(IntEnum):
    """What the numbers of a box are: ``_ABS`` modes in pixels, ``_REL`` modes in the unit of the image."""

    XYXY_ABS = 0
    XYWH_ABS = 1
    XYXY_REL = 2
    XYWH_REL = 3
    XYWHA_ABS = 4
    """Centre, size and degrees. In ``XYWH_ABS`` the first two numbers are a corner."""

    @staticmethod
    def convert(box: Any, from_mode: BoxMode, to_mode: BoxMode) -> Any:
        """The same box or boxes in another mode, as the same type of container.

        Args:
            box: A list or tuple of 4 or 5 numbers, or a NumPy array or tensor of shape (4,), (5,), (N, 4) or (N, 5).
            from_mode: The mode of the box.
            to_mode: The mode of the result. A rotated box becomes the smallest upright box around it.

        Raises:
            TypeError: If the box has another type, or is a list of boxes.
            ValueError: If the number of columns does not fit the mode.
            NotImplementedError: Between pixels and the unit of the image, since the size of the image is unknown; and
                from ``XYXY_ABS`` to ``XYWHA_ABS``, as in Detectron2.
        """
        single = isinstance(box, (list, tuple))
        if single and not all(isinstance(number, (int, float, np.number)) for number in box):
            raise TypeError("box must be a list or tuple of numbers, or one array of many boxes")
        if not single and not hasattr(box, "shape"):
            raise TypeError(f"box must be a list, a tuple, a NumPy array or a tensor, got {type(box).__name__}")
        array = np.asarray(box) if single else box
        source, target = BoxMode(from_mode), BoxMode(to_mode)
        count = 5 if source == BoxMode.XYWHA_ABS else 4
        if array.ndim not in (1, 2) or array.shape[-1] != count:
            shape = f"({count},) or (N, {count})"
            raise ValueError(f"{source.name} boxes must have shape {shape}, got {tuple(array.shape)}")
        converted = _convert(array, source, target)
        return type(box)(converted.tolist()) if single else converted


_FORMATS: dict[BoxMode, BoxFormat] = {
    BoxMode.XYXY_ABS: "xyxy",
    BoxMode.XYWH_ABS: "xywh",
    BoxMode.XYXY_REL: "xyxy",
    BoxMode.XYWH_REL: "xywh",
}


def _convert(array: Array, source: BoxMode, target: BoxMode) -> Array:
    xp = namespace_of(array)
    if source == target:
        return xp.asarray(array, copy=True)
    if source.name.endswith("_REL") != target.name.endswith("_REL"):
        raise NotImplementedError(
            f"{source.name} to {target.name} needs the size of the image: multiply or divide by it first"
        )
    if not xp.isdtype(array.dtype, "real floating"):
        array = xp.astype(array, xp.int64)
    if source == BoxMode.XYWHA_ABS and target == BoxMode.XYXY_ABS:
        wide = xp.astype(array, xp.float64)
        centre, half = wide[..., :2], half_extents(xp, wide)
        corners = xp.concat([centre - half, centre + half], axis=-1)
        return xp.astype(corners, array.dtype) if xp.isdtype(array.dtype, "real floating") else corners
    if source == BoxMode.XYWH_ABS and target == BoxMode.XYWHA_ABS:
        floating = xp.isdtype(array.dtype, "real floating")
        centred = convert_array(array if floating else xp.astype(array, xp.float64), "xywh", "cxcywh")
        return xp.concat([centred, xp.zeros_like(centred[..., :1])], axis=-1)
    if BoxMode.XYWHA_ABS in (source, target):
        raise NotImplementedError(f"{source.name} to {target.name}: no such conversion")
    return convert_array(array, _FORMATS[source], _FORMATS[target])


def half_extents(xp: Any, boxes: Array) -> Array:
    """(..., 2) half the width and half the height of the upright boxes around rotated boxes."""
    radians = boxes[..., 4] * (math.pi / 180)
    cos, sin = xp.abs(xp.cos(radians)), xp.abs(xp.sin(radians))
    width, height = boxes[..., 2], boxes[..., 3]
    return xp.stack([(cos * width + sin * height) / 2, (sin * width + cos * height) / 2], axis=-1)


def check_class(kind: type, **given: object) -> None:
    """Raises `TypeError` for an argument that is not of a class of this package."""
    for name, boxes in given.items():
        if not isinstance(boxes, kind):
            raise TypeError(f"{name} must be ioukit.compat.detectron2.{kind.__name__}, got {type(boxes).__name__}")


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

    def area(self) -> Array:
        """(N,) areas."""
        width, height = self._size()
        return width * height

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
    check_class(Boxes, boxes1=boxes1, boxes2=boxes2)
    return boxes1.tensor, boxes2.tensor
