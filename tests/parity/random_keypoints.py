"""Small data sets of keypoints full of the cases in which evaluators differ."""

from __future__ import annotations

from random import Random
from typing import Any

__all__ = ["random_keypoint_case"]

POINTS = 17


def random_keypoint_case(seed: int, points_each: int = POINTS) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The same ground truth and detections for the same seed, on every machine and version of Python."""
    rng = Random(f"keypoints {seed}")
    image_ids = rng.sample(range(1, 40), rng.choice([1, 2, 3, 6]))
    category_ids = rng.sample(range(1, 91), rng.choice([1, 1, 2]))
    annotations: list[dict[str, Any]] = []
    for number in rng.sample(range(1, 400), rng.choice([0, 1, 3, 8, 20])):
        width, height = rng.choice([8.0, 20.0, 40.0, 96.0, 160.0]), rng.choice([10.0, 30.0, 64.5, 120.0])
        box = [rng.choice([0.0, 12.0, 30.25]), rng.choice([0.0, 7.0, 55.5]), width, height]
        labelled = rng.choice([0, 1, 5, 9, points_each])
        points = _points(rng, box, labelled, points_each)
        annotations.append(
            {
                "id": number,
                "image_id": rng.choice(image_ids),
                "category_id": rng.choice(category_ids),
                "bbox": box,
                "area": rng.choice([width * height, width * height * 0.53, 1024.0, 9216.0]),
                "iscrowd": int(rng.random() < 0.15),
                "keypoints": points,
                # The number that files tell is not always that of the points.
                "num_keypoints": labelled if rng.random() < 0.9 else rng.choice([0, 3]),
            }
        )
    results = [
        _result(rng, annotations, image_ids, category_ids, points_each) for _ in range(rng.choice([1, 4, 12, 40, 90]))
    ]
    if rng.random() < 0.3:
        for record in results:
            record["bbox"] = [0.0, 0.0, rng.choice([10.0, 40.0, 100.0]), 40.0]
    truth = {
        "images": [{"id": image, "width": 640, "height": 480} for image in image_ids],
        "categories": [{"id": category, "name": f"class {category}"} for category in category_ids],
        "annotations": annotations,
    }
    return truth, results


def _points(rng: Random, box: list[float], labelled: int, points_each: int) -> list[float]:
    x, y, width, height = box
    seen = set(rng.sample(range(points_each), labelled))
    whole = rng.random() < 0.5
    points: list[float] = []
    for point in range(points_each):
        place = [x + rng.random() * width, y + rng.random() * height] if point in seen else [0.0, 0.0]
        points += [int(value) if whole else value for value in place]
        points.append(rng.choice([1, 2]) if point in seen else 0)
    return points


def _result(
    rng: Random, annotations: list[dict[str, Any]], image_ids: list[int], category_ids: list[int], points_each: int
) -> dict[str, Any]:
    record = {
        "image_id": rng.choice(image_ids),
        "category_id": rng.choice(category_ids),
        "keypoints": [rng.choice([0.0, rng.random() * 200]) for _ in range(3 * points_each)],
        "score": rng.choice([0.1, 0.5, 0.5, rng.random()]),
    }
    if annotations and rng.random() < 0.8:
        near = rng.choice(annotations)
        off = rng.choice([0.0, 1.0, 4.0, 15.0])
        points = list(near["keypoints"])
        for at in range(0, 3 * points_each, 3):
            if points[at + 2] == 0:
                points[at] = near["bbox"][0] + rng.uniform(-1, 2) * near["bbox"][2]
                points[at + 1] = near["bbox"][1] + rng.uniform(-1, 2) * near["bbox"][3]
            points[at] += rng.gauss(0, 1) * off
            points[at + 1] += rng.gauss(0, 1) * off
            points[at + 2] = rng.random()
        record |= {"image_id": near["image_id"], "keypoints": points}
        if rng.random() < 0.9:
            record["category_id"] = near["category_id"]
    return record
