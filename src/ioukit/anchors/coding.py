"""Boxes as a head predicts them, and back: the codings of YOLO and of R-CNN.

Every function runs on the array API: NumPy, PyTorch, JAX and CuPy arrays in, the same kind out, and the gradient flows.
Boxes are in pixels. `decode_*` of the YOLO kinds gives centre and size, ``cxcywh``; distances and deltas give ``xyxy``.

What is encoded and decoded comes back to rounding: within about 1e-5 of the stride or the anchor in float32, 1e-12 in
float64. A sigmoid never reaches its ends, so `encode_*` keeps it ``margin`` away from them, and a centre exactly on the
edge of what the coding reaches comes back that much off. What lies beyond it has no code and is an error.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from ioukit._arrays import as_floats, as_numpy, library_of, namespace_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ioukit.typing import Array, BoxFormat

__all__ = [
    "DELTA_CLAMP",
    "GridCoding",
    "decode_deltas",
    "decode_grid",
    "decode_ltrb",
    "decode_yolov3",
    "decode_yolov5",
    "decode_yolox",
    "distribution_targets",
    "encode_deltas",
    "encode_ltrb",
    "encode_yolov3",
    "encode_yolov5",
    "encode_yolox",
    "expected_distances",
]

GridCoding: TypeAlias = Literal["yolov3", "yolov5", "yolox", "ltrb"]
"""What four numbers a head predicts for a cell."""

DELTA_CLAMP = math.log(1000 / 16)
"""The largest logarithm of a scale that R-CNN's deltas are decoded with."""

# exp(80) is a float32; a sigmoid is 0 or 1 to any use long before. Without it, exp overflows and its gradient is NaN.
_SATURATED = 80.0


def decode_yolov3(raw: Array, cells: Array, anchors: Array, strides: Array | float, *, scale_xy: float = 1.0) -> Array:
    """``centre = (sigmoid(t) + cell) * stride``, ``size = exp(t) * anchor``: YOLOv2 to YOLOv4.

    Args:
        raw: (..., 4) what the head predicts.
        cells: (..., 2) column and row of the cell, broadcast against ``raw``.
        anchors: (..., 2) width and height in pixels.
        strides: Pixels a cell, (..., 1) or one for all.
        scale_xy: YOLOv4's ``scale_x_y``: the sigmoid is stretched about 1/2 by it, so that edges of cells are reached.

    Returns:
        (..., 4) cxcywh in pixels. Sizes overflow where ``t`` is beyond 88 in float32.

    Examples:
        >>> decode_yolov3([0.0, 0.0, 0.0, 0.0], [6, 6], [116, 90], 32)
        array([208., 208., 116.,  90.])

    Reference: Redmon and Farhadi, YOLOv3, arXiv:1804.02767.
    """
    xp, array = _floats("raw", raw)
    cells, anchors, strides = _all_like(xp, array, cells=cells, anchors=anchors, strides=strides)
    offset = _sigmoid(xp, array[..., :2]) * scale_xy - (scale_xy - 1) / 2
    return _joined(xp, (offset + cells) * strides, xp.exp(array[..., 2:]) * anchors)


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
    """What a head should predict for boxes: the inverse of `decode_yolov3`.

    Args:
        boxes: (..., 4) cxcywh in pixels.
        cells: (..., 2) column and row of the cell that holds the centre.
        anchors: (..., 2) width and height in pixels.
        strides: Pixels a cell, (..., 1) or one for all.
        scale_xy: As for `decode_yolov3`.
        margin: How near to 0 and 1 the sigmoid may come.
        check: Whether what has no code is an error; without it, it is clamped to what has. A traced program checks not.

    Raises:
        ValueError: If a centre is not in reach of its cell, or a size is not positive.

    Examples:
        >>> encode_yolov3([208.0, 208.0, 116.0, 90.0], [6, 6], [116, 90], 32)
        array([0., 0., 0., 0.])
    """
    xp, array = _floats("boxes", boxes)
    cells, anchors, strides = _all_like(xp, array, cells=cells, anchors=anchors, strides=strides)
    offset = (array[..., :2] / strides - cells + (scale_xy - 1) / 2) / scale_xy
    if check:
        _within(offset, array, "its centre is out of reach of its cell")
        _within(array[..., 2:], array, "a size must be positive", 0.0, math.inf, open_low=True)
    least = float(xp.finfo(array.dtype).smallest_normal)
    return _joined(xp, _logit(xp, offset, margin), xp.log(xp.clip(array[..., 2:] / anchors, least, None)))


