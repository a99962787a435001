"""KITTI's evaluation in plain Python, written from the description of its development kit, and random data for it."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

__all__ = ["LEAST", "Image", "Row", "ground_overlap", "image_overlap", "plain_curve", "random_images", "write_images"]

LEAST = {"Car": 0.7, "Pedestrian": 0.5, "Cyclist": 0.5}
NEIGHBOUR = {"Car": "Van", "Pedestrian": "Person_sitting"}
HEIGHT = {"easy": 40, "moderate": 25, "hard": 25}
OCCLUDED = {"easy": 0, "moderate": 1, "hard": 2}
TRUNCATED = {"easy": 0.15, "moderate": 0.3, "hard": 0.5}
STEPS = 40


class Row(NamedTuple):
    """An object or a detection."""

    type: str
    box: tuple[float, float, float, float]
    """Left, top, right, bottom."""
    truncated: float = -1
    occluded: int = -1
    size: tuple[float, float, float] = (-1, -1, -1)
    """Height, width, length."""
    place: tuple[float, float, float] = (-1000, -1000, -1000)
    turned: float = -10
    score: float = 0
    alpha: float = 0.5

    def line(self, *, score: bool) -> str:
        """The line of a file."""
        numbers = [self.truncated, self.occluded, self.alpha, *self.box, *self.size, *self.place, self.turned]
        return " ".join([self.type, *map(repr, [*numbers, self.score] if score else numbers)])


class Image(NamedTuple):
    """What is on an image."""

    objects: list[Row]
    detections: list[Row]


def image_overlap(found: Row, other: Row, *, over_detection: bool = False) -> float:
    """IoU of boxes in the image, or the part of the detection that is shared."""
    width = min(found.box[2], other.box[2]) - max(found.box[0], other.box[0])
    height = min(found.box[3], other.box[3]) - max(found.box[1], other.box[1])
    if width <= 0 or height <= 0:
        return 0.0
    area, of_other = ((row.box[2] - row.box[0]) * (row.box[3] - row.box[1]) for row in (found, other))
    return width * height / (area if over_detection else area + of_other - width * height)


def ground_overlap(found: Row, other: Row, *, over_detection: bool = False) -> float:
    """The same from above, for boxes along the axes; areas that do not matter have no box in space."""
    if other.size[0] < 0 or over_detection:
        return 0.0
    shared = 1.0
    for axis, side in ((0, 2), (2, 1)):
        ends = [(row.place[axis] - row.size[side] / 2, row.place[axis] + row.size[side] / 2) for row in (found, other)]
        shared *= max(min(ends[0][1], ends[1][1]) - max(ends[0][0], ends[1][0]), 0.0)
    area, of_other = (row.size[1] * row.size[2] for row in (found, other))
    return shared / (area + of_other - shared)


class _Scene(NamedTuple):
    """An image as one class and difficulty see it."""

    objects: list[tuple[Row, bool]]
    """Objects of the class and of its neighbour, and whether each is ignored."""
    detections: list[tuple[Row, bool]]
    """Detections that objects may choose, and whether each is ignored."""
    areas: list[Row]


def _scene(image: Image, name: str, difficulty: str) -> _Scene:
    objects, detections = [], []
    for row in image.objects:
        hard = (
            row.occluded > OCCLUDED[difficulty]
            or row.truncated > TRUNCATED[difficulty]
            or row.box[3] - row.box[1] < HEIGHT[difficulty]
        )
        if row.type == name:
            objects.append((row, hard))
        elif row.type == NEIGHBOUR.get(name):
            objects.append((row, True))
    for row in image.detections:
        small = row.box[3] - row.box[1] < HEIGHT[difficulty]
        if small or row.type == name:
            detections.append((row, small))
    return _Scene(objects, detections, [row for row in image.objects if row.type == "DontCare"])


def _thresholds(scores: list[float], count: int) -> list[float]:
    chosen: list[float] = []
    recall = 0.0
    scores = sorted(scores, reverse=True)
    for at, score in enumerate(scores):
        left, right = (at + 1) / count, (at + 2) / count
        if at + 1 < len(scores) and right - recall < recall - left:
            continue
        chosen.append(score)
        recall += 1 / STEPS
    return chosen


def _by_score(scene: _Scene, overlap: Callable[..., float], least: float) -> list[float]:
    """The scores of the hits where each object takes the detection with the highest score."""
    taken: set[int] = set()
    hits = []
    for thing, ignored in scene.objects:
        free = [at for at in range(len(scene.detections)) if at not in taken]
        near = [at for at in free if overlap(scene.detections[at][0], thing) > least]
        if near:
            best = max(near, key=lambda at: scene.detections[at][0].score)  # the first of equal ones
            taken.add(best)
            if not ignored and not scene.detections[best][1]:
                hits.append(scene.detections[best][0].score)
    return hits


def _by_overlap(scene: _Scene, overlap: Callable[..., float], least: float, score: float) -> tuple[int, int, float]:
    """Hits and false positives where each object takes the detection with the highest overlap.

    And the similarity of the orientations of the hits.
    """
    there = [at for at, (row, _) in enumerate(scene.detections) if row.score >= score]
    taken: set[int] = set()
    hits, alike = 0, 0.0
    for thing, ignored in scene.objects:
        near = {at: overlap(scene.detections[at][0], thing) for at in there if at not in taken}
        near = {at: value for at, value in near.items() if value > least}
        large = [at for at in near if not scene.detections[at][1]]
        if near:
            best = max(large, key=lambda at: near[at]) if large else next(iter(near))
            taken.add(best)
            found, small = scene.detections[best]
            if not ignored and not small:
                hits += 1
                alike += (1 + math.cos(thing.alpha - found.alpha)) / 2
    wrong = [scene.detections[at][0] for at in there if at not in taken and not scene.detections[at][1]]
    covered = [any(overlap(row, area, over_detection=True) > least for area in scene.areas) for row in wrong]
    return hits, len(wrong) - sum(covered), alike


def plain_curve(
    images: Sequence[Image], name: str, difficulty: str, overlap: Callable[..., float], *, turned: bool = False
) -> list[float]:
    """The precision at the 41 recalls, or the similarity of orientation; NaN if there is nothing to find."""
    scenes = [_scene(image, name, difficulty) for image in images]
    count = sum(row.type == name and not ignored for scene in scenes for row, ignored in scene.objects)
    if not count:
        return [math.nan] * (STEPS + 1)
    scores = [score for scene in scenes for score in _by_score(scene, overlap, LEAST[name])]
    curve = []
    for score in _thresholds(scores, count):
        counts = [_by_overlap(scene, overlap, LEAST[name], score) for scene in scenes]
        hits, wrong, alike = (sum(column) for column in zip(*counts, strict=True))
        curve.append((alike if turned else hits) / (hits + wrong) if hits + wrong else 0.0)
    curve += [0.0] * (STEPS + 1 - len(curve))
    return [max(curve[at:]) for at in range(STEPS + 1)]


def random_images(seed: int) -> list[Image]:
    """Objects and detections near them; some are small, hidden, of a neighbour class or in areas that do not matter."""
    draw = random.Random(seed)
    return [_random_image(draw, ties=seed % 2 == 0) for _ in range(draw.choice([1, 2, 6]))]


def _random_image(draw: random.Random, *, ties: bool) -> Image:
    types = draw.choice([("Car", "Van"), ("Car", "Van", "Pedestrian", "Person_sitting", "Cyclist", "Truck")])
    objects, detections = [], []
    for _ in range(draw.choice([0, 2, 5, 12])):
        height = draw.choice([draw.randint(10, 120), 24, 25, 39, 40])
        left, top, width = draw.randint(0, 250), draw.randint(0, 60), draw.randint(10, 160)
        place = (draw.uniform(-6, 6), draw.uniform(1, 2), draw.uniform(5, 12))
        objects.append(
            Row(
                draw.choice(types),
                (left, top, left + width, top + height),
                draw.choice([0, 0, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6]),
                draw.choice([0, 0, 1, 2, 3]),
                (draw.uniform(1, 2), draw.uniform(1, 2), draw.uniform(2, 4)),
                place,
                0.0,
                alpha=draw.uniform(-math.pi, math.pi),
            )
        )
    for _ in range(draw.choice([0, 1, 3])):
        left, top = draw.randint(0, 250), draw.randint(0, 60)
        objects.append(Row("DontCare", (left, top, left + draw.randint(20, 150), top + draw.randint(20, 120))))
    draw.shuffle(objects)
    for thing in objects:
        for _ in range(draw.choice([0, 1, 1, 3])):
            shift = [draw.choice([0, 0, 1, 2, 5, -3]) for _ in range(4)]
            x1, y1, x2, y2 = (edge + by for edge, by in zip(thing.box, shift, strict=True))
            x, y, z = (value + draw.choice([0, 0.05, 0.2]) for value in thing.place)
            known = thing.size[0] > 0
            kind = thing.type if thing.type in LEAST and draw.random() < 0.8 else draw.choice(types)
            detections.append(
                Row(
                    kind,
                    (x1, y1, max(x1, x2), max(y1, y2)),
                    size=thing.size if known else (1.5, 1.6, 3.9),
                    place=(x, y, z) if known else (draw.uniform(-6, 6), 1.5, draw.uniform(5, 12)),
                    turned=0.0,
                    score=draw.randint(0, 9) / 10 if ties else draw.random(),
                    alpha=thing.alpha + draw.choice([0, 0.1, -0.4, 2, math.pi]),
                )
            )
    draw.shuffle(detections)
    return Image(objects, detections)


def write_images(folder: Path, images: Sequence[Image]) -> tuple[Path, Path]:
    """Write the two folders of files."""
    labels, results = folder / "label_2", folder / "results"
    for place in (labels, results):
        place.mkdir(parents=True, exist_ok=True)
    for number, image in enumerate(images):
        name = f"{number:06d}.txt"
        (labels / name).write_text("".join(f"{row.line(score=False)}\n" for row in image.objects))
        (results / name).write_text("".join(f"{row.line(score=True)}\n" for row in image.detections))
    return labels, results
