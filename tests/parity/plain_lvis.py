"""LVIS's evaluation in plain Python and NumPy, from its description: slow, with pycocotools for the overlaps alone."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from pycocotools import mask as mask_utils

__all__ = ["LvisResult", "plain_lvis"]

Record = dict[str, Any]
_THRESHOLDS = np.linspace(0.5, 0.95, 10)
_RECALLS = np.linspace(0.0, 1.0, 101)
_RANGES = {"all": (0.0, 1e10), "small": (0.0, 32.0**2), "medium": (32.0**2, 96.0**2), "large": (96.0**2, 1e10)}


class LvisResult(NamedTuple):
    """What lvis computes: -1 where there is nothing to find."""

    precision: npt.NDArray[np.float64]
    """(T, R, K, A)"""
    recall: npt.NDArray[np.float64]
    """(T, K, A)"""
    numbers: dict[str, float]
    """In the order of the table."""


def _capped(detections: list[Record], per_image: int | None, per_category: int | None) -> list[Record]:
    """The best detections of each image, or of each category; of equal scores the first in the file."""
    for key, cap in (("image_id", per_image), ("category_id", per_category)):
        if cap is not None:
            groups = defaultdict(list)
            for record in detections:
                groups[record[key]].append(record)
            kept = {id(r) for group in groups.values() for r in sorted(group, key=lambda r: -r["score"])[:cap]}
            detections = [record for record in detections if id(record) in kept]
    return detections


def _runs(record: Record, size: tuple[int, int]) -> Any:
    mask = record["segmentation"]
    return mask if isinstance(mask, dict) else mask_utils.merge(mask_utils.frPyObjects(mask, *size))


def _area(record: Record, size: tuple[int, int], *, boxes: bool) -> float:
    return record["bbox"][2] * record["bbox"][3] if boxes else float(mask_utils.area(_runs(record, size)))


def _matches(objects: list[Record], found: list[Record], iou: Any, low: float, high: float, forgiven: bool) -> Any:
    """Which detections match and which are ignored, (T, D) each, and which objects are ignored."""
    skipped = [bool(o.get("ignore")) or not low <= o["area"] <= high for o in objects]
    order = sorted(range(len(objects)), key=lambda at: skipped[at])
    matched, ignored = np.zeros((2, len(_THRESHOLDS), len(found)), bool)
    for t, threshold in enumerate(_THRESHOLDS):
        taken = set()
        for d, record in enumerate(found):
            best, least = None, min(threshold, 1 - 1e-10)
            for o in order:
                if o in taken:
                    continue
                if best is not None and skipped[o] and not skipped[best]:
                    break
                if iou[d][o] >= least:
                    best, least = o, iou[d][o]
            if best is not None:
                taken.add(best)
                matched[t, d], ignored[t, d] = True, skipped[best]
            else:
                ignored[t, d] = forgiven or not low <= record["area"] <= high
    return matched, ignored, skipped


def _curve(tp: Any, fp: Any, objects: int) -> tuple[list[float], float]:
    tp, fp = np.cumsum(tp).astype(float), np.cumsum(fp).astype(float)
    recall, precision = tp / objects, (tp / (fp + tp + np.spacing(1))).tolist()
    for at in range(len(precision) - 1, 0, -1):
        precision[at - 1] = max(precision[at - 1], precision[at])
    places = np.searchsorted(recall, _RECALLS, side="left")
    return [precision[at] if at < len(precision) else 0.0 for at in places], recall[-1] if len(recall) else 0.0


def plain_lvis(
    gt: Record,
    dt: list[Record],
    iou_type: str = "bbox",
    *,
    per_image: int | None = 300,
    per_category: int | None = None,
) -> LvisResult:
    """Evaluate, image by image and category by category."""
    boxes = "bbox" in dt[0]
    sizes = {image["id"]: (image["height"], image["width"]) for image in gt["images"]}
    capped = [dict(r) for r in _capped(dt, per_image, per_category)]
    for record in capped:
        record["area"] = _area(record, sizes[record["image_id"]], boxes=boxes)
    groups: dict[Any, tuple[list[Record], list[Record]]] = defaultdict(lambda: ([], []))
    for side, records in enumerate((gt["annotations"], capped)):
        for record in records:
            if record["area"] > 0:  # what has no area is left out, on both sides
                groups[record["image_id"], record["category_id"]][side].append(record)
    categories = sorted(gt["categories"], key=lambda category: category["id"])
    precision = np.full((len(_THRESHOLDS), len(_RECALLS), len(categories), len(_RANGES)), -1.0)
    recall = np.full((len(_THRESHOLDS), len(categories), len(_RANGES)), -1.0)
    for k, category in enumerate(categories):
        of_images = []
        for image in sorted(gt["images"], key=lambda image: image["id"]):
            objects, found = groups[image["id"], category["id"]]
            if not objects and category["id"] not in image["neg_category_ids"]:
                continue  # nobody looked for it here
            found = sorted(found, key=lambda record: -record["score"])
            if iou_type == "bbox":
                regions = [[r["bbox"] for r in side] for side in (found, objects)]
            else:
                regions = [[_runs(r, sizes[image["id"]]) for r in side] for side in (found, objects)]
            iou = mask_utils.iou(*regions, [0] * len(objects)) if found and objects else np.zeros((len(found), 0))
            of_images.append((objects, found, iou, category["id"] in image["not_exhaustive_category_ids"]))
        for a, (low, high) in enumerate(_RANGES.values()):
            parts = [_matches(o, f, iou, low, high, forgiven) for o, f, iou, forgiven in of_images]
            count = sum(not one for part in parts for one in part[2])
            if not count:
                continue
            scores = np.array([record["score"] for _, found, *_ in of_images for record in found])
            order = np.argsort(-scores, kind="stable")
            matched, ignored = (np.concatenate([part[at] for part in parts], axis=1)[:, order] for at in (0, 1))
            for t in range(len(_THRESHOLDS)):
                counted = ~ignored[t]
                precision[t, :, k, a], recall[t, k, a] = _curve(matched[t] & counted, ~matched[t] & counted, count)
    return LvisResult(precision, recall, _numbers(precision, recall, categories, per_image or per_category))


def _numbers(precision: Any, recall: Any, categories: list[Record], cap: int | None) -> dict[str, float]:
    def mean(values: Any) -> float:
        return float(np.mean(values[values > -1])) if (values > -1).any() else -1.0

    numbers = {"AP": mean(precision[..., 0]), "AP50": mean(precision[0, ..., 0]), "AP75": mean(precision[5, ..., 0])}
    numbers |= {f"AP{size}": mean(precision[..., a]) for a, size in enumerate("sml", 1)}
    for group in "rcf":
        rows = [k for k, category in enumerate(categories) if category["frequency"] == group]
        numbers[f"AP{group}"] = mean(precision[:, :, rows, 0])
    return numbers | {f"AR{size}@{cap}": mean(recall[..., a]) for a, size in enumerate(["", "s", "m", "l"])}
