"""Random files as TAO has them: videos that list what was looked for, merged classes, ids that several videos have."""

from __future__ import annotations

from typing import Any

import numpy as np

CLASSES = [1, 2, 3, 5, 8]


def random_tao_set(seed: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The ground truth and the result of a set. Every third one is on a grid, so that overlaps and costs tie."""
    rng = np.random.default_rng(seed)
    categories: list[dict[str, Any]] = [{"id": one, "name": f"class {one}"} for one in (*CLASSES, 9)]
    categories[1]["merged"] = [{"id": 9, "name": "class 9"}]
    truth: dict[str, Any] = {"videos": [], "images": [], "annotations": [], "tracks": [], "categories": categories}
    found: list[dict[str, Any]] = []
    image_ids = iter(rng.permutation(50_000).tolist())  # the order of sums of tubes depends on the ids
    for video in range(1, 1 + int(rng.integers(1, 4))):
        name = f"val/source {rng.integers(9)}/{video:03d}"
        lists = [rng.choice(CLASSES, int(rng.integers(0, 3)), replace=False).tolist() for _ in range(2)]
        truth["videos"].append(
            {"id": video, "name": name, "neg_category_ids": lists[0], "not_exhaustive_category_ids": lists[1]}
        )
        frames = [next(image_ids) for _ in range(int(rng.integers(2, 14)))]
        truth["images"] += [
            {"id": one, "video_id": video, "frame_index": 30 * at, "file_name": f"{name}/{at:04d}.jpg"}
            for at, one in enumerate(frames)
        ]
        found += _walk(rng, truth, video, frames, on_grid=seed % 3 == 0, digits=1 if seed % 2 else 3)
    return truth, found


def _walk(
    rng: np.random.Generator, truth: dict[str, Any], video: int, frames: list[int], *, on_grid: bool, digits: int
) -> list[dict[str, Any]]:
    """Adds the objects of a video, and returns the result."""
    count, tracks = int(rng.integers(0, 7)), len(truth["tracks"])
    places, sizes = rng.uniform(0, 20, (count, 2)), rng.uniform(3, 12, (count, 2))
    kinds = rng.choice([*CLASSES[:3], 9], count).tolist()
    truth["tracks"] += [
        {"id": tracks + at + 1, "category_id": kind, "video_id": video} for at, kind in enumerate(kinds)
    ]
    for image in frames:
        if rng.random() < 0.15:
            continue  # an image without objects, in which some results are
        places = places + rng.normal(0, 0.7, (count, 2))
        for at in rng.permutation(count).tolist():
            box = _snapped(np.concatenate([places[at], sizes[at]]), on_grid)
            if rng.random() < 0.8:
                record = {"image_id": image, "video_id": video, "track_id": tracks + at + 1, "category_id": kinds[at]}
                number = len(truth["annotations"]) + 1
                truth["annotations"].append({"id": number, **record, "bbox": box, "area": box[2] * box[3]})
    found = []
    followers = (rng.permutation(40)[: count + 4] + 1).tolist()
    for image in rng.permutation(frames).tolist():
        for at in rng.permutation(count + 2).tolist():
            near = at < count
            place = (np.concatenate([places[at], sizes[at]]) if near else rng.uniform(2, 12, 4)) + rng.normal(0, 0.8, 4)
            kind = kinds[at] if near and rng.random() < 0.9 else int(rng.choice(CLASSES))
            if rng.random() < 0.75:
                record = {"image_id": image, "video_id": video, "track_id": followers[at], "category_id": kind}
                score = round(float(rng.random()), digits)
                found.append({**record, "bbox": _snapped(place, on_grid), "score": score})
    return found


def _snapped(box: np.ndarray, on_grid: bool) -> list[float]:
    box = np.concatenate([box[:2], np.maximum(box[2:], 1)])
    return [float(one) for one in (np.round(box / 2) * 2 if on_grid else np.round(box, 2))]
