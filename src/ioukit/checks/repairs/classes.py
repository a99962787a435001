"""Repairs of classes: other ids, and two ids that mean one class."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from ioukit.checks.diagnosis.data_sets import mapped, other_ids
from ioukit.checks.repairs.repair import replaced

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ioukit.checks.repairs.repair import Data, Repair

__all__ = ["mapping_of", "mapping_text", "merged", "with_other_ids"]


def mapping_of(text: str) -> dict[int, int]:
    """The mapping of a text such as ``"3>5,5>3"``.

    Raises:
        ValueError: If it is no such text, or names an id twice.
    """
    pairs = [item.split(">") for item in text.split(",")]
    mapping = {int(old): int(new) for old, new in pairs}
    if len(mapping) < len(pairs):
        raise ValueError(text)
    return mapping


def mapping_text(mapping: Mapping[int, int]) -> str:
    """The text of a mapping, which `mapping_of` reads."""
    return ",".join(f"{old}>{new}" for old, new in sorted(mapping.items()))


def with_other_ids(data: Data, repair: Repair) -> Data:
    """Gives detections the class ids of the ground truth."""
    side = data.of("detections")
    rows = repair.rows(side.image_labels())
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
