"""The objects and the detections of an evaluation as columns, from records or from files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ioukit import _core
from ioukit.compat.pycocotools._files import AnnotationFile, ResultFile
from ioukit.datasets.columns._regions import KEYPOINTS, SEGMENTATIONS, WITHOUT_KEYPOINTS
from ioukit.datasets.columns.keypoints import decode_keypoints
from ioukit.datasets.columns.masks import decode
from ioukit.regions import Masks

__all__ = [
    "Groups",
    "IrregularError",
    "Side",
    "detections_of_file",
    "detections_of_records",
    "objects_of_file",
    "objects_of_records",
]

Record = dict[str, Any]
Ids = NDArray[np.int64]
Floats = NDArray[np.float64]

_LARGEST = 2.0**53
_TINY = 1e-290
"""Below this, the area of a box has lost digits, or all of them."""


class IrregularError(Exception):
    """Data that only the plain way of pycocotools evaluates as pycocotools does."""


class Groups(NamedTuple):
    """What is evaluated: images by categories."""

    images: Ids
    """(I,) ids in ascending order."""
    categories: Ids
    """(K,) ids."""
    by_category: bool
    """Whether each category is a group of its own."""


@dataclass(frozen=True)
class Side:
    """Objects or detections that take part, in the order in which pycocotools lists those of a group."""

    ids: Ids
    image: Ids
    """(N,) position in `Groups.images`."""
    category: Ids
    """(N,) position in `Groups.categories`; 0 if all of them are one group."""
    areas: Floats
    boxes: Floats
    """(N, 4) ``[x, y, width, height]``."""
    regions: Masks | Floats | None
    """Masks, or (N, P, 3) keypoints; ``None`` where boxes are compared."""
    scores: Floats
    """(N,) of detections."""
    crowd: NDArray[np.bool_]
    """(N,) of objects."""
    ignored: NDArray[np.bool_]
    """(N,) of objects."""
    listed_ids: Sequence[Any]
    """(N,) ids as the records have them."""
    listed_scores: Sequence[Any]
    """(N,) scores as the records have them."""

    def __len__(self) -> int:
        return len(self.ids)


def objects_of_records(records: Sequence[Record], groups: Groups, iou_type: str) -> Side:
    """The objects among the records of a ground truth.

    Raises:
        IrregularError: If a value is missing or unusual.
    """
    side = _of_records(records, iou_type, with_boxes=iou_type != "segm")
    crowd = _numbers([record.get("iscrowd", 2) for record in records], "bui")
    if not np.isin(crowd, (0, 1)).all():
        raise IrregularError("iscrowd")
    crowd = crowd.astype(np.bool_)
    ignored = crowd
    if iou_type == "keypoints":
        ignored = crowd | (_numbers([record["num_keypoints"] for record in records], "ui") == 0)
    if (side.ids == 0).any():
        raise IrregularError("id 0, which pycocotools takes for no match")
    return _chosen(replace(side, crowd=crowd, ignored=ignored), groups)


def detections_of_records(records: Sequence[Record], groups: Groups, iou_type: str) -> Side:
    """The detections among the records of results.

    Raises:
        IrregularError: If a value is missing or unusual.
    """
    side = _of_records(records, iou_type, with_boxes=iou_type == "bbox")
    listed = [record["score"] for record in records]
    scores = _numbers(listed, "uif")
    if not np.isfinite(scores).all() or (side.ids <= 0).any():
        raise IrregularError("score or id")
    return _chosen(replace(side, scores=scores, listed_scores=listed), groups)


def _of_records(records: Sequence[Record], iou_type: str, *, with_boxes: bool) -> Side:
    try:
        listed = [record["id"] for record in records]
        boxes = _boxes([record["bbox"] for record in records]) if with_boxes else np.zeros((len(records), 4))
        areas = _numbers([record["area"] for record in records], "uif")
        image = _numbers([record["image_id"] for record in records], "ui")
        category = _numbers([record["category_id"] for record in records], "ui")
        regions: Masks | Floats | None = None
        if iou_type == "segm":
            regions = Masks._trusted(*_core.masks_from_rle([record["segmentation"] for record in records], "masks"))
        elif iou_type == "keypoints":
            regions = _keypoints([record["keypoints"] for record in records])
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise IrregularError("records") from error
    if np.isnan(areas).any():
        raise IrregularError("area")
    ids = _numbers(listed, "ui").astype(np.int64)
    none = np.zeros(len(ids), np.bool_)
    return Side(
        ids, image.astype(np.int64), category.astype(np.int64), areas, boxes, regions, np.zeros(len(ids)), none, none,
        listed, (),
    )  # fmt: skip


def _numbers(values: list[Any], kinds: str) -> NDArray[Any]:
    """A column of numbers; floats are doubles."""
    if not values:
        return np.zeros(0, np.float64 if "f" in kinds else np.int64)
    try:
        column = np.array(values)
    except (ValueError, TypeError, OverflowError) as error:
        raise IrregularError("numbers") from error
    if column.ndim != 1 or column.dtype.kind not in kinds:
        raise IrregularError("numbers")
    return column.astype(np.float64) if "f" in kinds else column


def _boxes(values: list[Any]) -> Floats:
    if not values:
        return np.zeros((0, 4))
    found = np.array(values)
    if found.dtype.kind not in "uif" or found.shape[1:] != (4,):
        raise IrregularError("boxes")
    return found.astype(np.float64)


def _keypoints(values: list[Any]) -> Floats:
    found = np.array(values) if values else np.zeros((0, 3))
    if found.dtype.kind not in "uif" or found.ndim != 2 or found.shape[1] % 3:
        raise IrregularError("keypoints")
    points = found.astype(np.float64)
    if not (np.abs(points) <= _LARGEST**0.5).all():
        raise IrregularError("keypoints")
    return points.reshape(len(points), -1, 3)


def _check_boxes(boxes: Floats) -> None:
    """Refuses boxes of which the engine and pycocotools may tell different overlaps."""
    sides = boxes[:, 2:]
    with np.errstate(over="ignore"):
        area = sides[:, 0] * sides[:, 1]
    lost = (area < _TINY) & (sides > 0).all(axis=1)
    if not (np.abs(boxes) <= _LARGEST).all() or (sides < 0).any() or lost.any():
        raise IrregularError("boxes")


def _chosen(side: Side, groups: Groups) -> Side:
    """The rows of the groups, with positions in the place of ids."""
    _check_boxes(side.boxes)
    image, of_known = _positions(side.image, groups.images)
    order = np.argsort(groups.categories, kind="stable")
    category, in_known = _positions(side.category, groups.categories[order])
    category = order[category] if len(order) else category
    rows = np.flatnonzero(of_known & in_known)
    if not groups.by_category:
        rows = rows[np.argsort(category[rows], kind="stable")]
    every = len(rows) == len(side) and groups.by_category
    if not every:
        side = _taken(side, rows)
        image, category = image[rows], category[rows]
    return replace(side, image=image, category=category if groups.by_category else np.zeros_like(category))


def _positions(ids: Ids, known: Ids) -> tuple[Ids, NDArray[np.bool_]]:
    """(N,) positions among sorted ids, and whether each is one of them."""
    if not len(known):
        return np.zeros(len(ids), np.int64), np.zeros(len(ids), np.bool_)
    places = np.minimum(np.searchsorted(known, ids), len(known) - 1)
    return places, known[places] == ids


def _taken(side: Side, rows: Ids) -> Side:
    def listed(values: Sequence[Any]) -> Sequence[Any]:
        return [values[row] for row in rows.tolist()] if len(values) else values

    return Side(
        side.ids[rows], side.image[rows], side.category[rows], side.areas[rows], side.boxes[rows],
        None if side.regions is None else side.regions[rows],
        side.scores[rows], side.crowd[rows], side.ignored[rows],
        listed(side.listed_ids), listed(side.listed_scores),
    )  # fmt: skip


def objects_of_file(file: AnnotationFile, groups: Groups, iou_type: str) -> Side:
    """The objects of a file.

    Raises:
        IrregularError: If the file lacks what is compared, or was changed since it was read.
    """
    gt = file.columns
    ignored = gt.crowd
    if iou_type == "keypoints":
        if WITHOUT_KEYPOINTS not in gt.flags:
            raise IrregularError("num_keypoints")
        ignored = ignored | gt.flags[WITHOUT_KEYPOINTS]
    regions = _regions_of_file(file, gt.image_ids, iou_type, "annotations", file)
    ids = gt.ids.tolist()
    side = Side(
        gt.ids,
        gt.image_ids,
        gt.category_ids,
        gt.areas,
        gt.boxes,
        regions,
        np.zeros(len(gt)),
        gt.crowd,
        ignored,
        ids,
        (),
    )
    return _chosen(side, groups)


def detections_of_file(file: ResultFile, groups: Groups, iou_type: str) -> Side:
    """The detections of a file.

    Raises:
        IrregularError: If the file lacks what is compared, or was changed since it was read.
    """
    dt = file.columns
    truth = file.truth._columns()
    regions = _regions_of_file(file, dt.image_ids, iou_type, "detections", truth)
    count, none = len(dt), np.zeros(len(dt), np.bool_)
    ids, scores = np.arange(1, count + 1), dt.scores
    side = Side(
        ids, dt.image_ids, dt.category_ids, dt.areas_or_those_of_boxes(),
        dt.boxes if iou_type == "bbox" else np.zeros((count, 4)), regions, scores, none, none,
        range(1, count + 1), scores.tolist(),
    )  # fmt: skip
    return _chosen(side, groups)


def _regions_of_file(
    file: AnnotationFile | ResultFile, image_ids: Ids, iou_type: str, array: str, truth: Any
) -> Masks | Floats | None:
    """The masks or keypoints of a file, read again."""
    if iou_type == "bbox":
        return None
    name = SEGMENTATIONS if iou_type == "segm" else KEYPOINTS
    column = file.columns.regions.get(name)
    if column is None or not isinstance(truth, AnnotationFile) or not file.text.is_current():
        raise IrregularError(name)
    if column.decoded is None:
        if iou_type == "segm":
            images = truth.columns.images
            sizes = images.sizes[np.searchsorted(images.ids, image_ids)]
            column.decoded = decode(column, sizes, source=file.text.path, array=array)
        else:
            column.decoded = decode_keypoints(column, source=file.text.path, array=array)
    found = column.decoded
    if isinstance(found, np.ndarray) and not (np.abs(found) <= _LARGEST**0.5).all():
        raise IrregularError("keypoints")
    return found  # type: ignore[no-any-return]
