"""The numbers of the summary, computed from the curves."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ioukit.datasets import Categories
from ioukit.evaluation.curves import Curves
from ioukit.evaluation.protocols import Measure, Protocol

__all__ = ["in_group", "select", "summarise", "summarise_classes", "table", "value_of", "values_of_classes"]


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
    return np.where(in_group(curves.categories, curves.protocol, measure), means, np.nan)


def select(curves: Curves, measure: Measure) -> npt.NDArray[np.float64]:
    """The part of the curves that a measure is the mean of: (T, R, K) or (T, K), empty if the protocol lacks it.

    Of a measure of a group, K are the categories of the group.
    """
    chosen = _selected(curves, measure)
    return chosen if measure.group is None else chosen[..., in_group(curves.categories, curves.protocol, measure)]


def in_group(categories: Categories, protocol: Protocol, measure: Measure) -> npt.NDArray[np.bool_]:
    """(K,) whether each category is in the group of a measure; all are if it has none."""
    if measure.group is None:
        return np.ones(len(categories), np.bool_)
    groups = categories.column(protocol.category_groups)
    if groups is None:
        return np.zeros(len(categories), np.bool_)
    return np.asarray(groups == measure.group)


def _selected(curves: Curves, measure: Measure) -> npt.NDArray[np.float64]:
    """The same for all categories, without a group."""
    protocol = curves.protocol
    if measure.quantity == "AR":
        array = curves.recall
    elif measure.quantity != "AP":
        others = curves.miss_rate if measure.quantity == "MR" else curves.jaccard
        array = np.zeros((0, *curves.recall.shape[1:])) if others is None else others
    else:
        array = curves.precision if protocol.integral == "recalls" else curves.ap
    if not protocol.defines(measure):
        return array[:0, ..., 0, 0]
    area = protocol.position_of_area(protocol.main_area if measure.area_range is None else measure.area_range)
    cap = protocol.position_of_max_dets(protocol.main_max_dets if measure.max_dets is None else measure.max_dets)
    array = array[..., area, cap]
    if measure.iou_threshold is None:
        return array if protocol.objects_choose is None else _at_own_thresholds(array, curves)
    at = protocol.position_of_iou(measure.iou_threshold)
    return array[at : at + 1]


def _at_own_thresholds(array: npt.NDArray[np.float64], curves: Curves) -> npt.NDArray[np.float64]:
    """(1, ..., K) the part at the IoU threshold of each category; NaN for a category without one."""
    choice = curves.protocol.objects_choose
    found = np.full((1, *array.shape[1:]), np.nan)
    for at, name in enumerate(curves.categories.names):
        threshold = None if choice is None else choice.threshold_of(name)
        if threshold is not None:
            found[0, ..., at] = array[curves.protocol.position_of_iou(threshold), ..., at]
    return found


def _mean(values: npt.NDArray[np.float64], protocol: Protocol) -> float:
    if protocol.mean_over == "all":
        return float(np.mean(np.nan_to_num(values, nan=0.0))) if values.size else float("nan")
    defined = values[~np.isnan(values)]
    return float(np.mean(defined)) if defined.size else float("nan")


def table(protocol: Protocol, summary: Mapping[str, float]) -> str:
    """The lines of the protocol's table; with COCO's protocol those of pycocotools.

    An undefined number is -1.000. A measure has no line if the protocol lacks its threshold, cap or area range.
    """
    return "\n".join(measure.text(summary[measure.key]) for measure in protocol.measures if protocol.defines(measure))
