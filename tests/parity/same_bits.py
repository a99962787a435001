"""Equality in every bit, with -1 on the one side for NaN on the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit import Evaluation
    from parity.reference import Reference

__all__ = ["as_pycocotools", "assert_same_bits", "assert_same_evaluation"]


def as_pycocotools(values: Any) -> NDArray[np.float64]:
    """The values as pycocotools holds them: C order, undefined is -1."""
    array = np.array(values, dtype=np.float64, order="C")
    array[np.isnan(array)] = -1.0
    return array


def assert_same_bits(ours: Any, reference: Any, what: str) -> None:
    """Compares all bits of two arrays of doubles, the sign of a zero included; names the first difference."""
    left, right = as_pycocotools(ours), as_pycocotools(reference)
    assert left.shape == right.shape, f"{what} has shape {left.shape}, expected {right.shape}"
    different = np.argwhere(left.view(np.int64) != right.view(np.int64))
    if len(different):
        first = tuple(int(i) for i in different[0])
        raise AssertionError(
            f"{what} differs in {len(different)} of {left.size} cells, first at {first}: "
            f"{left[first]!r}, expected {right[first]!r}"
        )


def assert_same_evaluation(ours: Evaluation, reference: Reference) -> None:
    assert_same_bits(ours.precision, reference.precision, "precision")
    assert_same_bits(ours.recall, reference.recall, "recall")
    assert_same_bits(ours.scores, reference.scores, "scores")
