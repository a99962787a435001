"""The records of what changed between two models: one row per object, and one row per false positive."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats, Rows
from ioukit._columns import Columns, Frozen, record
from ioukit.datasets import Categories


class ObjectChange(IntEnum):
    """How an object changes from model A to model B."""

    STILL_FOUND = 0
    """Both find it, and the IoU changes by less than ``placement``."""
    BETTER_PLACED = 1
    """Both find it; the IoU of B is higher by at least ``placement``."""
    WORSE_PLACED = 2
    """Both find it; the IoU of B is lower by at least ``placement``."""
    FOUND = 3
    """Only B finds it."""
    LOST = 4
    """Only A finds it."""
    RIGHT_CLASS_NOW = 5
    """Only B finds it; a false positive of A of another class reaches the IoU threshold with it."""
    OTHER_CLASS_NOW = 6
    """Only A finds it; a false positive of B of another class reaches the IoU threshold with it."""
    STILL_MISSED = 7
    """Neither finds it."""


class DetectionChange(IntEnum):
    """How a false positive changes from model A to model B."""

    NEW = 0
    """A false positive of B that A does not have."""
    GONE = 1
    """A false positive of A that B does not have."""
    STILL = 2
    """A false positive of both."""


@record(frozen=True, eq=False, repr=False)
class ObjectChanges(Columns):
    """One row per object that counts, in the order of the match tables.

    The detection of a model is the one that finds the object. Where the model does not find it, it is the false
    positive of another class with the highest IoU of at least the IoU threshold, if there is one.
    """

    kind: npt.NDArray[np.int8]
    """(N,) an :class:`ObjectChange`."""
    row: Rows
    """(N,) row in :attr:`MatchTable.objects` of both tables."""
    image: Rows
    """(N,) position in :attr:`Changes.image_ids`."""
    category: Rows
    """(N,) position in :attr:`Changes.categories`."""
    id: Rows
    """(N,) annotation id."""
    detection_a: Rows
    """(N,) row in :attr:`MatchTable.detections` of A; -1 for none."""
    detection_b: Rows
    """(N,) the same of B."""
    category_a: Rows
    """(N,) position of the class of the detection of A; -1 for none."""
    category_b: Rows
    """(N,) the same of B."""
    score_a: Floats
    """(N,) score of the detection of A; NaN for none."""
    score_b: Floats
    """(N,) the same of B."""
    iou_a: Floats
    """(N,) IoU of the detection of A with the object; NaN for none."""
    iou_b: Floats
    """(N,) the same of B."""

    def __len__(self) -> int:
        return len(self.kind)


@record(frozen=True, eq=False, repr=False)
class DetectionChanges(Columns):
    """One row per false positive of A or B: first the new ones, then those that are gone, then those of both.

    Within each kind, the highest score comes first.
    """

    kind: npt.NDArray[np.int8]
    """(M,) a :class:`DetectionChange`."""
    image: Rows
    """(M,) position in :attr:`Changes.image_ids`."""
    category: Rows
    """(M,) position in :attr:`Changes.categories`."""
    detection_a: Rows
    """(M,) row in :attr:`MatchTable.detections` of A; -1 for none."""
    detection_b: Rows
    """(M,) the same of B."""
    score_a: Floats
    """(M,) score of the detection of A; NaN for none."""
    score_b: Floats
    """(M,) the same of B."""

    def __len__(self) -> int:
        return len(self.kind)


@record(frozen=True, eq=False, repr=False)
class Changes(Frozen):
    """The result of :func:`changes`: what became of each object and of each false positive."""

    iou_threshold: float
    """The IoU threshold of a match."""
    area_range: str
    """Label of the area range; objects outside of it are left out."""
    score_thresholds: tuple[float, float]
    """The score thresholds of A and B: a detection with this score or a higher one counts."""
    placement: float
    """The least change of IoU by which an object is better or worse placed."""
    paired_by: str
    """How false positives of A and B were paired: ``"boxes"``, by the IoU of their boxes, or ``"scores"``, in the order
    of their scores within image and class, if an evaluation does not hold its detections."""
    categories: Categories
    """(K,) the categories."""
    image_ids: npt.NDArray[Any]
    """(I,) the ids of the images."""
    objects: ObjectChanges
    """(N,) the objects."""
    detections: DetectionChanges
    """(M,) the false positives."""

    @property
    def counts(self) -> Mapping[str, int]:
        """How many objects and false positives of each kind, by names such as ``"found"`` and ``"new_false_positive"``.

        The kinds of objects come first, in the order of :class:`ObjectChange`.
        """
        return {name: int(column.sum()) for name, column in self.by_image().items()}

    def by_image(self) -> dict[str, Rows]:
        """(I,) the counts of each image, under the names of :attr:`counts`."""
        return self._counted(self.objects.image, self.detections.image, len(self.image_ids))

    def by_class(self) -> dict[str, Rows]:
        """(K,) the counts of each class, under the names of :attr:`counts`. An object counts in its own class."""
        return self._counted(self.objects.category, self.detections.category, len(self.categories))

    def _counted(self, of_objects: Rows, of_detections: Rows, size: int) -> dict[str, Rows]:
        found = {
            kind.name.lower(): np.bincount(of_objects[self.objects.kind == kind], minlength=size)
            for kind in ObjectChange
        }
        return found | {
            f"{kind.name.lower()}_false_positive": np.bincount(
                of_detections[self.detections.kind == kind], minlength=size
            )
            for kind in DetectionChange
        }

    def __repr__(self) -> str:
        counts = self.counts
        found = counts["found"] + counts["right_class_now"]
        lost = counts["lost"] + counts["other_class_now"]
        return (
            f"Changes({found:,} objects found, {lost:,} lost, {counts['new_false_positive']:,} new false positives, "
            f"{counts['gone_false_positive']:,} gone)"
        )
