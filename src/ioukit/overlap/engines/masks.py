"""The engine of `Masks`: overlaps from the pixels that two masks have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.regions import Masks
    from ioukit.typing import FloatArray


def pairwise(
    measure: str, first: Masks, second: Masks, threads: int, crowd: NDArray[np.bool_] | None = None
) -> FloatArray:
    """(N, M) overlaps; where ``crowd`` (M,) is true, the intersection over the area of the first mask."""
    check_same_sizes(first, second)
    out = np.zeros((len(first), len(second)))
    _core.masks_pairwise(measure, *first._parts, *second._parts, crowd, False, out, threads)
    return out


def elementwise(measure: str, first: Masks, second: Masks, threads: int) -> FloatArray:
    """(N,) overlaps; each mask must have the size of its counterpart."""
    other = np.flatnonzero((first._sizes != second._sizes).any(axis=1))
    if other.size:
        _refuse(first, int(other[0]), second, int(other[0]))
    return _core.masks_elementwise(measure, *first._parts, *second._parts, threads)


def pairs(
    measure: str, first: Masks, second: Masks, rows: NDArray[np.int64], columns: NDArray[np.int64], threads: int
) -> FloatArray:
    """(P,) overlaps of the masks ``first[rows]`` with the masks ``second[columns]``; partners must have one size."""
    other = np.flatnonzero((first._sizes[rows] != second._sizes[columns]).any(axis=1))
    if other.size:
        _refuse(first, int(rows[other[0]]), second, int(columns[other[0]]))
    rows, columns = (np.ascontiguousarray(positions, np.int64) for positions in (rows, columns))
    return _core.masks_pairs(measure, *first._parts, *second._parts, rows, columns, threads)


def check_same_sizes(first: Masks, second: Masks) -> None:
    """Raises `ValueError` unless all masks have one size, as masks of one image do."""
    if not (len(first) and len(second)):
        return
    other = np.flatnonzero((second._sizes != first._sizes[0]).any(axis=1))
    if other.size:
        _refuse(first, 0, second, int(other[0]))
    other = np.flatnonzero((first._sizes != second._sizes[0]).any(axis=1))
    if other.size:
        _refuse(first, int(other[0]), second, 0)


def _refuse(first: Masks, row: int, second: Masks, column: int) -> None:
    (height1, width1), (height2, width2) = first._sizes[row], second._sizes[column]
    raise ValueError(
        f"masks of another size: masks1[{row}] is {height1} x {width1}, masks2[{column}] {height2} x {width2} "
        "(height x width); only masks of one size have pixels in common"
    )
