"""Tables of the data: images, detections and objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit.evaluation.analysis.outcomes import Outcome
from ioukit.evaluation.counting import narrowest_range
from ioukit.evaluation.tables.columns import Values, missing, numbers, of_rows, texts
from ioukit.evaluation.tables.numbers_of_classes import rates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.datasets import Detections, GroundTruth
    from ioukit.evaluation.protocols import Protocol
    from ioukit.evaluation.tables.source import Source

__all__ = ["OUTCOMES", "per_detection_columns", "per_image_columns", "per_object_columns"]

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
