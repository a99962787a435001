"""Repairs of boxes: another format or unit, beyond the image, or in the pixels of a network's image."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._columns import positions_in
from ioukit.checks.diagnosis.data_sets import sizes_at
from ioukit.checks.repairs.repair import replaced
from ioukit.datasets import GroundTruth
from ioukit.datasets.columns._regions import KEYPOINTS
from ioukit.datasets.columns.keypoints import decode_keypoints
from ioukit.errors import DatasetError
from ioukit.regions.formats import convert

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ioukit.checks.repairs.repair import Data, Repair
    from ioukit.datasets import Detections
    from ioukit.regions.regions import Regions
    from ioukit.typing import BoxFormat, FloatArray


FORMATS = ("xyxy", "yxyx", "cxcywh", "yxhw", "yxwh", "xyhw", "xxyy")
TURNS = ("hflip", "vflip", "rot90", "rot180", "rot270")
MOVED = ("RotatedBoxes", "Polygons")
"""The regions that are moved with their boxes, and keypoints are. Masks stay."""
ORDERS: dict[str, list[int]] = {
    "yxyx": [1, 0, 3, 2],
    "yxhw": [1, 0, 3, 2],
    "yxwh": [1, 0, 2, 3],
    "xyhw": [0, 1, 3, 2],
    "xxyy": [0, 2, 1, 3],
}
"""Where the numbers of a format stand that is another one after its numbers are put in order."""


def as_xywh(boxes: FloatArray, fmt: str) -> FloatArray:
    """(N, 4) xywh of numbers in one of `FORMATS`. Sides can be negative."""
    if fmt in ORDERS:
        boxes = boxes[:, ORDERS[fmt]]
    known: BoxFormat = "cxcywh" if fmt == "cxcywh" else "xywh" if fmt in ("yxhw", "yxwh", "xyhw") else "xyxy"
    return convert(boxes, known, "xywh")


def turned(boxes: FloatArray, sizes: FloatArray, how: str) -> FloatArray:
    """(N, 4) xywh on the image, from boxes on its mirror image, or on the image turned clockwise by so many degrees.

    Args:
        boxes: (N, 4) xywh.
        sizes: (N, 2) width and height of the image.
        how: One of `TURNS`.
    """
    (x, y, width, height), (wide, tall) = boxes.T, sizes.T
    columns = {
        "hflip": (wide - x - width, y, width, height),
        "vflip": (x, tall - y - height, width, height),
        "rot90": (y, tall - x - width, height, width),
        "rot180": (wide - x - width, tall - y - height, width, height),
        "rot270": (wide - y - height, x, height, width),
    }[how]
    return np.stack(columns, axis=1)


def with_sides(boxes: FloatArray, factor: float) -> FloatArray:
    """(N, 4) xywh with other sides around the same centres."""
    sides = boxes[:, 2:] * factor
    return np.concatenate([boxes[:, :2] + (boxes[:, 2:] - sides) / 2, sides], axis=1)


def with_edges(boxes: FloatArray, shifts: FloatArray) -> FloatArray:
    """(N, 4) xywh whose left, top, right and bottom edges lie so many pixels further right and down.

    No side is below 0.
    """
    begin, end = shifts[:2], shifts[2:]
    return np.concatenate([boxes[:, :2] + begin, np.maximum(boxes[:, 2:] + end - begin, 0.0)], axis=1)


def moved(boxes: FloatArray, x: float, y: float) -> FloatArray:
    """(N, 4) xywh at a place that is so many pixels further right and down."""
    there: FloatArray = boxes + np.array([x, y, 0.0, 0.0])
    return there


def as_pixels(boxes: FloatArray, sizes: FloatArray, unit: str) -> FloatArray:
    """(N, 4) boxes in pixels; ``sizes`` are (N, 2) width and height of the images."""
    twice: FloatArray = np.concatenate([sizes, sizes], axis=1)
    pixels: FloatArray = boxes * twice if unit == "fractions" else boxes / twice
    return pixels


def sizes_of_rows(data: Data, side: GroundTruth | Detections) -> FloatArray:
    """(N, 2) width and height of the image of each row, NaN if unknown."""
    images = data.ground_truth.images
    return sizes_at(images, positions_in(images.labels, side.image_labels()))


def _with_boxes(data: Data, side: GroundTruth | Detections, rows: NDArray[np.bool_], boxes: FloatArray) -> Data:
    """The data with other boxes in some rows. The areas of ground truth follow if they were those of the boxes."""
    boxes = np.ascontiguousarray(np.where(rows[:, None], boxes, side.boxes))
    if not isinstance(side, GroundTruth):
        return data.with_side(replaced(side, boxes=boxes))
    # A format with other numbers for width and height: areas that the file derived from these are wrong, too.
    derived = np.isclose(side.areas, side.boxes[:, 2] * side.boxes[:, 3])
    areas = np.where(derived, boxes[:, 2] * boxes[:, 3], side.areas)
    return data.with_side(replaced(side, boxes=boxes, areas=areas))


def _changed(
    data: Data, repair: Repair, change: Callable[[FloatArray, FloatArray], FloatArray], *, sized: bool = True
) -> Data:
    """The data with the boxes of a repair changed, and keypoints with them: each is a box without width and height.

    Args:
        data: The data.
        repair: The repair.
        change: The change of (N, 4) boxes, for (N, 2) sizes of their images.
        sized: Whether it needs these sizes.

    Raises:
        ValueError: If the data lack sizes that it needs.
    """
    side = data.of(repair.side)
    rows, sizes = repair.rows(side), sizes_of_rows(data, side)
    if sized and np.isnan(sizes[rows]).any():
        raise ValueError(f"repair {str(repair)!r} needs the width and height of the images, and the data lack some")
    points = points_of(side)
    if points is not None and points.size:
        count = points.shape[1]
        boxes = np.concatenate([points[..., :2].reshape(-1, 2), np.zeros((len(points) * count, 2))], axis=1)
        there = change(boxes, np.repeat(sizes, count, axis=0))[:, :2].reshape(-1, count, 2)
        placed = np.where(rows[:, None, None], there, points[..., :2])
        placed = np.concatenate([placed, points[..., 2:]], axis=2)
        side = replaced(side, regions={**side.regions, KEYPOINTS: placed})
    return _with_boxes(data, side, rows, change(side.boxes, sizes))


def points_of(side: GroundTruth | Detections) -> FloatArray | None:
    """(N, P, 3) the keypoints of one side; ``None`` if it has none, or they cannot be read.

    What cannot be read is an error where keypoints are compared; boxes are repaired without them.
    """
    column = side.regions.get(KEYPOINTS)
    array = "annotations" if isinstance(side, GroundTruth) else "detections"
    try:
        return None if column is None else decode_keypoints(column, source=side.source, array=array)
    except (DatasetError, OSError):
        return None


def read_as(data: Data, repair: Repair) -> Data:
    """Reads the numbers of boxes in another format."""
    if repair.value not in FORMATS:
        raise repair.wrong_value()
    side = data.of(repair.side)
    return _with_boxes(data, side, repair.rows(side), as_xywh(side.boxes, repair.value))


def in_pixels(data: Data, repair: Repair) -> Data:
    """Multiplies fractions by the size of the image, or divides what was multiplied twice."""
    if repair.value not in ("fractions", "scaled-twice"):
        raise repair.wrong_value()
    return _changed(data, repair, lambda boxes, sizes: as_pixels(boxes, sizes, repair.value))


def turn_back(data: Data, repair: Repair) -> Data:
    """Puts boxes from the turned or mirrored image on the image."""
    if repair.value not in TURNS:
        raise repair.wrong_value()
    return _changed(data, repair, lambda boxes, sizes: turned(boxes, sizes, repair.value))


def with_other_sides(data: Data, repair: Repair) -> Data:
    """Multiplies width and height, around the same centres."""
    (factor,) = numbers_of(repair, 1)
    if factor <= 0:
        raise repair.wrong_value()
    side = data.of(repair.side)
    return _with_boxes(data, side, repair.rows(side), with_sides(side.boxes, factor))


def move_edges(data: Data, repair: Repair) -> Data:
    """Moves the left, top, right and bottom edges of boxes."""
    side = data.of(repair.side)
    boxes = with_edges(side.boxes, numbers_of(repair, 4))
    return _with_boxes(data, side, repair.rows(side), boxes)


def numbers_of(repair: Repair, count: int) -> FloatArray:
    """(count,) the numbers of a value such as X,Y."""
    try:
        numbers = np.array([float(part) for part in repair.value.split(",")])
    except ValueError:
        raise repair.wrong_value() from None
    if len(numbers) != count or not np.isfinite(numbers).all():
        raise repair.wrong_value()
    return numbers


def move(data: Data, repair: Repair) -> Data:
    """Moves boxes to the right and down, and rotated boxes, polygons and keypoints with them."""
    x, y = numbers_of(repair, 2).tolist()
    side = data.of(repair.side)
    rows = repair.rows(side)
    there = {name: exchanged(each, each.shift(x, y), rows) for name, each in side.regions.items() if name in MOVED}
    data = data.with_side(replaced(side, regions={**side.regions, **there}))
    return _changed(data, repair, lambda boxes, _: moved(boxes, x, y), sized=False)


def exchanged(regions: Regions, others: Regions, rows: NDArray[np.bool_]) -> Any:
    """(N,) regions, of which some rows are those of others of the same kind."""
    of_both: Any = type(regions)
    at = np.arange(len(regions))
    return of_both.concat([regions, others])[np.where(rows, len(regions) + at, at)]


def clip(data: Data, repair: Repair) -> Data:
    """Cuts boxes at the border of the image; boxes wholly outside, and those of images without a size, stay.

    Areas of ground truth become no larger than the box.
    """
    side = data.of(repair.side)
    sizes = sizes_of_rows(data, side)
    known = np.logical_not(np.isnan(sizes.sum(axis=1)))
    corners = convert(side.boxes, "xywh", "xyxy")
    limit = np.where(known[:, None], sizes, np.inf)
    cut = np.concatenate([np.clip(corners[:, :2], 0, limit), np.clip(corners[:, 2:], 0, limit)], axis=1)
    inside = (corners[:, :2] < limit).all(axis=1) & (corners[:, 2:] > 0).all(axis=1)
    beyond: NDArray[np.bool_] = known & inside & (cut != corners).any(axis=1)
    if isinstance(side, GroundTruth):
        left = (cut[:, 2:] - cut[:, :2]).prod(axis=1)
        side = replaced(side, areas=np.where(beyond, np.minimum(side.areas, left), side.areas))
    return _with_boxes(data, side, beyond, convert(cut, "xyxy", "xywh"))


MODES = ("factor", "stretch", "letterbox", "longest", "shortest")
"""Ways of resizing: by a factor; to a width and a height; to a square with a border on two sides; to a longest side
(also with a border on the right or below); to a shortest side."""


def unit_scales(sizes: FloatArray, mode: str) -> tuple[FloatArray, FloatArray]:
    """(N, 2) scale and (N, 2) shift in x and y for a network of size 1: ``(x * scale + shift) * size``.

    Args:
        sizes: (N, 2) width and height of the image.
        mode: One of `MODES`.
    """
    longest, shortest = np.maximum(sizes[:, :1], sizes[:, 1:]), np.minimum(sizes[:, :1], sizes[:, 1:])
    shift = np.zeros_like(sizes)
    if mode == "factor":
        return np.ones_like(sizes), shift
    if mode == "stretch":
        return 1 / sizes, shift
    if mode == "letterbox":
        return np.broadcast_to(1 / longest, sizes.shape), (longest - sizes) / 2 / longest
    return np.broadcast_to(1 / (longest if mode == "longest" else shortest), sizes.shape), shift


def on_image(boxes: FloatArray, sizes: FloatArray, mode: str, size: tuple[float, float]) -> FloatArray:
    """(N, 4) xywh in pixels of the image, from boxes in the pixels of the network's image.

    Args:
        boxes: (N, 4) xywh.
        sizes: (N, 2) width and height of the image.
        mode: One of `MODES`.
        size: Width and height of the network's image; equal numbers except for ``"stretch"``.
    """
    scale, shift = unit_scales(sizes, mode)
    network = np.array(size)
    low = (boxes[:, :2] / network - shift) / scale
    return np.concatenate([low, boxes[:, 2:] / network / scale], axis=1)


def from_network(data: Data, repair: Repair) -> Data:
    """Undoes the resizing of images, for boxes in the pixels of the network's image."""
    mode, _, text = repair.value.partition(":")
    try:
        numbers = [float(part) for part in text.split("x")]
    except ValueError:
        raise repair.wrong_value() from None
    if (
        mode not in MODES
        or len(numbers) > (2 if mode == "stretch" else 1)
        or not all(number > 0 and np.isfinite(number) for number in numbers)
    ):
        raise repair.wrong_value()
    size = numbers[0], numbers[-1]
    if mode == "factor":  # it does not depend on the size of the image
        return _changed(
            data, repair, lambda boxes, sizes: on_image(boxes, np.ones_like(sizes), mode, size), sized=False
        )
    return _changed(data, repair, lambda boxes, sizes: on_image(boxes, sizes, mode, size))
