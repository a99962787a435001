"""The scores of one model on the scale of another, so that detections of both can stand in one order."""

from __future__ import annotations

import numpy as np

from ioukit._array_types import Floats
from ioukit.evaluation import MatchTable

_GROUPS = 10
_LEAST = 10  # objects of a group


def scores_on_one_scale(a: MatchTable, b: MatchTable) -> tuple[Floats, Floats]:
    """(N,) the scores of A, and (M,) those of B times what the objects that both find say about the scales.

    The objects that both find at the main IoU threshold are sorted by their score in B and cut into up to ten groups.
    The factor of a group is the median of the ratio of both scores: exactly 1 where more than half of the objects keep
    their score. Between groups, the result is interpolated. The order of B's detections stays.

    Scores of 0 or less have no ratio; if there are any, all scores stay as they are.
    """
    given = a.detections.score, b.detections.score
    if any(len(scores) == 0 or not scores.min() > 0 for scores in given):
        return given
    found = [_scores_of_objects(table) for table in (a, b)]
    both = ~np.isnan(found[0]) & ~np.isnan(found[1])
    of_a, of_b = found[0][both], found[1][both]
    if not len(of_a):
        return given
    order = np.argsort(of_b, kind="stable")
    groups = np.array_split(order, max(1, min(_GROUPS, len(order) // _LEAST)))
    factors = np.array([np.median(of_a[group] / of_b[group]) for group in groups])
    if (factors == 1).all():
        return given
    knots = np.array([np.median(of_b[group]) for group in groups])
    knots, first = np.unique(knots, return_index=True)
    factors = factors[first]
    values = knots * factors
    falls = np.flatnonzero(np.diff(values) <= 0)
    if len(falls):  # groups that contradict each other get one factor, so that the order stays
        factors = np.full(len(knots), np.median(of_a / of_b))
        values = knots * factors
    scores = given[1]
    scaled = np.interp(scores, knots, values)
    scaled = np.where(scores < knots[0], scores * factors[0], scaled)
    return given[0], np.where(scores > knots[-1], scores * (values[-1] / knots[-1]), scaled)


def _scores_of_objects(table: MatchTable) -> Floats:
    """(G,) the score of the detection that finds each object at the main IoU threshold; NaN for none."""
    scores = np.full(len(table.objects), np.nan)
    rows = np.flatnonzero(table.is_true_positive() & table.is_within_cap())
    scores[table.matched_object()[rows]] = table.detections.score[rows]
    return scores
