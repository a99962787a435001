"""Repairs of classes: other ids, and two ids that mean one class."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from ioukit.preflight.repairs.repair import replaced

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ioukit.preflight.repairs.repair import Data, Repair

    Ids = NDArray[np.int64]

__all__ = ["COCO_91", "mapped", "mapping_text", "merged", "other_ids", "with_other_ids"]

# The ids of COCO's 80 classes; eleven of 1 to 91 were never used.
_UNUSED = {12, 26, 29, 30, 45, 66, 68, 69, 71, 83, 91}
COCO_91 = np.array([number for number in range(1, 91) if number not in _UNUSED])
"""(80,) COCO's ids of its classes, ascending."""


def mapped(ids: Ids, mapping: Mapping[int, int]) -> Ids:
    """(N,) the ids after a mapping; ids that it lacks stay."""
    if not mapping or not len(ids):
        return ids
    old = np.array(sorted(mapping), np.int64)
    new = np.array([mapping[number] for number in old.tolist()], np.int64)
    places = np.minimum(np.searchsorted(old, ids), len(old) - 1)
    return np.where(old[places] == ids, new[places], ids)


def other_ids(ids: Ids, how: str, known: Ids) -> Ids:
    """(N,) ids of the ground truth's classes, for ids that follow another convention.

    Args:
        ids: (N,) the ids of the detections.
        how: ``"+N"`` or ``"-N"``; ``"positions0"`` or ``"positions1"``: positions in the list of classes, counted from
            0 or 1; ``"80to91"``: 1 to 80 for COCO's 1 to 90; ``"91to80"``: COCO's 1 to 90 for 1 to 80, or for 0 to 79
            if the ground truth has a class 0. Or a mapping ``"3>5,5>3"``. Ids without a counterpart stay.
        known: (K,) ids of the ground truth's classes, ascending.

    Raises:
        ValueError: If ``how`` is none of these.
    """
    if how in ("positions0", "positions1"):
        first = int(how[-1])
        return mapped(ids, {place + first: number for place, number in enumerate(known.tolist())})
    if how == "80to91":
        return mapped(ids, {place + 1: number for place, number in enumerate(COCO_91.tolist())})
    if how == "91to80":
        first = 0 if 0 in known else 1
        return mapped(ids, {number: place + first for place, number in enumerate(COCO_91.tolist())})
    if ">" in how:
        return mapped(ids, mapping_of(how))
    if how[:1] not in ("+", "-") or not how[1:].isdecimal():
        raise ValueError
    return ids + int(how)


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
