"""Faults that are planted in correct data: each kind at five strengths, and the findings that name it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ioukit import Detections, GroundTruth
from ioukit.checks.class_ids import COCO_91
from ioukit.checks.repairs.boxes import unit_scales
from ioukit.checks.repairs.rows import surviving
from ioukit.datasets import Categories
from ioukit.regions.formats import convert

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FAULTS", "Fault", "plant"]

Pair: TypeAlias = tuple[GroundTruth, Detections]
Plant: TypeAlias = Callable[[GroundTruth, Detections, Any, np.random.Generator], "Pair | None"]

SHARES = (0.05, 0.15, 0.4, 0.75, 1.0)


class Fault(NamedTuple):
    """A kind of fault."""

    title: str
    plant: Plant
    """From correct data and a strength to wrong data; None if the data cannot have the fault."""
    strengths: tuple[Any, ...]
    strength: str
    """What the strengths are."""
    codes: tuple[str, ...]
    """Findings that name the fault."""


def plant(fault: Fault, data: Pair, strength: Any, seed: int = 0) -> Pair | None:
    """The data with the fault; None if they cannot have it."""
    return fault.plant(*data, strength, np.random.default_rng(seed))


def some_images(gt: GroundTruth, share: float, rng: np.random.Generator) -> NDArray[Any]:
    """The ids of some images with objects."""
    images = np.unique(gt.image_ids)
    return np.sort(rng.permutation(images)[: max(1, round(share * len(images)))])


def sizes_of(gt: GroundTruth, side: GroundTruth | Detections) -> NDArray[np.float64]:
    return gt.images.sizes[np.searchsorted(gt.images.ids, side.image_ids)]


def with_boxes(side: Any, boxes: NDArray[np.float64], rows: NDArray[np.bool_]) -> Any:
    changed = np.where(rows[:, None], boxes, side.boxes)
    if isinstance(side, GroundTruth):
        areas = np.where(rows & ("segmentations" not in side.regions), changed[:, 2] * changed[:, 3], side.areas)
        return dataclasses.replace(side, boxes=changed, areas=areas)
    return dataclasses.replace(side, boxes=changed)


def in_format(boxes: NDArray[np.float64], fmt: str) -> Any:
    if fmt == "yxyx":
        return convert(boxes, "xywh", "xyxy")[:, [1, 0, 3, 2]]
    return convert(boxes, "xywh", fmt)  # type: ignore[arg-type]


def another_format(fmt: str, *, truth: bool = False) -> Plant:
    def act(gt: GroundTruth, dt: Detections, share: float, rng: np.random.Generator) -> Pair:
        images, side = some_images(gt, share, rng), gt if truth else dt
        changed = with_boxes(side, in_format(side.boxes, fmt), np.isin(side.image_ids, images))
        return (changed, dt) if truth else (gt, changed)

    return act


def another_unit(*, multiply: bool, fmt: str = "xywh", truth: bool = False) -> Plant:
    def act(gt: GroundTruth, dt: Detections, share: float, rng: np.random.Generator) -> Pair:
        images, side = some_images(gt, share, rng), gt if truth else dt
        sizes = np.tile(sizes_of(gt, side), 2)
        boxes = in_format(side.boxes, fmt)
        boxes = boxes * sizes if multiply else boxes / sizes
        changed = with_boxes(side, boxes, np.isin(side.image_ids, images))
        return (changed, dt) if truth else (gt, changed)

    return act


def another_frame(mode: str, size: float | None = None) -> Plant:
    """Strengths are sizes (width and height); or shares of images if the size is given."""

    def act(gt: GroundTruth, dt: Detections, strength: Any, rng: np.random.Generator) -> Pair:
        network = np.array(strength if size is None else (size, size), float)
        images = np.unique(gt.image_ids) if size is None else some_images(gt, strength, rng)
        scale, shift = unit_scales(sizes_of(gt, dt), mode)
        boxes = np.concatenate([(dt.boxes[:, :2] * scale + shift) * network, dt.boxes[:, 2:] * scale * network], axis=1)
        rows = np.isin(dt.image_ids, images) if size is not None else np.ones(len(dt), np.bool_)
        return gt, with_boxes(dt, boxes, rows)

    return act


def with_classes(dt: Detections, ids: NDArray[np.int64], rows: NDArray[np.bool_]) -> Detections:
    return dataclasses.replace(dt, category_ids=np.where(rows, ids, dt.category_ids))


def shifted_classes(gt: GroundTruth, dt: Detections, share: float, rng: np.random.Generator) -> Pair:
    rows = np.isin(dt.image_ids, some_images(gt, share, rng))
    return gt, with_classes(dt, dt.category_ids + 1, rows)


def class_positions(gt: GroundTruth, dt: Detections, share: float, rng: np.random.Generator) -> Pair | None:
    if len(gt.categories) < 2:
        return None
    rows = np.isin(dt.image_ids, some_images(gt, share, rng))
    return gt, with_classes(dt, np.searchsorted(gt.categories.ids, dt.category_ids), rows)


def eighty_of_coco(gt: GroundTruth, dt: Detections, share: float, rng: np.random.Generator) -> Pair | None:
    if len(gt.categories) != len(COCO_91):
        return None
    rows = np.isin(dt.image_ids, some_images(gt, share, rng))
    return gt, with_classes(dt, np.searchsorted(COCO_91, dt.category_ids) + 1, rows)


def permuted_classes(gt: GroundTruth, dt: Detections, share: float, rng: np.random.Generator) -> Pair | None:
    ids = gt.categories.ids[np.isin(gt.categories.ids, gt.category_ids)]
    if len(ids) < 2:
        return None
    chosen = rng.permutation(ids)[: max(2, round(share * len(ids)))]
    target = dict(zip(chosen.tolist(), np.roll(chosen, 1).tolist(), strict=True))
    changed = np.array([target.get(number, number) for number in dt.category_ids.tolist()], np.int64)
    return gt, with_classes(dt, changed, np.ones(len(dt), np.bool_))


def another_spelling(gt: GroundTruth, dt: Detections, share: float, rng: np.random.Generator) -> Pair:
    """Some objects of the most frequent class are of another class, whose name has other letters in case."""
    ids, times = np.unique(gt.category_ids, return_counts=True)
    number = int(ids[np.argmax(times)])
    name = gt.categories.names[int(np.searchsorted(gt.categories.ids, number))]
    rows = np.flatnonzero(gt.category_ids == number)
    moved = rng.permutation(rows)[: max(1, round(share * len(rows)))]
    classes = gt.category_ids.copy()
    new = int(gt.categories.ids.max()) + 1
    classes[moved] = new
    listed = Categories(np.append(gt.categories.ids, new), (*gt.categories.names, name.upper()))
    return dataclasses.replace(gt, category_ids=classes, categories=listed), dt


def images_not_detected(gt: GroundTruth, dt: Detections, share: float, rng: np.random.Generator) -> Pair | None:
    return None if share == 1 else (gt, dt[~np.isin(dt.image_ids, some_images(gt, share, rng))])


def images_not_listed(gt: GroundTruth, dt: Detections, share: float, rng: np.random.Generator) -> Pair | None:
    kept = np.setdiff1d(gt.images.ids, some_images(gt, share, rng))
    return None if share == 1 else (gt.filter(images=kept), dt)


def images_not_annotated(gt: GroundTruth, dt: Detections, share: float, rng: np.random.Generator) -> Pair | None:
    return None if share == 1 else (gt[~np.isin(gt.image_ids, some_images(gt, share, rng))], dt)


def repeated(*, truth: bool) -> Plant:
    def act(gt: GroundTruth, dt: Detections, share: float, rng: np.random.Generator) -> Pair:
        images = some_images(gt, share, rng)
        if not truth:
            return gt, Detections.concat([dt, dt[np.isin(dt.image_ids, images)]])
        rows = np.concatenate([np.arange(len(gt)), np.flatnonzero(np.isin(gt.image_ids, images))])
        return dataclasses.replace(gt.take(rows), ids=np.arange(1, len(rows) + 1)), dt

    return act


def without_nms(gt: GroundTruth, dt: Detections, share: float, rng: np.random.Generator) -> Pair:
    """Three more detections around each one, with lower scores."""
    again = dt[np.isin(dt.image_ids, some_images(gt, share, rng))]
    parts = [dt]
    for _ in range(3):
        boxes = again.boxes + rng.normal(0, 0.03, again.boxes.shape) * np.tile(again.boxes[:, 2:], 2)
        boxes[:, 2:] = np.maximum(boxes[:, 2:], 0.5)
        lower = again.scores * rng.uniform(0.75, 0.99, len(again))
        parts.append(dataclasses.replace(again, boxes=boxes, scores=lower))
    return gt, Detections.concat(parts)


def strict_nms(gt: GroundTruth, dt: Detections, threshold: float, _: np.random.Generator) -> Pair:
    return gt, dt[surviving(dt, threshold)]


def with_scores(change: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Plant:
    def act(gt: GroundTruth, dt: Detections, share: float, rng: np.random.Generator) -> Pair:
        rows = np.isin(dt.image_ids, some_images(gt, share, rng))
        return gt, dataclasses.replace(dt, scores=np.where(rows, change(dt.scores), dt.scores))

    return act


def logits(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    inside = np.clip(scores, 1e-6, 1 - 1e-6)
    return np.log(inside / (1 - inside))


def lost_crowds(gt: GroundTruth, dt: Detections, share: float, rng: np.random.Generator) -> Pair | None:
    rows = np.flatnonzero(gt.crowd)
    if not len(rows):
        return None
    crowd = gt.crowd.copy()
    crowd[rng.permutation(rows)[: max(1, round(share * len(rows)))]] = False
    return dataclasses.replace(gt, flags={**gt.flags, "crowd": crowd}), dt


def wrong_areas(gt: GroundTruth, dt: Detections, share: float, rng: np.random.Generator) -> Pair:
    """Areas of boxes where there are masks; else areas in fractions of the image."""
    rows = rng.random(len(gt)) < share
    of_boxes = gt.boxes[:, 2] * gt.boxes[:, 3]
    wrong = of_boxes if "segmentations" in gt.regions else of_boxes / sizes_of(gt, gt).prod(axis=1)
    return dataclasses.replace(gt, areas=np.where(rows, wrong, gt.areas)), dt


def beyond_image(gt: GroundTruth, dt: Detections, extent: float, _: np.random.Generator) -> Pair:
    """Boxes near the border reach beyond it, by a part of their side."""
    sizes = sizes_of(gt, dt)
    low, high = dt.boxes[:, :2], dt.boxes[:, :2] + dt.boxes[:, 2:]
    wide = dt.boxes[:, 2:] * extent
    low, high = np.where(low < 0.02 * sizes, low - wide, low), np.where(high > 0.98 * sizes, high + wide, high)
    return gt, dataclasses.replace(dt, boxes=np.concatenate([low, high - low], axis=1))


def silent_classes(gt: GroundTruth, dt: Detections, share: float, rng: np.random.Generator) -> Pair | None:
    ids = np.unique(gt.category_ids)
    if share == 1 or len(ids) < 2:
        return None
    return gt, dt[~np.isin(dt.category_ids, rng.permutation(ids)[: max(1, round(share * len(ids)))])]


def classes_not_listed(gt: GroundTruth, dt: Detections, share: float, rng: np.random.Generator) -> Pair | None:
    ids = np.unique(dt.category_ids)
    if share == 1 or len(ids) < 2:
        return None
    lost = rng.permutation(ids)[: max(1, round(share * len(ids)))]
    return gt.filter(categories=np.setdiff1d(gt.categories.ids, lost).tolist()), dt


CLASS_IDS = ("other_class_ids",)
OF_IMAGES = "share of the images"

FAULTS: dict[str, Fault] = {
    "boxes-yxyx": Fault(
        "boxes are y1, x1, y2, x2", another_format("yxyx"), SHARES, OF_IMAGES, ("detections_are_yxyx",)
    ),
    "boxes-xyxy": Fault(
        "boxes are x1, y1, x2, y2", another_format("xyxy"), SHARES, OF_IMAGES, ("detections_are_xyxy",)
    ),
    "boxes-cxcywh": Fault(
        "boxes are centre and size", another_format("cxcywh"), SHARES, OF_IMAGES, ("detections_are_cxcywh",)
    ),
    "truth-xyxy": Fault(
        "ground truth is x1, y1, x2, y2", another_format("xyxy", truth=True), SHARES, OF_IMAGES,
        ("ground_truth_are_xyxy", "ground_truth_looks_like_xyxy"),
    ),
    "truth-cxcywh": Fault(
        "ground truth is centre and size", another_format("cxcywh", truth=True), SHARES, OF_IMAGES,
        ("ground_truth_are_cxcywh", "ground_truth_looks_like_cxcywh"),
    ),
    "fractions": Fault(
        "fractions for pixels", another_unit(multiply=False), SHARES, OF_IMAGES, ("detections_are_fractions",)
    ),
    "fractions-cxcywh": Fault(
        "fractions, centre and size", another_unit(multiply=False, fmt="cxcywh"), SHARES, OF_IMAGES,
        ("detections_are_fractions_cxcywh",),
    ),
    "truth-fractions": Fault(
        "ground truth is fractions", another_unit(multiply=False, truth=True), SHARES, OF_IMAGES,
        ("ground_truth_are_fractions", "ground_truth_normalized_not_declared"),
    ),
    "scaled-twice": Fault(
        "pixels for fractions, scaled twice", another_unit(multiply=True), SHARES, OF_IMAGES,
        ("detections_are_scaled_twice",),
    ),
    "letterbox": Fault(
        "letterbox not undone", another_frame("letterbox"), tuple((n, n) for n in (320, 416, 640, 1024, 1333)),
        "side of the square", ("other_image_size",),
    ),
    "letterbox-some": Fault(
        "letterbox of 640 not undone, some images", another_frame("letterbox", 640), SHARES, OF_IMAGES,
        ("other_image_size",),
    ),
    "stretch": Fault(
        "resizing not undone", another_frame("stretch"),
        ((300, 300), (640, 480), (512, 512), (1024, 576), (800, 1333)), "width and height", ("other_image_size",),
    ),
    "scale": Fault(
        "boxes of another scale", another_frame("factor"), tuple((f, f) for f in (0.98, 0.95, 0.9, 0.5, 2.0)),
        "factor", ("other_image_size",),
    ),
    "classes-shifted": Fault("class ids are one too high", shifted_classes, SHARES, OF_IMAGES, CLASS_IDS),
    "classes-positions": Fault("class ids are positions", class_positions, SHARES, OF_IMAGES, CLASS_IDS),
    "classes-80": Fault("class ids 1 to 80 for COCO's 91", eighty_of_coco, SHARES, OF_IMAGES, CLASS_IDS),
    "classes-permuted": Fault(
        "classes are exchanged", permuted_classes, (0.02, 0.1, 0.3, 0.6, 1.0), "share of the classes", CLASS_IDS
    ),
    "names": Fault(
        "a class has two spellings", another_spelling, SHARES, "share of its objects",
        ("class_names_alike", "other_class_ids"),
    ),
    "images-not-detected": Fault(
        "images without detections", images_not_detected, (0.03, 0.1, 0.25, 0.5, 0.8), OF_IMAGES,
        ("images_without_detections",),
    ),
    "images-not-listed": Fault(
        "images not in the ground truth", images_not_listed, (0.03, 0.1, 0.25, 0.5, 0.8), OF_IMAGES,
        ("images_only_in_detections",),
    ),
    "images-not-annotated": Fault(
        "images without their annotations", images_not_annotated, (0.03, 0.1, 0.25, 0.5, 0.8), OF_IMAGES,
        ("images_without_annotations",),
    ),
    "annotations-twice": Fault(
        "annotations twice", repeated(truth=True), SHARES, OF_IMAGES, ("repeated_annotations",)
    ),
    "detections-twice": Fault("detections twice", repeated(truth=False), SHARES, OF_IMAGES, ("repeated_detections",)),
    "nms-missing": Fault("NMS is missing", without_nms, SHARES, OF_IMAGES, ("nms_missing",)),
    "nms-strict": Fault(
        "NMS removes too much", strict_nms, (0.45, 0.35, 0.25, 0.15, 0.05), "IoU threshold", ("nms_too_strict",)
    ),
    "scores-equal": Fault(
        "scores are 1", with_scores(np.ones_like), SHARES, OF_IMAGES, ("scores_all_equal", "scores_often_equal")
    ),
    "scores-logits": Fault(
        "scores are logits", with_scores(logits), SHARES, OF_IMAGES, ("scores_of_two_units", "scores_are_logits")
    ),
    "scores-percent": Fault(
        "scores are percent", with_scores(lambda scores: 100 * scores), SHARES, OF_IMAGES,
        ("scores_of_two_units", "scores_are_percent"),
    ),
    "crowds": Fault(
        "crowds lost", lost_crowds, (0.2, 0.4, 0.6, 0.8, 1.0), "share of the crowds",
        ("crowds_not_marked", "crowds_perhaps_not_marked"),
    ),
    "areas": Fault(
        "areas are not those of the masks", wrong_areas, (0.1, 0.25, 0.5, 0.75, 1.0), "share of the annotations",
        ("areas_not_of_masks", "areas_not_of_boxes"),
    ),
    "beyond-image": Fault(
        "boxes beyond the image", beyond_image, (0.1, 0.2, 0.4, 0.8, 1.6), "part of the side",
        ("detections_beyond_image",),
    ),
    "classes-silent": Fault(
        "classes without detections", silent_classes, (0.02, 0.1, 0.3, 0.5, 0.8), "share of the classes",
        ("classes_without_detections",),
    ),
    "classes-not-listed": Fault(
        "classes not in the ground truth", classes_not_listed, (0.02, 0.1, 0.3, 0.5, 0.8), "share of the classes",
        ("classes_only_in_detections",),
    ),
}  # fmt: skip
