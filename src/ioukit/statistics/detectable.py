"""How small a difference can a data set show, and how many images would show a given one?"""

from __future__ import annotations

import math

from ioukit.statistics.estimating import check_level
from ioukit.statistics.student import standard_normal, t_quantile

_NO_DIFFERENCE = 1e-12  # what rounding makes of equal numbers stays below it
_PERMUTATIONS = 1000
_MOST_P = 0.999  # above, permutations differ in so little (in one image) that their p-value says nothing of sizes


def detectable_difference(
    standard_error: float, *, level: float = 0.95, power: float = 0.8, df: float = math.inf
) -> float:
    """The smallest true difference that a test would find with a given probability.

    It is ``(t((1 + level) / 2) + t(power)) * standard_error``, with ``t`` the quantile of Student's t distribution: 2.8
    standard errors at a level of 0.95 and a power of 0.8, if the standard error is well known.

    Args:
        standard_error: The standard error of the difference.
        level: 1 minus the probability of a false alarm of the two-sided test, within (0, 1).
        power: The probability with which the test should find the difference, within [0.5, 1).
        df: How well the standard error is known, as degrees of freedom.

    Raises:
        ValueError: If a value is out of range.

    Example:
        >>> round(detectable_difference(0.002), 4)
        0.0056

    Source: Cohen, Statistical Power Analysis for the Behavioral Sciences, 1988, section 2.
    """
    return _errors_apart(level, power, df) * standard_error


def images_needed(
    difference: float,
    standard_error: float,
    num_images: int,
    *,
    level: float = 0.95,
    power: float = 0.8,
    df: float = math.inf,
    p_value: float | None = None,
    differing: float | None = None,
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
        df: As for :func:`detectable_difference`.
        p_value: The p-value of a test of this difference, if there was one. If it is above ``1 - level``, the
            difference counts as at most so many standard errors as belong to that p-value, so that the result is more
            than ``num_images``. A standard error alone can promise too much: the bootstrap cannot see how much a class
            on a single image varies.
        differing: For a permutation test, on which share of the images the models differ, within (0, 1]. It needs six
            such images for a p-value of 0.05, whatever the difference. So the result has enough of them with a
            probability of ``power``.

    Returns:
        A whole number of at least 2; ``None`` if the difference is 0 (closer to it than 1e-12), a number is undefined,
        or the p-value is above 0.999, as where the models differ in a single image.

    Raises:
        ValueError: If a value is out of range.

    Example:
        >>> images_needed(0.004, 0.002, 5000)
        9812
    """
    apart = _errors_apart(level, power, df)
    if math.isnan(difference) or math.isnan(standard_error) or abs(difference) < _NO_DIFFERENCE:
        return None
    errors = abs(difference) / standard_error if standard_error > 0 else math.inf
    least = 2
    fewest = fewest_clusters(level)
    if p_value is not None and p_value > alarm(level):
        if p_value > _MOST_P:
            return None
        least = num_images + 1
        # Where the models differ on so few images that no p-value is low, it says nothing of sizes.
        if differing is None or differing * num_images >= fewest:
            errors = min(errors, standard_normal.inv_cdf(1 - p_value / 2))
    if differing is not None:
        least = max(least, _draws_with(fewest, differing, power))
    return max(least, math.ceil(num_images * (apart / errors) ** 2))


def alarm(level: float) -> float:
    """The highest p-value that is significant; 0.05 for a level of 0.95, which ``1 - 0.95`` is a little above."""
    return round(1 - level, 12)


def smallest_p_value(permutations: int, clusters: int) -> float:
    """The smallest p-value that a permutation test can have, however large the difference.

    The data itself is one permutation. And each of the ``2 ** clusters`` ways to exchange clusters has an opposite, of
    which the difference has the same size.

    Args:
        permutations: How many random permutations there are.
        clusters: How many images, or clusters of images, are exchanged.
    """
    return max(1 / (1 + permutations), 2.0 ** (1 - clusters))


def fewest_permutations(level: float, tests: int = 1) -> int:
    """How many permutations a p-value needs to be at most ``1 - level`` where it is multiplied by ``tests``."""
    count = math.ceil(round(tests / alarm(level), 6)) - 1
    return count if 1 / (1 + count) * tests <= alarm(level) else count + 1


def enough_permutations(level: float, tests: int = 1) -> int:
    """How many permutations to make where nobody chose a number: 1,000, or more if a p-value needs them."""
    check_level(level)
    return max(_PERMUTATIONS, fewest_permutations(level, tests))


def fewest_clusters(level: float, tests: int = 1) -> int:
    """How many images, or clusters, a p-value needs to be at most ``1 - level`` where it is multiplied by ``tests``."""
    count = 1
    while 2.0 ** (1 - count) * tests > alarm(level):
        count += 1
    return count


def _draws_with(count: int, share: float, power: float) -> int:
    """How many draws have at least ``count`` hits with a probability of ``power``, if each is one with ``share``."""

    def fails(draws: int) -> bool:
        fewer = (math.comb(draws, hits) * share**hits * (1 - share) ** (draws - hits) for hits in range(count))
        return math.fsum(fewer) > 1 - power

    low, high = count - 1, count
    while fails(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fails(middle) else (low, middle)
    return high


def check_power(power: float) -> None:
    """Raises an error if the power of a test is not within [0.5, 1)."""
    check_level(power, "power")
    if power < 0.5:
        raise ValueError(f"power must be at least 0.5, got {power}")


def _errors_apart(level: float, power: float, df: float) -> float:
    check_level(level)
    check_power(power)
    if math.isinf(df):
        return standard_normal.inv_cdf((1 + level) / 2) + standard_normal.inv_cdf(power)
    return t_quantile((1 + level) / 2, df) + t_quantile(power, df)
