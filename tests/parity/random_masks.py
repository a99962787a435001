"""Small data sets of masks in every spelling: polygons, runs, compressed runs; some empty, some equal, some crowds."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
from pycocotools import mask as mask_utils

from parity.reference import silenced

__all__ = ["random_mask_case"]


def _pixels(rng: Random, height: int, width: int) -> np.ndarray[Any, Any]:
    pixels = np.zeros((height, width), np.uint8)
    style = rng.random()
    if style < 0.75:  # a block, perhaps with a hole
        y, x = rng.randrange(height), rng.randrange(width)
        high, wide = rng.randint(1, height), rng.randint(1, width)
        pixels[y : y + high, x : x + wide] = 1
        if rng.random() < 0.3:
            pixels[y + 1 : y + high // 2, x + 1 : x + wide // 2] = 0
    elif style < 0.95:  # noise
        flat = [int(rng.random() < 0.4) for _ in range(height * width)]
        pixels[:] = np.array(flat, np.uint8).reshape(height, width)
    return pixels  # else nothing


def _spelled(rng: Random, pixels: np.ndarray[Any, Any]) -> Any:
    height, width = pixels.shape
    with silenced():
        record = mask_utils.encode(np.asfortranarray(pixels))
    if rng.random() < 0.5:
        return {"size": [height, width], "counts": record["counts"].decode()}
    runs, last, count = [], 0, 0
    for value in pixels.flatten(order="F").tolist():
        if value != last:
            runs.append(count)
            last, count = value, 0
        count += 1
    return {"size": [height, width], "counts": [*runs, count]}


def _polygons(rng: Random, height: int, width: int) -> list[list[float]]:
    rings = []
    for _ in range(rng.choice([1, 1, 1, 2])):
        points = rng.choice([3, 4, 5, 8])
        ring = [
            round(rng.uniform(-2, side + 2), rng.choice([0, 1, 2])) for _ in range(points) for side in (width, height)
        ]
        rings.append(ring)
    return rings


def _near(rng: Random, pixels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The mask moved by a pixel or so, or itself."""
    moved = np.roll(pixels, (rng.randint(-1, 1), rng.randint(-1, 1)), (0, 1))
    return moved if rng.random() < 0.8 else pixels


def random_mask_case(seed: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A ground truth and results; the first result decides whether all have boxes."""
    rng = Random(seed)
    sizes = [(rng.randint(1, 14), rng.randint(1, 14)) for _ in range(rng.randint(1, 3))]
    images = [{"id": k + 1, "height": size[0], "width": size[1]} for k, size in enumerate(sizes)]
    annotations: list[dict[str, Any]] = []
    drawn: list[tuple[int, np.ndarray[Any, Any]]] = []
    for number in range(rng.choice([0, 1, 3, 6, 10])):
        image = rng.randrange(len(sizes))
        height, width = sizes[image]
        crowd = int(rng.random() < 0.15)
        if crowd or rng.random() < 0.4:
            pixels = _pixels(rng, height, width)
            segmentation: Any = _spelled(rng, pixels)
        else:
            segmentation = _polygons(rng, height, width)
            with silenced():
                pixels = mask_utils.decode(mask_utils.merge(mask_utils.frPyObjects(segmentation, height, width)))
        drawn.append((image, pixels))
        area = rng.choice([float(pixels.sum()), 1024.0, 9216.0, 500.5])
        annotations.append(
            {"id": number + 1, "image_id": image + 1, "category_id": rng.choice([1, 2]), "area": area, "iscrowd": crowd,
             "bbox": [0.0, 0.0, float(width), float(height)], "segmentation": segmentation}
        )  # fmt: skip
    with_box = rng.random() < 0.4
    results = []
    for _ in range(rng.choice([1, 2, 5, 12])):
        image = rng.randrange(len(sizes))
        near = [pixels for at, pixels in drawn if at == image]
        pixels = _near(rng, rng.choice(near)) if near and rng.random() < 0.7 else _pixels(rng, *sizes[image])
        record = {
            "image_id": image + 1,
            "category_id": rng.choice([1, 1, 2]),
            "segmentation": _spelled(rng, pixels),
            "score": rng.choice([0.1, 0.5, 0.9, rng.random()]),
        }
        if with_box:
            record["bbox"] = [float(rng.randrange(9)), 1.0, float(rng.randrange(200)), float(rng.randrange(99))]
        results.append(record)
    gt = {"images": images, "categories": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}], "annotations": annotations}
    return gt, results
