"""The boxes of ``detectron2.structures``, over ioukit's overlaps.

Change ``from detectron2.structures import Boxes, pairwise_iou`` to
``from ioukit.compat.detectron2 import Boxes, pairwise_iou``. The boxes hold float32 tensors and therefore need PyTorch
(``pip install 'ioukit[torch]'``); `BoxMode` alone does without. As there, and unlike ioukit's own frozen values,
``clip``, ``scale`` and ``normalize_angles`` change the boxes in place. What differs:

=====================================  ===============================  ============================================
what                                   detectron2                       here
=====================================  ===============================  ============================================
`matched_pairwise_iou` of boxes        NaN                              0
without area
inverted boxes, NaN, infinity in an    a number without meaning         ValueError that names the row
overlap
rotated IoU                            float32 on corners up to 1e-5    float64, rounded once to float32
                                       off; CPU and CUDA differ
`BoxMode.convert` between modes of     AssertionError                   converted: no image size is needed
one relative unit
`BoxMode.convert` of a list of lists   AssertionError                   TypeError
integers in `BoxMode.convert`          computed in their dtype: uint8   int64, or floats where halves can appear
                                       wraps around
a wrong shape or index                 AssertionError                   ValueError, or TypeError for a wrong kind
=====================================  ===============================  ============================================

Angles are degrees, counterclockwise as one sees them in an image, whose y points down.
"""

from __future__ import annotations

import math
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

import ioukit
from ioukit._arrays import as_numpy, library_of, namespace_of
from ioukit._optional import import_extra
from ioukit.boxes.formats import convert_array

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import Self

    from ioukit.typing import Array, BoxFormat

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


# Modes


