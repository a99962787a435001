"""The codings of boxes: relative to an anchor (R-CNN), to a point (FCOS, YOLOv8) or to a cell (YOLO), and whole grids.

The functions run on the array API: the result is of the library of the input, and gradients flow. Boxes are in pixels;
those of R-CNN and of distances are two corners (``xyxy``), those of YOLO centre and size (``cxcywh``).

A box that is encoded and decoded comes back up to rounding: within about 1e-5 of the stride or the anchor in float32,
and 1e-12 in float64. A sigmoid never reaches 0 or 1. The encoders of YOLO therefore keep it at least ``margin`` away
from both, and a centre exactly on the edge of its reach comes back that much off. A box beyond the reach is an error.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from ioukit._checks import check_choice, check_format
from ioukit.anchors._arithmetic import all_like, check_codable, floats, joined, logit, sigmoid
from ioukit.regions.formats import convert_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.typing import Array, BoxFormat


GridCoding: TypeAlias = Literal["yolov3", "yolov5", "yolox", "ltrb"]
"""The coding of the four numbers that a head predicts for a cell."""

DELTA_CLAMP = math.log(1000 / 16)
"""The largest logarithm of a scale that R-CNN's deltas are decoded with."""


def decode_grid(
    raw: Array,
    stride: float,
    *,
    anchors: Array | None = None,
    coding: GridCoding = "yolov3",
    format: BoxFormat = "xyxy",
) -> Array:
    """Boxes of a whole grid in pixels, from the numbers that a head predicts for each cell.

    Args:
        raw: (batch, anchors, rows, columns, 4) the prediction, in the numbers of the coding. For ``"ltrb"`` these are
            distances in strides from the centre of the cell.
        stride: Pixels per cell.
        anchors: (anchors, 2) widths and heights in pixels. ``"yolov3"`` and ``"yolov5"`` need them; the others take
            none.
        coding: ``"yolov3"``, ``"yolov5"``, ``"yolox"`` or ``"ltrb"``.
        format: The format of the result, ``"xyxy"`` by default.

    Returns:
        (batch, anchors, rows, columns, 4) in pixels. ``reshape(batch, -1, 4)`` gives the order of `anchor_boxes`.

    Raises:
        ValueError: If a shape does not fit, or the coding does not fit the anchors.

    Examples:
        >>> import numpy as np
        >>> decode_grid(np.zeros((1, 1, 1, 2, 4)), 32, anchors=[[64, 32]])[0, 0, 0]
        array([[-16.,   0.,  48.,  32.],
               [ 16.,   0.,  80.,  32.]])
    """
    check_choice("coding", coding, get_args(GridCoding))
    check_format(format)
    xp, array = floats("raw", raw)
    if array.ndim != 5:
        raise ValueError(f"raw must have shape (batch, anchors, rows, columns, 4), got {tuple(array.shape)}")
    if (anchors is None) != (coding in {"yolox", "ltrb"}):
        raise ValueError(f"coding {coding!r} {'needs' if anchors is None else 'has no'} anchors")
    rows, columns = array.shape[-3:-1]
    y, x = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    cells = np.stack([x, y], axis=-1)
    decoded: BoxFormat = "cxcywh"
    if coding == "ltrb":
        boxes, decoded = decode_ltrb(array, (cells + 0.5) * stride, stride), "xyxy"
    elif coding == "yolox":
        boxes = decode_yolox(array, cells, stride)
    else:
        (sizes,) = all_like(xp, array, anchors=anchors)
        if tuple(sizes.shape) != (array.shape[1], 2):
            raise ValueError(f"anchors must have shape ({array.shape[1]}, 2), one per anchor of raw, got {sizes.shape}")
        decode = decode_yolov3 if coding == "yolov3" else decode_yolov5
        boxes = decode(array, cells, sizes[:, None, None, :], stride)
    return boxes if format == decoded else convert_array(boxes, decoded, format)


def decode_deltas(
    deltas: Array, anchors: Array, *, weights: Sequence[float] = (1.0, 1.0, 1.0, 1.0), clamp: float = DELTA_CLAMP
) -> Array:
    """Boxes from R-CNN's deltas, which move the centre of an anchor and scale its sides.

    ``centre = anchor centre + (dx, dy) * anchor size``, ``size = exp((dw, dh)) * anchor size``.

    Args:
        deltas: (..., 4) dx, dy, dw, dh.
        anchors: (..., 4) xyxy in pixels.
        weights: Each delta is divided by its weight.
        clamp: The largest ``dw`` and ``dh`` after this division, ``log(1000 / 16)`` by default. Larger ones are
            clamped.

    Returns:
        (..., 4) xyxy in pixels.

    Examples:
        >>> decode_deltas([2.0, 0.5, 0.0, 0.0], [10, 10, 30, 50], weights=(10, 10, 5, 5))
        array([14., 12., 34., 52.])

    Reference: Girshick, Fast R-CNN, ICCV 2015, arXiv:1504.08083.
    """
    xp, array = floats("deltas", deltas)
    anchors, factors = all_like(xp, array, anchors=anchors, weights=_four(weights))
    array = array / factors
    low, size = anchors[..., :2], anchors[..., 2:] - anchors[..., :2]
    centre = low + size * 0.5 + array[..., :2] * size
    half = xp.exp(xp.clip(array[..., 2:], None, clamp)) * size * 0.5
    return joined(xp, centre - half, centre + half)


