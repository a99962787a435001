"""Merging: the smallest box around each group of boxes that overlap."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple, get_args

import numpy as np

from ioukit import _core
from ioukit._checks import check_choice, check_threads
from ioukit.overlap.join import overlap_join
from ioukit.postprocess._inputs import region_set, restored
from ioukit.postprocess._mask_merging import Against, group_masks
from ioukit.postprocess._options import check_thresholds
from ioukit.postprocess._ranked import ranked_pairs
from ioukit.regions import Boxes, Masks
from ioukit.regions.regions import Regions

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ioukit.postprocess._options import SymmetricMetric
    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat

__all__ = ["Merged", "merge_boxes", "non_maximum_merge"]


class Merged(NamedTuple):
    """Merged boxes or masks by descending score."""

    boxes: Array
    """(K, 4) the smallest boxes around the groups; `Masks` with their unions if masks were merged."""
    scores: Array
    """(K,) the best score of each group."""
    keep: Array
    """(K,) int64, the position of the best box of each group; so ``labels[keep]`` are the labels of the groups."""
    groups: Array
    """(N,) int64, the group of each box, within [0, K - 1]."""


def non_maximum_merge(
    boxes: BoxesLike | Masks,
    scores: ArrayLike,
    iou_threshold: float = 0.5,
    *,
    labels: ArrayLike | None = None,
    metric: SymmetricMetric = "iou",
    against: Against = "best",
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> Merged:
    """The smallest box around each group of a best box and the boxes that overlap it, or the union of masks.

    The box with the best score forms a group with all boxes whose overlap with it is **at least** ``iou_threshold``, as
    in supervision (`nms` asks for an overlap above it). Then the best of the remaining boxes forms a group, and so on.
    Boxes are compared with the best box, not with the merged one, so a group does not grow without end. With
    ``metric="iom"`` this merges the parts of an object that lies across tiles, because a part overlaps the whole by its
    full area. `Masks` may also be compared with the union of the group so far, as in supervision: masks join until none
    of those that are left overlaps the union enough.

    Args:
        boxes: (N, 4) array, xyxy by default, in pixels or any other unit; nested lists or `Boxes`. Or `Masks` of one
            size.
        scores: (N,) numbers from the same library, also infinities. Of equal scores the lower position is the better.
        iou_threshold: At least 0. At 0, all boxes that intersect the best box join its group.
        labels: (N,) integers, such as classes. Only boxes with equal labels are merged.
        metric: The overlap; for masks ``"iou"`` or ``"iom"``.
        against: ``"best"`` (the default), or ``"merged"`` for masks only: what a mask is compared with.
        format: The format of plain arrays and of the result: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``. For
            `Boxes` the result is xyxy.
        check: Whether plain arrays are checked.
        threads: How many threads may search for overlaps; by default one per core. It does not change a bit.

    Returns:
        ``boxes``, ``scores``, ``keep`` and ``groups``, as arrays of the caller's library; of the library of the scores
        for masks.

    Raises:
        ValueError: If a shape does not fit, a box is not valid, masks have two sizes, a score is NaN, or an option is
            out of range.
        TypeError: If an argument has the wrong type, or the arrays come from different libraries.

    Examples:
        >>> from ioukit import non_maximum_merge
        >>> merged = non_maximum_merge([[0, 0, 10, 10], [2, 0, 12, 10], [30, 0, 40, 10]], [0.9, 0.8, 0.7])
        >>> merged.boxes
        array([[ 0.,  0., 12., 10.],
               [30.,  0., 40., 10.]])
        >>> merged.groups
        array([0, 0, 1])

    Reference: the greedy NMM of Akyon et al., Slicing Aided Hyper Inference, ICIP 2022, arXiv:2202.06934.
    """
    check_thresholds(iou_threshold=iou_threshold)
    check_choice("against", against, get_args(Against))
    if isinstance(boxes, Regions) and not isinstance(boxes, Boxes):
        return _merged_masks(boxes, scores, labels, iou_threshold, metric, against, format, threads)
    if against == "merged":
        raise ValueError("against='merged' is for Masks: boxes are compared with the best box of their group")
    ranked = ranked_pairs(boxes, scores, labels, iou_threshold, metric, format, check, threads, weights=False)
    given, order, corners = ranked.given, ranked.order, ranked.boxes
    # A box that greedy suppression would remove joins the group of the box that would remove it.
    into = _core.nms_of_pairs(len(order), ranked.rows, ranked.others)
    places, group = np.unique(np.where(into < 0, np.arange(len(order)), into), return_inverse=True)
    merged = corners[places]
    np.minimum.at(merged[:, :2], group, corners[:, :2])
    np.maximum.at(merged[:, 2:], group, corners[:, 2:])
    groups = np.empty(len(order), np.int64)
    groups[order] = group
    return Merged(
        given.boxes_back(merged, format),
        given.scores_back(ranked.scores[places]),
        given.positions_back(order[places].astype(np.int64)),
        given.positions_back(groups),
    )


def _merged_masks(
    masks: Regions,
    scores: ArrayLike,
    labels: ArrayLike | None,
    iou_threshold: float,
    metric: str,
    against: Against,
    format: BoxFormat | None,
    threads: int | None,
) -> Merged:
    if not isinstance(masks, Masks):
        raise TypeError(f"boxes must be Boxes, Masks, a NumPy array or nested lists, got {type(masks).__name__}")
    if format is not None:
        raise ValueError("format is for upright boxes, not for Masks")
    given = region_set(masks, scores, labels)
    found = group_masks(given, iou_threshold, metric, against, check_threads(threads))
    back = partial(restored, like=scores)
    return Merged(
        found.masks, back(given.scores[found.keep], kind=given.score_kind), back(found.keep), back(found.groups)
    )


def merge_boxes(
    boxes: Boxes | ArrayLike, *, iou_threshold: float = 0.5, threads: int | None = None
) -> tuple[Boxes, list[NDArray[np.int64]]]:
    """The smallest box around each group of boxes that overlap, directly or through other boxes of the group.

    Two boxes are connected if their IoU is **at least** ``iou_threshold``, and a group is a chain of connected boxes:
    its first and its last box may be far apart. A box without area is its own group. Memory grows with the number of
    boxes and of pairs that overlap.

    Args:
        boxes: (N, 4) array or lists, xyxy, of one image; or `Boxes`.
        iou_threshold: Above 0 and at most 1.
        threads: How many threads may search for the pairs; by default one per core. It does not change a bit.

    Returns:
        G boxes in the format, dtype and unit of ``boxes``; and for each of them the (K,) positions of its group,
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
    """(N,) the lowest position in the group of each box.

    Every round connects the larger root of each pair to the smaller one, and then shortens the paths until all boxes
    point at their root. This takes O(log N) rounds except for chains in the worst order (Shiloach and Vishkin, An
    O(log n) Parallel Connectivity Algorithm, J. Algorithms 1982).
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
