"""Everything that can be computed from a match table, to compare two tables by their results."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ioukit.evaluation import (
    Evaluation,
    confusion_matrix,
    error_kinds,
    lrp_errors,
    match_bins,
    match_proposals,
    outcomes,
    per_image,
    recall_curves,
    score_curves,
)
from support.same_columns import assert_same_columns

if TYPE_CHECKING:
    from ioukit import MatchTable

__all__ = ["assert_says_the_same", "everything"]

ROWS = ("row", "sources")  # they refer to the data that was matched


@functools.lru_cache(maxsize=2)  # several tables are compared with one
def everything(table: MatchTable) -> dict[str, Any]:
    """Every result by its name; those that need near pairs only if the table has them."""
    evaluation = Evaluation.from_table(table)
    found: dict[str, Any] = {
        "curves": evaluation.curves,
        "summary": dict(evaluation.summary),
        "per class": list(evaluation.per_class),
        "counts": dict(evaluation.counts),
        "json": evaluation.to_json(),
    }
    for iou_threshold in (None, table.protocol.iou_thresholds[-1]):
        for area_range in (None, table.protocol.area_labels[-1]):
            chosen: dict[str, Any] = {"iou_threshold": iou_threshold, "area_range": area_range}
            became = outcomes(table, score_threshold=0.3, **chosen)
            found[f"outcomes {chosen}"] = became
            found[f"images {chosen}"] = per_image(table, became)
            curves = found[f"score curves {chosen}"] = score_curves(table, **chosen)
            for average in ("micro", "macro", "weighted"):
                for score in (0.3, curves.best_thresholds(2)):
                    found[f"{average} {chosen} {score}"] = curves.average(score, average, beta=2)
            if curves.iou_threshold < 1:
                errors = lrp_errors(table, **chosen)
                found[f"LRP {chosen}"] = errors, errors.mean, errors.best_thresholds
    recalls = recall_curves(table)
    found["recall"] = recalls, recalls.average_recall, recalls.area
    if table.near is not None and table.near.least <= table.protocol.iou_thresholds[0]:
        values = table.objects.id % 7
        binned = match_bins(table, values, [0, 2, 4, 6], detection_values=table.detections.score * 6)
        found["bins"] = binned.detections, binned.objects, binned.pairs, Evaluation.from_table(binned).to_json()
        proposals = match_proposals(table, [2, 20])
        found["proposals"] = proposals.detections, proposals.objects, proposals.pairs, recall_curves(proposals)
    if table.near is not None:
        found["confusion"] = confusion_matrix(table, score_threshold=0.3)
        found["error kinds"] = error_kinds(table)
    return found


def assert_says_the_same(ours: MatchTable, expected: MatchTable, *, rows_too: bool = False) -> None:
    """Compares all columns and all results computed from them, to the last bit."""
    but = () if rows_too else ROWS
    assert_same_columns(ours, expected, but=but)
    assert_same_columns(everything(ours), everything(expected), but=but)
