"""The pairs of boxes that overlap enough, out of millions, without the table of all pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from ioukit import _core
from ioukit._checks import check_threads
from ioukit._optional import import_extra
from ioukit.overlap import _region_join
from ioukit.overlap._arguments import corners
from ioukit.overlap._measure import Measure, ioa
from ioukit.overlap.engines import engine as engines

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ioukit.regions import BoxesLike
    from ioukit.typing import BoxFormat, FloatArray

__all__ = ["JoinMetric", "OverlapPairs", "overlap_join"]

JoinMetric: TypeAlias = Literal["iou", "ioa", "iom", "giou", "diou", "ciou"]
"""The overlaps whose threshold says how near and how alike two boxes must be."""

METRICS: tuple[JoinMetric, ...] = get_args(JoinMetric)

_LARGEST_LABEL = np.iinfo(np.int64).max
_MOST_BOXES = 2**31 - 1


@dataclass(frozen=True, eq=False, repr=False)
class OverlapPairs:
    """The pairs of two sets of boxes that overlap enough, ordered by row and then by column.

    Of a set with itself, each pair is here once, with ``row < column``. The arrays are read-only.
    """

    rows: NDArray[np.int64]
    """(P,) positions in the first set, ascending."""
    columns: NDArray[np.int64]
    """(P,) positions in the second set, ascending within a row."""
    values: FloatArray
    """(P,) the overlap of each pair, in the dtype that the dense functions answer in."""
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
        """(P, 2) positions: a row and a column per pair."""
        return np.stack([self.rows, self.columns], axis=1)

    def offsets(self) -> NDArray[np.int64]:
        """(N + 1,) where the pairs of each row begin: row ``i`` has ``offsets[i]:offsets[i + 1]`` of every array."""
        return np.searchsorted(self.rows, np.arange(self.shape[0] + 1)).astype(np.int64, copy=False)

    def to_csr(self) -> Any:
        """The pairs as a `scipy.sparse.csr_array` of this shape; every entry it does not store is 0.

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
    metric: JoinMetric = "iou",
    of: Literal["second", "first"] | None = None,
    labels1: ArrayLike | None = None,
    labels2: ArrayLike | None = None,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> OverlapPairs:
    """The pairs of boxes whose overlap is at least ``min_iou``, and their overlaps.

    They are exactly the pairs for which ``pairwise_<metric>`` gives a value above 0 and ``>= min_iou`` (compared as
    NumPy does, in the dtype of the values), with the same bits, in the order of ``numpy.nonzero``. But memory grows
    with the boxes and the pairs found, never with N x M; time too, unless boxes crowd where few of them are pairs.

    Boxes that merely touch, and boxes without area, overlap nothing and are in no pair.

    Args:
        boxes1: `Boxes` or an array-like of shape (N, 4), in pixels or relative to the image. Or regions of another
            kind, such as `RotatedBoxes`, with ``"iou"``, ``"ioa"`` or ``"iom"``; their values are float64.
        boxes2: The same of shape (M, 4), in the same unit. Without it, `boxes1` is joined with itself: each pair of two
            boxes once, as ``(i, j)`` with ``i < j``, and no box with itself.
        min_iou: The least overlap of a pair, above 0 and at most 1, in whichever ``metric``.
        metric: ``"iou"``, ``"ioa"``, ``"iom"``, ``"giou"``, ``"diou"`` or ``"ciou"``. The last three are IoU less a
            penalty, so that their pairs are among those of IoU at the same threshold.
        of: For ``"ioa"`` only, whose area divides: ``"second"`` (the default) or ``"first"``.
        labels1: (N,) integers, such as classes or images. Only boxes with equal labels are pairs.
        labels2: (M,) integers, if and only if ``labels1`` is given and ``boxes2`` too.
        format: What plain arrays hold: ``"xyxy"`` (two corners, the default), ``"xywh"`` (the corner of least x
            and y, and the size) or ``"cxcywh"`` (centre and size). `Boxes` know their own, which it may not contradict.
        check: Whether plain arrays are checked. Without it, boxes that the check refuses give pairs without meaning.
        threads: How many threads may work, by default as many as there are cores. It changes no bit of the result.

    Returns:
        The pairs, ordered by row and then by column.

    Raises:
        ValueError: If ``min_iou`` is not in (0, 1], the metric is unknown, a shape does not fit, labels come with one
            set only, formats or units contradict each other, or a box is not valid; the message names the first such.
        TypeError: If an argument is of the wrong kind.

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

    Reference: the threshold bounds the sides and the places of a pair, as in the prefix filters of set similarity joins
    (Bayardo et al., Scaling Up All Pairs Similarity Search, WWW 2007); the rest is a grid per size of boxes.
    """
    variant = _variant(metric, of)
    least = _threshold(min_iou)
    engine = engines.engine_of(boxes1, boxes1 if boxes2 is None else boxes2)
    if engine is not None:
        if format is not None:
            raise ValueError(f"format is for upright boxes, not for {type(boxes1).__name__}")
        return _regions_join(engine, Measure(variant), least, boxes1, boxes2, labels1, labels2, threads)
    sets = corners(boxes1, boxes1 if boxes2 is None else boxes2, format, check)
    for name, boxes in (("boxes1", sets.boxes1), ("boxes2", sets.boxes2)):
        if boxes.ndim != 2:
            raise ValueError(f"{name} must have shape (N, 4), got {boxes.shape}")
        if len(boxes) > _MOST_BOXES:
            raise ValueError(f"{name} has {len(boxes):,} boxes, more than the {_MOST_BOXES:,} that a join can number")
    codes1, codes2 = _both_labels(labels1, labels2, sets.boxes1, None if boxes2 is None else sets.boxes2)
    second = None if boxes2 is None else sets.boxes2
    low = _reaching(least, sets.dtype)
    rows, columns, values = _core.overlap_join(
        variant, low, sets.boxes1, second, codes1, codes2, check_threads(threads)
    )
    if values.dtype != sets.dtype:
        values = values.astype(sets.dtype)
        reached = values >= max(sets.dtype.type(least), np.nextafter(sets.dtype.type(0), sets.dtype.type(1)))
        rows, columns, values = rows[reached], columns[reached], values[reached]
    return OverlapPairs(rows, columns, values, (len(sets.boxes1), len(sets.boxes2)))


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


