"""The sparse join: pairs of boxes whose overlap reaches a threshold, without the table of all pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ioukit import _core
from ioukit._checks import check_threads, integer_column
from ioukit._optional import import_extra
from ioukit.overlap import _region_join
from ioukit.overlap._arguments import corners_on_host
from ioukit.overlap.engines import engine as engines
from ioukit.overlap.variants import METRICS, Measure, OverlapMetric, measure_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ioukit.regions import BoxesLike
    from ioukit.typing import BoxFormat, FloatArray

__all__ = ["OverlapPairs", "join_corners", "join_measure", "join_threshold", "least_computed", "overlap_join"]

_MOST_BOXES = 2**31 - 1


@dataclass(frozen=True, eq=False, repr=False)
class OverlapPairs:
    """The pairs of two sets of boxes whose overlap reaches a threshold, sorted by row and then by column.

    If a set is joined with itself, each pair occurs once, with ``row < column``. The arrays are read-only.
    """

    rows: NDArray[np.int64]
    """(P,) positions in the first set, ascending."""
    columns: NDArray[np.int64]
    """(P,) positions in the second set, ascending within a row."""
    values: FloatArray
    """(P,) the overlap of each pair, in the dtype of the dense functions."""
    shape: tuple[int, int]
    """(N, M), the shape of the table of all pairs."""

    def __post_init__(self) -> None:
        for array in (self.rows, self.columns, self.values):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<OverlapPairs: {len(self):,} of {self.shape[0]:,} x {self.shape[1]:,} pairs, {self.values.dtype}>"

    def to_pairs(self) -> NDArray[np.int64]:
        """(P, 2) the row and the column of each pair."""
        return np.stack([self.rows, self.columns], axis=1)

    def offsets(self) -> NDArray[np.int64]:
        """(N + 1,) where the pairs of each row begin: row ``i`` has the pairs ``offsets[i]:offsets[i + 1]``."""
        return np.searchsorted(self.rows, np.arange(self.shape[0] + 1)).astype(np.int64, copy=False)

    def to_csr(self) -> Any:
        """The pairs as a `scipy.sparse.csr_array` of this shape. All other entries are 0.

        Raises:
            ModuleNotFoundError: If SciPy is not installed; the message names the extra.
        """
        sparse = import_extra("scipy", extra="sparse", needed_by="OverlapPairs.to_csr").sparse
        return sparse.csr_array((self.values, self.columns, self.offsets()), shape=self.shape, copy=True)


def overlap_join(
    boxes1: BoxesLike,
    boxes2: BoxesLike | None = None,
    *,
    min_iou: float,
    metric: OverlapMetric = "iou",
    of: Literal["second", "first"] | None = None,
    labels1: ArrayLike | None = None,
    labels2: ArrayLike | None = None,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> OverlapPairs:
    """The pairs of boxes whose overlap is at least ``min_iou``, and their overlaps.

    These are exactly the pairs for which ``pairwise_<metric>`` returns a value that is above 0 and ``>= min_iou``,
    compared as in NumPy, in the dtype of the values. The values have the same bits, and the order is that of
    ``numpy.nonzero``. Memory grows with the number of boxes and of found pairs, not with N x M. So does time, unless
    many boxes lie in one place and few of them are pairs.

    Boxes that only touch, and boxes without an area, have no overlap and are in no pair.

    Args:
        boxes1: `Boxes` or an array-like of shape (N, 4), in pixels or relative to the image. Or regions of another
            kind, such as `RotatedBoxes`, with ``"iou"``, ``"ioa"`` or ``"iom"``; their values are float64.
        boxes2: The same, of shape (M, 4), in the same unit. None joins ``boxes1`` with itself: each pair of two
            different boxes occurs once, as ``(i, j)`` with ``i < j``.
        min_iou: The smallest overlap of a pair, in the chosen ``metric``: above 0 and at most 1.
        metric: ``"iou"``, ``"ioa"``, ``"iom"``, ``"giou"``, ``"diou"`` or ``"ciou"``. The last three are IoU minus a
            penalty, so their pairs are a subset of the pairs of IoU at the same threshold.
        of: For ``"ioa"`` only, the box whose area divides: ``"second"`` (the default) or ``"first"``.
        labels1: (N,) integers, such as classes or images. Only boxes with equal labels can be pairs.
        labels2: (M,) integers; required if both ``labels1`` and ``boxes2`` are given.
        format: The format of plain arrays: ``"xyxy"`` (two corners, the default), ``"xywh"`` (the corner with the
            smallest x and y, and the size) or ``"cxcywh"`` (centre and size). `Boxes` have their own format, which this
            must not contradict.
        check: Whether plain arrays are checked. If False, boxes that are not valid give pairs without meaning.
        threads: How many threads may work; by default one per core. It does not change a bit of the result.

    Returns:
        The pairs, sorted by row and then by column.

    Raises:
        ValueError: If ``min_iou`` is not in (0, 1], the metric is unknown, a shape does not fit, only one set has
            labels, formats or units contradict each other, or a box is not valid. The message names the first such box.
        TypeError: If an argument has the wrong type.

    Examples:
        >>> from ioukit import overlap_join
        >>> pairs = overlap_join([[0, 0, 2, 2], [8, 8, 9, 9]], [[0, 0, 1, 2], [1, 1, 3, 3]], min_iou=0.1)
        >>> pairs
        <OverlapPairs: 2 of 2 x 2 pairs, float64>
        >>> pairs.to_pairs()
        array([[0, 0],
               [0, 1]])
        >>> pairs.values
        array([0.5       , 0.14285714])

    Reference: the threshold bounds the sides and the positions of a pair, as prefix filters bound the sets of a
    similarity join (Bayardo et al., Scaling Up All Pairs Similarity Search, WWW 2007). Grids, one for each size of
    boxes, find the candidates.
    """
    measure = join_measure(metric, of)
    least = join_threshold(min_iou)
    engine = engines.engine_of(boxes1, boxes1 if boxes2 is None else boxes2)
    if engine is not None:
        if format is not None:
            raise ValueError(f"format is for upright boxes, not for {type(boxes1).__name__}")
        return _regions_join(engine, measure, least, boxes1, boxes2, labels1, labels2, threads)
    sets = corners_on_host(boxes1, boxes1 if boxes2 is None else boxes2, format, check)
    for name, boxes in (("boxes1", sets.boxes1), ("boxes2", sets.boxes2)):
        if boxes.ndim != 2:
            raise ValueError(f"{name} must have shape (N, 4), got {boxes.shape}")
        if len(boxes) > _MOST_BOXES:
            raise ValueError(f"{name} has {len(boxes):,} boxes, more than the {_MOST_BOXES:,} that a join can number")
    codes1, codes2 = _both_labels(labels1, labels2, sets.boxes1, None if boxes2 is None else sets.boxes2)
    second = None if boxes2 is None else sets.boxes2
    found = join_corners(measure, least, sets.dtype, sets.boxes1, second, codes1, codes2, check_threads(threads))
    return OverlapPairs(*found, (len(sets.boxes1), len(sets.boxes2)))


def join_corners(
    measure: Measure,
    least: float,
    dtype: np.dtype[Any],
    first: FloatArray,
    second: FloatArray | None,
    labels1: NDArray[np.int64] | None,
    labels2: NDArray[np.int64] | None,
    threads: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]:
    """The rows, columns and values of the pairs of checked corners.

    Args:
        measure: The overlap.
        least: The smallest value of a pair.
        dtype: The dtype of the values.
        first: (N, 4) xyxy, contiguous, in the computing dtype of ``dtype``.
        second: (M, 4) the same; None joins ``first`` with itself.
        labels1: (N,)
        labels2: (M,)
        threads: How many threads may work, 0 for one per core.
    """
    low = least_computed(least, dtype)
    rows, columns, values = _core.overlap_join(measure.variant, low, first, second, labels1, labels2, threads)
    if values.dtype != dtype:
        values = values.astype(dtype)
        reached = values >= max(dtype.type(least), np.nextafter(dtype.type(0), dtype.type(1)))
        rows, columns, values = rows[reached], columns[reached], values[reached]
    return rows, columns, values


def _regions_join(
    engine: engines.Engine,
    measure: Measure,
    least: float,
    regions1: Any,
    regions2: Any,
    labels1: ArrayLike | None,
    labels2: ArrayLike | None,
    threads: int | None,
) -> OverlapPairs:
    engines.check_measure(measure, regions1)
    first = _region_join.region_set(regions1, None)
    second = None if regions2 is None else _region_join.region_set(regions2, None)
    codes1, codes2 = _both_labels(labels1, labels2, first.bounds, None if second is None else second.bounds)
    first = first._replace(labels=codes1)
    second = None if second is None else second._replace(labels=codes2)
    found = _region_join.join(engine.pairs, measure.variant, least, first, second, check_threads(threads))
    return OverlapPairs(*found, (len(first.bounds), len((second or first).bounds)))


def join_measure(metric: str, of: str | None) -> Measure:
    """The measure of a join.

    Raises:
        ValueError: If a threshold within (0, 1] does not bound it, or it is unknown.
    """
    if metric == "intersection":
        raise ValueError(
            "metric='intersection' is an area, which no threshold within (0, 1] bounds; "
            f"choose from {', '.join(METRICS)}"
        )
    return measure_of(metric, of)


def join_threshold(min_iou: float) -> float:
    """The checked threshold of a join.

    Raises:
        ValueError: If it is not in (0, 1].
        TypeError: If it is not a number.
    """
    try:
        least = float(min_iou)
    except (TypeError, ValueError):
        raise TypeError(f"min_iou must be a number, got {type(min_iou).__name__}") from None
    if not 0 < least <= 1:  # also NaN
        raise ValueError(
            f"min_iou must be above 0 and at most 1, got {least:g}: a pair without an intersection never counts, and "
            "only a positive threshold bounds how far apart two boxes may lie"
        )
    return least


def least_computed(least: float, dtype: np.dtype[Any]) -> float:
    """The smallest value, in the computing dtype, that may be ``least`` or more in the dtype of the result."""
    kind = dtype.type
    rounded = max(kind(least), np.nextafter(kind(0), kind(1)))  # no positive threshold rounds to 0
    if dtype != np.float16:
        return float(rounded)
    # Values from half way to the float16 below may round up to it.
    return (float(np.nextafter(rounded, kind(0))) + float(rounded)) / 2


def _both_labels(
    labels1: ArrayLike | None, labels2: ArrayLike | None, first: FloatArray, second: FloatArray | None
) -> tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]:
    if second is None:
        if labels2 is not None:
            raise ValueError("labels2 are given without boxes2: a join of boxes1 with itself takes labels1 alone")
        return (None if labels1 is None else _labels("labels1", labels1, first)), None
    if (labels1 is None) != (labels2 is None):
        given, missing = ("labels2", "labels1") if labels1 is None else ("labels1", "labels2")
        raise ValueError(f"{given} are given without {missing}: label both sets, or neither")
    if labels1 is None or labels2 is None:
        return None, None
    return _labels("labels1", labels1, first), _labels("labels2", labels2, second)


def _labels(name: str, labels: ArrayLike, boxes: FloatArray) -> NDArray[np.int64]:
    return integer_column(name, labels, len(boxes), each="one label per box")
