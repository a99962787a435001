"""Calibration errors in plain Python."""

from __future__ import annotations

import math

import numpy as np

from ioukit import Evaluation, evaluate
from ioukit.evaluation import COCO, Outcome, outcomes

__all__ = ["KEYS", "Row", "binned", "expected_errors", "of_classes", "rows_of"]

KEYS = ("D-ECE", "LaECE", "LaECE0", "Brier")
Row = tuple[float, int, float]  # score, class, IoU of the match or 0


def rows_of(evaluation: Evaluation, iou_threshold: float | None = None) -> list[Row]:
    """The true and false positives."""
    table = evaluation.matches
    found = outcomes(table, iou_threshold=iou_threshold)
    return [
        (float(table.detections.score[at]), int(table.detections.category[at]), iou if right else 0.0)
        for at, (right, kept, iou) in enumerate(
            zip(
                found.detections == Outcome.TRUE_POSITIVE,
                found.detections != Outcome.IGNORED,
                found.match_iou.tolist(),
                strict=True,
            )
        )
        if kept
    ]


def binned(rows: list[Row], bins: int, *, iou: bool) -> float:
    """The mean distance of score and target over ranges, in plain Python."""
    if not rows:
        return math.nan
    edges = np.linspace(0, 1, bins + 1).tolist()
    error = 0.0
    for at in range(bins):
        low, high = edges[at], edges[at + 1]
        mine = [row for row in rows if low < row[0] <= high or (at == 0 and row[0] == 0)]
        if mine:
            score = sum(row[0] for row in mine) / len(mine)
            right = [row for row in mine if row[2] > 0]
            precision = len(right) / len(mine)
            mean_iou = sum(row[2] for row in right) / len(right) if right else 0.0
            error += len(mine) / len(rows) * abs(score - precision * (mean_iou if iou else 1.0))
    return error


def of_classes(evaluation: Evaluation, rows: list[Row], bins: int) -> float:
    table = evaluation.matches
    with_objects = np.flatnonzero(table.num_objects[:, 0])
    errors = [binned([row for row in rows if row[1] == label], bins, iou=True) for label in with_objects]
    defined = [error for error in errors if not math.isnan(error)]
    return sum(defined) / len(defined) if defined else math.nan


def expected_errors(evaluation: Evaluation, bins: int) -> list[float]:
    rows = rows_of(evaluation)
    again = evaluate(evaluation.ground_truth, evaluation.detections, COCO.replace(iou_thresholds=(1e-9,)))  # type: ignore[arg-type]
    brier = sum((score - (iou > 0)) ** 2 for score, _, iou in rows) / len(rows) if rows else math.nan
    laece0 = of_classes(again, rows_of(again), bins)
    return [binned(rows, bins, iou=False), of_classes(evaluation, rows, bins), laece0, brier]
