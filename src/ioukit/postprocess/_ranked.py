"""Boxes sorted by score with the pairs that overlap, from which several functions compute their result."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ioukit import _core
from ioukit._checks import check_threads
from ioukit.postprocess._inputs import HostSet, host_set
from ioukit.postprocess._options import SymmetricMetric, check_metric, join_threshold

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ioukit.regions import BoxesLike
    from ioukit.typing import BoxFormat, FloatArray


class Ranked(NamedTuple):
    """Boxes by descending score, and the pairs that overlap, the better box first."""

    given: HostSet
    order: NDArray[np.intp]
    """(N,) positions of the boxes, the best first."""
    boxes: FloatArray
    """(N, 4) xyxy in this order."""
    scores: NDArray[np.float64]
    """(N,) in this order."""
    rows: NDArray[np.int64]
    """(P,) the places of the better boxes in ``order``, ascending."""
    others: NDArray[np.int64]
    """(P,) the places of the worse boxes in ``order``."""
    values: NDArray[np.float64]
    """(P,) the overlaps."""

    def above(self, threshold: float) -> NDArray[np.bool_]:
        """(P,) the pairs with an overlap above the threshold, compared in the dtype of the overlaps."""
        above: NDArray[np.bool_] = self.values > float(self.boxes.dtype.type(threshold))
        return above


def ranked_pairs(
    boxes: BoxesLike,
    scores: ArrayLike,
    labels: ArrayLike | None,
    threshold: float,
    metric: SymmetricMetric,
    format: BoxFormat | None,
    check: bool,
    threads: int | None,
    *,
    weights: bool,
) -> Ranked:
    """Checks the arguments, sorts the boxes and finds the pairs.

    Args:
        boxes: (N, 4).
        scores: (N,).
        labels: (N,) integers; pairs have equal labels.
        threshold: Pairs with a smaller overlap may be left out.
        metric: The overlap.
        format: The format of plain arrays.
        check: Whether plain arrays are checked.
        threads: How many threads may search; None for one per core.
        weights: Whether scores are multiplied or averaged, so that they must be finite and at least 0.
    """
    check_metric(metric)
    workers = check_threads(threads)
    given = host_set(boxes, scores, labels, format=format, check=check)
    numbers = given.weights() if weights else given.comparable_scores()
    order = np.argsort(-numbers, kind="stable")
    corners = np.ascontiguousarray(given.boxes[order])
    codes = None if given.labels is None else given.labels[order]
    least = join_threshold(threshold, corners)
    rows, others, values = _core.overlap_join(metric, least, corners, None, codes, None, workers)
    return Ranked(given, order, corners, numbers[order], rows, others, values.astype(np.float64, copy=False))
