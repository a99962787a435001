"""Result tables written plainly: a dictionary per row, from the public results of an evaluation."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from ioukit.evaluation import Outcome

if TYPE_CHECKING:
    from ioukit import Evaluation

__all__ = ["plain_tables"]

Row = dict[str, Any]
_NO_CAP = 2**31 - 1


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _ratios(tp: int, fp: int, fn: int) -> Row:
    return {
        "true_positives": tp,
        "false_positives": fp,
        "false_negatives": fn,
        "precision": tp / (tp + fp) if tp + fp else None,
        "recall": tp / (tp + fn) if tp + fn else None,
        "f1": 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else None,
    }


def plain_tables(evaluation: Evaluation, **point: Any) -> dict[str, list[Row]]:
    """All tables by name; missing values are ``None``."""
    return {
        "summary": _summary(evaluation),
        "per_class": _per_class(evaluation, point),
        "per_image": _per_image(evaluation, point),
        "per_detection": _per_detection(evaluation, point),
        "per_object": _per_object(evaluation, point),
        **_curves(evaluation, point),
    }


def _summary(evaluation: Evaluation) -> list[Row]:
    protocol = evaluation.protocol
    rows = []
    for measure in protocol.measures:
        cap = protocol.main_max_dets if measure.max_dets is None else measure.max_dets
        rows.append(
            {
                "measure": measure.key,
                "value": _defined(evaluation.summary[measure.key]),
                "quantity": measure.quantity,
                "iou_threshold": measure.iou_threshold,
                "area_range": protocol.main_area if measure.area_range is None else measure.area_range,
                "max_dets": None if cap == _NO_CAP else cap,
                "group": measure.group,
            }
        )
    return rows


def _per_class(evaluation: Evaluation, point: Row) -> list[Row]:
    table, became, protocol = evaluation.matches, evaluation.outcomes(**point), evaluation.protocol
    known = table.categories.ids.tolist()

    def count(categories: Any, outcomes: Any, kind: Outcome) -> Counter[int]:
        pairs = zip(categories.tolist(), outcomes.tolist(), strict=True)
        return Counter(-1 if protocol.class_agnostic else known[at] for at, outcome in pairs if outcome == kind)

    tp = count(table.detections.category, became.detections, Outcome.TRUE_POSITIVE)
    fp = count(table.detections.category, became.detections, Outcome.FALSE_POSITIVE)
    fn = count(table.objects.category, became.objects, Outcome.FALSE_NEGATIVE)
    groups = table.evaluated.column(protocol.category_groups) if protocol.category_groups else None
    return [
        {
            "category_id": result.id,
            "category": result.name,
            **{key: _defined(value) for key, value in result.summary.items()},
            "num_ground_truth": result.num_ground_truth,
            "num_detections": result.num_detections,
            **_ratios(tp[result.id], fp[result.id], fn[result.id]),
            "group": None if groups is None else str(groups[at]),
        }
        for at, result in enumerate(evaluation.per_class)
    ]


def _image(evaluation: Evaluation, label: Any) -> Row:
    gt = evaluation.ground_truth
    name = None if gt is None else gt.images.names[gt.images.labels.tolist().index(label)]
    return {"image_id": label, "file_name": name or None}


def _per_image(evaluation: Evaluation, point: Row) -> list[Row]:
    images, gt = evaluation.per_image(**point), evaluation.ground_truth
    rows = []
    for at, label in enumerate(images.image_ids.tolist()):
        size = (math.nan, math.nan)
        if gt is not None:
            size = gt.images.sizes[gt.images.labels.tolist().index(label)].tolist()
        tp, fp, fn = (
            int(column[at]) for column in (images.true_positives, images.false_positives, images.false_negatives)
        )
        rows.append(
            {
                **_image(evaluation, label),
                "image_width": _defined(size[0]),
                "image_height": _defined(size[1]),
                "num_ground_truth": tp + fn,
                "num_detections": tp + fp,
                **_ratios(tp, fp, fn),
                "mean_iou": _defined(images.mean_iou[at]),
            }
        )
    return rows


def _category(evaluation: Evaluation, at: int) -> Row:
    known = evaluation.matches.categories
    return {"category_id": int(known.ids[at]), "category": known.names[at]}


def _box(evaluation: Evaluation, side: Any, row: int) -> Row:
    if side is None:
        return dict.fromkeys(("x", "y", "width", "height", "area", "size_class"))
    areas = getattr(side, "areas", None)
    box = side.boxes[row].tolist()
    area = box[2] * box[3] if areas is None else float(areas[row])
    protocol = evaluation.protocol
    holding = [one for one in protocol.area_ranges if one.low <= area <= one.high]
    size = min(holding, key=lambda one: (one.high - one.low, -one.low)).label if holding else None
    if protocol.ranges_by == "flag" or protocol.objects_choose is not None:
        size = None
    return {**dict(zip(("x", "y", "width", "height"), box, strict=True)), "area": area, "size_class": size}


def _per_detection(evaluation: Evaluation, point: Row) -> list[Row]:
    table, became = evaluation.matches, evaluation.outcomes(**point)
    rows = []
    for at in range(len(table.detections)):
        row, match = int(table.detections.row[at]), int(became.matched_object[at])
        rows.append(
            {
                "detection_row": row,
                **_image(evaluation, table.image_ids[table.detections.image[at]].item()),
                **_category(evaluation, int(table.detections.category[at])),
                "score": float(table.detections.score[at]),
                "score_rank": int(table.detections.rank[at]),
                "outcome": Outcome(became.detections[at]).name.lower(),
                "iou": _defined(became.match_iou[at]),
                "matched_object_id": int(table.objects.id[match]) if match >= 0 else None,
                "matched_object_row": int(table.objects.row[match]) if match >= 0 else None,
                **_box(evaluation, evaluation.detections, row),
            }
        )
    return rows


def _per_object(evaluation: Evaluation, point: Row) -> list[Row]:
    table, became, gt = evaluation.matches, evaluation.outcomes(**point), evaluation.ground_truth
    rows = []
    for at in range(len(table.objects)):
        row, match = int(table.objects.row[at]), int(became.matched_detection[at])
        flags = {} if gt is None else {f"flag_{name}": bool(flag[row]) for name, flag in gt.flags.items()}
        flags.pop("flag_crowd", None)
        rows.append(
            {
                "object_id": int(table.objects.id[at]),
                "object_row": row,
                **_image(evaluation, table.image_ids[table.objects.image[at]].item()),
                **_category(evaluation, int(table.objects.category[at])),
                "outcome": Outcome(became.objects[at]).name.lower(),
                "iou": _defined(became.match_iou[match]) if match >= 0 else None,
                "matched_detection_row": int(table.detections.row[match]) if match >= 0 else None,
                "matched_score": float(table.detections.score[match]) if match >= 0 else None,
                **_box(evaluation, gt, row),
                "crowd": None if gt is None else bool(gt.crowd[row]),
                **flags,
            }
        )
    return rows


def _curves(evaluation: Evaluation, point: Row) -> dict[str, list[Row]]:
    curves, protocol = evaluation.curves, evaluation.protocol
    others = {"miss_rate": curves.miss_rate, "jaccard_index": curves.jaccard}
    ap, recall, precision, scores = curves.ap, curves.recall, curves.precision, curves.scores
    per_curve: list[Row] = []
    points: list[Row] = []
    wanted = point.get("iou_threshold")
    for k, category in enumerate(curves.categories.ids.tolist()):
        for a, area_range in enumerate(protocol.area_ranges):
            for m, cap in enumerate(protocol.max_dets):
                for t, threshold in enumerate(protocol.iou_thresholds):
                    if point.get("area_range", area_range.label) not in (area_range.label, None):
                        continue
                    if wanted is not None and abs(threshold - wanted) > 1e-9:
                        continue
                    curve = {
                        "category_id": category,
                        "category": curves.categories.names[k],
                        "iou_threshold": threshold,
                        "area_range": area_range.label,
                        "max_dets": None if cap == _NO_CAP else cap,
                    }
                    at = t, k, a, m
                    rest = {name: None if one is None else _defined(one[at]) for name, one in others.items()}
                    reached = _defined(recall[at])
                    per_curve.append(curve | {"average_precision": _defined(ap[at]), "recall": reached, **rest})
                    for r, least in enumerate(protocol.recall_thresholds if reached is not None else ()):
                        place = t, r, k, a, m
                        numbers = (_defined(array[place]) for array in (precision, scores))
                        points.append(
                            {**curve, "recall": least, **dict(zip(("precision", "score"), numbers, strict=True))}
                        )
    return {"per_curve": per_curve, "curves": points}
