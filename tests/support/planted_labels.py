"""Label errors that are planted in correct data: objects left out, moved, of another class, doubled, or invented."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit import Detections, GroundTruth, nms, overlap_join, pairwise_iou
from ioukit.regions import Boxes

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["KINDS", "Planted", "plant", "street"]

KINDS = ("overlooked", "badly_drawn", "swapped", "doubled", "spurious")


class Planted(NamedTuple):
    """A data set with label errors, and what they are."""

    ground_truth: GroundTruth
    wrong: dict[str, NDArray[np.int64]]
    """Ids of the wrong annotations by kind; those of `missing` for overlooked objects."""
    missing: GroundTruth
    """The objects that were left out."""
    originals: NDArray[np.int64]
    """The annotation that each doubled one is a copy of."""


def plant(
    truth: GroundTruth, rates: dict[str, float], seed: int = 0, *, by_rule: bool = False, loosely: bool = False
) -> Planted:
    """Plants label errors; each annotation gets one at most, and crowds get none.

    Args:
        truth: Correct annotations.
        rates: For each kind, the number of errors as a share of the annotations.
        seed: Of the random choices.
        by_rule: Whether a class is swapped for the same other one each time, in half of the images; else at random.
        loosely: Whether doubles are drawn anew, with an IoU from 0.5 to 0.85; else they are copies that hardly differ.
    """
    rng = np.random.default_rng(seed)
    boxes, classes, ids = truth.boxes.copy(), truth.category_ids.copy(), truth.ids.copy()
    free = rng.permutation(np.flatnonzero(~truth.crowd & (boxes[:, 2:] > 4).all(axis=1) & ~_in_crowd(truth)))
    chosen: dict[str, NDArray[np.int64]] = {}
    for kind in KINDS:
        count = round(rates.get(kind, 0.0) * len(truth))
        chosen[kind], free = free[:count], free[count:]
    boxes[chosen["badly_drawn"]] = [_moved(box, rng) for box in boxes[chosen["badly_drawn"]]] or np.zeros((0, 4))
    if by_rule:
        chosen["swapped"] = _ruled(truth, classes, len(chosen["swapped"]), rng)
    for row in [] if by_rule else chosen["swapped"].tolist():
        others = truth.category_ids[truth.category_ids != classes[row]]
        classes[row] = rng.choice(others) if len(others) else classes[row]
    chosen["swapped"] = chosen["swapped"][classes[chosen["swapped"]] != truth.category_ids[chosen["swapped"]]]
    copies = boxes[chosen["doubled"]]
    if loosely:
        copies = np.reshape([_redrawn(box, rng) for box in copies], (-1, 4))
    else:
        copies = copies + rng.normal(0, 0.03, copies.shape) * np.tile(copies[:, 2:], 2)
    invented = [_elsewhere(truth, row, rng) for row in chosen["spurious"].tolist()]
    kept = np.ones(len(truth), np.bool_)
    kept[chosen["overlooked"]] = False
    added = np.concatenate([chosen["doubled"], chosen["spurious"]]).astype(np.int64)
    source = np.concatenate([np.flatnonzero(kept), added])
    new_ids = np.concatenate([ids[kept], ids.max(initial=0) + 1 + np.arange(len(added))])
    all_boxes = np.concatenate([boxes[kept], copies, np.reshape(invented, (-1, 4))])
    made = truth.take(source)
    made = dataclasses.replace(
        made, ids=new_ids, boxes=all_boxes, category_ids=classes[source], regions={},
        areas=np.where(np.isin(np.arange(len(source)), _changed(kept, chosen, len(added))),
                       all_boxes[:, 2] * all_boxes[:, 3], made.areas),
    )  # fmt: skip
    doubled = len(chosen["doubled"])
    wrong = {kind: ids[chosen[kind]] for kind in ("overlooked", "badly_drawn", "swapped")}
    tail = new_ids[int(kept.sum()) :]
    wrong |= {"doubled": tail[:doubled], "spurious": tail[doubled:]}
    return Planted(made, wrong, truth.take(chosen["overlooked"]), ids[chosen["doubled"]])


def _ruled(truth: GroundTruth, classes: NDArray[np.int64], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Rows whose class is changed in place: all objects of a class in half of the images, then those of the next."""
    half = rng.permutation(truth.images.ids)[: len(truth.images) // 2]
    free = rng.permutation(np.flatnonzero(~truth.crowd & np.isin(truth.image_ids, half)))
    order = list(dict.fromkeys(truth.category_ids[free].tolist()))
    found: list[int] = []
    for label in order if len(order) > 1 else []:
        rows = free[truth.category_ids[free] == label][: count - len(found)]
        classes[rows] = rng.choice([other for other in order if other != label])
        found += rows.tolist()
    return np.array(found, np.int64)


def _redrawn(box: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """A box of the same object as another annotator may draw it."""
    while True:
        low, high = rng.normal(0, 0.11, (2, 2)) * box[2:]
        made = np.concatenate([box[:2] + low, box[2:] - low + high])
        if (made[2:] > 1).all() and 0.5 <= float(pairwise_iou([box], [made], format="xywh")[0, 0]) <= 0.85:
            return made


def _in_crowd(truth: GroundTruth) -> NDArray[np.bool_]:
    """(G,) whether a crowd of its class covers half of an object: it stays annotated if its own box is missing."""
    crowds = np.flatnonzero(truth.crowd)
    images = truth.image_ids * (1 + int(truth.category_ids.max(initial=0))) + truth.category_ids
    pairs = overlap_join(
        truth.boxes, truth.boxes[crowds], min_iou=0.5, metric="ioa", of="first", labels1=images, labels2=images[crowds],
        format="xywh",
    )  # fmt: skip
    covered = np.zeros(len(truth), np.bool_)
    covered[pairs.rows] = True
    return covered


def _changed(kept: NDArray[np.bool_], chosen: dict[str, NDArray[np.int64]], added: int) -> NDArray[np.int64]:
    """Rows of the new data whose box is not that of the source."""
    place = np.cumsum(kept) - 1
    return np.concatenate([place[chosen["badly_drawn"]], kept.sum() + np.arange(added)])


def _moved(box: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """A box that overlaps the given one by 0.3 to 0.7: moved, too large, too small, or with one side wrong."""
    low = np.concatenate([box[:2], box[:2] + box[2:]])
    size = np.tile(box[2:], 2)
    for _ in range(1000):
        way, amount = rng.integers(4), rng.uniform(0.08, 0.6)
        if way == 0:
            turn = rng.uniform(0, 2 * np.pi)
            step = np.tile([np.cos(turn), np.sin(turn)], 2) * amount
        elif way == 1:
            step = np.array([-1, -1, 1, 1]) * amount / 2
        elif way == 2:
            step = np.array([1, 1, -1, -1]) * amount / 2
        else:
            step = np.zeros(4)
            step[rng.integers(4)] = rng.choice([-1, 1]) * amount
        made = low + step * size
        if (made[2:] - made[:2] > 1).all() and 0.3 <= float(pairwise_iou([low], [made])[0, 0]) <= 0.7:
            return np.concatenate([made[:2], made[2:] - made[:2]])
    raise AssertionError("no such box")


def _elsewhere(truth: GroundTruth, row: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """A box of the size of an annotation, in its image and away from the other annotations."""
    box, image = truth.boxes[row], truth.image_ids[row]
    others = truth.boxes[truth.image_ids == image]
    around = np.concatenate([others[:, :2], others[:, :2] + others[:, 2:]], axis=1)
    size = truth.images.sizes[np.searchsorted(truth.images.ids, image)]
    size = np.where(np.isnan(size), around[:, 2:].max(axis=0), size)
    best: NDArray[np.float64] = box
    least = np.inf
    for _ in range(60):
        wide = np.minimum(box[2:] * rng.uniform(0.5, 1.1), 0.9 * size)
        corner = rng.uniform(0, 1, 2) * (size - wide)
        overlap = float(pairwise_iou([[*corner, *(corner + wide)]], around).max())
        if overlap < least:
            best, least = np.concatenate([corner, wide]), overlap
        if least < 0.05:
            break
    return best


class _Model(NamedTuple):
    """How good a simulated detector is for each class."""

    skill: Any
    trust: Any
    alike: Any


def street(images: int = 400, classes: int = 12, seed: int = 0) -> tuple[GroundTruth, Detections]:
    """A drawn data set and the detections of a simulated detector with the habits of a real one.

    Classes are learned to different degrees, and are over- or underconfident. Small and crowded objects are missed and
    placed worse. Similar classes are confused, with a detection of each. There are duplicates, parts of objects, and
    false positives that come back at high scores in some classes. Scores are uncertain, and lists are cut at 0.05.
    """
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, classes + 1) ** 0.8
    per_image = 1 + rng.negative_binomial(1.5, 1.5 / 7.5, images)
    image = np.repeat(np.arange(images), per_image)
    count = len(image)
    # Classes of an image are related, as in a street or a kitchen.
    theme = rng.integers(0, classes, images)
    label = np.where(rng.random(count) < 0.4, theme[image], rng.choice(classes, count, p=weights / weights.sum()))
    size = np.array([640.0, 480.0])
    side = np.exp(rng.normal(np.log(55.0), 0.9, count))
    aspect = np.exp(rng.normal((label % 3 - 1) * 0.5, 0.25))
    wide = np.clip(np.stack([side * aspect**0.5, side / aspect**0.5], axis=1), 6, 0.9 * size)
    centre = rng.uniform(0, 1, (count, 2))
    near = rng.random(count) < 0.3  # some stand beside another one of the image
    partner = np.searchsorted(image, image)
    centre = np.where(near[:, None], centre[partner] + rng.normal(0, 0.06, (count, 2)), centre)
    corner = np.clip(centre, 0, 1) * (size - wide)
    boxes = np.concatenate([corner, wide], axis=1)
    names = {int(k + 1): f"class {k + 1}" for k in range(classes)}
    truth = GroundTruth.from_arrays(
        image_ids=image + 1, category_ids=label + 1, boxes=np.round(boxes, 1), images=np.arange(images) + 1,
        sizes=np.tile(size, (images, 1)), names=[f"{k + 1:06d}.jpg" for k in range(images)], categories=names,
    )  # fmt: skip
    model = _Model(rng.normal(1.6, 0.7, classes), rng.normal(0, 0.8, classes), (np.arange(classes) ^ 1) % classes)
    return truth, _detections(truth, label, model, rng)


def _detections(truth: GroundTruth, label: Any, model: _Model, rng: np.random.Generator) -> Detections:
    boxes, image = truth.boxes, truth.image_ids
    side = np.sqrt(boxes[:, 2] * boxes[:, 3])
    ease = model.skill[label] + 1.1 * np.log(side / 40) + rng.normal(0, 1.1, len(label))  # of each object
    parts = []

    def add(rows: Any, classes: Any, logit: Any, noise: Any) -> None:
        wide = np.tile(boxes[rows, 2:], 2)
        moved = boxes[rows] + rng.standard_t(5, (len(rows), 4)) * noise[:, None] * wide
        score = 1 / (1 + np.exp(-(logit + model.trust[classes] + rng.normal(0, 0.5, len(rows)))))
        parts.append((image[rows], classes, moved, score))

    noise = 0.035 + 0.10 / (1 + np.exp(ease)) + 1.0 / np.maximum(side, 10)
    every = np.arange(len(label))
    confused = rng.random(len(label)) < 0.18 / (1 + np.exp(ease - 1))
    shown = np.where(confused, model.alike[label], label)
    add(every, shown, ease, noise)
    both = np.flatnonzero(rng.random(len(label)) < 0.25)
    add(both, np.where(confused, label, model.alike[label])[both], ease[both] - 2.5, noise[both])
    again = np.flatnonzero(rng.random(len(label)) < 0.25)
    add(again, shown[again], ease[again] - 2.0, 3 * noise[again])
    false = rng.integers(0, len(label), int(1.2 * len(label)))
    size = truth.images.sizes[0]
    wide = boxes[false, 2:]
    corner = rng.uniform(0, 1, (len(false), 2)) * (size - wide)
    stubborn = np.where(label[false] % 4 == 0, 0.9, -0.2)  # classes that background often looks like
    logit = stubborn + rng.normal(-1.8, 1.1, len(false)) + model.trust[label[false]]
    parts.append(
        (image[rng.permutation(false)], label[false], np.concatenate([corner, wide], axis=1), 1 / (1 + np.exp(-logit)))
    )
    images, classes, placed, scores = (np.concatenate(column) for column in zip(*parts, strict=True))
    corner = np.clip(placed[:, :2], 0, size - 3)
    placed = np.concatenate([corner, np.clip(placed[:, 2:], 2, size - corner)], axis=1)
    listed = np.flatnonzero(scores >= 0.05)
    groups = images[listed] * 1000 + classes[listed]
    kept = listed[np.sort(nms(Boxes(placed[listed], "xywh"), scores[listed], iou_threshold=0.6, labels=groups))]
    return Detections.from_arrays(
        image_ids=images[kept], category_ids=classes[kept] + 1, boxes=placed[kept], scores=scores[kept]
    )
