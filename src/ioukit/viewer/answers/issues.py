"""Labels that are likely wrong, as something to filter marks by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ioukit._columns import Frozen, record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.evaluation import Evaluation


LEAST_SCORE = 0.1
"""The lowest score of a suspicion that counts: the estimated probability that the label is wrong. The command
``ioukit labels`` has the same."""


@record(frozen=True, eq=False, repr=False)
class Issues(Frozen):
    """Which kinds of issues, of labels for example, each mark has."""

    kinds: tuple[str, ...]
    """The kinds by name, at most 8."""
    objects: npt.NDArray[np.uint8]
    """(G,) kinds of each object of the table: kind ``k`` is bit ``k``."""
    detections: tuple[npt.NDArray[np.uint8], ...] = ()
    """(N,) the same of the detections of each model, in the order of the models; empty if no detection has any."""


def label_issues(evaluations: Sequence[Evaluation], *, threads: int | None = None) -> Issues:
    """The label errors that each model suggests, see :func:`ioukit.label_errors.find_label_errors`.

    An object has the kinds of all models, a detection has those of its own model: it speaks for an overlooked object. A
    suspicion counts if its score is at least :data:`LEAST_SCORE`.

    Args:
        evaluations: The evaluations of the models, with their data or with near pairs; at least one.
        threads: How many threads; all cores if ``None``.
    """
    from ioukit.label_errors import LABEL_ERROR_KINDS, find_label_errors  # noqa: PLC0415 - for those who look for them

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
