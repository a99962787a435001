"""The box functions of ``torchvision.ops`` 0.29: tensors in, tensors out; NumPy arrays as well.

Change ``from torchvision.ops import box_iou`` to ``from ioukit.compat.torchvision_ops import box_iou``. Names, order of
the arguments, shapes and dtypes are torchvision's. What differs:

====================================  =================================  ==========================================
what                                  torchvision                        here
====================================  =================================  ==========================================
overlap of boxes without area         NaN (0/0)                          0; GIoU and DIoU keep their penalty
inverted boxes, NaN, infinity in an   a number without meaning           ValueError that names the row
overlap
``eps`` of DIoU and CIoU              added to the denominators, so that  taken and not used: denominators are guarded
                                      small normalized boxes are off
integers in an overlap                areas may overflow                 computed in float64, float32 result
integers in `box_area` and between    computed in their dtype: uint8     computed and returned in int64
``xyxy`` and ``xywh``                 corners wrap around
gradient of CIoU at a flat box        NaN                                finite
overlaps of rotated boxes             float32 kernel, off for thin ones  float64, rounded once to float32
rotated sets with batch dimensions    RuntimeError                       ValueError
``eps`` of a loss that is not 1e-7    used, in part, by CIoU             ValueError
losses of integers                    float32                            the same, from float64
losses otherwise                      added epsilons; NaN gradients at   the same on purpose: a training recipe stays
                                      boxes without area                 what it is; `ioukit.losses` has neither
an IoU near ``iou_threshold``         float32 against a double; on       float32 against the threshold as float32
                                      CUDA as here
`batched_nms` of large coordinates    shifted by class, which rounds;    labels are compared, coordinates stay
                                      wrong below 0
invalid boxes and NaN scores in NMS   kept or dropped by chance          ValueError that names the row
``torch.jit.script``                  works                              does not
====================================  =================================  ==========================================

Memory is shared with NumPy where it can be: overlaps of CPU tensors that need no gradient are ioukit's native ones.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast, get_args

from ioukit import postprocess
from ioukit._arrays import as_numpy, namespace_of
from ioukit.boxes import RotatedBoxes
from ioukit.boxes.formats import convert_array
from ioukit.losses import ciou_loss, diou_loss, giou_loss
from ioukit.overlap import pairwise_ciou, pairwise_diou, pairwise_giou, pairwise_iou
from ioukit.typing import BoxFormat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ioukit.typing import Array

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
_EPS = 1e-7
_ROTATED = {"cxcywhr": 5, "xywhr": 5, "xyxyxyxy": 8}


# Overlap


def box_iou(boxes1: Array, boxes2: Array, fmt: str = "xyxy") -> Array:
    """IoU of every box of one set with every box of another: `ioukit.pairwise_iou`.

    Args:
        boxes1: (..., N, 4), or (N, 5) or (N, 8) for the rotated formats.
        boxes2: (..., M, 4), likewise; batch dimensions broadcast.
        fmt: ``"xyxy"``, ``"xywh"``, ``"cxcywh"``, or, of rotated boxes, ``"cxcywhr"``, ``"xywhr"`` (the turned corner,
            size, degrees counterclockwise) or ``"xyxyxyxy"`` (the corners in order around the box).

    Returns:
        (..., N, M) within [0, 1]: float64 for float64, else float32; float32 for all rotated boxes, and without a
        gradient.

    Raises:
        ValueError: If the format is unknown, a shape is another, or a box is none.
    """
    if fmt in _UPRIGHT:
        return _in_floats(pairwise_iou, boxes1, boxes2, format=fmt)
    if fmt not in _ROTATED:
        raise ValueError(f"unknown fmt {fmt!r}; choose from {', '.join([*_UPRIGHT, *_ROTATED])}")
    overlap = pairwise_iou(*(_rotated(name, boxes, fmt) for name, boxes in (("boxes1", boxes1), ("boxes2", boxes2))))
    return namespace_of(boxes1).asarray(overlap.astype("float32"), device=getattr(boxes1, "device", None))


def generalized_box_iou(boxes1: Array, boxes2: Array) -> Array:
    """GIoU of every xyxy box of one set with every one of another: `ioukit.pairwise_giou`, (..., N, M)."""
    return _in_floats(pairwise_giou, boxes1, boxes2)


def distance_box_iou(boxes1: Array, boxes2: Array, eps: float = 1e-7) -> Array:  # noqa: ARG001 - torchvision's
    """DIoU of every xyxy box of one set with every one of another: `ioukit.pairwise_diou`, (..., N, M).

    ``eps`` is taken and not used: no denominator is 0.
    """
    return _in_floats(pairwise_diou, boxes1, boxes2)


def complete_box_iou(boxes1: Array, boxes2: Array, eps: float = 1e-7) -> Array:  # noqa: ARG001 - torchvision's
    """CIoU of every xyxy box of one set with every one of another: `ioukit.pairwise_ciou`, (..., N, M).

    ``eps`` is taken and not used: no denominator is 0.
    """
    return _in_floats(pairwise_ciou, boxes1, boxes2)


def _rotated(name: str, boxes: Array, fmt: str) -> RotatedBoxes:
    if boxes.ndim != 2 or boxes.shape[1] != _ROTATED[fmt]:
        raise ValueError(f"{name} must have shape (N, {_ROTATED[fmt]}) in {fmt!r}, got {tuple(boxes.shape)}")
    xp = namespace_of(boxes)
    centred = as_numpy(box_convert(xp.astype(boxes, xp.float64), fmt, "cxcywhr"))
    if centred is None:
        raise TypeError("rotated boxes have no overlap in a traced program")
    return RotatedBoxes(centred, unit="degrees", sense="counterclockwise")


def _in_floats(function: Callable[..., Array], boxes1: Array, boxes2: Array, **options: str) -> Array:
    """In float32 at least; integers are measured in float64 and come out in the library's default."""
    xp = namespace_of(boxes1)
    integers = not any(xp.isdtype(boxes.dtype, "real floating") for boxes in (boxes1, boxes2))
    result = function(_at_least_float32(boxes1), _at_least_float32(boxes2), **options)
    return xp.astype(result, xp.asarray(0.0).dtype, copy=False) if integers else result


