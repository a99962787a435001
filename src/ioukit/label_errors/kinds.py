"""The kinds of label errors."""

from __future__ import annotations

from typing import NamedTuple


class LabelErrorKind(NamedTuple):
    """A kind of label error."""

    key: str
    title: str
    change: str
    """What an annotator should do, in words."""


LABEL_ERROR_KINDS: tuple[LabelErrorKind, ...] = (
    LabelErrorKind("overlooked", "Overlooked object", "add the object"),
    LabelErrorKind("badly_drawn", "Badly drawn box", "draw the box again"),
    LabelErrorKind("swapped", "Wrong class", "change the class"),
    LabelErrorKind("doubled", "Doubled object", "remove one of the two"),
    LabelErrorKind("spurious", "Box around nothing", "remove the object"),
)
"""All kinds, in the order of :attr:`LabelErrors.kind`."""

OVERLOOKED, BADLY_DRAWN, SWAPPED, DOUBLED, SPURIOUS = range(len(LABEL_ERROR_KINDS))
