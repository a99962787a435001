"""What annotation tools draw: rectangles, polygons, ellipses and masks, as boxes and as COCO's segmentations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit.datasets.formats.text_files import abbreviate, refuse, shortened

_CORNERS_OF_ELLIPSE = 64
_LINES_OF_CURVE = 16
_MOST_PIXELS = 2**28
"""A mask of more pixels is refused: no image is as large, and the memory for it may not be there."""

Point = Sequence[float]


class Drawn(NamedTuple):
    """A shape as columns have it."""

    box: list[float]
    """``[x, y, width, height]``, the smallest one around the shape."""
    segmentation: Any = None
    """Polygons or RLE as in COCO's files; ``None`` for a rectangle."""
    area: float | None = None
    """In square pixels; ``None`` if it is that of the box."""
    rotated: list[float] | None = None
    """``[cx, cy, width, height, angle]`` of a rectangle that is turned; radians, clockwise on the screen."""

    @property
    def regions(self) -> dict[str, Any]:
        """The segmentation as `Objects.add` takes it."""
        return {} if self.segmentation is None else {"segmentations": self.segmentation}


def rectangle(first: Point, second: Point) -> Drawn:
    """The rectangle of two opposite corners, in any order."""
    return Drawn(_box_around([first, second]))


def turned_rectangle(box: Sequence[float], degrees: float) -> Drawn:
    """A rectangle ``[x, y, width, height]`` that is turned around its centre, clockwise on the screen.

    The angle of the rotated box is within [-pi, pi].
    """
    degrees = math.remainder(degrees, 360)
    x, y, width, height = box
    cx, cy, angle = x + width / 2, y + height / 2, math.radians(degrees)
    if degrees == 0:
        return Drawn(list(box), rotated=[cx, cy, width, height, 0.0])
    reach_x = (abs(width * math.cos(angle)) + abs(height * math.sin(angle))) / 2
    reach_y = (abs(width * math.sin(angle)) + abs(height * math.cos(angle))) / 2
    around = [cx - reach_x, cy - reach_y, 2 * reach_x, 2 * reach_y]
    return Drawn(around, area=width * height, rotated=[cx, cy, width, height, angle])


def polygon(points: Sequence[Point], where: str) -> Drawn:
    """A polygon of at least three points.

    Raises:
        DatasetError: If there are fewer.
    """
    if len(points) < 3:
        refuse(where, "at least 3 points of a polygon", f"{len(points)}")
    path = [value for point in points for value in point]
    return Drawn(_box_around(points), [path], _shoelace(path))


def ellipse(centre: Point, radii: Point, degrees: float = 0.0) -> Drawn:
    """An ellipse: its exact box, and a polygon of 64 points on it.

    Args:
        centre: x and y.
        radii: Half of the axes.
        degrees: By how much the axes are turned, clockwise on the screen.
    """
    (cx, cy), (rx, ry) = centre, radii
    turn = math.radians(degrees)
    cosine, sine = (1.0, 0.0) if degrees % 360 == 0 else (math.cos(turn), math.sin(turn))
    path = []
    for step in range(_CORNERS_OF_ELLIPSE):
        around = 2 * math.pi * step / _CORNERS_OF_ELLIPSE
        along, across = rx * math.cos(around), ry * math.sin(around)
        path += [cx + along * cosine - across * sine, cy + along * sine + across * cosine]
    reach_x, reach_y = math.hypot(rx * cosine, ry * sine), math.hypot(rx * sine, ry * cosine)
    return Drawn([cx - reach_x, cy - reach_y, 2 * reach_x, 2 * reach_y], [path], _shoelace(path))


def mask_of_runs(runs: Sequence[int], corner: Sequence[int], size: Sequence[int], image: Point, where: str) -> Drawn:
    """A mask from the runs of a part of the image, row by row; the first run is background.

    Args:
        runs: Their lengths.
        corner: Left and top of the part.
        size: Width and height of the part.
        image: Width and height of the image.
        where: The place, for messages.

    Raises:
        DatasetError: If the runs do not fill the part, or as :func:`mask`.
    """
    pixels = size[0] * size[1]
    if sum(runs) != pixels:
        refuse(where, f"runs of {pixels:,} pixels, {size[0]} x {size[1]}", f"{sum(runs):,}")
    check_place(corner, size, image, where)
    inside = np.arange(len(runs)) % 2 == 1
    part = np.repeat(inside, np.array(runs, np.int64)).reshape(size[1], size[0])
    return mask(part, corner, image, where)


def mask(part: npt.NDArray[np.bool_], corner: Sequence[int], image: Point, where: str) -> Drawn:
    """A mask from the pixels of a part of the image.

    Args:
        part: (H, W) pixels.
        corner: Left and top of the part.
        image: Width and height of the image.
        where: The place, for messages.

    Raises:
        DatasetError: If the part is not inside of the image, the image has no size, or no pixel is set.
    """
    height, width = part.shape
    check_place(corner, (width, height), image, where)
    columns, rows = np.nonzero(part.T)  # column by column, as COCO counts
    if not len(rows):
        refuse(where, "a mask with at least one pixel", "none")
    (left, top), (image_width, image_height) = corner, map(int, image)
    places = (columns + left) * image_height + rows + top
    ends = np.flatnonzero(np.diff(places) != 1)
    first, last = places[np.append(0, ends + 1)], places[np.append(ends, len(places) - 1)] + 1
    edges = np.concatenate([[0], np.stack([first, last], axis=1).ravel(), [image_width * image_height]])
    counts = np.diff(edges)
    if counts[-1] == 0:
        counts = counts[:-1]
    from ioukit.regions.masks import Masks  # noqa: PLC0415 - few files have masks

    drawn = Masks.from_rle([{"size": [image_height, image_width], "counts": counts.tolist()}])
    low, high = (columns.min() + left, rows.min() + top), (columns.max() + left + 1, rows.max() + top + 1)
    return Drawn(_box_around([list(map(float, low)), list(map(float, high))]), drawn.to_rle()[0], float(len(rows)))


