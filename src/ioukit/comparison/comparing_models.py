"""Compare two or more models."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from ioukit.comparison.model_comparison import ModelComparison
from ioukit.comparison.model_pair import ModelPair
from ioukit.comparison.object_changes import changes
from ioukit.comparison.ranking_models import Ranking, ranking_of
from ioukit.comparison.splitting import parts
from ioukit.evaluation import Evaluation
from ioukit.statistics import compare, intervals
from ioukit.statistics.correction import Correction
from ioukit.statistics.limits import Method
from ioukit.statistics.resampling import Labels


def compare_models(
    models: Mapping[str, Evaluation],
    *,
    per_class: bool = True,
    level: float = 0.95,
    replicates: int = 1000,
    permutations: int = 1000,
    seed: int = 0,
    method: Method | None = None,
    strata: Labels | None = None,
    clusters: Labels | None = None,
    correction: Correction = "holm",
    iou_threshold: float | None = None,
    score_threshold: float | tuple[float, float] | None = None,
    placement: float = 0.05,
    threads: int | None = None,
) -> ModelComparison:
    """Compare the first model with each of the others: differences, what changed, and where it comes from.

    With three or more models, all are ranked by the main number, and each pair of them is tested.

    Args:
        models: Evaluations on the same ground truth, by the names of the models; at least two.
        per_class: Whether the main number of each class is compared, too.
        level: The probability of the intervals, see :func:`ioukit.statistics.compare`.
        replicates: How many replicates of the bootstrap.
        permutations: How many permutations.
        seed: A whole number of at least 0. The same seed gives the same result.
        method: ``"bca"`` or ``"percentile"``; if ``None``, percentiles for differences and BCa for the numbers of the
            ranking, as :func:`ioukit.statistics.compare` and :func:`ioukit.statistics.intervals` do.
        strata: The stratum of each image, see :func:`ioukit.statistics.compare`.
        clusters: The cluster of each image, such as its scene or video.
        correction: How p-values of classes, and those of pairs of models, are corrected for their number.
        iou_threshold: At which IoU threshold objects are found, as for :func:`changes`.
        score_threshold: Which detections count in what changed, as for :func:`changes`.
        placement: The least change of IoU of an object that is better or worse placed, as for :func:`changes`.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Returns:
        The first model, A, with each of the others, B, and with three or more models their ranking.

    Raises:
        TypeError, ValueError: If there are fewer than two models, they were not evaluated alike, or a value is out of
            range.
    """
    if len(models) < 2:
        raise ValueError(f"expected at least two models, got {len(models)}")
    options: dict[str, Any] = {
        "level": level,
        "replicates": replicates,
        "seed": seed,
        **({} if method is None else {"method": method}),
        "strata": strata,
        "clusters": clusters,
        "threads": threads,
    }
    tests: dict[str, Any] = {**options, "permutations": permutations, "correction": correction}
    (name_a, a), *others = models.items()
    main = a.protocol.main_measure.key
    pairs = []
    for name_b, b in others:
        compared = compare(a, b, per_class=(main,) if per_class else (), **tests)
        changed = changes(a, b, iou_threshold=iou_threshold, score_threshold=score_threshold, placement=placement)
        split, reason = None, ""
        try:
            split = parts(a, b)
        except ValueError as error:  # the number cannot be split, which the record says
            reason = str(error)
        pairs.append(ModelPair(name_a, name_b, a, b, compared, changed, split, reason))
    ranking = None if len(models) == 2 else _ranking(models, pairs, main, options, tests)
    return ModelComparison(tuple(models), tuple(models.values()), tuple(pairs), ranking)


def _ranking(
    models: Mapping[str, Evaluation],
    pairs: Sequence[ModelPair],
    main: str,
    options: Mapping[str, Any],
    tests: Mapping[str, Any],
) -> Ranking:
    differences = {pair.names: pair.difference for pair in pairs}
    for first, second in itertools.combinations(models, 2):
        if (first, second) not in differences:
            differences[first, second] = compare(models[first], models[second], keys=[main], **tests)[main]
    numbers = {name: intervals(one, [main], **options)[main] for name, one in models.items()}
    chosen = {name: tests[name] for name in ("level", "correction", "permutations")}
    return ranking_of(models, numbers, differences, **chosen)