def decode_yolov5(raw: Array, cells: Array, anchors: Array, strides: Array | float) -> Array:
    """``centre = (2 sigmoid(t) - 0.5 + cell) * stride``, ``size = (2 sigmoid(t))**2 * anchor``: YOLOv5 and YOLOv7.

    A centre lies up to half a cell beyond its cell, a size is below four times its anchor.

    Args:
        raw: (..., 4) what the head predicts.
        cells: (..., 2) column and row of the cell.
        anchors: (..., 2) width and height in pixels.
        strides: Pixels a cell, (..., 1) or one for all.

    Returns:
        (..., 4) cxcywh in pixels.

    Examples:
        >>> decode_yolov5([0.0, 0.0, 0.0, 0.0], [6, 6], [116, 90], 32)
        array([208., 208., 116.,  90.])

    Reference: Wang et al., YOLOv7, CVPR 2023, arXiv:2207.02696.
    """
    xp, array = _floats("raw", raw)
    cells, anchors, strides = _all_like(xp, array, cells=cells, anchors=anchors, strides=strides)
    double = _sigmoid(xp, array) * 2
    return _joined(xp, (double[..., :2] - 0.5 + cells) * strides, double[..., 2:] * double[..., 2:] * anchors)


def encode_yolov5(
    boxes: Array, cells: Array, anchors: Array, strides: Array | float, *, margin: float = 1e-6, check: bool = True
) -> Array:
    """What a head should predict for boxes: the inverse of `decode_yolov5`.

    Args:
        boxes: (..., 4) cxcywh in pixels.
        cells: (..., 2) column and row of a cell whose reach holds the centre.
        anchors: (..., 2) width and height in pixels, more than a quarter of the box's.
        strides: Pixels a cell, (..., 1) or one for all.
        margin: How near to 0 and 1 the sigmoid may come.
        check: As for `encode_yolov3`.

    Raises:
        ValueError: If a centre is not in reach of its cell, or a size not in reach of its anchor.

    Examples:
        >>> encode_yolov5([208.0, 208.0, 116.0, 90.0], [6, 6], [116, 90], 32)
        array([0., 0., 0., 0.])
    """
    xp, array = _floats("boxes", boxes)
    cells, anchors, strides = _all_like(xp, array, cells=cells, anchors=anchors, strides=strides)
    offset, ratio = (array[..., :2] / strides - cells + 0.5) / 2, array[..., 2:] / anchors
    if check:
        _within(offset, array, "its centre is out of reach of its cell")
        _within(ratio, array, "its sides must be positive and at most 4 times the anchor's", 0.0, 4.0, open_low=True)
    root = xp.sqrt(xp.clip(ratio, float(xp.finfo(array.dtype).smallest_normal), None)) / 2
    return _joined(xp, _logit(xp, offset, margin), _logit(xp, root, margin))


def decode_yolox(raw: Array, cells: Array, strides: Array | float) -> Array:
    """``centre = (t + cell) * stride``, ``size = exp(t) * stride``: YOLOX, without anchors.

    Args:
        raw: (..., 4) what the head predicts.
        cells: (..., 2) column and row of the cell.
        strides: Pixels a cell, (..., 1) or one for all.

    Returns:
        (..., 4) cxcywh in pixels.

    Examples:
        >>> decode_yolox([0.5, 0.5, 0.0, 0.0], [6, 6], 32)
        array([208., 208.,  32.,  32.])

    Reference: Ge et al., YOLOX, arXiv:2107.08430.
    """
    xp, array = _floats("raw", raw)
    cells, strides = _all_like(xp, array, cells=cells, strides=strides)
    return _joined(xp, (array[..., :2] + cells) * strides, xp.exp(array[..., 2:]) * strides)


def encode_yolox(boxes: Array, cells: Array, strides: Array | float, *, check: bool = True) -> Array:
    """What a head should predict for boxes: the inverse of `decode_yolox`.

    Args:
        boxes: (..., 4) cxcywh in pixels.
        cells: (..., 2) column and row of the cell.
        strides: Pixels a cell, (..., 1) or one for all.
        check: Whether a size that is not positive is an error.

    Examples:
        >>> encode_yolox([208.0, 208.0, 32.0, 32.0], [6, 6], 32)
        array([0.5, 0.5, 0. , 0. ])
    """
    xp, array = _floats("boxes", boxes)
    cells, strides = _all_like(xp, array, cells=cells, strides=strides)
    if check:
        _within(array[..., 2:], array, "a size must be positive", 0.0, math.inf, open_low=True)
    least = float(xp.finfo(array.dtype).smallest_normal)
    return _joined(xp, array[..., :2] / strides - cells, xp.log(xp.clip(array[..., 2:] / strides, least, None)))


