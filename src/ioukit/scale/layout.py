"""Where parts begin, if the files are in the order of the images: then a piece has images that no other piece has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit.datasets import Images
from ioukit.scale.sources.source import Piece

__all__ = ["Layout", "layout_of"]

_MOST_SHARED = 0.1
"""Part of the images that several pieces may have, if there is a layout."""
LEAST_ROWS = 100_000
"""Detections of a piece, on average: a table of its own costs as much as splitting about so many."""


class Layout(NamedTuple):
    """Parts that one piece of the input has alone, and between them the images that several have."""

    edges: npt.NDArray[np.int64]
    """(P + 1,) positions in the images at which the parts begin."""
    owned: Mapping[int, int]
    """The part that a piece has alone, by the number of the piece."""


def layout_of(pieces: Sequence[Piece], images: Images) -> Layout | None:
    """The layout of pieces that say which images they have; ``None`` if splitting them is better.

    That is so if many images are in several pieces, or if the pieces are small.

    What pieces say is not checked here: whoever reads them must look whether a row is in its place.

    Args:
        pieces: The pieces of the input.
        images: The images of the ground truth.
    """
    ids, count = images.ids, len(images)
    said = {number: piece.image_ids for number, piece in enumerate(pieces) if piece.rows != 0}
    rows = [piece.rows for piece in pieces]
    if images.keys is not None or not said or None in said.values() or None in rows:
        return None
    if sum(row for row in rows if row is not None) < LEAST_ROWS * len(said):
        return None
    limits = np.array(list(said.values()), np.int64)
    firsts, ends = np.searchsorted(ids, limits[:, 0]), np.searchsorted(ids, limits[:, 1], side="right")
    changes = np.bincount(firsts, minlength=count + 1) - np.bincount(ends, minlength=count + 1)
    covered = np.cumsum(changes)[:count]
    if (covered > 1).sum() > _MOST_SHARED * count:
        return None
    owner = np.full(count, -1)
    for number, first, end in zip(said, firsts.tolist(), ends.tolist(), strict=True):
        alone = first + np.flatnonzero(covered[first:end] == 1)
        if len(alone) and alone[-1] - alone[0] + 1 != len(alone):
            return None  # another piece is in the middle of this one
        owner[alone] = number
    has_some = np.flatnonzero(covered)
    if not len(has_some):
        return None
    before = np.searchsorted(has_some, np.arange(count), side="right") - 1  # images without rows go with the one before
    owner = owner[has_some[np.maximum(before, 0)]]
    starts = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
    owned = {number: part for part, number in enumerate(owner[starts].tolist()) if number >= 0}
    return Layout(np.append(starts, count).astype(np.int64), owned)
