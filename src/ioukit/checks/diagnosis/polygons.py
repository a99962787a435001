"""What looks wrong with polygons?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit.checks.diagnosis._common_rules import Units, check_image_size, duplicates, places, repeated_keys
from ioukit.checks.diagnosis.findings import Collector
from ioukit.regions import _polygon_geometry as geometry

if TYPE_CHECKING:
    from ioukit.checks.diagnosis.findings import Diagnosis
    from ioukit.regions.polygons import Polygons


def diagnose_polygons(polygons: Polygons, *, image_size: tuple[float, float] | None = None) -> Diagnosis:
    """Findings about polygons.

    - ``no_points``, ``too_few_points`` (fewer than 3 different points), ``zero_area`` (all points on one line).
    - ``self_crossing``: edges cross or touch, other than neighbours at their common point.
    - ``repeated_points``: a point equals the next one. An example is a ring whose last point repeats the first.
    - ``mixed_orientation``: some polygons run in the other direction than most. The smaller group is reported.
    - ``normalized_not_declared``: no number is beyond 1.5 in magnitude, and one is not an integer.
    - ``not_normalized``: the polygons are declared as normalized, and at least half have a number beyond 2.
    - ``mixed_units``: the polygons are declared as normalized, and fewer have a number beyond 2. Or they are declared
      as pixels, some with a fraction are within [0, 1], and another has a number beyond 10.
    - ``partly_outside``, ``wholly_outside`` the image, by their bounding boxes; ``negative`` if its size is unknown.
    - ``duplicate``: all points equal those of an earlier polygon.

    Args:
        polygons: The polygons.
        image_size: (width, height) in pixels, if all polygons are from images of one size. Normalized polygons do not
            need it.
    """
    check_image_size(image_size)
    found = Collector(len(polygons), "polygon")
    _shapes(found, polygons)
    _turns(found, polygons)
    _units_and_places(found, polygons, image_size)
    keys = [(points + 0.0).tobytes() if len(points) else None for points in polygons.points()]
    duplicates(found, repeated_keys(keys), "repeat an earlier one, point by point")
    return found.diagnosis()


def _shapes(found: Collector, polygons: Polygons) -> None:
    points = polygons.points()
    none = polygons.num_points == 0
    distinct = np.array([len(np.unique(one, axis=0)) for one in points], np.int64)
    few = ~none & (distinct < 3)
    flat = ~none & ~few & (polygons.convex_hull().num_points == 0)
    drop = "drop them: IoU with them is 0 (Polygons.drop_empty)"
    found.add("no_points", "warning", none, "have no points", drop)
    found.add("too_few_points", "warning", few, "have fewer than 3 different points", drop)
    found.add("zero_area", "warning", flat, "have all points on one line", drop)
    crossing = ~(none | few | flat | polygons.is_simple)
    if crossing.any():
        row = int(np.argmax(crossing))
        edges = polygons.contact(row) or (0, 0)
        found.add(
            "self_crossing", "warning", crossing,
            f"have edges that cross or touch each other, such as edges {edges[0]} and {edges[1]} in row {row}",
            "put the points in order, or use the parts that Polygons.make_valid returns",
        )  # fmt: skip
    kept = geometry.without_repeats(polygons.vertices, polygons.offsets)[1]
    found.add(
        "repeated_points", "note", ~none & ~few & (np.diff(kept) < polygons.num_points),
        "have a point that equals the next one (after the last point comes the first)",
        "leave out one of the two: paths are closed without it",
    )  # fmt: skip


def _turns(found: Collector, polygons: Polygons) -> None:
    area = polygons.signed_area
    turns = np.array([(area > 0).sum(), (area < 0).sum()])
    if not turns.all():
        return
    words = ("counterclockwise", "clockwise")
    (word, others), fewer = (words, area < 0) if turns[1] <= turns[0] else (words[::-1], area > 0)
    found.add(
        "mixed_orientation", "note", fewer, f"run {word} on the screen, and the others {others}",
        "ioukit accepts both; for tools that do not, Polygons.clockwise makes all clockwise",
    )  # fmt: skip


def _units_and_places(found: Collector, polygons: Polygons, image_size: tuple[float, float] | None) -> None:
    box = geometry.bounds(polygons.vertices, polygons.offsets)
    low, high = box[:, :2], box[:, 2:]
    drawn = polygons.num_points > 0
    owners = np.repeat(np.arange(len(polygons)), polygons.num_points)
    fractions = np.zeros(len(polygons), np.bool_)
    fractions[owners[(polygons.vertices % 1 != 0).any(axis=1)]] = True
    units = Units(
        box,
        high - low,
        largest=np.where(drawn, np.abs(box).max(axis=1, initial=0), 0),
        fractions=fractions,
        usable=drawn,
        image_size=image_size,
        normalized=polygons.normalized,
    )
    units.find(found, "Polygons")
    places(found, low, high, drawn & ~units.stray, units.image, "Polygons")
