"""Generalized IoU of regions with corners: how much of the convex hull around two of them is in neither."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ioukit import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.typing import FloatArray

    Floats = NDArray[np.float64]

__all__ = ["Outlined", "giou_of"]


class Outlined(NamedTuple):
    """N regions by points whose convex hull is that of the region, in float64."""

    points: Floats
    """(K, 2), one region after the other, each relative to its centre."""
    offsets: NDArray[np.int64]
    """(N + 1,) where the points of each region begin, and where the last end."""
    areas: Floats
    """(N,)"""
    centres: Floats
    """(N, 2), any point near the region."""


def giou_of(intersections: FloatArray, first: Outlined, second: Outlined, *, paired: bool, threads: int) -> FloatArray:
    """GIoU from the areas of the intersections, (N, M), or with ``paired`` (N,)."""
    places = np.arange(len(intersections)) if paired else None
    areas = np.ascontiguousarray(intersections, np.float64).reshape(-1)
    return _core.hull_giou(areas, first, second, places, places, threads)
