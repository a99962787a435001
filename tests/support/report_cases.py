"""Evaluations to report: ordinary ones, empty ones, and one in which every name is an attack."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import Detections, GroundTruth, evaluate, read_coco
from support.paths import DEMO, ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ioukit import Evaluation

__all__ = ["ATTACKS", "CASES", "attacked", "coco", "drawn", "photographed", "unscored"]

EXAMPLE = ROOT / "examples" / "coco_val2017_100"

ATTACKS = (
    "</script><script>window.pwned = 1</script>",
    "<img src=x onerror='window.pwned = 2'>",
    '"><svg onload="window.pwned = 3">',
    "' onmouseover='window.pwned = 4' x='",
    "javascript:window.pwned=5",
    "{{7*7}}{% for x in y %}",
    "${window.pwned = 6}`",
    "<!-- <script>",
    "]]></script><iframe srcdoc='<script>parent.pwned=7</script>'>",
    "line\u2028and\u2029paragraph\nand\rbreaks",
    "\u202eright to left\u202c \u200f \u061c",
    "lone \ud800 surrogate \udfff",
    "nul \x00 bell \x07 escape \x1b[31m",
    "&lt;b&gt; &amp; <b>bold</b> <style>*{display:none}</style>",
    "<a href='http://example.invalid/'>http://example.invalid/x.png</a>",
    "__proto__",
    "",
)


def coco() -> Evaluation:
    """A hundred images and 80 classes of COCO with the detections of a real detector."""
    return evaluate(*read_coco(EXAMPLE / "ground_truth.json", EXAMPLE / "yolact.json"))


def photographed() -> Evaluation:
    """Six images that have crowds."""
    folder = DEMO
    return evaluate(*read_coco(folder / "gt.json", folder / "a.json"))


def drawn(objects: int, names: list[str], *, images: int = 20, seed: int = 0, found: bool = True) -> Evaluation:
    """Random boxes, most of them found, some as another class, and some detections on background."""
    rng = np.random.default_rng(seed)
    image, category = rng.integers(1, images + 1, objects), rng.integers(1, len(names) + 1, objects)
    boxes = np.hstack([rng.uniform(0, 500, (objects, 2)), rng.uniform(10, 150, (objects, 2))])
    gt = GroundTruth.from_arrays(
        image_ids=image,
        category_ids=category,
        boxes=boxes,
        images=np.arange(1, images + 1),
        categories=dict(enumerate(names, 1)),
    )
    if not found:
        return evaluate(gt, Detections.from_arrays(image_ids=[], category_ids=[], boxes=np.zeros((0, 4)), scores=[]))
    shaken = boxes + rng.normal(0, 6, boxes.shape)
    shaken[:, 2:] = np.abs(shaken[:, 2:]) + 1
    said = np.where(rng.random(objects) < 0.15, rng.integers(1, len(names) + 1, objects), category)
    kept, more = np.flatnonzero(rng.random(objects) < 0.85), slice(0, objects // 5)
    dt = Detections.from_arrays(
        image_ids=np.r_[image[kept], image[more]],
        category_ids=np.r_[said[kept], category[more]],
        boxes=np.vstack([shaken[kept], boxes[more] + 40]),
        scores=rng.random(len(kept) + objects // 5).round(3),
    )
    return evaluate(gt, dt)


def attacked(folder: Path, names: Sequence[str] = ATTACKS) -> Evaluation:
    """Every name of a category, an image or a file is an attack, as far as such names are possible."""
    count = len(names)
    boxes = [[10.0 * k, 10.0, 40.0, 40.0] for k in range(count)]
    gt: dict[str, Any] = {
        "images": [{"id": k, "file_name": name, "width": 400, "height": 300} for k, name in enumerate(names, 1)],
        "categories": [{"id": k, "name": name} for k, name in enumerate(names, 1)],
        "annotations": [
            {"id": k, "image_id": k, "category_id": k, "bbox": box, "area": 1600, "iscrowd": 0}
            for k, box in enumerate(boxes, 1)
        ],
    }
    dt = [
        {"image_id": k, "category_id": k % count + 1 if k % 2 else k, "bbox": box, "score": k / 100}
        for k, box in enumerate(boxes, 1)
    ]
    paths = folder / "<img src=x onerror=pwned=8> {{7*7}}.json", folder / "'\"><script>pwned=9<\u2215script>.json"
    for path, content in zip(paths, (gt, dt), strict=True):
        path.write_text(json.dumps(content), encoding="utf-8")
    return evaluate(*read_coco(*paths))


def _nothing() -> Evaluation:
    gt = GroundTruth.from_arrays(
        image_ids=[], category_ids=[], boxes=np.zeros((0, 4)), images=[], categories=np.zeros(0, np.int64)
    )
    return evaluate(gt, Detections.from_arrays(image_ids=[], category_ids=[], boxes=np.zeros((0, 4)), scores=[]))


def _no_objects() -> Evaluation:
    gt = GroundTruth.from_arrays(
        image_ids=[], category_ids=[], boxes=np.zeros((0, 4)), images=[1, 2], categories={1: "cat"}
    )
    dt = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 5, 5]], scores=[0.5])
    return evaluate(gt, dt)


def _perfect() -> Evaluation:
    gt = drawn(20, ["cat", "dog"]).ground_truth
    assert gt is not None
    dt = Detections.from_arrays(
        image_ids=gt.image_ids, category_ids=gt.category_ids, boxes=gt.boxes, scores=np.linspace(0.1, 0.9, len(gt))
    )
    return evaluate(gt, dt)


def _all_wrong() -> Evaluation:
    gt = drawn(20, ["cat", "dog"]).ground_truth
    assert gt is not None
    dt = Detections.from_arrays(
        image_ids=[1, 2], category_ids=[1, 2], boxes=[[900, 900, 3, 3], [900, 900, 3, 0]], scores=[-1.5, 3e7]
    )
    return evaluate(gt, dt)


def unscored() -> Evaluation:
    """What nothing ranks."""
    found = drawn(120, ["car", "cat", "owl"], images=30)
    assert found.ground_truth is not None
    assert found.detections is not None
    ones = np.ones(len(found.detections))
    return evaluate(found.ground_truth, dataclasses.replace(found.detections, scores=ones, scored=False))


CASES = {
    "three classes": lambda: drawn(200, ["cat", "dog", "bird"]),
    "80 classes": coco,
    "long names": lambda: drawn(
        200, ["a long name of many words " * 4, "Schifffahrtsgesellschaft" * 6, "短い", "فئة طويلة"]
    ),
    "crowds": photographed,
    "one class": lambda: drawn(30, ["cat"]),
    "one image": lambda: drawn(5, ["cat", "dog"], images=1),
    "no detections": lambda: drawn(50, ["cat", "dog", "bird"], found=False),
    "no objects": _no_objects,
    "nothing at all": _nothing,
    "perfect": _perfect,
    "all wrong": _all_wrong,
    "without scores": unscored,
}
"""Functions that make evaluations, by their special property."""
