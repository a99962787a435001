"""Images with objects, and detections near most of them, in float32 as models return them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit import Boxes, Detections, Evaluation, GroundTruth, evaluate

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["MADE", "NAMES", "Photo", "as_tensors", "expected", "photos", "write_instances"]

NAMES = ["cat", "traffic light", "dog"]


class Photo(NamedTuple):
    """The boxes of an image, as corners in pixels."""

    objects: Any
    """(M, 4)"""
    object_labels: Any
    """(M,) positions in :data:`NAMES`."""
    found: Any
    """(N, 4)"""
    scores: Any
    """(N,)"""
    found_labels: Any
    """(N,) positions in :data:`NAMES`."""


def photos(count: int, seed: int = 0, *, width: int = 96, height: int = 64, least: int = 0) -> list[Photo]:
    """Photos of one size; some have no object or no detection, unless there must be at least `least` of each."""
    random = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        objects, more = int(random.integers(least, 5)), int(random.integers(least, 3))
        low = random.uniform(0, 0.5, (objects, 2)) * (width, height)
        truth = np.hstack([low, low + random.uniform(0.15, 0.45, (objects, 2)) * (width, height)])
        labels = random.integers(0, len(NAMES), objects)
        near = truth + random.normal(0, 1.5, truth.shape)
        low = random.uniform(0, 0.5, (more, 2)) * (width, height)
        apart = np.hstack([low, low + random.uniform(0.1, 0.4, (more, 2)) * (width, height)])
        said = np.where(random.random(objects) < 0.85, labels, random.integers(0, len(NAMES), objects))
        made.append(
            Photo(
                truth.astype(np.float32),
                labels.astype(np.int64),
                np.clip(np.vstack([near, apart]), 0, [width, height] * 2).astype(np.float32),
                random.random(objects + more).astype(np.float32),
                np.append(said, random.integers(0, len(NAMES), more)).astype(np.int64),
            )
        )
    return made


MADE = photos(9)


def as_tensors(torch: Any, photo: Photo) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a model of torchvision returns for a photo, and what is there."""
    found = {"boxes": photo.found, "scores": photo.scores, "labels": photo.found_labels}
    truth = {"boxes": photo.objects, "labels": photo.object_labels}
    found, truth = ({key: torch.from_numpy(value) for key, value in side.items()} for side in (found, truth))
    return found, truth


def expected(made: list[Photo], image_ids: list[Any] | None = None, *, ids: list[int] | None = None) -> Evaluation:
    """`ioukit.evaluate` on all photos at once.

    Args:
        made: The photos.
        image_ids: Their ids; numbers from 0 if ``None``.
        ids: The ids of the classes; their positions if ``None``.
    """
    images = np.array(list(range(len(made))) if image_ids is None else image_ids)
    numbers = np.array(list(range(len(NAMES))) if ids is None else ids)

    def joined(name: str) -> Any:
        return np.concatenate([getattr(photo, name) for photo in made])

    truth = GroundTruth.from_arrays(
        image_ids=np.repeat(images, [len(photo.objects) for photo in made]),
        category_ids=numbers[joined("object_labels")],
        boxes=Boxes(joined("objects").astype(np.float64)),
        images=np.sort(images),
        categories=dict(zip(numbers.tolist(), NAMES, strict=True)),
    )
    found = Detections.from_arrays(
        image_ids=np.repeat(images, [len(photo.found) for photo in made]),
        category_ids=numbers[joined("found_labels")],
        boxes=Boxes(joined("found").astype(np.float64)),
        scores=joined("scores"),
    )
    return evaluate(truth, found)


def write_instances(folder: Path, truth: GroundTruth, sizes: tuple[int, int]) -> None:
    """A file of COCO's format with the objects, and names of images that are their places in the list."""
    width, height = sizes
    objects = zip(truth.image_ids.tolist(), truth.category_ids.tolist(), truth.boxes.tolist(), strict=True)
    records = {
        "images": [
            {"id": number, "file_name": f"{at}.png", "width": width, "height": height}
            for at, number in enumerate(truth.images.ids.tolist())
        ],
        "categories": [
            {"id": number, "name": name}
            for number, name in zip(truth.categories.ids.tolist(), truth.categories.names, strict=True)
        ],
        "annotations": [
            {"id": row, "image_id": image, "category_id": category, "bbox": box, "area": box[2] * box[3], "iscrowd": 0}
            for row, (image, category, box) in enumerate(objects, 1)
        ],
    }
    (folder / "instances.json").write_text(json.dumps(records))
