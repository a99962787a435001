"""The objects and the detections of an evaluation as columns, from records or from files.

Owns which data the engine evaluates to the last bit of pycocotools: everything else raises `IrregularError`, and
``_one_image.py`` evaluates it record by record. Such data are negative sides, NaN, coordinates beyond 2**53 and areas
that have lost digits. Does not own the rules of matching (``_matching.py``) nor the dictionaries (``_files.py``).
Cut here because files and records, of pycocotools and of lvis, become the same columns, and the engine then needs no
check of its own.
Records are read by the core (`record_columns`), which knows Python's own numbers; NumPy's take the slower way by
`numpy.array`, and such ids and scores are listed in `evalImgs` as the records have them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ioukit import _core
from ioukit._array_types import Floats, Ids
from ioukit.compat.pycocotools._files import AnnotationFile, ResultFile, columns_of
from ioukit.compat.pycocotools._records import Records, ResultArray
from ioukit.datasets.columns._regions import KEYPOINTS, SEGMENTATIONS, WITHOUT_KEYPOINTS
from ioukit.datasets.columns.keypoints import decode_keypoints
from ioukit.datasets.columns.masks import decode
from ioukit.regions import Masks

__all__ = [
    "Groups",
    "IrregularError",
    "Side",
    "detections_of_array",
    "detections_of_file",
    "detections_of_records",
    "distinct",
    "objects_of_file",
    "objects_of_records",
    "places_among",
    "positions",
]


Record = dict[str, Any]

_INTEGERS = ("id", "image_id", "category_id")
_LARGEST = 2.0**53
"""Up to here, doubles hold every whole number, so sums of coordinates are the same in every order."""

_LONGEST_TABLE = 1 << 22
"""A choice: ids that span at most this many numbers are found by a table (32 MB), others by a search."""

_TINY = 1e-290
"""Below this, the area of a box has lost digits, or all of them: the smallest normal double is 2.2e-308."""


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

    @classmethod
    def of(cls, image_ids: Any, category_ids: Any, *, by_category: bool) -> Groups:
        """The groups of ids of images and categories.

        Raises:
            IrregularError: If some are no integers, there are none, or a category stands twice.
        """
        images, categories = np.array(image_ids), np.array(category_ids)
        for ids in (images, categories):
            if ids.ndim != 1 or not len(ids) or ids.dtype.kind != "i":
                raise IrregularError("ids")
        if len(set(categories.tolist())) < len(categories):
            raise IrregularError("categories")
        return cls(images.astype(np.int64), categories.astype(np.int64), by_category)


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
    listed_ids: list[Any] | None = None
    """(N,) ids as the records have them, if they are no integers of NumPy."""
    listed_scores: Sequence[Any] | NDArray[Any] | None = None
    """(N,) scores as the records have them, likewise."""
    rows: Ids | None = None
    """(N,) the records that they are, if they are of records."""

    def __len__(self) -> int:
        return len(self.ids)


def objects_of_records(records: list[Record], groups: Groups, iou_type: str, listed: Records | None = None) -> Side:
    """The objects among the records of a ground truth.

    Args:
        records: The records.
        groups: What is evaluated.
        iou_type: What is compared.
        listed: What was listed of the records; ``None`` if that does not matter.

    Raises:
        IrregularError: If a value is missing or unusual, or if the list misses a change.
    """
    names = [*_INTEGERS, "iscrowd"] + (["num_keypoints"] if iou_type == "keypoints" else [])
    found = _columns(records, names, "area", with_boxes=iou_type != "segm")
    _check_listed(found, listed)
    if not np.isin(found["iscrowd"], (0, 1)).all():
        raise IrregularError("iscrowd")
    crowd = found["iscrowd"].astype(np.bool_)
    ignored = crowd | (found["num_keypoints"] == 0) if iou_type == "keypoints" else crowd
    return _chosen(replace(_side(records, found, iou_type), crowd=crowd, ignored=ignored), groups)


def detections_of_records(records: list[Record], groups: Groups, iou_type: str, listed: Records | None = None) -> Side:
    """The detections among the records of results.

    Args:
        records: The records.
        groups: What is evaluated.
        iou_type: What is compared.
        listed: What was listed of the records; ``None`` if that does not matter.

    Raises:
        IrregularError: If a value is missing or unusual, or if the list misses a change.
    """
    found = _columns(records, [*_INTEGERS], "area", "score", with_boxes=iou_type == "bbox")
    _check_listed(found, listed)
    if not np.isfinite(found["score"]).all() or (found["id"] <= 0).any():
        raise IrregularError("score or id")
    scores = None if found["exact"] else [record["score"] for record in records]
    return _chosen(replace(_side(records, found, iou_type), scores=found["score"], listed_scores=scores), groups)


def detections_of_array(results: ResultArray, groups: Groups) -> Side:
    """The detections of an array with boxes.

    Raises:
        IrregularError: If a box is unusual.
    """
    array, count, none = results.array, len(results.array), np.zeros(len(results.array), np.bool_)
    areas, boxes, scores = (values.astype(np.float64) for values in (results.areas, array[:, 1:5], array[:, 5]))
    ids, image, category = np.arange(1, count + 1), results.column(0), results.column(6)
    side = Side(ids, image, category, areas, boxes, None, scores, none, none, listed_scores=array[:, 5])
    return _chosen(side, groups)


def _check_listed(found: dict[str, Any], listed: Records | None) -> None:
    """Refuses records that have other ids than when they were listed."""
    if listed is not None and not (
        np.array_equal(found["image_id"], listed.image_ids) and np.array_equal(found["id"], listed.ids)
    ):
        raise IrregularError("changed since they were listed")


def _columns(records: list[Record], integers: list[str], *numbers: str, with_boxes: bool) -> dict[str, Any]:
    """The columns of records by name, and whether Python's numbers have told all of them."""
    names = [*integers, *numbers, *(["bbox"] if with_boxes else [])]
    kinds = ["integer"] * len(integers) + ["number"] * len(numbers) + ["box"] * with_boxes
    columns: Any = _core.record_columns(records, names, kinds)
    exact = columns is not None
    if not exact:  # numbers and arrays of NumPy, or worse
        try:
            columns = [_numbers([record[name] for record in records], "bui") for name in integers]
            columns += [_numbers([record[name] for record in records], "uif") for name in numbers]
            columns += [_boxes([record["bbox"] for record in records])] if with_boxes else []
        except (KeyError, TypeError) as error:
            raise IrregularError("records") from error
    found: dict[str, Any] = dict(zip(names, columns, strict=True))
    found.setdefault("bbox", np.zeros((len(records), 4)))
    if np.isnan(found["area"]).any():
        raise IrregularError("area")
    return {**found, "exact": exact}


