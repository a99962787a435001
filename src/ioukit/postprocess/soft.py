"""Soft-NMS: a box that overlaps a better one loses score instead of being removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from ioukit import _core
from ioukit._checks import check_choice, check_positive, check_threads
from ioukit.postprocess._inputs import host_set
from ioukit.postprocess._options import (
    SymmetricMetric,
    check_metric,
    check_thresholds,
    count_limit,
    join_threshold,
)
from ioukit.postprocess._signatures import survivors_and_numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat


SoftMethod: TypeAlias = Literal["linear", "gaussian"]


@survivors_and_numbers
def soft_nms(
    boxes: BoxesLike,
    scores: ArrayLike,
    iou_threshold: float = 0.3,
    *,
    method: SoftMethod = "linear",
    sigma: float = 0.5,
    score_threshold: float = 0.001,
    labels: ArrayLike | None = None,
    max_keep: int | None = None,
    metric: SymmetricMetric = "iou",
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> tuple[Array, Array]:
    """Picks the box with the best score, lowers the scores of the boxes that overlap it, and repeats.

    With ``u`` the overlap of a box with the picked one, its score is multiplied by

    - ``"linear"``: ``1 - u`` where ``u >= iou_threshold``, otherwise 1;
    - ``"gaussian"``: ``exp(-u**2 / sigma)`` for every ``u``.

    Each pick is the best of the lowered scores, as in the paper. Time and memory grow with the number of boxes and of
    pairs that lower a score (with ``"gaussian"``, of all pairs that intersect), not with N x N.

    Args:
        boxes: (N, 4) array, xyxy by default, in pixels or any other unit; nested lists or `Boxes`.
        scores: (N,) finite numbers of at least 0, from the same library.
        iou_threshold: At least 0, for ``"linear"`` only. Above 1, no score is lowered.
        method: ``"linear"`` or ``"gaussian"``.
        sigma: Above 0, for ``"gaussian"`` only. A larger value lowers scores less.
        score_threshold: At least 0. A box is removed when its score is or falls **below** this.
        labels: (N,) integers, such as classes. Only boxes with equal labels lower each other's scores.
        max_keep: The largest number of boxes to keep, the first picks; None for no limit.
        metric: The overlap ``u``. Where it is not positive, no score is lowered.
        format: The format of plain arrays: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``. `Boxes` have their
            own.
        check: Whether plain arrays are checked. If False, boxes that are not valid give results without meaning.
        threads: How many threads may search for overlaps; by default one per core. It does not change a bit.

    Returns:
        ``keep``, (K,) int64, the positions of the boxes in the order of the picks, and ``scores``, (K,), the lowered
        scores at the time of the pick, in descending order. Of equal scores the lower position is picked first. Scores
        are computed in float64 and returned in their dtype. Both are arrays of the caller's library.

    Raises:
        ValueError: If a shape does not fit, a box is not valid, a score is negative or not finite, or an option is out
            of range.
        TypeError: If an argument has the wrong type, or the arrays come from different libraries.

    Examples:
        >>> from ioukit import soft_nms
        >>> keep, scores = soft_nms([[0, 0, 10, 10], [0, 0, 10, 8], [20, 0, 30, 10]], [0.9, 0.8, 0.7])
        >>> keep, scores.round(2)
        (array([0, 2, 1]), array([0.9 , 0.7 , 0.16]))

    Reference: Bodla et al., Soft-NMS: Improving Object Detection With One Line of Code, ICCV 2017, arXiv:1704.04503.
    """
    check_choice("method", method, get_args(SoftMethod))
    check_metric(metric)
    check_thresholds(iou_threshold=iou_threshold, score_threshold=score_threshold)
    check_positive(sigma=sigma)
    most, workers = count_limit("max_keep", max_keep), check_threads(threads)
    given = host_set(boxes, scores, labels, format=format, check=check)

    # A box that starts below the threshold is never picked and lowers no other.
    weights, limit = given.weights(), given.score_limit(score_threshold)
    rows = np.flatnonzero(weights >= limit)
    keep, lowered = _core.soft_nms(
        metric,
        join_threshold(iou_threshold if method == "linear" else 0.0, given.boxes),
        given.boxes[rows],
        None if given.labels is None else given.labels[rows],
        weights[rows],
        None if method == "linear" else float(sigma),
        limit,
        most,
        workers,
    )
    return given.positions_back(rows[keep].astype(np.int64, copy=False)), given.scores_back(lowered)
