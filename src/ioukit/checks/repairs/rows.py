"""Repairs of rows: repeated ones, missing suppression, scores that are no confidences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit.checks.diagnosis.data_sets import first_of_each
from ioukit.checks.repairs.boxes import numbers_of
from ioukit.checks.repairs.repair import replaced
from ioukit.datasets import Detections

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.checks.repairs.repair import Data, Repair


def without_duplicates(data: Data, repair: Repair) -> Data:
    """Leaves out rows that repeat an earlier one."""
    side = data.of(repair.side)
    return data.with_side(side.take(first_of_each(side)))


def surviving(dt: Detections, iou_threshold: float) -> NDArray[np.bool_]:
    """(N,) which detections NMS keeps, image by image and class by class.

    It also keeps boxes with a negative side, which suppress nothing: a repair that is only tried can make some.
    """
    from ioukit.postprocess import nms  # noqa: PLC0415 - for those who ask for NMS
    from ioukit.regions import Boxes  # noqa: PLC0415

    boxes = np.flatnonzero((dt.boxes[:, 2:] >= 0).all(axis=1))
    kept = np.ones(len(dt), np.bool_)
    if len(boxes):
        keys = np.stack([dt.image_ids[boxes], dt.category_ids[boxes]], axis=1)
        groups = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
        rows = nms(Boxes(dt.boxes[boxes], "xywh"), dt.scores[boxes], iou_threshold=iou_threshold, labels=groups)
        kept[boxes] = False
        kept[boxes[np.asarray(rows)]] = True
    return kept


def suppressed(data: Data, repair: Repair) -> Data:
    """Removes detections by NMS with an IoU threshold."""
    (threshold,) = numbers_of(repair, 1)
    if not 0 < threshold < 1:
        raise repair.wrong_value()
    side = data.of("detections")
    assert isinstance(side, Detections)
    return data.with_side(side.take(surviving(side, threshold)))


def with_other_scores(data: Data, repair: Repair) -> Data:
    """Makes confidences of percent, logits or costs."""
    side = data.of("detections")
    assert isinstance(side, Detections)
    rows = repair.rows(side)
    if repair.value == "percent":
        scores = side.scores / 100
    elif repair.value == "logits":
        small = np.exp(-np.abs(side.scores))
        scores = np.where(side.scores >= 0, 1 / (1 + small), small / (1 + small))
    elif repair.value == "negated":
        scores = -side.scores
    else:
        raise repair.wrong_value()
    return data.with_side(replaced(side, scores=np.where(rows, scores, side.scores)))
