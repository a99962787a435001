"""Distinct values in ascending order, without `numpy.unique`: its first call imports `numpy.ma`, which takes 10 ms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["distinct", "places_among"]


def distinct(values: Any) -> NDArray[Any]:
    """What `numpy.unique` returns."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        found: NDArray[Any] = np.unique(array)
        return found
    ranked = np.sort(array, axis=None)
    new = np.ones(len(ranked), np.bool_)
    new[1:] = ranked[1:] != ranked[:-1]
    return ranked[new]


def places_among(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The distinct numbers in ascending order, none of which is NaN, and the position of each value among them."""
    ranked = np.sort(values)
    known = ranked[np.concatenate([np.ones(min(len(ranked), 1), np.bool_), ranked[1:] != ranked[:-1]])]
    return known, np.searchsorted(known, values).astype(np.int64)
