"""How small a difference can a data set show, and how many images would show a given one?"""

from __future__ import annotations

import math

from ioukit.statistics.estimating import check_level
from ioukit.statistics.limits import standard_normal

__all__ = ["detectable_difference", "images_needed"]

_NO_DIFFERENCE = 1e-12  # what rounding makes of equal numbers stays below it


def detectable_difference(standard_error: float, *, level: float = 0.95, power: float = 0.8) -> float:
    """The smallest true difference that a test would find with a given probability.

    It is ``(z((1 + level) / 2) + z(power)) * standard_error``, with ``z`` the quantile of the standard normal
    distribution: 2.8 standard errors at a level of 0.95 and a power of 0.8.

    Args:
        standard_error: The standard error of the difference.
        level: 1 minus the probability of a false alarm of the two-sided test, within (0, 1).
        power: The probability with which the test should find the difference, within [0.5, 1).

    Raises:
        ValueError: If a value is out of range.

    Example:
        >>> round(detectable_difference(0.002), 4)
        0.0056

    Source: Cohen, Statistical Power Analysis for the Behavioral Sciences, 1988, section 2.
    """
    return _errors_apart(level, power) * standard_error


def images_needed(
    difference: float,
    standard_error: float,
    num_images: int,
    *,
    level: float = 0.95,
    power: float = 0.8,
    significant: bool | None = None,
) -> int | None:
    """How many images of the same kind would show a difference, if it is the true one.

    Standard errors fall with the square root of the number of images. So this is
    ``num_images * (detectable_difference / difference) ** 2``.

    Args:
        difference: The difference.
        standard_error: Its standard error on ``num_images`` images.
        num_images: The number of images now.
        level: As for :func:`detectable_difference`.
        power: As for :func:`detectable_difference`.
        significant: Whether a test found the difference significant at this level. If it did not, the result is more
            than ``num_images`` also where the standard error alone would promise fewer, because the test has the last
            word. ``None`` if there was no test.

    Returns:
        A whole number of at least 2; ``None`` if the difference is 0 (closer to it than 1e-12), or a number is
        undefined.

    Raises:
        ValueError: If a value is out of range.

    Example:
        >>> images_needed(0.004, 0.002, 5000)
        9812
    """
    apart = _errors_apart(level, power)
    if math.isnan(difference) or math.isnan(standard_error) or abs(difference) < _NO_DIFFERENCE:
        return None
    errors = abs(difference) / standard_error if standard_error > 0 else math.inf
    least = 2
    if significant is False:
        errors, least = min(errors, standard_normal.inv_cdf((1 + level) / 2)), num_images + 1
    return max(least, math.ceil(num_images * (apart / errors) ** 2))


def _errors_apart(level: float, power: float) -> float:
    check_level(level)
    check_level(power, "power")
    if power < 0.5:
        raise ValueError(f"power must be at least 0.5, got {power}")
    return standard_normal.inv_cdf((1 + level) / 2) + standard_normal.inv_cdf(power)
