"""Correct data sets of different shapes, to plant faults in: two real ones with detections, and drawn ones."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ioukit import Detections, GroundTruth, nms, read_coco
from ioukit.regions import Boxes
from support.paths import DATA, EXAMPLES

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["DRAWN", "Scene", "drawn", "first_images", "real"]

VAL2014 = DATA / "coco_val2014_100"
YOLACT = EXAMPLES / "coco_val2017_100"


class Scene(NamedTuple):
    """How a data set is drawn."""

    images: int
    sides: tuple[int, int]
    """The smallest and the largest width or height of an image."""
    objects: tuple[int, int]
    """The fewest and the most objects of an image."""
    extent: tuple[float, float]
    """The smallest and the largest side of an object, as a part of the shorter side of the image."""
    classes: int
    clustered: bool = False
    """Whether objects stand close together, and some annotations mark crowds."""
    apart: bool = False
    """Whether objects never overlap, as blocks of a page."""


DRAWN = {
    "aerial": Scene(60, (900, 3000), (20, 60), (0.006, 0.03), 5),
    "crowd": Scene(40, (400, 1100), (12, 35), (0.08, 0.35), 2, clustered=True),
    "one class": Scene(150, (200, 900), (1, 2), (0.3, 0.9), 1),
    "many classes": Scene(150, (300, 800), (3, 12), (0.05, 0.6), 200),
    "documents": Scene(60, (590, 1200), (4, 12), (0.05, 0.5), 5, apart=True),
}
WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "inlet", "jetty", "knoll", "lotus")


@cache
def real() -> dict[str, tuple[GroundTruth, Detections]]:
    """The real sets with detections: those of COCO's API, and those of a network."""
    return {
        "val2014": read_coco(
            VAL2014 / "instances_val2014_100.json", VAL2014 / "instances_val2014_fakebbox100_results.json"
        ),
        "yolact": read_coco(YOLACT / "ground_truth.json", YOLACT / "yolact.json"),
    }


def first_images(pair: tuple[GroundTruth, Detections], count: int) -> tuple[GroundTruth, Detections]:
    """A data set of the first images: enough for most faults, and checked in a part of the time."""
    truth, found = pair
    labels = truth.images.labels[:count]
    return truth.filter(images=labels), found.filter(images=labels)


@cache
def drawn(name: str, seed: int = 0) -> tuple[GroundTruth, Detections]:
    """One of the data sets of `DRAWN`, with the detections of a simulated detector."""
    scene, rng = DRAWN[name], np.random.default_rng(seed)
    sizes = rng.integers(*scene.sides, (scene.images, 2)).astype(float)
    ids = np.sort(rng.choice(100_000, scene.images, replace=False)) + 1
    boxes, image, label, crowd = [], [], [], []
    weights = 1 / np.arange(1, scene.classes + 1) ** (1.0 if scene.classes > 20 else 0.5)
    for place in range(scene.images):
        count = int(rng.integers(scene.objects[0], scene.objects[1] + 1))
        found = _objects(scene, sizes[place], count, rng)
        kinds = rng.choice(scene.classes, len(found), p=weights / weights.sum()) + 1
        groups = np.zeros(len(found), np.bool_)
        if scene.clustered and rng.random() < 0.5:
            low = found[:, :2].min(axis=0)
            high = (found[:, :2] + found[:, 2:]).max(axis=0)
            found = np.concatenate([found, [[*low, *(high - low)]]])
            kinds, groups = np.append(kinds, 1), np.append(groups, True)
        boxes.append(found)
        image += [ids[place]] * len(found)
        label.append(kinds)
        crowd.append(groups)
    numbers = 3 * np.arange(1, scene.classes + 1)  # ids with gaps: positions are other numbers
    names = {int(number): _name(place) for place, number in enumerate(numbers)}
    truth = GroundTruth.from_arrays(
        image_ids=image, category_ids=numbers[np.concatenate(label) - 1], boxes=np.concatenate(boxes),
        crowd=np.concatenate(crowd), images=ids, sizes=sizes, names=[f"{number:012d}.jpg" for number in ids],
        categories=names,
    )  # fmt: skip
    return truth, _detected(truth, rng)


def _name(place: int) -> str:
    return f"{WORDS[place % len(WORDS)]} {WORDS[place // len(WORDS) % len(WORDS)]} {place // len(WORDS) ** 2}".strip(
        " 0"
    )


def _objects(scene: Scene, size: NDArray[np.float64], count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    low, high = np.log(np.array(scene.extent) * size.min())
    wide = np.exp(rng.uniform(low, high, (count, 1))) * np.exp(rng.normal(0, 0.25, (count, 2)))
    if scene.clustered:
        wide = wide * [0.6, 1.3]
    wide = np.clip(wide, 4, 0.95 * size)
    start = rng.uniform(0, 1, (count, 2))
    if scene.clustered:
        start = np.clip(rng.normal(0.5, 0.18, (count, 2)), 0, 1)
    boxes = np.concatenate([(size - wide) * start, wide], axis=1)
    if scene.apart:
        kept: list[NDArray[np.float64]] = []
        for box in boxes:
            if all(
                (box[:2] >= other[:2] + other[2:]).any() or (other[:2] >= box[:2] + box[2:]).any() for other in kept
            ):
                kept.append(box)
        boxes = np.array(kept)
    return np.round(boxes, 1)


def _detected(truth: GroundTruth, rng: np.random.Generator) -> Detections:
    """Most objects with an error, some twice, some as another class, and false alarms; after NMS."""
    rows = np.flatnonzero(~truth.crowd)
    rows = rows[rng.random(len(rows)) < 0.88]
    rows = np.concatenate([rows, rng.choice(rows, len(rows) // 4)])
    boxes = truth.boxes[rows]
    moved = boxes + rng.normal(0, 0.06, boxes.shape) * np.tile(boxes[:, 2:], 2)
    label = truth.category_ids[rows].copy()
    wrong = rng.random(len(rows)) < 0.06
    label[wrong] = rng.choice(truth.categories.ids, int(wrong.sum()))
    score = rng.beta(5, 2, len(rows)) * np.where(wrong, 0.6, 1)
    false = rng.integers(0, len(truth), len(truth) // 2)
    places = np.searchsorted(truth.images.ids, truth.image_ids[false])
    wide = truth.boxes[false, 2:]
    apart = np.concatenate([(truth.images.sizes[places] - wide) * rng.random((len(false), 2)), wide], axis=1)
    all_boxes = np.concatenate([moved, apart])
    image = np.concatenate([truth.image_ids[rows], truth.image_ids[false]])
    sizes = truth.images.sizes[np.searchsorted(truth.images.ids, image)]
    corner = np.clip(all_boxes[:, :2], 0, sizes - 2)
    all_boxes = np.concatenate([corner, np.clip(all_boxes[:, 2:], 1, sizes - corner)], axis=1)
    labels = np.concatenate([label, rng.choice(truth.categories.ids, len(false))])
    scores = np.concatenate([score, rng.beta(1.2, 6, len(false))])
    groups = np.unique(np.stack([image, labels], axis=1), axis=0, return_inverse=True)[1].reshape(-1)
    kept = np.sort(np.asarray(nms(Boxes(all_boxes, "xywh"), scores, iou_threshold=0.65, labels=groups)))
    return Detections.from_arrays(
        image_ids=image[kept], category_ids=labels[kept], boxes=all_boxes[kept], scores=scores[kept]
    )
