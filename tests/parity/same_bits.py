"""Equality in every bit, with -1 on the one side for NaN on the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit import Evaluation
    from parity.reference import Reference

__all__ = ["UNITS_OF_MEANS", "as_pycocotools", "assert_same_bits", "assert_same_evaluation"]

# By how many units of the last place means of two versions of NumPy may differ: 2.3 changed the order of additions.
UNITS_OF_MEANS = 0 if tuple(map(int, np.__version__.split(".")[:2])) >= (2, 3) else 16


def as_pycocotools(values: Any) -> NDArray[np.float64]:
    """The values as pycocotools holds them: C order, undefined is -1."""
    array = np.array(values, dtype=np.float64, order="C")
    array[np.isnan(array)] = -1.0
    return array


def assert_same_bits(ours: Any, reference: Any, what: str, *, units: int = 0) -> None:
    """Compares all bits of two arrays of doubles, the sign of a zero included; names the first difference.

    Values may differ by some ``units`` of the last place.
    """
    left, right = as_pycocotools(ours), as_pycocotools(reference)
    assert left.shape == right.shape, f"{what} has shape {left.shape}, expected {right.shape}"
    is_equal = left.view(np.int64) == right.view(np.int64)
    if units:
        is_equal |= np.abs(left - right) <= units * np.spacing(np.abs(right))
    different = np.argwhere(~is_equal)
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