def around_points(points: Sequence[Point], where: str) -> Drawn:
    """The box around points, such as keypoints.

    Raises:
        DatasetError: If there is none.
    """
    if not len(points):
        refuse(where, "at least one point that is not outside", "none")
    return Drawn(_box_around([point[:2] for point in points]))


def mask_of_rle(record: Any, where: str) -> Drawn:
    """A mask from COCO's RLE, ``{"size": [height, width], "counts": ...}``.

    Raises:
        DatasetError: If it is no RLE, or no pixel is set.
    """
    from ioukit.regions.masks import Masks  # noqa: PLC0415 - few files have masks

    if not isinstance(record, Mapping):
        refuse(where, "an object with size and counts", abbreviate(record))
    try:
        masks = Masks.from_rle([{"size": record.get("size"), "counts": record.get("counts")}])
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        refuse(where, "RLE", f"something else: {shortened(str(error))}")
    if masks.is_empty[0]:
        refuse(where, "a mask with at least one pixel", "none")
    box = masks.to_boxes().convert("xywh").numpy()[0].tolist()
    return Drawn(box, masks.to_rle()[0], float(masks.area[0]))


def straightened(points: Sequence[Point], types: str, where: str) -> list[Point]:
    """The vertices of a closed path in which two ``C`` are the inner points of a cubic Bezier curve.

    A curve begins at the vertex before, ends at the vertex behind, and becomes 16 straight lines.

    Args:
        points: The vertices.
        types: ``L`` or ``C`` for each of them. The first one is where the path begins.
        where: The place, for messages.

    Raises:
        DatasetError: If one ``C`` stands alone.
    """
    path: list[Point] = list(points[:1])
    at = 1
    while at < len(points):
        if types[at] == "C" and types[at : at + 2] != "CC":
            refuse(where, "C in pairs, the inner points of a curve", abbreviate(types))
        if types[at] == "L":
            path.append(points[at])
            at += 1
            continue
        knots = [path[-1], points[at], points[at + 1], points[(at + 2) % len(points)]]
        for step in range(1, _LINES_OF_CURVE + 1):
            t = step / _LINES_OF_CURVE
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
            path.append([sum(w * knot[axis] for w, knot in zip(weights, knots, strict=True)) for axis in (0, 1)])
        at += 3
    return path


def joined(parts: Sequence[Drawn]) -> Drawn:
    """One object of several rectangles and polygons: the box around all, and all polygons."""
    if len(parts) == 1:
        return parts[0]
    corners = []
    paths: list[list[float]] = []
    for (x, y, width, height), segmentation, *_ in parts:
        right, bottom = x + width, y + height
        corners += [[x, y], [right, bottom]]
        paths += segmentation or [[x, y, right, y, right, bottom, x, bottom]]
    return Drawn(_box_around(corners), paths, sum(map(_shoelace, paths)))


def points_of(path: Sequence[float]) -> list[list[float]]:
    """The points of a polygon of COCO's files, ``[x1, y1, x2, y2, ...]``."""
    return [[float(x), float(y)] for x, y in zip(path[::2], path[1::2], strict=True)]


def segmentation_area(segmentation: Any) -> float:
    """The area of polygons, where they do not overlap, or of RLE."""
    if isinstance(segmentation, Sequence):
        return sum(_shoelace([float(value) for value in path]) for path in segmentation)
    from ioukit.regions.masks import Masks  # noqa: PLC0415 - as above

    return float(Masks.from_rle([segmentation]).area[0])


def _box_around(points: Sequence[Point]) -> list[float]:
    xs, ys = zip(*points, strict=True)
    return [min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)]


def _shoelace(path: Sequence[float]) -> float:
    # Around the first point, so that a polygon far from the origin keeps its digits.
    xs, ys = [x - path[0] for x in path[::2]], [y - path[1] for y in path[1::2]]
    twice = sum(xs[at - 1] * ys[at] - xs[at] * ys[at - 1] for at in range(len(xs)))
    return abs(twice) / 2


def check_place(corner: Sequence[int], size: Sequence[int], image: Point, where: str) -> None:
    """Refuse a part that is not inside of the image, or too large to draw."""
    if math.isnan(image[0]):
        refuse(where, "a mask in an image of known width and height", "an image of unknown size")
    if max(size[0] * size[1], image[0] * image[1]) > _MOST_PIXELS:
        refuse(where, f"a mask of at most {_MOST_PIXELS:,} pixels", f"{image[0]:g} x {image[1]:g}")
    if min(corner) < 0 or any(low + length > side for low, length, side in zip(corner, size, image, strict=True)):
        found = f"{size[0]} x {size[1]} pixels at {corner[0]}, {corner[1]}"
        refuse(where, f"a mask inside of the image of {image[0]:g} x {image[1]:g} pixels", found)
