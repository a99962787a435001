"""The marks of one model at its thresholds: a row per object, and a row per detection."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit.evaluation import confusion_matrix
from ioukit.viewer.levels import DETECTED, IGNORED_OBJECT, MISSED, NO_ERROR, NOT_COUNTED, Level

if TYPE_CHECKING:
    from ioukit.viewer.collection import Collection, Model

__all__ = ["Marks", "Side", "marks"]

_MISSED_ERROR = NO_ERROR - 1  # the position of "missed" in ERROR_KINDS
_KEPT = 4  # marks of the last thresholds


class Side(NamedTuple):
    """The columns of the objects, or of the detections."""

    is_object: bool
    image: npt.NDArray[np.uint32]
    """Position of the image."""
    category: npt.NDArray[np.uint32]
    """Position of the class."""
    kind: npt.NDArray[np.uint8]
    """0 detected object, 1 true positive, 2 false positive, 3 missed object, 4 ignored object, 5 ignored detection, 6
    no mark: a detection that does not count."""
    score: npt.NDArray[np.float64]
    """Score of a detection, or of the detection that finds the object; NaN for none."""
    iou: npt.NDArray[np.float32]
    """IoU with the partner, or else the highest IoU with a mark of the other side, whatever its score; 0 for none."""
    area: npt.NDArray[np.float32]
    """Square pixels; NaN if it is not known."""
    error: npt.NDArray[np.uint8]
    """Position in ERROR_KINDS, or their number for none."""
    partner: npt.NDArray[np.int32]
    """Row of the mark on the other side that it matches; -1 for none."""

    def __len__(self) -> int:
        return len(self.kind)


class Marks:
    """The marks of a model at thresholds. Rows are those of the objects and the detections of its match table."""

    def __init__(self, collection: Collection, model: Model, at_iou: float, at_score: float) -> None:
        """Make the columns. The model is the collection's scene if there are no models."""
        self.collection, self.model = collection, model
        self.level: Level = model.level(at_iou)
        self.at_iou, self.at_score = self.level.iou_threshold, at_score

    @cached_property
    def objects(self) -> Side:
        """(G,) the objects."""
        level, rows = self.level, self.model.table.objects
        found = level.score >= self.at_score
        kind = np.where(found, np.uint8(DETECTED), np.uint8(MISSED))
        kind[level.ignored] = IGNORED_OBJECT
        if not self.collection.models:
            kind[~level.ignored] = DETECTED
        error = np.where(level.missed, np.uint8(_MISSED_ERROR), np.uint8(NO_ERROR))
        if not self.collection.models:
            error[:] = NO_ERROR
        partner = level.finder.copy()
        matched = partner >= 0
        partner[matched] = np.where(
            self.model.table.detections.score[partner[matched]] >= self.at_score, partner[matched], -1
        )
        return Side(
            True,
            rows.image,
            rows.category,
            kind,
            np.where(found, level.score, np.nan),
            np.where(partner >= 0, level.object_iou, self.model.overlaps.of_object),
            self.collection.areas,
            error,
            partner,
        )

    @cached_property
    def detections(self) -> Side:
        """(N,) the detections."""
        level, rows = self.level, self.model.table.detections
        kind = np.where(rows.score >= self.at_score, level.kind, np.uint8(NOT_COUNTED))
        return Side(
            False,
            rows.image,
            rows.category,
            kind,
            rows.score,
            level.iou,
            self.model.areas,
            level.error,
            level.partner,
        )

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


def marks(collection: Collection, model: Model, at_iou: float | None = None, at_score: float | None = None) -> Marks:
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
    known: dict[tuple[float, float], Marks] = vars(model).setdefault("_marks", {})
    found = known.pop((iou, score), None)
    if found is None:
        found = Marks(collection, model, iou, score)
        for oldest in list(known)[: max(0, len(known) - _KEPT + 1)]:
            known.pop(oldest, None)
    known[iou, score] = found
    return found
