"""Suppression without a loop over boxes: Matrix, Fast and Cluster NMS, from the pairs that overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from ioukit._checks import check_choice, check_positive
from ioukit.postprocess._options import check_thresholds, count_limit
from ioukit.postprocess._ranked import Ranked, ranked_pairs
from ioukit.postprocess._signatures import survivors, survivors_and_numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ioukit.postprocess._options import SymmetricMetric
    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat


MatrixKernel: TypeAlias = Literal["gaussian", "linear"]
ClusterVariant: TypeAlias = Literal["plain", "score_penalty", "score_penalty_distance", "weighted"]


@survivors_and_numbers
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
    """Lowers every score once, by the better boxes that overlap the box.

    A better box lowers a score less if it is itself overlapped by better boxes. With the boxes sorted by descending
    score and ``u[i, j]`` the overlap of two boxes,

    ``s[j] *= min over i < j of f(u[i, j]) / f(max over k < i of u[k, i])``,

    where ``f(u)`` is ``exp(-sigma * u**2)`` (``"gaussian"``) or ``1 - u`` (``"linear"``). Time and memory grow with the
    number of pairs that intersect, not with N x N. In the linear form, a box with an equal better box would divide by
    0; such a box lowers no score.

    Args:
        boxes: (N, 4) array, xyxy by default, in pixels or any other unit; nested lists or `Boxes`.
        scores: (N,) finite numbers of at least 0, from the same library.
        kernel: The function ``f``: ``"gaussian"`` or ``"linear"``.
        sigma: Above 0, for ``"gaussian"`` only. A larger value lowers scores more.
        score_threshold: At least 0. Boxes whose lowered score is **below** this are removed.
        labels: (N,) integers, such as classes. Only boxes with equal labels lower each other's scores.
        max_keep: The largest number of boxes to keep, those with the best lowered scores; None for no limit.
        metric: The overlap ``u``. Where it is not positive, it counts as 0.
        format: The format of plain arrays: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``. `Boxes` have their
            own.
        check: Whether plain arrays are checked.
        threads: How many threads may search for overlaps; by default one per core. It does not change a bit.

    Returns:
        ``keep``, (K,) int64, positions by descending lowered score, and ``scores``, (K,), the lowered scores in their
        dtype. Boxes with equal lowered scores are sorted by their original score, then by position. Both are arrays of
        the caller's library.

    Raises:
        ValueError: If a shape does not fit, a box is not valid, a score is negative or not finite, or an option is out
            of range.
        TypeError: If an argument has the wrong type, or the arrays come from different libraries.

    Examples:
        >>> from ioukit import matrix_nms
        >>> keep, scores = matrix_nms([[0, 0, 10, 10], [0, 0, 10, 8], [20, 0, 30, 10]], [0.9, 0.8, 0.7])
        >>> keep, scores.round(2)
        (array([0, 2, 1]), array([0.9 , 0.7 , 0.22]))

    Reference: Wang et al., SOLOv2: Dynamic and Fast Instance Segmentation, NeurIPS 2020, arXiv:2003.10152.
    """
    check_choice("kernel", kernel, get_args(MatrixKernel))
    check_thresholds(score_threshold=score_threshold)
    check_positive(sigma=sigma)
    most = count_limit("max_keep", max_keep)
    ranked = ranked_pairs(boxes, scores, labels, 0.0, metric, format, check, threads, weights=True)

    covered = np.zeros(len(ranked.order))  # the largest overlap of each box with a better one
    np.maximum.at(covered, ranked.others, ranked.values)
    if kernel == "gaussian":
        # exp of the difference, because the quotient of two exponentials may be 0/0. Factors above 1 count as 1.
        factors = np.exp(np.minimum(sigma * (covered[ranked.rows] ** 2 - ranked.values**2), 0.0))
    else:
        left = 1.0 - covered[ranked.rows]
        factors = np.where(left > 0, (1.0 - ranked.values) / np.where(left > 0, left, 1.0), 1.0)
    decay = np.ones(len(ranked.order))
    np.minimum.at(decay, ranked.others, factors)
    lowered = ranked.scores * decay
    places = np.argsort(-lowered, kind="stable")
    given = ranked.given
    places = places[lowered[places] >= given.score_limit(score_threshold)][:most]
    return given.positions_back(ranked.order[places].astype(np.int64)), given.scores_back(lowered[places])


@survivors
def fast_nms(
    boxes: BoxesLike,
    scores: ArrayLike,
    iou_threshold: float = 0.5,
    *,
    labels: ArrayLike | None = None,
    max_keep: int | None = None,
    metric: SymmetricMetric = "iou",
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> Array:
    """The positions of the boxes that overlap no better box by more than the threshold, kept or not.

    Unlike in greedy NMS, a removed box removes others too, so only the first box of a chain survives. The survivors are
    a subset of those of `nms`. This is one round of `cluster_nms`.

    Args:
        boxes: (N, 4) array, xyxy by default, in pixels or any other unit; nested lists or `Boxes`.
        scores: (N,) numbers from the same library, also infinities. Of equal scores the lower position is the better.
        iou_threshold: At least 0. An overlap **above** this removes a box.
        labels: (N,) integers, such as classes. Only boxes with equal labels remove each other.
        max_keep: The largest number of boxes to keep, the best ones; None for no limit.
        metric: The overlap.
        format: The format of plain arrays: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``. `Boxes` have their
            own.
        check: Whether plain arrays are checked.
        threads: How many threads may search for overlaps; by default one per core. It does not change a bit.

    Returns:
        (K,) int64, the positions by descending score, in an array of the caller's library.

    Raises:
        ValueError: If a shape does not fit, a box is not valid, a score is NaN, or an option is out of range.
        TypeError: If an argument has the wrong type, or the arrays come from different libraries.

    Examples:
        >>> from ioukit import fast_nms
        >>> fast_nms([[0, 0, 10, 10], [4, 0, 14, 10], [8, 0, 18, 10]], [0.9, 0.8, 0.7], 0.4)
        array([0])

    Reference: Bolya et al., YOLACT: Real-time Instance Segmentation, ICCV 2019, arXiv:1904.02689.
    """
    check_thresholds(iou_threshold=iou_threshold)
    most = count_limit("max_keep", max_keep)
    ranked = ranked_pairs(boxes, scores, labels, iou_threshold, metric, format, check, threads, weights=False)
    kept = _round(ranked, ranked.above(iou_threshold), np.ones(len(ranked.order), np.bool_))
    return ranked.given.positions_back(ranked.order[kept][:most].astype(np.int64))


class Clustered(NamedTuple):
    """The boxes that `cluster_nms` keeps, by descending score."""

    keep: Array
    """(K,) int64, their positions."""
    boxes: Array
    """(K, 4) the boxes; with ``"weighted"``, averaged."""
    scores: Array
    """(K,) the scores; with the penalties, lowered."""


def cluster_nms(
    boxes: BoxesLike,
    scores: ArrayLike,
    iou_threshold: float = 0.5,
    *,
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
    """Repeats Fast NMS, in which only the boxes that are left remove others, until nothing changes.

    At the end the boxes that are left are those of greedy NMS: after round ``n``, at least the first ``n`` boxes of
    every chain are decided. Let ``u[i, j]`` be the overlap of a box ``i`` that is left and a worse box ``j``. The
    variants are:

    - ``"plain"``: the boxes that are left.
    - ``"score_penalty"``: all boxes, with lower scores: ``s[j] *= product over i of exp(-u[i, j]**2 / sigma)``.
    - ``"score_penalty_distance"``: the same with ``min(exp(-u**2 / sigma) + D**beta, 1)``, where ``D`` is the squared
      distance of the centres over the squared diagonal of the box around both. Far centres lower a score less.
    - ``"weighted"``: the boxes that are left, each averaged with the worse boxes of ``u[i, j] > weight_threshold``. The
      weight of a worse box is ``s[j] * u[i, j]``, that of the box itself is its score.

    Args:
        boxes: (N, 4) array, xyxy by default, in pixels or any other unit; nested lists or `Boxes`.
        scores: (N,) numbers from the same library. Of equal scores the lower position is the better. Except for
            ``"plain"`` they must be finite and at least 0.
        iou_threshold: At least 0. An overlap **above** this removes a box.
        variant: ``"plain"``, ``"score_penalty"``, ``"score_penalty_distance"`` or ``"weighted"``.
        iterations: The largest number of rounds; 1 is Fast NMS. None repeats until nothing changes, which takes at most
            as many rounds as the longest chain of boxes that remove each other.
        sigma: Above 0, for the penalties. A larger value lowers scores less.
        beta: Above 0, for ``"score_penalty_distance"``.
        weight_threshold: At least 0, for ``"weighted"``.
        score_threshold: At least 0. With the penalties, boxes whose lowered score is **below** this are removed.
        labels: (N,) integers, such as classes. Only boxes with equal labels affect each other.
        max_keep: The largest number of boxes to keep, the best ones; None for no limit.
        metric: The overlap.
        format: The format of plain arrays: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``. `Boxes` have their
            own.
        check: Whether plain arrays are checked.
        threads: How many threads may search for overlaps; by default one per core. It does not change a bit.

    Returns:
        ``keep``, ``boxes`` and ``scores`` of the boxes that are kept, by descending score, as arrays of the caller's
        library. For `Boxes` the boxes are xyxy.

    Raises:
        ValueError: If a shape does not fit, a box is not valid, a score is not allowed, or an option is out of range.
        TypeError: If an argument has the wrong type, or the arrays come from different libraries.

    Examples:
        >>> from ioukit import cluster_nms
        >>> chain = [[0, 0, 10, 10], [4, 0, 14, 10], [8, 0, 18, 10]]
        >>> cluster_nms(chain, [0.9, 0.8, 0.7], 0.4).keep
        array([0, 2])

    Reference: Zheng et al., Enhancing Geometric Factors in Model Learning and Inference for Object Detection and
    Instance Segmentation, IEEE Transactions on Cybernetics 2021, arXiv:2005.03572.
    """
    check_choice("variant", variant, get_args(ClusterVariant))
    check_thresholds(iou_threshold=iou_threshold, weight_threshold=weight_threshold, score_threshold=score_threshold)
    check_positive(sigma=sigma, beta=beta)
    if iterations is not None and iterations < 1:
        raise ValueError(f"iterations must be at least 1, or None for as many as it takes, got {iterations}")
    most = count_limit("max_keep", max_keep)
    penalised = variant in ("score_penalty", "score_penalty_distance")
    least = 0.0 if penalised else min(iou_threshold, weight_threshold) if variant == "weighted" else iou_threshold
    ranked = ranked_pairs(
        boxes, scores, labels, least, metric, format, check, threads, weights=variant != "plain"
    )  # fmt: skip
    kept = _fixpoint(ranked, ranked.above(iou_threshold), iterations)

    given, corners, lowered = ranked.given, ranked.boxes, ranked.scores
    if penalised:
        distances = variant == "score_penalty_distance"
        lowered = lowered * _penalty(ranked, kept, sigma, beta if distances else None)
        places = np.argsort(-lowered, kind="stable")
        places = places[lowered[places] >= given.score_limit(score_threshold)]
    else:
        places = np.flatnonzero(kept)
        if variant == "weighted":
            corners = _averaged(ranked, kept, weight_threshold)
    places = places[:most]
    return Clustered(
        given.positions_back(ranked.order[places].astype(np.int64)),
        given.boxes_back(corners[places], format),
        given.scores_back(lowered[places]),
    )


def _round(ranked: Ranked, above: NDArray[np.bool_], left: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(N,) the boxes that no box of ``left`` removes."""
    kept = np.ones(len(left), np.bool_)
    kept[ranked.others[above & left[ranked.rows]]] = False
    return kept


