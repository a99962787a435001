"""Repairs of classes: other ids, and two ids that mean one class."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from ioukit.checks.class_ids import mapped, mapping_of, other_ids
from ioukit.checks.repairs.repair import replaced

if TYPE_CHECKING:
    from ioukit.checks.repairs.repair import Data, Repair


def with_other_ids(data: Data, repair: Repair) -> Data:
    """Gives detections the class ids of the ground truth."""
    side = data.of("detections")
    rows = repair.rows(side)
    try:
        if ">" in repair.value:
            ids = mapped(side.category_ids, mapping_of(repair.value))
        else:
            ids = other_ids(side.category_ids, repair.value, data.ground_truth.categories.ids)
    except ValueError:
        raise repair.wrong_value() from None
    return data.with_side(replaced(side, category_ids=np.where(rows, ids, side.category_ids)))


def merged(data: Data, repair: Repair) -> Data:
    """Makes one class of two, in the ground truth, its list of classes and the detections."""
    try:
        mapping = mapping_of(repair.value)
    except ValueError:
        raise repair.wrong_value() from None
    gt, dt = data
    kept = ~np.isin(gt.categories.ids, [old for old, new in mapping.items() if new != old])
    gt = dataclasses.replace(gt, category_ids=mapped(gt.category_ids, mapping), categories=gt.categories.take(kept))
    if not np.isin(gt.category_ids, gt.categories.ids).all():
        raise ValueError(f"repair {str(repair)!r} leads to a class that the ground truth does not list")
    return data._replace(
        ground_truth=gt,
        detections=None if dt is None else dataclasses.replace(dt, category_ids=mapped(dt.category_ids, mapping)),
    )
