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

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast, get_args

from ioukit import postprocess
from ioukit._arrays import as_numpy, namespace_of
from ioukit.compat._torchscript import not_for_torchscript
from ioukit.losses import ciou_loss, diou_loss, giou_loss
from ioukit.overlap import pairwise_ciou, pairwise_diou, pairwise_giou, pairwise_iou
from ioukit.regions import RotatedBoxes
from ioukit.regions.formats import convert_array
from ioukit.typing import BoxFormat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ioukit.typing import Array, BoxFormat

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


_UPRIGHT: tuple[str, ...] = get_args(BoxFormat)
_ROTATED = {"cxcywhr": 5, "xywhr": 5, "xyxyxyxy": 8}


def _check_arrays(**arrays: object) -> None:
    """Raises `TypeError` for a list, a string or anything else that is not an array."""
    for name, array in arrays.items():
        if not hasattr(array, "dtype"):
            raise TypeError(f"{name} must be a tensor or a NumPy array, got {type(array).__name__}")


def _check_numbers(boxes: Array, count: int) -> None:
    """Raises `ValueError` unless the last dimension is ``count``, and `TypeError` without an array."""
    _check_arrays(boxes=boxes)
    if tuple(boxes.shape[-1:]) != (count,):
        raise ValueError(f"boxes must have shape (..., {count}), got {tuple(boxes.shape)}")


def _at_least_float32(boxes: Array) -> Array:
    """Half precision in float32; every other dtype as it is."""
    xp = namespace_of(boxes)
    half = xp.isdtype(boxes.dtype, "real floating") and xp.finfo(boxes.dtype).bits < 32
    return xp.astype(boxes, xp.float32) if half else boxes


def _in_floats(function: Callable[..., Array], boxes1: Array, boxes2: Array, **options: str) -> Array:
    """The result of a function on boxes in float32 or float64. For integers, it is in the library's default float."""
    _check_arrays(boxes1=boxes1, boxes2=boxes2)
    xp = namespace_of(boxes1)
    integers = not any(xp.isdtype(boxes.dtype, "real floating") for boxes in (boxes1, boxes2))
    result = function(_at_least_float32(boxes1), _at_least_float32(boxes2), **options)
    return xp.astype(result, xp.asarray(0.0).dtype, copy=False) if integers else result


def _convert(xp: Any, boxes: Array, in_fmt: str, out_fmt: str) -> Array:
    """The boxes in another format: floats, or integers between formats in which halves cannot occur."""
    if in_fmt == out_fmt or in_fmt in _UPRIGHT:
        return convert_array(boxes, cast("BoxFormat", in_fmt), cast("BoxFormat", out_fmt))
    x, y, width, height, degrees = _centred(xp, boxes, in_fmt)
    if out_fmt == "cxcywhr":
        return xp.stack([x, y, width, height, degrees], axis=-1)
    right, up = _half_sides(xp, width, height, degrees)
    if out_fmt == "xywhr":
        return xp.stack([x - right[0] + up[0], y - right[1] + up[1], width, height, degrees], axis=-1)
    ring = ((-1, 1), (1, 1), (1, -1), (-1, -1))  # upper left, upper right, lower right, lower left, before the turn
    corners = [(x + i * right[0] + j * up[0], y + i * right[1] + j * up[1]) for i, j in ring]
    return xp.stack([number for corner in corners for number in corner], axis=-1)


def _centred(xp: Any, boxes: Array, fmt: str) -> tuple[Array, ...]:
    """X and y of the centres, widths, heights and degrees of rotated boxes."""
    if fmt == "xyxyxyxy":
        x1, y1, x2, y2, x3, y3, x4, y4 = (boxes[..., k] for k in range(8))
        degrees = xp.atan2(y1 - y2, x2 - x1) * (180 / math.pi)
        return (x1 + x3) / 2, (y1 + y3) / 2, xp.hypot(x2 - x1, y2 - y1), xp.hypot(x4 - x1, y4 - y1), degrees
    x, y, width, height, degrees = (boxes[..., k] for k in range(5))
    if fmt == "xywhr":
        right, up = _half_sides(xp, width, height, degrees)
        x, y = x + right[0] - up[0], y + right[1] - up[1]
    return x, y, width, height, degrees


def _half_sides(xp: Any, width: Array, height: Array, degrees: Array) -> tuple[tuple[Array, Array], ...]:
    """The vectors from the centre to the middle of the right side and of the upper side; y points down."""
    cos, sin = xp.cos(degrees * (math.pi / 180)) / 2, xp.sin(degrees * (math.pi / 180)) / 2
    return (width * cos, -width * sin), (-height * sin, -height * cos)


