"""NMS without a loop over boxes: Matrix, Fast and Cluster NMS, over the pairs that overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from ioukit import _core
from ioukit._checks import check_positive, check_threads
from ioukit.postprocess._columns import Columns, as_columns, check_least, check_most, check_threshold
from ioukit.postprocess.soft import SymmetricMetric, check_metric

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat

__all__ = ["ClusterVariant", "Clustered", "MatrixKernel", "cluster_nms", "fast_nms", "matrix_nms"]

MatrixKernel = Literal["gaussian", "linear"]
ClusterVariant = Literal["plain", "score_penalty", "score_penalty_distance", "weighted"]


class _Ranked(NamedTuple):
    """Boxes by falling score, and their pairs: the first of a pair is the better one, rows ascend."""

    columns: Columns
    order: NDArray[np.intp]
    """(N,) positions, the best first."""
    rows: NDArray[np.int64]
    """(P,) places in ``order``."""
    others: NDArray[np.int64]
    """(P,) places in ``order``, larger than the row's."""
    values: NDArray[np.float64]
    """(P,)"""

    @property
    def scores(self) -> NDArray[np.float64]:
        return self.columns.scores[self.order]


def matrix_nms(
    boxes: BoxesLike,
    scores: ArrayLike,
    *,
    kernel: MatrixKernel = "gaussian",
    sigma: float = 2.0,
    score_threshold: float = 0.0,
    labels: ArrayLike | None = None,
    max_keep: int | None = None,
    metric: SymmetricMetric = "iou",
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> tuple[Array, Array]:
    """Lowers every score once, by the better boxes it overlaps and by how likely those are to stay themselves.

    With the boxes by falling score and ``u[i, j]`` the IoU of two,

    ``s[j] *= min over i < j of f(u[i, j]) / f(max over k < i of u[k, i])``,

    where ``f(u)`` is ``exp(-sigma * u**2)`` (``"gaussian"``) or ``1 - u`` (``"linear"``). Pairs that do not intersect
    change nothing, so time and memory grow with the pairs that do, not with N x N. In the linear form a box that is
    covered by an equal one divides by 0: it is certain not to stay, and lowers no other.

    Args:
        boxes: `Boxes` or an array-like of shape (N, 4), in any unit; NumPy's or of another library.
        scores: (N,) finite numbers of at least 0.
        kernel: What ``f`` is.
        sigma: Above 0, for ``"gaussian"`` alone: the larger, the more scores fall.
        score_threshold: Boxes whose lowered score is **below** it are removed.
        labels: (N,) integers, such as classes. Only boxes with equal labels lower each other.
        max_keep: At most so many boxes, those with the best lowered scores.
        metric: What ``u`` is; where it is not positive, it counts as 0.
        format: What plain arrays hold: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``.
        check: Whether plain arrays are checked.
        threads: How many threads may search for overlaps, by default all; they change no bit.

    Returns:
        ``keep``, (K,) int64 positions by falling lowered score (of equal ones, by the score before and then the
        position), and ``scores``, (K,) the lowered scores, in the dtype they came in.

    Raises:
        ValueError: If a shape does not fit, a box is not valid, a score is negative or not finite, or an option is out
            of range.
        TypeError: If something is of the wrong kind.

    Examples:
        >>> from ioukit import matrix_nms
        >>> keep, scores = matrix_nms([[0, 0, 10, 10], [0, 0, 10, 8], [20, 0, 30, 10]], [0.9, 0.8, 0.7])
        >>> keep, scores.round(2)
        (array([0, 2, 1]), array([0.9 , 0.7 , 0.22]))

    Reference: Wang et al., SOLOv2: Dynamic and Fast Instance Segmentation, NeurIPS 2020, arXiv:2003.10152.
    """
    if kernel not in get_args(MatrixKernel):
        raise ValueError(f"unknown kernel {kernel!r}; choose from {', '.join(get_args(MatrixKernel))}")
    check_threshold(score_threshold=score_threshold)
    check_positive(sigma=sigma)
    most = check_most("max_keep", max_keep)
    ranked = _ranked(boxes, scores, labels, 0.0, metric, format, check, threads)

    covered = np.zeros(len(ranked.order))
    np.maximum.at(covered, ranked.others, ranked.values)
    if kernel == "gaussian":
        # Of the difference of the exponents: a quotient of two exponentials may be 0/0. What is above 1 counts as 1.
        factors = np.exp(np.minimum(sigma * (covered[ranked.rows] ** 2 - ranked.values**2), 0.0))
    else:
        left = 1.0 - covered[ranked.rows]
        factors = np.where(left > 0, (1.0 - ranked.values) / np.where(left > 0, left, 1.0), 1.0)
    decay = np.ones(len(ranked.order))
    np.minimum.at(decay, ranked.others, factors)
    lowered = ranked.scores * decay
    places = np.argsort(-lowered, kind="stable")
    columns = ranked.columns
    places = places[lowered[places] >= columns.score_limit(score_threshold)][:most]
    return columns.positions_back(ranked.order[places].astype(np.int64)), columns.scores_back(lowered[places])


def fast_nms(
    boxes: BoxesLike,
    scores: ArrayLike,
    *,
    iou_threshold: float = 0.5,
    labels: ArrayLike | None = None,
    max_keep: int | None = None,
    metric: SymmetricMetric = "iou",
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> Array:
    """Keeps the boxes that overlap no better box by more than the threshold, kept or not.

    Unlike in greedy NMS, a suppressed box goes on suppressing: of a chain of boxes only the first stays. What it keeps
    is a part of what ``nms`` keeps. One round of `cluster_nms`.

    Args:
        boxes: `Boxes` or an array-like of shape (N, 4), in any unit; NumPy's or of another library.
        scores: (N,) numbers, infinities too; of equal ones the lower position is the better.
        iou_threshold: At least 0: removes boxes with an overlap **above** it.
        labels: (N,) integers, such as classes. Only boxes with equal labels suppress each other.
        max_keep: At most so many boxes, the best.
        metric: How overlap is measured.
        format: What plain arrays hold: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``.
        check: Whether plain arrays are checked.
        threads: How many threads may search for overlaps, by default all; they change no bit.

    Returns:
        (K,) int64 positions by falling score.

    Raises:
        ValueError: If a shape does not fit, a box is not valid, a score is NaN, or an option is out of range.
        TypeError: If something is of the wrong kind.

    Examples:
        >>> from ioukit import fast_nms
        >>> fast_nms([[0, 0, 10, 10], [4, 0, 14, 10], [8, 0, 18, 10]], [0.9, 0.8, 0.7], iou_threshold=0.4)
        array([0])

    Reference: Bolya et al., YOLACT: Real-time Instance Segmentation, ICCV 2019, arXiv:1904.02689.
    """
    check_threshold(iou_threshold=iou_threshold)
    most = check_most("max_keep", max_keep)
    ranked = _ranked(boxes, scores, labels, iou_threshold, metric, format, check, threads, any_score=True)
    kept = _round(ranked, _above(ranked, iou_threshold), np.ones(len(ranked.order), np.bool_))
    return ranked.columns.positions_back(ranked.order[kept][:most].astype(np.int64))


class Clustered(NamedTuple):
    """What `cluster_nms` keeps."""

    keep: Array
    """(K,) int64 positions by falling score."""
    boxes: Array
    """(K, 4) the boxes, averaged with ``"weighted"``."""
    scores: Array
    """(K,) the scores, lowered with the penalties."""


def cluster_nms(
    boxes: BoxesLike,
    scores: ArrayLike,
    *,
    iou_threshold: float = 0.5,
    variant: ClusterVariant = "plain",
    iterations: int | None = None,
    sigma: float = 0.2,
    beta: float = 0.6,
    weight_threshold: float = 0.8,
    score_threshold: float = 0.01,
    labels: ArrayLike | None = None,
    max_keep: int | None = None,
    metric: SymmetricMetric = "iou",
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> Clustered:
    """Repeats Fast NMS with the boxes that are left as suppressors, until nothing changes.

    Then it keeps what greedy NMS keeps: after round ``n`` at least the first ``n`` boxes of every chain are right. With
    ``u[i, j]`` the IoU of a box that is left, ``i``, and a worse one, ``j``, the variants go on from there:

    - ``"plain"``: the boxes that are left.
    - ``"score_penalty"``: no suppression, but scores fall: ``s[j] *= product over i of exp(-u[i, j]**2 / sigma)``.
    - ``"score_penalty_distance"``: the same with ``min(exp(-u**2 / sigma) + D**beta, 1)``, where ``D`` is the squared
      distance of the centres over the squared diagonal of the box around both: far centres cost less.
    - ``"weighted"``: the boxes that are left, each the mean of itself and of those worse boxes with
      ``u[i, j] > weight_threshold``, weighted by ``s[j] * u[i, j]`` (itself by its score).

    Args:
        boxes: `Boxes` or an array-like of shape (N, 4), in any unit; NumPy's or of another library.
        scores: (N,) numbers; of equal ones the lower position is the better. Finite and at least 0 but for ``"plain"``.
        iou_threshold: At least 0: removes boxes with an overlap **above** it.
        variant: What follows.
        iterations: At most so many rounds; 1 is Fast NMS. By default until nothing changes, which takes at most as many
            rounds as the longest chain of suppressions has boxes.
        sigma: Above 0, for the penalties: the larger, the less scores fall.
        beta: Above 0, for ``"score_penalty_distance"``.
        weight_threshold: At least 0, for ``"weighted"``.
        score_threshold: With the penalties, boxes whose lowered score is **below** it are removed.
        labels: (N,) integers, such as classes. Only boxes with equal labels meet.
        max_keep: At most so many boxes, the best.
        metric: How overlap is measured.
        format: What plain arrays hold: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``.
        check: Whether plain arrays are checked.
        threads: How many threads may search for overlaps, by default all; they change no bit.

    Returns:
        ``keep``, ``boxes`` and ``scores`` of what is kept, by falling score.

    Raises:
        ValueError: If a shape does not fit, a box is not valid, a score is not allowed, or an option is out of range.
        TypeError: If something is of the wrong kind.

    Examples:
        >>> from ioukit import cluster_nms
        >>> chain = [[0, 0, 10, 10], [4, 0, 14, 10], [8, 0, 18, 10]]
        >>> cluster_nms(chain, [0.9, 0.8, 0.7], iou_threshold=0.4).keep
        array([0, 2])

    Reference: Zheng et al., Enhancing Geometric Factors in Model Learning and Inference for Object Detection and
    Instance Segmentation, IEEE Transactions on Cybernetics 2021, arXiv:2005.03572.
    """
    if variant not in get_args(ClusterVariant):
        raise ValueError(f"unknown variant {variant!r}; choose from {', '.join(get_args(ClusterVariant))}")
    check_threshold(iou_threshold=iou_threshold, weight_threshold=weight_threshold, score_threshold=score_threshold)
    check_positive(sigma=sigma, beta=beta)
    if iterations is not None and iterations < 1:
        raise ValueError(f"iterations must be at least 1, or None for as many as it takes, got {iterations}")
    most = check_most("max_keep", max_keep)
    penalised = variant in ("score_penalty", "score_penalty_distance")
    least = 0.0 if penalised else min(iou_threshold, weight_threshold) if variant == "weighted" else iou_threshold
    ranked = _ranked(boxes, scores, labels, least, metric, format, check, threads, any_score=variant == "plain")
    kept = _fixpoint(ranked, _above(ranked, iou_threshold), iterations)

    columns, order, lowered = ranked.columns, ranked.order, ranked.scores
    corners = columns.boxes[order]
    if penalised:
        distances = variant == "score_penalty_distance"
        lowered = lowered * _penalty(ranked, kept, sigma, beta if distances else None)
        places = np.argsort(-lowered, kind="stable")
        places = places[lowered[places] >= columns.score_limit(score_threshold)]
    else:
        places = np.flatnonzero(kept)
        if variant == "weighted":
            corners = _averaged(ranked, kept, weight_threshold)
    places = places[:most]
    return Clustered(
        columns.positions_back(order[places].astype(np.int64)),
        columns.boxes_back(corners[places], format),
        columns.scores_back(lowered[places]),
    )


def _ranked(
    boxes: BoxesLike,
    scores: ArrayLike,
    labels: ArrayLike | None,
    least: float,
    metric: SymmetricMetric,
    fmt: BoxFormat | None,
    check: bool,
    threads: int | None,
    any_score: bool = False,
) -> _Ranked:
    check_metric(metric)
    workers = check_threads(threads)
    columns = as_columns(boxes, scores, labels, fmt=fmt, check=check, any_score=any_score)
    order = np.argsort(-columns.scores, kind="stable")
    rows, others, values = _core.overlap_join(
        metric,
        check_least(least, columns.boxes.dtype),
        np.ascontiguousarray(columns.boxes[order]),
        None,
        None if columns.labels is None else columns.labels[order],
        None,
        workers,
    )
    return _Ranked(columns, order, rows, others, values.astype(np.float64, copy=False))


def _above(ranked: _Ranked, threshold: float) -> NDArray[np.bool_]:
    """The pairs that suppress, compared in the dtype that overlaps are computed in."""
    above: NDArray[np.bool_] = ranked.values > float(ranked.columns.boxes.dtype.type(threshold))
    return above


def _round(ranked: _Ranked, above: NDArray[np.bool_], left: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The boxes that no box of ``left`` suppresses."""
    kept = np.ones(len(left), np.bool_)
    kept[ranked.others[above & left[ranked.rows]]] = False
    return kept


def _fixpoint(ranked: _Ranked, above: NDArray[np.bool_], iterations: int | None) -> NDArray[np.bool_]:
    left = np.ones(len(ranked.order), np.bool_)
    # Round n settles the n-th box of every chain, so that one round a box is always enough.
    for _ in range(len(left) if iterations is None else iterations):
        kept = _round(ranked, above, left)
        if (kept == left).all():
            break
        left = kept
    return left


def _penalty(ranked: _Ranked, kept: NDArray[np.bool_], sigma: float, beta: float | None) -> NDArray[np.float64]:
    pairs = kept[ranked.rows]
    factors = np.exp(-(ranked.values[pairs] ** 2) / sigma)
    if beta is not None:
        corners = ranked.columns.boxes[ranked.order].astype(np.float64)
        a, b = corners[ranked.rows[pairs]], corners[ranked.others[pairs]]
        centres = (a[:, :2] + a[:, 2:] - b[:, :2] - b[:, 2:]) / 2
        around = np.maximum(a[:, 2:], b[:, 2:]) - np.minimum(a[:, :2], b[:, :2])
        # Of lengths, so that squares cannot overflow.
        distance = np.hypot(centres[:, 0], centres[:, 1]) / np.hypot(around[:, 0], around[:, 1])
        factors = np.minimum(factors + distance ** (2 * beta), 1.0)
    product: NDArray[Any] = np.ones(len(ranked.order))
    np.multiply.at(product, ranked.others[pairs], factors)
    return product


def _averaged(ranked: _Ranked, kept: NDArray[np.bool_], weight_threshold: float) -> NDArray[np.float64]:
    corners, scores = ranked.columns.boxes[ranked.order].astype(np.float64), ranked.scores
    pairs = kept[ranked.rows] & _above(ranked, weight_threshold)
    rows, others = ranked.rows[pairs], ranked.others[pairs]
    weights = scores[others] * ranked.values[pairs]
    total, sums = scores.copy(), corners * scores[:, None]
    np.add.at(total, rows, weights)
    np.add.at(sums, rows, weights[:, None] * corners[others])
    # A box that is averaged with none stays as it is, to the last bit.
    alone = (np.bincount(rows, minlength=len(scores)) == 0) | (total == 0)
    return np.where(alone[:, None], corners, sums / np.where(total > 0, total, 1.0)[:, None])
