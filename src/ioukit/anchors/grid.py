"""Anchor points and anchor boxes on the grids of a detector."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ioukit._checks import check_finite, check_positive
from ioukit.overlap.shape import sizes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, DTypeLike

    from ioukit.typing import FloatArray


class AnchorPoints(NamedTuple):
    """One point per cell, level by level, row by row."""

    points: FloatArray
    """(P, 2) x and y in pixels."""
    strides: FloatArray
    """(P,) the stride of the level of each point."""
    levels: tuple[int, ...]
    """The number of points of each level."""


class AnchorBoxes(NamedTuple):
    """Anchors on every cell: level by level, then anchor by anchor, then row by row."""

    boxes: FloatArray
    """(P, 4) xyxy in pixels."""
    strides: FloatArray
    """(P,) the stride of the level of each anchor."""
    levels: tuple[int, ...]
    """The number of anchors of each level."""


def anchor_points(
    image_size: tuple[int, int], strides: Sequence[int], *, offset: float = 0.5, dtype: DTypeLike = np.float32
) -> AnchorPoints:
    """One point per cell of each level.

    Args:
        image_size: (width, height) of the network's input in pixels. If a stride does not divide it, the last cell
            reaches over the edge, as in a padded convolution.
        strides: Pixels per cell of each level, such as 8, 16 and 32.
        offset: The position of a point in its cell, in cells: 0.5 is the centre, and 0 the corner with the smallest x
            and y (YOLOX).
        dtype: The dtype of the result.

    Returns:
        The points, their strides, and the number of points of each level.

    Raises:
        ValueError: If the image or a stride is not positive.

    Examples:
        >>> anchor_points((16, 16), [8, 16]).points.tolist()
        [[4.0, 4.0], [12.0, 4.0], [4.0, 12.0], [12.0, 12.0], [8.0, 8.0]]
    """
    check_finite(offset=offset)
    points: list[FloatArray] = [np.empty((0, 2))]
    sides: list[FloatArray] = [np.empty(0)]
    levels = []
    for stride, columns, rows in _levels(image_size, strides):
        y, x = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
        points.append((np.stack([x, y], axis=-1).reshape(-1, 2) + offset) * stride)
        sides.append(np.full(rows * columns, float(stride)))
        levels.append(rows * columns)
    return AnchorPoints(np.concatenate(points).astype(dtype), np.concatenate(sides).astype(dtype), tuple(levels))


def anchor_boxes(
    image_size: tuple[int, int],
    strides: Sequence[int],
    sizes: Sequence[ArrayLike],
    *,
    offset: float = 0.5,
    dtype: DTypeLike = np.float32,
) -> AnchorBoxes:
    """Anchors of the given sizes on every cell of each level.

    The order is that of a head of shape (anchors, rows, columns), flattened, level by level. `decode_grid` and the YOLO
    rules of `ioukit.assign` use the same order.

    Args:
        image_size: (width, height) of the network's input in pixels.
        strides: Pixels per cell of each level.
        sizes: (A, 2) widths and heights in pixels for each level.
        offset: The position of the centre of an anchor in its cell, in cells.
        dtype: The dtype of the result.

    Returns:
        The anchors as xyxy, their strides, and the number of anchors of each level.

    Raises:
        ValueError: If there is not one set of sizes per level, or a number is not valid.

    Examples:
        >>> anchor_boxes((16, 8), [8], [[[4, 4], [8, 2]]]).boxes.tolist()
        [[2.0, 2.0, 6.0, 6.0], [10.0, 2.0, 14.0, 6.0], [0.0, 3.0, 8.0, 5.0], [8.0, 3.0, 16.0, 5.0]]
    """
    if len(sizes) != len(strides):
        raise ValueError(f"sizes must be one set per level, got {len(sizes)} for {len(strides)} strides")
    boxes: list[FloatArray] = [np.empty((0, 4))]
    sides: list[FloatArray] = [np.empty(0)]
    levels = []
    for number, (stride, shapes) in enumerate(zip(strides, sizes, strict=True)):
        half = sizes_of(shapes, f"sizes[{number}]").astype(np.float64)[:, None] / 2  # (A, 1, 2)
        points = anchor_points(image_size, [stride], offset=offset, dtype=np.float64).points[None]
        boxes.append(np.concatenate([points - half, points + half], axis=-1).reshape(-1, 4))
        levels.append(len(boxes[-1]))
        sides.append(np.full(levels[-1], float(stride)))
    return AnchorBoxes(np.concatenate(boxes).astype(dtype), np.concatenate(sides).astype(dtype), tuple(levels))


def _levels(image_size: tuple[int, int], strides: Sequence[int]) -> list[tuple[int, int, int]]:
    width, height = (operator.index(side) for side in image_size)
    check_positive(width=width, height=height)
    steps = [operator.index(stride) for stride in strides]
    for number, step in enumerate(steps):
        if step < 1:
            raise ValueError(f"strides[{number}] must be at least 1, got {step}")
    return [(step, -(-width // step), -(-height // step)) for step in steps]