@not_for_torchscript
def box_convert(boxes: Array, in_fmt: str, out_fmt: str) -> Array:
    """The same boxes in another format, in a new array of the same dtype.

    Args:
        boxes: (..., 4); for rotated formats (..., 5) or (..., 8).
        in_fmt: The format of the boxes, as ``fmt`` of `box_iou`.
        out_fmt: The format of the result. Both formats are upright, or both are rotated.

    Returns:
        The boxes in their dtype. Integers become int64 between ``xyxy`` and ``xywh``, else the library's default float.

    Raises:
        ValueError: If a format is unknown or does not fit the shape.
        NotImplementedError: If one format is rotated and the other is not, as in torchvision.
    """
    for fmt in (in_fmt, out_fmt):
        if fmt not in _UPRIGHT and fmt not in _ROTATED:
            raise ValueError(f"unknown format {fmt!r}; choose from {', '.join([*_UPRIGHT, *_ROTATED])}")
    if (in_fmt in _ROTATED) != (out_fmt in _ROTATED):
        raise NotImplementedError(f"{in_fmt!r} to {out_fmt!r}: a rotated box is not an upright one")
    _check_numbers(boxes, _ROTATED.get(in_fmt, 4))
    xp = namespace_of(boxes)
    if not xp.isdtype(boxes.dtype, "real floating"):
        exact = {in_fmt, out_fmt} <= {"xyxy", "xywh"} or in_fmt == out_fmt
        converted = _convert(xp, xp.astype(boxes, xp.int64 if exact else xp.float64), in_fmt, out_fmt)
        return converted if exact else xp.astype(converted, xp.asarray(0.0).dtype)
    return xp.astype(_convert(xp, _at_least_float32(boxes), in_fmt, out_fmt), boxes.dtype, copy=False)


@not_for_torchscript
def box_area(boxes: Array, fmt: str = "xyxy") -> Array:
    """Areas of upright boxes.

    Args:
        boxes: (..., 4).
        fmt: ``"xyxy"``, ``"xywh"`` or ``"cxcywh"``.

    Returns:
        (...) areas: int64 for integers, float32 for half precision, where squares beyond 65504 would overflow, else in
        the dtype of ``boxes``.
    """
    if fmt not in _UPRIGHT:
        raise ValueError(f"unknown fmt {fmt!r}; choose from {', '.join(_UPRIGHT)}")
    _check_numbers(boxes, 4)
    sides = _sides(boxes, fmt)
    return sides[..., 0] * sides[..., 1]


@not_for_torchscript
def clip_boxes_to_image(boxes: Array, size: Sequence[float]) -> Array:
    """The part of each xyxy box inside an image.

    Args:
        boxes: (..., 4). A box outside shrinks to the edge of the image; NaN stays NaN.
        size: (height, width) of the image.

    Returns:
        (..., 4), in the same dtype.
    """
    _check_numbers(boxes, 4)
    height, width = size
    xp = namespace_of(boxes)
    return xp.stack([xp.clip(boxes[..., k], 0, (width, height)[k % 2]) for k in range(4)], axis=-1)


@not_for_torchscript
def remove_small_boxes(boxes: Array, min_size: float) -> Array:
    """The rows of the xyxy boxes whose width and height are both at least ``min_size``.

    Args:
        boxes: (N, 4).
        min_size: In the unit of the boxes.

    Returns:
        (K,) int64 rows, ascending.
    """
    _check_numbers(boxes, 4)
    sides = _sides(boxes, "xyxy")
    xp = namespace_of(boxes)
    return xp.nonzero((sides[..., 0] >= min_size) & (sides[..., 1] >= min_size))[0]


@not_for_torchscript
def masks_to_boxes(masks: Array) -> Array:
    """The boxes around masks, from the first to the last pixel that is not 0.

    Args:
        masks: (N, H, W) of any dtype.

    Returns:
        (N, 4) float32 xyxy; zeros for a mask without pixels. x2 and y2 are those of the last pixel, not of the edge
        behind it, so the box of a single pixel has no area. Add 1 to x2 and y2 for the half-open boxes of ioukit.
    """
    _check_arrays(masks=masks)
    if masks.ndim != 3:
        raise ValueError(f"masks must have shape (N, H, W), got {tuple(masks.shape)}")
    xp = namespace_of(masks)
    count, height, width = masks.shape
    if 0 in masks.shape:
        return xp.zeros((count, 4), dtype=xp.float32, device=getattr(masks, "device", None))
    members = masks != 0
    columns, rows = xp.any(members, axis=1), xp.any(members, axis=2)  # (N, W), (N, H)
    x1, y1 = (xp.argmax(xp.astype(line, xp.uint8), axis=1) for line in (columns, rows))
    x2 = width - 1 - xp.argmax(xp.astype(xp.flip(columns, axis=1), xp.uint8), axis=1)
    y2 = height - 1 - xp.argmax(xp.astype(xp.flip(rows, axis=1), xp.uint8), axis=1)
    boxes = xp.astype(xp.stack([x1, y1, x2, y2], axis=1), xp.float32)
    return xp.where(xp.any(rows, axis=1)[:, None], boxes, xp.zeros_like(boxes))


