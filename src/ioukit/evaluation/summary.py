"""The numbers of the summary, computed from the curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ioukit._boundary import ReadingColumns
from ioukit.datasets import Categories
from ioukit.evaluation.curves import Curves, drawing_of
from ioukit.evaluation.protocols import Measure, Protocol
from ioukit.evaluation.protocols.parts import NumberRules
from ioukit.evaluation.table import MatchTable

T = TypeVar("T", bound=np.floating[Any])


def summarise(curves: Curves) -> dict[str, float]:
    """The numbers of a protocol by their keys: each is the mean of a part of the curves, NaN where undefined.

    The mean is over the categories that have objects to find, or over all if the protocol says so. With COCO's
    protocol, sums are NumPy's over the same numbers in the same order as in pycocotools, so that the last bit agrees.
    """
    return {measure.key: value_of(curves, measure) for measure in curves.protocol.measures}


def value_of(curves: Curves, measure: Measure) -> float:
    """The number of one measure; NaN where it is undefined. It may be a measure that the protocol does not list."""
    return _mean(select(curves, measure), curves.protocol)


def summarise_classes(curves: Curves) -> list[dict[str, float]]:
    """The same numbers for each category alone; NaN if it has no objects to find."""
    columns = {measure.key: values_of_classes(curves, measure).tolist() for measure in curves.protocol.measures}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def values_of_classes(curves: Curves, measure: Measure) -> npt.NDArray[np.float64]:
    """(K,) the number of one measure for each category alone; NaN if it has no objects to find."""
    chosen = _selected(curves, measure)  # (T, R, K) or (T, K)
    count = chosen.shape[-1]
    # (K, T * R), contiguous: the last bits of NumPy's sum depend on the layout in memory.
    rows = np.ascontiguousarray(np.moveaxis(chosen, -1, 0).reshape(count, chosen[..., :1].size))
    means = rows.mean(axis=1) if rows.shape[1] else np.full(count, np.nan)
    return np.where(in_group(curves.categories, curves.protocol, measure.group), means, np.nan)


def select(curves: Curves, measure: Measure) -> npt.NDArray[np.float64]:
    """The part of the curves that a measure is the mean of: (T, R, K) or (T, K), empty if the protocol lacks it.

    Of a measure of a group, K are the categories of the group.
    """
    chosen = _selected(curves, measure)
    return chosen if measure.group is None else chosen[..., in_group(curves.categories, curves.protocol, measure.group)]


def in_group(categories: Categories, protocol: Protocol, group: str | None) -> npt.NDArray[np.bool_]:
    """(K,) whether each category is in a group; all are in ``None``."""
    if group is None:
        return np.ones(len(categories), np.bool_)
    groups = categories.column(protocol.category_groups)
    return np.zeros(len(categories), np.bool_) if groups is None else np.asarray(groups == group)


def _selected(curves: Curves, measure: Measure) -> npt.NDArray[np.float64]:
    """The same for all categories, without a group."""
    protocol = curves.protocol
    quantity = {"AR": "recall", "AP": "precision" if protocol.integral == "recalls" else "ap"}.get(measure.quantity)
    if not protocol.defines(measure) or (quantity is None and curves.beside(measure.quantity) is None):
        return np.zeros((0, len(curves.categories)))
    at = slice(None)
    if measure.iou_threshold is not None:
        place = protocol.position_of_iou(measure.iou_threshold)
        at = slice(place, place + 1)
    array = curves.at(
        quantity or measure.quantity,
        protocol.position_of_area(protocol.area_of(measure)),
        protocol.position_of_max_dets(protocol.cap_of(measure)),
        at,
    )
    if measure.iou_threshold is not None or protocol.objects_choose is None:
        return array
    from ioukit.evaluation.object_choice import at_own_thresholds  # noqa: PLC0415 - COCO does not need it

    return at_own_thresholds(array, curves.categories, protocol, protocol.objects_choose)


def _mean(values: npt.NDArray[np.float64], protocol: Protocol) -> float:
    if protocol.counts_undefined:  # in the order of memory, unlike chosen values
        return float(np.mean(averaged(values, protocol))) if values.size else float("nan")
    defined = values[~np.isnan(values)]
    return float(np.mean(defined)) if defined.size else float("nan")


def averaged(values: npt.NDArray[T], rules: NumberRules) -> npt.NDArray[T]:
    """Values of categories as a mean takes them: NaN is left out, and is 0 first if the mean is over all categories."""
    return np.nan_to_num(values, nan=0.0) if rules.counts_undefined else values


def reading_of(table: MatchTable, measure: Measure) -> ReadingColumns:
    """How a measure is read from the curves of a table."""
    protocol = table.protocol
    drawing = drawing_of(protocol)
    return ReadingColumns(
        quantity="recall" if measure.quantity == "AR" else drawing.integral,
        recall_thresholds=drawing.recall_thresholds,
        plain_precision=drawing.plain_precision,
        zero_if_detected=protocol.zero_if_detected,
        thresholds=np.array(protocol.iou_positions_of(measure)),
        counted=in_group(table.evaluated, protocol, measure.group),
    )


def table(protocol: Protocol, summary: Mapping[str, float]) -> str:
    """The lines of the protocol's table; with COCO's protocol those of pycocotools.

    An undefined number is -1.000. A measure has no line if the protocol lacks its threshold, cap or area range.
    """
    return "\n".join(measure.text(summary[measure.key]) for measure in protocol.measures if protocol.defines(measure))
