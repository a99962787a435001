"""The order of the images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit.evaluation.analysis.outcomes_by_score import (
    DETECTED,
    FALSE,
    IGNORED_DETECTION,
    IGNORED_OBJECT,
    MISSED,
    NOT_COUNTED,
    TRUE,
)
from ioukit.viewer.answers.conditions import column_called
from ioukit.viewer.answers.filters import Filter
from ioukit.viewer.answers.ratios import ratio
from ioukit.viewer.answers.selecting import Failures, Selection, per_image

if TYPE_CHECKING:
    from ioukit.viewer.answers.collection import Collection

_ASCENDING = ("name", "position", "frame")  # unless the filter says otherwise
_RATIOS = ("precision", "recall", "f1")
_KINDS: dict[str, tuple[int, ...]] = {
    "errors": (FALSE, MISSED),
    "fp": (FALSE,),
    "fn": (MISSED,),
    "tp": (TRUE,),
    "found": (DETECTED,),
    "objects": (DETECTED, MISSED, IGNORED_OBJECT),
    "detections": (TRUE, FALSE, IGNORED_DETECTION),
}


def sorted_images(selection: Selection, chosen: Filter) -> npt.NDArray[np.int64]:
    """The positions of the shown images in the filter's order; images with equal values in the order of the table.

    Counts and ratios are those of the marks that pass all conditions except those on outcome and kind of error, like
    the counts of an answer. With such a condition, or one on cells of the confusion matrix, ``errors`` counts the marks
    that it chooses. Images without a value come last.

    Raises:
        ValueError: If the filter names a column that is not there.
        DatasetError: If the order is that of frames, and an image has no sequence or no frame.
    """
    sort = chosen.sort or ("errors" if selection.collection.models else "position")
    rows = np.flatnonzero(selection.images)
    values = _values(selection, sort)[rows]
    descending = (chosen.order or ("asc" if sort in _ASCENDING else "desc")) == "desc"
    return rows[np.argsort(-values if descending else values, kind="stable")]  # NaN comes last


def _values(selection: Selection, sort: str) -> npt.NDArray[Any]:
    """(I,) what each image is sorted by."""
    collection = selection.collection
    count = len(collection.table.image_ids)
    if sort in _ASCENDING:
        return _places(collection, sort)
    if sort.startswith("column."):
        column = column_called(collection, sort.removeprefix("column."))
        values = column.values if column.texts is None else np.where(column.values < 0, np.nan, column.values)
        return values if column.of == "image" else _highest(collection.table.objects.image, values, count)
    wanted = selection.filter
    if sort == "errors" and (wanted.outcome or wanted.error or wanted.true or wanted.predicted):
        return selection.marks_of_images
    sides = selection.failures()
    if sort == "score":
        chosen = [(one.side, np.flatnonzero(one.chosen())) for one in sides]
        parts = [_highest(side.image[rows], side.score[rows], count) for side, rows in chosen]
        return np.fmax(*parts)
    if sort in _RATIOS and sort in selection.undefined:
        return np.full(count, np.nan)
    if sort == "tp" and "fp" in selection.undefined:
        sort = "found"  # as the counts of an answer have it
    return _counted(sort, sides, count)


def _places(collection: Collection, sort: str) -> npt.NDArray[Any]:
    """(I,) the place of each image in the order of names, of frames or of the data."""
    if sort == "frame":
        return collection.frames.place[collection.image_rows]
    return np.arange(len(collection.table.image_ids)) if sort == "position" else collection.places_by_name


def _counted(sort: str, sides: Sequence[Failures], count: int) -> npt.NDArray[Any]:
    """(I,) a count of marks, or a ratio of counts."""

    def number(*kinds: int) -> npt.NDArray[np.int64]:
        total = np.zeros(count, np.int64)
        among = np.zeros(NOT_COUNTED + 1, np.bool_)
        among[list(kinds)] = True
        for one in sides:
            chosen = among[one.side.kind]
            chosen &= one.chosen("outcome", "error")
            total += per_image(one.side, chosen)
        return total

    if sort in _KINDS:
        return number(*_KINDS[sort])
    return ratio(sort, *map(number, (TRUE, FALSE, DETECTED, MISSED)))


def _highest(image: npt.NDArray[Any], values: npt.NDArray[Any], count: int) -> npt.NDArray[np.float64]:
    """(count,) the highest value of each image; NaN for none."""
    found = np.full(count, np.nan)
    if len(image):
        first = np.flatnonzero(np.append(True, image[1:] != image[:-1]))
        found[image[first]] = np.fmax.reduceat(values, first)
    return found
