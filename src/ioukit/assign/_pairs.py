"""Few pairs out of many: which centres lie in which objects, the best of each object, who keeps a prediction.

Nothing here makes a table of all predictions by all objects. Pairs come in blocks of objects, each of `BLOCK` pairs at
most or of one object, and a rule keeps of a block only what it chooses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ioukit.typing import FloatArray

__all__ = ["BLOCK", "best_of_each", "keepers", "object_blocks", "padded", "points_inside"]

BLOCK = 2**18
"""The most pairs that are looked at at once, where one object does not have more: about 30 MB of temporaries."""


def object_blocks(objects: int, predictions: int) -> Iterator[slice]:
    """Slices of objects whose table with all predictions is a block."""
    step = max(1, BLOCK // max(predictions, 1))
    for start in range(0, objects, step):
        yield slice(start, min(start + step, objects))


def points_inside(
    points: FloatArray, boxes: FloatArray, margin: float = 0.0
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Pairs of a box and a point in it, further than ``margin`` from each edge, in blocks of boxes.

    Args:
        points: (P, 2).
        boxes: (G, 4) corners.
        margin: Not negative.

    Yields:
        Positions of the boxes, ascending, and of the points, in no order within a box.
    """
    order = np.argsort(points[:, 1], kind="stable")
    x, y = points[order, 0], points[order, 1]
    # `y - y1 > margin` needs `y > y1`, also as rounded, so what the binary searches leave out is outside.
    low, high = np.searchsorted(y, boxes[:, 1], "right"), np.searchsorted(y, boxes[:, 3], "left")
    length = np.maximum(high - low, 0)
    total = np.cumsum(length)
    start = 0
    while start < len(boxes):
        before = total[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(total, before + BLOCK, "right")))
        counts = length[start:stop]
        rows = np.repeat(np.arange(start, stop), counts)
        offset = low[start:stop] - (total[start:stop] - counts - before)
        place = np.arange(len(rows)) + np.repeat(offset, counts)
        px, py, of = x[place], y[place], boxes[rows]
        inside = (px - of[:, 0] > margin) & (of[:, 2] - px > margin)
        inside &= (py - of[:, 1] > margin) & (of[:, 3] - py > margin)
        yield rows[inside], order[place[inside]]
        start = stop


def best_of_each(
    rows: NDArray[np.int64], columns: NDArray[np.int64], values: FloatArray, most: int | NDArray[np.int64]
) -> NDArray[np.int64]:
    """Which pairs have the largest values of their row; among equal values the lower column comes first.

    Args:
        rows: (K,) ascending.
        columns: (K,).
        values: (K,), no NaN among them.
        most: How many of each row, or a number for each row by its position.

    Returns:
        Positions of the chosen pairs, ordered by row, then the best first.
    """
    if not len(rows):
        return np.empty(0, np.int64)
    firsts = np.flatnonzero(np.diff(rows, prepend=rows[0] - 1))
    sizes = np.diff(firsts, append=len(rows))
    limits = np.broadcast_to(most, sizes.shape) if isinstance(most, int) else most[rows[firsts]]
    keep = np.ones(len(rows), bool)
    for first, size, limit in zip(firsts.tolist(), sizes.tolist(), limits.tolist(), strict=True):
        if size > limit:
            part = values[first : first + size]
            keep[first : first + size] = part >= np.partition(part, size - limit)[size - limit] if limit else False
    kept = np.flatnonzero(keep)
    kept = kept[np.lexsort((columns[kept], -values[kept], rows[kept]))]
    starts = np.flatnonzero(np.diff(rows[kept], prepend=-1))
    counts = np.diff(starts, append=len(kept))
    rank = np.arange(len(kept)) - np.repeat(starts, counts)
    limit_of = np.repeat(np.full(len(starts), most) if isinstance(most, int) else most[rows[kept[starts]]], counts)
    return kept[rank < limit_of]


def keepers(rows: NDArray[np.int64], columns: NDArray[np.int64], values: FloatArray) -> NDArray[np.bool_]:
    """Which pairs keep their column: the one with the largest value, among equal ones the lowest row."""
    order = np.lexsort((rows, -values, columns))
    kept = np.zeros(len(rows), bool)
    kept[order[np.flatnonzero(np.diff(columns[order], prepend=-1))]] = True
    return kept


def padded(boxes: FloatArray, least: float, side: float) -> FloatArray:
    """Boxes whose sides below ``least`` are ``side``, about the same centres."""
    low, high = boxes[:, :2], boxes[:, 2:]
    short = high - low < least
    centre, half = (low + high) / 2, boxes.dtype.type(side / 2)
    return np.concatenate([np.where(short, centre - half, low), np.where(short, centre + half, high)], axis=1)
