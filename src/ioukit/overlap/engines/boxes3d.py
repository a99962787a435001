"""The engine of `Boxes3D`: rectangles seen from above, times heights, in the native module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit import _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ioukit.regions import Boxes3D
    from ioukit.typing import FloatArray

__all__ = ["elementwise", "pairs", "pairwise"]


def pairwise(measure: str, first: Boxes3D, second: Boxes3D, threads: int) -> FloatArray:
    """(N, M); each set has its own unit, sense and z."""
    return _core.boxes3d_pairwise(measure, first._native(), second._native(), threads)


def elementwise(measure: str, first: Boxes3D, second: Boxes3D, threads: int) -> FloatArray:
    """(N,)."""
    return _core.boxes3d_elementwise(measure, first._native(), second._native(), threads)


def pairs(
    measure: str,
    first: Boxes3D,
    second: Boxes3D,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    threads: int,
) -> FloatArray:
    """(P,)."""
    return _core.boxes3d_pairs(measure, first._native(), second._native(), rows, columns, threads)
