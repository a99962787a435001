"""`BoxMode`: what the numbers of a box are."""

from __future__ import annotations

import math
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._arrays import namespace_of
from ioukit.regions.formats import convert_array

if TYPE_CHECKING:
    from ioukit.typing import Array, BoxFormat

__all__ = ["BoxMode", "half_extents"]


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
