"""Records and arrays that are kept as they came until someone asks for the dictionaries that find records.

Owns what `COCO.createIndex` and `COCO.loadRes` list of data in memory: ids, as they were then. A program may change its
records afterwards, so an evaluation reads all other values from the records; those of an array are copied. Does not own
files (``_files.py``).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ioukit import _core
from ioukit._array_types import Ids
from ioukit._collector import made_to_last
from ioukit.compat.pycocotools import mask as mask_utils
from ioukit.compat.pycocotools._dictionaries import Marks, complete, images_and_categories, indexes, records_of_array
from ioukit.compat.pycocotools._files import DICTIONARIES, AnnotationFile, Kept, columns_of

__all__ = ["Records", "ResultArray", "ResultRecords"]

_TOO_LARGE = 2.0**63
"""Numbers from here on are no integers of NumPy."""


@dataclass
class Records(Kept):
    """The records of a data set in memory."""

    decisive = frozenset({"anns", "imgToAnns", "catToImgs"})

    records: list[Any]
    """The records when they were listed; they may have been changed."""
    ids: Ids
    image_ids: Ids
    category_ids: Ids
    """(N,) of the records when they were listed."""
    marks: list[Marks] = field(default_factory=list, kw_only=True)
    """Always empty."""

    @classmethod
    def of(cls, dataset: dict[str, Any]) -> Records | None:
        """The annotations of a data set; ``None`` if their dictionaries have to be looked at."""
        records = dataset.get("annotations")
        if type(records) is not list or "categories" not in dataset:
            return None
        columns = _core.record_columns(records, ["id", "image_id", "category_id"], ["integer"] * 3)
        if columns is None:
            return None
        distinct = (np.diff(np.sort(columns[0])) > 0).all()  # of two records with one id, only one is found
        return cls(list(records), *columns) if distinct else None

    def tells(self, held: Any) -> bool:
        """Whether the records have what an evaluation would find: it reads them, and needs no dictionary."""
        return self.decisive.isdisjoint(held)

    def mark(self, marks: Marks) -> None:
        """Write nothing: evaluations of boxes and keypoints leave results as they are."""

    def _made(self) -> dict[str, Any]:
        of_images: defaultdict[int, list[Any]] = defaultdict(list)
        of_categories: defaultdict[int, list[int]] = defaultdict(list)
        for record, image, category in zip(
            self.records, self.image_ids.tolist(), self.category_ids.tolist(), strict=True
        ):
            of_images[image].append(record)
            of_categories[category].append(image)
        anns = dict(zip(self.ids.tolist(), self.records, strict=True))
        return {"anns": anns, "imgToAnns": of_images, "catToImgs": of_categories}


@dataclass
class ResultRecords(Records):
    """A list of results with boxes, which are completed."""

    given: list[Any]
    """The list itself."""
    truth: Any
    """The `COCO` of the annotations."""

    @classmethod
    def read(cls, records: list[Any], truth: Any) -> ResultRecords | None:
        """Complete records in place; ``None`` if they are no boxes in plain numbers.

        Raises:
            AssertionError: If the ground truth lacks an image; then no record is completed.
        """
        first = records[0] if records else None
        if not isinstance(first, dict) or "caption" in first or "bbox" not in first or not _has_others(truth):
            return None
        names, kinds = ["image_id", "category_id", "bbox"], ["integer", "integer", "box"]
        columns = _core.record_columns(records, names, kinds)
        if columns is None:
            return None
        truth._check_images(columns[0])
        with made_to_last(2 * len(records)):  # two lists of each record
            _core.complete_boxes(records)
        return cls(list(records), np.arange(1, len(records) + 1), columns[0], columns[1], records, truth)

    def made(self, name: str) -> dict[str, Any]:
        """The dictionaries, of which the program asked for one: those that find annotations, or the others."""
        if name in self.decisive:
            return self.dictionaries()
        return self._once("_others", lambda: _others(self.truth, self.given))


def _has_others(truth: Any) -> bool:
    """Whether a ground truth has what results take over. A file that waits has."""
    return isinstance(columns_of(truth), AnnotationFile) or all(
        name in truth.dataset for name in ("images", "categories")
    )


def _others(truth: Any, annotations: list[Any]) -> dict[str, Any]:
    """The dictionaries that find no annotations."""
    dataset = images_and_categories(truth.dataset, {"bbox": ()})
    found = indexes({**dataset, "annotations": []})
    return {"dataset": {**dataset, "annotations": annotations}, "imgs": found["imgs"], "cats": found["cats"]}


@dataclass
class ResultArray(Kept):
    """An array of results with boxes."""

    decisive = DICTIONARIES - {"imgs", "cats"}

    array: NDArray[Any]
    """(N, 7) image id, x, y, width, height, score and category id: a copy."""
    truth: Any
    """The `COCO` of the annotations."""
    marks: list[Marks] = field(default_factory=list)
    """Always empty."""

    @classmethod
    def read(cls, array: NDArray[Any], truth: Any) -> ResultArray | None:
        """The results of an array; ``None`` if its records have to be looked at."""
        boxes = array.ndim == 2 and array.shape[1] == 7 and len(array) and array.dtype.char in "fd"
        if not boxes or not _has_others(truth):
            return None
        made = cls(array.copy(), truth)
        with np.errstate(all="ignore"):
            corners = array[:, 1:3] + array[:, 3:5]
            regular = np.isfinite(array).all() and np.isfinite(corners).all() and np.isfinite(made.areas).all()
        return made if regular and (np.abs(array[:, [0, 6]]) < _TOO_LARGE).all() else None

    @property
    def areas(self) -> NDArray[Any]:
        """(N,) in the precision of the array, as its records have them."""
        sides: NDArray[Any] = self.array[:, 3:5]
        return np.asarray(sides[:, 0] * sides[:, 1])

    def column(self, place: int) -> Ids:
        """(N,) whole numbers, as its records have them."""
        return self.array[:, place].astype(np.int64)

    def mark(self, marks: Marks) -> None:
        """Write nothing: evaluations of boxes leave results as they are."""

    def made(self, name: str) -> dict[str, Any]:
        """The dictionaries, of which the program asked for one. Those of images and categories need no records."""
        if name in self.decisive:
            return self.dictionaries()
        return {each: self._frame()[each] for each in ("imgs", "cats")}

    def _frame(self) -> dict[str, Any]:
        return self._once("_others", lambda: _others(self.truth, []))

    def _made(self) -> dict[str, Any]:
        with made_to_last(4 * len(self.array)):
            records = records_of_array(self.array)
            complete(records, mask_utils.ORIGINAL)
        frame = self._frame()
        frame["dataset"]["annotations"] = records
        ids = np.arange(1, len(records) + 1)
        return {**frame, **Records(records, ids, self.column(0), self.column(6)).dictionaries()}
