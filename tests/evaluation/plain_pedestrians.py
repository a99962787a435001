"""AP, MR-2 and JI as the programs of Caltech and CrowdDet compute them, in plain Python from their description."""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Box = Sequence[float]

__all__ = ["Image", "clipped", "log_average", "plain_ap", "plain_jaccard", "plain_outcomes", "plain_overlap"]


class Image(NamedTuple):
    """The boxes of an image by their corners."""

    objects: Sequence[Box]
    ignored: list[bool]
    detections: Sequence[Box]
    scores: list[float]


def clipped(box: Box, width: float, height: float) -> list[float]:
    """A box ``[x, y, width, height]`` by its corners, cut as CrowdDet does."""
    x, y, w, h = box
    return [
        min(max(x, 0.0), width - 1),
        min(max(y, 0.0), height - 1),
        max(min(x + w, width), 0.0),
        max(min(y + h, height), 0.0),
    ]


def plain_overlap(box: Box, other: Box, *, over_first: bool, epsilon: float) -> float:
    wide, high = min(box[2], other[2]) - max(box[0], other[0]), min(box[3], other[3]) - max(box[1], other[1])
    shared = max(0.0, wide) * max(0.0, high)
    area, of_other = ((each[2] - each[0]) * (each[3] - each[1]) for each in (box, other))
    whole = area if over_first else area + of_other - shared
    return shared / (whole + epsilon) if whole + epsilon else 0.0


def plain_outcomes(images: Sequence[Image], epsilon: float, reaches: Callable[[float], bool]) -> list[bool]:
    """Whether each detection that is not ignored finds an object, by falling score over all images."""
    listed: list[tuple[float, bool]] = []
    for image in images:
        taken: set[int] = set()
        for row in sorted(range(len(image.scores)), key=lambda row: -image.scores[row]):
            best, most, in_ignored = -1, 0.0, False
            for place, other in enumerate(image.objects):
                ignored = image.ignored[place]
                overlap = plain_overlap(image.detections[row], other, over_first=ignored, epsilon=epsilon)
                if not reaches(overlap):
                    continue
                if ignored:
                    in_ignored = True
                elif place not in taken and overlap > most:
                    best, most = place, overlap
            if best >= 0:
                taken.add(best)
            if best >= 0 or not in_ignored:
                listed.append((image.scores[row], best >= 0))
    return [found for _, found in sorted(listed, key=lambda pair: -pair[0])]


def plain_ap(found: Sequence[bool], objects: int) -> float:
    """Trapezoids between the points after each detection; what lies before the first one is left out."""
    points: list[tuple[float, float]] = []
    true = 0
    for count, hit in enumerate(found, start=1):
        true += hit
        points.append((true / objects, true / count))
    area = 0.0
    for (before, high), (recall, low) in itertools.pairwise(points):
        area += (recall - before) * ((high + low) / 2)
    return area


def log_average(found: Sequence[bool], objects: int, images: int, at: Sequence[float], *, caltech: bool) -> list[float]:
    """The miss rates that MR-2 is the geometric mean of."""
    rates: list[tuple[float, float]] = []
    true = 0
    for count, hit in enumerate(found, start=1):
        true += hit
        rates.append(((count - true) / images, 1.0 - true / objects))
    read = []
    for fppi in at:
        if caltech:
            read.append(next((miss for x, miss in reversed(rates) if x <= fppi), 1.0))
        else:
            read.append(next((miss for x, miss in rates if x >= fppi), rates[-1][1] if rates else 1.0))
    return read


def plain_jaccard(images: Sequence[Image], score: float) -> float:
    """The mean over the images of the Jaccard index of CrowdDet at a score threshold."""
    indices = []
    for image in images:
        rows = [row for row, each in enumerate(image.scores) if each > score]
        objects = [place for place, ignored in enumerate(image.ignored) if not ignored]
        regions = [image.objects[place] for place, ignored in enumerate(image.ignored) if ignored]
        boxes, true = [image.detections[row] for row in rows], [image.objects[place] for place in objects]
        weights = [[plain_overlap(box, other, over_first=False, epsilon=1e-6) for other in true] for box in boxes]
        pairs = _best_pairs(weights)

        def lies_within(box: Box, regions: list[Any] = regions) -> bool:
            return any(plain_overlap(box, region, over_first=True, epsilon=1e-6) > 0.5 for region in regions)

        free = set(range(len(boxes))) - {row for row, _ in pairs}
        n = len(boxes) - sum(lies_within(boxes[row]) for row in free)
        missed = set(range(len(true))) - {place for _, place in pairs}
        m = len(true) - sum(lies_within(true[place]) for place in missed)
        if n or m:
            indices.append(len(pairs) / (m + n - len(pairs) + 1e-6))
    return sum(indices) / len(indices) if indices else math.nan


def _best_pairs(weights: list[list[float]]) -> list[tuple[int, int]]:
    """The pairs of more than 0.5 with the largest sum, found by trying all of them."""
    width = len(weights[0]) if weights else 0
    linked = [[place for place in range(width) if row[place] > 0.5] for row in weights]

    @cache
    def best(row: int, taken: frozenset[int]) -> tuple[float, tuple[tuple[int, int], ...]]:
        if row == len(weights):
            return 0.0, ()
        options = [best(row + 1, taken & _later(row + 1))]
        for place in linked[row]:
            if place not in taken:
                total, pairs = best(row + 1, (taken | {place}) & _later(row + 1))
                options.append((total + weights[row][place], ((row, place), *pairs)))
        return max(options, key=lambda option: option[0])

    @cache
    def _later(row: int) -> frozenset[int]:
        """Objects that rows from this one on can take: only these tell states apart."""
        return frozenset(place for places in linked[row:] for place in places)

    return list(best(0, frozenset())[1])
