"""The coding of R-CNN: the shift and the scale from an anchor to a box.

The functions run on the array API: the result is of the library of the input, and gradients flow. Boxes are in pixels,
as two corners (``xyxy``).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ioukit.anchors._arithmetic import all_like, check_codable, floats, joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ioukit.typing import Array

__all__ = ["DELTA_CLAMP", "decode_deltas", "encode_deltas"]

DELTA_CLAMP = math.log(1000 / 16)
"""The largest logarithm of a scale that R-CNN's deltas are decoded with."""


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


def _four(weights: Sequence[float]) -> NDArray[np.float64]:
    factors = np.asarray(weights, np.float64)
    if factors.shape != (4,) or not (np.isfinite(factors) & (factors > 0)).all():
        raise ValueError(f"weights must be 4 positive numbers, got {weights}")
    return factors
