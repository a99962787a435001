"""The regions of the images of a report, and what each is at every position of the score threshold."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit.evaluation import Outcome
from ioukit.report._outlines import FARTHEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.evaluation import Evaluation, MatchTable
    from ioukit.report._marks import Marks, NearMarks

__all__ = ["COLUMNS", "Regions", "numbers_needed"]

Positions = npt.NDArray[np.int64]

# The kinds of regions on the page, with all detections: 0 detected object, 1 true positive, 2 false positive, 3 missed
# object, 4 ignored object, 5 ignored detection.
_OF_OBJECT = {Outcome.TRUE_POSITIVE: 0, Outcome.FALSE_NEGATIVE: 3, Outcome.IGNORED: 4}
_OF_DETECTION = {Outcome.TRUE_POSITIVE: 1, Outcome.FALSE_POSITIVE: 2, Outcome.IGNORED: 5}
COLUMNS = 7
"""The numbers of a box of the page. The first is its kind."""
_OF_OBJECTS, _OF_DETECTIONS = 3, 7  # numbers in the marks


def numbers_needed(table: MatchTable, marks: Marks) -> Positions:
    """(I,) how many numbers the boxes and the marks of each image need; outlines need more."""
    count = len(table.image_ids)
    objects = np.bincount(table.objects.image, minlength=count)
    found = np.bincount(table.detections.image[marks.reach < len(marks.scores)], minlength=count)
    needed: Positions = (COLUMNS + _OF_OBJECTS) * objects + (COLUMNS + _OF_DETECTIONS) * found
    return needed


class Regions:
    """The regions of some images: for each image its objects, then the detections that count at some threshold.

    Args:
        evaluation: The evaluation.
        table: Its match table with near pairs.
        marks: The outcomes.
        near: What the near pairs say.
        images: Positions of the images.
    """

    def __init__(
        self, evaluation: Evaluation, table: MatchTable, marks: Marks, near: NearMarks, images: Sequence[int]
    ) -> None:
        truth, detections = evaluation.ground_truth, evaluation.detections
        if truth is None or detections is None:
            return
        wanted = np.zeros(len(table.image_ids), np.bool_)
        wanted[np.array(images, np.int64)] = True
        objects, of = table.objects, table.detections
        rows = np.flatnonzero(wanted[objects.image])
        rows = rows[np.lexsort((objects.row[rows], objects.image[rows]))]
        counted = np.flatnonzero((marks.reach < len(marks.scores)) & wanted[of.image])
        found = counted[np.lexsort((of.row[counted], of.image[counted]))]
        ends = np.arange(len(table.image_ids) + 1)
        self._objects_end = np.searchsorted(objects.image[rows], ends).tolist()
        self._found_end = np.searchsorted(of.image[found], ends).tolist()
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
        place = np.full(len(objects) + 1, -1)
        place[rows] = np.arange(len(rows)) - np.array(self._objects_end)[objects.image[rows]]
        match, target = marks.outcomes.matched_object[found], near.errors.detection_object[found]
        partner = np.where(match >= 0, match, target)
        pair = near.pair[found]
        true = np.where(
            pair >= 0, objects.category[np.maximum(pair, 0)].astype(np.int64) if len(objects) else pair, pair
        )
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