# Losses


def generalized_box_iou_loss(boxes1: Array, boxes2: Array, reduction: str = "none", eps: float = 1e-7) -> Array:
    """``1 - GIoU`` of each box and its target: `ioukit.losses.giou_loss` with ``compat="torchvision"``.

    Args:
        boxes1: (N, 4) or (4,), xyxy.
        boxes2: The same shape.
        reduction: ``"none"``, ``"mean"`` (of no boxes 0) or ``"sum"``.
        eps: 1e-7, as torchvision adds it to denominators. `ioukit.losses.giou_loss` itself needs none.

    Returns:
        (N,), or a single number if reduced: float64 for float64, else float32.

    Raises:
        ValueError: If the reduction is unknown, shapes differ, or ``eps`` is another.
    """
    return _loss(giou_loss, boxes1, boxes2, reduction, eps)


def distance_box_iou_loss(boxes1: Array, boxes2: Array, reduction: str = "none", eps: float = 1e-7) -> Array:
    """``1 - DIoU`` of each box and its target: `ioukit.losses.diou_loss`; see `generalized_box_iou_loss`."""
    return _loss(diou_loss, boxes1, boxes2, reduction, eps)


def complete_box_iou_loss(boxes1: Array, boxes2: Array, reduction: str = "none", eps: float = 1e-7) -> Array:
    """``1 - CIoU`` of each box and its target: `ioukit.losses.ciou_loss`; see `generalized_box_iou_loss`."""
    return _loss(ciou_loss, boxes1, boxes2, reduction, eps)


def _loss(loss: Callable[..., Array], boxes1: Array, boxes2: Array, reduction: str, eps: float) -> Array:
    if eps != _EPS:
        raise ValueError(f"eps must be {_EPS}, got {eps}: ioukit.losses has the same losses, which need none")
    if tuple(boxes1.shape) != tuple(boxes2.shape):
        raise ValueError(f"boxes1 and boxes2 must have one shape, got {tuple(boxes1.shape)} and {tuple(boxes2.shape)}")
    return _in_floats(loss, boxes1, boxes2, reduction=reduction, compat="torchvision")


# Suppression


def nms(boxes: Array, scores: Array, iou_threshold: float) -> Array:
    """Rows that survive non-maximum suppression, by falling score: `ioukit.nms`.

    Args:
        boxes: (N, 4) xyxy.
        scores: (N,).
        iou_threshold: A box is removed by a better one whose IoU with it is **above** it.

    Returns:
        (K,) int64.
    """
    return postprocess.nms(boxes, scores, iou_threshold=iou_threshold)


def batched_nms(boxes: Array, scores: Array, idxs: Array, iou_threshold: float) -> Array:
    """`nms` among boxes of equal ``idxs`` alone: `ioukit.nms` with ``labels``.

    Args:
        boxes: (N, 4) xyxy.
        scores: (N,).
        idxs: (N,) whole numbers, such as classes, in any dtype.
        iou_threshold: As of `nms`.

    Returns:
        (K,) int64, by falling score over all.
    """
    xp = namespace_of(idxs)
    labels = xp.astype(idxs, xp.int64, copy=False)
    if not bool(xp.all(labels == idxs)):
        raise ValueError("idxs must be whole numbers, such as classes")
    return postprocess.nms(boxes, scores, iou_threshold=iou_threshold, labels=labels)


# One set