def decode_ltrb(distances: Array, points: Array, strides: Array | float = 1.0) -> Array:
    """Boxes from the distances of a point to their left, upper, right and lower edges: FCOS, YOLOv8 and later.

    Args:
        distances: (..., 4) in strides.
        points: (..., 2) x and y in pixels, such as those of `anchor_points`.
        strides: Pixels a unit of distance, (..., 1) or one for all.

    Returns:
        (..., 4) xyxy in pixels; inverted where distances add up to less than 0.

    Examples:
        >>> decode_ltrb([1.0, 1.0, 2.0, 3.0], [16, 16], 8)
        array([ 8.,  8., 32., 40.])

    Reference: Tian et al., FCOS, ICCV 2019, arXiv:1904.01355.
    """
    xp, array = _floats("distances", distances)
    points, strides = _all_like(xp, array, points=points, strides=strides)
    return _joined(xp, points - array[..., :2] * strides, points + array[..., 2:] * strides)


def encode_ltrb(boxes: Array, points: Array, strides: Array | float = 1.0) -> Array:
    """Distances of points to the edges of boxes: the inverse of `decode_ltrb`; negative where a point is outside.

    Args:
        boxes: (..., 4) xyxy in pixels.
        points: (..., 2) x and y in pixels.
        strides: Pixels a unit of distance, (..., 1) or one for all.

    Examples:
        >>> encode_ltrb([8.0, 8.0, 32.0, 40.0], [16, 16], 8)
        array([1., 1., 2., 3.])
    """
    xp, array = _floats("boxes", boxes)
    points, strides = _all_like(xp, array, points=points, strides=strides)
    return _joined(xp, (points - array[..., :2]) / strides, (array[..., 2:] - points) / strides)


def expected_distances(logits: Array) -> Array:
    """The expectation of a distance whose distribution over whole numbers a head predicts (DFL).

    Args:
        logits: (..., 4, bins), before the softmax, for the distances 0, 1, ..., bins - 1.

    Returns:
        (..., 4) within [0, bins - 1].

    Examples:
        >>> expected_distances([[0.0, 0.0, 0.0]] * 4)
        array([1., 1., 1., 1.])

    Reference: Li et al., Generalized Focal Loss, NeurIPS 2020, arXiv:2006.04388.
    """
    xp, array = _floats("logits", logits, last=None)
    if array.ndim < 2 or array.shape[-2] != 4 or not array.shape[-1]:
        raise ValueError(f"logits must have shape (..., 4, bins), got {tuple(array.shape)}")
    weight = xp.exp(array - xp.max(array, axis=-1, keepdims=True))
    (bins,) = _all_like(xp, array, bins=np.arange(array.shape[-1]))
    return xp.sum(weight * bins, axis=-1) / xp.sum(weight, axis=-1)


