"""A rule about scores: all equal, rounded, no confidences, or in two units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.checks.repairs.repair import Repair
from ioukit.checks.suspicion import Suspicion, examples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ioukit.checks.case import Case
    from ioukit.typing import FloatArray


# Choices; none was measured alone. `benchmarks/planted_faults.py` measures the check as a whole (docs/check.md).
FEWEST = 20
OFTEN = 0.1
MOST_VALUES = 12
MIXED = 2
FEWEST_FLAT = 2
ROUNDED = 0.1
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
    labels = case.detections.image_labels()
    images = dict.fromkeys(labels[scores == values[most]].tolist())
    flat = _flat_images(labels, scores)
    if len(values) == 1:
        yield Suspicion(
            "scores_all_equal", "sure",
            f"all {len(scores):,} scores are {values[0]:g}: AP depends on the order of the file",
            len(scores), len(scores), "write the scores of the detector", examples(images),
        )  # fmt: skip
    elif count >= max(FEWEST, OFTEN * len(scores)) and len(values) > MOST_VALUES:
        yield Suspicion(
            "scores_often_equal", "likely", f"{count:,} of {len(scores):,} scores are {values[most]:g}",
            count, len(scores),
            "write the scores of the detector", examples(images),
        )  # fmt: skip
    elif len(flat) >= FEWEST_FLAT and count < len(scores) and len(values) > MOST_VALUES:
        yield Suspicion(
            "scores_often_equal", "likely",
            f"all scores of an image are equal on {len(flat):,} images with two detections or more",
            len(flat), len(np.unique(labels)), "write the scores of the detector", examples(flat), tuple(flat),
        )  # fmt: skip
    elif len(values) <= MOST_VALUES and len(scores) >= FEWEST * MOST_VALUES:
        yield Suspicion(
            "scores_rounded", "likely", f"{len(scores):,} detections have only {len(values):,} different scores",
            len(scores), len(scores), "write the scores with more digits", examples(f"{value:g}" for value in values),
        )  # fmt: skip


def _flat_images(labels: NDArray[Any], scores: FloatArray) -> list[int | str]:
    """The images whose detections, two or more, all have one score, if this is no effect of rounding."""
    order = np.lexsort((scores, labels))
    same = labels[order][1:] == labels[order][:-1]
    ties = same & (scores[order][1:] == scores[order][:-1])
    images, where, counts = np.unique(labels[order], return_inverse=True, return_counts=True)
    tied = np.bincount(where[1:][ties], minlength=len(images))
    flat = (counts > 1) & (tied == counts - 1)
    # Where scores are rounded, ties occur within other images as well.
    elsewhere = tied[~flat].sum() / max(1, (counts[~flat] - 1).sum())
    listed: list[int | str] = images[flat].tolist()
    return listed if elsewhere < ROUNDED else []


def _unit(case: Case, low: float, high: float) -> Iterator[Suspicion]:
    """Percent or logits: of all images, which changes no rank, or of some images, which does."""
    dt = case.detections
    how = "logits" if low < 0 else "percent" if high <= HIGHEST_PERCENT else "logits"
    words = {"percent": "percent", "logits": "logits, before the sigmoid function"}[how]
    images, where = np.unique(dt.image_labels(), return_inverse=True)
    beyond = (dt.scores < 0) | (dt.scores > 1)
    some = images[np.bincount(where, beyond, minlength=len(images)) > 0]
    count = int(beyond.sum())
    within = f"the scores are between {low:.3g} and {high:.3g}"
    if MIXED <= len(some) <= 0.98 * len(images):
        labels = tuple(some.tolist())
        yield Suspicion(
            "scores_of_two_units", "likely",
            f"the scores of {len(some):,} of {len(images):,} images go beyond 0 to 1 ({within}), and those of "
            "the others do not",
            count, len(dt), f"write confidences; these look like {words}", examples(some.tolist()), labels,
            Repair("scores", how, images=labels), must_improve=False,
        )  # fmt: skip
    else:
        yield Suspicion(
            f"scores_are_{how}", "possible",
            f"{within}: they look like {words}; their order, and so AP, stays the same",
            count, len(dt), "write confidences, for score thresholds and calibration", examples(some.tolist()),
            repair=Repair("scores", how), must_improve=False,
        )  # fmt: skip
