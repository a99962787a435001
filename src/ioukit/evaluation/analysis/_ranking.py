"""The detections that count, best first: of each class, and of all classes pooled."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit.datasets import Categories
from ioukit.evaluation.table import MatchTable

Rows = npt.NDArray[np.intp]


class Ranking(NamedTuple):
    """The detections that count at a threshold in an area range, in descending order of score."""

    categories: Categories
    """(K,) the categories that are evaluated."""
    iou_threshold: float
    """The IoU threshold, as the protocol has it."""
    area_range: str
    """Label of the area range."""
    pooled: Rows
    """(N,) rows of the table, of all classes."""
    per_class: tuple[Rows, ...]
    """(K,) rows of the table, of each class."""
    objects: npt.NDArray[np.int64]
    """(K,) objects to find."""

    def curves(self) -> Iterator[tuple[Rows, int]]:
        """Rows and number of objects: first for all classes, then for each class."""
        yield self.pooled, int(self.objects.sum())
        yield from zip(self.per_class, self.objects.tolist(), strict=True)


def ranking(table: MatchTable, iou_threshold: float | None, area_range: str | None) -> Ranking:
    """The detections that count. Equal scores stay in the order of the table.

    Raises:
        ValueError: If the protocol has no such threshold or area range.
    """
    protocol = table.protocol
    area_range = protocol.main_area if area_range is None else area_range
    iou_threshold = protocol.main_iou if iou_threshold is None else iou_threshold
    iou_threshold = protocol.iou_thresholds[protocol.position_of_iou(iou_threshold)]
    evaluated = table.evaluated
    counted = np.flatnonzero(~table.is_ignored(iou_threshold, area_range))
    category = table.evaluated_category(table.detections.category[counted])
    to_find = table.num_objects[:, protocol.position_of_area(area_range)]
    pooled = np.argsort(-table.detections.score[counted], kind="stable")
    if len(evaluated) <= np.iinfo(np.uint16).max:
        category = category.astype(np.uint16)  # NumPy sorts 16-bit integers by radix sort
    order = counted[pooled[np.argsort(category[pooled], kind="stable")]]
    ends = np.cumsum([0, *np.bincount(category, minlength=len(evaluated))]).tolist()
    per_class = tuple(order[start:end] for start, end in itertools.pairwise(ends))
    return Ranking(evaluated, iou_threshold, area_range, counted[pooled], per_class, to_find)


def last_of_equal(score: npt.NDArray[np.float64]) -> Rows:
    """The position of the last of each run of equal scores, in descending order."""
    return np.flatnonzero(np.append(score[1:] != score[:-1], np.ones(min(len(score), 1), np.bool_)))
