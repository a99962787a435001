"""The confusion matrix of a page at every position of the score threshold, and the images of its cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ioukit.report._marks import Marks, NearMarks

__all__ = ["Entries", "Matrix", "error_entries", "matrix_by_score"]

Rows = npt.NDArray[np.int64]

_MOST_STEPS = 120_000  # changes of cells: about a megabyte of the page
_MOST_ENTRIES = 60_000  # images in the lists of all cells
_ERRORS_OF_DETECTIONS = 5  # the first of ERROR_KINDS; the last is one of objects
_LONGEST_LISTS = (100, 50, 25, 12, 6, 3, 1)


@dataclass(frozen=True)
class Entries:
    """A list of images that a cell or a kind of error leads to."""

    image: Rows
    """(L,) positions of images in the match table."""
    position: Rows
    """(L,) the position from which a detection counts, or to which an object is missed."""


@dataclass(frozen=True)
class Matrix:
    """The matrix of a page."""

    objects: list[int]
    """The objects of each class."""
    floor: int
    """The last position at which the cells are known."""
    cells: list[dict[str, Any]]
    """For each cell that is not empty at some position: ``true``, ``predicted`` and ``steps``, a flat list of
    positions, each as the difference from the one before, and the entries that are new there. The cells of missed
    objects follow from the others and have no steps."""
    lists: list[Entries]
    """The images of each cell."""


def matrix_by_score(marks: Marks, near: NearMarks, start: int) -> Matrix:
    """The matrix at every position.

    Args:
        marks: The outcomes.
        near: What the near pairs say.
        start: The position that must be known.
    """
    confusion, positions = near.confusion, len(marks.scores)
    size = len(confusion.counts)
    background = size - 1
    with_object = np.flatnonzero(confusion.object >= 0)
    objects = np.bincount(confusion.true[with_object], minlength=size)[:background]
    rows = np.flatnonzero(confusion.detection >= 0)
    position = near.reach[confusion.detection[rows]]
    rows, position = rows[position < positions], position[position < positions]
    step = (confusion.true[rows] * size + confusion.predicted[rows]) * positions + position
    order = np.argsort(step, kind="stable")  # by cell, and the highest scores of each cell first
    rows, position, step = rows[order], position[order], step[order]
    first = np.flatnonzero(np.diff(step, prepend=-1))
    new = np.diff(np.append(first, len(step)))
    changed, at = np.divmod(step[first], positions)
    below = np.cumsum(np.bincount(at, minlength=positions))
    floor = max(int(np.searchsorted(below, _MOST_STEPS, side="right")) - 1, start)
    kept = at <= floor
    changed, at, new = changed[kept], at[kept], new[kept]
    starts = np.flatnonzero(np.diff(changed, prepend=-1))
    gaps = np.where(np.isin(np.arange(len(at)), starts), at, np.diff(at, prepend=0))
    flat = np.column_stack([gaps, new])
    ends = np.append(starts[1:], len(at))[: len(starts)]
    cells: list[dict[str, Any]] = []
    found_keys = changed[starts].tolist()
    for number, begin, end in zip(found_keys, starts.tolist(), ends.tolist(), strict=True):
        true, predicted = divmod(number, size)
        cells.append({"true": true, "predicted": predicted, "steps": flat[begin:end].ravel().tolist()})
    missed = np.flatnonzero(objects).tolist()
    cells += [{"true": true, "predicted": background} for true in missed]

    inside = position <= floor
    of_cell = _cut(step[inside] // positions, confusion.image[rows[inside]], position[inside])
    gone = near.paired[confusion.object[with_object]]
    late = np.lexsort((-gone, confusion.true[with_object]))
    of_missed = _cut(confusion.true[with_object][late], confusion.image[with_object][late], gone[late])
    together = {**of_cell, **{true * size + background: entries for true, entries in of_missed.items()}}
    lists = [together[cell["true"] * size + cell["predicted"]] for cell in cells]
    most = _longest([len(entries.image) for entries in lists])
    lists = [Entries(entries.image[:most], entries.position[:most]) for entries in lists]
    return Matrix(objects.tolist(), floor, cells, lists)


def error_entries(marks: Marks, near: NearMarks, image_of: Rows, object_image: Rows) -> list[Entries]:
    """The images of each kind of error, in the order of ``ERROR_KINDS``, those with the highest scores first.

    Args:
        marks: The outcomes.
        near: What the near pairs say.
        image_of: (N,) the image of each detection.
        object_image: (G,) the image of each object.
    """
    lists = []
    for kind in range(_ERRORS_OF_DETECTIONS):
        rows = np.flatnonzero((near.errors.detection_kind == kind) & (marks.reach < len(marks.scores)))
        # Only the best of millions are sorted.
        if len(rows) > _LONGEST_LISTS[0]:
            last = np.partition(marks.reach[rows], _LONGEST_LISTS[0])[_LONGEST_LISTS[0]]
            rows = rows[marks.reach[rows] <= last]
        rows = rows[np.argsort(marks.reach[rows], kind="stable")][: _LONGEST_LISTS[0]]
        lists.append(Entries(image_of[rows], marks.reach[rows]))
    missed = np.flatnonzero(near.covered > 0)
    missed = missed[np.argsort(-near.covered[missed], kind="stable")][: _LONGEST_LISTS[0]]
    return [*lists, Entries(object_image[missed].astype(np.int64), near.covered[missed])]


def _cut(key: Rows, image: Rows, position: Rows) -> dict[int, Entries]:
    """The first entries of each key; keys are in ascending order."""
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    ends = np.append(starts[1:], len(key))[: len(starts)]
    return {
        number: Entries(
            *(column[first : min(last, first + _LONGEST_LISTS[0])].astype(np.int64) for column in (image, position))
        )
        for number, first, last in zip(key[starts].tolist(), starts.tolist(), ends.tolist(), strict=True)
    }


def _longest(lengths: list[int]) -> int:
    """How long the lists may be, so that all together are short enough for a page."""
    return next((most for most in _LONGEST_LISTS if sum(min(length, most) for length in lengths) <= _MOST_ENTRIES), 1)
