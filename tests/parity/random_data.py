"""Small data sets full of the cases in which evaluators differ."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from random import Random
from typing import Any

__all__ = ["Case", "random_case", "random_invalid_case"]

# Both ends of COCO's ranges belong to them, so the neighbours of an end tell `<` from `<=`.
BORDERS = [0.0, 1024.0, 9216.0, 1e10]
AREAS = [*BORDERS, *(math.nextafter(b, math.inf) for b in BORDERS), *(math.nextafter(b, 0.0) for b in BORDERS[1:])]
# Sides of boxes whose area is a border (32 x 32, 16 x 64, 96 x 96), none at all, or about one.
SIDES = [0.0, 1.0, 16.0, 20.0, 30.0, 32.0, 32.00000000000001, 50.0, 64.0, 96.0, 95.99999999999999, 120.0]


@dataclass
class Case:
    """One data set and how to evaluate it."""

    seed: int
    gt: dict[str, Any]
    dt: list[dict[str, Any]]
    protocol: dict[str, Any] = field(default_factory=dict)  # what differs from COCO
    subset: dict[str, Any] = field(default_factory=dict)  # images, categories

    def __str__(self) -> str:
        return f"seed {self.seed}: {self.protocol} {self.subset}"


def random_case(seed: int) -> Case:
    """The same case for the same seed, on every machine and version of Python."""
    rng = Random(seed)
    image_ids = rng.sample(range(-3, 40), rng.choice([1, 1, 2, 3, 5, 8]))
    category_ids = rng.sample(range(91), rng.choice([1, 1, 1, 2, 2, 3, 8]))
    gt: dict[str, Any] = {
        "images": [{"id": i, "width": 640, "height": 480} for i in image_ids],
        "categories": [{"id": c, "name": f"class {c}"} for c in category_ids],
        "annotations": [],
    }
    busy_images = [i for i in image_ids if rng.random() < 0.8]  # the others stay empty
    amount = rng.choice([0, 1, 2, 4, 8, 16, 40])
    gt_ids = rng.sample([*range(-5, 0), *range(1, 400)], amount)
    gt["annotations"] = [_annotation(rng, i, busy_images, category_ids) for i in gt_ids if busy_images]

    dt = [
        _detection(rng, gt["annotations"], image_ids, category_ids) for _ in range(rng.choice([0, 1, 3, 6, 12, 24, 80]))
    ]
    if rng.random() < 0.04:  # more than the cap of 100 in one image and class
        image, category = rng.choice(image_ids), rng.choice(category_ids)
        crowded = [_detection(rng, gt["annotations"], [image], [category]) for _ in range(rng.randint(101, 130))]
        dt += [{**d, "image_id": image, "category_id": category} for d in crowded]
    if rng.random() < 0.2:
        _add_twins(rng, gt["annotations"], dt)
    rng.shuffle(dt)
    return Case(seed, gt, dt, _protocol(rng), _subset(rng, image_ids, category_ids))


def random_invalid_case(seed: int) -> Case:
    """A case with records that the format does not allow, of the kinds that pycocotools scores nevertheless."""
    case = random_case(seed)
    rng = Random(f"invalid {seed}")
    annotations, images = case.gt["annotations"], case.gt["images"]
    for _ in range(rng.randint(1, 4)):
        kind = rng.choice(["repeated id", "id 0", "orphan", "no category", "negative", "huge", "repeated image"])
        record = rng.choice([*annotations, *case.dt]) if annotations or case.dt else None
        if kind == "repeated image":
            images.append(dict(rng.choice(images)))
        elif kind in ("negative", "huge") and record:
            side = rng.choice([2, 3]) if kind == "negative" else rng.randrange(4)
            record["bbox"] = list(record["bbox"])
            record["bbox"][side] = -record["bbox"][side] if kind == "negative" else rng.choice([1e16, 1e154, 3e200])
        elif kind == "no category" and record:
            record["category_id"] = 999
        elif annotations and kind == "repeated id":
            rng.choice(annotations)["id"] = rng.choice(annotations)["id"]
            # pycocotools replaces only those of equal ids that lie within the subset; ioukit does when it reads.
            case.subset = {}
        elif annotations and kind == "id 0":
            rng.choice(annotations)["id"] = 0
        elif annotations and kind == "orphan":
            rng.choice(annotations)["image_id"] = 999
    return case


def _box(rng: Random) -> list[float]:
    style = rng.random()
    if style < 0.6:  # a coarse grid: equal boxes, equal IoU, touching edges
        return [
            float(rng.randrange(-20, 60, 10)),
            float(rng.randrange(0, 60, 10)),
            rng.choice(SIDES),
            rng.choice(SIDES),
        ]
    if style < 0.9:
        return [round(rng.uniform(-10, 80), 2), round(rng.uniform(-10, 80), 2), *(rng.uniform(0, 130) for _ in "wh")]
    return [rng.randrange(0, 50), rng.randrange(0, 50), rng.randrange(1, 120), rng.randrange(1, 120)]


def _annotation(rng: Random, number: int, image_ids: list[int], category_ids: list[int]) -> dict[str, Any]:
    box = _box(rng)
    annotation = {
        "id": number,
        "image_id": rng.choice(image_ids),
        "category_id": rng.choice(category_ids),
        "bbox": box,
        "area": rng.choice([box[2] * box[3], rng.choice(AREAS), rng.uniform(0, 12_000)]),
        "iscrowd": int(rng.random() < 0.15),
    }
    if rng.random() < 0.1:
        annotation["ignore"] = rng.choice([0, 1])  # pycocotools reads it and overwrites it with iscrowd
    return annotation


def _add_twins(rng: Random, annotations: list[dict[str, Any]], dt: list[dict[str, Any]]) -> None:
    """Adds a detection just between two objects, and one on one of them: whether it finds it depends on the tie."""
    for original in rng.sample(annotations, min(3, len(annotations))):
        x, y, w, h = original["bbox"] = [rng.randrange(0, 50), rng.randrange(0, 50), rng.choice([30, 32, 64, 96]), 32]
        numbers = {a["id"] for a in annotations}
        twin = {**original, "id": max(numbers) + rng.randint(1, 9), "bbox": [x + 10, y, w, h]}
        annotations.insert(rng.randrange(len(annotations) + 1), twin)
        shared = {"image_id": original["image_id"], "category_id": original["category_id"]}
        dt.append({**shared, "bbox": [x + 5, y, w, h], "score": 0.9})
        dt.append({**shared, "bbox": rng.choice([original, twin])["bbox"], "score": 0.4})


def _detection(
    rng: Random, annotations: list[dict[str, Any]], image_ids: list[int], category_ids: list[int]
) -> dict[str, Any]:
    box, image, category = _box(rng), rng.choice(image_ids), rng.choice(category_ids)
    if annotations and rng.random() < 0.75:  # near an object, on it, or around it
        near = rng.choice(annotations)
        image, category, box = near["image_id"], near["category_id"], list(near["bbox"])
        if rng.random() < 0.6:
            side = rng.randrange(4)
            box[side] = max(0.0, box[side] + rng.choice([1.0, 2.5, 5.0, 10.0]) * rng.choice([-1, 1]))
        if rng.random() < 0.1:
            category = rng.choice(category_ids)
    score = rng.choice([rng.random(), round(rng.random(), 1), 0.5, rng.choice([0.0, -0.0, 1.0, -1.0, 1e-300, 250.0])])
    return {"image_id": image, "category_id": category, "bbox": box, "score": score}


def _protocol(rng: Random) -> dict[str, Any]:
    protocol: dict[str, Any] = {}
    if rng.random() < 0.15:
        few = rng.sample([0.1, 0.3, 0.5, 0.55, 0.75, 0.9, 0.9999999999, 0.99999999995, 1.0], rng.randint(1, 4))
        many = [i / 100 for i in range(1, rng.choice([65, 66, 100]))]  # than a machine word has bits, or about as many
        protocol["iou_thresholds"] = sorted(few) if rng.random() < 0.9 else many
    if rng.random() < 0.05:
        protocol["recall_thresholds"] = rng.choice([[0.0], [1.0], [0.1, 0.5, 0.9], [i / 10 for i in range(11)]])
    if rng.random() < 0.15:
        protocol["max_dets"] = rng.sample([1, 2, 3, 5, 10, 100, 300], rng.choice([1, 3, 3, 3, 5]))
    if rng.random() < 0.15:
        protocol["area_ranges"] = rng.choice(
            [
                {"all": (0.0, 1e10), "small": (0.0, 256.0), "medium": (256.0, 4096.0), "large": (4096.0, 1e10)},
                {"all": (0.0, 1e10), "tiny": (0.0, 1024.0)},
                {"all": (0.0, 1e10), "one": (1024.0, 1024.0), "small": (900.0, 9216.0)},
            ]
        )
    if rng.random() < 0.15:
        protocol["class_agnostic"] = True
    return protocol


def _subset(rng: Random, image_ids: list[int], category_ids: list[int]) -> dict[str, Any]:
    subset: dict[str, Any] = {}
    if rng.random() < 0.1:
        subset["images"] = sorted(rng.sample(image_ids, rng.randint(1, len(image_ids))))
    if rng.random() < 0.1:
        subset["categories"] = sorted(rng.sample(category_ids, rng.randint(1, len(category_ids))))
    return subset
