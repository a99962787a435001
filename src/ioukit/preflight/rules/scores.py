"""A rule about scores: all equal, rounded, no confidences, or in two units."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit.preflight.repairs.repair import Repair
from ioukit.preflight.suspicion import Suspicion, examples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ioukit.preflight.case import Case

__all__ = ["scores"]

FEWEST = 20
OFTEN = 0.1
MOST_VALUES = 12
MIXED = 2
HIGHEST_PERCENT = 100.0


def scores(case: Case) -> Iterator[Suspicion]:
    """Scores that say little: one value for all or many, costs instead of confidences, percent, logits."""
    dt = case.detections
    if len(dt) < FEWEST:
        return
    yield from _equal(case)
    low, high = float(dt.scores.min()), float(dt.scores.max())
    if len(np.unique(dt.scores)) > 1:
        yield Suspicion(
            "scores_are_costs", "possible",
            "the numbers rise if the order of the scores is reversed: they may be distances or costs, not confidences",
            len(dt), len(dt), "write confidences", repair=Repair("scores", "negated"), least_gain=0.05,
        )  # fmt: skip
    if low < 0 or high > 1:
        yield from _unit(case, low, high)


def _equal(case: Case) -> Iterator[Suspicion]:
    scores = case.detections.scores
    values, times = np.unique(scores, return_counts=True)
    most = int(np.argmax(times))
    count = int(times[most])
    images = dict.fromkeys(case.detections.image_labels()[scores == values[most]].tolist())
    if len(values) == 1:
        yield Suspicion(
            "scores_all_equal", "sure", f"all {len(scores):,} scores are {values[0]:g}: AP depends on the order of the file",
            len(scores), len(scores), "write the scores of the detector", examples(images),
        )  # fmt: skip
    elif count >= max(FEWEST, OFTEN * len(scores)) and len(values) > MOST_VALUES:
        yield Suspicion(
            "scores_often_equal", "likely", f"{count:,} of {len(scores):,} scores are {values[most]:g}", count, len(scores),
            "write the scores of the detector", examples(images),
        )  # fmt: skip
    elif len(values) <= MOST_VALUES and len(scores) >= FEWEST * MOST_VALUES:
        yield Suspicion(
            "scores_rounded", "likely", f"{len(scores):,} detections have only {len(values):,} different scores",
            len(scores), len(scores), "write the scores with more digits", examples(f"{value:g}" for value in values),
        )  # fmt: skip


def _unit(case: Case, low: float, high: float) -> Iterator[Suspicion]:
    """Percent or logits: of all images, which changes no rank, or of some images, which does."""
    dt = case.detections
    how = "logits" if low < 0 else "percent" if high <= HIGHEST_PERCENT else "logits"
    words = {"percent": "percent", "logits": "logits, before the sigmoid function"}[how]
    images, where = np.unique(dt.image_labels(), return_inverse=True)
    beyond = (dt.scores < 0) | (dt.scores > 1)
    concerned: NDArray[np.bool_] = np.bincount(where, beyond, minlength=len(images)) > 0
    some = images[concerned]
    count = int(beyond.sum())
    within = f"the scores are between {low:.3g} and {high:.3g}"
    if MIXED <= len(some) <= 0.98 * len(images):
        labels = tuple(some.tolist())
        yield Suspicion(
            "scores_of_two_units", "likely",
            f"the scores of {len(some):,} of {len(images):,} images go beyond 0 to 1 ({within}), those of the others do not",
            count, len(dt), f"write confidences; these look like {words}", examples(some.tolist()), labels,
            Repair("scores", how, images=labels), must_improve=False,
        )  # fmt: skip
    else:
        yield Suspicion(
            f"scores_are_{how}", "possible", f"{within}: they look like {words}; their order, and so AP, stays the same",
            count, len(dt), "write confidences, for score thresholds and calibration", examples(some.tolist()),
            repair=Repair("scores", how), must_improve=False,
        )  # fmt: skip
