"""The jackknife: bias and standard error of a number from leaving each image out in turn."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from ioukit._columns import Frozen, record
from ioukit.evaluation import Evaluation
from ioukit.statistics.estimating import enough_groups
from ioukit.statistics.named_numbers import chosen_keys, named_numbers
from ioukit.statistics.resampling import Labels


@record(frozen=True, eq=False, repr=False)
class Jackknife(Frozen):
    """What leaving each cluster out says about a number."""

    key: str
    """The name of the number, such as ``"AP"`` or ``"AP50/person"``."""
    value: float
    """The number of the data; NaN if undefined."""
    bias: float
    """The estimated bias: ``(C - 1) * (mean of the numbers without a cluster - value)``. NaN if undefined."""
    standard_error: float
    """The square root of ``(C - 1) / C`` times the sum of squares of their distances from their mean. NaN if
    undefined."""
    num_clusters: int
    """C, how many numbers that is, without those that are undefined."""

    def __repr__(self) -> str:
        return f"Jackknife({self.key}={self.value:.4f}, standard error {self.standard_error:.4f})"


def jackknife(
    evaluation: Evaluation,
    keys: str | Iterable[str] | None = None,
    *,
    clusters: Labels | None = None,
    threads: int | None = None,
) -> dict[str, Jackknife]:
    """Bias and standard error of numbers, from leaving out each image, or each cluster of images.

    It needs no random numbers. Of AP, the standard error is a little too large or too small where few images decide the
    highest precisions, and the bias is rough: prefer :func:`intervals` for limits.

    Args:
        evaluation: The evaluation; its match table is enough.
        keys: Keys of the summary, and of classes such as ``"AP50/person"``; all numbers of the summary if ``None``.
        clusters: The cluster of each image: (I,) labels in the order of :attr:`ioukit.MatchTable.image_ids`, or labels
            by image id. Each image is a cluster if ``None``.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Returns:
        A :class:`Jackknife` for each key. Where a number is undefined without some cluster, it is of the other ones.

    Raises:
        ValueError: If there is no such number or label, or there are fewer than two clusters.

    Example:
        >>> from ioukit import Detections, GroundTruth, evaluate
        >>> boxes = [[0, 0, 9, 9]] * 3
        >>> gt = GroundTruth.from_arrays(image_ids=[1, 2, 3], category_ids=[1, 1, 1], boxes=boxes)
        >>> dt = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=boxes[:1], scores=[0.9])
        >>> found = jackknife(evaluate(gt, dt), "AR100")["AR100"]
        >>> round(found.value, 4), round(found.standard_error, 4)
        (0.3333, 0.3333)

    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 11.
    """
    numbers = named_numbers(evaluation, chosen_keys(keys, evaluation))
    groups = enough_groups(evaluation.matches, None, clusters)
    table = evaluation.matches
    batches = numbers.batches(table, groups.num_clusters)
    without = np.concatenate([numbers.replicated(table, groups.leave_one_out(*each), threads) for each in batches])
    found = {}
    for key, value, column in zip(numbers.keys, numbers.observed(evaluation).tolist(), without.T, strict=True):
        defined = column[~np.isnan(column)]
        count, bias, error = len(defined), math.nan, math.nan
        if count > 1 and not math.isnan(value):
            mean = float(defined.mean())
            bias = (count - 1) * (mean - value)
            error = math.sqrt((count - 1) / count * float(((defined - mean) ** 2).sum()))
        found[key] = Jackknife(key, value, bias, error, count)
    return found
