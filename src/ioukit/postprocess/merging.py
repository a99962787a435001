"""Groups of boxes that hang together, and the boxes around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit.overlap import overlap_join
from ioukit.regions import Boxes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["merge_boxes"]


def merge_boxes(
    boxes: Boxes | ArrayLike, *, iou_threshold: float = 0.5, threads: int | None = None
) -> tuple[Boxes, list[NDArray[np.int64]]]:
    """The boxes around groups of boxes that overlap, directly or through others of the group.

    Two boxes hang together if their IoU is **at least** ``iou_threshold``, and a group is all that hang together in a
    chain: its first and its last box may be far apart. Boxes without area are groups of their own. Memory grows with
    the boxes and the pairs that overlap.

    Args:
        boxes: `Boxes`, or an array-like of shape (N, 4), xyxy, of one image.
        iou_threshold: The least IoU, above 0 and at most 1.
        threads: How many threads may look for the pairs, by default as many as there are cores.

    Returns:
        G boxes in the format, dtype and unit of ``boxes``, and for each of them the (K,) positions of its group,
        ascending. Groups are in the order of their first box.

    Raises:
        ValueError: If the threshold is not in (0, 1], or a box is not valid.

    Examples:
        >>> merged, groups = merge_boxes([[0, 0, 4, 4], [9, 9, 10, 10], [0, 1, 4, 5], [0, 2, 4, 6]])
        >>> merged.to_list()
        [[0.0, 0.0, 4.0, 6.0], [9.0, 9.0, 10.0, 10.0]]
        >>> [group.tolist() for group in groups]
        [[0, 2, 3], [1]]
    """
    given = boxes if isinstance(boxes, Boxes) else Boxes(boxes)
    pairs = overlap_join(given, min_iou=iou_threshold, threads=threads)
    first = _first_of_group(len(given), pairs.rows, pairs.columns)
    order = np.argsort(first, kind="stable")
    begins = np.flatnonzero(np.diff(first[order], prepend=-1))
    if not len(begins):
        return given, []
    corners = given.convert("xyxy").numpy()[order]
    low = np.minimum.reduceat(corners[:, :2], begins)
    high = np.maximum.reduceat(corners[:, 2:], begins)
    around = Boxes(np.concatenate([low, high], axis=1), normalized=given.normalized)
    return around.convert(given.format), np.split(order, begins[1:])


def _first_of_group(count: int, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """(N,) the least position that each can reach over the pairs.

    Every round hangs the larger root of each pair under the smaller one and then halves the paths until all point at
    their root: O(log N) rounds where chains are not made to hurt (Shiloach and Vishkin, J. Algorithms 1982).
    """
    root = np.arange(count, dtype=np.int64)
    while len(rows):
        one, other = root[rows], root[columns]
        apart = one != other
        rows, columns, one, other = rows[apart], columns[apart], one[apart], other[apart]
        np.minimum.at(root, np.maximum(one, other), np.minimum(one, other))
        while not np.array_equal(root[root], root):
            root = root[root]
    return root
