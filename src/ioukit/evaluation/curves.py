"""Precision, recall and scores along the curve of every category.

Owns the layout of the curves and what a protocol asks of the core's drawing. Does not own the drawing (accumulate.rs,
drawer.rs), numbers that need all points of a curve (analysis/_whole_curves.py), curves of objects that choose
(object_choice.py), and means (summary.py).

The arrays lie in memory as the core draws them, one category after another, and have pycocotools' axes by a transposed
view. Both matter for the last bit: NumPy adds in the order of memory, and pycocotools' sums are the reference. So
nothing here may copy an array into another order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._boundary import DrawingColumns, OutcomeColumns
from ioukit._checks import check_threads
from ioukit._columns import Frozen, record
from ioukit.datasets import Categories
from ioukit.evaluation.protocols import Protocol
from ioukit.evaluation.table import MatchTable

Floats: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"


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
    _precision: Floats
    _recall: Floats
    _scores: Floats
    _area: Floats | None
    _others: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def precision(self) -> Floats:
        """(T, R, K, A, M) highest precision at this recall or a higher one; 0 where the recall is not reached."""
        return np.transpose(self._precision, (3, 4, 0, 1, 2))

    @property
    def recall(self) -> Floats:
        """(T, K, A, M) recall after the last detection."""
        return np.transpose(self._recall, (3, 0, 1, 2))

    @property
    def scores(self) -> Floats:
        """(T, R, K, A, M) score at which the recall is reached; 0 where it is not reached."""
        return np.transpose(self._scores, (3, 4, 0, 1, 2))

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

    @property
    def ap(self) -> Floats:
        """(T, K, A, M) average precision of each curve, by the protocol's integral."""
        if self._area is not None:
            return np.transpose(self._area, (3, 0, 1, 2))
        if self.protocol.integral == "points":
            return np.transpose(_mean_of_points(self._precision), (3, 0, 1, 2))
        return np.transpose(self._precision.mean(axis=-1), (3, 0, 1, 2))


def accumulate(table: MatchTable, *, threads: int | None = None) -> Curves:
    """Compute the curves of a match table.

    The detections of a category are sorted by score; those with equal scores by image and rank. Precision is
    ``tp / (tp + fp)``, with 2**-52 added to the denominator if the protocol asks for it. The precision at a recall is
    the highest precision at this recall or a higher one. Recall is ``tp / objects``.

    Args:
        table: The matches.
        threads: How many threads; all cores if ``None``. The result does not depend on it.
    """
    protocol, rows = table.protocol, table.detections
    if protocol.objects_choose is not None:
        from ioukit.evaluation.object_choice import step_curves  # noqa: PLC0415 - COCO does not need it

        drawn = step_curves(table, protocol.objects_choose)
        return Curves(protocol, table.evaluated, drawn["precision"], drawn["recall"], drawn["scores"], None)
    arrays: dict[str, npt.NDArray[Any]] = _core.accumulate(
        OutcomeColumns(
            category=table.evaluated_category(rows.category),
            rank=rows.rank,
            score=rows.score,
            matched=rows.matched,
            ignored=rows.ignored,
            num_objects=table.num_objects.astype(np.uint64),
        ),
        drawing_of(protocol),
        check_threads(threads),
    )
    others: dict[str, Floats] = {}
    if protocol.needs_whole_curves:
        from ioukit.evaluation.analysis._whole_curves import whole_curves  # noqa: PLC0415 - COCO does not need it

        others = whole_curves(table)
        arrays |= {name: others.pop(name) for name in ("area",) if name in others}
    if not protocol.ranks:  # the core draws at least one point
        arrays |= {name: arrays[name][..., :0] for name in ("precision", "scores")}
        arrays["area"] = np.full(arrays["recall"].shape, np.nan)
    if protocol.zero_if_detected:
        found_nothing = _only_detected(table)
        for array in arrays.values():
            array[found_nothing] = 0.0
    return Curves(
        protocol, table.evaluated, arrays["precision"], arrays["recall"], arrays["scores"], arrays.get("area"), others
    )


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
