"""The detections that count, best first: of each class, and of all classes pooled."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit.datasets import Categories
from ioukit.evaluation.protocols import Protocol
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
    iou_threshold, area_range = threshold_and_range(table.protocol, iou_threshold, area_range)
    evaluated = table.evaluated
    counted = np.flatnonzero(~table.is_ignored(iou_threshold, area_range))
    pooled = counted[np.argsort(-table.detections.score[counted], kind="stable")]
    by_class = rows_by_class(table.evaluated_category(table.detections.category[pooled]), len(evaluated))
    to_find = table.num_objects[:, table.protocol.position_of_area(area_range)]
    return Ranking(evaluated, iou_threshold, area_range, pooled, tuple(pooled[rows] for rows in by_class), to_find)


def threshold_and_range(protocol: Protocol, iou_threshold: float | None, area_range: str | None) -> tuple[float, str]:
    """The IoU threshold as the protocol has it, and the area range; the main ones if ``None``.

    Raises:
        ValueError: If the protocol has no such threshold or area range.
    """
    area_range = protocol.main_area if area_range is None else area_range
    protocol.position_of_area(area_range)
    at = protocol.position_of_iou(protocol.main_iou if iou_threshold is None else iou_threshold)
    return protocol.iou_thresholds[at], area_range


def rows_by_class(category: npt.NDArray[np.unsignedinteger[Any]], classes: int) -> tuple[Rows, ...]:
    """The rows of each class, in ascending order."""
    if classes <= np.iinfo(np.uint16).max:
        category = category.astype(np.uint16)  # NumPy sorts 16-bit integers by radix sort
    order = np.argsort(category, kind="stable")
    ends = np.cumsum([0, *np.bincount(category, minlength=classes)]).tolist()
    return tuple(order[start:end] for start, end in itertools.pairwise(ends))


def last_of_equal(score: npt.NDArray[np.float64]) -> Rows:
    """The position of the last of each run of equal scores, in descending order."""
    return np.flatnonzero(np.append(score[1:] != score[:-1], np.ones(min(len(score), 1), np.bool_)))
