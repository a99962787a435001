"""The part of each curve in the difference of a mean over curves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit.evaluation import Evaluation, Measure
from ioukit.evaluation.summary import in_group, select

__all__ = ["CurveParts", "curve_parts"]

Floats = npt.NDArray[np.float64]


class CurveParts(NamedTuple):
    """The parts of the curves: one per IoU threshold and category."""

    parts: Floats
    """(T, E) the part of each curve; all of them add up to the difference."""
    weights: Floats
    """(T, E) by what a difference of each curve is multiplied in the mean; 0 for one that is not in both means."""


def curve_parts(a: Evaluation, b: Evaluation, measure: Measure) -> CurveParts:
    """The difference of a mean, split over the curves that it is the mean of.

    If n curves are in both means, the part of a curve is its difference over n. If a curve is in the mean of one model
    alone, as one of a class that has false positives and no objects may be, it changes the number of curves: it takes
    what that changes, and the others are divided by the mean of both numbers.

    Args:
        a: One model.
        b: The other model, on the same ground truth.
        measure: A measure of AP or AR that the protocol defines.
    """
    before, after = _means(a, measure), _means(b, measure)
    counts, sums = [], []
    for values in (before, after):
        defined = ~np.isnan(values)
        counts.append(int(defined.sum()))
        sums.append(float(values[defined].sum()))
    if not all(counts):
        raise ValueError(f"{measure.key} is undefined: no class that it is a mean over has objects")
    each = (1 / counts[0] + 1 / counts[1]) / 2
    in_a, in_b = ~np.isnan(before), ~np.isnan(after)
    alone = (sums[0] + sums[1]) / 2 / (counts[0] * counts[1]) * (in_a.astype(int) - in_b.astype(int))
    parts = (np.nan_to_num(after) - np.nan_to_num(before)) * each + alone
    return CurveParts(parts, np.where(in_a & in_b, each, 0.0))


def _means(evaluation: Evaluation, measure: Measure) -> Floats:
    """(T, E) the value of each curve; NaN for one that is not in the mean."""
    curves, protocol = evaluation.curves, evaluation.protocol
    chosen = select(curves, measure)
    if chosen.ndim == 3:
        chosen = chosen.mean(axis=1)
    if protocol.mean_over == "all":
        chosen = np.nan_to_num(chosen, nan=0.0)
    thresholds = len(protocol.iou_thresholds)
    at = slice(None)
    if measure.iou_threshold is not None:
        place = protocol.position_of_iou(measure.iou_threshold)
        at = slice(place, place + 1)
    values = np.full((thresholds, len(curves.categories)), np.nan)
    values[at, in_group(curves.categories, protocol, measure)] = chosen
    return values
