"""Compare two or more models: the comparison, and its record."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import string
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ioukit._checks import check_result
from ioukit._columns import Frozen, record
from ioukit._plain_values import plain_value
from ioukit._progress import as_part
from ioukit.comparison.model_pair import ModelPair, image_names
from ioukit.comparison.model_text import comparison_markdown, comparison_text
from ioukit.comparison.object_changes import Changes, changes
from ioukit.comparison.ranking_models import Ranking, ranking_of
from ioukit.comparison.splitting import Parts, parts
from ioukit.comparison.words import shortage_of, tests_in
from ioukit.evaluation import Evaluation, Protocol
from ioukit.evaluation._same_scene import check_same_ground_truth
from ioukit.statistics import Comparison, compare, intervals
from ioukit.statistics.comparing import ClassCorrection
from ioukit.statistics.detectable import enough_permutations
from ioukit.statistics.resampling import Labels


@record(frozen=True, eq=False, repr=False)
class ModelComparison(Frozen):
    """The result of :func:`compare_models`."""

    names: tuple[str, ...]
    """(N,) the names of the models, in the order in which they were given."""
    evaluations: tuple[Evaluation, ...]
    """(N,) their evaluations."""
    pairs: tuple[ModelPair, ...]
    """(N - 1,) the first model, A, with each of the others, B."""
    ranking: Ranking | None
    """All models by their main number, with groups that cannot be told apart; ``None`` for two models."""

    @property
    def protocol(self) -> Protocol:
        """The rules."""
        return self.evaluations[0].protocol

    def text(self, *, per_class: bool = False, width: int = 100) -> str:
        """The comparison in words and tables for a terminal.

        Args:
            per_class: Whether to show every class, not only those with the largest parts.
            width: How long lines may be: sentences are broken, and columns of tables left out.
        """
        return comparison_text(self.pairs, self.ranking, per_class=per_class, width=width)

    def to_markdown(self) -> str:
        """The comparison as Markdown, for a pull request."""
        return comparison_markdown(self.pairs, self.ranking)

    def notebook_caption(self) -> str:
        """Which model is better."""
        return " ".join(pair.verdict() for pair in self.pairs)

    def notebook_rows(self) -> tuple[Iterable[Any], int]:
        """One row per number of each pair of models, with a column for each model."""
        models = {"": "", **dict.fromkeys(self.names)}
        rows = [{**models, **row} for pair in self.pairs for row in pair.notebook_rows()[0]]
        return rows, len(rows)

    def to_dict(self) -> dict[str, Any]:
        """The comparison in plain Python values, ``None`` where a number is undefined."""
        return {
            "models": [
                {"name": name, "summary": plain_value(one.summary)}
                for name, one in zip(self.names, self.evaluations, strict=True)
            ],
            "pairs": [
                {
                    "a": pair.name_a,
                    "b": pair.name_b,
                    "verdict": pair.verdict(),
                    "shortage": pair.shortage,
                    "comparison": pair.comparison.to_dict(),
                    "changes": _changes_values(pair.changes),
                    "parts": None if pair.parts is None else _parts_values(pair.parts, image_names(pair.a)),
                }
                for pair in self.pairs
            ],
            "ranking": None if self.ranking is None else self.ranking.to_dict(),
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def __repr__(self) -> str:
        key = self.protocol.main_measure.key
        numbers = zip(self.names, self.evaluations, strict=True)
        return f"ModelComparison({', '.join(f'{name} {key}={one.summary[key]:.4f}' for name, one in numbers)})"


def _changes_values(changes: Changes) -> dict[str, Any]:
    """The settings and counts of the changes, and the counts of each class that has any."""
    by_class = changes.by_class()
    counts = np.stack(list(by_class.values()), axis=1)
    classes = [
        {"id": int(changes.categories.ids[at]), "name": changes.categories.names[at]}
        | dict(zip(by_class, counts[at].tolist(), strict=True))
        for at in np.flatnonzero(counts.any(axis=1)).tolist()
    ]
    return {
        "iou_threshold": changes.iou_threshold,
        "area": changes.area_range,
        "score_thresholds": [score if math.isfinite(score) else None for score in changes.score_thresholds],
        "placement": changes.placement,
        "paired_by": changes.paired_by,
        "counts": dict(changes.counts),
        "classes": classes,
    }


def _parts_values(parts: Parts, names: Sequence[str]) -> dict[str, Any]:
    """The parts; classes and images with a part of 0 are left out, and the largest come first.

    Args:
        parts: The parts.
        names: (I,) the names of the images.
    """

    def listed(positions: Any, values: Any, name: Any) -> list[dict[str, Any]]:
        return [{**name(at), "part": float(values[at])} for at in positions.tolist()]

    known, images = parts.categories, parts.image_ids
    return {
        "key": parts.key,
        "a": parts.a,
        "b": parts.b,
        "difference": parts.difference,
        "classes": listed(
            parts.largest_classes(len(known)),
            parts.classes,
            lambda at: {"id": int(known.ids[at]), "name": known.names[at]},
        ),
        "sizes": dict(parts.sizes),
        "kinds": None if parts.kinds is None else dict(parts.kinds),
        "images": listed(
            parts.largest_images(len(images)), parts.images, lambda at: {"id": images[at].item(), "name": names[at]}
        ),
        "objects": float(parts.objects.sum()),
        "false_positives": float(parts.false_positives.sum()),
        "spread": parts.spread,
    }


def compare_models(
    models: Mapping[str, Evaluation] | Evaluation,
    *others: Evaluation,
    per_class: bool = True,
    level: float = 0.95,
    replicates: int = 1000,
    permutations: int | None = None,
    seed: int = 0,
    strata: Labels | None = None,
    clusters: Labels | None = None,
    correction: ClassCorrection = "westfall-young",
    iou_threshold: float | None = None,
    score_threshold: float | tuple[float, float] | None = None,
    placement: float = 0.05,
    threads: int | None = None,
) -> ModelComparison:
    """Compare the first model with each of the others: differences, what changed, and where it comes from.

    With three or more models, all are ranked by the main number, and each pair of them is tested.

    Args:
        models: Evaluations on the same ground truth, by the names of the models; at least two. Or the evaluation of
            the first model; their names are then letters.
        *others: The evaluations of the other models.
        per_class: Whether the main number of each class is compared, too.
        level: The probability of the intervals, see :func:`ioukit.statistics.compare`.
        replicates: How many replicates of the bootstrap.
        permutations: How many permutations. If ``None``, 1,000, or as many as the level and the number of pairs of
            models need: 1,099 for eleven models.
        seed: A whole number of at least 0. The same seed gives the same result.
        strata: The stratum of each image, see :func:`ioukit.statistics.compare`.
        clusters: The cluster of each image, such as its scene or video.
        correction: How p-values of classes, and those of pairs of models, are corrected for their number, see
            :func:`ioukit.statistics.compare`. Pairs have permutations of their own, so Holm's method takes the place of
            that of Westfall and Young, and p-values of classes are multiplied by the number of pairs that are shown.
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
    if not isinstance(models, Mapping):
        models = dict(zip(string.ascii_uppercase, (models, *others), strict=False))
    for one in models.values():
        check_result(one, "matches", "ioukit.evaluate")
    if len(models) < 2:
        raise ValueError(f"expected at least two models, got {len(models)}")
    options: dict[str, Any] = {
        "level": level,
        "replicates": replicates,
        "seed": seed,
        "strata": strata,
        "clusters": clusters,
        "threads": threads,
    }
    num_tests = tests_in(len(models), correction)
    if permutations is None:
        permutations = enough_permutations(level, num_tests)
    tests: dict[str, Any] = {**options, "permutations": permutations, "correction": correction}
    (name_a, a), *rest = models.items()
    for name_b, b in rest[1:]:  # of the first of them, `compare` says at once if it cannot be compared
        check_same_ground_truth(a, b, names=(name_a, name_b))
    main = a.protocol.main_measure.key
    pairs = []
    count = _parts_of_work(len(models))
    for at, (name_b, b) in enumerate(rest):
        with as_part(at, count):
            compared = compare(a, b, per_class=(main,) if per_class else (), names=(name_a, name_b), **tests)
        changed = changes(a, b, iou_threshold=iou_threshold, score_threshold=score_threshold, placement=placement)
        split, reason = None, ""
        try:
            split = parts(a, b)
        except ValueError as error:  # the number cannot be split, which the record says
            reason = str(error)
        shortage = shortage_of(level, permutations, compared.num_clusters, compared.num_images, num_tests)
        pairs.append(ModelPair(name_a, name_b, a, b, compared, changed, split, without_parts=reason, shortage=shortage))
    ranking = None
    if len(models) > 2:
        ranking = _ranking(models, pairs, main, options, tests)
        pairs = [
            dataclasses.replace(
                pair,
                p_corrected=ranking.p_value(*pair.names),
                comparison=_of_several(pair.comparison, len(pairs)),
            )
            for pair in pairs
        ]
    return ModelComparison(tuple(models), tuple(models.values()), tuple(pairs), ranking)