def box_convert(boxes: Array, in_fmt: str, out_fmt: str) -> Array:
    """The same boxes in another format, in a new array of the same dtype.

    Args:
        boxes: (..., 4), or (..., 5) or (..., 8) for the rotated formats.
        in_fmt: As ``fmt`` of `box_iou`.
        out_fmt: Likewise; rotated to rotated and upright to upright.

    Returns:
        The dtype of ``boxes``; of integers int64 between ``xyxy`` and ``xywh``, else the library's default float.

    Raises:
        ValueError: If a format is unknown or does not fit the shape.
        NotImplementedError: If one format is rotated and the other is not, as in torchvision.
    """
    for fmt in (in_fmt, out_fmt):
        if fmt not in _UPRIGHT and fmt not in _ROTATED:
            raise ValueError(f"unknown format {fmt!r}; choose from {', '.join([*_UPRIGHT, *_ROTATED])}")
    if (in_fmt in _ROTATED) != (out_fmt in _ROTATED):
        raise NotImplementedError(f"{in_fmt!r} to {out_fmt!r}: a rotated box is no upright one; say what it should be")
    _check_numbers(boxes, _ROTATED.get(in_fmt, 4))
    xp = namespace_of(boxes)
    if not xp.isdtype(boxes.dtype, "real floating"):
        exact = {in_fmt, out_fmt} <= {"xyxy", "xywh"} or in_fmt == out_fmt
        converted = _convert(xp, xp.astype(boxes, xp.int64 if exact else xp.float64), in_fmt, out_fmt)
        return converted if exact else xp.astype(converted, xp.asarray(0.0).dtype)
    return xp.astype(_convert(xp, _at_least_float32(boxes), in_fmt, out_fmt), boxes.dtype, copy=False)


def box_area(boxes: Array, fmt: str = "xyxy") -> Array:
    """Areas of upright boxes.

    Args:
        boxes: (..., 4).
        fmt: ``"xyxy"``, ``"xywh"`` or ``"cxcywh"``.

    Returns:
        (...): int64 for integers, float32 for half precision, whose squares end at 65504, else the dtype of ``boxes``.
    """
    if fmt not in _UPRIGHT:
        raise ValueError(f"unknown fmt {fmt!r}; choose from {', '.join(_UPRIGHT)}")
    _check_numbers(boxes, 4)
    sides = _sides(boxes, fmt)
    return sides[..., 0] * sides[..., 1]


def clip_boxes_to_image(boxes: Array, size: Sequence[float]) -> Array:
    """The parts of xyxy boxes inside an image.

    Args:
        boxes: (..., 4); boxes outside shrink to the edge, NaN stays.
        size: (height, width) of the image.

    Returns:
        (..., 4), of the same dtype.
    """
    _check_numbers(boxes, 4)
    height, width = size
    xp = namespace_of(boxes)
    sides = [xp.clip(boxes[..., k], 0, (width, height)[k % 2]) for k in range(4)]
    return xp.stack(sides, axis=-1)


def remove_small_boxes(boxes: Array, min_size: float) -> Array:
    """Rows of the xyxy boxes both of whose sides are ``min_size`` or longer.

    Args:
        boxes: (N, 4).
        min_size: In the unit of the boxes.

    Returns:
        (K,) int64, ascending.
    """
    _check_numbers(boxes, 4)
    sides = _sides(boxes, "xyxy")
    xp = namespace_of(boxes)
    return xp.nonzero((sides[..., 0] >= min_size) & (sides[..., 1] >= min_size))[0]


def masks_to_boxes(masks: Array) -> Array:
    """Boxes around masks, from the first to the last pixel that is not 0.

    Args:
        masks: (N, H, W) of any dtype.

    Returns:
        (N, 4) float32 xyxy. The far corner is the last pixel itself, not the edge behind it: a mask of one pixel has a
        box without area. Add 1 to the far corners for the half-open boxes of ioukit. Zeros for a mask without pixels.
    """
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


# What they share


def _check_numbers(boxes: Array, count: int) -> None:
    if tuple(boxes.shape[-1:]) != (count,):
        raise ValueError(f"boxes must have shape (..., {count}), got {tuple(boxes.shape)}")


def _at_least_float32(boxes: Array) -> Array:
    """Half precision as float32; everything else as it is."""
    xp = namespace_of(boxes)
    half = xp.isdtype(boxes.dtype, "real floating") and xp.finfo(boxes.dtype).bits < 32
    return xp.astype(boxes, xp.float32) if half else boxes


def _sides(boxes: Array, fmt: str) -> Array:
    """(..., 2) widths and heights: integers in int64, half precision in float32."""
    xp = namespace_of(boxes)
    floating = xp.isdtype(boxes.dtype, "real floating")
    wide = _at_least_float32(boxes) if floating else xp.astype(boxes, xp.int64)
    return wide[..., 2:] - wide[..., :2] if fmt == "xyxy" else wide[..., 2:]


def _convert(xp: Any, boxes: Array, in_fmt: str, out_fmt: str) -> Array:
    """Floats, or integers where no half can appear."""
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
    """Centre, size and degrees of rotated boxes."""
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
    """From the centre to the middle of the right and of the upper side; y points down."""
    cos, sin = xp.cos(degrees * (math.pi / 180)) / 2, xp.sin(degrees * (math.pi / 180)) / 2
    return (width * cos, -width * sin), (-height * sin, -height * cos)
