"""The images of a report with their regions, and what each region is at every position of the score threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.evaluation.kinds import find_kind
from ioukit.report._image_regions import COLUMNS, Regions, numbers_needed
from ioukit.report._names import shown
from ioukit.report._outlines import Drawer, picture_size
from ioukit.report._photographs import Photographs, numbers_of, picture_notes

if TYPE_CHECKING:
    from ioukit.evaluation import Evaluation, ImageResults, MatchTable
    from ioukit.report._choice import Choice
    from ioukit.report._marks import Marks, NearMarks

__all__ = ["Pictures", "pictures"]

_MOST_NUMBERS = 560_000  # of boxes, outlines and marks: about two megabytes of the page
_MOST_PHOTOGRAPHS = 16  # besides the worst images
_MOST_CHARACTERS = 8_000_000  # of photographs


@dataclass(frozen=True)
class Pictures:
    """The images of a page."""

    images: list[dict[str, Any]]
    """Name, position in the table, size, counts and boxes of each image, for the script of the page.

    ``marks`` has three numbers for each object (the positions from which it is found, from which it has a match in the
    matrix, and up to which it is missed) and seven for each detection: the position from which it counts; its true
    class in the matrix, -1 for the background and -2 if it is not in the matrix; the place of that object among the
    boxes, -1 for none; its kind of error, -1 for none; the place of the object that it matches or that its error is
    about, -1 for none; its IoU with that object, and with that of the matrix, in hundredths."""
    place: dict[int, int]
    """From the position of an image in the match table to its position in ``images``."""
    drawn: int
    """How many of the images have drawings."""
    style: dict[str, Any]
    """How the script draws regions, and a sentence about it for the reader."""
    notes: list[str]
    """Notes for the reader about missing photographs, and about regions that have nothing to draw."""


def pictures(
    evaluation: Evaluation,
    table: MatchTable,
    marks: Marks,
    near: NearMarks,
    results: ImageResults,
    choice: Choice,
    *,
    folder: Path | None,
) -> Pictures:
    """Draw images until the page is full.

    Args:
        evaluation: The evaluation. Without its data, images have names and counts, but no drawings.
        table: Its match table with near pairs.
        marks: The outcomes.
        near: What the near pairs say.
        results: The counts of each image at the threshold of the report.
        choice: The images.
        folder: The folder of the photographs.
    """
    truth = evaluation.ground_truth
    images: list[dict[str, Any]] = []
    every = [*choice.order, *choice.more]
    numbers = numbers_needed(table, marks).tolist()
    fitting = _fitting(every, len(choice.worst), numbers)
    regions = Regions(evaluation, table, marks, near, sorted(fitting))
    detections = () if evaluation.detections is None else (evaluation.detections,)
    drawer = None if truth is None else Drawer(find_kind(table.iou_type), truth, *detections)
    listed: Any = truth.images.positions(table.image_ids) if truth is not None else []
    with_photograph = {*choice.worst, *choice.best[: _MOST_PHOTOGRAPHS // 2], *choice.random[: _MOST_PHOTOGRAPHS // 2]}
    photographs = Photographs(folder, len(with_photograph), _MOST_CHARACTERS)
    room, full, drawn = _MOST_NUMBERS, False, 0
    place: dict[int, int] = {}
    for image in every:
        named = len(images) < len(choice.order)
        if not named and (full or image not in fitting):
            continue
        raw = truth.images.names[int(listed[image])] if truth is not None else ""
        record: dict[str, Any] = {
            "name": shown(raw, f"image {table.image_ids[image]}"),
            "tp": int(results.true_positives[image]),
            "fp": int(results.false_positives[image]),
            "fn": int(results.false_negatives[image]),
            "f1": None if math.isnan(results.f1[image]) else round(float(results.f1[image]), 4),
        }
        in_gallery = len(images) < len(choice.worst)
        fits = not full and image in fitting and numbers[image] <= room
        if truth is not None and drawer is not None and (in_gallery or fits):
            known = truth.images.sizes[int(listed[image])]
            rows = regions.of_image(image)
            drawing = drawer.drawing(rows, known)
            _add_marks(drawing, regions, image)
            needed = len(drawing["boxes"]) + len(drawing["marks"]) + numbers_of(drawing.get("shapes", []))
            if needed <= room or in_gallery:
                room -= needed
                drawn += 1
                if image in with_photograph and not drawer.seen_from_above:
                    photograph = photographs.next(raw, record["name"], (float(known[0]), float(known[1])))
                    if photograph is not None:
                        record["thumb"], photograph_size = photograph
                        if np.isnan(known).any():
                            drawing["w"], drawing["h"] = picture_size(photograph_size, rows)
                record |= {"at": image, **drawing}
            else:  # outlines take time: none of the remaining images is tried
                full = True
        if named or "boxes" in record:
            place[image] = len(images)
            images.append(record)
    left_out = 0 if drawer is None else drawer.left_out
    notes = list(picture_notes(photographs.missing, photographs.tried, left_out))
    style = {} if drawer is None else drawer.style()
    return Pictures(images, place, drawn, style, notes)


def _fitting(images: list[int], always: int, numbers: list[int]) -> set[int]:
    """The images that fit into a page if their regions are boxes, and the first ones always."""
    room = _MOST_NUMBERS
    fitting = set()
    for place, image in enumerate(images):
        if place < always or numbers[image] <= room:
            fitting.add(image)
            room -= numbers[image]
    return fitting


def _add_marks(drawing: dict[str, Any], regions: Regions, image: int) -> None:
    """Replace the numbers of the regions by their kinds, and add their marks in the order of the boxes."""
    order = drawing["boxes"][::COLUMNS]
    kinds, objects, marks = regions.kinds(image), regions.objects(image), regions.marks(image)
    drawing["boxes"][::COLUMNS] = [kinds[number] for number in order]
    place = {number: k for k, number in enumerate(order)}
    flat: list[int] = []
    for number in order:
        if number < len(objects):
            flat += objects[number]
        else:
            reach, true, pair, error, partner, iou, pair_iou = marks[number - len(objects)]
            flat += (reach, true, place.get(pair, -1), error, place.get(partner, -1), iou, pair_iou)
    drawing["marks"] = flat
