"""Detections that come in the order of the images: they are matched while they are read, without files between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ioukit._optional import import_extra

__all__ = ["OutOfPlaceError", "RowsInOrder"]


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
        arrow = import_extra("pyarrow", extra="tables", needed_by="ioukit.scale")
        before, rest = [], []
        for batch in self._waiting:
            is_before = batch.column("place").to_numpy() < last
            before.append(batch.filter(arrow.array(is_before)))
            rest.append(batch.filter(arrow.array(~is_before)))
        self._match(last, before)
        self._waiting = [batch for batch in rest if batch.num_rows]
        self._count = sum(batch.num_rows for batch in self._waiting)

    def _match(self, end: int, batches: Sequence[Any]) -> None:
        self._match_rows(self._first, end, batches)
        self.matched.append((self._first, end))
        self._first = end
