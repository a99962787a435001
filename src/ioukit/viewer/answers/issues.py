"""Labels that are likely wrong, as something to filter marks by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit.label_errors import LABEL_ERROR_KINDS, find_label_errors
from ioukit.viewer.answers.values import Issues

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.evaluation import Evaluation

__all__ = ["LEAST_SCORE", "label_issues"]

LEAST_SCORE = 0.1
"""The lowest score of a suspicion that counts: the estimated probability that the label is wrong. The command
``ioukit labels`` has the same."""


def label_issues(evaluations: Sequence[Evaluation], *, threads: int | None = None) -> Issues:
    """The label errors that each model suggests, see :func:`ioukit.label_errors.find_label_errors`.

    An object has the kinds of all models, a detection has those of its own model: it speaks for an overlooked object. A
    suspicion counts if its score is at least :data:`LEAST_SCORE`.

    Args:
        evaluations: The evaluations of the models, with their data or with near pairs; at least one.
        threads: How many threads; all cores if ``None``.
    """
    kinds = tuple(kind.key for kind in LABEL_ERROR_KINDS)
    overlooked = kinds.index("overlooked")
    tables = [evaluation.near_matches(threads=threads) for evaluation in evaluations]
    objects = np.zeros(len(tables[0].objects), np.uint8)
    detections = [np.zeros(len(table.detections), np.uint8) for table in tables]
    for evaluation, of_model in zip(evaluations, detections, strict=True):
        found = find_label_errors(evaluation, threads=threads).chosen(at_least=LEAST_SCORE)
        bits = np.left_shift(np.uint8(1), found.kind)
        accused = found.object >= 0
        np.bitwise_or.at(objects, found.object[accused], bits[accused])
        of_model[found.detection[found.kind == overlooked]] = 1 << overlooked
    return Issues(kinds, objects, tuple(detections))
