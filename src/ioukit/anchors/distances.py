"""The coding of FCOS, YOLOv8 and later: distances from a point to the edges of a box, and distributions over them.

The functions run on the array API: the result is of the library of the input, and gradients flow. Boxes are in pixels,
as two corners (``xyxy``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit.anchors._arithmetic import all_like, floats, joined

if TYPE_CHECKING:
    from ioukit.typing import Array

__all__ = ["decode_ltrb", "distribution_targets", "encode_ltrb", "expected_distances"]


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
