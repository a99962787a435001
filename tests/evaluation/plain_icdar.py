"""ICDAR 2015's text localisation in plain Python: what leaves first, then pairs in the order of the data."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from support.polygon_oracles import exact_area, exact_clip, exact_ring

if TYPE_CHECKING:
    from collections.abc import Sequence

HALF = Fraction(1, 2)


class Text(NamedTuple):
    """Four points around a text, and whether it counts."""

    points: Sequence[tuple[float, float]]
    dont_care: bool = False


class Counts(NamedTuple):
    """Of one image, or of several together."""

    pairs: int = 0
    objects: int = 0
    detections: int = 0


def plain_counts(texts: Sequence[Text], found: Sequence[Sequence[tuple[float, float]]]) -> Counts:
    """The pairs, the texts that count and the detections that count of one image; all texts are convex."""
    texts_that_count = [text.points for text in texts if not text.dont_care]
    areas = [text.points for text in texts if text.dont_care]
    detections = [one for one in found if not any(2 * _both(one, area) > _area(one) > 0 for area in areas)]
    taken: set[int] = set()
    pairs = 0
    for text in texts_that_count:
        for place, one in enumerate(detections):
            both = _both(one, text)
            union = _area(one) + _area(text) - both
            if place not in taken and union and both / union > HALF:
                taken.add(place)
                pairs += 1
                break
    return Counts(pairs, len(texts_that_count), len(detections))


def plain_numbers(images: Sequence[Counts]) -> tuple[float, float, float]:
    """hmean, precision and recall of all images together; 0 where nothing counts, as the script has it."""
    pairs, objects, detections = (sum(column) for column in zip(*images, strict=True))
    precision = pairs / detections if detections else 0.0
    recall = pairs / objects if objects else 0.0
    return (2 * precision * recall / (precision + recall) if pairs else 0.0), precision, recall


def _area(points: Sequence[tuple[float, float]]) -> Fraction:
    return abs(exact_area(exact_ring(points)))


def _both(first: Sequence[tuple[float, float]], convex: Sequence[tuple[float, float]]) -> Fraction:
    """The area of the intersection."""
    if not _area(first) or not _area(convex):
        return Fraction(0)
    return abs(exact_area(exact_clip(exact_ring(first), exact_ring(convex))))
