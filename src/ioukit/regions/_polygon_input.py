"""From what a caller passes as polygons to flat arrays, and which of it is refused."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._arrays import as_floats

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from ioukit.typing import FloatArray


LARGEST = 2.0**500  # beyond, areas overflow


class OnePolygon(ABC):
    """What `Polygons` need to know of a `Polygon`, which is made of `Polygons` and defined after them."""

    __slots__ = ()

    @property
    @abstractmethod
    def points(self) -> FloatArray:
        """(K, 2), read-only."""

    @property
    @abstractmethod
    def normalized(self) -> bool:
        """Whether the unit is the image rather than the pixel."""


def ragged(data: Iterable[Any]) -> tuple[FloatArray, NDArray[np.int64]]:
    """(K, 2) vertices and (N + 1,) offsets of an array (N, K, 2) or of a sequence of points."""
    if isinstance(data, np.ndarray) and data.dtype != object:
        array = as_floats(data, "polygons")
        if array.ndim != 3 or array.shape[2] != 2:
            if array.size == 0 and array.ndim == 1:
                return np.zeros((0, 2)), np.zeros(1, np.int64)
            raise ValueError(f"polygons must have shape (N, K, 2), got {array.shape}; one polygon is Polygon(points)")
        vertices = np.array(array, np.float64).reshape(-1, 2)
        return vertices, array.shape[1] * np.arange(len(array) + 1, dtype=np.int64)
    if not isinstance(data, (list, tuple, np.ndarray)):
        raise TypeError(f"polygons must be a list of points or an array (N, K, 2), got {type(data).__name__}")
    rings = [
        item.points if isinstance(item, OnePolygon) else points_of(item, f"polygons[{row}]")
        for row, item in enumerate(data)
    ]
    counts = np.array([len(ring) for ring in rings], np.int64)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return np.concatenate([np.zeros((0, 2)), *rings]), offsets


def points_of(data: Any, name: str) -> FloatArray:
    """(K, 2) points in float64, a copy."""
    if not isinstance(data, (np.ndarray, list, tuple)):
        raise TypeError(f"{name} must be points (K, 2), a NumPy array or nested lists, got {type(data).__name__}")
    array = as_floats(data, name)
    if array.shape == (0,):
        array = array.reshape(0, 2)
    if array.ndim == 3 and array.shape[1] == 1:  # OpenCV's contours
        array = array[:, 0]
    if array.ndim != 2 or array.shape[1] != 2:
        hint = "; a flat list of numbers is for from_flat" if array.ndim == 1 else ""
        raise ValueError(f"{name} must have shape (K, 2), got {array.shape}{hint}")
    return np.array(array, np.float64, order="C")


def pairs_of(data: ArrayLike, name: str) -> FloatArray:
    """(K, 2) points of a flat list ``[x1, y1, x2, y2, ...]``."""
    flat = as_floats(data, name)
    if flat.ndim != 1 or flat.size % 2:
        raise ValueError(f"{name} must be x and y in turn, an even number of numbers, got shape {flat.shape}")
    return flat.reshape(-1, 2)


def check_polygons(vertices: FloatArray, offsets: NDArray[np.int64], one: str = "") -> None:
    """Raises `ValueError` for the first polygon with too few points, or with a point that is not finite or too large.

    Args:
        vertices: (K, 2) float64.
        offsets: (N + 1,) where each polygon begins.
        one: What the message calls a single polygon; without it, ``polygons[row]``.
    """
    counts = np.diff(offsets)
    few = (counts > 0) & (counts < 3)
    if few.any():
        row = int(np.argmax(few))
        name = one or f"polygons[{row}]"
        raise ValueError(f"{name} must have at least 3 points, or none for an empty polygon, got {counts[row]}")
    good = (np.abs(vertices) <= LARGEST).all(axis=1)
    if not good.all():
        at = int(np.argmin(good))
        row = int(np.searchsorted(offsets, at, side="right")) - 1
        point = vertices[at]
        says = "a coordinate is beyond 2**500, where areas overflow"
        if not np.isfinite(point).all():
            says = "every coordinate must be finite"
        name = f"{one}[{at}]" if one else f"polygons[{row}][{at - offsets[row]}]"
        raise ValueError(f"{name} is {point.tolist()}: {says}")
