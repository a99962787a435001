"""The marks of one model at its thresholds: a row per object, and a row per detection.

A mark is an object or a detection. Here are its columns, as filters, facets and drawings read them. What it is at an
IoU threshold, `evaluation/analysis/outcomes_by_score.py` knows for every score threshold; this file picks one score.
Columns of detections are filled when they are asked for, and only for those that count if these are few: most filters
look at a few of the columns of some millions of detections.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit.evaluation import confusion_matrix
from ioukit.evaluation.analysis.outcomes_by_score import (
    DETECTED,
    IGNORED_OBJECT,
    MISSED,
    NO_ERROR,
    NOT_COUNTED,
    OutcomesByScore,
)
from ioukit.evaluation.analysis.tide import ERROR_KINDS
from ioukit.viewer.answers.bins import IOU_EDGES, bins_of
from ioukit.viewer.answers.filters import OUTCOMES

if TYPE_CHECKING:
    from ioukit.viewer.answers.collection import Collection, Model


_MISSED_ERROR = ERROR_KINDS.index("missed")
_MOST_TO_CHOOSE = 0.5  # of the detections; if more of them count, all are looked at. A choice, not a measurement

_OUTCOME_OF_KIND = np.array(
    [*map(OUTCOMES.index, ("detected", "tp", "fp", "fn", "ignored", "ignored")), len(OUTCOMES)], np.uint8
)
"""The position in OUTCOMES of each kind of marks; their number for no mark."""


class Side:
    """The columns of the objects, or of detections: all of them, or some of their rows.

    Args:
        kind: The kind of each mark.
        columns: What makes the other columns, of all marks. Each is made when it is asked for.
        images: How many images there are.
        is_object: Whether the marks are objects.
        rows: The rows of the marks; all if ``None``.
    """

    kind: npt.NDArray[np.uint8]
    """0 detected object, 1 true positive, 2 false positive, 3 missed object, 4 ignored object, 5 ignored detection, 6
    no mark: a detection that does not count."""
    image: npt.NDArray[np.uint32]
    """Position of the image, in ascending order."""
    category: npt.NDArray[np.uint32]
    """Position of the class."""
    score: npt.NDArray[np.float64]
    """Score of a detection, or of the detection that finds the object; NaN for none, or if the protocol reads none."""
    iou: npt.NDArray[np.float32]
    """IoU with the partner, or else the highest IoU with a mark of the other side, whatever its score; 0 for none."""
    size: npt.NDArray[np.float32]
    """Square root of the area, in pixels; NaN if it is not known."""
    area_range: npt.NDArray[np.uint8]
    """Position of the narrowest area range; the number of ranges for none."""
    error: npt.NDArray[np.uint8]
    """Position in ERROR_KINDS, or their number for none."""
    partner: npt.NDArray[np.int32]
    """Row of the mark on the other side that it matches; -1 for none."""
    flag: npt.NDArray[np.uint8]
    """The flags of an object as bits, in the order of the collection's; 0 for a detection."""
    issue: npt.NDArray[np.uint8]
    """The kinds of issues as bits."""
    confused: npt.NDArray[np.int32]
    """The class of the other side in the confusion matrix: K for the background, -1 if the matrix leaves it out."""
    score_bin: npt.NDArray[np.uint8]
    iou_bin: npt.NDArray[np.uint8]
    size_bin: npt.NDArray[np.uint8]

    def __init__(
        self,
        kind: npt.NDArray[np.uint8],
        columns: Mapping[str, Callable[[], npt.NDArray[Any]]],
        images: int,
        *,
        is_object: bool,
        rows: npt.NDArray[np.intp] | None = None,
    ) -> None:
        self.kind, self.is_object, self.rows = kind, is_object, rows
        self._columns, self._images = columns, images

    def __len__(self) -> int:
        return len(self.kind)

    def __getattr__(self, name: str) -> Any:
        """Fill a column."""
        if name.startswith("_") or name not in self._columns:
            raise AttributeError(name)
        every = self._columns[name]()
        column = every if self.rows is None else every[self.rows]
        setattr(self, name, column)
        return column

    @cached_property
    def outcome(self) -> npt.NDArray[np.uint8]:
        """Position in OUTCOMES; their number for no mark."""
        found: npt.NDArray[np.uint8] = _OUTCOME_OF_KIND[self.kind]
        return found

    @cached_property
    def starts(self) -> npt.NDArray[np.intp]:
        """(I + 1,) the first row of each image, and the number of rows."""
        return np.searchsorted(self.image, np.arange(self._images + 1, dtype=self.image.dtype))


