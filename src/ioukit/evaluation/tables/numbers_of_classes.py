"""Tables of numbers: the summary, the classes, the curves and their points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.evaluation.analysis._quotient import quotient
from ioukit.evaluation.analysis.outcomes import Outcome
from ioukit.evaluation.protocols.parts import NO_CAP
from ioukit.evaluation.tables.columns import Values, missing, numbers, texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ioukit.evaluation.tables.source import Source

__all__ = ["curve_columns", "per_class_columns", "point_columns", "rates", "summary_columns"]


def rates(tp: NDArray[np.int64], fp: NDArray[np.int64], fn: NDArray[np.int64]) -> dict[str, Values]:
    """Counts, and the ratios computed from them."""
    return {
        "true_positives": Values(tp),
        "false_positives": Values(fp),
        "false_negatives": Values(fn),
        "precision": numbers(quotient(tp, tp + fp)),
        "recall": numbers(quotient(tp, tp + fn)),
        "f1": numbers(quotient(2 * tp, 2 * tp + fp + fn)),
    }


def summary_columns(source: Source) -> dict[str, Values]:
    """One row per measure."""
    protocol = source.matches.protocol
    measures = protocol.measures
    areas = [protocol.area_of(measure) for measure in measures]
    caps = [protocol.main_max_dets if one.max_dets is None else one.max_dets for one in measures]
    thresholds = [np.nan if one.iou_threshold is None else one.iou_threshold for one in measures]
    return {
        "measure": _listed([one.key for one in measures]),
        "value": numbers([source.evaluation.summary[one.key] for one in measures]),
        "quantity": _listed([one.quantity for one in measures]),
        "iou_threshold": numbers(thresholds),
        "area_range": _listed(areas),
        "max_dets": _caps(np.array(caps, np.int64)),
        "group": texts([one.group or "" for one in measures], np.arange(len(measures)), empty=False),
    }


def per_class_columns(source: Source) -> dict[str, Values]:
    """One row per category, with a column for each measure."""
    matches, became = source.matches, source.outcomes
    results, known = source.evaluation.per_class, matches.evaluated
    groups = known.column(matches.protocol.category_groups) if matches.protocol.category_groups else None
    sides = ((matches.detections, became.detections), (matches.objects, became.objects))
    kinds = ((0, Outcome.TRUE_POSITIVE), (0, Outcome.FALSE_POSITIVE), (1, Outcome.FALSE_NEGATIVE))
    counts = []
    for side, kind in kinds:
        rows, outcome = sides[side]
        found = matches.evaluated_category(rows.category[outcome == kind])
        counts.append(np.bincount(found, minlength=len(known)).astype(np.int64))
    before = {"category_id": Values(known.ids), "category": _listed(known.names)}
    behind = {
        "num_ground_truth": Values(np.array([one.num_ground_truth for one in results], np.int64)),
        "num_detections": Values(np.array([one.num_detections for one in results], np.int64)),
        **rates(*counts),
        "group": missing(len(known), "text") if groups is None else _listed([str(group) for group in groups.tolist()]),
    }
    measures = {}
    for measure in matches.protocol.measures:
        name = f"measure_{measure.key}" if measure.key in {**before, **behind} else measure.key
        measures[name] = numbers([one.summary[measure.key] for one in results])
    return {**before, **measures, **behind}


def curve_columns(source: Source) -> dict[str, Values]:
    """One row per curve."""
    curves = source.curves
    category, area, cap, threshold = (column.ravel() for column in _axes(source))
    at = (threshold, category, area, cap)

    def of(array: NDArray[np.float64] | None) -> Values:
        return missing(len(category), "number") if array is None else numbers(array[at])

    return {
        **_curve_names(source, category, area, cap, threshold),
        "average_precision": of(curves.ap),
        "recall": of(curves.recall),
        "miss_rate": of(curves.miss_rate),
        "jaccard_index": of(curves.jaccard),
    }


def point_columns(source: Source) -> dict[str, Values]:
    """One row per curve and recall, without the curves that are undefined."""
    curves = source.curves
    category, area, cap, threshold = (column.ravel() for column in _axes(source))
    drawn = np.flatnonzero(~np.isnan(curves.recall[threshold, category, area, cap]))
    category, area, cap, threshold = (column[drawn] for column in (category, area, cap, threshold))
    recalls = np.array(curves.protocol.recall_thresholds)
    names = _curve_names(source, *(np.repeat(column, len(recalls)) for column in (category, area, cap, threshold)))
    # (curves, R): indices around a slice put the axis of the curves first.
    precision, scores = (
        array[threshold, :, category, area, cap].ravel() for array in (curves.precision, curves.scores)
    )
    return {
        **names,
        "recall": numbers(np.tile(recalls, len(drawn))),
        "precision": numbers(precision),
        "score": numbers(scores),
    }


def _axes(source: Source) -> tuple[NDArray[np.intp], ...]:
    """The positions of categories, area ranges, caps and IoU thresholds of all curves, in this order."""
    protocol = source.matches.protocol
    areas: Sequence[int] = range(len(protocol.area_ranges))
    thresholds: Sequence[int] = range(len(protocol.iou_thresholds))
    if source.area_range is not None:
        areas = [protocol.position_of_area(source.area_range)]
    if source.iou_threshold is not None:
        thresholds = [protocol.position_of_iou(source.iou_threshold)]
    axes = (range(len(source.curves.categories)), areas, range(len(protocol.max_dets)), thresholds)
    return tuple(np.meshgrid(*(np.array(axis, np.intp) for axis in axes), indexing="ij"))


def _curve_names(
    source: Source, category: NDArray[np.intp], area: NDArray[np.intp], cap: NDArray[np.intp], iou: NDArray[np.intp]
) -> dict[str, Values]:
    """The columns that tell one curve from another, for positions of categories, ranges, caps and thresholds."""
    protocol, known = source.matches.protocol, source.curves.categories
    return {
        "category_id": Values(known.ids[category]),
        "category": texts(known.names, category),
        "iou_threshold": numbers(np.array(protocol.iou_thresholds)[iou]),
        "area_range": texts(protocol.area_labels, area),
        "max_dets": _caps(np.array(protocol.max_dets, np.int64)[cap]),
    }


def _caps(caps: NDArray[np.int64]) -> Values:
    """Caps, with a missing value for the number that stands for none."""
    return Values(caps, caps != NO_CAP)


def _listed(words: Sequence[Any]) -> Values:
    return texts(words, np.arange(len(words)))
