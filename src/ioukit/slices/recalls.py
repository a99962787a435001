"""The recall of some objects minus that of the others, and what each image adds to it."""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit.evaluation import MatchTable

__all__ = ["RecallDifference", "recall_difference"]

Floats: TypeAlias = npt.NDArray[np.float64]


class RecallDifference(NamedTuple):
    """How much less, or more, of some objects is found."""

    recall: float
    """The recall of the objects, the mean over classes with the same weights as the difference."""
    difference: float
    """It minus the recall of the others; NaN if no class has both."""
    influence: Floats
    """(I,) what each image adds to the difference: the sum of their squares is its variance."""


class _Recalled(NamedTuple):
    """Objects and what is found of them, by class."""

    objects: npt.NDArray[np.int64]
    """(K,) how many there are."""
    found: Floats
    """(K,) how many are found, the mean over IoU thresholds."""
    object_class: npt.NDArray[np.intp]
    """(G,) class of each object."""
    object_image: npt.NDArray[np.intp]
    match_class: npt.NDArray[np.intp]
    """(N,) class of each detection."""
    match_image: npt.NDArray[np.intp]
    match_share: Floats
    """(N,) the share of the IoU thresholds at which it finds an object."""


def recall_difference(inside: MatchTable, rest: MatchTable) -> RecallDifference:
    """The difference of recalls, averaged over classes.

    The recall is the mean over the IoU thresholds, with the main cap and in the main area range. A class weighs as much
    as its ``n m / (n + m)`` objects, with ``n`` and ``m`` the numbers of its objects on either side (Mantel and
    Haenszel's weights): so a slice that has other classes than the rest is not worse for that alone, and a class with
    few objects on one side cannot decide.

    Args:
        inside: The matches of the chosen objects.
        rest: The matches of all others, of the same images.

    Source: Mantel and Haenszel, Statistical aspects of the analysis of data from retrospective studies of disease,
    1959; Greenland and Robins, Estimation of a common effect parameter from sparse follow-up data, 1985.
    """
    sides = [_recalled(table) for table in (inside, rest)]
    counts = [side.objects.astype(np.float64) for side in sides]
    total = counts[0] + counts[1]
    weight = np.divide(counts[0] * counts[1], total, out=np.zeros(len(total)), where=total > 0)
    images = len(inside.image_ids)
    if not weight.any():
        return RecallDifference(math.nan, math.nan, np.zeros(images))
    weight /= weight.sum()
    recalls, influences = [], []
    for side, count in zip(sides, counts, strict=True):
        each = np.divide(weight, count, out=np.zeros(len(count)), where=(weight > 0) & (count > 0))
        recall = np.divide(side.found, count, out=np.zeros(len(count)), where=count > 0)
        recalls.append(float((weight * recall).sum()))
        gained = np.bincount(side.match_image, each[side.match_class] * side.match_share, images)
        expected = np.bincount(side.object_image, (each * recall)[side.object_class], images)
        influences.append(gained - expected)
    return RecallDifference(recalls[0], recalls[0] - recalls[1], influences[0] - influences[1])


def _recalled(table: MatchTable) -> _Recalled:
    protocol = table.protocol
    size = len(table.evaluated)
    within = table.is_within_cap(protocol.main_max_dets)
    share = np.zeros(len(table))
    for threshold in protocol.iou_thresholds:
        share += table.is_true_positive(threshold) & within
    share /= len(protocol.iou_thresholds)
    counted = ~table.ignores(protocol.main_area)
    category = table.evaluated_category(table.objects.category)[counted].astype(np.intp)
    of_matches = table.evaluated_category(table.detections.category).astype(np.intp)
    return _Recalled(
        np.bincount(category, minlength=size),
        np.bincount(of_matches, share, size).astype(np.float64),
        category,
        table.objects.image[counted].astype(np.intp),
        of_matches,
        table.detections.image.astype(np.intp),
        share,
    )
