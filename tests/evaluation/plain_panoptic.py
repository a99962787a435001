"""Panoptic quality and semantic IoU in plain Python, pixel by pixel, in fractions."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = ["Data", "plain_panoptic", "plain_semantic", "random_panoptic"]

Data = dict[Any, tuple[Any, list[dict[str, Any]]]]


def plain_panoptic(gt: Data, dt: Data) -> dict[int, tuple[Fraction, int, int, int]]:
    """For each category with a segment that counts: sum of IoU, matches, wrong and missed segments."""
    total: dict[int, list[Any]] = defaultdict(lambda: [Fraction(0), 0, 0, 0])
    for image, (truth, gt_info) in gt.items():
        found, dt_info = dt[image]
        pixels = Counter(zip(np.ravel(truth).tolist(), np.ravel(found).tolist(), strict=True))
        taken = set()
        for a in gt_info:
            if a.get("iscrowd", 0):
                continue
            partner = None
            for b in dt_info:
                if a["category_id"] != b["category_id"]:
                    continue
                either = sum(n for (g, d), n in pixels.items() if g == a["id"] or (d == b["id"] and g != 0))
                if (iou := Fraction(pixels[a["id"], b["id"]], either)) > Fraction(1, 2):
                    assert partner is None
                    partner = b["id"]
                    taken.add(partner)
                    total[a["category_id"]][0] += iou
            total[a["category_id"]][1 if partner is not None else 3] += 1
        for b in dt_info:
            if b["id"] in taken:
                continue
            crowds = [a["id"] for a in gt_info if a.get("iscrowd", 0) and a["category_id"] == b["category_id"]]
            area = sum(n for (_, d), n in pixels.items() if d == b["id"])
            ignored = sum(pixels[g, b["id"]] for g in {0, *crowds[-1:]})
            total[b["category_id"]][2] += Fraction(ignored, area) <= Fraction(1, 2)
    return {category: tuple(numbers) for category, numbers in total.items() if any(numbers[1:])}


def plain_semantic(gt: list[Any], dt: list[Any], num_classes: int, ignore: int) -> dict[str, Fraction | None]:
    """The four means, from counts of pixels."""
    pairs: Counter[tuple[int, int]] = Counter()
    for truth, found in zip(gt, dt, strict=True):
        pairs.update(zip(np.ravel(truth).tolist(), np.ravel(found).tolist(), strict=True))
    counted = {(t, f): n for (t, f), n in pairs.items() if t != ignore}
    every = sum(counted.values())
    if not every:
        return dict.fromkeys(("mean_iou", "frequency_weighted_iou", "pixel_accuracy", "mean_accuracy"))
    ious, accuracies, weighted = [], [], Fraction(0)
    for k in range(num_classes):
        right = counted.get((k, k), 0)
        true = sum(n for (t, _), n in counted.items() if t == k)
        either = sum(n for (t, f), n in counted.items() if k in (t, f))
        if either:
            ious.append(Fraction(right, either))
            weighted += Fraction(true, every) * ious[-1]
        if true:
            accuracies.append(Fraction(right, true))
    return {
        "mean_iou": sum(ious, Fraction(0)) / len(ious),
        "frequency_weighted_iou": weighted,
        "pixel_accuracy": Fraction(sum(counted.get((k, k), 0) for k in range(num_classes)), every),
        "mean_accuracy": sum(accuracies, Fraction(0)) / len(accuracies),
    }


def random_panoptic(seed: int) -> tuple[Data, Data, list[dict[str, Any]]]:
    """Ground truth, predictions near it, and categories: with void, crowds and categories without segments."""
    rng = np.random.default_rng(seed)
    categories: list[dict[str, Any]] = [
        {"id": int(number), "name": f"class {number}", "isthing": int(rng.integers(2))}
        for number in rng.choice(200, int(rng.integers(1, 5)), replace=False)
    ]
    used = [record["id"] for record in categories[: int(rng.integers(1, len(categories) + 1))]]
    gt: Data = {}
    dt: Data = {}
    for image in rng.permutation(50)[: int(rng.integers(1, 5))].tolist():
        height, width = rng.integers(2, 30, 2).tolist()
        ids = rng.choice(2**24 - 1, 9, replace=False) + 1
        truth = np.zeros((height, width), np.int64)
        for number in ids[: int(rng.integers(0, 7))]:
            _paint(rng, truth, number)
        found = np.roll(truth, rng.integers(-1, 2), rng.integers(2))
        for number in rng.choice(np.append(ids, 0), int(rng.integers(0, 4))):
            _paint(rng, found, number)
        found[rng.random(found.shape) < rng.choice([0, 0.1, 0.4])] = 0
        truth[rng.random(truth.shape) < rng.choice([0, 0.1, 0.4])] = 0
        category = {number: int(rng.choice(used)) for number in ids.tolist()}
        gt[image] = truth, _records(rng, truth, category, crowds=0.3)
        changed = {number: one if rng.random() < 0.8 else int(rng.choice(used)) for number, one in category.items()}
        dt[image] = found, _records(rng, found, changed, crowds=0.0)
    return gt, dt, categories


def _paint(rng: np.random.Generator, canvas: Any, number: int) -> None:
    y, x = (int(rng.integers(size)) for size in canvas.shape)
    height, width = (int(rng.integers(1, size // 2 + 2)) for size in canvas.shape)
    canvas[y : y + height, x : x + width] = number


def _records(rng: np.random.Generator, ids: Any, category: dict[int, int], crowds: float) -> list[dict[str, Any]]:
    numbers, areas = np.unique(ids[ids > 0], return_counts=True)
    records = [
        {"id": number, "category_id": category[number], "area": area, "iscrowd": int(rng.random() < crowds)}
        for number, area in zip(numbers.tolist(), areas.tolist(), strict=True)
    ]
    return [records[place] for place in rng.permutation(len(records))]
