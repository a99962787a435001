"""Greedy suppression as it is defined: plain, one survivor after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import ioukit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.typing import FloatArray


def table(metric: str, boxes: FloatArray, of: str | None = None) -> FloatArray:
    """(N, N) in the dtype of the boxes: what `pairwise_<metric>` says."""
    options = {} if of is None else {"of": of}
    values: FloatArray = getattr(ioukit, f"pairwise_{metric}")(boxes, boxes, **options)
    return values


def greedy(
    overlap: FloatArray,
    scores: Sequence[float],
    threshold: float,
    *,
    codes: Sequence[Any] | None = None,
    at: bool = False,
) -> list[int]:
    """The survivors, from the table of all overlaps, compared as NumPy does."""
    removes = overlap >= threshold if at else overlap > threshold
    if codes is not None:
        number = np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1)
        removes &= number[:, None] == number
    kept: list[int] = []
    removed = np.zeros(len(scores), bool)
    for box in sorted(range(len(scores)), key=lambda box: (-scores[box], box)):
        if not removed[box]:
            kept.append(box)
            removed |= removes[box]
    return kept


def random_set(rng: np.random.Generator, dtype: Any = np.float64) -> tuple[FloatArray, FloatArray]:
    """A few boxes in a small place, of a kind that makes suppression hard: ties, thresholds met exactly, no area."""
    count = int(rng.integers(0, 14))
    kind = rng.integers(4)
    if kind == 0:  # whole numbers: many exact ratios
        corners = rng.integers(-6, 6, (count, 2, 2)).astype(float)
    elif kind == 1:
        corners = rng.normal(0, 10, (count, 2, 2))
    elif kind == 2:  # sizes from one to a million
        low = rng.uniform(-2, 2, (count, 1, 2))
        corners = np.concatenate([low, low + np.exp2(rng.uniform(-10, 10, (count, 1, 1)))], axis=1)
    else:  # copies of two boxes, moved a little
        corners = rng.integers(-4, 4, (2, 2, 2))[rng.integers(0, 2, count)] + rng.integers(0, 2, (count, 2, 2)) / 2
    boxes = np.sort(corners, axis=1).reshape(-1, 4).astype(dtype)
    scores = rng.integers(0, 6, count) / 8 - 0.25 if rng.random() < 0.5 else rng.uniform(-1, 1, count)
    return boxes, scores.astype(dtype)
