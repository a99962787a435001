"""SAM 3's concept measures in plain Python, and random sets for them. Nothing here is vectorised, and nothing imported.

`plain_concepts` follows the definition: every assignment of detections to objects is tried.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np

from ioukit import Masks

__all__ = ["AmbiguousError", "plain_concepts", "random_concepts"]

THRESHOLDS = np.linspace(0.5, 0.95, 10).tolist()


class AmbiguousError(Exception):
    """Two assignments with the highest sum of IoU reach different thresholds: the definition does not choose."""


def plain_concepts(
    annotators: list[dict[str, Any]], results: list[dict[str, Any]], iou_type: str, score_threshold: float = 0.5
) -> dict[str, float]:
    """The 26 numbers of one set."""
    listed = [{one["id"]: one for one in annotator["images"]} for annotator in annotators]
    counted = [key for key in listed[0] if all(images[key]["is_instance_exhaustive"] for images in listed)]
    images = [_image(annotators, results, key, iou_type, score_threshold) for key in counted]
    numbers: dict[str, float] = {}
    tp, fp, fn, tn = (
        sum((objects > 0, found > 0) == case for objects, found, _ in images)
        for case in ((True, True), (False, True), (True, False), (False, False))
    )
    product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    numbers["IL_MCC"] = (tp * tn - fp * fn) / (product**0.5 + 1e-6)
    numbers["IL_recall"] = tp / (tp + fn + 1e-6)
    numbers["IL_precision"] = tp / (tp + fp + 1e-6)
    numbers["IL_F1"] = _harmonic(numbers["IL_precision"], numbers["IL_recall"], 1e-6)
    numbers["IL_FPR"] = fp / (fp + tn + 1e-6)
    curves: dict[str, list[float]] = {}
    for at in range(len(THRESHOLDS)):
        hits = sum(hit[at] for _, _, hit in images)
        all_objects = sum(objects for objects, _, _ in images)
        all_found = sum(found for _, found, _ in images)
        found_on_positives = sum(found for objects, found, _ in images if objects)
        of_each = [_f1(hit[at], objects, found) for objects, found, hit in images if objects and found]
        recall = hits / (all_objects + 1e-4)
        positive = hits / (found_on_positives + 1e-4)
        at_threshold = {
            "precision": hits / (all_found + 1e-4),
            "recall": recall,
            "F1": _f1(hits, all_objects, all_found),
            "positive_macro_F1": sum(of_each) / len(of_each) if of_each else float("nan"),
            "positive_micro_F1": _harmonic(positive, recall, 1e-4),
            "positive_micro_precision": positive,
        }
        at_threshold["cgF1"] = at_threshold["positive_micro_F1"] * numbers["IL_MCC"]
        for name, value in at_threshold.items():
            curves.setdefault(name, []).append(value)
    for name, values in curves.items():
        numbers[name] = sum(values) / len(values)
        numbers[f"{name}@0.5"], numbers[f"{name}@0.75"] = values[0], values[5]
    return numbers


def _harmonic(precision: float, recall: float, term: float) -> float:
    return 2 * precision * recall / (precision + recall + term)


def _f1(hits: int, objects: int, found: int) -> float:
    return _harmonic(hits / (found + 1e-4), hits / (objects + 1e-4), 1e-4)


def _image(
    annotators: list[dict[str, Any]], results: list[dict[str, Any]], key: int, iou_type: str, threshold: float
) -> tuple[int, int, list[int]]:
    """Objects, detections and hits at each threshold of the annotator who fits best."""
    found = [one for one in results if one["image_id"] == key and one["score"] >= threshold]
    best: tuple[float, tuple[int, int, list[int]]] | None = None
    for annotator in annotators:
        objects = [one for one in annotator["annotations"] if one["image_id"] == key and not one["iscrowd"]]
        hits = _hits(found, objects, iou_type)
        fits = [_f1(hit, len(objects), len(found)) for hit in hits]
        fit = sum(fits) / len(fits) if objects or found else 2.0
        if best is None or fit > best[0] + 1e-12:
            best = fit, (len(objects), len(found), hits)
    assert best is not None
    return best[1]


def _hits(found: list[dict[str, Any]], objects: list[dict[str, Any]], iou_type: str) -> list[int]:
    """The pairs that reach each threshold, of the assignment with the highest sum of IoU."""
    iou = [[_iou(one, other, iou_type) for other in objects] for one in found]
    rows, columns = len(found), len(objects)
    if rows > columns:
        iou, rows, columns = [list(column) for column in zip(*iou, strict=True)], columns, rows
    highest, outcomes = Fraction(-1), set[tuple[int, ...]]()
    for chosen in permutations(range(columns), rows):
        overlaps = [iou[row][column] for row, column in enumerate(chosen)]
        reached = tuple(sum(float(overlap) >= threshold for overlap in overlaps) for threshold in THRESHOLDS)
        total = sum(overlaps, Fraction(0))
        if total > highest:
            highest, outcomes = total, set()
        if total == highest:
            outcomes.add(reached)
    if len(outcomes) > 1:
        raise AmbiguousError
    return list(outcomes.pop())


def _iou(one: dict[str, Any], other: dict[str, Any], iou_type: str) -> Fraction:
    if iou_type == "segm":
        first, second = (Masks.from_rle([each["segmentation"]]).to_arrays()[0] for each in (one, other))
        both, either = int((first & second).sum()), int((first | second).sum())
        return Fraction(both, either) if either else Fraction(0)
    (x1, y1, w1, h1), (x2, y2, w2, h2) = ([Fraction(value) for value in each["bbox"]] for each in (one, other))
    both_of = max(min(x1 + w1, x2 + w2) - max(x1, x2), Fraction(0)) * max(
        min(y1 + h1, y2 + h2) - max(y1, y2), Fraction(0)
    )
    either_of = w1 * h1 + w2 * h2 - both_of
    return both_of / either_of if either_of else Fraction(0)


def random_concepts(seed: int, *, most: int = 4, fine: bool = False) -> tuple[list[Any], list[Any]]:
    """COCO's records of one to three annotators, and of results.

    With images without objects, without results and without both, crowds, annotators who disagree, images that not all
    of them marked, equal regions, scores at the threshold, and IoU at thresholds (or, if ``fine``, any IoU).

    Args:
        seed: Chooses the set.
        most: The highest number of regions of a side in an image.
        fine: Whether corners have fractions. The regions are boxes, and the masks of boxes on a grid.
    """
    rng = np.random.default_rng(seed)
    side, kinds = 12, int(rng.integers(1, 3))
    categories = [{"id": number + 1, "name": f"object {number}"} for number in range(kinds)]
    keys = sorted(rng.choice(1000, int(rng.integers(1, 9)), replace=False).tolist())
    annotators = []
    for _ in range(int(rng.integers(1, 4))):
        marked = rng.random(len(keys)) < rng.choice([0.7, 1.0])
        marked[0] = True
        images = [
            {"id": key, "height": side, "width": side, "text_input": f"thing {key}", "is_instance_exhaustive": int(one)}
            for key, one in zip(keys, marked.tolist(), strict=True)
        ]
        annotators.append({"images": images, "annotations": [], "categories": categories})
    results = []
    for key in keys:
        truth = [_box(rng, side) for _ in range(int(rng.integers(0, most + 1)) * int(rng.random() < 0.7))]
        for annotator in annotators:
            drawn = [_moved(rng, box, side) for box in truth if rng.random() < 0.8]
            drawn += [_box(rng, side)] * int(rng.integers(0, 3)) if rng.random() < 0.2 else []
            for box in drawn[:most]:
                crowd = int(rng.random() < 0.15)
                number = len(annotator["annotations"]) + 1
                one = {"id": number, "iscrowd": crowd, **_record(rng, key, box, side, kinds, fine)}
                annotator["annotations"].append(one)
        found = [_moved(rng, box, side) for box in truth if rng.random() < 0.8]
        found += [_box(rng, side) for _ in range(int(rng.integers(0, 3)))] if rng.random() < 0.4 else []
        for box in found[:most]:
            score = float(rng.choice([0.2, 0.5, 0.5, 0.7, 1.0, float(np.nextafter(0.5, 0))]))
            results.append({"score": score, **_record(rng, key, box, side, kinds, fine)})
    return annotators, [results[at] for at in rng.permutation(len(results)).tolist()]


def _box(rng: np.random.Generator, side: int) -> list[int]:
    x, y = (int(rng.integers(0, side - 2)) for _ in range(2))
    return [x, y, int(rng.integers(1, side - x + 1)), int(rng.integers(1, side - y + 1))]


def _moved(rng: np.random.Generator, box: list[int], side: int) -> list[int]:
    """The box, or one near it within the image."""
    x, y, width, height = box
    if rng.random() < 0.4:
        return [*box]
    left, top = max(x + int(rng.integers(-1, 2)), 0), max(y + int(rng.integers(-1, 2)), 0)
    wide, high = width + int(rng.integers(-1, 2)), height + int(rng.integers(-2, 3))
    return [left, top, min(max(wide, 1), side - left), min(max(high, 1), side - top)]


def _record(rng: np.random.Generator, key: int, box: list[int], side: int, kinds: int, fine: bool) -> dict[str, Any]:
    """An object or a detection: its box, and the box with some pixels missing as its mask."""
    x, y, width, height = box
    mask = np.zeros((side, side), np.uint8)
    mask[y : y + height, x : x + width] = 1
    if rng.random() < 0.3:
        mask &= rng.random(mask.shape) < 0.7
        mask[y, x] = 1
    bbox = (np.array(box) + rng.random(4) * 0.3).tolist() if fine else [float(value) for value in box]
    return {
        "image_id": key,
        "category_id": int(rng.integers(1, kinds + 1)),
        "bbox": bbox,
        "area": bbox[2] * bbox[3],
        "segmentation": Masks.from_arrays(mask[np.newaxis]).to_rle()[0],
    }
