"""The records of pycocotools: what finds them, what `loadRes` adds to them, and what an evaluation writes into them.

An evaluation writes `ignore`, `_ignore`, and masks in the place of polygons. `COCO.loadRes` completes records in place;
as in pycocotools, the first one tells what all of them are.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ioukit.compat._originals import functions_are_original
from ioukit.compat.pycocotools import mask as mask_utils

__all__ = [
    "Marks",
    "complete",
    "complete_masks",
    "dataset_of_results",
    "indexes",
    "mark_ignored",
    "mark_outside",
    "mask_of",
    "masks_of_records",
    "records_of_array",
]


Record = dict[str, Any]


def indexes(dataset: Record) -> dict[str, Any]:
    """The dictionaries of pycocotools that find the records of a data set."""
    anns, imgs, cats = (
        {record["id"]: record for record in dataset.get(name, ())} for name in ("annotations", "images", "categories")
    )
    of_images: defaultdict[Any, list[Record]] = defaultdict(list)
    of_categories: defaultdict[Any, list[Any]] = defaultdict(list)
    annotations = dataset.get("annotations", ())
    for record in annotations:
        of_images[record["image_id"]].append(record)
    if "categories" in dataset:
        for record in annotations:
            of_categories[record["category_id"]].append(record["image_id"])
    return {"anns": anns, "imgToAnns": of_images, "catToImgs": of_categories, "imgs": imgs, "cats": cats}


def records_of_array(array: NDArray[Any]) -> list[Record]:
    """The records of an (N, 7) array of image id, x, y, width, height, score and category id."""
    records = []
    for image, x, y, width, height, score, category in array:
        box = [x, y, width, height]
        records.append({"image_id": int(image), "bbox": box, "score": score, "category_id": int(category)})
    return records


def dataset_of_results(truth: Record, anns: list[Record], masks: Any) -> Record:
    """The data set of results on the images of another one, without the records, which are completed in place.

    Args:
        truth: The other data set.
        anns: The records.
        masks: The module that measures masks.
    """
    if not anns:
        raise IndexError("loadRes got no results: for a model without any, make COCO() and set its dataset")
    if complete(anns, masks) == "captions":
        named = {record["image_id"] for record in anns}
        dataset = images_and_categories(truth, {})
        dataset["images"] = [image for image in dataset["images"] if image["id"] in named]
        return dataset
    return images_and_categories(truth, anns[0])


def images_and_categories(truth: Record, first: Record) -> Record:
    """What a data set of results takes over, given the first of them."""
    dataset: Record = {"info": copy.deepcopy(truth.get("info", {})), "images": list(truth["images"])}
    if any(key in first for key in ("bbox", "segmentation", "keypoints")):
        dataset["categories"] = copy.deepcopy(truth["categories"])
    return dataset


def complete(records: list[Record], masks: Any) -> str:
    """Completes records in place; the first one tells what all of them are.

    Args:
        records: The records.
        masks: The module that measures masks.

    Returns:
        ``"captions"``, ``"boxes"``, ``"masks"``, ``"keypoints"`` or ``"unknown"``.
    """
    first = records[0]
    if "caption" in first:
        for number, record in enumerate(records, 1):
            record["id"] = number
        return "captions"
    if "bbox" in first and not (isinstance(first["bbox"], list) and not first["bbox"]):
        for number, record in enumerate(records, 1):
            _of_box(record, number)
        return "boxes"
    if "segmentation" in first:
        complete_masks(records, masks)
        for record in records:
            record["iscrowd"] = 0
        return "masks"
    if "keypoints" in first:
        for number, record in enumerate(records, 1):
            _of_keypoints(record, number)
        return "keypoints"
    return "unknown"


def _of_box(record: Record, number: int) -> None:
    x, y, width, height = record["bbox"][:4]
    if "segmentation" not in record:
        right, bottom = x + width, y + height
        record["segmentation"] = [[x, y, x, bottom, right, bottom, right, y]]
    record["area"] = width * height
    record["id"] = number
    record["iscrowd"] = 0


def complete_masks(records: list[Record], masks: Any) -> None:
    """Writes the area, the id, and the box if there is none, into records of masks, by functions of a module."""
    if not functions_are_original(masks, mask_utils.ORIGINAL, ("area", "toBbox")):  # one by one, as they expect it
        for number, record in enumerate(records, 1):
            record["area"] = masks.area(record["segmentation"])
            if "bbox" not in record:
                record["bbox"] = masks.toBbox(record["segmentation"])
            record["id"] = number
        return
    drawn = [record["segmentation"] for record in records]
    areas, boxes = masks.area(drawn), masks.toBbox(drawn)
    for number, (record, area, box) in enumerate(zip(records, areas, boxes, strict=True), 1):
        record["area"] = area
        if "bbox" not in record:
            record["bbox"] = box
        record["id"] = number


def _of_keypoints(record: Record, number: int) -> None:
    points = record["keypoints"]
    (left, right), (top, bottom) = ((np.min(side), np.max(side)) for side in (points[0::3], points[1::3]))
    record["area"] = (right - left) * (bottom - top)
    record["id"] = number
    record["bbox"] = [left, top, right - left, bottom - top]


def mark_ignored(records: Iterable[Record], iou_type: str) -> None:
    """Writes `ignore`: the crowds, and for keypoints the objects without any."""
    keypoints = iou_type == "keypoints"
    for record in records:
        ignored = "iscrowd" in record and record["iscrowd"]
        record["ignore"] = (record["num_keypoints"] == 0 or ignored) if keypoints else ignored


def mark_outside(records: Iterable[Record], area_range: Sequence[float]) -> None:
    """Writes `_ignore`: 1 for the ignored ones and those outside an area range."""
    low, high = area_range
    for record in records:
        record["_ignore"] = 1 if record["ignore"] or record["area"] < low or record["area"] > high else 0


def masks_of_records(records: Sequence[Record], coco: Any) -> None:
    """Writes compressed masks into `segmentation`, in the place of polygons and lists of runs."""
    for record in records:
        record["segmentation"] = coco.annToRLE(record)


def mask_of(record: Record, image: Record, masks: Any) -> Any:
    """The compressed mask of a record: of its polygons, or of its runs; a compressed mask stays as it is.

    Args:
        record: The record.
        image: The record of its image.
        masks: The module that draws.
    """
    height, width, drawn = image["height"], image["width"], record["segmentation"]
    if type(drawn) is list:
        return masks.merge(masks.frPyObjects(drawn, height, width))
    return masks.frPyObjects(drawn, height, width) if type(drawn["counts"]) is list else drawn


@dataclass
class Marks:
    """What one evaluation would have written into the records of a file."""

    iou_type: str
    image_ids: list[Any]
    category_ids: list[Any] | None
    """``None`` for all."""
    seen: list[Any]
    """The categories whose objects were compared."""
    area_range: tuple[float, float]
    """The last one."""

    def write(self, dictionaries: Mapping[str, Any], *, results: bool) -> None:
        """Writes it into the records of `COCO`'s dictionaries."""
        of_images: Mapping[Any, list[Record]] = dictionaries["imgToAnns"]
        chosen = [record for image in self.image_ids if image in of_images for record in of_images[image]]
        if self.category_ids is not None:
            wanted = set(self.category_ids)
            chosen = [record for record in chosen if record["category_id"] in wanted]
        if self.iou_type == "segm":
            for record in chosen:
                record["segmentation"] = mask_of(record, dictionaries["imgs"][record["image_id"]], mask_utils.ORIGINAL)
        if not results:
            mark_ignored(chosen, self.iou_type)
            seen = set(self.seen)
            mark_outside((record for record in chosen if record["category_id"] in seen), self.area_range)
