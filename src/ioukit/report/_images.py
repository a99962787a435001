"""The images of a report with their regions, and what each region is at every position of the score threshold."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit.evaluation import Outcome
from ioukit.evaluation.kinds import find_kind
from ioukit.report._names import shown
from ioukit.report._outlines import FARTHEST, Drawer, picture_size
from ioukit.report._photographs import Photographs, numbers_of, picture_notes

if TYPE_CHECKING:
    from ioukit.evaluation import Evaluation, ImageResults, MatchTable
    from ioukit.report._choice import Choice
    from ioukit.report._marks import Marks, NearMarks

__all__ = ["Pictures", "pictures"]

Positions = npt.NDArray[np.int64]

_MOST_NUMBERS = 560_000  # of boxes, outlines and marks: about two megabytes of the page
_MOST_PHOTOGRAPHS = 16  # besides the worst images
_MOST_CHARACTERS = 8_000_000  # of photographs

# The kinds of regions on the page, with all detections: 0 detected object, 1 true positive, 2 false positive, 3 missed
# object, 4 ignored object, 5 ignored detection.
_OF_OBJECT = {Outcome.TRUE_POSITIVE: 0, Outcome.FALSE_NEGATIVE: 3, Outcome.IGNORED: 4}
_OF_DETECTION = {Outcome.TRUE_POSITIVE: 1, Outcome.FALSE_POSITIVE: 2, Outcome.IGNORED: 5}
_KIND = 0  # the column of a kind in the boxes of the page, seven numbers for each
_COLUMNS = 7
_OF_OBJECTS, _OF_DETECTIONS = 3, 7  # numbers in the marks


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
    regions = _Regions(evaluation, table, marks, near)
    detections = () if evaluation.detections is None else (evaluation.detections,)
    drawer = None if truth is None else Drawer(find_kind(table.iou_type), truth, *detections)
    listed: Any = truth.images.positions(table.image_ids) if truth is not None else []
    with_photograph = {*choice.worst, *choice.best[: _MOST_PHOTOGRAPHS // 2], *choice.random[: _MOST_PHOTOGRAPHS // 2]}
    photographs = Photographs(folder, len(with_photograph), _MOST_CHARACTERS)
    room, full, drawn = _MOST_NUMBERS, False, 0
    place: dict[int, int] = {}
    for image in [*choice.order, *choice.more]:
        named = len(images) < len(choice.order)
        if full and not named:
            break
        raw = truth.images.names[int(listed[image])] if truth is not None else ""
        record: dict[str, Any] = {
            "name": shown(raw, f"image {table.image_ids[image]}"),
            "tp": int(results.true_positives[image]),
            "fp": int(results.false_positives[image]),
            "fn": int(results.false_negatives[image]),
            "f1": None if math.isnan(results.f1[image]) else round(float(results.f1[image]), 4),
        }
        in_gallery = len(images) < len(choice.worst)
        fits = not full and regions.numbers(image) <= room
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


def _add_marks(drawing: dict[str, Any], regions: _Regions, image: int) -> None:
    """Replace the numbers of the regions by their kinds, and add their marks in the order of the boxes."""
    order = drawing["boxes"][_KIND::_COLUMNS]
    kinds, objects, marks = regions.kinds(image), regions.objects(image), regions.marks(image)
    drawing["boxes"][_KIND::_COLUMNS] = [kinds[number] for number in order]
    place = {number: k for k, number in enumerate(order)}
    flat: list[int] = []
    for number in order:
        if number < len(objects):
            flat += objects[number]
        else:
            reach, true, pair, error, partner, iou, pair_iou = marks[number - len(objects)]
            flat += (reach, true, place.get(pair, -1), error, place.get(partner, -1), iou, pair_iou)
    drawing["marks"] = flat


class _Regions:
    """The regions of all images: for each image its objects, then the detections that count at some threshold."""

    def __init__(self, evaluation: Evaluation, table: MatchTable, marks: Marks, near: NearMarks) -> None:
        truth, detections = evaluation.ground_truth, evaluation.detections
        if truth is None or detections is None:
            self._objects_end = self._found_end = [0] * (len(table.image_ids) + 1)
            return
        objects, of = table.objects, table.detections
        rows = np.lexsort((objects.row, objects.image))
        counted = np.flatnonzero(marks.reach < len(marks.scores))
        found = counted[np.lexsort((of.row[counted], of.image[counted]))]
        images = np.arange(len(table.image_ids) + 1)
        self._objects_end = np.searchsorted(objects.image[rows], images).tolist()
        self._found_end = np.searchsorted(of.image[found], images).tolist()
        self._kinds = (
            _named(marks.outcomes.objects[rows], _OF_OBJECT),
            _named(marks.outcomes.detections[found], _OF_DETECTION),
        )
        self._boxes = (
            _boxes(objects.category[rows], np.zeros(len(rows)), truth.boxes[objects.row[rows]], objects.row[rows], 0),
            _boxes(of.category[found], of.score[found], detections.boxes[of.row[found]], of.row[found], 1),
        )
        self._objects = np.column_stack([marks.found[rows], near.paired[rows], near.covered[rows]])
        # The place of each object of the table among the objects of its image.
        place = np.full(len(rows) + 1, -1)
        place[rows] = np.arange(len(rows)) - np.array(self._objects_end)[objects.image[rows]]
        partner = np.where(
            marks.outcomes.matched_object >= 0, marks.outcomes.matched_object, near.errors.detection_object
        )[found]
        pair = near.pair[found]
        true = np.where(pair >= 0, objects.category[np.maximum(pair, 0)].astype(np.int64) if len(rows) else pair, pair)
        hundredths = [(100 * iou[found]).clip(0, 100).round().astype(np.int64) for iou in (near.iou, near.pair_iou)]
        self._marks = np.column_stack(
            (
                *(marks.reach[found], true, place[pair.clip(-1)], near.errors.detection_kind[found]),
                *(place[partner], *hundredths),
            )
        )

    def of_image(self, image: int) -> Positions:
        """(B, 9) its regions, in the form that :meth:`Drawer.drawing` expects, with numbers in the place of kinds."""
        parts = [
            boxes[ends[image] : ends[image + 1]]
            for boxes, ends in zip(self._boxes, (self._objects_end, self._found_end), strict=True)
        ]
        together = np.concatenate(parts)
        return np.column_stack([np.arange(len(together)), together])

    def numbers(self, image: int) -> int:
        """How many numbers the boxes and the marks of an image need at least."""
        objects, found = (ends[image + 1] - ends[image] for ends in (self._objects_end, self._found_end))
        return (_COLUMNS + _OF_OBJECTS) * objects + (_COLUMNS + _OF_DETECTIONS) * found

    def kinds(self, image: int) -> list[int]:
        """The kind of each region."""
        ends = (self._objects_end, self._found_end)
        return list(
            itertools.chain.from_iterable(
                kinds[end[image] : end[image + 1]].tolist() for kinds, end in zip(self._kinds, ends, strict=True)
            )
        )

    def objects(self, image: int) -> list[list[int]]:
        """The marks of the objects."""
        listed: list[list[int]] = self._objects[self._objects_end[image] : self._objects_end[image + 1]].tolist()
        return listed

    def marks(self, image: int) -> list[list[int]]:
        """The marks of the detections; objects by their numbers."""
        listed: list[list[int]] = self._marks[self._found_end[image] : self._found_end[image + 1]].tolist()
        return listed


def _named(became: npt.NDArray[np.int8], kinds: dict[Outcome, int]) -> Positions:
    names = np.full(len(Outcome), -1)
    names[list(kinds)] = list(kinds.values())
    found: Positions = names[became]
    return found


def _boxes(
    category: npt.NDArray[Any], score: npt.NDArray[Any], boxes: npt.NDArray[Any], row: npt.NDArray[Any], side: int
) -> Positions:
    numbers = np.column_stack([score * 1000, boxes * 10]).clip(-FARTHEST, FARTHEST).round().astype(np.int64)
    return np.column_stack([category.astype(np.int64), numbers, np.full(len(row), side), row])
