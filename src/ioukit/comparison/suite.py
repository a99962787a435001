"""One number over many data sets: the mean of each model, its interval, ranks, and differences of models.

Owns: what is measured on every data set, and the record. Does not own: the statistics of a mean over data sets
(`statistics/over_sets.py`), groups of models that cannot be told apart (`ranking_models.py`), nor the words of a
verdict (`words.py`): they are those of the comparison of models on one data set.
"""

from __future__ import annotations

import importlib
import itertools
import json
import math
import operator
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit._checks import check_choice, check_count, check_result, pluralize
from ioukit._columns import Frozen, record
from ioukit._output import aligned
from ioukit._plain_values import plain_value
from ioukit._progress import as_part
from ioukit._words_and_colours import percent
from ioukit.comparison.ranking_models import Ranking, ranking_of
from ioukit.comparison.words import (
    bias_sentence,
    interval_doubts,
    sample_size,
    shortage_of,
    tests_in,
    verdict,
    verdict_notes,
)
from ioukit.evaluation import Evaluation, Measure
from ioukit.evaluation._same_scene import check_same_ground_truth
from ioukit.slices.results import csv_text
from ioukit.statistics import Difference, Interval
from ioukit.statistics.detectable import enough_permutations
from ioukit.statistics.estimating import check_level
from ioukit.statistics.over_sets import mean_difference, mean_interval, mean_key, mean_of
from ioukit.statistics.replicates import find_measure
from ioukit.statistics.resampling import check_seed

if TYPE_CHECKING:
    import os


