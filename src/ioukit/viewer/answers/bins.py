"""The edges of histograms, and the bin of each value."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

_BINS = 40
_MOST_SIZE = 2.0**100  # so that all bins of sizes are bytes
_ROWS = 1 << 18  # at once, so that what is computed of them stays in the cache

IOU_EDGES = np.linspace(0.0, 1.0, 21)
"""The edges of the histogram of IoUs."""


def even_edges(low: float, high: float) -> npt.NDArray[np.float64]:
    """41 edges at equal distances; 0 and 1 if the ends are NaN."""
    if math.isnan(low):
        return np.array([0.0, 1.0])
    edges = np.linspace(low, high, _BINS + 1)
    if (np.diff(edges) > 0).all():
        return edges
    return np.array([low, max(low + 1.0, float(np.nextafter(low, np.inf)))])  # the ends are one number


def size_edges(largest: float) -> npt.NDArray[np.float64]:
    """0, then the powers of the square root of 2 from 1 to the largest size."""
    top = min(max(largest, 1.0), _MOST_SIZE)
    steps = max(1, math.ceil(2 * math.log2(top) - 1e-9))
    edges = np.concatenate([[0.0], 2.0 ** (np.arange(steps + 1) / 2)])
    return edges if edges[-1] >= top else np.append(edges, 2.0 ** ((steps + 1) / 2))


def bins_of(values: npt.NDArray[Any], edges: npt.NDArray[np.float64]) -> npt.NDArray[np.uint8]:
    """(N,) the bin of each value, the number of bins for values outside and for NaN.

    A bin holds its lower edge and not its upper one; the last bin holds both.
    """
    found, last = np.empty(len(values), np.uint8), len(edges) - 2
    for start in range(0, len(values), _ROWS):
        part = values[start : start + _ROWS]
        at = np.searchsorted(edges, part, side="right") - 1
        at[part == edges[-1]] = last
        at[(at < 0) | (at > last) | np.isnan(part)] = last + 1
        found[start : start + _ROWS] = at
    return found


def largest_of(columns: Iterable[npt.NDArray[Any]]) -> float:
    """The largest number of some columns, 1 if there is none."""
    found = [float(np.fmax.reduce(column)) for column in columns if len(column)]
    return max((one for one in found if math.isfinite(one)), default=1.0)
