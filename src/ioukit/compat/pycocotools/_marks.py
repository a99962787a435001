"""What an evaluation writes into the records: `ignore`, `_ignore`, and masks in the place of polygons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ioukit.compat.pycocotools import mask as mask_utils

__all__ = ["Marks", "mark_ignored", "mark_outside", "mask_of", "masks_of_records"]

Record = dict[str, Any]


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


class _Drawn:
    """Draws the masks of the images of a file, as `COCO.annToRLE` does."""

    def __init__(self, images: Mapping[Any, Record]) -> None:
        self.images = images

    def annToRLE(self, record: Record) -> Any:  # noqa: N802 - the name of COCO's method
        return mask_of(record, self.images[record["image_id"]])


def mask_of(record: Record, image: Record) -> Any:
    """The compressed mask of a record: of its polygons, or of its runs; a compressed mask stays as it is."""
    height, width, drawn = image["height"], image["width"], record["segmentation"]
    if type(drawn) is list:
        return mask_utils.merge(mask_utils.frPyObjects(drawn, height, width))
    return mask_utils.frPyObjects(drawn, height, width) if type(drawn["counts"]) is list else drawn


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
            masks_of_records(chosen, _Drawn(dictionaries["imgs"]))
        if not results:
            mark_ignored(chosen, self.iou_type)
            seen = set(self.seen)
            mark_outside((record for record in chosen if record["category_id"] in seen), self.area_range)
