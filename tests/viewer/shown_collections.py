"""Collections to ask: few and many classes, hard names, no detections, crowds, small caps, several protocols."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import COCO, Detections, GroundTruth, evaluate
from ioukit.datasets import Categories, IdLists
from ioukit.evaluation.protocols.registry import PROTOCOLS
from ioukit.viewer.answers.collection import Collection
from ioukit.viewer.answers.conditions import Tagged
from ioukit.viewer.answers.issues import Issues
from ioukit.viewer.answers.values import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.evaluation import Protocol

__all__ = ["COLLECTIONS", "NAMES", "collection", "tagged", "unranked"]

NAMES = ("person", "a, b", "person", "background", "id:3", "", "x..y", "\N{DOG} ü&=#?", "columns.", "\\,")


def _truth(names: Sequence[str], images: int, seed: int, **more: Any) -> GroundTruth:
    rng = np.random.default_rng(seed)
    count = rng.integers(0, 6, images)
    image = np.repeat(np.arange(images), count) + 1
    size = np.round(rng.uniform(6, 130, (len(image), 2)))
    boxes = np.column_stack([np.round(rng.uniform(0, 60, (len(image), 2))), size])
    files = [f"{k % 3}/Bild {k}..ä{'X' * (k % 2)}.jpg" if k % 5 else "" for k in range(images)]
    return GroundTruth.from_arrays(
        image_ids=image,
        category_ids=rng.integers(0, len(names), len(image)) + 1 if names else [],
        boxes=boxes,
        categories=Categories(np.arange(1, len(names) + 1), tuple(names)),
        images=np.arange(1, images + 1),
        sizes=np.column_stack([np.full(images, 200.0), rng.integers(100, 300, images)]),
        names=files,
        flags={"crowd": rng.random(len(image)) < 0.1, "blurred": rng.random(len(image)) < 0.4},
        attributes={
            "occluded": rng.integers(0, 3, len(image)).astype(float),
            "truncated": np.zeros(len(image)),
            "visibility": rng.random(len(image)),
            "weather": np.array(["fog", "sun", ""], np.str_)[rng.integers(0, 3, len(image))],
        },
        **more,
    )


def _found(truth: GroundTruth, seed: int) -> Detections:
    """Copies of objects, shifted, some of another class, with few different scores; and boxes anywhere."""
    rng = np.random.default_rng([seed, 5])
    rows = rng.permutation(len(truth))[: int(0.9 * len(truth))]
    rows = np.concatenate([rows, rows[: len(rows) // 4]])
    boxes = truth.boxes[rows] + np.round(rng.normal(0, 6, (len(rows), 4)))
    boxes[:, 2:] = np.maximum(boxes[:, 2:], 1)
    category = truth.category_ids[rows]
    other = rng.random(len(rows)) < 0.2
    category = np.where(other, rng.choice(truth.categories.ids, len(rows)), category) if len(rows) else category
    extra = len(truth) // 3
    return Detections.from_arrays(
        image_ids=np.concatenate([truth.image_ids[rows], rng.choice(truth.images.ids, extra)]),
        category_ids=np.concatenate([category, rng.choice(truth.categories.ids, extra)]),
        boxes=np.concatenate([boxes, np.round(rng.uniform(1, 90, (extra, 4)))]),
        scores=np.round(rng.random(len(rows) + extra), 1),
    )


def _nothing() -> Detections:
    return Detections.from_arrays(image_ids=[], category_ids=[], boxes=np.zeros((0, 4)), scores=[])


def _shown(truth: GroundTruth, models: int, protocol: Protocol | None = None, *, empty: bool = False) -> Collection:
    named = {
        name: evaluate(truth, _nothing() if empty else _found(truth, at), protocol)
        for at, name in enumerate(("a, b", "\N{GREEK SMALL LETTER BETA}", "c\\")[:models])
    }
    rng = np.random.default_rng(3)
    bare = Collection.of(truth, named, protocol=protocol)
    images, objects = len(bare.table.image_ids), len(bare.table.objects)
    columns = [
        Value.of_numbers("rain..", "image", np.where(rng.random(images) < 0.2, np.nan, rng.integers(0, 9, images))),
        Value.of_texts("camera", "image", [("left", "1..2", None)[k] for k in rng.integers(0, 3, images)]),
        Value.of_numbers("depth", "object", rng.normal(size=objects)),
        Value.of_numbers("empty", "image", np.full(images, np.nan)),
    ]
    issues = Issues(
        ("overlooked", "swapped", "two, words"),
        rng.integers(0, 8, objects).astype(np.uint8),
        tuple(rng.integers(0, 8, len(model.table)).astype(np.uint8) for model in bare.models),
    )
    return Collection.of(truth, named, columns=columns, issues=issues, protocol=protocol)


def _of_protocol(name: str) -> Collection:
    truth = _truth(("Car", "Pedestrian", "Cyclist", "Van"), 8, 4)
    lists = ("neg_category_ids", "not_exhaustive_category_ids", "positive_category_ids", "negative_category_ids")
    numbers = IdLists.of([[1, 2]] * len(truth.images))
    truth = dataclasses.replace(
        truth,
        flags={"group_of": np.arange(len(truth)) % 7 == 0, "difficult": np.arange(len(truth)) % 5 == 0, **truth.flags},
        categories=dataclasses.replace(truth.categories, attributes={"frequency": np.array(list("rcff"))}),
        images=dataclasses.replace(truth.images, attributes=dict.fromkeys(lists, numbers)),
    )
    return _shown(truth, 2, PROTOCOLS[name])


COLLECTIONS = {
    "two models, hard names": lambda: _shown(_truth(NAMES, 12, 0), 2),
    "three models, few classes": lambda: _shown(_truth(("cat", "dog"), 9, 1), 3),
    "small caps": lambda: _shown(_truth(("cat", "dog"), 9, 2), 2, COCO.replace(max_dets=[1, 2])),
    "all classes alike": lambda: _shown(_truth(("cat", "dog"), 7, 3), 1, COCO.replace(class_agnostic=True)),
    "1,203 classes": lambda: _shown(_truth([f"class {k}" for k in range(1203)], 12, 5), 1),
    "no detections": lambda: _shown(_truth(("cat", "dog"), 5, 6), 2, empty=True),
    "no models": lambda: _shown(_truth(("cat", "dog"), 5, 7), 0),
    "one image": lambda: _shown(_truth(("cat",), 1, 8), 2),
    "no images": lambda: _shown(_truth((), 0, 9), 1, empty=True),
    "kitti": lambda: _of_protocol("kitti"),
    "lvis": lambda: _of_protocol("lvis"),
    "lvis_fixed": lambda: _of_protocol("lvis-fixed"),
    "open_images": lambda: _of_protocol("open-images"),
    "voc2012": lambda: _of_protocol("voc2012"),
    "caltech": lambda: _of_protocol("caltech"),
    "crowdhuman": lambda: _of_protocol("crowdhuman"),
}


@cache
def unranked() -> Collection:
    """A collection whose protocol reads no scores."""
    return _of_protocol("unranked")


@cache
def collection(name: str) -> Collection:
    """One of the collections."""
    return COLLECTIONS[name]()


def tagged(shown: Collection) -> Tagged:
    """Some tags and notes."""
    images = np.arange(len(shown.table.image_ids))
    return Tagged({"odd": images[images % 2 == 1], "a, b": images[:1], "nobody": images[:0]}, images[images % 3 == 0])
