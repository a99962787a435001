"""Comparisons to show on a page: ordinary ones, empty ones, many classes, one image, hostile names."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import Detections, GroundTruth, evaluate
from ioukit.comparison import compare_models
from support.region_cases import evaluated
from support.report_cases import ATTACKS, attacked, coco, drawn, photographed, unscored

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit import Evaluation
    from ioukit.comparison import ModelComparison

__all__ = ["CASES", "compared", "hostile", "of_kind", "photographs", "shaken"]


def compared(models: dict[str, Evaluation], **options: Any) -> ModelComparison:
    """A comparison with few replicates, which is fast."""
    return compare_models(models, **{"replicates": 40, "permutations": 40, **options})


def shaken(evaluation: Evaluation, seed: int = 0) -> Evaluation:
    """Another model: boxes that moved, classes that changed, detections that are missing or new."""
    truth, known = evaluation.ground_truth, evaluation.detections
    assert truth is not None
    assert known is not None
    rng, count = np.random.default_rng(seed), len(known)
    boxes, classes = known.boxes.copy(), known.category_ids.copy()
    moved, other = rng.random(count) < 0.3, rng.random(count) < 0.05
    boxes[moved, :2] += rng.normal(0, 0.12, (int(moved.sum()), 2)) * boxes[moved, 2:]
    classes[other] = rng.choice(truth.categories.ids, int(other.sum()))
    kept = rng.random(count) < 0.9
    found = rng.permutation(len(truth))[: len(truth) // 8]
    detections = Detections.from_arrays(
        image_ids=np.concatenate([known.image_ids[kept], truth.image_ids[found]]),
        category_ids=np.concatenate([classes[kept], truth.category_ids[found]]),
        boxes=np.concatenate([boxes[kept], truth.boxes[found]]),
        scores=np.concatenate([known.scores[kept], rng.random(len(found)).round(2)]),
    )
    return evaluate(truth, detections)


def _without(evaluation: Evaluation) -> Evaluation:
    truth = evaluation.ground_truth
    assert truth is not None
    none = Detections.from_arrays(image_ids=[], category_ids=[], boxes=np.zeros((0, 4)), scores=[])
    return evaluate(truth, none)


def _shaken_pair(a: Evaluation, **options: Any) -> ModelComparison:
    return compared({"first": a, "second": shaken(a)}, **options)


def _one_image() -> ModelComparison:
    """Objects and detections on one image; intervals need a second one."""
    a = drawn(8, ["cat", "dog"], images=1)
    truth, known = a.ground_truth, a.detections
    assert truth is not None
    assert known is not None
    more = GroundTruth.from_arrays(
        image_ids=truth.image_ids,
        category_ids=truth.category_ids,
        boxes=truth.boxes,
        images=[1, 2],
        categories={1: "cat", 2: "dog"},
    )
    return _shaken_pair(evaluate(more, known))


def _many_classes() -> Evaluation:
    return drawn(3000, [f"class {number}" for number in range(1, 1204)], images=25)


def _no_objects() -> ModelComparison:
    gt = GroundTruth.from_arrays(
        image_ids=[], category_ids=[], boxes=np.zeros((0, 4)), images=[1, 2], categories={1: "cat"}
    )
    one, two = (
        Detections.from_arrays(image_ids=[image], category_ids=[1], boxes=[[0, 0, 5, 5]], scores=[0.5])
        for image in (1, 2)
    )
    return compared({"first": evaluate(gt, one), "second": evaluate(gt, two)})


def _tables() -> ModelComparison:
    a = drawn(200, ["cat", "dog", "bird"])
    sides = [type(a).from_table(one.near_matches()) for one in (a, shaken(a))]
    return compared({"first": sides[0], "second": sides[1]})


def _three_models() -> ModelComparison:
    a = drawn(200, ["cat", "dog", "bird"])
    return compared({"first": a, "second": shaken(a), "third": shaken(a, 1)})


def _one_empty() -> ModelComparison:
    a = drawn(50, ["cat", "dog", "bird"])
    return compared({"first": a, "nothing found": _without(a)})


def _both_empty() -> ModelComparison:
    a = drawn(50, ["cat", "dog", "bird"], found=False)
    return compared({"first": a, "second": _without(a)})


def _equal() -> ModelComparison:
    a = drawn(50, ["cat", "dog", "bird"])
    return compared({"first": a, "the same": a})


def of_kind(kind: str) -> ModelComparison:
    """Regions of a kind: B has two of three detections of A."""
    a = evaluated(kind)
    assert a.ground_truth is not None
    assert a.detections is not None
    rows = np.flatnonzero(np.arange(len(a.detections)) % 3 != 0)
    b = evaluate(a.ground_truth, a.detections[rows], protocol=a.protocol, iou_type=kind)
    return compared({"all": a, "two of three": b})


def photographs() -> ModelComparison:
    """Six images that have crowds."""
    return _shaken_pair(photographed())


def hostile(folder: Path) -> ModelComparison:
    """Every name is an attack: those of classes, images, files and models."""
    a = attacked(folder)
    return compared({ATTACKS[0]: a, ATTACKS[1]: shaken(a)}, score_threshold=0.0)


def _without_scores() -> ModelComparison:
    a = unscored()
    assert a.ground_truth is not None
    assert a.detections is not None
    b = shaken(a).detections
    assert b is not None
    return compared({"first": a, "second": evaluate(a.ground_truth, dataclasses.replace(b, scored=False))})


CASES = {
    "three classes": lambda: _shaken_pair(drawn(200, ["cat", "dog", "bird"])),
    "80 classes": lambda: _shaken_pair(coco()),
    "1,203 classes": lambda: _shaken_pair(_many_classes(), replicates=4, permutations=4),  # each takes long
    "crowds": photographs,
    "one image": _one_image,
    "three models": _three_models,
    "long names": lambda: _shaken_pair(
        drawn(200, ["a long name of many words " * 4, "Schifffahrtsgesellschaft" * 6, "短い", "فئة طويلة"])
    ),
    "no detections of B": _one_empty,
    "no detections": _both_empty,
    "no objects": _no_objects,
    "nothing changed": _equal,
    "tables alone": _tables,
    "without scores": _without_scores,
}
"""Functions that make comparisons, by their special property."""
