"""The images of a report: which ones, their marks at every position of the score threshold, and their photographs.

Owns: the choice of images and their order, the room of the page, and the numbers of each mark that the script reads. An
image of the gallery is always drawn; the others as long as there is room, those that lists of the page lead to first.

Does not own: what a mark is at a position (`_by_score.py`), outlines and photographs (`_pictures.py`).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Positions
from ioukit.evaluation.analysis.outcomes_by_score import (
    DETECTED,
    FALSE,
    IGNORED_OBJECT,
    MISSED,
    NO_ERROR,
)
from ioukit.report._pictures import Drawer, Photographs, numbers_of, picture_notes, picture_size, tenths, thousandths
from ioukit.report._texts import abbreviate, rounded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ioukit.datasets import Detections, GroundTruth
    from ioukit.evaluation import Evaluation, ImageResults
    from ioukit.report._by_score import Entries, ErrorPositions, MarkPositions


# How many images and photographs a page has: choices, which keep it at a few megabytes.
_MOST_BEST = 24
_MOST_RANDOM = 48
_OTHER_THRESHOLDS = 6
_MOST_NUMBERS = 560_000  # of boxes, outlines and marks: about two megabytes of the page
_MOST_PHOTOGRAPHS = 16  # besides the worst images
_MOST_CHARACTERS = 8_000_000  # of photographs

_COLUMNS = 7
"""The numbers of a box of the page. The first is its kind."""
_OF_OBJECT, _OF_DETECTION = 3, 7
"""The numbers of a mark: for an object the positions from which it is found, from which it has a match in the matrix,
and up to which it is missed; for a detection the position from which it counts, its true class in the matrix (-1 for
the background, -2 if the matrix leaves it out), the place of that object among the boxes (-1 for none), its kind of
error (-1 for none), the place of the object that it matches or that its error is about (-1 for none), its IoU with that
object, and with that of the matrix, in hundredths."""


@dataclass(frozen=True)
class Choice:
    """Positions of images in the match table."""

    told: list[int]
    """Those of the first screen, besides the worst ones."""
    worst: list[int]
    """Those with the most errors at the threshold of the report, most errors first."""
    best: list[int]
    """Those with the highest F1 there, of these those with the most objects."""
    random: list[int]
    """Some that are drawn by chance, the same ones for the same data."""
    order: list[int]
    """All images that the page names, those to draw first at the beginning."""
    more: list[int]
    """All other images, which are drawn as long as there is room."""


def choose_images(
    marks: MarkPositions,
    results: ImageResults,
    errors: Sequence[Entries],
    cells: Sequence[Entries],
    told: Sequence[int],
    *,
    start: int,
    worst: int,
) -> Choice:
    """Choose the images of a report.

    Args:
        marks: The positions of objects and detections.
        results: The counts of each image at the threshold of the report.
        errors: The images of the kinds of errors.
        cells: The images of the cells of the confusion matrix, errors first.
        told: The images of the first screen, besides the worst ones.
        start: The position of that threshold.
        worst: How many of the worst images to show; 0 for no gallery at all.
    """
    count = len(results)
    gallery = results.worst(worst).tolist()
    f1 = np.where(np.isnan(results.f1), -1, results.f1)
    ranked = np.lexsort((-results.true_positives, -f1))
    best = [image for image in ranked[: min(_MOST_BEST, worst)].tolist() if results.true_positives[image]]
    random = np.random.default_rng(0).permutation(count)[: min(_MOST_RANDOM, 2 * worst)].tolist()
    stops = dict.fromkeys(np.linspace(0, len(marks.scores) - 1, _OTHER_THRESHOLDS).astype(np.int64).tolist())
    others = [image for stop in stops if stop != start for image in _worst_at(marks, stop, worst).tolist()]
    order = list(dict.fromkeys([*gallery, *told, *best, *random, *others, *_take_turns(errors), *_take_turns(cells)]))
    named = np.zeros(count, np.bool_)
    named[order] = True
    return Choice(list(told), gallery, best, random, order, np.flatnonzero(~named).tolist() if worst else [])


def _worst_at(marks: MarkPositions, position: int, most: int) -> Positions:
    """The images with the most errors at a position."""
    table, known = marks.table, marks.outcomes
    wrong = (known.kind == FALSE) & (marks.counts_from <= position)
    missed = ~known.ignored & (marks.found > position)
    count = len(table.image_ids)
    errors: npt.NDArray[np.int64] = np.bincount(table.detections.image[wrong], minlength=count)
    errors = errors + np.bincount(table.objects.image[missed], minlength=count)
    return np.argsort(-errors, kind="stable")[: min(most, int((errors > 0).sum()))]


def _take_turns(lists: Sequence[Entries]) -> Iterator[int]:
    """The first image of each list, then the second of each, and so on."""
    for turn in itertools.zip_longest(*(entries.image.tolist() for entries in lists)):
        yield from (image for image in turn if image is not None)


@dataclass(frozen=True)
class Pictures:
    """The images of a page."""

    images: list[dict[str, Any]]
    """Name, position in the table, size, counts, boxes and marks of each image, for the script of the page."""
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
    marks: MarkPositions,
    near: ErrorPositions,
    results: ImageResults,
    choice: Choice,
    *,
    folder: Path | None,
) -> Pictures:
    """Draw images until the page is full.

    Args:
        evaluation: The evaluation. Without its data, images have names and counts, but no drawings.
        marks: The positions of objects and detections.
        near: What the near pairs say.
        results: The counts of each image at the threshold of the report.
        choice: The images.
        folder: The folder of the photographs.
    """
    table, truth, detections = marks.table, evaluation.ground_truth, evaluation.detections
    counts = (results.true_positives, results.false_positives, results.false_negatives)
    tp, fp, fn, f1 = *(column.tolist() for column in counts), rounded(results.f1, 4)

    def record(image: int, raw: str = "") -> dict[str, Any]:
        name = abbreviate(raw) or f"image {table.image_ids[image]}"
        return {"name": name, "tp": tp[image], "fp": fp[image], "fn": fn[image], "f1": f1[image]}

    if truth is None or detections is None:
        place = {image: at for at, image in enumerate(choice.order)}
        return Pictures([record(image) for image in choice.order], place, 0, {}, [])
    numbers: list[int] = _numbers_needed(marks).tolist()
    fitting = _fitting([*choice.order, *choice.more], len(choice.worst), numbers)
    drawer = Drawer(table.iou_type, truth, detections)
    drawn_marks = _DrawnMarks(truth, detections, marks, near, sorted(fitting), draws_boxes=drawer.draws_boxes)
    listed, names, sizes = truth.images.positions(table.image_ids).tolist(), truth.images.names[:], truth.images.sizes
    some = [*choice.best[: _MOST_PHOTOGRAPHS // 2], *choice.random[: _MOST_PHOTOGRAPHS // 2]]
    with_photograph = {*choice.worst, *choice.told, *some}
    photographs = Photographs(drawer, truth, folder, most=len(with_photograph), characters=_MOST_CHARACTERS)
    images: list[dict[str, Any]] = []
    place = {}
    room, full, drawn = _MOST_NUMBERS, False, 0
    for at, image in enumerate([*choice.order, *choice.more]):
        in_gallery, named = at < len(choice.worst), at < len(choice.order)
        fits = in_gallery or (not full and image in fitting and numbers[image] <= room)
        if not named and not fits:
            continue
        entry = record(image, names[listed[image]])
        if fits:
            rows, drawing = drawn_marks.draw(drawer, image, sizes[listed[image]])
            needed = numbers_of(drawing) + len(drawing["marks"])
            if needed <= room or in_gallery:
                room -= needed
                drawn += 1
                if image in with_photograph and (
                    address := photographs.beside(drawing, listed[image], entry["name"], rows)
                ):
                    entry["thumb"] = address
                entry |= {"at": image, **drawing}
            else:  # outlines take time: none of the remaining images is tried
                full = True
        if named or "boxes" in entry:
            place[image] = len(images)
            images.append(entry)
    return Pictures(images, place, drawn, drawer.style(), picture_notes(photographs, drawer))


def _numbers_needed(marks: MarkPositions) -> Positions:
    """How many numbers the boxes and the marks of each image need; outlines need more."""
    table = marks.table
    count, counted = len(table.image_ids), marks.counts_from < len(marks.scores)
    objects = np.bincount(table.objects.image, minlength=count)
    found = np.bincount(table.detections.image[counted], minlength=count)
    return (_COLUMNS + _OF_OBJECT) * objects + (_COLUMNS + _OF_DETECTION) * found


def _fitting(images: list[int], always: int, numbers: list[int]) -> set[int]:
    """The images that fit into a page if their regions are boxes, and the first ones always."""
    room = _MOST_NUMBERS
    fitting = set()
    for place, image in enumerate(images):
        if place < always or numbers[image] <= room:
            fitting.add(image)
            room -= numbers[image]
    return fitting


class _DrawnMarks:
    """The marks of some images: for each image its objects, then the detections that count at some threshold.

    Args:
        truth: The ground truth.
        detections: The detections.
        marks: The positions of objects and detections.
        near: What the near pairs say.
        images: Positions of the images.
        draws_boxes: Whether their regions are drawn as upright boxes.
    """

    def __init__(
        self,
        truth: GroundTruth,
        detections: Detections,
        marks: MarkPositions,
        near: ErrorPositions,
        images: Sequence[int],
        *,
        draws_boxes: bool,
    ) -> None:
        table, known = marks.table, marks.outcomes
        of_objects, of_detections = table.objects, table.detections
        wanted = np.zeros(len(table.image_ids), np.bool_)
        wanted[np.array(images, np.int64)] = True
        objects = np.flatnonzero(wanted[of_objects.image])
        found = np.flatnonzero((marks.counts_from < len(marks.scores)) & wanted[of_detections.image])
        image = np.concatenate([of_objects.image[objects], of_detections.image[found]])
        row = np.concatenate([of_objects.row[objects], of_detections.row[found]])
        side = np.repeat([0, 1], [len(objects), len(found)])
        order = np.lexsort((row, side, image))
        starts = np.searchsorted(image[order], np.arange(len(table.image_ids) + 1))
        self._starts: list[int] = starts.tolist()

        kind = np.where(known.score > -np.inf, DETECTED, MISSED)
        kind[known.ignored] = IGNORED_OBJECT
        self._kind = np.concatenate([kind[objects], known.kind[found]])[order]
        category = np.concatenate([of_objects.category[objects], of_detections.category[found]]).astype(np.int64)
        score = np.concatenate([np.zeros(len(objects)), of_detections.score[found]])
        boxes = np.concatenate([truth.boxes[of_objects.row[objects]], detections.boxes[of_detections.row[found]]])
        number = np.arange(len(order)) - starts[image[order]]  # of each mark in its image
        rows = np.column_stack([category, thousandths(score), tenths(boxes), side, row])[order]
        self._rows = np.column_stack([number, rows])
        self._objects: list[int] = np.bincount(of_objects.image[objects], minlength=len(table.image_ids)).tolist()

        place = np.full(len(of_objects) + 1, -1)  # of each object among the marks of its image; the last is that of -1
        at = np.empty(len(order), np.int64)
        at[order] = number
        place[objects] = at[: len(objects)]
        pair, error = near.pair[found], near.error[found].astype(np.int64)
        true = pair.copy()
        true[pair >= 0] = of_objects.category[pair[pair >= 0]]
        hundredths = [(100 * iou[found]).clip(0, 100).round().astype(np.int64) for iou in (near.iou, near.pair_iou)]
        numbers = np.full((len(order), _OF_DETECTION), -1)
        numbers[: len(objects), :_OF_OBJECT] = np.column_stack(
            [marks.found[objects], near.paired[objects], near.covered[objects]]
        )
        numbers[len(objects) :] = np.column_stack(
            [
                *(marks.counts_from[found], true, place[pair.clip(-1)], np.where(error == NO_ERROR, -1, error)),
                *(place[near.partner[found]], *hundredths),
            ]
        )
        self._numbers = numbers[order]
        self._flat: tuple[list[int], list[int], list[int]] | None = None
        if draws_boxes:  # the drawer changes neither their number nor their order
            boxes = self._rows[:, :_COLUMNS].copy()
            boxes[:, 0] = self._kind
            counts = np.where(self._rows[:, 7] == 0, _OF_OBJECT, _OF_DETECTION)
            marked = self._numbers[np.arange(_OF_DETECTION) < counts[:, None]]
            ends = np.append(0, np.cumsum(counts))[starts]
            self._flat = boxes.ravel().tolist(), marked.tolist(), ends.tolist()

    def draw(self, drawer: Drawer, image: int, known: npt.NDArray[np.float64]) -> tuple[Positions, dict[str, Any]]:
        """The rows of an image as the drawer takes them, and its drawing with the numbers of its marks.

        The drawer leaves out and orders marks, so their places among its boxes are found again.
        """
        here = slice(self._starts[image], self._starts[image + 1])
        if self._flat is not None:
            boxes, marks, ends = self._flat
            rows = self._rows[here]
            width, height = picture_size(known, rows[:, :_COLUMNS])
            drawn = {"w": width, "h": height, "boxes": boxes[_COLUMNS * here.start : _COLUMNS * here.stop]}
            return rows, drawn | {"marks": marks[ends[image] : ends[image + 1]]}
        rows, kinds, numbers = self._rows[here], self._kind[here].tolist(), self._numbers[here].tolist()
        drawing = drawer.drawing(rows, known)
        order = drawing["boxes"][::_COLUMNS]
        drawing["boxes"][::_COLUMNS] = [kinds[number] for number in order]
        place = {number: k for k, number in enumerate(order)}
        objects = self._objects[image]
        flat: list[int] = []
        for number in order:
            if number < objects:
                flat += numbers[number][:_OF_OBJECT]
            else:
                position, true, pair, error, partner, iou, pair_iou = numbers[number]
                flat += (position, true, place.get(pair, -1), error, place.get(partner, -1), iou, pair_iou)
        drawing["marks"] = flat
        return rows, drawing
