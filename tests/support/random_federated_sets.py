"""Random files as TAO and BURST have them, which list what was looked for, and as YouTube-VIS has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from support.trackeval_runs import painted

if TYPE_CHECKING:
    from collections.abc import Mapping

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


def random_vis_set(seed: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The ground truth and the result of a set as YouTube-VIS has them: ellipses that move in frames of 48 x 48."""
    rng = np.random.default_rng(seed)
    truth: dict[str, Any] = {"videos": [], "annotations": [], "categories": []}
    found: list[dict[str, Any]] = []
    for video in rng.permutation(range(1, 2 + int(rng.integers(1, 3)))).tolist():
        length = int(rng.integers(1, 9))
        names = [f"{rng.integers(9)}{video}/{at:05d}.jpg" for at in range(length)]
        folder = names[0].partition("/")[0]
        files = [f"{folder}/{at:05d}.jpg" for at in range(length)]
        truth["videos"].append({"id": video, "width": 48, "height": 48, "file_names": files})
        for _ in range(int(rng.integers(1, 6))):
            box = np.concatenate([rng.uniform(0, 30, 2), rng.uniform(4, 20, 2)])
            kind = int(rng.integers(1, 4))
            number = len(truth["annotations"]) + 1
            record = {"id": number, "video_id": video, "category_id": kind, "width": 48, "height": 48, "iscrowd": 0}
            masks = _ellipses(rng, box, length, 0.5)
            areas = [None if one is None else float(one.sum()) for one in masks]
            truth["annotations"].append({**record, "segmentations": [*map(_runs, masks)], "areas": areas})
            for _ in range(int(rng.integers(0, 3))):
                kind = kind if rng.random() < 0.9 else int(rng.integers(1, 4))
                masks = _ellipses(rng, box, length, 2.0)
                score = 0.1 if seed % 4 == 0 else round(float(rng.random()), 1 + seed % 2)
                record = {"video_id": video, "category_id": kind, "score": score}
                found.append({**record, "segmentations": [*map(_runs, masks)]})
    found = [found[at] for at in rng.permutation(len(found)).tolist() if any(found[at]["segmentations"])]
    truth["annotations"] = [one for one in truth["annotations"] if any(one["segmentations"])]
    kinds = {one["category_id"] for one in (*truth["annotations"], *found)}
    truth["categories"] = [{"id": kind, "name": f"class {kind}"} for kind in sorted(kinds)]
    return truth, found


def _ellipses(rng: np.random.Generator, box: np.ndarray, length: int, far: float) -> list[Any]:
    """(48, 48) an ellipse in or near a box in each frame; ``None`` in some."""
    boxes = box + np.concatenate([np.cumsum(rng.normal(0, far, (length, 2)), axis=0), np.zeros((length, 2))], axis=1)
    return [mask if rng.random() < 0.8 else None for mask in painted(boxes)]


def _runs(mask: Any) -> Any:
    """RLE of a mask, as a list of runs."""
    if mask is None:
        return None
    pixels = np.concatenate([[0], mask.T.reshape(-1), [2]])
    ends = np.flatnonzero(np.diff(pixels)).tolist()
    return {"size": [48, 48], "counts": np.diff([0, *ends]).tolist()}


PLAIN = {1: "acorn", 2: "aerosol_can", 3: "air_conditioner", 5: "alarm_clock", 8: "almond"}
"""Some classes, as TAO calls them."""
ODD = {
    504: "glass_(drink_container)",
    967: "shopping_bag",
    1: "acorn",
    20: "armor",
    207: "cap_(headwear)",
    347: "cup",
    529: "grocery_bag",
    554: "hat",
    912: "plastic_bag",
}
"""Classes that are distractors in BURST, or are merged."""


def random_burst_set(
    seed: int, names: Mapping[int, str] = PLAIN, chosen: int = 3, *, guided: bool = False
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The ground truth and the result of a set as BURST has them: ellipses that move in frames of 48 x 48.

    Args:
        seed: The seed.
        names: The classes.
        chosen: How many of them, from the first on, have objects.
        guided: Whether each track of the result has the id of an object.
    """
    rng = np.random.default_rng(seed)
    classes_of_all = [*names]
    sides: list[dict[str, Any]] = [{"split": "val", "sequences": []} for _ in range(2)]
    sides[0]["categories"] = [{"id": number, "name": names[number]} for number in sorted(names)]
    for number in range(1, 2 + int(rng.integers(1, 4))):
        length, count = int(rng.integers(1, 9)), int(rng.integers(0, 6))
        lists = [rng.choice(classes_of_all, int(rng.integers(0, 3)), replace=False).tolist() for _ in range(2)]
        video = {
            "id": number,
            "dataset": "ABC"[number % 3],
            "seq_name": f"{number:03d}",
            "width": 48,
            "height": 48,
            "annotated_image_paths": [f"frame{30 * at:04d}.jpg" for at in range(length)],
            "neg_category_ids": lists[0],
            "not_exhaustive_category_ids": lists[1],
        }
        kinds = rng.choice(classes_of_all[:chosen], count).tolist()
        boxes = [np.concatenate([rng.uniform(0, 30, 2), rng.uniform(4, 20, 2)]) for _ in kinds]
        followers = [(at, kind) for at, kind in enumerate(kinds) for _ in range(int(rng.integers(0, 3)))]
        ids = (rng.permutation(40)[: len(followers)] + 1).tolist()
        if guided:
            followers = [followers[at] for at in rng.permutation(len(followers)).tolist()][:count]
            ids = (rng.permutation(count) + 1).tolist()  # of which some are those of other objects
        for side, tracks, far in ((0, [*enumerate(kinds)], 0.5), (1, followers, 2.0)):
            frames: list[dict[str, Any]] = [{} for _ in range(length)]
            classes = {}
            for place, (at, kind) in enumerate(tracks):
                track = str(ids[place] if side else place + 1)
                classes[track] = kind if not side or rng.random() < 0.9 else int(rng.choice(classes_of_all))
                for frame, mask in zip(frames, _ellipses(rng, boxes[at], length, far), strict=True):
                    if mask is not None and mask.any():
                        frame[track] = {"rle": mask_api().encode(np.asfortranarray(mask))["counts"].decode()}
                        if side and seed % 4:
                            frame[track]["score"] = round(float(rng.random()), 1 + seed % 2)
            sides[side]["sequences"].append({**video, "track_category_ids": classes, "segmentations": frames})
    return sides[0], sides[1]


def mask_api() -> Any:
    """pycocotools' functions for masks; a test that asks for them skips where they are not installed."""
    return pytest.importorskip("pycocotools.mask")
