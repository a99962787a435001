"""Pairs of two sets of boxes, one to one, with the highest sum of overlaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ioukit import _core
from ioukit.overlap.join import overlap_join

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ioukit._array_types import Ids
    from ioukit.overlap.variants import OverlapMetric
    from ioukit.regions import BoxesLike
    from ioukit.typing import BoxFormat, FloatArray


class BoxMatches(NamedTuple):
    """Pairs of boxes, in which no box stands twice."""

    rows: Ids
    """(P,) positions in the first set, ascending."""
    columns: Ids
    """(P,) the position in the second set, for each of them."""
    overlaps: FloatArray
    """(P,) the overlap of each pair."""


def match_boxes(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    min_iou: float,
    metric: OverlapMetric = "iou",
    of: Literal["second", "first"] | None = None,
    labels1: ArrayLike | None = None,
    labels2: ArrayLike | None = None,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> BoxMatches:
    """Pairs of two sets of boxes, one to one: those with the highest sum of overlaps.

    Pairs below ``min_iou`` are not made. Of choices with the same sum, it is the one that SciPy's
    ``linear_sum_assignment`` makes on the table of negative overlaps, in float64, with 0 for each pair below
    ``min_iou``. That table takes 8 bytes times N times M; it is made only where two pairs have a box in common.

    Args:
        boxes1: `Boxes` or an array-like of shape (N, 4), in pixels or relative to the image, or regions of another
            kind, as for :func:`overlap_join`.
        boxes2: The same, of shape (M, 4), in the same unit.
        min_iou: The smallest overlap of a pair, in the chosen ``metric``: above 0 and at most 1.
        metric: ``"iou"``, ``"ioa"``, ``"iom"``, ``"giou"``, ``"diou"`` or ``"ciou"``.
        of: For ``"ioa"`` only, the box whose area divides: ``"second"`` (the default) or ``"first"``.
        labels1: (N,) integers, such as classes. Only boxes with equal labels can be pairs.
        labels2: (M,) integers; required if ``labels1`` is given.
        format: The format of plain arrays: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``. `Boxes` have their
            own.
        check: Whether plain arrays are checked. If False, boxes that are not valid give pairs without meaning.
        threads: How many threads may work; by default one per core. It does not change a bit of the result.

    Returns:
        The pairs, by row: ``rows``, ``columns`` and ``overlaps``.

    Raises:
        ValueError: As :func:`overlap_join`.
        TypeError: If an argument has the wrong type.

    Examples:
        >>> from ioukit import match_boxes
        >>> rows, columns, overlaps = match_boxes([[0, 0, 4, 4], [1, 0, 5, 4]], [[1, 0, 5, 4], [9, 9, 10, 10]],
        ...                                       min_iou=0.5)
        >>> rows.tolist(), columns.tolist(), overlaps.tolist()
        ([1], [0], [1.0])

    Reference: Crouse, On implementing 2D rectangular assignment algorithms, IEEE Transactions on Aerospace and
    Electronic Systems 52, 2016.
    """
    if boxes2 is None:
        raise TypeError("boxes2 must be boxes, got None: a set is not matched with itself")
    labelled = labels1 is not None or labels2 is not None
    usual = metric == "iou" and of is None and format is None and check
    if type(boxes1) is np.ndarray and usual and not labelled:
        matches = _core.plain_matches(boxes1, boxes2, min_iou, threads)
        if matches is not None:
            return BoxMatches(*matches)
    pairs = overlap_join(
        boxes1, boxes2, min_iou=min_iou, metric=metric, of=of, labels1=labels1, labels2=labels2, format=format,
        check=check, threads=threads,
    )  # fmt: skip
    values = pairs.values.astype(np.float64, copy=False)
    found = _core.highest_pairs(pairs.rows, pairs.columns, values, pairs.shape)
    return BoxMatches(pairs.rows[found], pairs.columns[found], pairs.values[found])


def assign_rows(costs: FloatArray) -> tuple[Ids, Ids]:
    """The assignment of rows to columns of the lowest cost, as SciPy's ``linear_sum_assignment`` finds it.

    Args:
        costs: (N, M) finite costs.

    Returns:
        (min(N, M),) the rows, ascending, and the column of each.
    """
    found = _core.assign_rows(np.ascontiguousarray(costs, np.float64))
    assert found is not None, "no pair is forbidden"
    return found
