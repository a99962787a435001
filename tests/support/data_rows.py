"""Results of analyses by the rows of the data, as the tests expect them; analyses return rows of the match table."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ioukit.evaluation import ConfusionMatrix, ErrorKinds, Evaluation, MatchTable, Outcomes

__all__ = ["entries_in_data", "errors_in_data", "outcomes_in_data"]


def _spread(count: int, rows: Any, values: Any, other: Any) -> Any:
    spread = np.full(count, other, np.asarray(values).dtype)
    spread[rows] = values
    return spread


def _lookup(rows: Any, at: Any) -> Any:
    """The rows of the data for rows of the table, -1 for -1."""
    return np.append(rows, -1)[at]


def outcomes_in_data(table: MatchTable, became: Outcomes) -> Any:
    """``detections``, ``ground_truth``, ``matched_ground_truth``, ``matched_detection`` and ``match_iou``."""
    (objects, detections), dt, gt = table.sources, table.detections.row, table.objects.row
    return SimpleNamespace(
        detections=_spread(detections, dt, became.detections, 0),
        ground_truth=_spread(objects, gt, became.objects, 0),
        matched_ground_truth=_spread(detections, dt, _lookup(gt, became.matched_object), -1),
        matched_detection=_spread(objects, gt, _lookup(dt, became.matched_detection), -1),
        match_iou=_spread(detections, dt, became.match_iou, np.nan),
    )


def errors_in_data(table: MatchTable, errors: ErrorKinds) -> Any:
    """``detection_kind``, ``detection_ground_truth`` and ``missed``."""
    (objects, detections), dt, gt = table.sources, table.detections.row, table.objects.row
    return SimpleNamespace(
        detection_kind=_spread(detections, dt, errors.detection_kind, -1),
        detection_ground_truth=_spread(detections, dt, _lookup(gt, errors.detection_object), -1),
        missed=_spread(objects, gt, errors.missed, False),
    )


def entries_in_data(evaluation: Evaluation | MatchTable, matrix: ConfusionMatrix) -> Any:
    """``ground_truth`` and ``detection`` of the entries; their rows are those of the table with near pairs."""
    from ioukit.evaluation import Evaluation  # noqa: PLC0415 - only for the type

    table = evaluation.near_matches() if isinstance(evaluation, Evaluation) else evaluation
    return SimpleNamespace(
        ground_truth=_lookup(table.objects.row, matrix.object),
        detection=_lookup(table.detections.row, matrix.detection),
    )
