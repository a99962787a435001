"""Writes a seeded synthetic data set shaped like LVIS v1's validation set, for the benchmarks.

    python benchmarks/make_lvis.py bench-data                 # gt_lvis.json, dt_lvis.json: 20,000 images
    python benchmarks/make_lvis.py bench-data --images 500    # gt_lvis_500.json, dt_lvis_500.json

1,203 categories, Zipf-distributed; 12 annotations an image of 1 to 8 categories; 30 categories known to be absent and
up to 2 that are not annotated exhaustively. 300 detections an image: most annotations are found, some twice, and
false positives of any category fill up, as with a detector that has no score threshold.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import orjson

CATEGORIES = 1203
PER_IMAGE = 300
SHARES = (1 / np.arange(1, CATEGORIES + 1)) / (1 / np.arange(1, CATEGORIES + 1)).sum()
SIZE = (640, 480)


def categories() -> list[dict[str, Any]]:
    """A third each is frequent, common and rare, the most frequent first."""
    return [
        {"id": k + 1, "name": f"class_{k + 1}", "frequency": "fcr"[k * 3 // CATEGORIES], "synset": f"thing.n.{k + 1}"}
        for k in range(CATEGORIES)
    ]


def make(images: int, seed: int) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The ground truth as its file has it, and the columns of the detections."""
    rng = np.random.default_rng(seed)
    ids = np.sort(rng.choice(580_000, images, replace=False) + 1)
    image = np.repeat(np.arange(images), rng.poisson(12.2, images))
    pool = rng.choice(CATEGORIES, (images, 8), p=SHARES)
    count = len(image)
    category = pool[image, rng.integers(0, 8, count) % rng.integers(1, 9, images)[image]]
    side = np.clip(np.exp(rng.normal(np.log(40.0), 1.0, (count, 2))), 3, np.array(SIZE) * 0.98)
    boxes = np.round(np.concatenate([rng.random((count, 2)) * (np.array(SIZE) - side), side], axis=1), 2)
    order = rng.permutation(count)
    annotations = [
        {
            "id": i + 1,
            "image_id": int(ids[image[row]]),
            "category_id": int(category[row]) + 1,
            "bbox": boxes[row].tolist(),
        }
        | {"area": float(boxes[row, 2] * boxes[row, 3]), "segmentation": outline(boxes[row])}
        for i, row in enumerate(order.tolist())
    ]
    listed = [
        {
            "id": int(number),
            "width": SIZE[0],
            "height": SIZE[1],
            "coco_url": f"http://images.cocodataset.org/val2017/{number:012d}.jpg",
            "neg_category_ids": (np.unique(rng.choice(CATEGORIES, 30, p=SHARES)) + 1).tolist(),
            "not_exhaustive_category_ids": (np.unique(pool[row, : rng.integers(0, 3)]) + 1).tolist(),
        }
        for row, number in enumerate(ids.tolist())
    ]
    gt = {"info": {}, "images": listed, "annotations": annotations, "licenses": [], "categories": categories()}
    return gt, detect(rng, ids, image, category, boxes)


def outline(box: np.ndarray) -> list[list[float]]:
    """A polygon of 20 points within a box."""
    angle = np.linspace(0, 2 * np.pi, 20, endpoint=False)
    points = box[:2] + box[2:] * (0.5 + 0.5 * np.stack([np.cos(angle), np.sin(angle)], axis=1))
    return [np.round(points, 2).ravel().tolist()]


def detect(rng: Any, ids: Any, image: Any, category: Any, boxes: Any) -> dict[str, np.ndarray]:
    hit = np.flatnonzero(rng.random(2 * len(image)) < 0.75) % len(image)
    found = boxes[hit] * np.exp(rng.normal(0, 0.05, (len(hit), 4)))
    have = np.bincount(image[hit], minlength=len(ids))
    other = np.repeat(np.arange(len(ids)), np.maximum(PER_IMAGE - have, 0))
    side = np.clip(np.exp(rng.normal(np.log(40.0), 1.0, (len(other), 2))), 3, np.array(SIZE) * 0.98)
    false = np.concatenate([rng.random((len(other), 2)) * (np.array(SIZE) - side), side], axis=1)
    scores = 1 / (1 + np.exp(-np.concatenate([rng.normal(1.0, 1.5, len(hit)), rng.normal(-3.2, 1.1, len(other))])))
    at = np.concatenate([image[hit], other])
    order = np.lexsort((-scores, at))
    columns = {
        "image_id": ids[at],
        "category_id": np.concatenate([category[hit], rng.choice(CATEGORIES, len(other), p=SHARES)]) + 1,
        "bbox": np.concatenate([found, false]).astype(np.float32).astype(float),
        "score": scores.astype(np.float32).astype(float),
    }
    return {name: column[order] for name, column in columns.items()}


def write_detections(path: Path, columns: dict[str, np.ndarray]) -> None:
    with path.open("wb") as file:
        file.write(b"[")
        for start in range(0, len(columns["score"]), 100_000):
            parts = [column[start : start + 100_000].tolist() for column in columns.values()]
            records = [dict(zip(columns, row, strict=True)) for row in zip(*parts, strict=True)]
            file.write(b"," * (start > 0) + orjson.dumps(records)[1:-1])
        file.write(b"]")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--images", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=20191901)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    suffix = "" if options.images == 20_000 else f"_{options.images}"
    gt, dt = make(options.images, options.seed)
    (options.folder / f"gt_lvis{suffix}.json").write_bytes(orjson.dumps(gt))
    write_detections(options.folder / f"dt_lvis{suffix}.json", dt)


if __name__ == "__main__":
    main()
