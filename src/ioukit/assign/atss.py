"""ATSS: the nearest anchors of each level, and an IoU threshold computed for each object."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from ioukit._checks import check_count
from ioukit.assign._inputs import boxes_of, finished, pair_of_sets, spread
from ioukit.assign._pairs import best_of_each, distance_to_edge, find_covered, keepers, object_blocks
from ioukit.assign.assignment import Candidates, Outcome
from ioukit.overlap import elementwise_iou

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ioukit.assign.assignment import Assignment
    from ioukit.regions import BoxesLike
    from ioukit.typing import BoxFormat, FloatArray


def assign_atss(
    anchors: BoxesLike,
    objects: BoxesLike,
    *,
    levels: Sequence[int],
    top_k: int = 9,
    margin: float = 0.01,
    ignore_regions: BoxesLike | None = None,
    ignore_ioa: float = 0.5,
    format: BoxFormat | None = None,
    check: bool = True,
) -> Assignment:
    """Assigns anchors to objects by adaptive training sample selection (ATSS).

    The candidates of an object are the ``top_k`` anchors of each level whose centres are nearest to the centre of the
    object. A candidate is positive if two conditions hold. Its IoU is at least the threshold of the object, which is
    the mean plus the standard deviation of the IoU of all its candidates. And its centre is inside the object, more
    than ``margin`` from the edges. If several objects claim an anchor, the one with the highest IoU gets it.

    The standard deviation is the unbiased one (divided by n - 1). For a single candidate it is 0; the original computes
    NaN and assigns nothing. Ties: of equal distances the lower position is nearer, and of equal IoU the first object
    wins. An object without a centre inside, such as a tiny one, gets no anchor.

    Args:
        anchors: (P, 4), xyxy by default, level by level.
        objects: (G, 4) in the same unit; G may be 0.
        levels: The number of anchors of each level.
        top_k: Candidates per level. A level with fewer anchors gives all of them.
        margin: In the unit of the boxes, at least 0.
        ignore_regions: (R, 4) regions such as crowds. An anchor is ignored if more than ``ignore_ioa`` of its area lies
            in one of them. It is no candidate then: the next nearest anchor of the level takes its place. MMDetection
            does the same, but fills a level that has fewer than ``top_k`` other anchors with ignored ones.
        ignore_ioa: Within [0, 1].
        format: The format of plain arrays: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``. `Boxes` have their
            own.
        check: Whether plain arrays are checked.

    Returns:
        The assignment. Its ``facts`` are ``"mean"``, ``"threshold"`` (mean + standard deviation), ``"best"`` and
        ``"inside"`` (the number of candidates with their centre inside).

    Raises:
        ValueError: If the levels do not add up to the number of anchors, or a box is not valid.

    Examples:
        >>> from ioukit.assign import assign_atss
        >>> anchors = [[0, 0, 10, 10], [10, 10, 20, 20], [5, 5, 15, 15], [32, 32, 38, 42]]
        >>> result = assign_atss(anchors, [[0, 0, 10, 9], [0, 10, 10, 19]], levels=[4])
        >>> result.target
        array([ 0, -1, -1, -1])
        >>> print(result.explain(1))
        object 1: no prediction
        - 4 candidates: no centre inside (best IoU 0.15)

    Reference: Zhang et al., Bridging the Gap Between Anchor-based and Anchor-free Detection via Adaptive Training
    Sample Selection, CVPR 2020, arXiv:1912.02424.
    """
    check_count(top_k=top_k)
    most = operator.index(top_k)
    if not margin >= 0:
        raise ValueError(f"margin must not be negative, got {margin}")
    first, second = pair_of_sets(anchors, objects, format, check, ("anchors", "objects"))
    sizes = [operator.index(size) for size in levels]
    if sum(sizes) != len(first) or min(sizes, default=0) < 0:
        raise ValueError(f"levels must add up to the {len(first)} anchors, got {sizes}, which add up to {sum(sizes)}")
    count, dtype = len(second), first.dtype
    level_places = np.split(np.arange(len(first)), np.cumsum(sizes)[:-1]) if sizes else []
    ignored, out_rows, out_columns = None, np.empty(0, np.int64), np.empty(0, np.int64)
    if ignore_regions is not None:
        regions = boxes_of(ignore_regions, format, "ignore_regions", check).astype(dtype)
        ignored = find_covered(first, regions, ignore_ioa)
    if ignored is not None and ignored.any():
        rows, columns = _nearest(first, second, [places[~ignored[places]] for places in level_places], most)
        out_rows, out_columns = _taken_out(first, second, level_places, ignored, most, rows, columns)
    else:
        rows, columns = _nearest(first, second, level_places, most)
    overlap = elementwise_iou(first[columns], second[rows], check=False)
    mean, threshold, best = _statistics(rows, overlap, count)

    inside = distance_to_edge((first[columns, :2] + first[columns, 2:]) / 2, second[rows]) > margin
    reached = overlap >= threshold[rows]
    chosen = np.flatnonzero(inside & reached)
    wins = keepers(rows[chosen], columns[chosen], overlap[chosen])

    outcome = np.full(len(rows), Outcome.BELOW, np.uint8)
    outcome[~inside] = Outcome.OUTSIDE
    outcome[chosen] = np.where(wins, Outcome.ASSIGNED, Outcome.STOLEN)
    target, won = np.full(len(first), -1, np.int64), chosen[wins]
    target[columns[won]] = rows[won]
    facts = {"mean": mean, "threshold": threshold, "best": best, "inside": np.bincount(rows[inside], minlength=count)}
    candidates = Candidates(rows, columns, overlap, overlap.copy(), outcome)
    if len(out_rows):
        out_overlap = elementwise_iou(first[out_columns], second[out_rows], check=False)
        candidates = candidates.and_taken_out(out_rows, out_columns, out_overlap)
    return finished(
        anchors, rule="assign_atss", objects=count, target=target,
        overlap=spread(len(first), columns[won], overlap[won]), facts=facts, ignore=ignored,
        candidates=candidates,
    )  # fmt: skip


def _nearest(
    anchors: FloatArray, objects: FloatArray, levels: Sequence[NDArray[np.int64]], most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The object and the anchor of every candidate, sorted by object, then level, then distance.

    Args:
        anchors: (P, 4) corners.
        objects: (G, 4) corners.
        levels: The positions of the anchors of each level that may be candidates, ascending.
        most: Candidates per object and level.
    """
    x, y = ((anchors[:, :2] + anchors[:, 2:]) / 2).T
    cx, cy = ((objects[:, :2] + objects[:, 2:]) / 2).T
    rows, columns = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for places in levels:
        size, level_x, level_y = len(places), x[places], y[places]
        for block in object_blocks(len(objects), size):
            dx, dy = level_x - cx[block, None], level_y - cy[block, None]
            squared = dx * dx + dy * dy
            if size > most:
                # Squares are compared, because different squares may have equal roots.
                limit = np.partition(squared, most - 1, axis=1)[:, most - 1 : most]
                near, place = np.nonzero(squared <= limit)
            else:
                near, place = np.nonzero(np.ones_like(squared, bool))
            picked = best_of_each(near, place, -squared[near, place], most)
            rows.append(near[picked] + block.start)
            columns.append(places[place[picked]])
    all_rows, all_columns = np.concatenate(rows), np.concatenate(columns)
    order = np.argsort(all_rows, kind="stable")
    return all_rows[order], all_columns[order]