def _side(records: list[Record], found: dict[str, Any], iou_type: str) -> Side:
    try:
        regions: Masks | Floats | None = None
        if iou_type == "segm":
            regions = Masks._trusted(*_core.masks_from_rle([record["segmentation"] for record in records], "masks"))
        elif iou_type == "keypoints":
            regions = _keypoints([record["keypoints"] for record in records])
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise IrregularError("records") from error
    ids, image, category = (found[name].astype(np.int64, copy=False) for name in _INTEGERS)
    listed = None if found["exact"] else [record["id"] for record in records]
    count = len(ids)
    none = np.zeros(count, np.bool_)
    rows = np.arange(count)
    return Side(
        ids, image, category, found["area"], found["bbox"], regions, np.zeros(count), none, none, listed, None, rows
    )


def _numbers(values: list[Any], kinds: str) -> NDArray[Any]:
    """A column of numbers; floats are doubles."""
    if not values:
        return np.zeros(0, np.float64 if "f" in kinds else np.int64)
    try:
        column = np.array(values)
    except (ValueError, TypeError, OverflowError) as error:
        raise IrregularError("numbers") from error
    lost = column.dtype.kind == "u" and column.max() > np.iinfo(np.int64).max
    booleans = "b" not in kinds and any(isinstance(value, bool | np.bool_) for value in values)
    if column.ndim != 1 or column.dtype.kind not in kinds or lost or booleans:
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
    image = positions(side.image, groups.images)
    order = np.argsort(groups.categories, kind="stable")
    category = positions(side.category, groups.categories[order])
    known = (image >= 0) & (category >= 0)
    if not (np.diff(order) == 1).all():
        category = np.where(category >= 0, order[category], -1)
    if not known.all() or not groups.by_category:
        rows = np.flatnonzero(known)
        if not groups.by_category:
            rows = rows[np.argsort(category[rows], kind="stable")]
        side, image, category = _taken(side, rows), image[rows], category[rows]
    return replace(side, image=image, category=category if groups.by_category else np.zeros_like(category))


def positions(ids: Ids, known: Ids) -> Ids:
    """(N,) positions among known ids in ascending order; -1 for an id that is not known."""
    if not len(known) or not len(ids):
        return np.full(len(ids), -1)
    low, high = int(known[0]), int(known[-1])
    if high - low < _LONGEST_TABLE and low <= int(ids.min()) and int(ids.max()) <= high:
        table = np.full(high - low + 1, -1)
        table[known - low] = np.arange(len(known))
        return table[ids - low]
    places = np.minimum(np.searchsorted(known, ids), len(known) - 1)
    return np.where(known[places] == ids, places, -1)


def _taken(side: Side, rows: Ids) -> Side:
    def taken(values: Any) -> Any:
        if isinstance(values, list):
            return [values[row] for row in rows.tolist()]
        return None if values is None else values[rows]

    return Side(**{each.name: taken(getattr(side, each.name)) for each in fields(side)})


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
    zeros = np.zeros(len(gt))
    side = Side(gt.ids, gt.image_ids, gt.category_ids, gt.areas, gt.boxes, regions, zeros, gt.crowd, ignored)
    rows = file.rows_of(groups.images)
    return _chosen(side if rows is None else _taken(side, rows), groups)


def detections_of_file(file: ResultFile, groups: Groups, iou_type: str) -> Side:
    """The detections of a file.

    Raises:
        IrregularError: If the file lacks what is compared, or was changed since it was read.
    """
    dt = file.columns
    truth = columns_of(file.truth)
    regions = _regions_of_file(file, dt.image_ids, iou_type, "detections", truth)
    count, none = len(dt), np.zeros(len(dt), np.bool_)
    boxes = dt.boxes if iou_type == "bbox" else np.zeros((count, 4))
    areas, ids = dt.areas_or_those_of_boxes(), np.arange(1, count + 1)
    return _chosen(Side(ids, dt.image_ids, dt.category_ids, areas, boxes, regions, dt.scores, none, none), groups)


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


def distinct(values: Any) -> NDArray[Any]:
    """What `numpy.unique` returns."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        found: NDArray[Any] = np.unique(array)
        return found
    return places_among(array.reshape(-1))[0]


def places_among(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The distinct numbers in ascending order, none of which is NaN, and the position of each value among them."""
    ranked = np.sort(values)
    known = ranked[np.concatenate([np.ones(min(len(ranked), 1), np.bool_), ranked[1:] != ranked[:-1]])]
    return known, np.searchsorted(known, values).astype(np.int64)
