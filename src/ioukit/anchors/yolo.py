"""The codings of YOLO: a box relative to a cell of the grid, with or without an anchor.

The functions run on the array API: the result is of the library of the input, and gradients flow. Boxes are in pixels,
as centre and size (``cxcywh``).

A box that is encoded and decoded comes back up to rounding: within about 1e-5 of the stride or the anchor in float32,
and 1e-12 in float64. A sigmoid never reaches 0 or 1. `encode_*` therefore keeps it at least ``margin`` away from both,
and a centre exactly on the edge of its reach comes back that much off. A box beyond the reach is an error.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ioukit.anchors._arithmetic import all_like, check_codable, floats, joined, logit, sigmoid

if TYPE_CHECKING:
    from ioukit.typing import Array

__all__ = ["decode_yolov3", "decode_yolov5", "decode_yolox", "encode_yolov3", "encode_yolov5", "encode_yolox"]


def decode_yolov3(raw: Array, cells: Array, anchors: Array, strides: Array | float, *, scale_xy: float = 1.0) -> Array:
    """``centre = (sigmoid(t) + cell) * stride``, ``size = exp(t) * anchor``: YOLOv2 to YOLOv4.

    Args:
        raw: (..., 4) the prediction of the head.
        cells: (..., 2) column and row of the cell; it broadcasts with ``raw``.
        anchors: (..., 2) width and height in pixels.
        strides: Pixels per cell, (..., 1) or one number for all.
        scale_xy: YOLOv4's ``scale_x_y``. It stretches the sigmoid about 1/2, so that a centre can reach the edges of
            its cell.

    Returns:
        (..., 4) cxcywh in pixels. In float32, sizes overflow for ``t`` above 88.

    Examples:
        >>> decode_yolov3([0.0, 0.0, 0.0, 0.0], [6, 6], [116, 90], 32)
        array([208., 208., 116.,  90.])

    Reference: Redmon and Farhadi, YOLOv3, arXiv:1804.02767.
    """
    xp, array = floats("raw", raw)
    cells, anchors, strides = all_like(xp, array, cells=cells, anchors=anchors, strides=strides)
    offset = sigmoid(xp, array[..., :2]) * scale_xy - (scale_xy - 1) / 2
    return joined(xp, (offset + cells) * strides, xp.exp(array[..., 2:]) * anchors)


def encode_yolov3(
    boxes: Array,
    cells: Array,
    anchors: Array,
    strides: Array | float,
    *,
    scale_xy: float = 1.0,
    margin: float = 1e-6,
    check: bool = True,
) -> Array:
    """The prediction that a head should make for each box: the inverse of `decode_yolov3`.

    Args:
        boxes: (..., 4) cxcywh in pixels.
        cells: (..., 2) column and row of the cell that holds the centre.
        anchors: (..., 2) width and height in pixels.
        strides: Pixels per cell, (..., 1) or one number for all.
        scale_xy: As in `decode_yolov3`.
        margin: The smallest distance of the sigmoid from 0 and 1.
        check: Whether a box out of reach is an error. If False, and in a traced program, it is clamped to the reach.

    Returns:
        (..., 4) the numbers that `decode_yolov3` turns into the boxes.

    Raises:
        ValueError: If a centre is out of reach of its cell, or a size is not positive.

    Examples:
        >>> encode_yolov3([208.0, 208.0, 116.0, 90.0], [6, 6], [116, 90], 32)
        array([0., 0., 0., 0.])
    """
    xp, array = floats("boxes", boxes)
    cells, anchors, strides = all_like(xp, array, cells=cells, anchors=anchors, strides=strides)
    offset = (array[..., :2] / strides - cells + (scale_xy - 1) / 2) / scale_xy
    if check:
        check_codable(offset, array, "its centre is out of reach of its cell")
        check_codable(array[..., 2:], array, "a size must be positive", 0.0, math.inf, open_low=True)
    least = float(xp.finfo(array.dtype).smallest_normal)
    return joined(xp, logit(xp, offset, margin), xp.log(xp.clip(array[..., 2:] / anchors, least, None)))


def decode_yolov5(raw: Array, cells: Array, anchors: Array, strides: Array | float) -> Array:
    """``centre = (2 sigmoid(t) - 0.5 + cell) * stride``, ``size = (2 sigmoid(t))**2 * anchor``: YOLOv5 and YOLOv7.

    A centre lies at most half a cell outside its cell, and a size is less than four times that of its anchor.

    Args:
        raw: (..., 4) the prediction of the head.
        cells: (..., 2) column and row of the cell.
        anchors: (..., 2) width and height in pixels.
        strides: Pixels per cell, (..., 1) or one number for all.

    Returns:
        (..., 4) cxcywh in pixels.

    Examples:
        >>> decode_yolov5([0.0, 0.0, 0.0, 0.0], [6, 6], [116, 90], 32)
        array([208., 208., 116.,  90.])

    Reference: Wang et al., YOLOv7, CVPR 2023, arXiv:2207.02696.
    """
    xp, array = floats("raw", raw)
    cells, anchors, strides = all_like(xp, array, cells=cells, anchors=anchors, strides=strides)
    double = sigmoid(xp, array) * 2
    return joined(xp, (double[..., :2] - 0.5 + cells) * strides, double[..., 2:] * double[..., 2:] * anchors)


def encode_yolov5(
    boxes: Array, cells: Array, anchors: Array, strides: Array | float, *, margin: float = 1e-6, check: bool = True
) -> Array:
    """The prediction that a head should make for each box: the inverse of `decode_yolov5`.

    Args:
        boxes: (..., 4) cxcywh in pixels.
        cells: (..., 2) column and row of a cell that is at most half a cell from the centre.
        anchors: (..., 2) width and height in pixels, more than a quarter of those of the box.
        strides: Pixels per cell, (..., 1) or one number for all.
        margin: The smallest distance of the sigmoid from 0 and 1.
        check: As in `encode_yolov3`.

    Returns:
        (..., 4) the numbers that `decode_yolov5` turns into the boxes.

    Raises:
        ValueError: If a centre is out of reach of its cell, or a size out of reach of its anchor.

    Examples:
        >>> encode_yolov5([208.0, 208.0, 116.0, 90.0], [6, 6], [116, 90], 32)
        array([0., 0., 0., 0.])
    """
    xp, array = floats("boxes", boxes)
    cells, anchors, strides = all_like(xp, array, cells=cells, anchors=anchors, strides=strides)
    offset, ratio = (array[..., :2] / strides - cells + 0.5) / 2, array[..., 2:] / anchors
    if check:
        check_codable(offset, array, "its centre is out of reach of its cell")
        check_codable(
            ratio, array, "its sides must be positive and at most 4 times the anchor's", 0.0, 4.0, open_low=True
        )
    root = xp.sqrt(xp.clip(ratio, float(xp.finfo(array.dtype).smallest_normal), None)) / 2
    return joined(xp, logit(xp, offset, margin), logit(xp, root, margin))


def decode_yolox(raw: Array, cells: Array, strides: Array | float) -> Array:
    """``centre = (t + cell) * stride``, ``size = exp(t) * stride``: YOLOX, without anchors.

    Args:
        raw: (..., 4) the prediction of the head.
        cells: (..., 2) column and row of the cell.
        strides: Pixels per cell, (..., 1) or one number for all.

    Returns:
        (..., 4) cxcywh in pixels.

    Examples:
        >>> decode_yolox([0.5, 0.5, 0.0, 0.0], [6, 6], 32)
        array([208., 208.,  32.,  32.])

    Reference: Ge et al., YOLOX, arXiv:2107.08430.
    """
    xp, array = floats("raw", raw)
    cells, strides = all_like(xp, array, cells=cells, strides=strides)
    return joined(xp, (array[..., :2] + cells) * strides, xp.exp(array[..., 2:]) * strides)


def encode_yolox(boxes: Array, cells: Array, strides: Array | float, *, check: bool = True) -> Array:
    """The prediction that a head should make for each box: the inverse of `decode_yolox`.

    Args:
        boxes: (..., 4) cxcywh in pixels.
        cells: (..., 2) column and row of the cell.
        strides: Pixels per cell, (..., 1) or one number for all.
        check: Whether a size that is not positive is an error.

    Returns:
        (..., 4) the numbers that `decode_yolox` turns into the boxes.

    Raises:
        ValueError: If a size is not positive.

    Examples:
        >>> encode_yolox([208.0, 208.0, 32.0, 32.0], [6, 6], 32)
        array([0.5, 0.5, 0. , 0. ])
    """
    xp, array = floats("boxes", boxes)
    cells, strides = all_like(xp, array, cells=cells, strides=strides)
    if check:
        check_codable(array[..., 2:], array, "a size must be positive", 0.0, math.inf, open_low=True)
    least = float(xp.finfo(array.dtype).smallest_normal)
    return joined(xp, array[..., :2] / strides - cells, xp.log(xp.clip(array[..., 2:] / strides, least, None)))
