"""Precision, recall and scores along the curve of every category."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._checks import check_threads
from ioukit.datasets import Categories
from ioukit.evaluation.matching import MatchTable
from ioukit.evaluation.protocols.protocol import Protocol

__all__ = ["Curves", "accumulate"]


@dataclass(frozen=True, eq=False, repr=False)
class Curves:
    """pycocotools' arrays, NaN where it has -1: where there is nothing to find.

    Axes: T IoU thresholds, R recall thresholds, K categories, A area ranges, M caps on detections.
    """

    protocol: Protocol
    """The rules."""
    categories: Categories
    """The categories along K."""
    precision: npt.NDArray[np.float64]
    """(T, R, K, A, M) best precision at the recall or beyond; 0 where the recall is not reached."""
    recall: npt.NDArray[np.float64]
    """(T, K, A, M) recall after the last detection."""
    scores: npt.NDArray[np.float64]
    """(T, R, K, A, M) score with which the recall is reached; 0 where it is not."""


def accumulate(table: MatchTable, *, threads: int | None = None) -> Curves:
    """Draw the curves of a match table.

    The detections of a category stand in the order of their scores, equal ones in that of image and rank. Precision is
    ``tp / (tp + fp)`` (plus 2**-52 below, as pycocotools has it), made to fall from left to right; recall is
    ``tp / objects``.
    """
    protocol = table.protocol
    arrays: dict[str, npt.NDArray[Any]] = _core.accumulate(
        table.category,
        table.rank,
        table.score,
        table.matched,
        table.ignored,
        table.num_ground_truth,
        len(protocol.iou_thresholds),
        np.array(protocol.recall_thresholds),
        np.array(protocol.max_dets, np.uint32),
        check_threads(threads),
    )
    for array in arrays.values():
        array.flags.writeable = False
    # The core writes category by category; pycocotools' order of axes is a view of that.
    return Curves(
        protocol,
        table.categories,
        precision=arrays["precision"].transpose(3, 4, 0, 1, 2),
        recall=arrays["recall"].transpose(3, 0, 1, 2),
        scores=arrays["scores"].transpose(3, 4, 0, 1, 2),
    )
