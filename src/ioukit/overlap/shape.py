"""How similar are the sizes of two boxes, wherever the boxes lie?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit._arrays import as_floats, computing_dtype

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ioukit.typing import FloatArray


def pairwise_shape_iou(sizes1: ArrayLike, sizes2: ArrayLike) -> FloatArray:
    """IoU of every size of one set with every size of another, as if the boxes had the same centre.

    Args:
        sizes1: (N, 2) widths and heights, not negative.
        sizes2: (M, 2) in the same unit.

    Returns:
        (N, M), within [0, 1]; 0 where both areas are 0.

    Raises:
        ValueError: If a shape is not (N, 2), or a size is negative or not finite.

    Examples:
        >>> pairwise_shape_iou([[2, 2]], [[1, 2], [4, 4]])
        array([[0.5 , 0.25]])
    """
    first, second = sizes_of(sizes1, "sizes1"), sizes_of(sizes2, "sizes2")
    width = np.minimum(first[:, None, 0], second[None, :, 0])
    height = np.minimum(first[:, None, 1], second[None, :, 1])
    intersection = width * height
    union = (first.prod(axis=1)[:, None] + second.prod(axis=1)[None, :]) - intersection
    return intersection / np.where(union > 0, union, 1)


def sizes_of(sizes: ArrayLike, name: str) -> FloatArray:
    """(N, 2) checked sizes, in float32 or float64."""
    array = as_floats(sizes, name)
    if array.shape == (0,):
        array = array.reshape(0, 2)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"{name} must have shape (N, 2), width and height, got {array.shape}")
    array = array.astype(computing_dtype(array.dtype), copy=False)
    wrong = ~(np.isfinite(array) & (array >= 0)).all(axis=1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"{name}[{row}] is {array[row].tolist()}: a size must be finite and not negative")
    return array