def _of_several(compared: Comparison, pairs: int) -> Comparison:
    """The comparison as one of several: p-values of classes are corrected for the number of pairs, too (Bonferroni)."""
    if tests_in(3, compared.correction) == 1:  # these do not keep the chance of even one false alarm
        return compared
    classes = {
        key: tuple(dataclasses.replace(one, p_adjusted=min(pairs * one.p_adjusted, 1.0)) for one in found)
        for key, found in compared.per_class.items()
    }
    return dataclasses.replace(compared, per_class=classes)


def _ranking(
    models: Mapping[str, Evaluation],
    pairs: Sequence[ModelPair],
    main: str,
    options: Mapping[str, Any],
    tests: Mapping[str, Any],
) -> Ranking:
    differences = {pair.names: pair.difference for pair in pairs}
    count = _parts_of_work(len(models))
    for first, second in itertools.combinations(models, 2):
        if (first, second) not in differences:
            with as_part(len(differences), count):
                compared = compare(models[first], models[second], keys=[main], **tests)
            differences[first, second] = compared[main]
    numbers = {}
    for at, (name, one) in enumerate(models.items()):
        with as_part(count - 1, count), as_part(at, len(models)):
            numbers[name] = intervals(one, [main], **options)[main]
    correction = "holm" if tests["correction"] == "westfall-young" else tests["correction"]
    chosen = {name: tests[name] for name in ("level", "permutations")}
    lower = models[next(iter(models))].protocol.main_measure.lower_is_better
    chosen["shortage"] = pairs[0].shortage
    return ranking_of(numbers, differences, lower_is_better=lower, correction=correction, **chosen)


def _parts_of_work(models: int) -> int:
    """Comparisons of two, and of more than two models one part for their intervals."""
    return models * (models - 1) // 2 + (models > 2)
