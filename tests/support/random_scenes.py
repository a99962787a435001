"""Small random data, dense with what decides between evaluations: equal scores and overlaps, crowds, caps that bite."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from ioukit import COCO, Detections, GroundTruth, evaluate
from ioukit.datasets import IdLists
from ioukit.evaluation import AreaRange, Evaluation, Measure
from ioukit.evaluation.protocols.registry import PROTOCOLS

__all__ = ["RULES", "random_data", "random_evaluation"]

_AREAS = (AreaRange("all", 0.0, 1e10), AreaRange("small", 0.0, 45.0), AreaRange("large", 45.0, math.inf))
_FEW = COCO.replace(iou_thresholds=[0.3, 0.5, 0.8], area_ranges=_AREAS)


def _at_two_caps(low: int) -> tuple[Measure, ...]:
    return (
        Measure("AP"),
        Measure("AP at less", max_dets=low),
        Measure("AP50", iou_threshold=0.5),
        Measure("APs", area_range="small"),
        Measure("APl at less", area_range="large", max_dets=low),
        Measure("AR", "AR"),
        Measure("AR at less", "AR", max_dets=low),
    )


RULES = {
    "coco": COCO,
    "coco of few": _FEW.replace(max_dets=[2, 4], summary=_at_two_caps(2)),
    "class-agnostic": _FEW.replace(class_agnostic=True, max_dets=[2, 3], summary=_at_two_caps(2)),
    "class-agnostic, cap per image": _FEW.replace(
        class_agnostic=True, max_dets=[2, 4], cap_scope="image", summary=_at_two_caps(2)
    ),
    "class-agnostic, cap per category": _FEW.replace(class_agnostic=True, max_dets=[5], cap_scope="category"),
    "cap per image": _FEW.replace(max_dets=[3, 5], cap_scope="image", summary=_at_two_caps(3)),
    "cap per category": _FEW.replace(max_dets=[4, 9], cap_scope="category", summary=_at_two_caps(4)),
    "few recalls": _FEW.replace(recall_thresholds=[0.0, 0.2, 0.25, 0.6, 1.0]),
    "mean over all": _FEW.replace(mean_over="all"),
    "mean over detected": COCO.replace(iou_thresholds=[0.5, 1.0], mean_over="with_objects_or_detections"),
    "points": PROTOCOLS["voc2007"],
    "area": PROTOCOLS["voc2012"],
    "dota": PROTOCOLS["dota-task2"],
    "tide": PROTOCOLS["tide"].replace(max_dets=[4]),
    "trapezoid": PROTOCOLS["ultralytics"].replace(max_dets=[5]),
    "sloping": PROTOCOLS["ultralytics-8-3"],
    "groups": PROTOCOLS["open-images"],
    "groups count once": PROTOCOLS["open-images-challenge"].replace(max_dets=[4]),
    "groups, class-agnostic": PROTOCOLS["open-images-challenge"].replace(
        max_dets=[4], class_agnostic=True, cap_scope="image"
    ),
    "lvis": PROTOCOLS["lvis"].replace(max_dets=[5], area_ranges=_AREAS),
    "lvis fixed": PROTOCOLS["lvis-fixed"].replace(max_dets=[6]),
    "verified": _FEW.replace(verified="with_objects", max_dets=[3]),
}
"""Protocols by name, with every rule that influence depends on."""


def random_data(seed: int) -> tuple[GroundTruth, Detections]:
    """Objects and detections on one to five images, of one to four categories; scores and corners are whole steps."""
    rng = np.random.default_rng(seed)
    images, classes = rng.integers(1, 6), rng.integers(1, 5)
    objects, detections = rng.integers(0, 10), rng.integers(0, 18)
    boxes = np.hstack([rng.integers(0, 12, (objects, 2)), rng.integers(2, 13, (objects, 2))]).astype(float)
    image, category = rng.integers(0, images, objects), rng.integers(0, classes, objects)
    found = np.hstack([rng.integers(0, 12, (detections, 2)), rng.integers(0, 13, (detections, 2))]).astype(float)
    found_image, found_category = rng.integers(0, images, detections), rng.integers(0, classes, detections)
    if objects:  # most detections lie near an object, many of them on the same place
        near, of = rng.random(detections) < 0.8, rng.integers(0, objects, detections)
        moved = boxes[of] + rng.integers(-2, 3, (detections, 4)) * (rng.random((detections, 1)) < 0.7)
        found[near] = np.maximum(moved, 0)[near]
        found_image[near] = image[of][near]
        same = near & (rng.random(detections) < 0.85)
        found_category[same] = category[of][same]
    names = ["crowd", "difficult", "ignore", "group_of", *(["void"] if rng.random() < 0.3 else [])]
    lists = [
        IdLists.of([rng.permutation(classes)[: rng.integers(0, classes + 1)] + 1 for _ in range(images)])
        for _ in range(4)
    ]
    columns = ("neg_category_ids", "not_exhaustive_category_ids", "positive_category_ids", "negative_category_ids")
    ground_truth = GroundTruth.from_arrays(
        image_ids=image + 1,
        category_ids=category + 1,
        boxes=boxes,
        areas=boxes[:, 2] * boxes[:, 3] * rng.choice([0.0, 0.5, 1.0], objects, p=[0.05, 0.25, 0.7]),
        images=np.arange(1, images + 1),
        categories=np.arange(1, classes + 1),
        flags={name: rng.random(objects) < 0.15 for name in names},
        image_attributes=dict(zip(columns, lists, strict=True)),
        category_attributes={"frequency": rng.choice(["r", "c", "f"], classes)},
    )
    steps = rng.choice([3, 8, 1000])
    return ground_truth, Detections.from_arrays(
        image_ids=found_image + 1,
        category_ids=found_category + 1,
        boxes=found,
        scores=rng.integers(0, steps, detections) / steps,
    )


def random_evaluation(seed: int, rules: str) -> Evaluation:
    """The evaluation of :func:`random_data` by one of :data:`RULES`."""
    return evaluate(*random_data(seed), RULES[rules], threads=1)


def without_data(evaluation: Evaluation) -> Evaluation:
    """The same evaluation without its data."""
    return dataclasses.replace(evaluation, ground_truth=None, detections=None)
