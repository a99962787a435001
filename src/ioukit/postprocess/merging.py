"""Merging: the smallest box around each group of boxes that overlap, and the union of each group of masks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from ioukit import _core
from ioukit._array_types import Ids
from ioukit._checks import check_choice, check_threads
from ioukit.overlap.engines import masks as engine
from ioukit.overlap.join import overlap_join
from ioukit.postprocess._inputs import region_set, restored
from ioukit.postprocess._options import check_thresholds
from ioukit.postprocess._ranked import ranked_pairs
from ioukit.regions import Boxes, Masks
from ioukit.regions.regions import Regions

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ioukit.postprocess._options import SymmetricMetric
    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat


Against: TypeAlias = Literal["best", "merged"]

_LEAST = float(np.nextafter(0, 1))  # at a threshold of 0, masks must still have a pixel in common


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
    places, group = np.unique(_leaders(len(order), ranked.rows, ranked.others), return_inverse=True)
    merged = corners[places]
    np.minimum.at(merged[:, :2], group, corners[:, :2])
    np.maximum.at(merged[:, 2:], group, corners[:, 2:])
    return Merged(
        given.boxes_back(merged, format),
        given.scores_back(ranked.scores[places]),
        given.positions_back(order[places].astype(np.int64)),
        given.positions_back(_unsorted(order, group)),
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


def _merged_masks(
    masks: Regions,
    scores: ArrayLike,
    labels: ArrayLike | None,
    threshold: float,
    metric: str,
    against: Against,
    format: BoxFormat | None,
    threads: int | None,
) -> Merged:
    """Groups masks by their overlap with the best mask of a group, or with the union of the group so far."""
    if not isinstance(masks, Masks):
        raise TypeError(f"boxes must be Boxes, Masks, a NumPy array or nested lists, got {type(masks).__name__}")
    if format is not None:
        raise ValueError("format is for upright boxes, not for Masks")
    given, workers = region_set(masks, scores, labels), check_threads(threads)
    check_choice("metric", metric, ("iou", "iom"))
    engine.check_same_sizes(masks, masks)
    order = np.argsort(-np.asarray(given.scores, np.float64), kind="stable")
    ranked, codes = masks[order], None if given.labels is None else given.labels[order]
    least = max(float(threshold), _LEAST)
    if least > 1:  # no overlap reaches it
        leaders = np.arange(len(order))
    else:
        reach = least if against == "best" else _LEAST
        pairs = overlap_join(ranked, min_iou=reach, metric=metric, labels1=codes, threads=threads)  # type: ignore[arg-type]
        if against == "best":
            leaders = _leaders(len(order), pairs.rows, pairs.columns)
        else:
            leaders = _grown(ranked, pairs.rows, pairs.columns, least, metric, workers)
    places, group = np.unique(leaders, return_inverse=True)
    back = partial(restored, like=scores)
    keep = order[places]
    return Merged(
        _unions(ranked, group, len(places)),
        back(given.scores[keep], kind=given.score_kind),
        back(keep.astype(np.int64)),
        back(_unsorted(order, group)),
    )


def _leaders(count: int, rows: Ids, others: Ids) -> Ids:
    """(N,) the best of the group of each: what greedy suppression would remove joins what would remove it."""
    into = _core.nms_of_pairs(count, rows, others)
    return np.where(into < 0, np.arange(count), into)


def _unsorted(order: NDArray[np.intp], group: NDArray[np.intp]) -> Ids:
    """(N,) groups in the order of the input, from groups by descending score."""
    groups = np.empty(len(order), np.int64)
    groups[order] = group
    return groups


def _grown(ranked: Masks, rows: Ids, columns: Ids, least: float, metric: str, threads: int) -> Ids:
    """(N,) the best mask of the group of each mask, for groups that compare masks with their union.

    Args:
        ranked: The masks, the best first.
        rows: (P,) of all pairs of masks that have a pixel in common, the better mask.
        columns: (P,) the worse mask.
        least: The overlap at which a mask joins.
        metric: ``"iou"`` or ``"iom"``.
        threads: For the overlaps.
    """
    count = len(ranked)
    both = np.concatenate([rows, columns]), np.concatenate([columns, rows])
    by_row = np.argsort(both[0], kind="stable")
    neighbours = both[1][by_row]
    starts = np.searchsorted(both[0][by_row], np.arange(count + 1))
    leaders = np.full(count, -1, np.int64)
    for leader in range(count):
        if leaders[leader] >= 0:
            continue
        leaders[leader] = leader
        union, near = ranked[leader : leader + 1], neighbours[starts[leader] : starts[leader + 1]]
        while True:
            near = np.unique(near[leaders[near] < 0])
            if not len(near):
                break
            joins = near[engine.pairwise(metric, union, ranked[near], threads)[0] >= least]
            if not len(joins):
                break
            leaders[joins] = leader
            union = Masks.concat([union, ranked[joins]]).merge()
            near = np.concatenate([near, *(neighbours[starts[one] : starts[one + 1]] for one in joins.tolist())])
    return leaders


def _unions(ranked: Masks, group: NDArray[np.intp], count: int) -> Masks:
    order = np.argsort(group, kind="stable")
    members = np.split(order, np.searchsorted(group[order], np.arange(1, count)))
    return Masks.concat([ranked[of] if len(of) == 1 else ranked[of].merge() for of in members]) if count else ranked