class Marks:
    """The marks of a model at thresholds. Rows are those of the objects and the detections of its match table.

    Args:
        collection: What is shown.
        model: One of its models, or its scene if there are no models.
        at_iou: One of the protocol's IoU thresholds.
        at_score: The score threshold.
    """

    def __init__(self, collection: Collection, model: Model, at_iou: float, at_score: float) -> None:
        self.collection, self.model = collection, model
        self.level: OutcomesByScore = model.level(at_iou)
        self.at_iou, self.at_score = self.level.iou_threshold, at_score

    @cached_property
    def objects(self) -> Side:
        """(G,) the objects."""
        collection, model, level = self.collection, self.model, self.level
        rows, found = model.table.objects, level.score >= self.at_score
        kind = np.where(found, np.uint8(DETECTED), np.uint8(MISSED))
        error = np.where(level.accounted < self.at_score, np.uint8(_MISSED_ERROR), np.uint8(NO_ERROR))
        if not collection.models:
            kind[:], error[:] = DETECTED, NO_ERROR
        kind[level.ignored] = IGNORED_OBJECT
        matched = level.finder >= 0
        matched[matched] = model.table.detections.score[level.finder[matched]] >= self.at_score
        score = np.where(found & collection.protocol.ranks, level.score, np.nan)
        iou = np.where(matched, level.object_iou, model.overlaps.of_object)
        columns: dict[str, Callable[[], npt.NDArray[Any]]] = {
            "image": lambda: rows.image,
            "category": lambda: rows.category,
            "score": lambda: score,
            "iou": lambda: iou,
            "size": lambda: collection.sizes.size,
            "area_range": lambda: collection.sizes.area_range,
            "error": lambda: error,
            "partner": lambda: np.where(matched, level.finder, np.int32(-1)),
            "flag": lambda: collection.flag_bits,
            "issue": lambda: np.zeros(len(kind), np.uint8) if collection.issues is None else collection.issues.objects,
            "confused": lambda: self.confused[0],
            "score_bin": lambda: bins_of(score, collection.score_edges),
            "iou_bin": lambda: bins_of(iou, IOU_EDGES),
            "size_bin": lambda: collection.bins("size"),
        }
        return Side(kind, columns, len(model.table.image_ids), is_object=True)

    @cached_property
    def detections(self) -> Side:
        """(N,) all detections; those that do not count have the kind 6."""
        scores = self.model.table.detections.score
        return self._detections(np.where(scores >= self.at_score, self.level.kind, np.uint8(NOT_COUNTED)))

    @cached_property
    def counted(self) -> Side:
        """The detections that count, and no others, unless most of them count; see :attr:`Side.rows`."""
        counts = self.model.table.detections.score >= self.at_score
        if np.count_nonzero(counts) > _MOST_TO_CHOOSE * len(counts):
            return self.detections
        rows = np.flatnonzero(counts)
        rows = rows[self.level.kind[rows] != NOT_COUNTED]
        return self._detections(self.level.kind[rows], rows)

    def _detections(self, kind: npt.NDArray[np.uint8], rows: npt.NDArray[np.intp] | None = None) -> Side:
        collection, model, level, table = self.collection, self.model, self.level, self.model.table

        def issues() -> npt.NDArray[np.uint8]:
            known = () if collection.issues is None else collection.issues.detections
            at = next((at for at, one in enumerate(collection.models) if one is model), 0)
            return known[at] if at < len(known) else np.zeros(len(table), np.uint8)

        columns: dict[str, Callable[[], npt.NDArray[Any]]] = {
            "image": lambda: table.detections.image,
            "category": lambda: table.detections.category,
            "score": lambda: table.detections.score if collection.protocol.ranks else np.full(len(table), np.nan),
            "iou": lambda: level.iou,
            "size": lambda: model.sizes.size,
            "area_range": lambda: model.sizes.area_range,
            "error": lambda: level.error,
            "partner": lambda: level.partner,
            "flag": lambda: np.zeros(len(table), np.uint8),
            "issue": issues,
            "confused": lambda: self.confused[1],
            "score_bin": lambda: collection.bins("score", model),
            "iou_bin": lambda: model.iou_bins(level),
            "size_bin": lambda: collection.bins("size", model),
        }
        return Side(kind, columns, len(table.image_ids), is_object=False, rows=rows)

    @cached_property
    def confused(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """(G,) predicted class of each object and (N,) true class of each detection, see :attr:`Side.confused`."""
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
