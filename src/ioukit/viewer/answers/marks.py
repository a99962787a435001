"""The marks of one model at its thresholds: a row per object, and a row per detection."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit.evaluation import confusion_matrix
from ioukit.evaluation.analysis.tide import ERROR_KINDS
from ioukit.viewer.answers.bins import IOU_EDGES, bins_of
from ioukit.viewer.answers.filters import OUTCOMES
from ioukit.viewer.answers.iou_levels import (
    DETECTED,
    FALSE,
    IGNORED_DETECTION,
    IGNORED_OBJECT,
    MISSED,
    NO_ERROR,
    NOT_COUNTED,
    TRUE,
    Level,
)
from ioukit.viewer.answers.sizes import areas_of

if TYPE_CHECKING:
    from ioukit.viewer.answers.collection import Collection, Model

__all__ = ["OUTCOME_OF_KIND", "Detections", "Marks", "Objects", "Side", "marks_at"]

_MISSED_ERROR = ERROR_KINDS.index("missed")
_MOST_TO_CHOOSE = 0.5  # of the detections; if more of them count, all are looked at

_NAMES = {
    DETECTED: "detected",
    TRUE: "tp",
    FALSE: "fp",
    MISSED: "fn",
    IGNORED_OBJECT: "ignored",
    IGNORED_DETECTION: "ignored",
}
OUTCOME_OF_KIND = np.array([*(OUTCOMES.index(_NAMES[kind]) for kind in range(NOT_COUNTED)), len(OUTCOMES)], np.uint8)
"""The position in OUTCOMES of each kind of marks; their number for no mark."""


class Side:
    """The columns of the objects, or of detections."""

    is_object: bool
    image: npt.NDArray[np.uint32]
    """Position of the image, in ascending order."""
    category: npt.NDArray[np.uint32]
    """Position of the class."""
    kind: npt.NDArray[np.uint8]
    """0 detected object, 1 true positive, 2 false positive, 3 missed object, 4 ignored object, 5 ignored detection, 6
    no mark: a detection that does not count."""
    score: npt.NDArray[np.float64]
    """Score of a detection, or of the detection that finds the object; NaN for none."""
    iou: npt.NDArray[np.float32]
    """IoU with the partner, or else the highest IoU with a mark of the other side, whatever its score; 0 for none."""
    area: npt.NDArray[np.float64]
    """Square pixels; NaN if it is not known."""
    size: npt.NDArray[np.float32]
    """Square root of the area, in pixels; NaN if it is not known."""
    area_range: npt.NDArray[np.uint8]
    """Position of the narrowest area range; the number of ranges for none."""
    error: npt.NDArray[np.uint8]
    """Position in ERROR_KINDS, or their number for none."""
    partner: npt.NDArray[np.int32]
    """Row of the mark on the other side that it matches; -1 for none."""
    score_bin: npt.NDArray[np.uint8]
    iou_bin: npt.NDArray[np.uint8]
    size_bin: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.kind)

    @cached_property
    def outcome(self) -> npt.NDArray[np.uint8]:
        """Position in OUTCOMES; their number for no mark."""
        found: npt.NDArray[np.uint8] = OUTCOME_OF_KIND[self.kind]
        return found

    @cached_property
    def starts(self) -> npt.NDArray[np.intp]:
        """(I + 1,) the first row of each image, and the number of rows."""
        return np.searchsorted(self.image, np.arange(self._images + 1, dtype=self.image.dtype))

    _images: int


class Objects(Side):
    """The objects of a match table."""

    is_object = True

    def __init__(self, collection: Collection, model: Model, level: Level, at_score: float) -> None:
        """Make the columns."""
        rows, found = model.table.objects, level.score >= at_score
        self._images = len(model.table.image_ids)
        self.image, self.category = rows.image, rows.category
        self.size, self.area_range = collection.sizes
        self.size_bin = collection.bins("size")
        self.kind = np.where(found, np.uint8(DETECTED), np.uint8(MISSED))
        self.error = np.where(level.missed(at_score), np.uint8(_MISSED_ERROR), np.uint8(NO_ERROR))
        if not collection.models:
            self.kind[:] = DETECTED
            self.error[:] = NO_ERROR
        self.kind[level.ignored] = IGNORED_OBJECT
        self.score = np.where(found, level.score, np.nan)
        matched = level.finder >= 0
        matched[matched] = model.table.detections.score[level.finder[matched]] >= at_score
        self.partner = np.where(matched, level.finder, np.int32(-1))
        self.iou = np.where(matched, level.object_iou, model.overlaps.of_object)
        self._score_edges, self._areas, self._rows = collection.score_edges, collection.ground_truth.areas, rows.row

    @cached_property
    def area(self) -> npt.NDArray[np.float64]:  # type: ignore[override]
        """Square pixels."""
        return self._areas[self._rows]

    @cached_property
    def score_bin(self) -> npt.NDArray[np.uint8]:  # type: ignore[override]
        """The bin of each score."""
        return bins_of(self.score, self._score_edges)

    @cached_property
    def iou_bin(self) -> npt.NDArray[np.uint8]:  # type: ignore[override]
        """The bin of each IoU."""
        return bins_of(self.iou, IOU_EDGES)


class Detections(Side):
    """Detections of a match table: all of them, or some of its rows."""

    is_object = False

    def __init__(
        self,
        collection: Collection,
        model: Model,
        level: Level,
        at_score: float,
        rows: npt.NDArray[np.intp] | None = None,
    ) -> None:
        """Make the columns; they are filled when they are asked for."""
        self._images = len(model.table.image_ids)
        self._collection, self._model, self._level, self.rows = collection, model, level, rows
        scores = model.table.detections.score
        if rows is None:
            self.kind = np.where(scores >= at_score, level.kind, np.uint8(NOT_COUNTED))
        else:
            self.kind = level.kind[rows]

    def __getattr__(self, name: str) -> Any:
        """Fill a column."""
        model, level, collection = self._model, self._level, self._collection
        columns: dict[str, Callable[[], npt.NDArray[Any]]] = {
            "image": lambda: model.table.detections.image,
            "category": lambda: model.table.detections.category,
            "score": lambda: model.table.detections.score,
            "iou": lambda: level.iou,
            "area": lambda: areas_of(model.detections)(model.table.detections.row),
            "size": lambda: model.sizes.size,
            "area_range": lambda: model.sizes.area_range,
            "error": lambda: level.error,
            "partner": lambda: level.partner,
            "score_bin": lambda: collection.bins("score", model),
            "iou_bin": lambda: level.iou_bins,
            "size_bin": lambda: collection.bins("size", model),
        }
        if name not in columns:
            raise AttributeError(name)
        every = columns[name]()
        column = every if self.rows is None else every[self.rows]
        setattr(self, name, column)
        return column


class Marks:
    """The marks of a model at thresholds. Rows are those of the objects and the detections of its match table."""

    def __init__(self, collection: Collection, model: Model, at_iou: float, at_score: float) -> None:
        """Take the level. The model is the collection's scene if there are no models."""
        self.collection, self.model = collection, model
        self.level: Level = model.level(at_iou)
        self.at_iou, self.at_score = self.level.iou_threshold, at_score

    @cached_property
    def objects(self) -> Objects:
        """(G,) the objects."""
        return Objects(self.collection, self.model, self.level, self.at_score)

    @cached_property
    def detections(self) -> Detections:
        """(N,) all detections; those that do not count have the kind 6."""
        return Detections(self.collection, self.model, self.level, self.at_score)

    @cached_property
    def counted(self) -> Detections:
        """The detections that count, and no others, unless most of them count; see :attr:`Detections.rows`."""
        counts = self.model.table.detections.score >= self.at_score
        if np.count_nonzero(counts) > _MOST_TO_CHOOSE * len(counts):
            return self.detections
        rows = np.flatnonzero(counts)
        if self.model.overlaps.within is not None:
            rows = rows[self.level.kind[rows] != NOT_COUNTED]
        return Detections(self.collection, self.model, self.level, self.at_score, rows)

    @cached_property
    def confused(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """(G,) predicted class of each object and (N,) true class of each detection in the confusion matrix.

        K stands for the background, -1 for marks that the matrix leaves out.
        """
        table = self.model.table
        matrix = confusion_matrix(table, iou_threshold=self.at_iou, score_threshold=self.at_score)
        objects = np.full(len(table.objects), -1, np.int32)
        detections = np.full(len(table), -1, np.int32)
        of_object, of_detection = matrix.object >= 0, matrix.detection >= 0
        objects[matrix.object[of_object]] = matrix.predicted[of_object]
        detections[matrix.detection[of_detection]] = matrix.true[of_detection]
        return objects, detections


def marks_at(collection: Collection, model: Model, at_iou: float | None = None, at_score: float | None = None) -> Marks:
    """The marks of a model at thresholds; those of the last thresholds are kept.

    Args:
        collection: What is shown.
        model: One of its models, or its scene.
        at_iou: One of the protocol's IoU thresholds; its main one if ``None``.
        at_score: The score threshold; the model's best one if ``None``.

    Raises:
        ValueError: If the protocol has no such IoU threshold.
    """
    protocol = collection.protocol
    iou = protocol.iou_thresholds[protocol.position_of_iou(protocol.main_iou if at_iou is None else at_iou)]
    score = model.best_score if at_score is None else at_score
    found: Marks = model.marks.of((iou, score), lambda: Marks(collection, model, iou, score))
    return found
