"""How much each curve, and each detection, of two models adds to the difference of a number.

The number is a mean over curves, see :func:`curve_parts`. Within a curve, let the detections of A have the weight 1 - q
and those of B the weight q. At q = 0 the curve is that of A, at q = 1 it is that of B. While q goes from 0 to 1, each
detection changes the area under the curve at the rate of its partial derivative. The integral of this rate is the part
of the detection, and all parts add up to the difference: these are the values of Aumann and Shapley. They do not depend
on an order of the detections.

References: Aumann and Shapley, Values of Non-Atomic Games, Princeton University Press, 1974. The same integral explains
the outputs of networks in Sundararajan, Taly and Yan, Axiomatic Attribution for Deep Networks, ICML 2017,
arXiv:1703.01365.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ioukit._array_types import Flags, Floats
from ioukit.evaluation import Evaluation, Measure
from ioukit.evaluation.summary import averaged, in_group, select

_NODES = 4  # of the integral over q: with 32, the parts of images change by less than 3 % of the largest one
_ABOVE = 1 + 1e-12  # more than rounding
_TINY = 2.0**-500  # 0 is divided by more than 0; no other quotient changes


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


def ap_parts(of_b: Flags, found: Flags, false: Flags, num_objects: int) -> Floats:
    """(T, N) the part of each detection in the difference of the area under the envelope of the curve.

    The parts of equal detections that follow each other, one of A and one of B, add up to exactly 0.

    Args:
        of_b: (N,) whether each detection is one of B, both models together in descending order of the scores.
        found: (T, N) whether each is a true positive at each IoU threshold.
        false: (T, N) whether each is a false positive.
        num_objects: The number of objects to find, at least 1.
    """
    parts = np.zeros(found.shape)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        parts += weight * _derivative(np.where(of_b, node, 1 - node), found, false, num_objects)
    return np.where(of_b, parts, -parts)


def ar_parts(of_b: Flags, found: Flags, num_objects: int) -> Floats:
    """(T, N) the part of each detection in the difference of the recall after the last detection.

    Args:
        of_b: (N,) whether each detection is one of B.
        found: (T, N) whether each is a true positive at each IoU threshold.
        num_objects: The number of objects to find, at least 1.
    """
    return np.where(found, np.where(of_b, 1.0, -1.0), 0.0) / num_objects


def _means(evaluation: Evaluation, measure: Measure) -> Floats:
    """(T, E) the value of each curve; NaN for one that is not in the mean."""
    curves, protocol = evaluation.curves, evaluation.protocol
    chosen = select(curves, measure)
    if chosen.ndim == 3:
        chosen = chosen.mean(axis=1)
    chosen = averaged(chosen, protocol)
    thresholds = len(protocol.iou_thresholds)
    at = slice(None)
    if measure.iou_threshold is not None:
        place = protocol.position_of_iou(measure.iou_threshold)
        at = slice(place, place + 1)
    values = np.full((thresholds, len(curves.categories)), np.nan)
    values[at, in_group(curves.categories, protocol, measure.group)] = chosen
    return values


def _derivative(weights: Floats, found: Flags, false: Flags, num_objects: int) -> Floats:
    """(T, N) the derivative of the area under the envelope by the weight of each detection."""
    steps = np.where(found, weights, 0.0)
    true, wrong = np.cumsum(steps, axis=1), np.cumsum(np.where(false, weights, 0.0), axis=1)
    total = true + wrong + _TINY
    precision = true / total
    envelope = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    # The place that gives the envelope its value: of equal ones, up to rounding, the last. Equal detections share it.
    count = found.shape[1]
    after = np.concatenate([envelope[:, 1:], np.full((len(found), 1), -1.0)], axis=1)
    places = np.where(precision > after * _ABOVE, np.arange(count), count - 1)
    places = np.minimum.accumulate(places[:, ::-1], axis=1)[:, ::-1]
    flat = (places + np.arange(len(found))[:, None] * count).ravel()
    gained = np.bincount(flat, weights=(steps / num_objects).ravel(), minlength=places.size)
    recall = gained.reshape(places.shape) / (total * total)
    by_true = np.cumsum((recall * wrong)[:, ::-1], axis=1)[:, ::-1] + envelope / num_objects
    by_false = np.cumsum((recall * true)[:, ::-1], axis=1)[:, ::-1]
    return np.where(found, by_true, np.where(false, -by_false, 0.0))
