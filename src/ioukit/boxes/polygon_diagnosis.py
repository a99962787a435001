"""What looks wrong with polygons? The answer names rows and a way to mend them, and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import numpy as np

from ioukit._checks import check_positive
from ioukit.boxes import _polygon_geometry as geometry
from ioukit.boxes.diagnosis import (
    BEYOND_NORMALIZED,
    MOST_OF_A_NORMALIZED,
    Code,
    Diagnosis,
    Finding,
    PolygonCode,
    Severity,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ioukit.boxes.polygons import Polygons

__all__ = ["diagnose_polygons"]


def diagnose_polygons(polygons: Polygons, image_size: tuple[float, float] | None) -> Diagnosis:
    """The findings that `Polygons.diagnose` describes."""
    if image_size is not None:
        check_positive(width=image_size[0], height=image_size[1])
    found = [*_shapes(polygons), *_turns(polygons), *_units_and_places(polygons, image_size), *_duplicates(polygons)]
    order = get_args(Severity)
    return Diagnosis(tuple(sorted(found, key=lambda finding: order.index(finding.severity))), len(polygons), "polygon")


def _finding(
    code: Code | PolygonCode, severity: Severity, rows: NDArray[np.bool_], says: str, hint: str
) -> Iterator[Finding]:
    """The finding, if there are rows; ``says`` follows the number of polygons."""
    if rows.any():
        message = f"{int(rows.sum())} of {len(rows):,} polygon{'' if len(rows) == 1 else 's'} {says}"
        yield Finding(code, severity, message, hint, tuple(np.flatnonzero(rows).tolist()))


def _shapes(polygons: Polygons) -> Iterator[Finding]:
    points = polygons.points()
    none = polygons.num_points == 0
    distinct = np.array([len(np.unique(one, axis=0)) for one in points], np.int64)
    few = ~none & (distinct < 3)
    flat = ~none & ~few & (polygons.convex_hull().num_points == 0)
    drop = "drop them: IoU with them is 0 (Polygons.drop_empty)"
    yield from _finding("no_points", "warning", none, "have no points", drop)
    yield from _finding("too_few_points", "warning", few, "have fewer than 3 different points", drop)
    yield from _finding("zero_area", "warning", flat, "have all points on one line", drop)
    crossing = ~(none | few | flat | polygons.is_simple)
    if crossing.any():
        row = int(np.argmax(crossing))
        edges = polygons.contact(row) or (0, 0)
        yield from _finding(
            "self_crossing", "warning", crossing,
            f"have edges that cross or touch each other, row {row} its edges {edges[0]} and {edges[1]}",
            "order the points, or take the parts that Polygons.make_valid gives",
        )  # fmt: skip
    kept = geometry.without_repeats(polygons.vertices, polygons.offsets)[1]
    yield from _finding(
        "repeated_points", "note", ~none & ~few & (np.diff(kept) < polygons.num_points),
        "have a point that equals the next one (the first being next to the last)",
        "leave out the second: the path is closed without it",
    )  # fmt: skip


def _turns(polygons: Polygons) -> Iterator[Finding]:
    area = polygons.signed_area
    turns = np.array([(area > 0).sum(), (area < 0).sum()])
    if not turns.all():
        return
    word, fewer = ("counterclockwise", area < 0) if turns[1] <= turns[0] else ("clockwise", area > 0)
    yield from _finding(
        "mixed_orientation", "note", fewer, f"turn {word} on the screen, the others the other way",
        "nothing here minds; for tools that do, Polygons.clockwise gives all one way",
    )  # fmt: skip


def _units_and_places(polygons: Polygons, image_size: tuple[float, float] | None) -> Iterator[Finding]:
    box = geometry.bounds(polygons.vertices, polygons.offsets)
    drawn = polygons.num_points > 0
    largest = np.where(drawn, np.abs(box).max(axis=1, initial=0), 0)
    image = None if image_size is None else np.array(image_size, np.float64)
    if polygons.normalized:
        beyond = largest > BEYOND_NORMALIZED
        image = np.ones(2)
        if beyond.any() and 2 * int(beyond.sum()) >= int(drawn.sum()):
            yield from _finding(
                "not_normalized", "warning", beyond, "are said to be normalized and lie beyond 2",
                "leave out normalized=True, or divide by the size of the image",
            )  # fmt: skip
            return
    elif (largest <= MOST_OF_A_NORMALIZED).all() and (polygons.vertices % 1 != 0).any():
        yield from _finding(
            "normalized_not_declared", "warning", drawn, "lie within an image of 1 by 1",
            "say normalized=True, or multiply by the size of the image",
        )  # fmt: skip
        image = np.ones(2)
    low, high = box[:, :2], box[:, 2:]
    clip = "clip them (Polygons.clip), if the measure of the protocol is of the visible part"
    if image is None:
        below = drawn & (low < 0).any(axis=1)
        yield from _finding("negative", "note", below, "begin left of or above the image", clip)
        return
    away = drawn & ((high <= 0) | (low >= image)).any(axis=1)
    partly = drawn & ~away & ((low < 0) | (high > image)).any(axis=1)
    size = " by ".join(f"{side:g}" for side in image)
    yield from _finding(
        "wholly_outside", "warning", away, f"lie wholly outside the image of {size}", "drop them, or check the size"
    )
    yield from _finding("partly_outside", "note", partly, f"stick out of the image of {size}", clip)


def _duplicates(polygons: Polygons) -> Iterator[Finding]:
    seen: set[bytes] = set()
    again = np.zeros(len(polygons), np.bool_)
    for row, points in enumerate(polygons.points()):
        numbers = (points + 0.0).tobytes()
        again[row] = numbers in seen
        if len(points):
            seen.add(numbers)
    hint = "drop them if they are of one image, class and score"
    yield from _finding("duplicate", "note", again, "repeat an earlier one, point by point", hint)
