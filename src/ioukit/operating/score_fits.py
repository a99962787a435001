"""Maps from scores to probabilities, fitted to detections that match or do not."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit.postprocess import IsotonicMap, PlattMap, ScoreMap, TemperatureMap
from ioukit.postprocess.score_maps import checked_scores, log_odds

_LEAST_TEMPERATURE, _MOST_TEMPERATURE = 1e-2, 1e2
_STEPS = 100


def fit_temperature(scores: npt.ArrayLike, targets: npt.ArrayLike) -> TemperatureMap:
    """The temperature with the least cross entropy, within [0.01, 100].

    Args:
        scores: (N,) within [0, 1].
        targets: (N,) within [0, 1]: 1 where a detection is right and 0 where it is not, or its IoU.

    Returns:
        The map; its temperature is 1 without detections, or if all scores are 0.5.

    Raises:
        ValueError: If the lengths differ, or a number is outside of [0, 1].

    Source: Guo, Pleiss, Sun, Weinberger, On Calibration of Modern Neural Networks, ICML 2017, arXiv:1706.04599.
    """
    x, t = _checked(scores, targets)
    x = log_odds(x)
    if not x.any():
        return TemperatureMap(1.0)

    def slope(scale: float) -> float:
        return float(np.dot(x, _sigmoid(scale * x) - t))

    # Cross entropy is convex in 1 / temperature, so its slope changes its sign at most once.
    low, high = 1 / _MOST_TEMPERATURE, 1 / _LEAST_TEMPERATURE
    if slope(low) >= 0:
        return TemperatureMap(_MOST_TEMPERATURE)
    if slope(high) <= 0:
        return TemperatureMap(_LEAST_TEMPERATURE)
    return TemperatureMap(1 / _root(slope, low, high))


def fit_platt(scores: npt.ArrayLike, targets: npt.ArrayLike) -> PlattMap:
    """The slope and the offset of the log odds with the least cross entropy, with Platt's softened targets.

    The targets 1 and 0 become ``(P + 1) / (P + 2)`` and ``1 / (N + 2)`` for P right and N wrong detections. So the fit
    exists where right and wrong scores do not overlap. A negative slope would turn the order around; 0 takes its place.

    Args:
        scores: (N,) within [0, 1].
        targets: (N,) within [0, 1]: 1 where a detection is right and 0 where it is not, or its IoU.

    Returns:
        The map; it changes nothing without detections. If all scores are equal, its slope is 1.

    Raises:
        ValueError: If the lengths differ, or a number is outside of [0, 1].

    Source: Platt, Probabilistic Outputs for Support Vector Machines, 1999; Lin, Lin, Weng, A Note on Platt's
    Probabilistic Outputs for Support Vector Machines, Machine Learning 68, 2007.
    """
    x, t = _checked(scores, targets)
    if not len(x):
        return PlattMap(1.0, 0.0)
    x = log_odds(x)
    right = float(t.sum())
    wrong = len(t) - right
    t = t * ((right + 1) / (right + 2)) + (1 - t) / (wrong + 2)
    mean = float(t.mean())
    level = math.log(mean / (1 - mean))
    if x.min() == x.max():
        return PlattMap(1.0, level - float(x[0]))
    slope, offset = _two_parameters(x, t, level)
    return PlattMap(slope, offset) if slope > 0 else PlattMap(0.0, level)


def _two_parameters(x: Floats, t: Floats, level: float) -> tuple[float, float]:
    """Slope and offset with the least cross entropy, by Newton's method with halved steps."""
    place = np.array([0.0, level])
    features = np.stack([x, np.ones(len(x))])
    loss = _cross_entropy(place @ features, t)
    for _ in range(_STEPS):
        p = _sigmoid(place @ features)
        gradient = features @ (p - t)
        if np.abs(gradient).max() <= 1e-10 * len(x):
            break
        hessian = (features * (p * (1 - p))) @ features.T
        hessian[[0, 1], [0, 1]] += 1e-12 * len(x)
        step = np.linalg.solve(hessian, gradient)
        for halving in range(_STEPS):
            new = place - step * 0.5**halving
            lower = _cross_entropy(new @ features, t)
            if lower <= loss:
                break
        else:
            break
        if lower == loss and halving:
            break
        place, loss = new, lower
    return float(place[0]), float(place[1])


