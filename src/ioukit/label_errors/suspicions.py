"""Suspicions about labels, and what is assumed about them."""

from __future__ import annotations

from typing import NamedTuple

from ioukit._array_types import Floats, Rows

RATE = 0.02
"""The share of labels that is assumed to be wrong in a given way."""

NEVER_SURE = 0.02
"""The least chance that an object with a right label is not found."""


class Suspicions(NamedTuple):
    """Suspicions of one kind."""

    kind: int
    object: Rows
    """(N,) the accused object; -1 if it is missing."""
    detection: Rows
    """(N,) the detection that speaks against it; -1 for none."""
    other: Rows
    """(N,) the other object of a double; -1 for none."""
    overlap: Floats
    """(N,) IoU of the object with the detection or the other object; NaN for none."""
    expected: Floats
    """(N,) what :attr:`LabelErrors.expected` says."""
    odds: Floats
    """(N,) that the label is wrong."""