@record(frozen=True, eq=False, repr=False)
class Suite(Frozen):
    """The result of :func:`evaluate_suite`: S data sets, M models."""

    key: str
    """The key of the number, such as ``"AP"``."""
    sets: tuple[str, ...]
    """(S,) the names of the data sets."""
    names: tuple[str, ...]
    """(M,) the names of the models."""
    evaluations: tuple[tuple[Evaluation, ...], ...]
    """(S, M) the evaluations."""
    values: Floats
    """(S, M) the number of each model on each data set; NaN where undefined."""
    intervals: tuple[Interval, ...]
    """(M,) the mean of each model with its interval; empty without replicates."""
    differences: tuple[Difference, ...]
    """(M - 1,) the mean of each further model minus that of the first one; empty without replicates."""
    ranking: Ranking | None
    """All models by their means, with groups that cannot be told apart; ``None`` for fewer than three models."""
    permutations: int
    """How many permutations each p-value comes from."""

    @property
    def counted(self) -> npt.NDArray[np.bool_]:
        """(S,) whether the number is defined for all models on a data set; the others count in no mean and no rank."""
        return np.asarray(~np.isnan(self.values).any(axis=1))

    @property
    def means(self) -> Floats:
        """(M,) the mean of each model over the data sets that count, each of which counts the same."""
        return np.array([mean_of(column.tolist()) for column in self.values[self.counted].T])

    @property
    def ranks(self) -> Floats:
        """(S, M) the rank of each model on each data set: 1 is the best, equal ones share the mean of their ranks."""
        values = self.values if self._measure.lower_is_better else -self.values
        better = (values[:, None, :] < values[:, :, None]).sum(axis=2)
        equal = (values[:, None, :] == values[:, :, None]).sum(axis=2)
        return np.where(self.counted[:, None], better + (equal + 1) / 2, np.nan)

    @property
    def mean_ranks(self) -> Floats:
        """(M,) the mean rank of each model over the data sets that count."""
        return np.asarray(self.ranks[self.counted].mean(axis=0))

    @property
    def images(self) -> tuple[int, ...]:
        """(S,) how many images each data set has."""
        return tuple(map(_images, self.evaluations))

    @property
    def num_images(self) -> int:
        """How many images the data sets have that count."""
        return sum(images for images, counts in zip(self.images, self.counted, strict=True) if counts)

    @property
    def _measure(self) -> Measure:
        return find_measure(self.evaluations[0][0].protocol, self.key)

    def verdicts(self) -> list[str]:
        """What the tests show, in sentences: first of all models, if there are three or more, then of each pair."""
        found = [] if self.ranking is None else [self.ranking.verdict()]
        for name, one in zip(self.names[1:], self.differences, strict=False):
            names = self.names[0], name
            corrected = None if self.ranking is None else self.ranking.p_value(*names)
            options: dict[str, Any] = {"lower_is_better": self._measure.lower_is_better, "p_corrected": corrected}
            options["shortage"] = _shortage(one.level, self.permutations, self.num_images, len(self.names))
            found.append(verdict(one, names, self.num_images, self.permutations, **options))
        return found

    def notes(self) -> list[str]:
        """What the numbers need to be understood, in sentences."""
        count = int(self.counted.sum())
        weights = ", each with the same weight" if count != 1 else ""
        found = [f"The mean is over {pluralize(count, 'data set')}{weights}."]
        if left := [name for name, counts in zip(self.sets, self.counted, strict=True) if not counts]:
            found.append(f"{self.key} is undefined, and so not counted, on {', '.join(left)}.")
        if self.intervals:
            level = self.intervals[0].level
            found.append("Images are drawn within each data set: limits are for these data sets, not for others.")
            if self.ranking is not None:
                return [*found, self.ranking.note()]
            names = [*self.names, "the difference"][: len(self.intervals) + len(self.differences)]
            found.append(bias_sentence(self.intervals))
            found.append(interval_doubts(names, [*self.intervals, *self.differences], level))
            sample = sample_size(self.num_images, self.num_images)
            found += [verdict_notes(one, sample) for one in self.differences]
        return [one for one in found if one]

    def text(self, *, width: int = 100) -> str:
        """Verdicts, a table of the models, one of the data sets, and notes, for a terminal.

        Args:
            width: How long the lines of sentences may be.
        """
        blocks = ["\n".join(textwrap.fill(one, width) for one in self.verdicts())]
        blocks += [aligned(self.model_rows()), aligned(self._set_rows())]
        return "\n\n".join([*filter(None, blocks), textwrap.fill(" ".join(self.notes()), width)])

    def model_rows(self) -> list[list[str]]:
        """The table of the models as text: its titles, then a row per model."""
        rows = [["model", mean_key(self.key), "mean rank", "best on"]]
        best = (self.ranks == np.nanmin(self.ranks, axis=1, initial=math.inf, keepdims=True)).sum(axis=0)
        for at, name in enumerate(self.names):
            rows.append([name, f"{self.means[at]:.4f}", f"{self.mean_ranks[at]:.2f}", f"{best[at]:,}"])
        if self.intervals:
            column = [f"{percent(self.intervals[0].level)} interval"]
            column += ["undefined" if math.isnan(x.low) else f"{x.low:.4f} to {x.high:.4f}" for x in self.intervals]
            rows = [[*row[:2], cell, *row[2:]] for row, cell in zip(rows, column, strict=True)]
        if self.ranking is not None:
            letters = dict(zip(self.ranking.names, self.ranking.letters, strict=True))
            rows = [rows[0] + ["group"], *([*row, letters[row[0]]] for row in rows[1:])]
        return rows

    def _set_rows(self) -> list[list[str]]:
        rows = [["data set", "images", *self.names]]
        for name, images, values in zip(self.sets, self.images, self.values.tolist(), strict=True):
            numbers = ["-" if math.isnan(value) else f"{value:.4f}" for value in values]
            rows.append([name, f"{images:,}", *numbers])
        return rows

    def notebook_caption(self) -> str:
        """The verdicts."""
        return " ".join(self.verdicts()) or f"{self.key} on {pluralize(len(self.sets), 'data set')}"

    def notebook_rows(self) -> tuple[Sequence[Any], int]:
        """The rows of :meth:`rows`."""
        rows = self.rows()
        return rows, len(rows)

    def rows(self) -> list[dict[str, Any]]:
        """One row per data set and model: both names, how many images there are, the number and the rank."""
        ranks = self.ranks.tolist()
        return [
            {"set": name, "model": model, "images": images, "value": value, "rank": rank}
            for name, images, *columns in zip(self.sets, self.images, self.values.tolist(), ranks, strict=True)
            for model, value, rank in zip(self.names, *columns, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python values, ``None`` where a number is undefined."""
        models = zip(self.names, self.means.tolist(), self.mean_ranks.tolist(), strict=True)
        others = zip(self.names[1:], self.differences, strict=False)
        found = {
            "models": [{"name": name, "mean": mean, "mean_rank": rank} for name, mean, rank in models],
            "key": self.key,
            "verdicts": self.verdicts(),
            "rows": self.rows(),
            "intervals": dict(zip(self.names, self.intervals, strict=False)),
            "differences": [{"a": self.names[0], "b": name, **one.to_dict()} for name, one in others],
            "ranking": self.ranking,
        }
        return {name: plain_value(value) for name, value in found.items()}

    def to_json(self, *, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def to_csv(self) -> str:
        """:meth:`rows` as CSV, every number to its last bit; an undefined number is empty."""
        return csv_text(self.rows())

    def report(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the page, one HTML file, see :func:`ioukit.report.write_suite`, which names the options.

        Args:
            path: The file to write.
            **options: As for the function.
        """
        importlib.import_module("ioukit.report").write_suite(self, path, **options)

    def __repr__(self) -> str:
        numbers = zip(self.names, self.means.tolist(), strict=True)
        shown = ", ".join(f"{name} {mean_key(self.key)}={mean:.4f}" for name, mean in numbers)
        return f"Suite({shown}, {pluralize(len(self.sets), 'data set')})"


def evaluate_suite(
    sets: Mapping[str, Mapping[str, Evaluation]],
    key: str | None = None,
    *,
    level: float = 0.95,
    power: float = 0.8,
    replicates: int = 1000,
    permutations: int | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Suite:
    """One number of each model over many data sets, as for ODinW and RF100-VL: the mean over the data sets.

    Every data set counts the same, however large it is. A data set on which the number is undefined for a model, such
    as AP without objects, counts for no model. Limits are for these data sets with other images: images are drawn
    within each of them, the same ones for all models. A p-value comes from permutations, as in
    :func:`ioukit.statistics.compare`, which swap the detections of two models on images of every data set.

    Args:
        sets: For each data set by name, the evaluation of each model by name. All data sets have the same models.
        key: A number of the summary; the main one of the protocol, such as ``"AP"``, if ``None``.
        level: The probability of the intervals, within (0, 1).
        power: As for :func:`ioukit.statistics.compare`.
        replicates: How many replicates of the bootstrap of each data set; with 0, there are no intervals and tests.
        permutations: How many permutations. If ``None``, 1,000, or as many as the level and the number of pairs of
            models need.
        seed: A whole number of at least 0. The same seed gives the same bits, for any number of threads.
        threads: How many threads; all cores if ``None``.

    Raises:
        TypeError, ValueError: If there is no data set or model, a model lacks a data set, models of a data set were not
            evaluated on the same ground truth, data sets were evaluated by different rules, there is no such number,
            it is undefined on all data sets, a data set has fewer than two images, or a value is out of range.

    Examples:
        >>> from ioukit import Detections, GroundTruth, evaluate
        >>> from ioukit.comparison import evaluate_suite
        >>> boxes = [[0, 0, 9, 9], [0, 0, 9, 9]]
        >>> gt = GroundTruth.from_arrays(image_ids=[1, 2], category_ids=[1, 1], boxes=boxes)
        >>> dt = Detections.from_arrays(image_ids=[1, 2], category_ids=[1, 1], boxes=boxes, scores=[0.9, 0.8])
        >>> both, one = evaluate(gt, dt), evaluate(gt, dt[:1])
        >>> evaluate_suite({"cars": {"A": both}, "ships": {"A": one}}, "AR100", replicates=0)
        Suite(A mean AR100=0.7500, 2 data sets)
    """
    names, key = _checked(sets, key)
    check_level(level)
    if permutations is None:
        permutations = enough_permutations(level, tests_in(len(names), "holm"))
    check_count(permutations=permutations)
    if replicates:
        check_count(replicates=replicates)
        if few := [name for name, models in sets.items() if _images([*models.values()]) < 2]:
            raise ValueError(
                f"the data set {few[0]!r} has fewer than two images, which intervals and tests need; replicates of 0 "
                "make none"
            )
    evaluations = tuple(tuple(models[name] for name in names) for models in sets.values())
    values = np.array([[one.summary[key] for one in models] for models in evaluations])
    counted = [models for models, row in zip(evaluations, values, strict=True) if not np.isnan(row).any()]
    if not counted:
        raise ValueError(f"{key} is undefined on all data sets")
    intervals: dict[str, Interval] = {}
    differences: dict[tuple[str, str], Difference] = {}
    options: dict[str, Any] = {"level": level, "seed": check_seed(seed), "threads": threads}
    options["replicates"] = operator.index(replicates)
    pairs = [*itertools.combinations(range(len(names)), 2)] if replicates else []
    for at, (a, b) in enumerate(pairs):
        both = [(models[a], models[b]) for models in counted]
        with as_part(at, len(pairs) + 1):
            differences[names[a], names[b]] = mean_difference(
                both, key, power=power, permutations=operator.index(permutations), **options
            )
    for at, name in enumerate(names if replicates else ()):
        with as_part(len(pairs), len(pairs) + 1), as_part(at, len(names)):
            intervals[name] = mean_interval([models[at] for models in counted], key, **options)
    ranking = None
    if len(names) > 2 and replicates:
        lower = find_measure(evaluations[0][0].protocol, key).lower_is_better
        tests: dict[str, Any] = {"level": level, "permutations": permutations, "correction": "holm"}
        images = sum(map(_images, counted))
        tests["shortage"] = _shortage(level, permutations, images, len(names))
        ranking = ranking_of(intervals, differences, lower_is_better=lower, **tests)
    firsts = tuple(one for (first, _), one in differences.items() if first == names[0])
    return Suite(
        key, tuple(sets), names, evaluations, values, tuple(intervals.values()), firsts, ranking, int(permutations)
    )


def _checked(sets: Mapping[str, Mapping[str, Evaluation]], key: str | None) -> tuple[tuple[str, ...], str]:
    """The names of the models, and the key of the number."""
    if not sets or not all(sets.values()):
        raise ValueError("expected at least one data set, and at least one model on each")
    (first, models), *_ = sets.items()
    for name, found in sets.items():
        for one in found.values():
            check_result(one, "matches", "ioukit.evaluate")
        if lacking := [model for model in {**models, **found} if model not in found or model not in models]:
            has, not_ = (first, name) if lacking[0] in models else (name, first)
            raise ValueError(f"the data set {has!r} has the model {lacking[0]!r}, and {not_!r} has not")
        a, *others = found.values()
        try:
            for model, one in zip([*found][1:], others, strict=True):
                check_same_ground_truth(a, one, names=(next(iter(found)), model))
        except ValueError as error:
            raise ValueError(f"data set {name!r}: {error}") from None
        of_first = next(iter(models.values()))
        rules, expected = ((one.protocol, one.matches.iou_type) for one in (a, of_first))
        if rules != expected:
            raise ValueError(
                f"data sets must be evaluated by the same rules: {first!r} by {expected[0].name} of {expected[1]}, "
                f"{name!r} by {rules[0].name} of {rules[1]}"
            )
    key = of_first.protocol.main_measure.key if key is None else key
    check_choice("number", key, tuple(of_first.summary))
    return tuple(models), key


def _shortage(level: float, permutations: int, images: int, models: int) -> str:
    return shortage_of(level, permutations, images, images, tests_in(models, "holm"))


def _images(models: Sequence[Evaluation]) -> int:
    return len(models[0].matches.image_ids)
