"""Choosing thresholds in plain Python: every threshold is tried, and counted from the outcomes of detections."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit import Detections, Evaluation, GroundTruth, evaluate
from ioukit.evaluation import Outcome, outcomes
from ioukit.operating import FalsePositivesPerImage, FBeta, LeastCost, PrecisionAtLeast, RecallAtLeast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.evaluation import MatchTable
    from ioukit.operating import Rule

__all__ = ["Plain", "counted", "plain_threshold", "random_scene"]


class Plain(NamedTuple):
    """What counts of the detections and objects of a table."""

    detections: list[tuple[float, int, int, bool]]
    """Score, image, class, and whether it is a true positive."""
    objects: list[tuple[int, int]]
    """Image and class."""
    images: int


def counted(table: MatchTable) -> Plain:
    """The detections that are true or false positives, and the objects to find, by :func:`outcomes`."""
    found = outcomes(table)
    rows, objects = table.detections, table.objects
    kinds = found.detections.tolist()
    return Plain(
        [
            (float(rows.score[at]), int(rows.image[at]), int(rows.category[at]), kind == Outcome.TRUE_POSITIVE)
            for at, kind in enumerate(kinds)
            if kind in (Outcome.TRUE_POSITIVE, Outcome.FALSE_POSITIVE)
        ],
        [
            (int(objects.image[at]), int(objects.category[at]))
            for at, kind in enumerate(found.objects.tolist())
            if kind != Outcome.IGNORED
        ],
        len(table.image_ids),
    )


def plain_threshold(
    data: Plain, rule: Rule, *, category: int | None, images: Sequence[int], costs: dict[int, tuple[float, float]]
) -> tuple[float, str]:
    """The threshold of a class, or of all classes, on some images, which may repeat; NaN for none."""
    times = [images.count(image) for image in range(data.images)]
    mine = [row for row in data.detections if category in (None, row[2]) and times[row[1]]]
    objects = sum(times[image] for image, label in data.objects if category in (None, label))
    best: tuple[Any, ...] | None = None
    reached = False
    for threshold in [math.inf, *sorted({row[0] for row in mine}, reverse=True)]:
        kept = [row for row in mine if row[0] >= threshold]
        tp = sum(times[row[1]] for row in kept if row[3])
        fp = sum(times[row[1]] for row in kept if not row[3])
        value, good = _value(rule, tp, fp, objects, len(images))
        if isinstance(rule, LeastCost):
            cost = sum(costs[row[2]][0] * times[row[1]] for row in kept if not row[3])
            cost += sum(costs[label][1] * times[image] for image, label in data.objects if category in (None, label))
            cost -= sum(costs[row[2]][1] * times[row[1]] for row in kept if row[3])
            value, good = (-cost,), True
        reached |= good
        if best is None or value > best[0]:
            best = value, threshold
    assert best is not None
    threshold = best[1]
    return (math.nan if math.isinf(threshold) else threshold), ("chosen" if reached else "not reached")


def _value(rule: Rule, tp: int, fp: int, objects: int, images: int) -> tuple[tuple[Any, ...], bool]:
    """What a rule wants most, to compare; and whether its aim is reached."""
    nothing: tuple[Any, ...] = (0, 0, 0)
    precision = Fraction(tp, tp + fp) if tp + fp else Fraction(0)
    if isinstance(rule, FBeta):
        weight = Fraction(rule.beta) ** 2
        f = (1 + weight) * tp / ((1 + weight) * tp + weight * (objects - tp) + fp) if tp else Fraction(0)
        return (f,), tp > 0
    if isinstance(rule, PrecisionAtLeast):
        good = tp > 0 and tp / (tp + fp) >= rule.precision
        return ((tp,) if good else (0,)), good
    if isinstance(rule, RecallAtLeast):
        good = tp > 0 and tp / objects >= rule.recall
        return ((1, precision, tp) if good else (0, tp, 0)), good
    if isinstance(rule, FalsePositivesPerImage):
        good = tp > 0 and bool(images) and fp / images <= rule.most
        return ((tp,) if good else (0,)), good
    return nothing, False


def random_scene(
    seed: int, *, images: int = 6, classes: int = 3, digits: int = 1, busy: int = 4, bare: bool = True
) -> Evaluation:
    """Random objects and detections with many equal scores; a class may have no objects or no detections."""
    rng = np.random.default_rng(seed)
    truth: dict[str, Any] = {"image_ids": [], "category_ids": [], "boxes": [], "crowd": []}
    found: dict[str, Any] = {"image_ids": [], "category_ids": [], "boxes": [], "scores": []}
    skill = rng.uniform(0.3, 0.95, classes)
    for image in range(images):
        for at in range(int(rng.integers(0, busy + 1))):
            label = int(rng.integers(classes - bare)) if classes > bare else 0
            box = [40.0 * at, float(rng.integers(0, 30)), 20.0, 20.0]
            truth["image_ids"].append(image)
            truth["category_ids"].append(label)
            truth["boxes"].append(box)
            truth["crowd"].append(int(rng.random() < 0.1))
            if rng.random() < skill[label]:
                found["image_ids"].append(image)
                found["category_ids"].append(label)
                found["boxes"].append([box[0] + rng.uniform(-4, 4), box[1], box[2], box[3] * rng.uniform(0.7, 1.0)])
                found["scores"].append(round(float(rng.beta(4, 2)), digits))
        for _ in range(int(rng.integers(0, busy))):
            found["image_ids"].append(image)
            found["category_ids"].append(int(rng.integers(classes)))
            found["boxes"].append([*rng.uniform(0, 100, 2).tolist(), 20.0, 20.0])
            found["scores"].append(round(float(rng.beta(2, 4)), digits))
    names = {k: f"class {k}" for k in range(classes)}
    gt = GroundTruth.from_arrays(**truth, images=list(range(images)), categories=names)
    return evaluate(gt, Detections.from_arrays(**found))
