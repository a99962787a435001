"""Assignment by thresholds on an overlap, one object at a time, whichever overlap it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from ioukit.assign._inputs import finished
from ioukit.assign._pairs import best_of_each, object_blocks
from ioukit.assign.assignment import Candidates, Outcome
from ioukit.overlap import pairwise_ioa

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from ioukit.assign.assignment import Assignment
    from ioukit.typing import FloatArray

__all__ = ["LowQuality", "Thresholds", "covered", "match_rows"]

LowQuality: TypeAlias = Literal["none", "mmdet", "detectron2"]
"""Whether an object that reaches no threshold still gets the predictions that overlap it most, and by whose rule."""

# Candidates kept of one object: a tiny object has the same IoU with hundreds of predictions around it.
_KEPT = 64


@dataclass(frozen=True)
class Thresholds:
    """From which overlap a prediction learns an object, and within which it learns that there is none."""

    positive: float
    low: float | None
    """Where the background begins; None for a single threshold, below which all is background."""
    high: float
    strict: bool
    """Whether a prediction at a threshold falls on its lower side."""

    @staticmethod
    def of(positive: float, negative: float | tuple[float, float], *, strict: bool = False) -> Thresholds:
        """Checked."""
        low, high = (None, negative) if isinstance(negative, (int, float)) else negative
        if not 0 <= positive <= 1:
            raise ValueError(f"positive must be within [0, 1], got {positive}")
        if not 0 <= (low or 0) <= high <= positive:
            raise ValueError(
                f"negative must be a threshold, or an interval (low, high), within [0, positive], got {negative!r} "
                f"with positive={positive}"
            )
        return Thresholds(float(positive), None if low is None else float(low), float(high), strict)

    def reached(self, overlap: FloatArray) -> NDArray[np.bool_]:
        """Where the overlap is positive; never where there is none."""
        enough: NDArray[np.bool_] = overlap > self.positive if self.strict else overlap >= self.positive
        return enough & (overlap > 0)

    def background(self, overlap: FloatArray) -> NDArray[np.bool_]:
        """Where the overlap says that there is no object; never where it is negative, which marks the ignored."""
        under = overlap <= self.high if self.strict else overlap < self.high
        if self.low is None:
            return under & (overlap >= 0)
        return under & (overlap > self.low if self.strict else overlap >= self.low)


def covered(
    boxes: FloatArray, regions: FloatArray, threshold: float, of: Literal["first", "second"] = "second"
) -> NDArray[np.bool_]:
    """(P,) whether more than a part of an area lies in the intersection with a region.

    ``of="second"`` means the area of the box, ``of="first"`` that of the region.
    """
    found = np.zeros(len(boxes), bool)
    for block in object_blocks(len(regions), len(boxes)):
        found |= (pairwise_ioa(regions[block], boxes, of=of, check=False) > threshold).any(axis=0)
    return found


def match_rows(
    like: object,
    rows: Iterable[FloatArray],
    count: int,
    objects: int,
    dtype: np.dtype[Any],
    *,
    rule: str,
    thresholds: Thresholds,
    low_quality: LowQuality,
    least: float,
    every_tie: bool,
    ignored: NDArray[np.bool_] | None = None,
    eligible: NDArray[np.bool_] | None = None,
) -> Assignment:
    """The rule itself, from the overlaps of one object after the other with all predictions."""
    if low_quality not in get_args(LowQuality):
        raise ValueError(f"unknown low_quality {low_quality!r}; choose from {', '.join(get_args(LowQuality))}")
    best = np.full(count, -1, dtype)  # over all predictions, which decides on the background
    able, target = np.full(count, -1, dtype), np.full(count, -1, np.int64)  # over those that may learn
    forced = np.full(count, -1, np.int64)
    tops = np.zeros(objects, dtype)
    # -1 stands for what may not be assigned, and is no overlap; an unlabelled row of zeros makes nothing positive.
    kept = _Kept(dtype)
    for gt, given in enumerate(rows):
        overlaps = given if ignored is None else np.where(ignored, dtype.type(-1), given)
        np.maximum(best, overlaps, out=best)
        row = overlaps if eligible is None else np.where(eligible, overlaps, dtype.type(-1))
        np.copyto(target, gt, where=row > able)
        np.maximum(able, row, out=able)
        top = row.max(initial=-1)
        tops[gt] = max(top, 0)
        reached = thresholds.reached(row)
        if low_quality != "none" and top > 0 and (top > least if thresholds.strict else top >= least):
            ties = np.flatnonzero(row == top)
            forced[ties if every_tie or low_quality == "detectron2" else ties[:1]] = gt
            reached[ties] = True
        kept.add(gt, row, np.flatnonzero(reached))

    taken = thresholds.reached(able)
    if low_quality == "detectron2":
        taken |= forced >= 0
    target[~taken] = -1
    overlap = np.where(taken, able, dtype.type(np.nan))
    if low_quality == "mmdet":
        target = np.where(forced >= 0, forced, target)
        overlap = np.where(forced >= 0, tops[forced] if objects else overlap, overlap)
    background = thresholds.background(best)
    if not objects:
        background = np.ones(count, bool) if ignored is None else ~ignored
    facts = {"best": tops, "threshold": np.full(objects, thresholds.positive)}
    return finished(
        like, rule=rule, objects=objects, target=target, candidates=kept.candidates(target), overlap=overlap,
        ignore=(target < 0) & ~background, facts=facts,
    )  # fmt: skip


class _Kept:
    """The pairs that are remembered."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.objects, self.columns = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        self.values = [np.empty(0, dtype)]

    def add(self, gt: int, row: FloatArray, columns: NDArray[np.int64]) -> None:
        if len(columns) > _KEPT:
            columns = columns[best_of_each(np.zeros(len(columns), np.int64), columns, row[columns], _KEPT)]
        self.objects.append(np.full(len(columns), gt))
        self.columns.append(columns)
        self.values.append(row[columns])

    def candidates(self, target: NDArray[np.int64]) -> Candidates:
        objects, columns, values = map(np.concatenate, (self.objects, self.columns, self.values))
        outcome = np.where(target[columns] == objects, Outcome.ASSIGNED, Outcome.STOLEN).astype(np.uint8)
        outcome[target[columns] < 0] = Outcome.BELOW
        return Candidates(objects, columns, values, values.copy(), outcome)
