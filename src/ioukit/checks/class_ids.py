"""Class ids that follow another convention than those of the ground truth: which ones are tried, and what they give.

The conventions are those that detectors and data sets mix up: ids that count from 0 or 1, positions in the list of
classes, and COCO's 80 or 91. Which one fits is decided by those that ask: `ioukit.checks.diagnose`, and a rule of
`ioukit.checks.check`, which also tries a mapping of single ids.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from ioukit._array_types import Ids
from ioukit._columns import positions_in

if TYPE_CHECKING:
    from collections.abc import Mapping


# The ids of COCO's 80 classes; eleven of 1 to 91 were never used.
COCO_91 = np.setdiff1d(np.arange(1, 92), [12, 26, 29, 30, 45, 66, 68, 69, 71, 83, 91])
"""(80,) COCO's ids of its classes, ascending."""

MOST_SHIFTS = 5  # a choice: shifts of 1 are the usual ones, and rarer differences are confusions of classes


def conventions(differences: Ids) -> list[str]:
    """Conventions of class ids to try, for `other_ids`.

    Args:
        differences: (P,) id of the object minus that of the detection, of pairs that overlap.
    """
    values, times = np.unique(differences, return_counts=True)
    frequent = values[np.argsort(-times, kind="stable")][:MOST_SHIFTS]
    shifts = (f"{shift:+d}" for shift in frequent.tolist() if shift)
    return [*shifts, "positions0", "positions1", "earlier", "later", "80to91", "91to80"]


def other_ids(ids: Ids, how: str, known: Ids) -> Ids:
    """(N,) ids of the ground truth's classes, for ids that follow another convention.

    Args:
        ids: (N,) the ids of the detections.
        how: ``"+N"`` or ``"-N"``; ``"positions0"`` or ``"positions1"``: positions in the list of classes, counted from
            0 or 1; ``"earlier"`` or ``"later"``: the class before or after the one that has the id, where the id above
            the last one is behind the list; ``"80to91"``: 1 to 80 for COCO's 1 to 90; ``"91to80"``: COCO's 1 to 90 for
            1 to 80, or for 0 to 79 if the ground truth has a class 0. Ids without a counterpart stay.
        known: (K,) ids of the ground truth's classes, ascending.

    Raises:
        ValueError: If ``how`` is none of these.
    """
    if how in ("positions0", "positions1"):
        first = int(how[-1])
        return mapped(ids, {place + first: number for place, number in enumerate(known.tolist())})
    if how in ("earlier", "later"):
        listed = known.tolist()
        after = dict(itertools.pairwise(listed))
        before = {new: old for old, new in itertools.pairwise([*listed, *(known[-1:] + 1).tolist()])}
        return mapped(ids, before if how == "earlier" else after)
    if how == "80to91":
        return mapped(ids, {place + 1: number for place, number in enumerate(COCO_91.tolist())})
    if how == "91to80":
        first = 0 if 0 in known else 1
        return mapped(ids, {number: place + first for place, number in enumerate(COCO_91.tolist())})
    if how[:1] not in ("+", "-") or not how[1:].isdecimal():
        raise ValueError
    return ids + int(how)


def in_words(how: str) -> str:
    """A convention of class ids in words, behind "if"."""
    if how[0] in "+-":
        return f"{int(how)} is added to all category ids"
    return {
        "positions0": "the ids are positions in the list of categories, counted from 0",
        "positions1": "the ids are positions in the list of categories, counted from 1",
        "earlier": "each id stands for the class before it in the list of categories",
        "later": "each id stands for the class after it in the list of categories",
        "80to91": "the ids 1 to 80 stand for COCO's 1 to 90",
        "91to80": "COCO's ids 1 to 90 stand for the categories in order",
    }[how]


def mapped(ids: Ids, mapping: Mapping[int, int]) -> Ids:
    """(N,) the ids after a mapping; ids that it lacks stay."""
    if not mapping or not len(ids):
        return ids
    old = np.array(sorted(mapping), np.int64)
    new = np.array([mapping[number] for number in old.tolist()], np.int64)
    places = positions_in(old, ids)
    return np.where(places >= 0, new[places], ids)


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
