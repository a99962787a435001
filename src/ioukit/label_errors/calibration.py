"""The chance of an outcome, from features and a class: logistic regression with an intercept for each class.

Owns: the features of a score (those of beta calibration), the fit by Newton's method, and sums that do not depend on
the number of threads. Does not own: which rows are fitted and what the outcome is (`evidence.py`, `judging.py`).

Cut here because everything before it counts and everything after it judges, and both need the same regression. It is
not `ioukit.operating.calibrate`: that maps scores to scores, while here sizes and overlaps are features, too, and rare
classes borrow from the common ones. How much they borrow is estimated, too (empirical Bayes): classes that are alike
share one intercept. There may be a thousand classes (LVIS), so their part of the system, which is diagonal, is taken
out of it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Flags, Floats

_STEPS = 25
_EM_STEPS = 100
_LEAST_VARIANCE = 0.01  # of the intercepts of the classes
_RIDGE = 0.1  # of the normal prior of the other coefficients, except the common intercept
_HELD = 1e12  # a curvature with which a coefficient does not move
_FARTHEST = 20.0  # logits beyond this differ in no digit that matters
_PER_LOGIT = 10  # steps of a grid of logits
_LAPSE_STEPS = 60
_SAME_LINE = 1e-6  # smaller steps change no digit of a score that is shown
_USUAL = np.array([0.0, 1.0])  # an intercept and a slope that change no logit
_USUAL_WEIGHT = np.array([0.01, 1.0])  # of the normal prior around them
_LEAST = 1e-4  # scores of 0 and 1 are taken as this far from both ends


def score_features(scores: Floats) -> Floats:
    """(N, 3) log s and -log(1 - s), which are the features of beta calibration, and s itself.

    Scores outside of [0, 1] are replaced by their ranks, as shares: only their order counts then.

    Args:
        scores: (N,) scores.

    Reference: Kull et al., Beyond sigmoids: how to obtain well-calibrated probabilities from binary classifiers with
    beta calibration, Electronic Journal of Statistics 2017.
    """
    if len(scores) and (scores.min() < 0 or scores.max() > 1):
        scores = (np.searchsorted(np.sort(scores), scores, side="right") - 0.5) / len(scores)
    inside = np.clip(scores, _LEAST, 1 - _LEAST)
    return np.stack([np.log(inside), -np.log1p(-inside), inside], axis=1)


def fitted_logits(
    happened: Flags,
    features: Floats,
    classes: npt.NDArray[np.int64],
    used: Flags | None = None,
    *,
    rising: int = 0,
    class_share: float = 1.0,
) -> Floats:
    """The logits of a logistic regression at each row.

    Rare classes keep close to the common intercept, because the intercepts of the classes have a normal prior. Its
    variance is estimated by EM steps after each step of Newton's method.

    Args:
        happened: (N,) whether the outcome happened.
        features: (N, F) features; the common intercept is added.
        classes: (N,) class of each row, from 0.
        used: (N,) the rows that it is fitted to; all if ``None``.
        rising: The coefficients of the first so many features are at least 0.
        class_share: The share of the intercept of its class that counts at each row.

    Returns:
        (N,) logits, within [-20, 20].
    """
    size = int(classes.max(initial=-1)) + 1
    rows = slice(None) if used is None else used
    if not len(happened[rows]):
        return np.zeros(len(happened))
    every = design_of(features, rows)
    every_class, design, happened, classes = classes, np.asfortranarray(every[rows]), happened[rows], classes[rows]
    count = len(happened)
    ridge = np.full(design.shape[1], _RIDGE)
    ridge[0] = 1e-6
    wanted = happened.astype(np.float64)
    beta, offsets = np.zeros(design.shape[1]), np.zeros(size)
    least = np.full(len(beta), -np.inf)
    least[1 : 1 + rising] = 0.0
    logits = np.zeros(count)
    precision = 1.0  # of the prior of the intercepts of the classes
    loss = _loss(wanted, logits, beta, offsets, ridge, precision)
    for _ in range(_STEPS):
        expected = chance(logits)
        weight = expected * (1 - expected) + 1e-9
        missing = wanted - expected
        # Newton's step. The part of the classes is diagonal, so it is taken out of the system.
        gradient = along(design, missing) - ridge * beta
        of_class = np.bincount(classes, missing, size) - precision * offsets
        diagonal = np.bincount(classes, weight, size) + precision
        across = np.stack([np.bincount(classes, weight * column, size) for column in design.T])
        # Coefficients at their least value stay there, if the loss falls beyond it (projected Newton, Bertsekas 1982).
        held = np.where((beta <= least) & (gradient < 0), _HELD, 0.0)
        inner = products(design, weight) + np.diag(ridge + held) - np.einsum("fk,gk->fg", across / diagonal, across)
        step = np.linalg.solve(inner, gradient - np.einsum("fk,k->f", across, of_class / diagonal))
        class_step = (of_class - np.einsum("fk,f->k", across, step)) / diagonal
        pace = 1.0
        for _ in range(12):
            tried_beta = np.maximum(beta + pace * step, least)
            tried = combined(design, tried_beta) + (offsets + pace * class_step)[classes]
            reached = _loss(wanted, tried, tried_beta, offsets + pace * class_step, ridge, precision)
            if reached <= loss:
                break
            pace /= 2
        else:
            break
        beta, offsets, logits = tried_beta, offsets + pace * class_step, tried
        if loss - reached < 1e-9 * (1 + abs(loss)):
            break
        estimate = _precision_of(offsets, diagonal, precision)
        loss = reached + 0.5 * (estimate - precision) * float((offsets**2).sum())
        precision = estimate
    return np.clip(combined(every, beta) + class_share * offsets[every_class], -_FARTHEST, _FARTHEST)


def without_lapse(logits: Floats, happened: Flags, used: Flags, lapse: float) -> Floats:
    """(N,) the logits of an outcome if it were never lost by a lapse, such as an object that was not annotated.

    Logits that were fitted with lapses level off where the chance comes near to ``1 - lapse``. So the chance is taken
    to be ``(1 - lapse) / (1 + exp(-a - b * logit))``, as in psychometric functions, and ``a + b * logit`` is returned.
    The intercept and the slope have the highest likelihood, by EM steps: each gives the outcomes that seem lost back.

    Args:
        logits: (N,) fitted logits, within [-20, 20].
        happened: (N,) whether the outcome happened.
        used: (N,) the rows that the intercept and the slope are fitted to.
        lapse: The share of the outcomes that are lost, below 1.

    Reference: Wichmann and Hill, The psychometric function: I. Fitting, sampling, and goodness of fit, Perception &
    Psychophysics 2001.
    """
    place = np.rint((logits[used] + _FARTHEST) * _PER_LOGIT).astype(np.int64)
    counts = np.bincount(place)
    kept = np.flatnonzero(counts)
    count, seen = counts[kept], np.bincount(place, happened[used])[kept]
    design = np.stack([np.ones(len(kept)), kept / _PER_LOGIT - _FARTHEST], axis=1)
    line = _USUAL
    for _ in range(_LAPSE_STEPS):
        right = chance(combined(design, line))
        wanted = seen + (count - seen) * lapse * right / (1 - (1 - lapse) * right)
        gradient = along(design, wanted - count * right) - _USUAL_WEIGHT * (line - _USUAL)
        step = np.linalg.solve(products(design, count * right * (1 - right)) + np.diag(_USUAL_WEIGHT), gradient)
        line = line + np.clip(step, -1, 1)
        line[1] = max(line[1], _LEAST)
        if np.abs(step).max() < _SAME_LINE:
            break
    without: Floats = np.clip(line[0] + line[1] * logits, -_FARTHEST, _FARTHEST)
    return without


def _precision_of(offsets: Floats, diagonal: npt.NDArray[np.floating], precision: float) -> float:
    """The precision of the prior that EM steps end at, if the intercepts follow it as the curvature of the data says.

    One EM step per Newton step would need many more of these, and each goes through all rows.

    Args:
        offsets: (K,) the intercepts of the classes under the precision so far.
        diagonal: (K,) the curvature of the data at each of them, and the precision so far.
        precision: The precision so far.
    """
    of_data, moved = diagonal - precision, offsets * diagonal
    estimate = precision
    for _ in range(_EM_STEPS):
        spread, before = of_data + estimate, estimate
        variance = float(np.add.reduce((moved / spread) ** 2 + 1 / spread)) / len(offsets)
        estimate = 1 / max(variance, _LEAST_VARIANCE)
        if abs(estimate - before) <= 1e-6 * before:
            break
    return estimate


def design_of(features: Floats, rows: slice | Flags = slice(None)) -> Floats:
    """(N, 1 + F) a column of ones, and the features with mean 0 and deviation 1 over the given rows.

    All that follows goes along columns, so each column lies in one piece (Fortran's order): that is twice as fast.
    """
    chosen = features[rows]
    centre, scale = chosen.mean(axis=0), chosen.std(axis=0)
    design = np.ones((len(features), 1 + features.shape[1]), order="F")
    design[:, 1:] = (features - centre) / np.where(scale > 0, scale, 1.0)
    return design


def _loss(wanted: Floats, logits: Floats, beta: Floats, offsets: Floats, ridge: Floats, precision: float) -> float:
    # This is logaddexp(0, logits), in a fifth of the time.
    likelihood = (np.maximum(logits, 0) + np.log1p(np.exp(-np.abs(logits))) - wanted * logits).sum()
    prior = 0.5 * ((ridge * beta**2).sum() + precision * (offsets**2).sum())
    return float(likelihood + prior)


# These three do without NumPy's matrix products: their bits depend on the threads of the library behind them, and for
# so few columns its threads cost more than they save.
def combined(design: Floats, coefficients: Floats) -> Floats:
    """(N,) the sum of the columns of a table (N, F), each times its coefficient."""
    total: Floats = np.einsum("nf,f->n", design, coefficients)
    return total


def along(design: Floats, values: Floats) -> Floats:
    """(F,) the sum of the products of each column with the values."""
    total: Floats = np.einsum("nf,n->f", design, values)
    return total


def products(design: Floats, weight: Floats) -> Floats:
    """(F, F) the weighted sum of the products of each two columns."""
    size = design.shape[1]
    total: Floats = np.empty((size, size))
    for at in range(size):  # the table is symmetric
        total[at, at:] = total[at:, at] = np.einsum("n,ng->g", design[:, at] * weight, design[:, at:])
    return total


def chance(logits: Floats) -> Floats:
    """The probabilities of logits."""
    return 0.5 * (1 + np.tanh(0.5 * logits))
