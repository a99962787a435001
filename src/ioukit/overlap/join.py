"""The sparse join: pairs of boxes whose overlap reaches a threshold, without the table of all pairs.

Native code joins upright boxes. For other regions it joins the boxes around them, in blocks of rows. Areas then rule
out further pairs, and the engine of the kind measures those that are left.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ioukit import _core
from ioukit._array_types import Ids
from ioukit._checks import check_threads, integer_column
from ioukit._optional import import_extra
from ioukit.overlap._arguments import corners_on_host
from ioukit.overlap.engines import engine as engines
from ioukit.overlap.variants import METRICS, Measure, OverlapMetric, measure_of
from ioukit.regions import Boxes

if TYPE_CHECKING:
    from collections.abc import Callable, Sized

    from numpy.typing import ArrayLike, NDArray

    from ioukit.overlap.engines.engine import Engine
    from ioukit.regions import BoxesLike, Regions
    from ioukit.typing import BoxFormat, FloatArray


_MOST_BOXES = 2**31 - 1  # the native module numbers boxes in 32 bits

# Of regions other than upright boxes:
_CANDIDATES = 1 << 20  # the number of candidate pairs in memory at a time, roughly; a choice
_FIRST_ROWS = 1 << 12  # the rows of the first block, which shows how many candidates a row has; a choice
_AREAS = (2.0**-100, 2.0**120)  # between these bounds an area is exact except for a few roundings, also in float32
_LEAST = 5e-324  # the smallest positive threshold: with it, a join finds every pair of boxes with an intersection


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
    rows: slice | None = None,
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
        rows: Only the pairs of these boxes of ``boxes1``, such as ``slice(0, 100_000)``, for pairs that do not fit into
            memory together. Slices that follow each other give all pairs in order. Each call looks at all of
            ``boxes2``.
        format: The format of plain arrays: ``"xyxy"`` (two corners, the default), ``"xywh"`` (the corner with the
            smallest x and y, and the size) or ``"cxcywh"`` (centre and size). `Boxes` have their own format, which this
            must not contradict.
        check: Whether plain arrays are checked. If False, boxes that are not valid give pairs without meaning.
        threads: How many threads may work; by default one per core. It does not change a bit of the result.

    Returns:
        The pairs, sorted by row and then by column.

    Raises:
        ValueError: If ``min_iou`` is not in (0, 1], the metric is unknown, a shape does not fit, only one set has
            labels, ``rows`` has a step, formats or units contradict each other, or a box is not valid. The message
            names the first such box.
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
        return _regions_join(engine, measure, least, boxes1, boxes2, labels1, labels2, rows, threads)
    sets = corners_on_host(boxes1, boxes1 if boxes2 is None else boxes2, format, check)
    for name, boxes in (("boxes1", sets.boxes1), ("boxes2", sets.boxes2)):
        if boxes.ndim != 2:
            raise ValueError(f"{name} must have shape (N, 4), got {boxes.shape}")
        if len(boxes) > _MOST_BOXES:
            raise ValueError(f"{name} has {len(boxes):,} boxes, more than the {_MOST_BOXES:,} that a join can number")
    codes1, codes2 = _both_labels(labels1, labels2, sets.boxes1, None if boxes2 is None else sets.boxes2)
    second = None if boxes2 is None else sets.boxes2
    join = partial(_join_corners, measure, least, sets.dtype, check_threads(threads))
    if rows is None:
        found = join(sets.boxes1, second, codes1, codes2)
    else:
        found = _joined_rows(join, sets.boxes1, second, codes1, codes2, *_bounds_of(rows, len(sets.boxes1)))
    return OverlapPairs(*found, (len(sets.boxes1), len(sets.boxes2)))


def _join_corners(
    measure: Measure,
    least: float,
    dtype: np.dtype[Any],
    threads: int,
    first: FloatArray,
    second: FloatArray | None,
    labels1: Ids | None,
    labels2: Ids | None,
) -> tuple[Ids, Ids, FloatArray]:
    """The rows, columns and values of the pairs of checked corners.

    Args:
        measure: The overlap.
        least: The smallest value of a pair.
        dtype: The dtype of the values.
        threads: How many threads may work, 0 for one per core.
        first: (N, 4) xyxy, contiguous, in the computing dtype of ``dtype``.
        second: (M, 4) the same; None joins ``first`` with itself.
        labels1: (N,)
        labels2: (M,)
    """
    low = least_computed(least, dtype)
    rows, columns, values = _core.overlap_join(measure.variant, low, first, second, labels1, labels2, threads)
    if values.dtype != dtype:
        values = values.astype(dtype)
        reached = values >= max(dtype.type(least), np.nextafter(dtype.type(0), dtype.type(1)))
        rows, columns, values = rows[reached], columns[reached], values[reached]
    return rows, columns, values


def _bounds_of(rows: slice, count: int) -> tuple[int, int]:
    """The first of these rows, and the one after the last."""
    if not isinstance(rows, slice):
        raise TypeError(f"rows must be a slice, such as slice(0, 1000), got {type(rows).__name__}")
    start, stop, step = rows.indices(count)
    if step != 1:
        raise ValueError(f"rows must be a slice of rows that follow each other, got the step {step}")
    return start, max(start, stop)


def _joined_rows(
    join: Callable[..., tuple[Ids, Ids, FloatArray]],
    first: FloatArray,
    second: FloatArray | None,
    labels1: Ids | None,
    labels2: Ids | None,
    start: int,
    stop: int,
) -> tuple[Ids, Ids, FloatArray]:
    """The pairs of the rows from ``start`` to ``stop``, by a function that joins two sets with their labels."""
    others, of_others, before = (first, labels1, start) if second is None else (second, labels2, 0)
    codes = None if labels1 is None else labels1[start:stop], None if of_others is None else of_others[before:]
    rows, columns, values = join(first[start:stop], others[before:], *codes)
    rows += start
    columns += before
    if second is None:
        ascending = rows < columns
        rows, columns, values = rows[ascending], columns[ascending], values[ascending]
    return rows, columns, values


def _regions_join(
    engine: Engine,
    measure: Measure,
    least: float,
    regions1: Any,
    regions2: Any,
    labels1: ArrayLike | None,
    labels2: ArrayLike | None,
    rows: slice | None,
    threads: int | None,
) -> OverlapPairs:
    engines.check_measure(measure, regions1)
    codes1, codes2 = _both_labels(labels1, labels2, regions1, regions2)
    first = _region_set(regions1, codes1)
    second = None if regions2 is None else _region_set(regions2, codes2)
    bounds = _bounds_of(slice(None) if rows is None else rows, len(first.bounds))
    found = _join_regions(engine, measure.variant, least, first, second, bounds, check_threads(threads))
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


@lru_cache(maxsize=64)  # NumPy's scalars take a third of a join of few boxes
def least_computed(least: float, dtype: np.dtype[Any]) -> float:
    """The smallest value, in the computing dtype, that may be ``least`` or more in the dtype of the result."""
    kind = dtype.type
    rounded = max(kind(least), np.nextafter(kind(0), kind(1)))  # no positive threshold rounds to 0
    if dtype != np.float16:
        return float(rounded)
    # Values from half way to the float16 below may round up to it.
    return (float(np.nextafter(rounded, kind(0))) + float(rounded)) / 2


def _both_labels(
    labels1: ArrayLike | None, labels2: ArrayLike | None, first: Sized, second: Sized | None
) -> tuple[Ids | None, Ids | None]:
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


def _labels(name: str, labels: ArrayLike, boxes: Sized) -> Ids:
    return integer_column(name, labels, len(boxes), each="one label per box")


class _RegionSet(NamedTuple):
    """Regions, (N, 4) corners of the boxes around them, and their labels."""

    regions: Regions
    bounds: FloatArray
    labels: Ids | None


def _region_set(regions: Regions, labels: Ids | None) -> _RegionSet:
    """Regions with boxes around them, which are widened: rounding may have made them too small."""
    bounds = Boxes(regions.to_boxes(), dtype=np.float64).numpy()
    margin = (np.abs(bounds[:, :2]) + np.abs(bounds[:, 2:])) * 2.0**-48
    bounds[:, :2] -= margin
    bounds[:, 2:] += margin
    return _RegionSet(regions, bounds, labels)


def _join_regions(
    engine: Engine,
    measure: str,
    least: float,
    first: _RegionSet,
    second: _RegionSet | None,
    bounds: tuple[int, int],
    threads: int,
) -> tuple[Ids, Ids, FloatArray]:
    """Rows, columns and values of the pairs whose overlap is above 0 and at least ``least``.

    The values have the bits of the dense table.

    Args:
        engine: The engine of this kind.
        measure: ``"iou"``, ``"ioa_first"``, ``"ioa_second"`` or ``"iom"``.
        least: Within (0, 1].
        first: The regions that the rows count.
        second: The regions that the columns count; None for the pairs ``row < column`` of the first set with itself.
        bounds: The first of the rows that are joined, and the one after the last.
        threads: 0 for one per core.
    """
    found: list[tuple[Ids, Ids, FloatArray]] = []
    (start, last), size = bounds, _FIRST_ROWS
    areas = [np.asarray(part.regions.area, np.float64) for part in (first, second or first)]
    while start < last:
        stop = min(start + size, last)
        rows, columns = _candidates(first, second, start, stop, threads)
        # The next block should have about the wanted number of candidates.
        size = max(64, min(8 * size, int((stop - start) * _CANDIDATES / max(len(rows), 1))))
        near = _may_reach(measure, least, areas[0][rows], areas[1][columns])
        rows, columns = rows[near], columns[near]
        values = _measured(engine, measure, first, second or first, rows, columns, threads)
        reached = (values >= least) & (values > 0)
        found.append((rows[reached], columns[reached], values[reached]))
        start = stop
    if not found:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    rows, columns, values = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return rows, columns, values


def _candidates(first: _RegionSet, second: _RegionSet | None, start: int, stop: int, threads: int) -> tuple[Ids, Ids]:
    """The pairs whose boxes have an intersection, of the rows from ``start`` to ``stop``."""
    bounds, labels = (None, None) if second is None else (second.bounds, second.labels)

    def join(one: FloatArray, two: FloatArray, labels1: Ids | None, labels2: Ids | None) -> tuple[Ids, Ids, FloatArray]:
        return _core.overlap_join("iom", _LEAST, one, two, labels1, labels2, threads)

    rows, columns, _ = _joined_rows(join, first.bounds, bounds, first.labels, labels, start, stop)
    return rows, columns


def _measured(
    engine: Engine, measure: str, first: _RegionSet, second: _RegionSet, rows: Ids, columns: Ids, threads: int
) -> FloatArray:
    regions1, regions2 = first.regions, second.regions
    if not len(rows) or 2 * (int(rows[-1]) - int(rows[0])) >= len(regions1):
        return engine.pairs(measure, regions1, regions2, rows, columns, threads)
    # Only the regions of this block, because an engine may prepare every region it is given.
    low, high = int(rows[0]), int(rows[-1]) + 1
    used = np.zeros(len(regions2), np.bool_)
    used[columns] = True
    places = np.cumsum(used) - 1
    return engine.pairs(measure, regions1[low:high], regions2[used], rows - low, places[columns], threads)


def _may_reach(measure: str, least: float, first: FloatArray, second: FloatArray) -> NDArray[np.bool_]:
    """(P,) false where the two areas alone show that the overlap is too small: no intersection exceeds an area."""
    if measure == "iom":
        return np.ones(len(first), np.bool_)
    enough = least * (1 - 2.0**-20)  # areas may be rounded to float32
    smaller, larger = np.minimum(first, second), np.maximum(first, second)
    unsure = (smaller < _AREAS[0]) | (larger > _AREAS[1])
    if measure == "iou":
        return unsure | (smaller >= enough * larger)
    divisor, other = (first, second) if measure == "ioa_first" else (second, first)
    return unsure | (other >= enough * divisor)
