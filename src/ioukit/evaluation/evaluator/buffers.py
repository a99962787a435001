"""Columns that grow: what was added since the last match, in a few bytes per row."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit.evaluation.evaluator.rows import Rows
from ioukit.regions.formats import convert
from ioukit.typing import BoxFormat

_CHUNK = 8192
"""Rows that a piece of memory holds."""
_MISSING = {"crowd": np.array(False), "areas": np.array(np.nan, np.float32)}
"""The columns that batches may lack, and the value of their rows then."""


class GrowingColumn:
    """Rows of one shape in pieces of memory, so that growing copies nothing. The dtype widens when it must."""

    def __init__(self, dtype: npt.DTypeLike, tail: tuple[int, ...] = ()) -> None:
        self._tail = tail
        self._full: list[npt.NDArray[Any]] = []
        self._last = np.empty((0, *tail), dtype)
        self._used = 0

    def append(self, rows: npt.NDArray[Any]) -> None:
        """Add rows."""
        dtype = self._last.dtype
        if rows.dtype != dtype and (wider := np.promote_types(dtype, rows.dtype)) != dtype:
            self._close(wider)
        start, end = self._used, self._used + len(rows)
        if end > len(self._last):
            room = len(self._last) - start
            self._last[start:] = rows[:room]
            rows = rows[room:]
            self._used = len(self._last)
            self._close(self._last.dtype, len(rows))
            start, end = 0, len(rows)
        self._last[start:end] = rows
        self._used = end

    def _close(self, dtype: npt.DTypeLike, least: int = 0) -> None:
        if self._used:
            whole = self._used == len(self._last)
            self._full.append(self._last if whole else self._last[: self._used].copy())
        self._last = np.empty((max(_CHUNK, least), *self._tail), dtype)
        self._used = 0

    def whole(self) -> npt.NDArray[Any]:
        """All rows, which then are one piece of memory."""
        if len(self._full) != 1 or self._used:
            self._full = [np.concatenate([*self._full, self._last[: self._used]])]
            self._last = self._last[:0].copy()
            self._used = 0
        return self._full[0]


class GrowingRows:
    """The rows of one side of many batches."""

    def __init__(self, format: BoxFormat, *, scores: bool) -> None:
        self.format = format
        self._counts = GrowingColumn(np.int32)
        self._labels = GrowingColumn(np.int32)
        # Boxes of float32 wait in their own format; those of float64, and all that come after them, as x, y, w, h.
        self._narrow = GrowingColumn(np.float32, (4,))
        self._wide: GrowingColumn | None = None
        self._scores = GrowingColumn(np.float32) if scores else None
        self._optional: dict[str, GrowingColumn] = {}  # those of `_MISSING` that a batch had
        self.count = 0

    def append(self, rows: Rows) -> None:
        """Add the rows of a batch."""
        self._counts.append(np.array(rows.counts, np.int32))
        self._labels.append(_narrowed(rows.labels))
        assert rows.boxes is not None
        if self._wide is None and (rows.boxes.dtype != np.float32 or rows.format != self.format):
            self._wide = GrowingColumn(np.float64, (4,))
        if self._wide is None:
            self._narrow.append(rows.boxes)
        else:
            self._wide.append(convert(rows.boxes.astype(np.float64, copy=False), rows.format, "xywh"))
        if self._scores is not None:
            assert rows.scores is not None
            self._scores.append(rows.scores)
        for name, missing in _MISSING.items():
            given = getattr(rows, name)
            if given is not None and name not in self._optional:
                self._optional[name] = GrowingColumn(missing.dtype)
                self._optional[name].append(np.full(self.count, missing))
            if name in self._optional:
                self._optional[name].append(np.full(len(rows.labels), missing) if given is None else given)
        self.count += len(rows.labels)

    def counts(self) -> npt.NDArray[np.int32]:
        """(I,) the number of rows of each image."""
        return self._counts.whole()

    def rows(self, images: slice, start: int, end: int) -> Rows:
        """The rows of some images, which are those from `start` to `end`, with boxes in float64."""
        narrow = self._narrow.whole()
        boxes = convert(narrow[start : min(end, len(narrow))].astype(np.float64), self.format, "xywh")
        if self._wide is not None and end > len(narrow):
            wide = self._wide.whole()[max(start - len(narrow), 0) : end - len(narrow)]
            boxes = np.concatenate([boxes, wide])
        optional: dict[str, Any] = {name: column.whole()[start:end] for name, column in self._optional.items()}
        return Rows(
            counts=self.counts()[images].tolist(),
            labels=self._labels.whole()[start:end].astype(np.int64),
            boxes=boxes,
            format="xywh",
            scores=None if self._scores is None else self._scores.whole()[start:end],
            **optional,
        )


def _narrowed(labels: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """Labels as int32, if that holds them."""
    if not labels.size or (labels.max() < 2**31 and labels.min() >= -(2**31)):
        return labels.astype(np.int32)
    return labels