def _variant(metric: str, of: str | None) -> str:
    """The native name."""
    if metric == "intersection":
        raise ValueError(
            "metric='intersection' is an area, which no threshold within (0, 1] bounds; "
            f"choose from {', '.join(METRICS)}"
        )
    if metric not in METRICS:
        raise ValueError(f"unknown metric {metric!r}; choose from {', '.join(METRICS)}")
    if metric == "ioa":
        return ioa(of or "second").variant
    if of is not None:
        raise ValueError(f"of={of!r} is for metric='ioa' alone, got metric={metric!r}")
    return metric


def _threshold(min_iou: float) -> float:
    try:
        least = float(min_iou)
    except (TypeError, ValueError):
        raise TypeError(f"min_iou must be a number, got {type(min_iou).__name__}") from None
    if not 0 < least <= 1:  # also NaN
        raise ValueError(
            f"min_iou must be above 0 and at most 1, got {least:g}: a pair without an intersection never counts, and "
            "only a positive threshold says how near two boxes must be"
        )
    return least


def _reaching(least: float, dtype: np.dtype[Any]) -> float:
    """The least value, in the dtype computed in, that may be ``least`` or more in the dtype of the result."""
    kind = dtype.type
    rounded = max(kind(least), np.nextafter(kind(0), kind(1)))  # no positive threshold rounds to 0
    if dtype != np.float16:
        return float(rounded)
    # Half way from the float16 before: values from there on may round up to it.
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
    array = np.asarray(labels)
    if array.shape == (0,) and array.dtype == np.float64 and not isinstance(labels, np.ndarray):
        array = array.astype(np.int64)  # an empty list has no dtype of its own
    if array.dtype.kind not in "iub":
        raise TypeError(f"{name} must be integers, got dtype {array.dtype}")
    if array.shape != boxes.shape[:1]:
        raise ValueError(f"{name} must have shape ({len(boxes)},), one label per box, got {array.shape}")
    if array.dtype.kind == "u" and array.dtype.itemsize == 8 and array.size and int(array.max()) > _LARGEST_LABEL:
        raise ValueError(f"{name} holds {int(array.max())}, beyond the largest label, 2**63 - 1")
    return np.ascontiguousarray(array, np.int64)
