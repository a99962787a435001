"""Small data sets in LVIS's form: categories that were looked for on some images only, objects to ignore, many ties."""

from __future__ import annotations

import math
from random import Random
from typing import Any

# The functions themselves: a program under test may replace those of the module.
from pycocotools.mask import frPyObjects, merge

__all__ = ["random_lvis"]

_AREAS = [0.0, 1.0, 1024.0, math.nextafter(1024.0, 0.0), 9216.0, math.nextafter(9216.0, math.inf), 1e10]
_SIDES = [0.0, 1.0, 16.0, 20.0, 30.0, 32.0, 50.0, 64.0, 96.0, 120.0]
_SIZE = (200, 160)


def random_lvis(seed: int, *, masks: bool = False) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Ground truth and at least one detection; the same for the same seed.

    With ``masks``, both have masks; in about half of the sets, the detections have no boxes.
    """
    rng = Random(f"lvis {seed} {masks}")
    images = rng.sample(range(-3, 40), rng.choice([1, 2, 3, 6]))
    categories = rng.sample(range(1, 40), rng.choice([1, 2, 4, 9]))

    def some(most: int) -> list[int]:
        return rng.sample(categories, rng.randint(0, min(most, len(categories))))

    gt: dict[str, Any] = {
        "images": [
            {
                "id": image,
                "width": _SIZE[0],
                "height": _SIZE[1],
                "coco_url": f"http://images.example/{image}.jpg",
                "neg_category_ids": [*some(4), *([77] if rng.random() < 0.1 else [])],
                "not_exhaustive_category_ids": some(2),
            }
            for image in images
        ],
        "categories": [{"id": c, "name": f"class {c}", "frequency": rng.choice("rcf")} for c in categories],
    }
    ids = rng.sample(range(1, 400), rng.choice([0, 1, 3, 8, 20, 40]))
    gt["annotations"] = [_annotation(rng, number, images, categories, masks=masks) for number in ids]
    count = rng.choice([1, 3, 8, 20, 60]) if rng.random() < 0.95 else rng.randint(310, 380)
    images_of = images if count < 300 else images[:1]
    without_boxes = masks and rng.random() < 0.5
    dt = [_detection(rng, gt["annotations"], images_of, categories, masks=masks) for _ in range(count)]
    if without_boxes:  # lvis reads compressed runs alone then
        for record in dt:
            del record["bbox"]
            runs = merge(frPyObjects(record["segmentation"], *_SIZE[::-1]))
            record["segmentation"] = {"size": runs["size"], "counts": runs["counts"].decode()}
    return gt, dt


def _box(rng: Random) -> list[float]:
    return [rng.choice([0, 5, 10.5, 30, 60]), rng.choice([0, 4, 12.25, 40]), rng.choice(_SIDES), rng.choice(_SIDES)]


def _polygon(box: list[float]) -> list[list[float]]:
    x, y, width, height = box
    return [[x, y, x + width, y, x + width, y + height, x + width / 3, y + height]]


def _annotation(rng: Random, number: int, images: list[int], categories: list[int], *, masks: bool) -> dict[str, Any]:
    box = _box(rng)
    record = {
        "id": number,
        "image_id": rng.choice(images),
        "category_id": rng.choice(categories),
        "bbox": box,
        "area": rng.choice(_AREAS) if rng.random() < 0.3 else box[2] * box[3],
    }
    if rng.random() < 0.3:
        record["ignore"] = rng.choice([0, 1, 1])
    if rng.random() < 0.1:
        record["iscrowd"] = 1  # LVIS does not read it
    return record | ({"segmentation": _polygon(box)} if masks else {})


def _detection(
    rng: Random, annotations: list[dict[str, Any]], images: list[int], categories: list[int], *, masks: bool
) -> dict[str, Any]:
    box, image, category = _box(rng), rng.choice(images), rng.choice(categories)
    if annotations and rng.random() < 0.7:
        near = rng.choice(annotations)
        if near["image_id"] in images:
            image = near["image_id"]
        category = near["category_id"] if rng.random() < 0.8 else category
        x, y, width, height = near["bbox"]
        box = [x + rng.choice([0, 0, 1, 3]), y, width * rng.choice([1, 1, 0.9, 0.75]), height]
    score = rng.choice([0.1, 0.5, 0.5, 0.9, round(rng.random(), 3)])
    record = {"image_id": image, "category_id": category, "bbox": box, "score": score}
    return record | ({"segmentation": _polygon(box)} if masks else {})
