"""Max-IoU assignment (Faster R-CNN, RetinaNet): each prediction goes to the object with the highest IoU.

`assign_overlaps` does the same with any overlaps, and `assign_grid` with the responsible cells alone. All three go
through `_match_rows`, one object at a time, so no table of all pairs is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from ioukit._checks import check_choice
from ioukit.assign._inputs import boxes_of, finished, floats_of, pair_of_sets
from ioukit.assign._pairs import best_of_each, find_covered, object_blocks
from ioukit.assign.assignment import Candidates, Outcome
from ioukit.overlap import pairwise_iou

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from ioukit.assign.assignment import Assignment
    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat, FloatArray


LowQuality: TypeAlias = Literal["none", "mmdet", "detectron2"]
"""Whether an object always gets the predictions that overlap it most, even below the threshold, and by whose rule."""

# The candidates that are kept per object. A tiny object has the same IoU with hundreds of predictions around it.
_KEPT = 64


def assign_max_iou(
    predictions: BoxesLike,
    objects: BoxesLike,
    *,
    positive: float = 0.5,
    negative: float | tuple[float, float] = 0.4,
    low_quality: LowQuality = "none",
    min_positive_iou: float = 0.0,
    every_tie: bool = True,
    ignore_regions: BoxesLike | None = None,
    ignore_ioa: float = 0.5,
    ignore_of: Literal["predictions", "regions"] = "predictions",
    format: BoxFormat | None = None,
    check: bool = True,
) -> Assignment:
    """Assigns each prediction, usually an anchor, to the object with which it has the highest IoU.

    A prediction is positive if this IoU is **at or above** ``positive``, background if it is **below** ``negative``,
    and ignored in between. Of objects with equal IoU the first wins.

    ``low_quality`` gives predictions also to an object whose best IoU is below ``positive``. With ``"mmdet"`` the
    objects are visited in order. Each takes the predictions that have its best IoU, even those that another object has.
    A later object may so take the only predictions of an earlier one. With ``"detectron2"`` the same predictions become
    positive, but each stays with the object of its highest IoU. In both, an object without any overlap gets nothing.
    The originals give it every prediction of IoU 0, which is all of them.

    Args:
        predictions: (P, 4), xyxy by default: `Boxes` or an array.
        objects: (G, 4) in the same unit; G may be 0.
        positive: Within [0, 1].
        negative: A threshold, or an interval ``(low, high)``, which makes ``low <= IoU < high`` background.
        low_quality: ``"none"``, ``"mmdet"`` or ``"detectron2"``.
        min_positive_iou: For ``low_quality``, the smallest best IoU of an object that takes predictions.
        every_tie: For ``"mmdet"``, whether an object takes all predictions that share its best IoU, or only the first.
        ignore_regions: (R, 4) regions such as crowds.
        ignore_ioa: A prediction is ignored if its IoA with a region is **above** this.
        ignore_of: Whose area divides in this IoA: ``"predictions"`` or ``"regions"``.
        format: The format of plain arrays: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``. `Boxes` have their
            own.
        check: Whether plain arrays are checked.

    Returns:
        The assignment. Its ``candidates`` are the pairs that reach ``positive`` or have the best IoU of their object,
        at most 64 per object.

    Raises:
        ValueError: If thresholds contradict each other, or boxes are not valid.
        TypeError: If an argument has the wrong type.

    Examples:
        >>> from ioukit.assign import assign_max_iou
        >>> anchors = [[0, 0, 10, 10], [10, 10, 20, 20], [5, 5, 15, 15], [32, 32, 38, 42]]
        >>> result = assign_max_iou(anchors, [[0, 0, 10, 9], [0, 10, 10, 19]], low_quality="mmdet")
        >>> result.target
        array([ 0, -1,  1, -1])

    Reference: Ren et al., Faster R-CNN, NeurIPS 2015, arXiv:1506.01497; the low-quality rules are those of
    MMDetection's MaxIoUAssigner and Detectron2's Matcher.
    """
    thresholds = _Thresholds.of(positive, negative)
    first, second = pair_of_sets(predictions, objects, format, check, ("predictions", "objects"))
    ignored = None
    if ignore_regions is not None:
        check_choice("ignore_of", ignore_of, ("predictions", "regions"))
        regions = boxes_of(ignore_regions, format, "ignore_regions", check).astype(first.dtype)
        ignored = find_covered(first, regions, ignore_ioa, of="second" if ignore_of == "predictions" else "first")
    return _match_rows(
        predictions, _iou_rows(second, first), len(first), len(second), first.dtype, rule="assign_max_iou",
        thresholds=thresholds, low_quality=low_quality, least=min_positive_iou, every_tie=every_tie, ignored=ignored,
    )  # fmt: skip


def assign_overlaps(
    overlaps: Array,
    *,
    positive: float = 0.5,
    negative: float | tuple[float, float] = 0.4,
    low_quality: LowQuality = "none",
    min_positive_iou: float = 0.0,
    every_tie: bool = True,
) -> Assignment:
    """`assign_max_iou` for overlaps that are computed already: of masks, of rotated boxes, or by any other measure.

    Args:
        overlaps: (G, P), the overlap of each object with each prediction, within [0, 1].
        positive: As in `assign_max_iou`.
        negative: As in `assign_max_iou`.
        low_quality: As in `assign_max_iou`.
        min_positive_iou: As in `assign_max_iou`.
        every_tie: As in `assign_max_iou`.

    Returns:
        The assignment.

    Raises:
        ValueError: If an overlap is not within [0, 1], or thresholds contradict each other.

    Examples:
        >>> from ioukit.assign import assign_overlaps
        >>> assign_overlaps([[0.6, 0.3], [0.7, 0.2]], low_quality="detectron2").target
        array([ 1, -1])
    """
    table = floats_of(overlaps, "overlaps", (None, None))
    if table.size and not (table.min() >= 0 and table.max() <= 1):
        raise ValueError(f"overlaps must be within [0, 1], got {table.min():g} to {table.max():g}")
    objects, count = table.shape
    return _match_rows(
        overlaps, table, count, objects, table.dtype, rule="assign_overlaps",
        thresholds=_Thresholds.of(positive, negative), low_quality=low_quality, least=min_positive_iou,
        every_tie=every_tie,
    )  # fmt: skip


def assign_grid(
    predictions: BoxesLike,
    objects: BoxesLike,
    responsible: Array,
    *,
    positive: float = 0.5,
    negative: float | tuple[float, float] = 0.5,
    min_positive_iou: float = 0.0,
    every_tie: bool = True,
    format: BoxFormat | None = None,
    check: bool = True,
) -> Assignment:
    """Assigns by the highest IoU among the anchors of cells that hold a centre: the rule of MMDetection's YOLOv3.

    Unlike in `assign_max_iou`, a prediction exactly at a threshold counts as below it: IoU **above** ``positive`` is
    positive, and IoU **at or below** ``negative`` is background. Afterwards each object takes the responsible
    predictions that have its best IoU.

    Args:
        predictions: (P, 4), xyxy by default: `Boxes` or an array.
        objects: (G, 4) in the same unit.
        responsible: (P,) bools, true where the cell of the prediction holds the centre of an object.
        positive: Within [0, 1].
        negative: A threshold, or an interval ``(low, high)``, which makes ``low < IoU <= high`` background.
        min_positive_iou: An object takes predictions only if its best responsible IoU is above this.
        every_tie: Whether an object takes all responsible predictions that share its best IoU, or only the first.
        format: The format of plain arrays: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``. `Boxes` have their
            own.
        check: Whether plain arrays are checked.

    Returns:
        The assignment.

    Raises:
        ValueError: If shapes do not fit, thresholds contradict each other, or a box is not valid.
    """
    first, second = pair_of_sets(predictions, objects, format, check, ("predictions", "objects"))
    flags = floats_of(responsible, "responsible", (None,)) != 0
    if len(flags) != len(first):
        raise ValueError(f"responsible must have shape ({len(first)},), one per prediction, got {flags.shape}")
    return _match_rows(
        predictions, _iou_rows(second, first), len(first), len(second), first.dtype, rule="assign_grid",
        thresholds=_Thresholds.of(positive, negative, strict=True), low_quality="mmdet", least=min_positive_iou,
        every_tie=every_tie, eligible=flags,
    )  # fmt: skip


def _iou_rows(objects: FloatArray, predictions: FloatArray) -> Iterator[FloatArray]:
    for block in object_blocks(len(objects), len(predictions)):
        yield from pairwise_iou(objects[block], predictions, check=False)


@dataclass(frozen=True)
class _Thresholds:
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
    def of(positive: float, negative: float | tuple[float, float], *, strict: bool = False) -> _Thresholds:
        """The thresholds of these arguments, which are checked."""
        low, high = (None, negative) if isinstance(negative, (int, float)) else negative
        if not 0 <= positive <= 1:
            raise ValueError(f"positive must be within [0, 1], got {positive}")
        if not 0 <= (low or 0) <= high <= positive:
            raise ValueError(
                f"negative must be a threshold, or an interval (low, high), within [0, positive], got {negative!r} "
                f"with positive={positive}"
            )
        return _Thresholds(float(positive), None if low is None else float(low), float(high), strict)

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


def _match_rows(
    like: object,
    rows: Iterable[FloatArray],
    count: int,
    objects: int,
    dtype: np.dtype[Any],
    *,
    rule: str,
    thresholds: _Thresholds,
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