def _fixpoint(ranked: Ranked, above: NDArray[np.bool_], iterations: int | None) -> NDArray[np.bool_]:
    """(N,) the boxes that are left when a further round changes nothing."""
    left = np.ones(len(ranked.order), np.bool_)
    # Round n decides the n-th box of every chain, so as many rounds as boxes are always enough.
    for _ in range(len(left) if iterations is None else iterations):
        kept = _round(ranked, above, left)
        if (kept == left).all():
            break
        left = kept
    return left


def _penalty(ranked: Ranked, kept: NDArray[np.bool_], sigma: float, beta: float | None) -> NDArray[np.float64]:
    """(N,) the factors of the scores; ``beta`` is None for the penalty without distances."""
    pairs = kept[ranked.rows]
    factors = np.exp(-(ranked.values[pairs] ** 2) / sigma)
    if beta is not None:
        corners = ranked.boxes.astype(np.float64)
        a, b = corners[ranked.rows[pairs]], corners[ranked.others[pairs]]
        centres = (a[:, :2] + a[:, 2:] - b[:, :2] - b[:, 2:]) / 2
        around = np.maximum(a[:, 2:], b[:, 2:]) - np.minimum(a[:, :2], b[:, :2])
        # The ratio of lengths, because squares could overflow.
        distance = np.hypot(centres[:, 0], centres[:, 1]) / np.hypot(around[:, 0], around[:, 1])
        factors = np.minimum(factors + distance ** (2 * beta), 1.0)
    product: NDArray[Any] = np.ones(len(ranked.order))
    np.multiply.at(product, ranked.others[pairs], factors)
    return product


def _averaged(ranked: Ranked, kept: NDArray[np.bool_], weight_threshold: float) -> NDArray[np.float64]:
    """(N, 4) the weighted mean of each box with the worse boxes that overlap it above the threshold."""
    corners, scores = ranked.boxes.astype(np.float64), ranked.scores
    pairs = kept[ranked.rows] & ranked.above(weight_threshold)
    rows, others = ranked.rows[pairs], ranked.others[pairs]
    weights = scores[others] * ranked.values[pairs]
    total, sums = scores.copy(), corners * scores[:, None]
    np.add.at(total, rows, weights)
    np.add.at(sums, rows, weights[:, None] * corners[others])
    # A box without others to average with stays as it is, to the last bit.
    alone = (np.bincount(rows, minlength=len(scores)) == 0) | (total == 0)
    return np.where(alone[:, None], corners, sums / np.where(total > 0, total, 1.0)[:, None])
