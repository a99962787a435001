"""What a detector found on one image, in one form for all tools, and the values in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit._arrays import on_host
from ioukit.datasets.formats.text_files import abbreviate, refuse
from ioukit.regions.masks import Masks


@dataclass(frozen=True)
class Prediction:
    """What was found on one image, N objects."""

    scores: Floats | None
    """(N,) confidences, if the tool gives any."""
    labels: Floats | None
    """(N,) whole numbers: positions in the list of the tool's classes, or ids."""
    names: Sequence[str] | None = None
    """(N,) names of the classes, if the tool has them."""
    boxes: Floats | None = None
    """(N, 4) ``x1, y1, x2, y2``; those around the rotated boxes if ``None``."""
    rotated: Floats | None = None
    """(N, 5) ``cx, cy, width, height, angle``; the angle in radians, clockwise on the screen."""
    masks: Any = None
    """(N, H, W) or (N, 1, H, W) pixels: bools, 0 and 1, or probabilities; or N records of RLE."""
    keypoints: Floats | None = None
    """(N, P, 3) x, y and score, or visibility."""
    attributes: Mapping[str, Floats] = field(default_factory=dict)
    """(N,) further columns by name."""
    image: int | str | None = None
    """The id of the image, or the path of its file; ``None`` if the tool does not say it."""


@dataclass(frozen=True)
class Tool:
    """A kind of object that detectors return."""

    name: str
    """The name for messages."""
    recognises: Callable[[Any], bool]
    """Whether an object is of this kind, by its attributes or keys. It must not raise an error."""
    read: Callable[[Any, str], Prediction]
    """The prediction in an object; the second argument is its place in messages."""


def member_of(record: Any, name: str) -> Any:
    """An attribute of an object, or the value of a mapping; ``None`` if there is none."""
    if isinstance(record, Mapping):
        return record.get(name)
    return getattr(record, name, None)


def array_of(value: Any, where: str) -> npt.NDArray[Any]:
    """An array on the host, of any dtype. What has an attribute ``tensor``, as boxes of some tools, is that tensor.

    Raises:
        DatasetError: If the value is no regular array.
        TypeError: If it is an array without values, as in a traced program.
    """
    inner = getattr(value, "tensor", value)
    try:
        return np.asarray(on_host(inner, where, "has no values that can be read"))
    except ValueError:
        refuse(where, "a regular array", f"a {type(value).__name__} of rows that differ in length")


def numbers_of(value: Any, where: str, *shape: int | None) -> Floats:
    """A float64 array whose axes after the first have these lengths; ``None`` stands for any.

    Raises:
        DatasetError: If the value is missing, holds no numbers, or has another shape.
    """
    wanted = f"({', '.join(['N', *('P' if length is None else str(length) for length in shape)])}{',' * (not shape)})"
    if value is None:
        refuse(where, f"numbers of shape {wanted}", "nothing")
    array = array_of(value, where)
    if array.dtype.kind not in "iufb":
        refuse(where, f"numbers of shape {wanted}", f"values of dtype {array.dtype}")
    if array.size == 0 and (array.ndim != len(shape) + 1 or len(array) == 0):
        array = array.reshape(0, *(length or 0 for length in shape))  # tools return (0,) for no boxes
    lengths = tuple(found if length is None else length for length, found in zip(shape, array.shape[1:], strict=False))
    if array.ndim != len(shape) + 1 or array.shape[1:] != lengths:
        refuse(where, f"numbers of shape {wanted}", f"shape {array.shape}")
    return array.astype(np.float64)


def column_of(value: Any, where: str, count: int) -> Floats:
    """(N,) numbers, one per object.

    Raises:
        DatasetError: If it is something else.
    """
    array = numbers_of(value, where)
    if len(array) != count:
        refuse(where, f"{count:,} numbers, one per box", f"{len(array):,}")
    return array


def boxes_or_rotated(value: Any, where: str) -> tuple[Floats | None, Floats | None, int]:
    """(N, 4) boxes, or (N, 5) rotated boxes if a row has five numbers; the other one is ``None``. And N.

    Raises:
        DatasetError: If it is something else.
    """
    if value is not None and array_of(value, where).shape[-1] == 5:
        rotated = numbers_of(value, where, 5)
        return None, rotated, len(rotated)
    boxes = numbers_of(value, where, 4)
    return boxes, None, len(boxes)


def text_of(value: Any, where: str, count: int) -> Sequence[str] | None:
    """(N,) names, one per object; ``None`` if the value is missing or does not hold text.

    Raises:
        DatasetError: If there are more or fewer of them.
    """
    if not isinstance(value, Sequence | np.ndarray) or not all(isinstance(one, str) for one in value):
        return None
    if len(value) != count:
        refuse(where, f"{count:,} names, one per box", abbreviate(list(value)))
    return list(map(str, value)) if count else None


def masks_of(value: Any, where: str, *, threshold: float = 0.5) -> Masks:
    """The masks of one image.

    Args:
        value: :class:`~ioukit.Masks`, N records of RLE, or (N, H, W) or (N, 1, H, W) pixels of any library: bools,
            integers, of which 0 is outside, or probabilities.
        where: Their place in messages.
        threshold: A pixel belongs to a mask if its probability is above this number.

    Raises:
        DatasetError: If they are something else.
    """
    if isinstance(value, Masks):
        return value
    if isinstance(value, Sequence) and all(isinstance(one, Mapping) for one in value):
        try:
            return Masks.from_rle(value)
        except (ValueError, TypeError, KeyError) as error:
            refuse(where, "records of RLE", str(error))
    pixels = array_of(value, where)
    if pixels.ndim == 4 and pixels.shape[1] == 1:
        pixels = pixels[:, 0]
    if pixels.size == 0 and (pixels.ndim < 3 or len(pixels) == 0):
        return Masks.from_rle([])
    if pixels.ndim != 3 or pixels.dtype.kind not in "biuf":
        refuse(where, "pixels of shape (N, H, W)", f"shape {pixels.shape} of dtype {pixels.dtype}")
    if pixels.dtype.kind == "f":
        if np.isnan(pixels).any():
            refuse(where, "probabilities", abbreviate("NaN"))
        pixels = pixels > threshold
    elif pixels.dtype not in (np.bool_, np.uint8):
        pixels = pixels != 0
    return Masks.from_arrays(pixels)
