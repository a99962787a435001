"""Selections of pairs: centres inside objects, the best pairs of each object, the object that keeps a prediction.

Nothing here makes a table of all predictions by all objects. Pairs come in blocks of objects. A block has at most
`BLOCK` pairs, or a single object, and a rule keeps only the pairs that it chooses from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from ioukit.overlap import pairwise_ioa, pairwise_iou

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ioukit.typing import FloatArray


BLOCK = 2**18
"""The largest number of pairs in a block of several objects, which takes about 30 MB of temporaries."""


def object_blocks(objects: int, predictions: int) -> Iterator[slice]:
    """Slices of objects. The table of a slice with all predictions has at most `BLOCK` pairs, or one object."""
    step = max(1, BLOCK // max(predictions, 1))
    for start in range(0, objects, step):
        yield slice(start, min(start + step, objects))


def points_inside(
    points: FloatArray, boxes: FloatArray, margin: float = 0.0
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Pairs of a box and a point inside it, more than ``margin`` from every edge, in blocks of boxes.

    Args:
        points: (P, 2).
        boxes: (G, 4) corners.
        margin: At least 0.

    Yields:
        Positions of the boxes, ascending, and positions of the points, unordered within a box.
    """
    order = np.argsort(points[:, 1], kind="stable")
    x, y = points[order, 0], points[order, 1]
    # `y - y1 > margin` implies `y > y1`, also after rounding, so the binary searches leave out only points outside.
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


def distance_to_edge(points: FloatArray, boxes: FloatArray) -> FloatArray:
    """(K,) how far each point is from the nearest edge of its box; negative outside."""
    nearest: FloatArray = np.minimum(points - boxes[:, :2], boxes[:, 2:] - points).min(axis=1)
    return nearest


def best_of_each(
    rows: NDArray[np.int64], columns: NDArray[np.int64], values: FloatArray, most: int | NDArray[np.int64]
) -> NDArray[np.int64]:
    """The pairs with the largest values of their row. Of equal values the lower column comes first.

    Args:
        rows: (K,) ascending.
        columns: (K,).
        values: (K,), without NaN.
        most: The number of pairs to take from each row: one number, or an array that is indexed by row.

    Returns:
        Positions of the chosen pairs, sorted by row and then by descending value.
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
    """(K,) true for the pair with the largest value of its column; of equal values, for the lowest row."""
    order = np.lexsort((rows, -values, columns))
    kept = np.zeros(len(rows), bool)
    kept[order[np.flatnonzero(np.diff(columns[order], prepend=-1))]] = True
    return kept


def padded(boxes: FloatArray, least: float, side: float) -> FloatArray:
    """Boxes with the same centres whose sides shorter than ``least`` become ``side`` long."""
    low, high = boxes[:, :2], boxes[:, 2:]
    short = high - low < least
    centre, half = (low + high) / 2, boxes.dtype.type(side / 2)
    return np.concatenate([np.where(short, centre - half, low), np.where(short, centre + half, high)], axis=1)


def find_covered(
    boxes: FloatArray, regions: FloatArray, threshold: float, of: Literal["first", "second"] = "second"
) -> NDArray[np.bool_]:
    """(P,) true for the boxes whose IoA with a region is above the threshold.

    The area that divides is that of the box with ``of="second"``, and that of the region with ``of="first"``.
    """
    found = np.zeros(len(boxes), bool)
    for block in object_blocks(len(regions), len(boxes)):
        found |= (pairwise_ioa(regions[block], boxes, of=of, check=False) > threshold).any(axis=0)
    return found


def near_an_object(predictions: FloatArray, objects: FloatArray, threshold: float) -> NDArray[np.bool_]:
    """(P,) true for the predictions whose IoU with an object is above the threshold."""
    near = np.zeros(len(predictions), bool)
    for block in object_blocks(len(objects), len(predictions)):
        near |= (pairwise_iou(objects[block], predictions, check=False) > threshold).any(axis=0)
    return near
