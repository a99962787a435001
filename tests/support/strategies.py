"""Hypothesis strategies for boxes, as (N, 4) xyxy arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from ioukit.typing import FloatArray

# Tests must not fail on a busy machine, so examples have no deadline, and drawing them may take any time.
settings.register_profile("ioukit", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ioukit")

EIGHTH = 0.125


@st.composite
def corner_boxes(
    draw: st.DrawFn, coordinate: st.SearchStrategy[float], dtype: DTypeLike, min_size: int = 0, max_size: int = 7
) -> FloatArray:
    """Boxes with sorted corners from ``coordinate``; boxes without an area are common."""
    corner = st.tuples(coordinate, coordinate, coordinate, coordinate)
    rows = draw(st.lists(corner, min_size=min_size, max_size=max_size))
    array = np.array(rows, dtype).reshape(-1, 2, 2)
    return np.ascontiguousarray(np.sort(array, axis=1).reshape(-1, 4))


def grid_boxes(dtype: DTypeLike = np.float32, **size: int) -> st.SearchStrategy[FloatArray]:
    """Corners on eighths within 256: sides, and shifts by whole numbers up to 1000, are exact in float32."""
    return corner_boxes(st.integers(-2048, 2048).map(lambda k: k * EIGHTH), dtype, **size)


def free_boxes(dtype: Any = np.float64, **size: int) -> st.SearchStrategy[FloatArray]:
    """Any corners within a million whose products do not underflow."""
    numbers = st.floats(2.0**-20, 2.0**20, width=32 if dtype == np.float32 else 64)
    return corner_boxes(numbers | numbers.map(lambda x: -x) | st.just(0.0), dtype, **size)


def extreme_boxes(dtype: Any = np.float64, **size: int) -> st.SearchStrategy[FloatArray]:
    """Any valid corners, from subnormal numbers to the largest."""
    largest, width = (2.0**126, 32) if dtype == np.float32 else (2.0**500, 64)
    return corner_boxes(st.floats(-largest, largest, width=width), dtype, **size)  # type: ignore[arg-type]