class BoxMode(IntEnum):
    """What the numbers of a box are; ``_ABS`` in pixels, ``_REL`` in the unit of the image."""

    XYXY_ABS = 0
    XYWH_ABS = 1
    XYXY_REL = 2
    XYWH_REL = 3
    XYWHA_ABS = 4
    """Centre, size and degrees, unlike ``XYWH_ABS``, which begins with a corner."""

    @staticmethod
    def convert(box: Any, from_mode: BoxMode, to_mode: BoxMode) -> Any:
        """The same box or boxes in another mode, in a container of the same kind.

        Args:
            box: A list or tuple of 4 or 5 numbers, or a NumPy array or tensor of shape (4,), (5,), (N, 4) or (N, 5).
            from_mode: What it is.
            to_mode: What it should be. A rotated box becomes the smallest upright one around it.

        Raises:
            TypeError: If the box is another kind of object, or a list of boxes.
            ValueError: If the numbers are not as many as the mode has.
            NotImplementedError: Between pixels and the image's unit, which needs the size of the image; and from
                ``XYXY_ABS`` to ``XYWHA_ABS``, as in detectron2.
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
        centre, half = wide[..., :2], _half_extents(xp, wide)
        corners = xp.concat([centre - half, centre + half], axis=-1)
        return xp.astype(corners, array.dtype) if xp.isdtype(array.dtype, "real floating") else corners
    if source == BoxMode.XYWH_ABS and target == BoxMode.XYWHA_ABS:
        floating = xp.isdtype(array.dtype, "real floating")
        centred = convert_array(array if floating else xp.astype(array, xp.float64), "xywh", "cxcywh")
        return xp.concat([centred, xp.zeros_like(centred[..., :1])], axis=-1)
    if BoxMode.XYWHA_ABS in (source, target):
        raise NotImplementedError(f"{source.name} to {target.name}: no such conversion")
    return convert_array(array, _FORMATS[source], _FORMATS[target])


def _half_extents(xp: Any, boxes: Array) -> Array:
    """(..., 2) half width and height of the upright boxes around rotated ones."""
    radians = boxes[..., 4] * (math.pi / 180)
    cos, sin = xp.abs(xp.cos(radians)), xp.abs(xp.sin(radians))
    width, height = boxes[..., 2], boxes[..., 3]
    return xp.stack([(cos * width + sin * height) / 2, (sin * width + cos * height) / 2], axis=-1)


# Structures


class _TensorBoxes:
    """What upright and rotated boxes share: N rows of a float32 tensor, which may be changed in place."""

    _columns: ClassVar[int]

    def __init__(self, tensor: Array) -> None:
        torch = import_extra("torch", extra="torch", needed_by=f"ioukit.compat.detectron2.{type(self).__name__}")
        if library_of(tensor) != "torch":
            tensor = torch.as_tensor(np.asarray(tensor))
        tensor = tensor.to(torch.float32)
        if tensor.numel() == 0:  # keeps the graph of a gradient, unlike a new tensor
            tensor = tensor.reshape(-1, self._columns)
        if tensor.ndim != 2 or tensor.shape[1] != self._columns:
            raise ValueError(f"{type(self).__name__} must have shape (N, {self._columns}), got {tuple(tensor.shape)}")
        self.tensor = tensor

    def clone(self) -> Self:
        """A copy with memory of its own."""
        return type(self)(self.tensor.clone())

    def to(self, device: Any) -> Self:
        """On another device."""
        return type(self)(self.tensor.to(device=device))

    @property
    def device(self) -> Any:
        """Where the tensor lives."""
        return self.tensor.device

    def area(self) -> Array:
        """(N,)."""
        raise NotImplementedError

    def _size(self) -> tuple[Array, Array]:
        raise NotImplementedError

    def get_centers(self) -> Array:
        """(N, 2), x and y."""
        raise NotImplementedError

    def nonempty(self, threshold: float = 0.0) -> Array:
        """(N,) bool: boxes whose width and height are both above the threshold."""
        width, height = self._size()
        return (width > threshold) & (height > threshold)

    @classmethod
    def cat(cls, boxes_list: Sequence[Self]) -> Self:
        """All boxes of a list, in order; none of an empty one.

        Raises:
            TypeError: If an element is of another class.
        """
        for position, boxes in enumerate(boxes_list):
            if not isinstance(boxes, cls):
                raise TypeError(f"boxes_list[{position}] must be {cls.__name__}, got {type(boxes).__name__}")
        if not boxes_list:
            return cls([])
        torch = import_extra("torch", extra="torch", needed_by="ioukit.compat.detectron2")
        return cls(torch.cat([boxes.tensor for boxes in boxes_list], dim=0))

    def __getitem__(self, item: int | slice | Array) -> Self:
        """Boxes of the selected rows; an integer selects a set of one."""
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


class Boxes(_TensorBoxes):
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
        self.tensor = import_extra("torch", extra="torch", needed_by="Boxes.clip").stack(
            [x[:, 0], y[:, 0], x[:, 1], y[:, 1]], dim=-1
        )

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


class RotatedBoxes(_TensorBoxes):
    """N rotated boxes: centre x and y, width, height, degrees counterclockwise.

    Args:
        tensor: (N, 5), or nothing; becomes float32.

    Raises:
        ValueError: If the shape is another.
        ModuleNotFoundError: If PyTorch is not installed.
    """

    _columns = 5

    def area(self) -> Array:
        """(N,)."""
        return self.tensor[:, 2] * self.tensor[:, 3]

    def _size(self) -> tuple[Array, Array]:
        return self.tensor[:, 2], self.tensor[:, 3]

    def normalize_angles(self) -> None:
        """Brings the angles into [-180, 180), in place."""
        self.tensor[:, 4] = (self.tensor[:, 4] + 180) % 360 - 180

    def clip(self, box_size: tuple[int, int], clip_angle_threshold: float = 1.0) -> None:
        """Shrinks boxes to an image of (height, width), in place: those that are turned by no more than a threshold.

        Others stay as they are, since what remains of them would be no rotated box. All angles are normalized.

        Args:
            box_size: (height, width) of the image.
            clip_angle_threshold: In degrees.
        """
        height, width = box_size
        self.normalize_angles()
        rows = import_extra("torch", extra="torch", needed_by="RotatedBoxes.clip").where(
            self.tensor[:, 4].abs() <= clip_angle_threshold
        )[0]
        x, y, w, h = (self.tensor[rows, k] for k in range(4))
        x1, x2 = (x - w / 2).clamp(0, width), (x + w / 2).clamp(0, width)
        y1, y2 = (y - h / 2).clamp(0, height), (y + h / 2).clamp(0, height)
        self.tensor[rows, 0], self.tensor[rows, 1] = (x1 + x2) / 2, (y1 + y2) / 2
        # Rounding must not make a box larger than it was.
        self.tensor[rows, 2], self.tensor[rows, 3] = (x2 - x1).minimum(w), (y2 - y1).minimum(h)

    def inside_box(self, box_size: tuple[int, int], boundary_threshold: int = 0) -> Array:
        """(N,) bool: boxes whose corners are all within an image of (height, width), or the threshold outside it."""
        height, width = box_size
        x, y = self.tensor[:, 0], self.tensor[:, 1]
        half_width, half_height = _half_extents(namespace_of(self.tensor), self.tensor).unbind(dim=-1)
        low, beyond = -boundary_threshold, boundary_threshold
        inside = (x - half_width >= low) & (y - half_height >= low)
        return inside & (x + half_width < width + beyond) & (y + half_height < height + beyond)

    def get_centers(self) -> Array:
        """(N, 2), x and y."""
        return self.tensor[:, :2]

    def scale(self, scale_x: float, scale_y: float) -> None:
        """Fits the boxes to a resized image, in place.

        With two different factors a turned rectangle becomes a parallelogram. The box then keeps the lengths of its
        sides and the direction of its height.
        """
        radians = self.tensor[:, 4] * (math.pi / 180)
        cos, sin = radians.cos(), radians.sin()
        self.tensor[:, 0] *= scale_x
        self.tensor[:, 1] *= scale_y
        self.tensor[:, 2] *= (scale_x * cos).hypot(scale_y * sin)
        self.tensor[:, 3] *= (scale_x * sin).hypot(scale_y * cos)
        self.tensor[:, 4] = (scale_x * sin).atan2(scale_y * cos) * (180 / math.pi)


# Overlap


def pairwise_intersection(boxes1: Boxes, boxes2: Boxes) -> Array:
    """Areas of the intersections, (N, M): `ioukit.pairwise_intersection`."""
    return ioukit.pairwise_intersection(*_tensors(boxes1, boxes2))


def pairwise_iou(boxes1: Boxes, boxes2: Boxes) -> Array:
    """IoU of every box of one set with every box of another, (N, M): `ioukit.pairwise_iou`."""
    return ioukit.pairwise_iou(*_tensors(boxes1, boxes2))


def pairwise_ioa(boxes1: Boxes, boxes2: Boxes) -> Array:
    """Intersection over the area of the second box, (N, M): `ioukit.pairwise_ioa`."""
    return ioukit.pairwise_ioa(*_tensors(boxes1, boxes2))


def matched_pairwise_iou(boxes1: Boxes, boxes2: Boxes) -> Array:
    """IoU of the boxes of one set with those of another in the same row, (N,): `ioukit.elementwise_iou`.

    Raises:
        ValueError: If one set has more boxes than the other.
    """
    if len(boxes1) != len(boxes2):
        raise ValueError(f"boxes1 and boxes2 must be as many, got {len(boxes1)} and {len(boxes2)}")
    return ioukit.elementwise_iou(*_tensors(boxes1, boxes2))


def pairwise_iou_rotated(boxes1: RotatedBoxes | Array, boxes2: RotatedBoxes | Array) -> Array:
    """IoU of rotated boxes, (N, M) float32 without a gradient: `ioukit.pairwise_iou` of `ioukit.RotatedBoxes`.

    Args:
        boxes1: `RotatedBoxes`, or their (N, 5) tensor.
        boxes2: Likewise, of M.
    """
    tensors = [boxes.tensor if isinstance(boxes, RotatedBoxes) else boxes for boxes in (boxes1, boxes2)]
    overlap = ioukit.pairwise_iou(*(_checked(tensor) for tensor in tensors))
    torch = import_extra("torch", extra="torch", needed_by="pairwise_iou_rotated")
    return torch.from_numpy(overlap.astype(np.float32)).to(tensors[0].device)


def _checked(tensor: Array) -> ioukit.RotatedBoxes:
    numbers = as_numpy(tensor)
    if numbers is None:
        raise TypeError("rotated boxes have no overlap in a traced program")
    return ioukit.RotatedBoxes(numbers, unit="degrees", sense="counterclockwise")


def pairwise_point_box_distance(points: Array, boxes: Boxes) -> Array:
    """How far each point is inside of each side of each box.

    Args:
        points: (N, 2), x and y.
        boxes: M boxes.

    Returns:
        (N, M, 4), the distances to the left, upper, right and lower side; all are positive for a point inside.
    """
    x, y = (points[:, None, k] for k in range(2))  # (N, 1)
    x1, y1, x2, y2 = boxes.tensor.unbind(dim=1)  # (M,)
    return namespace_of(boxes.tensor).stack([x - x1, y - y1, x2 - x, y2 - y], axis=2)


def _tensors(boxes1: Boxes, boxes2: Boxes) -> tuple[Array, Array]:
    for name, boxes in (("boxes1", boxes1), ("boxes2", boxes2)):
        if not isinstance(boxes, Boxes):
            raise TypeError(f"{name} must be ioukit.compat.detectron2.Boxes, got {type(boxes).__name__}")
    return boxes1.tensor, boxes2.tensor
