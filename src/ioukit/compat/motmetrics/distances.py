"""`motmetrics.distances`: tables of distances, with NaN for pairs that are too far apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit.overlap import pairwise_iou

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ioukit._array_types import Floats

__all__ = ["iou_matrix", "norm2squared_matrix"]


def norm2squared_matrix(objs: ArrayLike, hyps: ArrayLike, max_d2: float = float("inf")) -> Floats:
    """The squared Euclidean distance of every point of one set from every point of another.

    Args:
        objs: (N, D) points.
        hyps: (M, D) points.
        max_d2: Larger distances become NaN.

    Returns:
        (N, M); of shape (0, 0) if a set is empty.

    Raises:
        AssertionError: If the points of the two sets have different numbers of coordinates.
    """
    first, second = (np.atleast_2d(np.asarray(points, np.float64)) for points in (objs, hyps))
    if not (first.size and second.size):
        return np.empty((0, 0))
    assert first.shape[1] == second.shape[1], (
        f"Dimension mismatch: objs have {first.shape[1]} coordinates, hyps {second.shape[1]}"
    )
    squared: Floats = ((first[:, None] - second[None]) ** 2).sum(-1)
    squared[squared > max_d2] = np.nan
    return squared


def iou_matrix(objs: ArrayLike, hyps: ArrayLike, max_iou: float = 1.0) -> Floats:
    """1 - IoU of every box of one set with every box of another.

    Args:
        objs: (N, 4) boxes as x, y, width, height.
        hyps: (M, 4) boxes.
        max_iou: Larger distances become NaN.

    Returns:
        (N, M) within [0, 1]; of shape (0, 0) if a set is empty.

    Raises:
        ValueError: If an array has another shape, or a box is not finite or has a negative size.
    """
    if np.size(objs) == 0 or np.size(hyps) == 0:
        return np.empty((0, 0))
    objects, hypotheses = (np.asarray(boxes, np.float64) for boxes in (objs, hyps))
    distance: Floats = np.subtract(1, pairwise_iou(objects, hypotheses, format="xywh"), dtype=np.float64)
    distance[distance > max_iou] = np.nan
    return distance
