"""The model of the synthetic data sets that make_coco.py writes: images, annotations and detections."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

CATEGORY_IDS = np.array([i for i in range(1, 91) if i not in {12, 26, 29, 30, 45, 66, 68, 69, 71, 83}])
IMAGE_SIZES = np.array([(640, 480), (640, 427), (480, 640), (427, 640), (500, 375), (612, 612)])
IMAGE_SIZE_SHARES = [0.35, 0.25, 0.15, 0.1, 0.1, 0.05]
CLASSES_PER_IMAGE_SHARES = [0.28, 0.26, 0.2, 0.14, 0.08, 0.04]
CLASS_SHARES = (1 / np.arange(1, 81)) / (1 / np.arange(1, 81)).sum()


@dataclass(frozen=True)
class World:
    """The truth: one row an image, and one row an annotation in the order of the images."""

    image_ids: Array  # (I,)
    image_sizes: Array  # (I, 2) width, height
    image: Array  # (N,) row of the image
    category: Array  # (N,) row of the category
    crowd: Array  # (N,)
    boxes: Array  # (N, 4) xywh; the polygons lie within
    polygons: list[Array]  # (2 P,) x and y in turn
    areas: Array  # (N,)
    tight: Array  # (N, 4) xywh around the polygons, as the file has them
    ids: Array  # (N,)
    file_order: Array  # (N,) rows in the order of the file: COCO's annotations come in no order of images


@dataclass(frozen=True)
class Detections:
    """One row a detection."""

    image: Array
    category: Array
    boxes: Array  # (N, 4) xywh
    scores: Array


def make_world(images: int, seed: int) -> World:
    rng = np.random.default_rng(seed)
    sizes = IMAGE_SIZES[rng.choice(len(IMAGE_SIZES), images, p=IMAGE_SIZE_SHARES)]
    image_ids = np.sort(rng.choice(580_000 * max(1, images // 5000), images, replace=False) + 1)
    counts = 1 + rng.negative_binomial(1.15, 1.15 / (1.15 + 6.3), images)
    counts[rng.random(images) < 0.01] = 0
    image, n = np.repeat(np.arange(images), counts), int(counts.sum())

    pool = rng.choice(80, (images, 6), p=CLASS_SHARES)
    classes = rng.choice(6, images, p=CLASSES_PER_IMAGE_SHARES) + 1
    category = pool[image, (rng.random(n) * classes[image]).astype(np.int64)]

    width, height = sizes[image].T.astype(float)
    side, aspect = np.exp(rng.normal(np.log(46.0), 1.02, n)), np.exp(rng.normal(0, 0.45, n))
    w = np.clip(side * np.sqrt(aspect), 3, width * 0.98)
    h = np.clip(side / np.sqrt(aspect), 3, height * 0.98)
    crowd = rng.random(n) < 0.01
    w = np.where(crowd, np.clip(width * rng.uniform(0.2, 0.9, n), 16, width * 0.98), w)
    h = np.where(crowd, np.clip(height * rng.uniform(0.1, 0.4, n), 16, height * 0.98), h)
    boxes = np.stack([rng.random(n) * (width - w), rng.random(n) * (height - h), w, h], axis=1)

    rng = np.random.default_rng(seed + 1)
    polygons, areas, tight = draw_polygons(boxes, rng)
    tight = np.where(crowd[:, None], np.floor(boxes), np.round(tight, 2))
    order, ids = rng.permutation(n), rng.permutation(n) + 1
    return World(image_ids, sizes, image, category, crowd, boxes, polygons, areas, tight, ids, order)


def draw_polygons(boxes: Array, rng: np.random.Generator) -> tuple[list[Array], Array, Array]:
    """A star of 12 to 40 points with 2 decimals within each box, its area and the box around it."""
    n = len(boxes)
    points = rng.integers(12, 41, n)
    ends = np.concatenate([[0], np.cumsum(points)])
    starts = ends[:-1]
    owner = np.repeat(np.arange(n), points)
    rank = np.arange(ends[-1]) - ends[owner]
    angle = 2 * np.pi * rank / points[owner] + rng.normal(0, 0.02, ends[-1])
    radius = rng.uniform(0.75, 1.0, ends[-1])
    x = np.round(boxes[owner, 0] + boxes[owner, 2] * (0.5 + 0.5 * radius * np.cos(angle)), 2)
    y = np.round(boxes[owner, 1] + boxes[owner, 3] * (0.5 + 0.5 * radius * np.sin(angle)), 2)
    left, right = np.minimum.reduceat(x, starts), np.maximum.reduceat(x, starts)
    top, bottom = np.minimum.reduceat(y, starts), np.maximum.reduceat(y, starts)
    following = np.where(rank == points[owner] - 1, ends[owner], np.arange(ends[-1]) + 1)
    areas = np.abs(np.add.reduceat(x * y[following] - x[following] * y, starts)) / 2
    flat = np.stack([x, y], axis=1)
    polygons = [flat[a:b].ravel() for a, b in itertools.pairwise(ends)]
    return polygons, areas, np.stack([left, top, right - left, bottom - top], axis=1)


def detect(world: World, seed: int, *, per_image: int | None) -> Detections:
    """Detections sorted by image and score; `per_image` of them in each image, or about one an annotation."""
    rng = np.random.default_rng(seed)
    images, n = len(world.image_ids), len(world.boxes)
    parts = []
    for again in range(1 if per_image is None else 4):
        share = 0.5 if again else 0.72 if per_image is None else 0.86
        hit = np.flatnonzero(rng.random(n) < share)
        off = np.abs(rng.normal(0, 0.2 if again else 0.09, len(hit)))
        truth = world.boxes[hit]
        shift = rng.normal(0, 1, (len(hit), 4)) * off[:, None]
        boxes = np.empty_like(truth)
        boxes[:, 2:] = truth[:, 2:] * np.exp(shift[:, 2:])
        side = np.sqrt(truth[:, 2] * truth[:, 3])
        boxes[:, :2] = truth[:, :2] + truth[:, 2:] / 2 + shift[:, :2] * side[:, None] - boxes[:, 2:] / 2
        scores = 1 / (1 + np.exp(-(rng.normal(-2.2 if again else 1.6, 1.3, len(hit)) - 9 * off)))
        category = world.category[hit].copy()
        wrong = rng.random(len(hit)) < 0.07
        category[wrong] = rng.choice(80, int(wrong.sum()), p=CLASS_SHARES)
        parts.append(Detections(world.image[hit], category, boxes, scores))
    parts.append(false_positives(world, parts, rng, per_image=per_image))

    image, category = (np.concatenate([getattr(p, name) for p in parts]) for name in ("image", "category"))
    boxes, scores = (np.concatenate([getattr(p, name) for p in parts]) for name in ("boxes", "scores"))
    width, height = world.image_sizes[image].T.astype(float)
    left, top = np.clip(boxes[:, 0], 0, width - 2), np.clip(boxes[:, 1], 0, height - 2)
    right = np.clip(boxes[:, 0] + boxes[:, 2], left + 1, width)
    bottom = np.clip(boxes[:, 1] + boxes[:, 3], top + 1, height)
    boxes = np.stack([left, top, right - left, bottom - top], axis=1)

    order = np.lexsort((-scores, image))
    if per_image is not None:
        rank = np.arange(len(order)) - np.searchsorted(image[order], np.arange(images))[image[order]]
        order = order[rank < per_image]
    return Detections(image[order], category[order], boxes[order], scores[order])


def false_positives(
    world: World, found: list[Detections], rng: np.random.Generator, *, per_image: int | None
) -> Detections:
    """Boxes of low score that fill each image up to `per_image`, or a third as many as there are annotations."""
    images = len(world.image_ids)
    if per_image is None:
        image = rng.integers(0, images, int(0.35 * len(world.boxes)))
    else:
        have = np.bincount(np.concatenate([part.image for part in found]), minlength=images)
        image = np.repeat(np.arange(images), np.maximum(per_image - have, 0))
    n = len(image)
    width, height = world.image_sizes[image].T.astype(float)
    side, aspect = np.exp(rng.normal(np.log(42.0), 1.0, n)), np.exp(rng.normal(0, 0.45, n))
    w, h = np.clip(side * np.sqrt(aspect), 2, width), np.clip(side / np.sqrt(aspect), 2, height)
    boxes = np.stack([rng.random(n) * (width - w), rng.random(n) * (height - h), w, h], axis=1)
    scores = 1 / (1 + np.exp(-rng.normal(-3.2, 1.1, n)))
    pool = rng.choice(80, (images, 12), p=CLASS_SHARES)
    return Detections(image, pool[image, rng.integers(0, 12, n)], boxes, scores)
