"""The order of the images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit.evaluation.analysis._quotient import quotient
from ioukit.viewer.filters import Filter
from ioukit.viewer.levels import DETECTED, FALSE, IGNORED_DETECTION, IGNORED_OBJECT, MISSED, NOT_COUNTED, TRUE
from ioukit.viewer.selecting import Failures, column_called

if TYPE_CHECKING:
    from ioukit.viewer.collection import Collection

__all__ = ["sorted_images"]

_ASCENDING = ("name", "position")  # unless the filter says otherwise
_KINDS: dict[str, tuple[int, ...]] = {
    "errors": (FALSE, MISSED),
    "fp": (FALSE,),
    "fn": (MISSED,),
    "tp": (TRUE,),
    "objects": (DETECTED, MISSED, IGNORED_OBJECT),
    "detections": (TRUE, FALSE, IGNORED_DETECTION),
}


def sorted_images(
    collection: Collection, chosen: Filter, sides: Sequence[Failures], shown: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int64]:
    """The positions of the shown images in the filter's order; images with equal values in the order of the table.

    Counts and ratios are those of the marks that pass all conditions except those on outcome and kind of error, like
    the counts of an answer. Images without a value come last.

    Raises:
        ValueError: If the filter names a column that is not there.
    """
    sort = chosen.sort or ("errors" if collection.models else "position")
    rows = np.flatnonzero(shown)
    values = _values(collection, sort, sides)[rows]
    descending = (chosen.order or ("asc" if sort in _ASCENDING else "desc")) == "desc"
    return rows[np.argsort(-values if descending else values, kind="stable")]  # NaN comes last


def _values(collection: Collection, sort: str, sides: Sequence[Failures]) -> npt.NDArray[Any]:
    """(I,) what each image is sorted by."""
    count = len(collection.table.image_ids)
    if sort == "position":
        return np.arange(count)
    if sort == "name":
        return collection.places_by_name
    if sort.startswith("column."):
        column = column_called(collection, sort.removeprefix("column."))
        values = column.values if column.texts is None else np.where(column.values < 0, np.nan, column.values)
        return values if column.of == "image" else _highest(collection.table.objects.image, values, count)
    if sort == "score":
        chosen = [(one.side, np.flatnonzero(one.chosen())) for one in sides]
        parts = [_highest(side.image[rows], side.score[rows], count) for side, rows in chosen]
        return np.fmax(*parts)
    return _counted(sort, sides, count)


def _counted(sort: str, sides: Sequence[Failures], count: int) -> npt.NDArray[Any]:
    """(I,) a count of marks, or a ratio of counts."""

    def number(*kinds: int) -> npt.NDArray[np.int64]:
        total = np.zeros(count, np.int64)
        among = np.zeros(NOT_COUNTED + 1, np.bool_)
        among[list(kinds)] = True
        for one in sides:
            rows = np.flatnonzero(among[one.side.kind] & one.chosen("outcome", "error"))
            total += np.bincount(one.side.image[rows], minlength=count)
        return total

    if sort in _KINDS:
        return number(*_KINDS[sort])
    tp, fp, found, fn = (number(kind) for kind in (TRUE, FALSE, DETECTED, MISSED))
    if sort == "precision":
        return quotient(tp, tp + fp)
    return quotient(found, found + fn) if sort == "recall" else quotient(2 * tp, 2 * tp + fp + fn)


def _highest(image: npt.NDArray[Any], values: npt.NDArray[Any], count: int) -> npt.NDArray[np.float64]:
    """(count,) the highest value of each image; NaN for none."""
    found = np.full(count, np.nan)
    np.fmax.at(found, image, values)
    return found
