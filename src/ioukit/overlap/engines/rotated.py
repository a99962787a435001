"""The engine of `RotatedBoxes`: exact clipping of rectangles, in the native module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit import _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ioukit.regions import RotatedBoxes
    from ioukit.typing import FloatArray

__all__ = ["elementwise", "pairs", "pairwise"]


def pairwise(measure: str, first: RotatedBoxes, second: RotatedBoxes, threads: int) -> FloatArray:
    """(N, M); each set has its own unit and sense."""
    return _core.rotated_pairwise(measure, first._native(), second._native(), threads)


def elementwise(measure: str, first: RotatedBoxes, second: RotatedBoxes, threads: int) -> FloatArray:
    """(N,)."""
    return _core.rotated_elementwise(measure, first._native(), second._native(), threads)


def pairs(
    measure: str,
    first: RotatedBoxes,
    second: RotatedBoxes,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    threads: int,
) -> FloatArray:
    """(P,)."""
    return _core.rotated_pairs(measure, first._native(), second._native(), rows, columns, threads)
