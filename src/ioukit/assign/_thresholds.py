"""Assignment by thresholds on any overlap, one object at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from ioukit._checks import check_choice
from ioukit.assign._inputs import finished
from ioukit.assign._pairs import best_of_each, object_blocks
from ioukit.assign.candidates import Candidates, Outcome
from ioukit.overlap import pairwise_ioa

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from ioukit.assign.assignment import Assignment
    from ioukit.typing import FloatArray

__all__ = ["LowQuality", "Thresholds", "covered", "match_rows"]

LowQuality: TypeAlias = Literal["none", "mmdet", "detectron2"]
"""Whether an object always gets the predictions that overlap it most, even below the threshold, and by whose rule."""

# The candidates that are kept per object. A tiny object has the same IoU with hundreds of predictions around it.
_KEPT = 64


@dataclass(frozen=True)
class Thresholds:
    """At which overlaps a prediction is positive, and at which it is background."""

    positive: float
    """The overlap at which a prediction becomes positive."""
    low: float | None
    """The lower end of the background; None for 0."""
    high: float
    """The upper end of the background."""
    strict: bool
    """Whether a prediction exactly at a threshold counts as below it."""

    @staticmethod
    def of(positive: float, negative: float | tuple[float, float], *, strict: bool = False) -> Thresholds:
        """The thresholds of these arguments, which are checked."""
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
        """True where the overlap makes a prediction positive; never at an overlap of 0."""
        enough: NDArray[np.bool_] = overlap > self.positive if self.strict else overlap >= self.positive
        return enough & (overlap > 0)

    def background(self, overlap: FloatArray) -> NDArray[np.bool_]:
        """True where the overlap makes a prediction background; never at -1, which marks an ignored prediction."""
        under = overlap <= self.high if self.strict else overlap < self.high
        if self.low is None:
            return under & (overlap >= 0)
        return under & (overlap > self.low if self.strict else overlap >= self.low)


def covered(
    boxes: FloatArray, regions: FloatArray, threshold: float, of: Literal["first", "second"] = "second"
) -> NDArray[np.bool_]:
    """(P,) true for the boxes whose IoA with a region is above the threshold.

    The area that divides is that of the box with ``of="second"``, and that of the region with ``of="first"``.
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
    """The assignment by the overlaps of each object, row by row, with all predictions."""
    check_choice("low_quality", low_quality, get_args(LowQuality))
    # -1 stands for a pair that may not be assigned: it is less than every overlap.
    best = np.full(count, -1, dtype)  # of all pairs; it decides what is background
    able, target = np.full(count, -1, dtype), np.full(count, -1, np.int64)  # of the pairs that may be assigned
    forced = np.full(count, -1, np.int64)
    tops = np.zeros(objects, dtype)
    kept = _Kept(dtype)
    barred = np.empty(0, np.int64)
    if ignored is not None or eligible is not None:
        barred = np.flatnonzero((False if ignored is None else ignored) | (False if eligible is None else ~eligible))
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
        if len(barred) and (most := (taken_out := given.take(barred)).max()) > 0:
            if thresholds.reached(most):
                kept.add(gt, given, barred[thresholds.reached(taken_out)])
            elif most >= top:  # the best of all, of which `explain` tells why the object may not have it
                kept.add(gt, given, barred[taken_out == most])

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
        like, rule=rule, objects=objects, target=target, overlap=overlap,
        candidates=kept.candidates(target, ignored, eligible),
        ignore=(target < 0) & ~background, facts=facts,
    )  # fmt: skip


class _Kept:
    """Collects the pairs that become candidates."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.objects, self.columns = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        self.values = [np.empty(0, dtype)]

    def add(self, gt: int, row: FloatArray, columns: NDArray[np.int64]) -> None:
        if len(columns) > _KEPT:
            columns = columns[best_of_each(np.zeros(len(columns), np.int64), columns, row[columns], _KEPT)]
        self.objects.append(np.full(len(columns), gt))
        self.columns.append(columns)
        self.values.append(row[columns])

    def candidates(
        self, target: NDArray[np.int64], ignored: NDArray[np.bool_] | None, eligible: NDArray[np.bool_] | None
    ) -> Candidates:
        objects, columns, values = map(np.concatenate, (self.objects, self.columns, self.values))
        outcome = np.where(target[columns] == objects, Outcome.ASSIGNED, Outcome.STOLEN).astype(np.uint8)
        outcome[target[columns] < 0] = Outcome.BELOW
        if eligible is not None:
            outcome[~eligible[columns]] = Outcome.OUTSIDE
        if ignored is not None:
            outcome[ignored[columns]] = Outcome.IGNORED
        return Candidates(objects, columns, values, values.copy(), outcome)
