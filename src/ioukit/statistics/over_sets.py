"""The mean of one number over several data sets: its interval, and the difference of two models.

The sets stay, and images are drawn within each: the mean is that of these sets, on endlessly many images of each. Sets
are independent, so the variance of the mean is the sum of theirs, divided by the square of how many they are. That is
the variance of a bootstrap that draws images within each set, without the noise of its draws. Each set has random
numbers of its own, which are the same for all models.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence

import numpy as np

from ioukit._progress import as_part
from ioukit.evaluation import Evaluation
from ioukit.statistics.biases import bias_of
from ioukit.statistics.comparing import PermutationTests, compared, difference_of, permutation_tests
from ioukit.statistics.correction import ROUNDING
from ioukit.statistics.differences import Difference
from ioukit.statistics.estimating import Interval, enough_groups, interval_of
from ioukit.statistics.evidence import Estimate, Evidence
from ioukit.statistics.named_numbers import named_numbers

_DOUBTFUL = "some data sets alone have doubtful limits"


def mean_interval(
    evaluations: Sequence[Evaluation], key: str, *, level: float, replicates: int, seed: int, threads: int | None
) -> Interval:
    """The mean of a number over data sets, with its limits.

    Args:
        evaluations: (S,) one model on each data set. The number is defined in each.
        key: A number of the summary.
        level: The probability of the interval.
        replicates: How many replicates of each data set.
        seed: Of all random numbers.
        threads: How many threads; all cores if ``None``.

    Raises:
        ValueError: If a data set has fewer than two images.
    """
    estimates, undefined = [], np.zeros(replicates, bool)
    sets = [*_evidence([[one] for one in evaluations], key, replicates, seed, threads)]
    # One data set with few classes on few images hardly tells its bias; all of them together do.
    biases = [bias_of([evidence.rises[0] for evidence in sets])]
    for at, evidence in enumerate(sets):
        with as_part(at, len(sets)):
            known = dataclasses.replace(evidence, known_biases=biases)
            estimates += known.estimates
            undefined |= np.isnan(known.drawn[0][:, 0])
    mean = _mean_of(estimates)
    return interval_of(mean_key(key), mean, level, replicates, float(undefined.mean()), {})


def mean_difference(
    pairs: Sequence[tuple[Evaluation, Evaluation]],
    key: str,
    *,
    level: float,
    power: float,
    replicates: int,
    permutations: int,
    seed: int,
    threads: int | None,
) -> Difference:
    """The difference of the means of two models over data sets, with its limits and its p-value.

    A permutation swaps the detections of both models on a random half of the images of every data set.

    Args:
        pairs: (S,) both models on each data set, evaluated alike. The number is defined in each.
        key: A number of the summary.
        level: The probability of the interval.
        power: As for :func:`ioukit.statistics.compare`.
        replicates: How many replicates of each data set.
        permutations: How many permutations.
        seed: Of all random numbers.
        threads: How many threads; all cores if ``None``.

    Raises:
        ValueError: If a data set has fewer than two images.
    """
    estimates: list[Estimate] = []
    tests: list[PermutationTests] = []
    undefined, images = np.zeros(replicates, bool), 0
    for at, evidence in enumerate(_evidence(pairs, key, replicates, seed, threads, 2 * permutations)):
        with as_part(at, len(pairs)):
            estimates += evidence.differences
            tests.append(permutation_tests(evidence, permutations))
            undefined |= np.isnan(sum(one[:, 0] for one in evidence.drawn))
        images += evidence.groups.num_clusters
    a, b = (mean_of([pair[at].summary[key] for pair in pairs]) for at in (0, 1))
    mean, swapped = _mean_of(estimates)._replace(value=b - a), np.mean([one.swapped[:, 0] for one in tests], axis=0)
    reached = np.count_nonzero(~(np.abs(swapped) < abs(b - a) - ROUNDING))  # undefined ones, too
    error = math.hypot(*(float(one.errors[0]) for one in tests)) / len(pairs)
    test = PermutationTests(
        np.array([b - a]),
        np.array([reached]),
        np.array([error]),
        swapped[:, None],
        np.array([images]),
        np.array([sum(int(one.differing[0]) for one in tests)]),
        images,
        permutations,
    )
    row = compared(level, mean_key(key), a, b, mean, test.p_values[0], float(undefined.mean()))
    return difference_of(row, {}, test, 0, images - len(pairs), power, images)


def mean_key(key: str) -> str:
    """What the mean of a number over data sets is called."""
    return f"mean {key}"


def mean_of(values: Sequence[float]) -> float:
    """The mean with one rounding, so that neither their order nor the version of Python decides its last bit."""
    return math.fsum(values) / len(values) if values else math.nan


def _evidence(
    sets: Sequence[Sequence[Evaluation]],
    key: str,
    replicates: int,
    seed: int,
    threads: int | None,
    further: int = 0,
) -> Iterator[Evidence]:
    for at, models in enumerate(sets):
        # Two sets of as many images would have the same draws with the same seed.
        own = int(np.random.SeedSequence(seed, spawn_key=(at,)).generate_state(1, np.uint64)[0])
        groups = enough_groups(models[0].matches, None, None)
        yield Evidence(named_numbers(models[0], [key]), models, groups, replicates, own, threads, further)


def _mean_of(estimates: Sequence[Estimate]) -> Estimate:
    """The mean of numbers of independent data sets. What their common bias may be wrong is the same in all."""
    count = len(estimates)
    variances = np.array([one.error**2 for one in estimates])
    total, doubt = float(variances.sum()), float((variances**2 / [one.df for one in estimates]).sum())
    return Estimate(
        mean_of([one.value for one in estimates]),
        mean_of([one.bias for one in estimates]),
        math.sqrt(total) / count,
        mean_of([one.doubt for one in estimates]),
        total**2 / doubt if doubt > 0 else min(one.df for one in estimates),
        (_DOUBTFUL,) if any(one.warnings for one in estimates) else (),
    )