def fit_isotonic(scores: npt.ArrayLike, targets: npt.ArrayLike) -> IsotonicMap:
    """The rising values with the least squares, between straight lines.

    Equal scores count as one, with the mean of their targets. The points are the ends of each range of equal values.

    Args:
        scores: (N,) within [0, 1].
        targets: (N,) within [0, 1]: 1 where a detection is right and 0 where it is not, or its IoU.

    Returns:
        The map; it changes nothing without detections.

    Raises:
        ValueError: If the lengths differ, or a number is outside of [0, 1].

    Source: Zadrozny, Elkan, Transforming Classifier Scores into Accurate Multiclass Probability Estimates, KDD 2002;
    pool adjacent violators: Ayer et al., Annals of Mathematical Statistics 26, 1955.
    """
    x, t = _checked(scores, targets)
    if not len(x):
        return IsotonicMap(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    points, at, counts = np.unique(x, return_inverse=True, return_counts=True)
    sums = np.asarray(np.bincount(at, t, len(points)), np.float64)
    values = np.clip(_pooled(sums, counts.astype(np.float64)), 0.0, 1.0)
    # Points inside of a range of equal values say nothing new.
    ends = np.ones(len(points), np.bool_)
    ends[1:-1] = (values[1:-1] != values[:-2]) | (values[1:-1] != values[2:])
    return IsotonicMap(points[ends], values[ends])


def _pooled(sums: Floats, counts: Floats) -> Floats:
    """(P,) means that do not fall: neighbours that do are pooled."""
    heap_sums: list[float] = []
    heap_counts: list[float] = []
    sizes: list[float] = []
    for total, count in zip(sums.tolist(), counts.tolist(), strict=True):
        heap_sums.append(total)
        heap_counts.append(count)
        sizes.append(1)
        while len(sizes) > 1 and heap_sums[-2] * heap_counts[-1] >= heap_sums[-1] * heap_counts[-2]:
            for heap in (heap_sums, heap_counts, sizes):
                top = heap.pop()
                heap[-1] += top
    means = np.maximum.accumulate(np.array(heap_sums) / np.array(heap_counts))  # rounding may turn equal ones around
    return np.repeat(means, np.array(sizes, np.intp))


def _checked(scores: npt.ArrayLike, targets: npt.ArrayLike) -> tuple[Floats, Floats]:
    x, t = checked_scores(scores), np.asarray(targets, np.float64)
    if x.ndim != 1 or t.shape != x.shape:
        raise ValueError(f"scores and targets must have one shape (N,), got {x.shape} and {t.shape}")
    if len(t) and not (t.min() >= 0 and t.max() <= 1):
        raise ValueError(f"targets must be within [0, 1], got {t[~((t >= 0) & (t <= 1))][0]:g}")
    return x, t


def _root(slope: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function that is negative at ``low`` and positive at ``high`` is 0; both are above 0."""
    for _ in range(_STEPS):
        middle = math.sqrt(low * high)
        if not low < middle < high:
            break
        if slope(middle) < 0:
            low = middle
        else:
            high = middle
    return high


def _cross_entropy(logits: Floats, t: Floats) -> float:
    return float(np.sum(np.maximum(logits, 0) - logits * t + np.log1p(np.exp(-np.abs(logits)))))


def _sigmoid(x: Floats) -> Floats:
    return 0.5 * (1 + np.tanh(0.5 * x))


FITS: dict[str, Callable[[Floats, Floats], ScoreMap]] = {
    "temperature": fit_temperature,
    "platt": fit_platt,
    "isotonic": fit_isotonic,
}
"""The methods by name."""