def distribution_targets(distances: Array, bins: int) -> Array:
    """The distribution over whole distances that a head should predict: the two neighbours, by nearness.

    `expected_distances` of its logarithm gives the distances back.

    Args:
        distances: (..., 4), clamped to [0, bins - 1].
        bins: How many whole distances there are, at least 2.

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
    xp, array = _floats("distances", distances)
    (whole,) = _all_like(xp, array, bins=np.arange(bins))
    apart = xp.abs(xp.clip(array, 0.0, float(bins - 1))[..., None] - whole)
    return xp.clip(1 - apart, 0.0, None)


def decode_deltas(
    deltas: Array, anchors: Array, *, weights: Sequence[float] = (1.0, 1.0, 1.0, 1.0), clamp: float = DELTA_CLAMP
) -> Array:
    """Boxes from R-CNN's deltas: the centre moved by parts of the anchor's sides, the sides scaled by exponentials.

    Args:
        deltas: (..., 4) dx, dy, dw, dh.
        anchors: (..., 4) xyxy in pixels.
        weights: What each delta is divided by.
        clamp: Logarithms of scales above it count as it, ``log(1000 / 16)`` by default.

    Returns:
        (..., 4) xyxy in pixels.

    Examples:
        >>> decode_deltas([2.0, 0.5, 0.0, 0.0], [10, 10, 30, 50], weights=(10, 10, 5, 5))
        array([14., 12., 34., 52.])

    Reference: Girshick, Fast R-CNN, ICCV 2015, arXiv:1504.08083.
    """
    xp, array = _floats("deltas", deltas)
    anchors, factors = _all_like(xp, array, anchors=anchors, weights=_four(weights))
    array = array / factors
    low, size = anchors[..., :2], anchors[..., 2:] - anchors[..., :2]
    centre = low + size * 0.5 + array[..., :2] * size
    half = xp.exp(xp.clip(array[..., 2:], None, clamp)) * size * 0.5
    return _joined(xp, centre - half, centre + half)


def encode_deltas(
    boxes: Array, anchors: Array, *, weights: Sequence[float] = (1.0, 1.0, 1.0, 1.0), check: bool = True
) -> Array:
    """R-CNN's deltas of boxes from anchors: the inverse of `decode_deltas`, for scales below its clamp.

    Args:
        boxes: (..., 4) xyxy in pixels.
        anchors: (..., 4) xyxy in pixels.
        weights: What each delta is multiplied by.
        check: Whether a box or an anchor without area is an error.

    Raises:
        ValueError: If a side is not positive: it has no logarithm.

    Examples:
        >>> encode_deltas([14.0, 12.0, 34.0, 52.0], [10, 10, 30, 50], weights=(10, 10, 5, 5))
        array([2. , 0.5, 0. , 0. ])
    """
    xp, array = _floats("boxes", boxes)
    anchors, factors = _all_like(xp, array, anchors=anchors, weights=_four(weights))
    size, own = array[..., 2:] - array[..., :2], anchors[..., 2:] - anchors[..., :2]
    if check:
        _within(size, array, "its sides must be positive", 0.0, math.inf, open_low=True)
        _within(own, anchors, "its sides must be positive", 0.0, math.inf, open_low=True, name="anchors")
    moved = (array[..., :2] + size * 0.5 - anchors[..., :2] - own * 0.5) / own
    return _joined(xp, moved, xp.log(size / own)) * factors


def decode_grid(
    raw: Array,
    stride: float,
    *,
    anchors: Array | None = None,
    coding: GridCoding = "yolov3",
    format: BoxFormat = "xyxy",
) -> Array:
    """Boxes of a whole grid in pixels, from what its head predicts for each cell.

    Args:
        raw: (batch, anchors, rows, columns, 4), the last axis as the coding has it: for ``"ltrb"`` distances in strides
            from the middle of the cell.
        stride: Pixels a cell.
        anchors: (anchors, 2) widths and heights in pixels, for ``"yolov3"`` and ``"yolov5"``; the others have none.
        coding: ``"yolov3"``, ``"yolov5"``, ``"yolox"`` or ``"ltrb"``.
        format: Of the result.

    Returns:
        (batch, anchors, rows, columns, 4) in pixels; ``reshape(batch, -1, 4)`` gives the order of `anchor_boxes`.

    Raises:
        ValueError: If the shape does not fit, or anchors and coding do not.

    Examples:
        >>> import numpy as np
        >>> decode_grid(np.zeros((1, 1, 1, 2, 4)), 32, anchors=[[64, 32]])[0, 0, 0]
        array([[-16.,   0.,  48.,  32.],
               [ 16.,   0.,  80.,  32.]])
    """
    xp, array = _floats("raw", raw)
    if array.ndim != 5:
        raise ValueError(f"raw must have shape (batch, anchors, rows, columns, 4), got {tuple(array.shape)}")
    if coding not in {"yolov3", "yolov5", "yolox", "ltrb"}:
        raise ValueError(f"unknown coding {coding!r}; choose from yolov3, yolov5, yolox, ltrb")
    if (anchors is None) != (coding in {"yolox", "ltrb"}):
        raise ValueError(f"coding {coding!r} {'needs' if anchors is None else 'has no'} anchors")
    rows, columns = array.shape[-3:-1]
    y, x = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    cells = np.stack([x, y], axis=-1)
    if coding == "ltrb":
        return _in_format(xp, decode_ltrb(array, (cells + 0.5) * stride, stride), "xyxy", format)
    if coding == "yolox":
        return _in_format(xp, decode_yolox(array, cells, stride), "cxcywh", format)
    (sizes,) = _all_like(xp, array, anchors=anchors)
    if tuple(sizes.shape) != (array.shape[1], 2):
        raise ValueError(f"anchors must have shape ({array.shape[1]}, 2), one per anchor of raw, got {sizes.shape}")
    decode = decode_yolov3 if coding == "yolov3" else decode_yolov5
    return _in_format(xp, decode(array, cells, sizes[:, None, None, :], stride), "cxcywh", format)


def _in_format(xp: Any, boxes: Array, source: BoxFormat, target: BoxFormat) -> Array:
    if target not in {"xyxy", "xywh", "cxcywh"}:
        raise ValueError(f"unknown format {target!r}; choose from xyxy, xywh, cxcywh")
    if source == target:
        return boxes
    first, second = boxes[..., :2], boxes[..., 2:]
    if source == "cxcywh":
        low = first - second * 0.5
        return _joined(xp, low, first + second * 0.5 if target == "xyxy" else second)
    size = second - first
    return _joined(xp, first if target == "xywh" else (first + second) * 0.5, size)


def _floats(name: str, data: Array, last: int | None = 4) -> tuple[Any, Array]:
    """The namespace, and the array in its floating dtype; lists and integers become float64, or the widest there is."""
    array = as_floats(data, name) if library_of(data) == "numpy" else data
    xp = namespace_of(array)
    if last is not None and tuple(array.shape[-1:]) != (last,):
        raise ValueError(f"{name} must have shape (..., {last}), got {tuple(array.shape)}")
    if not xp.isdtype(array.dtype, "real floating"):
        array = xp.astype(array, xp.float32)
    return xp, array


def _all_like(xp: Any, array: Array, **others: Any) -> list[Array]:
    """Numbers and arrays as arrays of the library, dtype and device of ``array``."""
    device = {"device": array.device} if library_of(array) in {"torch", "cupy"} else {}
    converted = []
    for name, data in others.items():
        library = library_of(data)
        if library == "numpy":
            converted.append(xp.asarray(np.asarray(data, np.float64), dtype=array.dtype, **device))
        elif library != library_of(array):
            raise TypeError(f"all arrays must come from one library, but {name} is of {library}")
        else:
            converted.append(xp.astype(data, array.dtype))
    return converted


def _joined(xp: Any, first: Array, second: Array) -> Array:
    """The first and the last two numbers of each box, broadcast to one shape."""
    if first.shape != second.shape:
        first, second = xp.broadcast_arrays(first, second)
    return xp.concat([first, second], axis=-1)


def _four(weights: Sequence[float]) -> NDArray[np.float64]:
    factors = np.asarray(weights, np.float64)
    if factors.shape != (4,) or not (np.isfinite(factors) & (factors > 0)).all():
        raise ValueError(f"weights must be 4 positive numbers, got {weights}")
    return factors


def _sigmoid(xp: Any, x: Array) -> Array:
    return 1 / (1 + xp.exp(-xp.clip(x, -_SATURATED, _SATURATED)))


def _logit(xp: Any, probability: Array, margin: float) -> Array:
    # 1 - margin must not round to 1.
    margin = max(margin, float(xp.finfo(probability.dtype).eps))
    inside = xp.clip(probability, margin, 1 - margin)
    return xp.log(inside) - xp.log(1 - inside)


def _within(
    values: Array,
    given: Array,
    complaint: str,
    low: float = 0.0,
    high: float = 1.0,
    *,
    open_low: bool = False,
    name: str = "boxes",
) -> None:
    """Refuses what has no code, naming the first box; some rounding of the caller's is forgiven."""
    host, boxes = as_numpy(values), as_numpy(given)
    if host is None or boxes is None:
        return
    slack = 0.0 if math.isinf(high) else 1e-4
    bad = ~((host > low if open_low else host >= low - slack) & (host <= high + slack))
    if bad.any():
        flat = int(np.argmax(bad.reshape(-1, host.shape[-1]).any(axis=1)))
        index = ", ".join(map(str, np.unravel_index(flat, host.shape[:-1]))) if host.ndim > 1 else ""
        rows = np.broadcast_to(boxes, (*host.shape[:-1], boxes.shape[-1])).reshape(-1, boxes.shape[-1])
        raise ValueError(f"{name}[{index}] is {rows[flat].tolist()}: {complaint}")
