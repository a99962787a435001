"""The pipeline of `nms` for upright boxes on the host: native code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit import _core
from ioukit.postprocess._groups import groups, limited
from ioukit.postprocess._inputs import refuse_nan
from ioukit.postprocess._rule import least_reaching
from ioukit.postprocess.suppression import suppression_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.postprocess._inputs import HostSet
    from ioukit.postprocess._options import Limits
    from ioukit.postprocess._rule import Rule
    from ioukit.postprocess.suppression import Suppression

    Ids = NDArray[np.int64]

__all__ = ["explained", "survivors"]


def survivors(given: HostSet, rule: Rule, limits: Limits, threads: int) -> Ids:
    """(K,) the positions of the boxes that survive, by descending score."""
    keep = _core.nms_survivors(
        rule.measure.variant,
        least_reaching(rule, given.boxes.dtype),
        given.boxes,
        given.scores,
        groups(given.labels, given.batch),
        _least_score(given, limits),
        threads,
    )
    if isinstance(keep, int):  # native code finds NaN on its way, and returns its row
        refuse_nan(keep)
    return limited(keep, given.batch, limits.max_keep)


def explained(given: HostSet, rule: Rule, limits: Limits, keep: Ids, threads: int) -> Suppression:
    """Why each of the other boxes did not survive."""
    least = _least_score(given, limits)
    others = np.ones(len(given.scores), bool) if least is None else given.scores >= given.scores.dtype.type(least)
    others[keep] = False
    rows, codes = np.flatnonzero(others), groups(given.labels, given.batch)
    of_kept, of_others = (None, None) if codes is None else (codes[keep], codes[rows])
    first, values = _core.nms_first_suppressors(
        rule.measure.variant,
        least_reaching(rule, given.boxes.dtype),
        given.boxes[keep],
        of_kept,
        given.boxes[rows],
        of_others,
        threads,
    )
    return suppression_of(given.scores, rule, keep, rows, first, values)


def _least_score(given: HostSet, limits: Limits) -> float | None:
    return None if limits.score_threshold is None else given.score_limit(limits.score_threshold)
