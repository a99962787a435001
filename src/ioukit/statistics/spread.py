"""How far numbers move with the images: standard errors, and how well they are known.

The bootstrap tells the variance. The jackknife tells more where a few images decide, but its variance is noisy: where
they happen to be absent it is small, just when the number is wrong. So only how well the variance is known, as degrees
of freedom, comes from it.

A class on one image has no variance at all in either. So classes share theirs: a class on k images counts as k - 1
values of its own and eight of all classes.

Where few images lower a number much, many samples have none of them, and are too high: the skewness tells.

Sources: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapters 6 and 11; Satterthwaite, An approximate
distribution of estimates of variance components, 1946; of the shared variance: Smyth, Linear models and empirical Bayes
methods, 2004; of the classes that no image has: Chao, Nonparametric estimation of the number of classes in a
population, 1984.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats

_SHARED = 8  # what the variance of all classes counts for that of one
_MOST_OWN = 50  # clusters of one class for the variance of all
_FEWEST_CLASSES = 3


def variances(values: Floats) -> Floats:
    """(Q,) the variances of the columns, without NaN; NaN of fewer than two values."""
    squares = _side_by_side(values)  # and the only copy: with many classes, it is large
    undefined = np.isnan(squares)
    count = squares.shape[1] - undefined.sum(axis=1)
    squares[undefined] = 0
    squares -= (squares.sum(axis=1) / np.maximum(count, 1))[:, None]
    squares[undefined] = 0
    squares *= squares
    return np.where(count > 1, squares.sum(axis=1) / np.maximum(count - 1, 1), math.nan)


def _side_by_side(values: Floats) -> Floats:
    """(Q, B) the values of each number: so the last bit of its sum does not depend on how many numbers there are."""
    return np.array(values.T, order="C")


def jackknifed(left: Floats, stratum: npt.NDArray[np.intp]) -> tuple[Floats, Floats]:
    """(Q,) the variances of the jackknife, and their degrees of freedom.

    The degrees of freedom are twice the squared variance over the variance of this estimate, which the fourth powers of
    the influences tell: few where few images decide.
    """
    variance, doubt = np.zeros(left.shape[1]), np.zeros(left.shape[1])
    for added in _added(left, stratum):
        count, squares = added.shape[1], added**2
        share, total = (count - 1) / count, squares.sum(axis=1)
        variance += share * total
        doubt += share**2 * ((squares**2).sum(axis=1) - total**2 / count)
    known = doubt > 0
    return variance, np.where(known, 2 * variance**2 / np.where(known, doubt, 1), math.inf)


def skewness(left: Floats, stratum: npt.NDArray[np.intp]) -> Floats:
    """(Q,) how lopsided numbers spread over samples, from their values without each group; 0 without any spread.

    It is below 0 if a few images lower a number much, so that it is too high in a sample that has none of them.
    """
    squares, cubes = np.zeros(left.shape[1]), np.zeros(left.shape[1])
    for added in _added(left, stratum):
        squares += (added**2).sum(axis=1)
        cubes += (added**3).sum(axis=1)
    return np.divide(cubes, squares**1.5, out=np.zeros_like(cubes), where=squares**1.5 > 0)


def _added(left: Floats, stratum: npt.NDArray[np.intp]) -> Iterator[Floats]:
    """(Q, G) of each stratum, what each group adds to the numbers; 0 where they are undefined without it."""
    for number in range(int(stratum.max()) + 1):
        part = _side_by_side(left[stratum == number])
        defined = ~np.isnan(part)
        mean = np.where(defined, part, 0).sum(axis=1) / np.maximum(defined.sum(axis=1), 1)
        yield np.where(defined, mean[:, None] - part, 0)


def shared(
    own: Floats, df: Floats, clusters: npt.NDArray[np.intp], all_classes: npt.NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """(C,) the variances of numbers of classes, of which each takes a part from all; and their degrees of freedom."""
    telling = all_classes & (clusters > 1) & ~np.isnan(own)
    if np.count_nonzero(telling) < _FEWEST_CLASSES:
        return own, df
    # The variance on one cluster is the weighted median: one class that differs much must not blur all others.
    of_each, weights = clusters[telling] * own[telling], np.minimum(clusters[telling] - 1, _MOST_OWN)
    order = np.argsort(of_each, kind="stable")
    of_one = float(of_each[order][np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)])
    count = np.maximum(clusters, 1)
    kept = np.where(count > 1, np.nan_to_num(own) * (count - 1), 0)
    return (kept + _SHARED * of_one / count) / (count - 1 + _SHARED), count - 1.0 + _SHARED


def unseen(values: Floats, clusters: npt.NDArray[np.intp], elsewhere: int = 0) -> tuple[float, float]:
    """The standard error of a mean over classes that comes from those which no image has, and their share.

    A class of the list that no image has may be one that images of this kind never have. How many are none of these,
    the classes on one image and on two tell.

    Args:
        values: (P,) the numbers of the classes that have objects.
        clusters: (K,) on how many clusters each class of the list has objects.
        elsewhere: How many classes have objects, but none that count, such as none of this size: more images would show
            some.
    """
    once, twice = np.count_nonzero(clusters == 1), np.count_nonzero(clusters == 2)
    absent = min(np.count_nonzero(clusters == 0), max(elsewhere, once * (once - 1) / (2 * (twice + 1))))
    if len(values) < 2 or not absent:
        return 0.0, 0.0
    share = absent / (absent + len(values))
    return share * math.sqrt(float(np.var(values, ddof=1)) * (1 / absent + 1 / len(values))), share
