"""The pipeline of `nms` for regions other than upright boxes: the pairs of a sparse join, in float64."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import _core
from ioukit.overlap.engines.engine import engine_of
from ioukit.overlap.join import overlap_join
from ioukit.postprocess._groups import groups, limited
from ioukit.postprocess._rule import least_reaching
from ioukit.postprocess.suppression import suppression_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.overlap.join import OverlapPairs
    from ioukit.postprocess._inputs import RegionSet
    from ioukit.postprocess._options import Limits
    from ioukit.postprocess._rule import Rule
    from ioukit.postprocess.suppression import Suppression

    Ids = NDArray[np.int64]

__all__ = ["suppressed"]


def suppressed(given: RegionSet, rule: Rule, limits: Limits, threads: int) -> Suppression:
    """Which regions survive, and why each of the others does not."""
    scores = given.scores
    candidates = np.ones(len(scores), bool)
    if limits.score_threshold is not None:
        candidates = scores >= scores.dtype.type(given.score_limit(limits.score_threshold))
    order = np.flatnonzero(candidates)[np.argsort(-scores[candidates], kind="stable")]
    removed_by, values = np.full(len(order), -1), np.full(len(order), math.nan)
    low, alive = least_reaching(rule, np.dtype(np.float64)), np.ones(len(order), bool)
    if low <= 1 and len(order):
        pairs = _pairs(given, rule, low, order, threads)
        alive = _core.nms_of_pairs(len(order), pairs.rows, pairs.columns) < 0
        alive = _within_limit(given, order, alive, limits.max_keep)
        # The first pair of a column whose row survives: rows ascend from the best score down.
        of_kept = alive[pairs.rows] & ~alive[pairs.columns]
        columns, first = np.unique(pairs.columns[of_kept], return_index=True)
        removed_by[columns], values[columns] = pairs.rows[of_kept][first], pairs.values[of_kept][first]
    else:
        alive = _within_limit(given, order, alive, limits.max_keep)
    keep = order[alive]
    ranks = np.full(len(scores), -1)
    ranks[keep] = np.arange(len(keep))
    first = np.where(removed_by < 0, -1, ranks[order[removed_by]])
    return suppression_of(scores, rule, keep, order[~alive], first[~alive], values[~alive])


def _pairs(given: RegionSet, rule: Rule, low: float, order: Ids, threads: int) -> OverlapPairs:
    """The pairs that overlap by at least ``low``, as positions in ``order``."""
    codes = groups(given.labels, given.batch)
    of: Any = None if rule.metric != "ioa" else rule.measure.variant.removeprefix("ioa_")
    try:
        return overlap_join(
            given.regions[order],
            min_iou=low,
            metric=rule.metric,
            of=of,
            labels1=None if codes is None else codes[order],
            threads=threads or None,
        )
    except ValueError:
        # The join sees the regions sorted by score. The check names one by its position in the input.
        check = getattr(engine_of(given.regions, given.regions), "check", None)
        if check is not None:
            check(given.regions, "boxes")
        raise


def _within_limit(given: RegionSet, order: Ids, alive: NDArray[np.bool_], most: int) -> NDArray[np.bool_]:
    """Which of the regions that survive stay if every image keeps at most ``most``."""
    kept = np.zeros(len(given.scores), bool)
    kept[limited(order[alive], given.batch, most)] = True
    return kept[order]
