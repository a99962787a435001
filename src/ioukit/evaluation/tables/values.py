"""The values of each table of results: numbers of measures, classes and curves; images, detections and objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.evaluation.analysis._quotient import quotient
from ioukit.evaluation.analysis.outcomes import Outcome
from ioukit.evaluation.counting import narrowest_range
from ioukit.evaluation.protocols.parts import NO_CAP
from ioukit.evaluation.tables.columns import Values, missing, numbers, of_rows, texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ioukit.datasets import Detections, GroundTruth
    from ioukit.evaluation.protocols import Protocol
    from ioukit.evaluation.tables.columns import Source


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
    caps = [protocol.cap_of(measure) for measure in measures]
    return {
        "measure": _listed([one.key for one in measures]),
        "value": numbers([source.evaluation.summary[one.key] for one in measures]),
        "quantity": _listed([one.quantity for one in measures]),
        "iou_threshold": numbers([np.nan if one.iou_threshold is None else one.iou_threshold for one in measures]),
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
    precision, scores = (
        curves.points_of(quantity, category, area, cap, threshold).ravel() for quantity in ("precision", "scores")
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


OUTCOMES = tuple(outcome.name.lower() for outcome in Outcome)
"""The words of the column ``outcome``, in the order of the members of :class:`Outcome`."""

_SIDES = ("x", "y", "width", "height")


def per_image_columns(source: Source) -> dict[str, Values]:
    """One row per image."""
    images, count = source.images, len(source.images)
    sizes = np.full((count, 2), np.nan)
    if source.ground_truth is not None and source.listed_images is not None:
        sizes = source.ground_truth.images.sizes[source.listed_images]
    return {
        **source.image_columns(np.arange(count)),
        "image_width": numbers(sizes[:, 0]),
        "image_height": numbers(sizes[:, 1]),
        "num_ground_truth": Values(images.num_ground_truth),
        "num_detections": Values(images.num_detections),
        **rates(images.true_positives, images.false_positives, images.false_negatives),
        "mean_iou": numbers(images.mean_iou),
    }


def per_detection_columns(source: Source) -> dict[str, Values]:
    """One row per detection of the match table."""
    matches, became = source.matches, source.outcomes
    rows, objects = matches.detections, matches.objects
    return {
        "detection_row": Values(rows.row),
        **source.image_columns(rows.image),
        **source.category_columns(rows.category),
        "score": numbers(rows.score),
        "score_rank": Values(rows.rank.astype(np.int64)),
        "outcome": texts(OUTCOMES, became.detections),
        "iou": numbers(became.match_iou),
        "matched_object_id": of_rows(objects.id, became.matched_object),
        "matched_object_row": of_rows(objects.row, became.matched_object),
        **_box_columns(source.detections, rows.row, matches.protocol),
    }


def per_object_columns(source: Source) -> dict[str, Values]:
    """One row per object of the match table, with a column for each flag of the ground truth."""
    matches, became, gt = source.matches, source.outcomes, source.ground_truth
    rows, detections = matches.objects, matches.detections
    columns = {
        "object_id": Values(rows.id),
        "object_row": Values(rows.row),
        **source.image_columns(rows.image),
        **source.category_columns(rows.category),
        "outcome": texts(OUTCOMES, became.objects),
        "iou": of_rows(became.match_iou, became.matched_detection),
        "matched_detection_row": of_rows(detections.row, became.matched_detection),
        "matched_score": of_rows(detections.score, became.matched_detection),
        **_box_columns(gt, rows.row, matches.protocol),
        "crowd": missing(len(rows), "flag") if gt is None else Values(gt.crowd[rows.row]),
    }
    for name, flag in ({} if gt is None else gt.flags).items():
        if name != "crowd":
            columns[f"flag_{name}"] = Values(flag[rows.row])
    return columns


def _box_columns(
    data: GroundTruth | Detections | None, rows: NDArray[np.int64], protocol: Protocol
) -> dict[str, Values]:
    """The box of each row, its area, and the area range that it lies in."""
    if data is None:
        names = (*_SIDES, "area")
        return {**{name: missing(len(rows), "number") for name in names}, "size_class": missing(len(rows), "text")}
    boxes = data.boxes[rows]
    areas = (data.areas_or_those_of_boxes() if hasattr(data, "areas_or_those_of_boxes") else data.areas)[rows]
    columns = {name: numbers(boxes[:, at]) for at, name in enumerate(_SIDES)}
    ranged = bool(protocol.size_ranges)
    size_class = texts(protocol.area_labels, narrowest_range(areas, protocol)) if ranged else missing(len(rows), "text")
    return {**columns, "area": numbers(areas), "size_class": size_class}
