"""Views from above: which part of the ground is shown, and where the lines of its grid are."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

__all__ = ["grid_step", "ground_frame"]

_MARGIN = 0.06  # of the longer side
_NARROWEST = 0.4  # the shorter side of the frame, as a part of the longer one


def ground_frame(bounds: npt.NDArray[np.float64]) -> tuple[float, float, float, float]:
    """Left, top, right and bottom edge of the part of the ground that shows all regions; y points up, so top > bottom.

    Args:
        bounds: (N, 4) ``[x1, y1, x2, y2]`` around the regions; rows with NaN do not count.
    """
    finite = bounds[np.isfinite(bounds).all(axis=1)]
    if not len(finite):
        return -10.0, 10.0, 10.0, -10.0
    low, high = finite[:, :2].min(axis=0), finite[:, 2:].max(axis=0)
    longest = max(float((high - low).max()), 1e-6)
    sides = np.maximum(high - low + 2 * _MARGIN * longest, _NARROWEST * longest)
    (left, bottom), (right, top) = ((low + high - sides) / 2).tolist(), ((low + high + sides) / 2).tolist()
    return left, top, right, bottom


def grid_step(longest: float) -> float:
    """The distance of the lines of a grid: 1, 2 or 5 times a power of ten, so that 4 to 10 lines cross a side."""
    power = 10.0 ** math.floor(math.log10(longest / 4))
    return next(factor for factor in (5.0, 2.0, 1.0) if factor * power <= longest / 4 * (1 + 1e-9)) * power
