"""Detections that come in the order of the images: they are matched while they are read, without files between.

Owns: which pieces have images that no other piece has, by what their files say of them (:func:`layout_of`), and when
the rows read so far are enough to be matched (:class:`RowsInOrder`). Does not own: the reading (sources/), the matching
(stages.py), and what happens after an :class:`OutOfPlaceError`: the engine starts again with the split.
Cut here because the rest does not depend on it: the split serves every order, but writes each row to disk once more.
What files say is not trusted: a row out of its place is noticed, never counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit.datasets import Images
from ioukit.scale.parts import rows_of_images
from ioukit.scale.sources.source import Piece

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


class OutOfPlaceError(Exception):
    """A piece of the input has other rows than its file says, or they are in another order than expected."""


class RowsInOrder:
    """The rows of the images that one piece has alone. As soon as they are enough, they are matched."""

    def __init__(
        self, images: tuple[int, int], most_rows: int, match_rows: Callable[[int, int, Sequence[Any]], None]
    ) -> None:
        """Begin without rows.

        Args:
            images: The positions of the first of the images, and of the one behind the last.
            most_rows: How many rows are kept, if the last image has no more of them.
            match_rows: Matches the rows of images from one position to before another one. It is called once for each
                range; the ranges follow one another.
        """
        self._first, self._end = images
        self._most_rows, self._match_rows = most_rows, match_rows
        self._waiting: list[Any] = []
        self._count = 0
        self._last = self._first
        self.matched: list[tuple[int, int]] = []
        """The ranges of images that have been matched."""

    def add(self, batch: Any) -> None:
        """Take the rows of a batch.

        Raises:
            OutOfPlaceError: If images come back that have been matched.
        """
        if not batch.num_rows:
            return
        if self._count + batch.num_rows > self._most_rows:
            self._match_before(self._last)
        place = batch.column("place").to_numpy()
        if place.min() < self._first:
            raise OutOfPlaceError
        self._waiting.append(batch)
        self._count += batch.num_rows
        self._last = max(self._last, int(place.max()))

    def finish(self) -> None:
        """Match the rest, when no more rows come."""
        self._match(self._end, self._waiting)

    def _match_before(self, last: int) -> None:
        """Match all images but the last one so far, of which there may be more rows."""
        if last == self._first:
            return
        rest = [rows_of_images(batch, last, self._end) for batch in self._waiting]
        self._match(last, [rows_of_images(batch, self._first, last) for batch in self._waiting])
        self._waiting = [batch for batch in rest if batch.num_rows]
        self._count = sum(batch.num_rows for batch in self._waiting)

    def _match(self, end: int, batches: Sequence[Any]) -> None:
        self._match_rows(self._first, end, batches)
        self.matched.append((self._first, end))
        self._first = end
