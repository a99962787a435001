"""Examples of a data set: images with its largest, smallest and most crowded objects, and one of each class."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.report._pictures import Drawer, Photographs, picture_notes, tenths
from ioukit.report._texts import abbreviate, class_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ioukit.inspection import Inspection


_MOST_OBJECTS = 2000
"""The largest number of regions on one image of the page."""

_NOT_SINGLE = ("crowd", "difficult", "group_of", "ignore", "truncated", "occluded")
"""Flags whose objects are drawn as unusual ones."""

# Which kind draws a column of regions.
_KINDS = {
    "RotatedBoxes": "rotated",
    "Polygons": "polygon",
    "segmentations": "segm",
    "Masks": "segm",
    "keypoints": "keypoints",
}

# The kinds of boxes on the page.
_OBJECT, _MARKED, _UNUSUAL = range(3)


@dataclass(frozen=True)
class Example:
    """An image of the page, and why it is shown."""

    image: int
    """Its position in the list of images."""
    words: str
    marked: tuple[int, ...] = ()
    """The rows of the objects that it is shown for."""


def choose_examples(inspection: Inspection, most: int) -> list[Example]:
    """The extremes of the data set, then a typical object of each class, the most frequent classes first.

    Args:
        inspection: The measured data set.
        most: The largest number of examples.
    """
    return list(itertools.islice(_examples(inspection), most))


def _examples(inspection: Inspection) -> Iterator[Example]:
    gt, sides = inspection.ground_truth, inspection.sides
    names = class_names(gt.categories)
    if not len(inspection):
        return

    def of(words: str, *rows: int) -> Example:
        return Example(int(inspection.images[rows[0]]), f"{words}: {names[inspection.classes[rows[0]]]}", rows)

    yield of("largest object", int(np.argmax(sides)))
    filled = np.flatnonzero(sides > 0)
    if len(filled):
        yield of("smallest object", int(filled[np.argmin(sides[filled])]))
    ratios = inspection.aspect_ratios
    if not np.isnan(ratios).all():
        yield of("tallest shape", int(np.nanargmin(ratios)))
        yield of("widest shape", int(np.nanargmax(ratios)))
    crowded = int(np.argmax(inspection.objects_per_image))
    yield Example(crowded, f"most objects: {inspection.objects_per_image[crowded]:,}")
    overlaps = inspection.overlaps_of_class
    if np.nanmax(overlaps, initial=0.0) > 0:
        row = int(np.nanargmax(overlaps))
        yield of(f"nearest neighbour of its class, IoU {overlaps[row]:.2f}", row)
    order = np.lexsort([sides, inspection.classes])
    starts = np.cumsum(inspection.objects_per_class) - inspection.objects_per_class
    for label in np.argsort(-inspection.objects_per_class, kind="stable").tolist():
        count = int(inspection.objects_per_class[label])
        if not count:
            return
        row = int(order[starts[label] + (count - 1) // 2])
        words = f"{names[label]}: the only object" if count == 1 else f"{names[label]}: of median size among {count:,}"
        yield Example(int(inspection.images[row]), words, (row,))


def draw_examples(
    inspection: Inspection, chosen: list[Example], folder: Path | None
) -> tuple[list[dict[str, Any]], dict[str, Any], list[str]]:
    """The images for the script of the page, how it draws them, and notes for the reader.

    Args:
        inspection: The measured data set.
        chosen: The examples.
        folder: The folder of the photographs; no photographs if ``None``.
    """
    gt = inspection.ground_truth
    drawer = Drawer(_kind_of(inspection), gt)
    photographs = Photographs(drawer, gt, folder)
    boxes = tenths(gt.boxes)
    unusual = np.logical_or.reduce([np.zeros(len(gt), np.bool_), *(gt.flag(name) for name in _NOT_SINGLE)])
    order = np.argsort(inspection.images, kind="stable")
    ends = np.cumsum(inspection.objects_per_image)
    images: list[dict[str, Any]] = []
    for example in chosen:
        image = example.image
        rows = order[ends[image] - inspection.objects_per_image[image] : ends[image]]
        if len(rows) > _MOST_OBJECTS:  # those that the image is shown for stay
            others_last = np.argsort(~np.isin(rows, example.marked), kind="stable")
            rows = rows[np.sort(others_last[:_MOST_OBJECTS])]
        kinds = np.where(np.isin(rows, example.marked), _MARKED, np.where(unusual[rows], _UNUSUAL, _OBJECT))
        zeros = np.zeros(len(rows), np.int64)
        table = np.column_stack([kinds, inspection.classes[rows], zeros, boxes[rows], zeros, rows])
        drawing = drawer.drawing(table, gt.images.sizes[image])
        name = abbreviate(gt.images.names[image], f"image {gt.images.labels[image]}")
        words = f"{len(rows):,} of " if len(rows) < inspection.objects_per_image[image] else ""
        record = {"name": name, "words": example.words, "objects": f"{words}{inspection.objects_per_image[image]:,}"}
        if address := photographs.beside(drawing, image, name, table):
            record["thumb"] = address
        images.append(record | drawing)
    return images, drawer.style(), picture_notes(photographs, drawer)


def _kind_of(inspection: Inspection) -> str:
    """The kind of region that is drawn: one that all objects have, or upright boxes."""
    complete = [values.column for values in inspection.regions if values.present.all()]
    return next((kind for column, kind in _KINDS.items() if column in complete), "bbox")
