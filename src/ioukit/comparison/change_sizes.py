"""How large are objects and false positives? Their area ranges, read from the match table alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ioukit.evaluation import MatchTable

__all__ = ["OTHER", "detection_sizes", "object_sizes", "size_labels"]

OTHER = "other"
"""The size of what is in none of the ranges."""


def size_labels(table: MatchTable) -> list[str]:
    """(S,) the labels of the area ranges other than the main one, and ``"other"``."""
    protocol = table.protocol
    return [*(label for label in protocol.area_labels if label != protocol.main_area), OTHER]


def object_sizes(table: MatchTable) -> npt.NDArray[np.int64]:
    """(G,) position in :func:`size_labels` of each object: the first range that does not ignore it."""
    labels = size_labels(table)
    sizes = np.full(len(table.objects), len(labels) - 1)
    for place in reversed(range(len(labels) - 1)):
        sizes[~table.ignores(labels[place])] = place
    return sizes


def detection_sizes(table: MatchTable) -> npt.NDArray[np.int64]:
    """(N,) position in :func:`size_labels` of each detection: the first range that it is known not to be outside of.

    A detection without a match is ignored in the ranges that it is outside of. So the table tells its range if there is
    an IoU threshold at which it has no match.
    """
    labels = size_labels(table)
    sizes = np.full(len(table), len(labels) - 1)
    rows = table.detections
    full = np.packbits(np.ones(len(table.protocol.iou_thresholds), np.uint8), bitorder="little")
    for place in reversed(range(len(labels) - 1)):
        at = table.protocol.position_of_area(labels[place])
        paired = np.zeros_like(rows.matched[:, at])
        np.bitwise_or.at(paired, table.pairs.detection, table.pairs.matched[:, at])
        inside = (~rows.ignored[:, at] & ~paired & full).any(axis=1)
        sizes[inside] = place
    return sizes
