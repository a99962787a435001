"""Boxes of a whole head: the prediction for every cell of a grid, decoded by its coding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from ioukit._checks import check_choice, check_format
from ioukit.anchors._arithmetic import all_like, floats
from ioukit.anchors.distances import decode_ltrb
from ioukit.anchors.yolo import decode_yolov3, decode_yolov5, decode_yolox
from ioukit.regions.formats import convert_array

if TYPE_CHECKING:
    from ioukit.typing import Array, BoxFormat

__all__ = ["GridCoding", "decode_grid"]

GridCoding: TypeAlias = Literal["yolov3", "yolov5", "yolox", "ltrb"]
"""What the four numbers are that a head predicts for a cell."""


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
