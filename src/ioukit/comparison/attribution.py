"""How much each detection of two models adds to the difference of their average precision on one class.

Let the detections of A have the weight 1 - q and those of B the weight q. At q = 0 the curve is that of A, at q = 1 it
is that of B. While q goes from 0 to 1, each detection changes the area under the curve at the rate of its partial
derivative. The integral of this rate is the part of the detection, and all parts add up to the difference: these are
the values of Aumann and Shapley. They do not depend on an order of the detections.

References: Aumann and Shapley, Values of Non-Atomic Games, Princeton University Press, 1974. The same integral explains
the outputs of networks in Sundararajan, Taly and Yan, Axiomatic Attribution for Deep Networks, ICML 2017,
arXiv:1703.01365.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["ap_parts", "ar_parts"]

Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

_NODES = 4  # of the integral over q: with 32, the parts of images change by less than 3 % of the largest one
_ABOVE = 1 + 1e-12  # more than rounding
_TINY = 2.0**-500  # 0 is divided by more than 0; no other quotient changes


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