def _sides(boxes: Array, fmt: str) -> Array:
    """(..., 2) widths and heights; int64 for integers, float32 for half precision."""
    xp = namespace_of(boxes)
    floating = xp.isdtype(boxes.dtype, "real floating")
    wide = _at_least_float32(boxes) if floating else xp.astype(boxes, xp.int64)
    return wide[..., 2:] - wide[..., :2] if fmt == "xyxy" else wide[..., 2:]


@not_for_torchscript
def box_iou(boxes1: Array, boxes2: Array, fmt: str = "xyxy") -> Array:
    """IoU of every box of one set with every box of another: `ioukit.pairwise_iou`.

    Args:
        boxes1: (..., N, 4); for rotated formats (N, 5) or (N, 8).
        boxes2: (..., M, 4); for rotated formats (M, 5) or (M, 8). Batch dimensions broadcast.
        fmt: ``"xyxy"``, ``"xywh"`` or ``"cxcywh"``; for rotated boxes ``"cxcywhr"`` (centre, size, degrees
            counterclockwise), ``"xywhr"`` (the rotated upper left corner, size, degrees) or ``"xyxyxyxy"`` (the corners
            in order around the box).

    Returns:
        (..., N, M) within [0, 1]: float64 for float64, else float32. For rotated boxes always float32, without a
        gradient.

    Raises:
        ValueError: If the format is unknown, a shape does not fit, or a box is not valid.
    """
    if fmt in _UPRIGHT:
        return _in_floats(pairwise_iou, boxes1, boxes2, format=fmt)
    if fmt not in _ROTATED:
        raise ValueError(f"unknown fmt {fmt!r}; choose from {', '.join([*_UPRIGHT, *_ROTATED])}")
    overlap = pairwise_iou(*(_rotated(name, boxes, fmt) for name, boxes in (("boxes1", boxes1), ("boxes2", boxes2))))
    return namespace_of(boxes1).asarray(overlap.astype("float32"), device=getattr(boxes1, "device", None))


@not_for_torchscript
def generalized_box_iou(boxes1: Array, boxes2: Array) -> Array:
    """GIoU of every xyxy box of one set with every box of another, (..., N, M): `ioukit.pairwise_giou`."""
    return _in_floats(pairwise_giou, boxes1, boxes2)


@not_for_torchscript
def distance_box_iou(boxes1: Array, boxes2: Array, eps: float = 1e-7) -> Array:  # noqa: ARG001 - torchvision's
    """DIoU of every xyxy box of one set with every box of another, (..., N, M): `ioukit.pairwise_diou`.

    ``eps`` is accepted and not used, because no denominator is 0.
    """
    return _in_floats(pairwise_diou, boxes1, boxes2)


@not_for_torchscript
def complete_box_iou(boxes1: Array, boxes2: Array, eps: float = 1e-7) -> Array:  # noqa: ARG001 - torchvision's
    """CIoU of every xyxy box of one set with every box of another, (..., N, M): `ioukit.pairwise_ciou`.

    ``eps`` is accepted and not used, because no denominator is 0.
    """
    return _in_floats(pairwise_ciou, boxes1, boxes2)


def _rotated(name: str, boxes: Array, fmt: str) -> RotatedBoxes:
    _check_arrays(**{name: boxes})
    if boxes.ndim != 2 or boxes.shape[1] != _ROTATED[fmt]:
        raise ValueError(f"{name} must have shape (N, {_ROTATED[fmt]}) in {fmt!r}, got {tuple(boxes.shape)}")
    xp = namespace_of(boxes)
    centred = as_numpy(box_convert(xp.astype(boxes, xp.float64), fmt, "cxcywhr"))
    if centred is None:
        raise TypeError("rotated boxes have no overlap in a traced program")
    return RotatedBoxes(centred, unit="degrees", sense="counterclockwise")


