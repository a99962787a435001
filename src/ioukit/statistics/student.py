"""Student's t distribution with any number of degrees of freedom, without SciPy, and the normal one."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

standard_normal = NormalDist()
"""The standard normal distribution."""

_TINY = 1e-300
_MOST = 1e7
_FEW = 3.0
_SHORT = 1e-8


def t_tail(t: float, df: float) -> float:
    """The probability of a value of at least ``t``.

    Args:
        t: Any number.
        df: Degrees of freedom, above 0. More than ten million count as infinitely many; only the seventh digit differs.
    """
    if df > _MOST:
        return 0.5 * math.erfc(t / math.sqrt(2))
    square = t * t
    half = 0.5 * _beta_share(df / (df + square), square / (df + square), df / 2, 0.5)
    return half if t > 0 else 1 - half


@lru_cache(256)
def t_quantile(p: float, df: float) -> float:
    """The value below which a share ``p`` of the distribution lies, ``p`` within (0, 1]."""
    if p >= 1:
        return math.inf  # 1 minus a tail that rounding loses
    if p == 0.5:
        return 0.0
    if p < 0.5:
        return -t_quantile(1 - p, df)
    # Newton's method. The tail is convex here: whatever the first step starts from, the next ones come from the left,
    # and none goes too far. A step squares the error, so a short one is the last.
    t, is_first = _near_quantile(p, df), True
    while True:
        step = (t_tail(t, df) - (1 - p)) / _density(t, df)
        t += step
        if step <= _SHORT * t and not is_first:
            return t
        is_first = False


def _near_quantile(p: float, df: float) -> float:
    """Near the quantile: by the expansion about the normal one, which few degrees of freedom do not follow.

    Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.5, its first three terms.
    """
    x = standard_normal.inv_cdf(p)
    if df < _FEW:
        return x
    square = x * x
    first = (square + 1) / 4
    second = ((5 * square + 16) * square + 3) / 96
    third = (((3 * square + 19) * square + 17) * square - 15) / 384
    return x * (1 + (first + (second + third / df) / df) / df)


def _density(t: float, df: float) -> float:
    if df > _MOST:
        return standard_normal.pdf(t)
    front = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)
    return float(front * (1 + t * t / df) ** (-(df + 1) / 2))


def _beta_share(x: float, rest: float, a: float, b: float) -> float:
    """The regularized incomplete beta function of ``x``, by its continued fraction; ``rest`` is ``1 - x``.

    Source: DLMF 8.17.22, evaluated by the method of Lentz.
    """
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on the other side
        return 1 - _beta_share(rest, x, b, a)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest))
    numerator, denominator, value = 1.0, 0.0, 1.0
    for step in range(100_000):
        m = step // 2
        if step == 0:
            term = 1.0
        elif step % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        denominator = 1 / _off_zero(1 + term * denominator)
        numerator = _off_zero(1 + term / numerator)
        change = numerator * denominator
        value *= change
        if step and abs(change - 1) < 1e-15:
            break
    return front * (value - 1) / a


def _off_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
