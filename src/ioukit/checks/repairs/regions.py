"""Repairs of what ground truth says of its masks, areas and crowds, of angles, and of the order of keypoints."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.checks.diagnosis.turned import in_other_sense
from ioukit.checks.repairs.boxes import exchanged, points_of, sizes_of_rows
from ioukit.checks.repairs.repair import replaced
from ioukit.datasets import GroundTruth
from ioukit.datasets.columns._checks import pixel_boxes
from ioukit.datasets.columns._regions import KEYPOINTS
from ioukit.datasets.columns.lazy import ValuesOfFiles, texts_at
from ioukit.regions.formats import convert

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.checks.repairs.repair import Data, Repair
    from ioukit.datasets import Detections
    from ioukit.regions import RotatedBoxes
    from ioukit.typing import FloatArray


MOST_ROWS = 0.5  # whose points lie about in their boxes: a choice, between nearly all and a few by chance


def masks_of(data: Data, side: GroundTruth | Detections) -> Any:
    """The `Masks` of one side, of all of its rows; ``None`` if it has none.

    Raises:
        DatasetError: If a mask cannot be read.
    """
    given = side.regions.get("Masks")
    if given is not None or side.segmentations is None:
        return given
    from ioukit.datasets.columns.masks import decode  # noqa: PLC0415 - for data with masks

    sizes = np.asarray(sizes_of_rows(data, side), np.float64)
    array = "annotations" if isinstance(side, GroundTruth) else "detections"
    return decode(side.segmentations, sizes, source=side.source, array=array)


def written_as_rle(gt: GroundTruth) -> NDArray[np.bool_] | None:
    """(N,) whether the mask of an annotation is written as RLE and not as polygons; ``None`` without such masks."""
    spelled = gt.segmentations
    if spelled is None:
        return None
    if not isinstance(spelled, ValuesOfFiles):
        return np.array([isinstance(value, dict) for value in spelled], np.bool_)
    found = np.zeros(len(gt), np.bool_)
    for path, rows, spans in spelled.files():
        there = spans[:, 1] > spans[:, 0]
        if there.any():
            first = spans[there, :1] + np.array([0, 1], np.uint64)
            found[rows[there]] = [text == b"{" for text in texts_at(path, first)]
    return found


def with_other_areas(data: Data, repair: Repair) -> Data:
    """Gives annotations the areas of their masks or boxes."""
    gt = data.ground_truth
    if repair.value not in ("boxes", "masks"):
        raise repair.wrong_value()
    areas = gt.boxes[:, 2] * gt.boxes[:, 3]
    if repair.value == "masks":
        if (masks := masks_of(data, gt)) is None:
            raise ValueError(f"repair {str(repair)!r} needs masks, and {gt.source} has none")
        areas = np.asarray(masks.area, np.float64)
    return data._replace(ground_truth=dataclasses.replace(gt, areas=areas))


def with_crowds(data: Data, repair: Repair) -> Data:
    """Marks annotations as crowds: those whose mask is RLE, as COCO writes them, or those with some ids."""
    gt = data.ground_truth
    if repair.value == "rle":
        rle = written_as_rle(gt)
    else:
        try:
            rle = np.isin(gt.ids, [int(number) for number in repair.value.split(",")])
        except ValueError:
            raise repair.wrong_value() from None
    if rle is None:
        raise ValueError(f"repair {str(repair)!r} needs segmentations, and {gt.source} has none")
    return data._replace(ground_truth=dataclasses.replace(gt, flags={**gt.flags, "crowd": gt.crowd | rle}))


ANGLES = ("other-sense", "degrees", "radians", "quarter-turn")


def read_angles(boxes: RotatedBoxes, how: str) -> RotatedBoxes:
    """Rotated boxes with another meaning of their angles, one of `ANGLES`; a quarter turn also exchanges the sides."""
    if how == "other-sense":
        return in_other_sense(boxes)
    numbers = boxes.numpy()
    if how == "quarter-turn":
        return boxes._with(numbers[:, [0, 1, 3, 2, 4]])
    return boxes._with(numbers, unit=how)


def with_other_angles(data: Data, repair: Repair) -> Data:
    """Reads the angles of rotated boxes in another way."""
    if repair.value not in ANGLES:
        raise repair.wrong_value()
    side = data.of(repair.side)
    given = side.regions.get("RotatedBoxes")
    if given is None:
        raise ValueError(f"repair {str(repair)!r} needs rotated boxes, and {side.source} has none")
    turned = exchanged(given, read_angles(given, repair.value), repair.rows(side))
    boxes = pixel_boxes(turned.to_boxes(), len(turned))
    return data.with_side(replaced(side, regions={**side.regions, "RotatedBoxes": turned}, boxes=boxes))


def around_points(side: GroundTruth | Detections, points: FloatArray) -> FloatArray:
    """(N, 4) boxes around keypoints: of objects, around those that are labelled. Without any, it is 0 by 0.

    Detectors write a point that they do not see as 0, 0.
    """
    there = np.isfinite(points[..., :2]).all(axis=2) & (points[..., :2] != 0).any(axis=2)
    if isinstance(side, GroundTruth):
        there &= points[..., 2] > 0
    some = there.any(axis=1)[:, None]
    low = np.where(some, np.where(there[..., None], points[..., :2], np.inf).min(axis=1, initial=np.inf), 0.0)
    high = np.where(some, np.where(there[..., None], points[..., :2], -np.inf).max(axis=1, initial=-np.inf), 0.0)
    return np.concatenate([low, high - low], axis=1)


def with_other_points(data: Data, repair: Repair) -> Data:
    """Reads x for y of keypoints, or writes them in another order. Boxes of what has x for y are read so, too."""
    side = data.of(repair.side)
    points = points_of(side)
    if points is None:
        raise ValueError(f"repair {str(repair)!r} needs keypoints, and {side.source} has none")
    rows = repair.rows(side)
    if repair.value == "yx":
        centres = convert(around_points(side, points), "xywh", "cxcywh")[:, :2]
        apart = np.abs(centres - convert(side.boxes, "xywh", "cxcywh")[:, :2])
        inside = rows & np.asarray((apart <= side.boxes[:, 2:] / 2).all(axis=1))
        if inside.sum() > MOST_ROWS * rows.sum():  # else these boxes are not those of the points, and are right
            side = replaced(side, boxes=np.where(rows[:, None], side.boxes[:, [1, 0, 3, 2]], side.boxes))
        others = points[..., [1, 0, 2]]
    else:
        order = repair.value.split(",")
        if sorted(order) != sorted(map(str, range(points.shape[1]))):
            raise repair.wrong_value()
        others = points[:, list(map(int, order))]
    points = np.where(rows[:, None, None], others, points)
    return data.with_side(replaced(side, regions={**side.regions, KEYPOINTS: points}))