_EPS = 1e-7


@not_for_torchscript
def generalized_box_iou_loss(boxes1: Array, boxes2: Array, reduction: str = "none", eps: float = 1e-7) -> Array:
    """``1 - GIoU`` of each box with its target: `ioukit.losses.giou_loss` with ``compat="torchvision"``.

    Args:
        boxes1: (N, 4) or (4,), xyxy.
        boxes2: The same shape.
        reduction: ``"none"``, ``"mean"`` (0 for no boxes) or ``"sum"``.
        eps: Must be 1e-7, which torchvision adds to denominators. `ioukit.losses.giou_loss` itself needs no epsilon.

    Returns:
        (N,), or a single number if reduced: float64 for float64, else float32.

    Raises:
        ValueError: If the reduction is unknown, shapes differ, or ``eps`` is not 1e-7.
    """
    return _loss(giou_loss, boxes1, boxes2, reduction, eps)


@not_for_torchscript
def distance_box_iou_loss(boxes1: Array, boxes2: Array, reduction: str = "none", eps: float = 1e-7) -> Array:
    """``1 - DIoU`` of each box with its target: `ioukit.losses.diou_loss`; see `generalized_box_iou_loss`."""
    return _loss(diou_loss, boxes1, boxes2, reduction, eps)


@not_for_torchscript
def complete_box_iou_loss(boxes1: Array, boxes2: Array, reduction: str = "none", eps: float = 1e-7) -> Array:
    """``1 - CIoU`` of each box with its target: `ioukit.losses.ciou_loss`; see `generalized_box_iou_loss`."""
    return _loss(ciou_loss, boxes1, boxes2, reduction, eps)


def _loss(loss: Callable[..., Array], boxes1: Array, boxes2: Array, reduction: str, eps: float) -> Array:
    _check_arrays(boxes1=boxes1, boxes2=boxes2)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"Invalid reduction {reduction!r}; choose from none, mean, sum")
    if eps != _EPS:
        raise ValueError(f"eps must be {_EPS}, got {eps}: ioukit.losses has the same losses without an epsilon")
    if tuple(boxes1.shape) != tuple(boxes2.shape):
        raise ValueError(f"boxes1 and boxes2 must have one shape, got {tuple(boxes1.shape)} and {tuple(boxes2.shape)}")
    return _in_floats(loss, boxes1, boxes2, reduction=reduction, compat="torchvision")


@not_for_torchscript
def nms(boxes: Array, scores: Array, iou_threshold: float) -> Array:
    """The rows that survive non-maximum suppression, sorted by descending score: `ioukit.nms`.

    Args:
        boxes: (N, 4) xyxy.
        scores: (N,).
        iou_threshold: A box removes another one with a lower score if their IoU is **above** this threshold.

    Returns:
        (K,) int64 rows.

    Raises:
        TypeError: If boxes or scores are not arrays.
        ValueError: If a shape does not fit, or a box or a score is not valid.
    """
    _check_arrays(boxes=boxes, scores=scores)
    return postprocess.nms(_plain(boxes), _plain(scores), iou_threshold=iou_threshold)


@not_for_torchscript
def batched_nms(boxes: Array, scores: Array, idxs: Array, iou_threshold: float) -> Array:
    """`nms` in which only boxes with equal ``idxs`` remove each other: `ioukit.nms` with ``labels``.

    Args:
        boxes: (N, 4) xyxy. Without any numbers, the result is empty and nothing else is read.
        scores: (N,).
        idxs: (N,) whole numbers, such as classes, in any dtype.
        iou_threshold: As in `nms`.

    Returns:
        (K,) int64 rows of all classes, sorted by descending score.

    Raises:
        TypeError: If an argument is not an array.
        ValueError: If a shape does not fit, an index is not a whole number, or a box or a score is not valid.
    """
    _check_arrays(boxes=boxes)
    if 0 in boxes.shape:
        return namespace_of(boxes).zeros(0, dtype=namespace_of(boxes).int64, device=getattr(boxes, "device", None))
    _check_arrays(scores=scores, idxs=idxs)
    xp = namespace_of(idxs)
    labels = xp.astype(idxs, xp.int64, copy=False)
    if not bool(xp.all(labels == idxs)):
        raise ValueError("idxs must be whole numbers, such as classes")
    return postprocess.nms(_plain(boxes), _plain(scores), iou_threshold=iou_threshold, labels=labels)


def _plain(array: Array) -> Array:
    """The numbers of a quantized tensor; every other array as it is."""
    return array.dequantize() if getattr(array, "is_quantized", False) else array
