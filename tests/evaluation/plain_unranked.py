"""The numbers of detections without scores in plain Python: every choice of pairs is tried."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

Box = tuple[float, float, float, float]


class Object(NamedTuple):
    image: int
    category: int
    box: Box
    crowd: bool = False


class Counts(NamedTuple):
    """Of one category: true positives, false positives, objects to find, and the sum of IoU of the true positives."""

    right: int
    wrong: int
    objects: int
    ious: float

    def __add__(self, other: object) -> Counts:
        assert isinstance(other, Counts)
        right, wrong, objects, ious = (one + two for one, two in zip(self, other, strict=True))
        return Counts(int(right), int(wrong), int(objects), ious)


def iou(one: Box, other: Box, *, over_first: bool = False) -> float:
    width = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    height = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    if width <= 0 or height <= 0:
        return 0.0
    common = width * height
    return common / (one[2] * one[3] if over_first else one[2] * one[3] + other[2] * other[3] - common)


def best_pairs(table: list[list[float]], threshold: float) -> tuple[int, float, list[int]]:
    """The most pairs of rows and columns at a threshold, their highest sum, and the column of each row (-1: none)."""

    def best(row: int, free: frozenset[int]) -> tuple[int, float, list[int]]:
        if row == len(table):
            return 0, 0.0, []
        count, total, chosen = best(row + 1, free)
        found = (count, total, [-1, *chosen])
        for column in free:
            if table[row][column] >= threshold:
                count, total, chosen = best(row + 1, free - {column})
                if (count + 1, total + table[row][column]) > found[:2]:
                    found = (count + 1, total + table[row][column], [column, *chosen])
        return found

    return best(0, frozenset(range(len(table[0]) if table else 0)))


def best_pairs_first(table: list[list[float]], threshold: float) -> tuple[int, float, list[int]]:
    """The pairs of rows and columns if the highest is taken first, and the first of equal ones; as `best_pairs`."""
    chosen = [-1] * len(table)
    total = 0.0
    pairs = [(-value, row, column) for row, values in enumerate(table) for column, value in enumerate(values)]
    for value, row, column in sorted(pairs):
        if -value >= threshold and chosen[row] < 0 and column not in chosen:
            chosen[row] = column
            total -= value
    return sum(column >= 0 for column in chosen), total, chosen


def counts(
    objects: list[Object],
    detections: list[Object],
    category: int,
    threshold: float,
    area: tuple[float, float],
    pairs: Callable[[list[list[float]], float], tuple[int, float, list[int]]] = best_pairs,
) -> Counts:
    """What one category counts."""
    total = Counts(0, 0, 0, 0.0)
    for image in {one.image for one in (*objects, *detections)}:
        there = [one for one in objects if (one.image, one.category) == (image, category)]
        found = [one for one in detections if (one.image, one.category) == (image, category)]
        is_within = [area[0] <= one.box[2] * one.box[3] <= area[1] for one in there]
        counted = [one for one, within in zip(there, is_within, strict=True) if within and not one.crowd]
        ignored = [one for one in there if one not in counted]
        table = [[iou(one.box, other.box) for other in counted] for one in found]
        count, ious, chosen = pairs(table, threshold)
        wrong = 0
        free = [True] * len(ignored)
        for one, column in zip(found, chosen, strict=True):
            if column >= 0:
                continue
            overlaps = [iou(one.box, other.box, over_first=other.crowd) for other in ignored]
            reached = [k for k, value in enumerate(overlaps) if value >= threshold and free[k]]
            if reached:
                taken = max(reached, key=lambda k: overlaps[k])
                free[taken] = ignored[taken].crowd
            elif area[0] <= one.box[2] * one.box[3] <= area[1]:
                wrong += 1
        total += Counts(count, wrong, len(counted), ious)
    return total


def numbers(of: Counts, threshold: float) -> dict[str, float]:
    """Precision, recall, F1, mean IoU and LRP of counts; NaN for 0 divided by 0."""

    def share(part: float, whole: float) -> float:
        return part / whole if whole else math.nan

    right, wrong, objects, ious = of
    error = (right - ious) / (1 - threshold) + wrong + objects - right
    return {
        "P": share(right, right + wrong),
        "R": share(right, objects),
        "F": share(2 * right, right + wrong + objects),
        "IoU": share(ious, right),
        "LRP": share(error, wrong + objects),
    }