def _taken_out(
    anchors: FloatArray,
    objects: FloatArray,
    levels: Sequence[NDArray[np.int64]],
    ignored: NDArray[np.bool_],
    most: int,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of an object and an ignored anchor that would be candidates if no anchor was ignored, sorted by object.

    ``rows`` and ``columns`` are the candidates. With the nearest ignored anchors they hold the nearest of all anchors.
    """
    out_rows, out_columns = _nearest(anchors, objects, [places[ignored[places]] for places in levels], most)
    rows, columns = np.concatenate([rows, out_rows]), np.concatenate([columns, out_columns])
    level_of = np.repeat(np.arange(len(levels)), [len(places) for places in levels])
    groups = rows * len(levels) + level_of[columns]
    order = np.argsort(groups, kind="stable")
    rows, columns = rows[order], columns[order]
    apart = (anchors[columns, :2] + anchors[columns, 2:]) / 2 - (objects[rows, :2] + objects[rows, 2:]) / 2
    nearest = best_of_each(groups[order], columns, -(apart**2).sum(axis=1), most)
    picked = nearest[ignored[columns[nearest]]]
    return rows[picked], columns[picked]


def _statistics(rows: NDArray[np.int64], overlap: FloatArray, count: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The mean, the mean plus the unbiased standard deviation, and the maximum of the overlaps of each object."""
    number = np.bincount(rows, minlength=count)
    best, least = np.zeros(count, overlap.dtype), np.full(count, np.inf)
    np.maximum.at(best, rows, overlap)
    np.minimum.at(least, rows, overlap)
    # The minimum is subtracted first, so that the mean of equal overlaps is exactly that overlap. A mean rounded up
    # would reject them all.
    above = overlap - least[rows]
    mean_above = np.bincount(rows, above, count) / np.maximum(number, 1)
    spread = np.bincount(rows, (above - mean_above[rows]) ** 2, count) / np.maximum(number - 1, 1)
    mean = np.where(number > 0, least, 0) + mean_above
    return mean, (mean + np.sqrt(spread)).astype(overlap.dtype), best
