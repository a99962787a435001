"""Precision, recall and scores along the curve of every category.

Owns the layout of the curves and what a protocol asks of the core's drawing. Does not own the drawing (accumulate.rs,
drawer.rs), numbers that need all points of a curve (analysis/_whole_curves.py), curves of objects that choose
(object_choice.py), and means (summary.py).

Of classes there may be hundreds of thousands, and most may have nothing in a data set. So only the categories with
objects or detections have curves, and a curve is kept as its steps, of which there are no more than true positives.
Arrays with pycocotools' axes are made when they are asked for, and one measure needs those of one area range and cap.

They lie in memory one category after another, and have pycocotools' axes by a transposed view. Both matter for the last
bit: NumPy adds in the order of memory, and pycocotools' sums are the reference. So nothing here may copy an array into
another order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._boundary import DrawingColumns, OutcomeColumns
from ioukit._checks import check_threads
from ioukit._columns import Frozen, frozen, record
from ioukit.datasets import Categories
from ioukit.evaluation.protocols import Protocol
from ioukit.evaluation.table import MatchTable

Floats: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"

_POINTS = 1 << 20
"""How many points are written out at a time, where they are only to be added."""
_STEPS: dict[str, Any] = {"reached": np.uint32, "precision": np.float64, "scores": np.float64}
"""The columns of :class:`CurveSteps` behind ``ends``."""
_STEP_BYTES, _CURVE_BYTES = 20, 24
"""Of a step; and of a curve without its steps: where they end, its recall, and the area below it."""
_TOGETHER = 256
"""Categories whose points are written out at a time where all of them are needed, one after another."""


@record(frozen=True, eq=False, repr=False)
class CurveSteps(Frozen):
    """The points of C curves as steps: recall thresholds with the same precision and the same score."""

    ends: npt.NDArray[np.uint64]
    """(C,) where the steps of each curve end; those of the next one begin there."""
    reached: npt.NDArray[np.uint32]
    """(S,) how many recall thresholds are reached with each step. Behind the last one, the values are 0."""
    precision: Floats
    """(S,)"""
    scores: Floats
    """(S,)"""

    @classmethod
    def joined(cls, drawn: Sequence[Mapping[str, npt.NDArray[Any]]]) -> CurveSteps:
        """The steps of what the core drew, one after another."""
        if len(drawn) == 1:
            (one,) = drawn
            return cls(one["ends"].ravel(), one["reached"], one["precision"], one["scores"])
        first = np.cumsum([0, *(len(one["reached"]) for one in drawn)]).astype(np.uint64)
        ends = [one["ends"].ravel() + start for one, start in zip(drawn, first, strict=False)]
        columns = {name: [one[name] for one in drawn] for name in ("reached", "precision", "scores")}
        empty = {"reached": np.zeros(0, np.uint32), "precision": np.zeros(0), "scores": np.zeros(0)}
        return cls(
            np.concatenate([np.zeros(0, np.uint64), *ends]),
            *(np.concatenate([empty[name], *parts]) for name, parts in columns.items()),
        )

    @classmethod
    def of_points(cls, precision: Floats, scores: Floats) -> CurveSteps:
        """Each of the (..., R) points is a step."""
        count, size = precision[..., 0].size, precision.shape[-1]
        reached = np.tile(np.arange(1, size + 1, dtype=np.uint32), count)
        return cls(np.arange(1, count + 1, dtype=np.uint64) * size, reached, precision.ravel(), scores.ravel())

    def points(self, quantity: str, recall: Floats, curves: npt.NDArray[np.intp], size: int) -> Floats:
        """The (..., R) precision or scores of curves at ``size`` recall thresholds.

        Args:
            quantity: ``"precision"`` or ``"scores"``.
            recall: The recall of each of the C curves, NaN where it is undefined: then the points are, too.
            curves: Positions of curves; -1 for one that is undefined.
            size: The number of recall thresholds.
        """
        values = getattr(self, quantity)
        found: Floats = _core.curve_points(self.ends, self.reached, values, recall.ravel(), curves.ravel(), size)
        return found.reshape(*curves.shape, size)


@record(frozen=True, eq=False, repr=False)
class Curves(Frozen):
    """The curves of every category, at every IoU threshold, in every area range and with every cap.

    Axes: T IoU thresholds, R recall thresholds, K categories, A area ranges, M caps on detections. All values are NaN
    where a category has no objects to find; pycocotools has -1 there. If the protocol takes a mean over the categories
    with objects or detections, the values are 0 where a category has no objects to find but a detection that counts.
    """

    protocol: Protocol
    """The rules."""
    categories: Categories
    """(K,) the categories; a single one for all if the protocol is class-agnostic."""
    # One category after another in memory. Copies keep this layout, so their sums have the same bits.
    _drawn: npt.NDArray[np.intp]  # (D,) the categories that have curves
    _steps: CurveSteps
    _recall: Floats  # (D, A, M, T)
    _area: Floats | None
    _others: Mapping[str, Floats] = field(default_factory=dict)  # (K, A, M, T)

    @cached_property
    def precision(self) -> Floats:
        """(T, R, K, A, M) highest precision at this recall or a higher one; 0 where the recall is not reached."""
        return self._points_of_all("precision")

    @cached_property
    def recall(self) -> Floats:
        """(T, K, A, M) recall after the last detection."""
        return self._of_all(self._recall)

    @cached_property
    def scores(self) -> Floats:
        """(T, R, K, A, M) score at which the recall is reached; 0 where it is not reached."""
        return self._points_of_all("scores")

    @property
    def miss_rate(self) -> Floats | None:
        """(T, K, A, M) log-average miss rate of each curve; ``None`` if no measure of the protocol is one."""
        return self.beside("MR")

    @property
    def jaccard(self) -> Floats | None:
        """(T, K, A, M) CrowdDet's Jaccard index; ``None`` if no measure of the protocol is one.

        It is NaN at all but the main IoU threshold.
        """
        return self.beside("JI")

    def beside(self, quantity: str) -> Floats | None:
        """(T, K, A, M) a quantity that is neither AP nor AR; ``None`` if no measure of the protocol is one."""
        array = self._others.get(quantity)
        return None if array is None else np.transpose(array, (3, 0, 1, 2))

    @cached_property
    def ap(self) -> Floats:
        """(T, K, A, M) average precision of each curve, by the protocol's integral."""
        if self._area is not None:
            return self._of_all(self._area)
        count, size = len(self._drawn), max(1, self._recall[:1].size)
        means = [
            self._means(np.arange(start * size, min(start + _TOGETHER, count) * size))
            for start in range(0, count, _TOGETHER)
        ]
        return self._of_all(np.concatenate([np.zeros(0), *means]).reshape(self._recall.shape))

    def at(self, quantity: str, area: int, cap: int, thresholds: slice = slice(None)) -> Floats:
        """The part of a quantity in one area range, with one cap and at some IoU thresholds.

        It is (T, R, K) of ``"precision"`` and ``"scores"``; (T, K) of ``"recall"``, ``"ap"`` and those of
        :meth:`beside`. This takes the memory of this part alone.
        """
        known = {"recall": self._recall, "ap": self._area, **self._others}.get(quantity)
        if known is not None:
            part = known[:, area, cap, thresholds]
            return np.asarray((self._spread(part) if len(known) == len(self._drawn) else part).T)
        places = self._places(area, cap, thresholds)
        if quantity == "ap":
            return np.asarray(self._spread(self._means(places.ravel()).reshape(places.shape)).T)
        return np.transpose(self._spread(self._points(quantity, places)), (1, 2, 0))

    def defined(
        self, quantity: str, area: int, cap: int, thresholds: slice, among: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.float64]:
        """(N,) the numbers of :meth:`at` that are not NaN, in its order, of some of the (K,) categories."""
        if not self._has_points(quantity):
            values = self.at(quantity, area, cap, thresholds)[..., among]
            return values[~np.isnan(values)]
        is_defined = ~np.isnan(self._recall[:, area, cap, thresholds])  # (D, T)
        is_defined &= among[self._drawn][:, None]
        rows = is_defined.any(axis=1)
        is_defined, places = is_defined[rows], self._places(area, cap, thresholds)[rows]
        size = len(self.protocol.recall_thresholds)
        # Few thresholds at a time if there are many classes: with 13,000 of them, all would take 100 MB once more.
        found, end = np.empty(np.count_nonzero(is_defined) * size), 0
        together = max(1, _POINTS // max(1, size * len(places)))
        for first in range(0, places.shape[1], together):
            part, chosen = places[:, first : first + together], is_defined[:, first : first + together]
            points = np.transpose(self._points(quantity, part), (1, 2, 0))
            start, end = end, end + np.count_nonzero(chosen) * size
            if chosen.all():
                found[start:end].reshape(points.shape)[:] = points
            else:
                found[start:end] = points[~np.isnan(points)]
        return found

    def means_of_classes(self, quantity: str, area: int, cap: int, thresholds: slice) -> npt.NDArray[np.float64]:
        """(K,) the mean of :meth:`at` for each category; NaN where one of its numbers is."""
        if not self._has_points(quantity):
            # Contiguous: the last bits of NumPy's sum depend on the layout in memory.
            return np.asarray(np.ascontiguousarray(self.at(quantity, area, cap, thresholds).T).mean(axis=1))
        places = self._places(area, cap, thresholds)
        means = np.full(len(places), np.nan)
        for start in range(0, len(places), _TOGETHER):
            points = self._points(quantity, places[start : start + _TOGETHER])
            means[start : start + _TOGETHER] = points.reshape(len(points), -1).mean(axis=1)
        return self._spread(means)

    def points_of(self, quantity: str, *at: npt.NDArray[np.intp]) -> Floats:
        """(C, R) precision or scores of C curves.

        Args:
            quantity: ``"precision"`` or ``"scores"``.
            at: (C,) positions of the category, the area range, the cap and the IoU threshold of each curve.
        """
        drawn = np.full(len(self.categories), -1)
        drawn[self._drawn] = np.arange(len(self._drawn))
        category, *others = at
        shape = (max(1, len(self._drawn)), *self._recall.shape[1:])
        places = np.ravel_multi_index((np.maximum(drawn[category], 0), *others), shape)
        return self._points(quantity, np.where(drawn[category] < 0, -1, places))

    def _has_points(self, quantity: str) -> bool:
        """Whether this is the precision of curves, and not that of a protocol that does not rank."""
        return quantity == "precision" and quantity not in self._others

    def _places(self, area: int, cap: int, thresholds: slice) -> npt.NDArray[np.intp]:
        """(D, T) the positions of curves."""
        count, areas, caps, size = self._recall.shape
        first = (np.arange(count) * areas + area) * caps + cap
        return np.asarray(first[:, None] * size + np.arange(size)[thresholds])

    def _points(self, quantity: str, places: npt.NDArray[np.intp]) -> Floats:
        """(..., R) the points of curves."""
        return self._steps.points(quantity, self._recall, places, len(self.protocol.recall_thresholds))

    def _means(self, places: npt.NDArray[np.intp]) -> Floats:
        """(C,) the mean precision of the points of curves."""
        points = self._points("precision", places)
        return _mean_of_points(points) if self.protocol.integral == "points" else points.mean(axis=-1)

    def _spread(self, values: Floats) -> Floats:
        """(K, ...) values of all categories from those that have curves."""
        if len(self._drawn) == len(self.categories):
            return values
        found = np.full((len(self.categories), *values.shape[1:]), np.nan)
        found[self._drawn] = values
        return found

    def _of_all(self, array: Floats) -> Floats:
        return frozen(np.transpose(self._spread(array), (3, 0, 1, 2)))

    def _points_of_all(self, quantity: str) -> Floats:
        places = np.arange(self._recall.size).reshape(self._recall.shape)
        return frozen(np.transpose(self._spread(self._points(quantity, places)), (3, 4, 0, 1, 2)))


def accumulate(table: MatchTable, *, threads: int | None = None) -> Curves:
    """Compute the curves of a match table.

    The detections of a category are sorted by score; those with equal scores by image and rank. Precision is
    ``tp / (tp + fp)``, with 2**-52 added to the denominator if the protocol asks for it. The precision at a recall is
    the highest precision at this recall or a higher one. Recall is ``tp / objects``.

    Args:
        table: The matches.
        threads: How many threads; all cores if ``None``. The result does not depend on it.
    """
    protocol, rows, every = table.protocol, table.detections, np.arange(len(table.evaluated))
    if protocol.objects_choose is not None:
        from ioukit.evaluation.object_choice import step_curves  # noqa: PLC0415 - COCO does not need it

        found = step_curves(table, protocol.objects_choose)
        return Curves(
            protocol,
            table.evaluated,
            every,
            CurveSteps.of_points(found["precision"], found["scores"]),
            found["recall"],
            None,
            {name: found[name] for name in ("AOS",) if name in found},
        )
    category, num_objects = table.evaluated_category(rows.category), table.num_objects
    has_rows: npt.NDArray[np.bool_] = np.asarray(num_objects.any(axis=1))
    has_rows[category] = True
    drawn = np.flatnonzero(has_rows)
    if len(drawn) < len(every):
        category, num_objects = (np.cumsum(has_rows, dtype=np.uint32) - 1)[category], num_objects[drawn]
    arrays: dict[str, npt.NDArray[Any]] = _core.accumulate(
        OutcomeColumns(
            category=category,
            rank=rows.rank,
            score=rows.score,
            matched=rows.matched,
            ignored=rows.ignored,
            num_objects=num_objects.astype(np.uint64),
        ),
        drawing_of(protocol),
        check_threads(threads),
    )
    others: dict[str, Floats] = {}
    if protocol.needs_whole_curves:
        from ioukit.evaluation.analysis._whole_curves import whole_curves  # noqa: PLC0415 - COCO does not need it

        others = whole_curves(table)
        arrays |= {name: others.pop(name)[drawn] for name in ("area",) if name in others}
    if not protocol.ranks:
        arrays["area"] = np.full(arrays["recall"].shape, np.nan)
    if protocol.zero_if_detected:
        found_nothing = _only_detected(table)[drawn]
        for name in {"recall", "area"} & arrays.keys():
            arrays[name][found_nothing] = 0.0
    return Curves(
        protocol, table.evaluated, drawn, CurveSteps.joined([arrays]), arrays["recall"], arrays.get("area"), others
    )


def curves_of(table: MatchTable, drawn: Iterable[Mapping[str, npt.NDArray[Any]]]) -> Curves:
    """The curves of all categories from those of groups of them in their order, as the core draws them.

    They are copied to one place, and each group is let go then: together they may be most of the memory.
    """
    protocol, num_objects = table.protocol, table.num_objects
    shape = (*num_objects.shape, len(protocol.max_dets), len(protocol.iou_thresholds))
    found = {name: np.empty(most_steps(protocol, num_objects).sum(), kind) for name, kind in _STEPS.items()}
    found |= {"ends": np.empty(shape, np.uint64), "recall": np.empty(shape)}
    count = step = 0
    for one in drawn:
        recall = one["recall"].reshape(-1, *shape[1:])
        behind, last = count + len(recall), step + len(one["reached"])
        for name in {"recall", "area"} & one.keys():
            found.setdefault(name, np.empty(shape))[count:behind] = one[name].reshape(recall.shape)
        found["ends"][count:behind] = one["ends"].reshape(recall.shape) + np.uint64(step)
        for name in _STEPS:
            found[name][step:last] = one[name]
        count, step = behind, last
    steps = CurveSteps(found["ends"].ravel(), *(found[name][:step] for name in _STEPS))
    return Curves(protocol, table.evaluated, np.arange(count), steps, found["recall"], found.get("area"))


def most_steps(protocol: Protocol, num_objects: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int64]:
    """(E,) the most steps that the curves of each category have, if it has (E, A) objects to find.

    A step begins at a recall threshold, and no more of these than there are objects, and the threshold 0, need
    different detections. Lines between the points of a curve have another value at every threshold.
    """
    thresholds = len(drawing_of(protocol).recall_thresholds)
    apart = thresholds if "trapezoid" in protocol.integral else np.minimum(num_objects.astype(np.int64) + 1, thresholds)
    reached = np.where(num_objects > 0, apart, 0).sum(axis=1, dtype=np.int64)
    return np.asarray(reached * len(protocol.max_dets) * len(protocol.iou_thresholds))


def bytes_of_curves(protocol: Protocol, num_objects: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int64]:
    """(E,) the most memory that the curves of each category take."""
    curves = num_objects[:1].size * len(protocol.max_dets) * len(protocol.iou_thresholds)
    return most_steps(protocol, num_objects) * _STEP_BYTES + curves * _CURVE_BYTES


def bytes_of_points(protocol: Protocol, num_objects: npt.NDArray[np.integer[Any]]) -> int:
    """The most memory that a measure takes beside the curves: NumPy adds up all of its points at once."""
    defined = int((num_objects > 0).sum(axis=0).max(initial=0))
    return defined * len(protocol.iou_thresholds) * len(protocol.recall_thresholds) * 8


def drawing_of(protocol: Protocol) -> DrawingColumns:
    """How the core draws the curves of a protocol."""
    return DrawingColumns(
        num_thresholds=len(protocol.iou_thresholds),
        recall_thresholds=np.array(protocol.recall_thresholds or (0.0,)),
        caps=np.array(protocol.max_dets, np.uint32),
        caps_over_all_images=protocol.cap_scope == "category",
        plain_precision=not protocol.precision_epsilon,
        integral=protocol.integral,
    )


def _mean_of_points(precision: Floats) -> Floats:
    """The mean along the last axis, each number divided before they are added one by one."""
    total = np.zeros(precision.shape[:-1])
    for point in range(precision.shape[-1]):
        total += precision[..., point] / precision.shape[-1]
    return total


def _only_detected(table: MatchTable) -> npt.NDArray[np.bool_]:
    """(K, A, M, T) where a category has nothing to find, and a detection that counts."""
    empty = table.num_objects == 0
    category = table.evaluated_category(table.detections.category)
    _, wrong = table.count_positives(np.flatnonzero(empty[category].any(axis=1)))
    return np.asarray((wrong > 0) & empty[:, :, None, None])
