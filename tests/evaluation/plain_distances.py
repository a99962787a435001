"""nuScenes' measures of one class in plain Python, after their description, and random data."""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from typing import Any

__all__ = ["ATTRIBUTES", "CLASSES", "plain_class", "random_records"]

CLASSES = ("car", "barrier", "pedestrian", "traffic_cone")
ATTRIBUTES = ("moving", "standing", "")


def _between(x: float, places: list[float], values: list[float], right: float | None = None) -> float:
    """The value at x on straight lines between points; before the first point its value, behind the last `right`."""
    if x > places[-1]:
        return values[-1] if right is None else right
    after = bisect_right(places, x)
    if after == 0:
        return values[0]
    if after == len(places):
        return values[-1]
    slope = (values[after] - values[after - 1]) / (places[after] - places[after - 1])
    return values[after - 1] + slope * (x - places[after - 1])


def _apart(record: dict[str, Any], other: dict[str, Any], field: str) -> float:
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(record[field][:2], other[field][:2], strict=True)))


def _yaw(record: dict[str, Any]) -> float:
    w, x, y, z = record["rotation"]
    return math.atan2(2 * (w * z + x * y), w * w + x * x - y * y - z * z)


def _errors(thing: dict[str, Any], found: dict[str, Any], name: str) -> list[float]:
    shared = math.prod(map(min, thing["size"], found["size"]))
    both = math.prod(thing["size"]) + math.prod(found["size"]) - shared
    turned = abs(_yaw(thing) - _yaw(found))
    if name == "barrier":
        turned %= math.pi
        turned = min(turned, math.pi - turned)
    turned = min(turned, 2 * math.pi - turned)
    wrong = math.nan if not thing["attribute_name"] else float(thing["attribute_name"] != found["attribute_name"])
    return [_apart(thing, found, "translation"), 1 - shared / both, turned, _apart(thing, found, "velocity"), wrong]


def _matches(objects: Any, found: Any, name: str, threshold: float) -> tuple[list[bool], list[list[float]]]:
    """Whether each detection is right, from the best to the worst, and the errors of those that are."""
    order = sorted(range(len(found)), key=lambda at: (found[at][1]["detection_score"], at), reverse=True)
    taken: set[int] = set()
    right, errors = [], []
    for at in order:
        sample, record = found[at]
        free = [k for k, (of, _) in enumerate(objects) if of == sample and k not in taken]
        best = min(free, key=lambda k: _apart(objects[k][1], record, "translation"), default=None)
        right.append(best is not None and _apart(objects[best][1], record, "translation") < threshold)
        if best is not None and right[-1]:
            taken.add(best)
            errors.append(_errors(objects[best][1], record, name))
    return right, errors


def plain_class(truth: Any, results: Any, name: str) -> tuple[list[float], list[float]]:
    """AP at each threshold, and the five errors."""
    objects, found = (
        [(sample, one) for sample, records in data.items() for one in records if one["detection_name"] == name]
        for data in (truth, results)
    )
    scores = sorted((one["detection_score"] for _, one in found), reverse=True)
    ap, of_class = [], [1.0] * 5
    for threshold in (0.5, 1.0, 2.0, 4.0):
        right, errors = _matches(objects, found, name, threshold)
        if not errors:
            ap.append(0.0)
            continue
        hits = [sum(right[: k + 1]) for k in range(len(right))]
        recall = [hit / len(objects) for hit in hits]
        precision = [hit / (k + 1) for k, hit in enumerate(hits)]
        steps = [k * 0.01 for k in range(101)]  # with its rounding: some recalls are as close to a step as that
        above = [max(_between(step, recall, precision, 0.0) - 0.1, 0) for step in steps[11:]]
        ap.append(sum(above) / len(above) / 0.9)
        if threshold == 2:
            confidences = [_between(step, recall, scores, 0.0) for step in steps]
            reached = max((k for k, score in enumerate(confidences) if score), default=0)
            of_hits = [score for score, hit in zip(scores, right, strict=True) if hit]
            for kind in range(5):
                means, known = [], []
                for error in errors:
                    known += [] if math.isnan(error[kind]) else [error[kind]]
                    means.append(sum(known) / len(known) if known else 0.0)
                means = means if known else [1.0] * len(errors)
                curve = [_between(score, of_hits[::-1], means[::-1]) for score in confidences]
                counted = curve[11 : reached + 1]
                of_class[kind] = sum(counted) / len(counted) if counted else 1.0
    return ap, of_class


def random_records(seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Objects of some samples, and detections near them. No two scores are equal."""
    draw = random.Random(seed)
    truth: dict[str, Any] = {}
    found: dict[str, Any] = {}
    for sample in range(draw.randint(1, 6)):
        truth[f"s{sample}"], found[f"s{sample}"] = [], []
        for _ in range(draw.randint(0, 14)):
            thing: dict[str, Any] = {
                "detection_name": draw.choice(CLASSES[: draw.choice([1, 4])]),
                "translation": [draw.uniform(0, 15), draw.uniform(0, 15), 1.0],
                "size": [draw.uniform(0.5, 4) for _ in range(3)],
                "rotation": [draw.uniform(-1, 1) for _ in range(4)],
                "velocity": [draw.gauss(0, 3), draw.gauss(0, 3)] if draw.random() < 0.9 else [math.nan, math.nan],
                "attribute_name": draw.choice(ATTRIBUTES),
            }
            truth[f"s{sample}"].append(thing)
            for _ in range(draw.choice([0, 1, 1, 2])):
                x, y, z = thing["translation"]
                other = {
                    **thing,
                    "detection_name": thing["detection_name"] if draw.random() < 0.9 else draw.choice(CLASSES),
                    "translation": [draw.gauss(x, 1.2), draw.gauss(y, 1.2), z],
                    "size": [side * draw.uniform(0.7, 1.3) for side in thing["size"]],
                    "rotation": [part + draw.gauss(0, 0.2) for part in thing["rotation"]],
                    "velocity": [draw.gauss(0, 3), draw.gauss(0, 3)],
                    "attribute_name": thing["attribute_name"] if draw.random() < 0.7 else "moving",
                    "detection_score": draw.random(),
                }
                found[f"s{sample}"].append(other)
        draw.shuffle(found[f"s{sample}"])
    return truth, found
