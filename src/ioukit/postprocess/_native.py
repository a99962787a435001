"""Suppression on the host: upright boxes by the native engine, other regions by the pairs of a join."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ioukit import _core
from ioukit.overlap.join import overlap_join
from ioukit.postprocess._columns import refuse_nan
from ioukit.postprocess._groups import groups
from ioukit.postprocess._rule import Rule, least_reaching
from ioukit.postprocess.suppression import Suppression

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.regions.regions import Regions
    from ioukit.typing import FloatArray

    Keep = NDArray[np.int64]

__all__ = ["Cut", "Sets", "explained", "limited", "of_boxes", "of_regions"]


class Cut(NamedTuple):
    """What removes boxes beside overlaps: a score below ``least``, and ``max_keep`` better boxes."""

    least: float | None
    max_keep: int | None


class Sets(NamedTuple):
    """Boxes on the host: corners and scores, in float32 or float64, contiguous, and what tells boxes apart."""

    boxes: FloatArray
    scores: FloatArray
    labels: NDArray[np.int64] | None
    batch: NDArray[np.int64] | None
    dtype: np.dtype[Any] | Literal["bfloat16"]
    """The dtype that overlaps are rounded to before they are compared."""


def of_boxes(sets: Sets, rule: Rule, cut: Cut, threads: int) -> Keep:
    """The positions that survive."""
    low = least_reaching(rule, sets.dtype)
    codes = groups(sets.labels, sets.batch)
    keep = _core.nms_survivors(rule.measure.variant, low, sets.boxes, sets.scores, codes, cut.least, threads)
    if isinstance(keep, int):
        refuse_nan(keep)
    return keep if cut.max_keep is None else limited(keep, sets.batch, cut.max_keep)


def limited(keep: Keep, batch: NDArray[np.int64] | None, max_keep: int) -> Keep:
    """The first ``max_keep`` of every image."""
    if batch is None or len(keep) <= max_keep:
        return keep[:max_keep]
    images = batch[keep]
    order = np.argsort(images, kind="stable")
    sorted_images = images[order]
    place = np.arange(len(keep)) - np.searchsorted(sorted_images, sorted_images)
    within = np.empty(len(keep), bool)
    within[order] = place < max_keep
    return keep[within]


def explained(sets: Sets, rule: Rule, cut: Cut, keep: Keep, threads: int) -> Suppression:
    """Why the others did not survive."""
    others = _candidates(sets.scores, cut.least)
    others[keep] = False
    rows = np.flatnonzero(others)
    low, codes = least_reaching(rule, sets.dtype), groups(sets.labels, sets.batch)
    of_kept, of_others = (None, None) if codes is None else (codes[keep], codes[rows])
    first, values = _core.nms_first_suppressors(
        rule.measure.variant, low, sets.boxes[keep], of_kept, sets.boxes[rows], of_others, threads
    )
    if isinstance(sets.dtype, np.dtype):
        values = values.astype(sets.dtype, copy=False)
    return _suppression(sets.scores, rule, keep, rows, first, values)


def of_regions(
    regions: Regions,
    scores: FloatArray,
    labels: NDArray[np.int64] | None,
    batch: NDArray[np.int64] | None,
    rule: Rule,
    cut: Cut,
    threads: int | None,
) -> Suppression:
    """The same for regions of any kind, whose overlaps are computed in float64."""
    candidates = _candidates(scores, cut.least)
    order = np.flatnonzero(candidates)[np.argsort(-scores[candidates], kind="stable")]
    low, codes = least_reaching(rule, np.dtype(np.float64)), groups(labels, batch)
    removed_by, values = np.full(len(order), -1), np.full(len(order), math.nan)
    if low <= 1 and len(order):
        sorted_codes = None if codes is None else codes[order]
        of: Any = None if rule.metric != "ioa" else rule.measure.variant.removeprefix("ioa_")
        try:
            pairs = overlap_join(
                regions[order], min_iou=low, metric=rule.metric, of=of, labels1=sorted_codes, threads=threads
            )
        except ValueError as error:
            raise ValueError(_by_input(str(error), order)) from None
        alive = _core.nms_of_pairs(len(order), pairs.rows, pairs.columns) < 0
        keep = order[alive]
        if cut.max_keep is not None:
            kept = np.zeros(len(scores), bool)
            kept[limited(keep, batch, cut.max_keep)] = True
            alive = kept[order]
        # The first pair of a column whose row was kept: the rows ascend.
        of_kept = alive[pairs.rows] & ~alive[pairs.columns]
        columns, first = np.unique(pairs.columns[of_kept], return_index=True)
        removed_by[columns], values[columns] = pairs.rows[of_kept][first], pairs.values[of_kept][first]
        keep = order[alive]
    else:
        keep = order if cut.max_keep is None else limited(order, batch, cut.max_keep)
    ranks = np.full(len(scores), -1)
    ranks[keep] = np.arange(len(keep))
    first = np.where(removed_by < 0, -1, ranks[order[removed_by]])
    others = ranks[order] < 0
    return _suppression(scores, rule, keep, order[others], first[others], values[others])


def _by_input(message: str, order: Keep) -> str:
    """An error about a region by its position in the input, where the join saw it in the order of scores."""
    return re.sub(r"^boxes[12]\[(\d+)\]", lambda found: f"boxes[{order[int(found[1])]}]", message)


def _candidates(scores: FloatArray, least: float | None) -> NDArray[np.bool_]:
    return np.ones(len(scores), bool) if least is None else scores >= scores.dtype.type(least)


def _suppression(
    scores: FloatArray, rule: Rule, keep: Keep, rows: Keep, first: Keep, values: FloatArray
) -> Suppression:
    """From ``first``, positions in ``keep`` or -1, of the boxes in ``rows``."""
    count = len(scores)
    by, overlap = np.full(count, -1), np.full(count, math.nan, values.dtype)
    reason = np.full(count, "score", "<U8")
    found = first >= 0
    by[rows[found]] = keep[first[found]]
    overlap[rows] = values
    reason[rows] = np.where(found, "overlap", "max_keep")
    reason[keep] = "kept"
    return Suppression(keep, by, overlap, reason, scores.copy(), f"{rule.metric} {rule}")