def encode_deltas(
    boxes: Array, anchors: Array, *, weights: Sequence[float] = (1.0, 1.0, 1.0, 1.0), check: bool = True
) -> Array:
    """R-CNN's deltas from anchors to boxes: the inverse of `decode_deltas`, for scales below its clamp.

    Args:
        boxes: (..., 4) xyxy in pixels.
        anchors: (..., 4) xyxy in pixels.
        weights: Each delta is multiplied by its weight.
        check: Whether a box or an anchor without area is an error.

    Returns:
        (..., 4) dx, dy, dw, dh.

    Raises:
        ValueError: If a side of a box or an anchor is not positive, so that it has no logarithm.

    Examples:
        >>> encode_deltas([14.0, 12.0, 34.0, 52.0], [10, 10, 30, 50], weights=(10, 10, 5, 5))
        array([2. , 0.5, 0. , 0. ])
    """
    xp, array = floats("boxes", boxes)
    anchors, factors = all_like(xp, array, anchors=anchors, weights=_four(weights))
    size, own = array[..., 2:] - array[..., :2], anchors[..., 2:] - anchors[..., :2]
    if check:
        check_codable(size, array, "its sides must be positive", 0.0, math.inf, open_low=True)
        check_codable(own, anchors, "its sides must be positive", 0.0, math.inf, open_low=True, name="anchors")
    moved = (array[..., :2] + size * 0.5 - anchors[..., :2] - own * 0.5) / own
    return joined(xp, moved, xp.log(size / own)) * factors


def decode_ltrb(distances: Array, points: Array, strides: Array | float = 1.0) -> Array:
    """Boxes from the distances of a point to their left, top, right and bottom edges: FCOS, YOLOv8 and later.

    Args:
        distances: (..., 4) in strides.
        points: (..., 2) x and y in pixels, such as those of `anchor_points`.
        strides: Pixels per unit of distance, (..., 1) or one number for all.

    Returns:
        (..., 4) xyxy in pixels. A box is inverted where its two distances along an axis sum to less than 0.

    Examples:
        >>> decode_ltrb([1.0, 1.0, 2.0, 3.0], [16, 16], 8)
        array([ 8.,  8., 32., 40.])

    Reference: Tian et al., FCOS, ICCV 2019, arXiv:1904.01355.
    """
    xp, array = floats("distances", distances)
    points, strides = all_like(xp, array, points=points, strides=strides)
    return joined(xp, points - array[..., :2] * strides, points + array[..., 2:] * strides)


def encode_ltrb(boxes: Array, points: Array, strides: Array | float = 1.0) -> Array:
    """Distances of points to the edges of boxes: the inverse of `decode_ltrb`.

    Args:
        boxes: (..., 4) xyxy in pixels.
        points: (..., 2) x and y in pixels.
        strides: Pixels per unit of distance, (..., 1) or one number for all.

    Returns:
        (..., 4) distances to the left, top, right and bottom edges, in strides; negative for a point outside.

    Examples:
        >>> encode_ltrb([8.0, 8.0, 32.0, 40.0], [16, 16], 8)
        array([1., 1., 2., 3.])
    """
    xp, array = floats("boxes", boxes)
    points, strides = all_like(xp, array, points=points, strides=strides)
    return joined(xp, (points - array[..., :2]) / strides, (array[..., 2:] - points) / strides)


def expected_distances(logits: Array) -> Array:
    """The mean of each distance whose distribution over whole numbers a head predicts (DFL).

    Args:
        logits: (..., 4, bins) before the softmax, for the distances 0, 1, ..., bins - 1.

    Returns:
        (..., 4) within [0, bins - 1].

    Examples:
        >>> expected_distances([[0.0, 0.0, 0.0]] * 4)
        array([1., 1., 1., 1.])

    Reference: Li et al., Generalized Focal Loss, NeurIPS 2020, arXiv:2006.04388.
    """
    xp, array = floats("logits", logits, last=None)
    if array.ndim < 2 or array.shape[-2] != 4 or not array.shape[-1]:
        raise ValueError(f"logits must have shape (..., 4, bins), got {tuple(array.shape)}")
    weight = xp.exp(array - xp.max(array, axis=-1, keepdims=True))
    (bins,) = all_like(xp, array, bins=np.arange(array.shape[-1]))
    return xp.sum(weight * bins, axis=-1) / xp.sum(weight, axis=-1)


def distribution_targets(distances: Array, bins: int) -> Array:
    """The distribution over whole numbers that a head should predict for each distance.

    The two whole numbers around a distance share the probability, and the nearer one gets more. `expected_distances` of
    the logarithm of the result returns the distances.

    Args:
        distances: (..., 4), clamped to [0, bins - 1].
        bins: The number of whole distances, at least 2.

    Returns:
        (..., 4, bins) probabilities.

    Examples:
        >>> distribution_targets([0.0, 0.25, 1.5, 9.0], 3)
        array([[1.  , 0.  , 0.  ],
               [0.75, 0.25, 0.  ],
               [0.  , 0.5 , 0.5 ],
               [0.  , 0.  , 1.  ]])
    """
    if bins < 2:
        raise ValueError(f"bins must be at least 2, got {bins}")
    xp, array = floats("distances", distances)
    (whole,) = all_like(xp, array, bins=np.arange(bins))
    apart = xp.abs(xp.clip(array, 0.0, float(bins - 1))[..., None] - whole)
    return xp.clip(1 - apart, 0.0, None)


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


def _four(weights: Sequence[float]) -> Sequence[float]:
    # In plain numbers: torch.compile makes tensors of NumPy's arrays, on whose values no program can branch.
    if len(weights) != 4 or not all(0 < weight < math.inf for weight in weights):
        raise ValueError(f"weights must be 4 positive numbers, got {weights}")
    return weights
