"""Soft-NMS: what overlaps a better box loses score instead of vanishing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from ioukit import _core
from ioukit._checks import check_positive, check_threads
from ioukit.postprocess._columns import as_columns, check_least, check_most, check_threshold

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat

__all__ = ["SoftMethod", "SymmetricMetric", "check_metric", "soft_nms"]

SoftMethod = Literal["linear", "gaussian"]
SymmetricMetric = Literal["iou", "iom", "giou", "diou", "ciou"]
"""The overlaps that a join knows and that do not ask which box came first."""


def soft_nms(
    boxes: BoxesLike,
    scores: ArrayLike,
    *,
    method: SoftMethod = "linear",
    iou_threshold: float = 0.3,
    sigma: float = 0.5,
    score_threshold: float = 0.001,
    labels: ArrayLike | None = None,
    max_keep: int | None = None,
    metric: SymmetricMetric = "iou",
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> tuple[Array, Array]:
    """Picks the box with the best score, lowers the scores of those that overlap it, and picks again.

    With ``u`` the IoU of a box with the one that was picked, its score is multiplied by

    - ``"linear"``: ``1 - u`` where ``u >= iou_threshold``, otherwise 1;
    - ``"gaussian"``: ``exp(-u**2 / sigma)``, whatever ``u`` is.

    The order is looked at again after every pick, as in the paper. Time and memory grow with the boxes and the pairs
    that decay (with ``"gaussian"``, all that intersect), not with N x N.

    Args:
        boxes: `Boxes` or an array-like of shape (N, 4), in any unit; NumPy's or of another library.
        scores: (N,) finite numbers of at least 0.
        method: How scores fall.
        iou_threshold: At least 0, for ``"linear"`` alone. Above 1, nothing decays.
        sigma: Above 0, for ``"gaussian"`` alone: the larger, the less scores fall.
        score_threshold: Boxes whose score falls **below** it are removed, as are those that come with less.
        labels: (N,) integers, such as classes. Only boxes with equal labels lower each other.
        max_keep: At most so many boxes, the first picked.
        metric: What ``u`` is; where it is not positive, nothing decays.
        format: What plain arrays hold: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``.
        check: Whether plain arrays are checked. Without it, invalid boxes give results without meaning.
        threads: How many threads may search for overlaps, by default all; they change no bit.

    Returns:
        ``keep``, (K,) int64 positions in the order they were picked, and ``scores``, (K,) the lowered scores they had
        then, which never rise from one to the next; of equal scores the lower position is picked. Scores are computed
        in float64 and have the dtype they came in.

    Raises:
        ValueError: If a shape does not fit, a box is not valid, a score is negative or not finite, or an option is out
            of range.
        TypeError: If something is of the wrong kind.

    Examples:
        >>> from ioukit import soft_nms
        >>> keep, scores = soft_nms([[0, 0, 10, 10], [0, 0, 10, 8], [20, 0, 30, 10]], [0.9, 0.8, 0.7])
        >>> keep, scores.round(2)
        (array([0, 2, 1]), array([0.9 , 0.7 , 0.16]))

    Reference: Bodla et al., Soft-NMS: Improving Object Detection With One Line of Code, ICCV 2017, arXiv:1704.04503.
    """
    if method not in get_args(SoftMethod):
        raise ValueError(f"unknown method {method!r}; choose from {', '.join(get_args(SoftMethod))}")
    check_metric(metric)
    check_threshold(iou_threshold=iou_threshold, score_threshold=score_threshold)
    check_positive(sigma=sigma)
    most, workers = check_most("max_keep", max_keep), check_threads(threads)
    columns = as_columns(boxes, scores, labels, fmt=format, check=check)

    # A box that starts below the threshold is never picked and lowers no other.
    limit = columns.score_limit(score_threshold)
    rows = np.flatnonzero(columns.scores >= limit)
    least = iou_threshold if method == "linear" else 0.0
    keep, lowered = _core.soft_nms(
        metric,
        check_least(least, columns.boxes.dtype),
        columns.boxes[rows],
        None if columns.labels is None else columns.labels[rows],
        columns.scores[rows],
        None if method == "linear" else float(sigma),
        limit,
        most,
        workers,
    )
    return columns.positions_back(rows[keep].astype(np.int64, copy=False)), columns.scores_back(lowered)


def check_metric(metric: str) -> None:
    """Refuses what is no symmetric overlap."""
    if metric not in get_args(SymmetricMetric):
        raise ValueError(f"unknown metric {metric!r}; choose from {', '.join(get_args(SymmetricMetric))}")
