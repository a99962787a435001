"""The record of two models."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ioukit._columns import Frozen, record
from ioukit.comparison.object_changes import Changes
from ioukit.comparison.sides import same_boxes, same_but_for_order
from ioukit.comparison.splitting import Parts
from ioukit.comparison.words import (
    change_sentences,
    leaning,
    outcome,
    sample_size,
    threshold_text,
    verdict,
    verdict_notes,
)
from ioukit.evaluation import Evaluation
from ioukit.statistics import Comparison, Difference


@record(frozen=True, eq=False, repr=False)
class ModelPair(Frozen):
    """Two models: the differences of their numbers, what changed, and the parts of the main difference."""

    name_a: str
    """The name of A."""
    name_b: str
    """The name of B."""
    a: Evaluation
    """The evaluation of A."""
    b: Evaluation
    """The evaluation of B."""
    comparison: Comparison
    """The differences of all numbers, B minus A, with intervals and p-values."""
    changes: Changes
    """What became of each object and of each false positive."""
    parts: Parts | None
    """The parts of the main difference; ``None`` if it cannot be split."""
    without_parts: str = ""
    """Why it cannot be split; empty if it is."""
    p_corrected: float | None = None
    """The p-value of the main difference, corrected for the number of pairs; ``None`` if there are only two models."""
    shortage: str = ""
    """Why the test cannot show any difference: too few images, clusters or permutations; empty if it can."""

    @property
    def names(self) -> tuple[str, str]:
        """The names of A and B."""
        return self.name_a, self.name_b

    @property
    def difference(self) -> Difference:
        """The difference of the main number."""
        return self.comparison[self.a.protocol.main_measure.key]

    @cached_property
    def same_boxes(self) -> bool:
        """Whether A and B have the same boxes of the same classes, so that only scores differ."""
        return same_boxes(self.a, self.b)

    @cached_property
    def same_but_for_order(self) -> bool:
        """Whether A and B have the same boxes with the same scores, and their numbers differ by the order alone."""
        is_other = any(abs(one.difference) > 0 for one in self.comparison.differences)
        return is_other and same_but_for_order(self.a, self.b)

    def change_sentences(self, names: tuple[str, str] | None = None) -> list[str]:
        """What became of the objects and the false positives, in sentences.

        Args:
            names: What the models are called there; their names if ``None``.
        """
        return change_sentences(
            self.changes, names or self.names, same_boxes=self.same_boxes, same_but_for_order=self.same_but_for_order
        )

    @cached_property
    def threshold_texts(self) -> tuple[str, str]:
        """The score thresholds of what changed, with digits that choose the same detections; empty for all scores."""
        low, high = (
            threshold_text(score, one.matches.detections.score)
            for score, one in zip(self.changes.score_thresholds, (self.a, self.b), strict=True)
        )
        return low, high

    @property
    def outcome(self) -> Literal["better", "worse", ""]:
        """What the test shows of B; empty if it cannot tell the two apart."""
        lower = self.a.protocol.main_measure.lower_is_better
        return outcome(self.difference, lower_is_better=lower, p_corrected=self.p_corrected)

    @property
    def leans(self) -> Literal["better", "worse", ""]:
        """Whether the number of B is better or worse than that of A, by chance or not; empty if neither is."""
        return leaning(self.difference, lower_is_better=self.a.protocol.main_measure.lower_is_better)

    def verdict(self) -> str:
        """Which model is better, in one or two sentences."""
        compared = self.comparison
        lower = self.a.protocol.main_measure.lower_is_better
        return verdict(
            self.difference,
            self.names,
            compared.num_images,
            compared.permutations,
            is_every=compared.is_every_permutation,
            num_clusters=compared.num_clusters,
            lower_is_better=lower,
            p_corrected=self.p_corrected,
            shortage=self.shortage,
        )

    def notes(self) -> str:
        """What the verdict needs to be understood; it may be empty."""
        sample = sample_size(self.comparison.num_clusters, self.comparison.num_images)
        return verdict_notes(self.difference, sample, alone=self.p_corrected is None)

    def notebook_caption(self) -> str:
        """Which model is better."""
        return self.verdict()

    def notebook_rows(self) -> tuple[Sequence[Any], int]:
        """One row per number."""
        rows = [
            {"": one.key, self.name_a: one.a, self.name_b: one.b, **one.notebook_values()}
            for one in self.comparison.differences
        ]
        return rows, len(rows)

    def __repr__(self) -> str:
        key = self.a.protocol.main_measure.key
        return f"ModelPair({key}: {self.name_a} {self.a.summary[key]:.4f}, {self.name_b} {self.b.summary[key]:.4f})"


def image_names(evaluation: Evaluation) -> Sequence[str]:
    """(I,) the file name of each image, or its id if it has none."""
    ids = evaluation.matches.image_ids
    found = [str(number) for number in ids.tolist()]
    truth = evaluation.ground_truth
    if truth is not None and len(truth.images) and np.isin(ids, truth.images.labels).all():
        named = truth.images.names.take(truth.images.positions(ids))[:]
        found = [name or number for name, number in zip(named, found, strict=True)]
    return found
