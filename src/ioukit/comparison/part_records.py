"""The record of a difference that is split into parts."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit._columns import Frozen, record
from ioukit.datasets import Categories

CHANGE_KINDS = ("classification", "localisation", "both", "duplicate", "background", "missed", "score")
"""The kinds of a part of a difference: the error kinds of TIDE, and ``"score"`` for a detection that only moved in the
order of the scores."""


@record(frozen=True, eq=False, repr=False)
class Parts(Frozen):
    """The result of :func:`parts`: the difference of a number of two models, split in several ways.

    Each list adds up to :attr:`difference`, up to rounding (1e-12). A part above 0 is a gain of B over A. Parts have
    the unit of the number: AP is within [0, 1].
    """

    key: str
    """The key of the number, ``"AP"`` for example."""
    a: float
    """The number of A."""
    b: float
    """The number of B."""
    difference: float
    """``b - a``."""
    categories: Categories
    """(E,) the categories; a single one for all if the protocol is class-agnostic."""
    image_ids: npt.NDArray[Any]
    """(I,) the ids of the images."""
    classes: Floats
    """(E,) the part of each category; 0 for a category without objects."""
    images: Floats
    """(I,) the part of each image. It is exactly 0 for an image on which A and B have the same scores and outcomes, if
    most objects that both find keep their scores."""
    sizes: Mapping[str, float]
    """The part of each size: objects, and false positives by their own size, in the area ranges of the protocol other
    than the main one. What is in none of them is under ``"other"``."""
    kinds: Mapping[str, float] | None
    """The part of each of :data:`CHANGE_KINDS`; ``None`` if the tables lack the near pairs that these need."""
    objects: Floats
    """(G,) the part of each object of the match tables: of being found, lost or found with another score. These and
    :attr:`false_positives` add up to the difference."""
    false_positives: Floats
    """(I,) the part of the false positives of each image."""
    spread: float
    """How much of the difference the exact attribution leaves open, as the sum of absolute values; it is spread over
    the parts in proportion to them. It comes from curves that are read at a few recalls, such as COCO's 101."""

    def largest_images(self, n: int, *, sign: int = 0) -> npt.NDArray[np.int64]:
        """Positions of up to ``n`` images with the largest parts, the largest first. Parts of 0 are left out.

        Args:
            n: How many.
            sign: 1 for images on which B gains, -1 for those on which it loses, 0 for both by absolute value.

        Raises:
            ValueError: If ``n`` is negative.
        """
        return _largest(self.images, n, sign)

    def largest_classes(self, n: int, *, sign: int = 0) -> npt.NDArray[np.int64]:
        """Positions of up to ``n`` classes, see :meth:`largest_images`."""
        return _largest(self.classes, n, sign)

    def __repr__(self) -> str:
        return f"Parts({self.key} {self.a:.4f} -> {self.b:.4f}, {self.difference:+.4f})"


def _largest(values: Floats, n: int, sign: int) -> npt.NDArray[np.int64]:
    if operator.index(n) < 0:
        raise ValueError(f"n must not be negative, got {n}")
    size = np.abs(values) if sign == 0 else sign * values
    order = np.argsort(-size, kind="stable")[:n]
    return order[size[order] > 0].astype(np.int64)
