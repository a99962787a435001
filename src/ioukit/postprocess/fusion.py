"""One set of boxes out of several: the answers of many models, or the many answers of one, put together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from ioukit import _core
from ioukit._checks import check_threads
from ioukit.postprocess._columns import Columns, as_columns, check_least, check_threshold, host
from ioukit.postprocess.soft import SymmetricMetric, check_metric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat

__all__ = ["Confidence", "Fused", "Merged", "non_maximum_merge", "non_maximum_weighted", "weighted_boxes_fusion"]

Confidence = Literal["avg", "max", "box_and_model_avg", "absent_model_aware_avg"]
"""How the score of a fused box follows from those of its members."""

_LARGEST_SCORE = 2.0**400  # times a coordinate, summed over all boxes, it stays within a float64


class Fused(NamedTuple):
    """Fused boxes by falling score."""

    boxes: Array
    """(K, 4)"""
    scores: Array
    """(K,)"""
    labels: Array
    """(K,) int64; 0 where no labels were given."""


def weighted_boxes_fusion(
    boxes_list: Sequence[BoxesLike],
    scores_list: Sequence[ArrayLike],
    labels_list: Sequence[ArrayLike] | None = None,
    *,
    weights: Sequence[float] | None = None,
    iou_threshold: float = 0.55,
    skip_box_threshold: float = 0.0,
    confidence: Confidence = "avg",
    allows_overflow: bool = False,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> Fused:
    """Averages the boxes that several models give for one object, weighted by their scores.

    Boxes go by falling score (times the weight of the model; of equal ones, the earlier model and then the lower
    position first). Each joins the cluster whose fused box has the highest IoU with it, if that is **above**
    ``iou_threshold`` (of equal IoU, the cluster that began first), or else begins one. The fused box is the mean of the
    members' corners, weighted by their weighted scores, and moves with every member. In a cluster of ``n`` boxes, with
    weighted scores ``s`` and weights ``w`` of their models, the score is

    - ``"avg"``: ``mean(s) * min(n, models) / sum of all weights`` (``n`` in place of the minimum if
      ``allows_overflow``);
    - ``"max"``: ``max(s) / largest weight``;
    - ``"box_and_model_avg"``: ``sum(s) / sum(w) * (weights of the models in the cluster) / sum of all weights``;
    - ``"absent_model_aware_avg"``: ``sum(s) / (sum(w) + weights of the models that are not in the cluster)``.

    The results are those of the authors' tool, ``ensemble_boxes``, to the precision of float32, in which it adds up,
    with these differences: any unit is taken and nothing is cut to [0, 1]; inverted boxes are errors, not turned
    around; boxes without area are kept, as clusters of their own, where it leaves them out; where all scores of a
    cluster are 0 the first box stands, not NaN; and a wrong number of weights is an error, not ignored.

    Time grows with the boxes, the clusters near each being found through a grid that follows them, unless most of them
    lie in one place.

    Args:
        boxes_list: For each model `Boxes` or an array-like of shape (N, 4), all in one unit and of one library.
        scores_list: For each model (N,) finite numbers of at least 0.
        labels_list: For each model (N,) integers; only boxes with equal labels are fused. Without it, all are equal.
        weights: One positive number per model, all 1 by default.
        iou_threshold: At least 0 and below 1.
        skip_box_threshold: Boxes whose score, before the weight, is **below** it are left out.
        confidence: How scores are computed.
        allows_overflow: For ``"avg"``: scores may exceed 1 where a model has several boxes in a cluster.
        format: What plain arrays hold and the result will: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``. For
            `Boxes` the result is xyxy.
        check: Whether plain arrays are checked.
        threads: How many threads may work, one label each, by default all; they change no bit.

    Returns:
        ``boxes``, ``scores`` and ``labels`` by falling score (of equal scores, in the order of their best members),
        arrays of the library of the boxes. All is computed in float64 and rounded to the dtypes that the models' arrays
        promote to.

    Raises:
        ValueError: If lists differ in length, there is no model, a shape does not fit, a box, a score or a weight is
            not valid, or an option is out of range; the message names the model.
        TypeError: If something is of the wrong kind.

    Examples:
        >>> from ioukit import weighted_boxes_fusion
        >>> fused = weighted_boxes_fusion([[[0, 0, 10, 10]], [[1, 0, 11, 10]]], [[0.8], [0.4]])
        >>> fused.boxes.round(3), fused.scores.round(3)
        (array([[ 0.333,  0.   , 10.333, 10.   ]]), array([0.6]))

    Reference: Solovyev, Wang and Gabruseva, Weighted boxes fusion: Ensembling boxes from different object detection
    models, Image and Vision Computing 2021, arXiv:1910.13302.
    """
    if confidence not in get_args(Confidence):
        raise ValueError(f"unknown confidence {confidence!r}; choose from {', '.join(get_args(Confidence))}")
    if allows_overflow and confidence != "avg":
        raise ValueError(f"allows_overflow is for confidence='avg' alone, got confidence={confidence!r}")
    rule = "avg_overflow" if allows_overflow else confidence
    models = _models(boxes_list, scores_list, labels_list, weights, skip_box_threshold, format, check)
    return _fuse(models, iou_threshold, format, threads, moving=True, rule=rule)


def non_maximum_weighted(
    boxes_list: Sequence[BoxesLike],
    scores_list: Sequence[ArrayLike],
    labels_list: Sequence[ArrayLike] | None = None,
    *,
    weights: Sequence[float] | None = None,
    iou_threshold: float = 0.55,
    skip_box_threshold: float = 0.0,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> Fused:
    """Groups boxes around the best ones and averages each group, weighted by score times IoU with its best box.

    As `weighted_boxes_fusion`, but boxes are compared with the best box of a cluster, which does not move, and the
    score is that of the best box. Weights are divided by the largest, so that scores stay within their range.

    Args:
        boxes_list: For each model `Boxes` or an array-like of shape (N, 4), all in one unit and of one library.
        scores_list: For each model (N,) finite numbers of at least 0.
        labels_list: For each model (N,) integers; only boxes with equal labels are fused. Without it, all are equal.
        weights: One positive number per model, all 1 by default.
        iou_threshold: At least 0 and below 1.
        skip_box_threshold: Boxes whose score, before the weight, is **below** it are left out.
        format: What plain arrays hold and the result will: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``. For
            `Boxes` the result is xyxy.
        check: Whether plain arrays are checked.
        threads: How many threads may work, one label each, by default all; they change no bit.

    Returns:
        ``boxes``, ``scores`` and ``labels`` by falling score, as of `weighted_boxes_fusion`.

    Raises:
        ValueError, TypeError: As `weighted_boxes_fusion`.

    Examples:
        >>> from ioukit import non_maximum_weighted
        >>> fused = non_maximum_weighted([[[0, 0, 10, 10]], [[1, 0, 11, 10]]], [[0.8], [0.4]])
        >>> fused.boxes.round(3), fused.scores
        (array([[ 0.29,  0.  , 10.29, 10.  ]]), array([0.8]))

    Reference: Zhou et al., CAD: Scale Invariant Framework for Real-Time Object Detection, ICCV Workshops 2017.
    """
    models = _models(boxes_list, scores_list, labels_list, weights, skip_box_threshold, format, check)
    largest = models.weights.max()
    models = models._replace(weights=models.weights / largest)
    return _fuse(models, iou_threshold, format, threads, moving=False, rule="best")


class Merged(NamedTuple):
    """Merged boxes by falling score."""

    boxes: Array
    """(K, 4) the smallest boxes around the groups."""
    scores: Array
    """(K,) the best score of each group."""
    keep: Array
    """(K,) int64, the position of the best box of each group: its label is ``labels[keep]``."""
    groups: Array
    """(N,) int64, the group that each box went to, from 0 to K - 1."""


def non_maximum_merge(
    boxes: BoxesLike,
    scores: ArrayLike,
    *,
    iou_threshold: float = 0.5,
    labels: ArrayLike | None = None,
    metric: SymmetricMetric = "iou",
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> Merged:
    """Replaces every box and those that it would suppress by the smallest box around them all.

    The best box takes with it all boxes that overlap it by ``iou_threshold`` **or more** (as supervision groups them;
    NMS asks for more), then the best of the rest, and so on. Membership is by the overlap with the best box, not with
    the growing one, so groups do not run away. Made for objects that lie across tiles, with ``metric="iom"``: a part of
    an object overlaps the whole by all of its own area.

    Args:
        boxes: `Boxes` or an array-like of shape (N, 4), in any unit; NumPy's or of another library.
        scores: (N,) numbers, infinities too; of equal ones the lower position is the better.
        iou_threshold: At least 0; at 0, boxes that intersect at all.
        labels: (N,) integers, such as classes. Only boxes with equal labels are merged.
        metric: How overlap is measured.
        format: What plain arrays hold and the result will: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``.
        check: Whether plain arrays are checked.
        threads: How many threads may search for overlaps, by default all; they change no bit.

    Returns:
        ``boxes``, ``scores``, ``keep`` and ``groups``.

    Raises:
        ValueError: If a shape does not fit, a box is not valid, a score is NaN, or an option is out of range.
        TypeError: If something is of the wrong kind.

    Examples:
        >>> from ioukit import non_maximum_merge
        >>> merged = non_maximum_merge([[0, 0, 10, 10], [2, 0, 12, 10], [30, 0, 40, 10]], [0.9, 0.8, 0.7])
        >>> merged.boxes
        array([[ 0.,  0., 12., 10.],
               [30.,  0., 40., 10.]])
        >>> merged.groups
        array([0, 0, 1])

    Reference: the greedy NMM of Akyon et al., Slicing Aided Hyper Inference, ICIP 2022, arXiv:2202.06934.
    """
    check_metric(metric)
    check_threshold(iou_threshold=iou_threshold)
    workers = check_threads(threads)
    columns = as_columns(boxes, scores, labels, fmt=format, check=check, any_score=True)
    order = np.argsort(-columns.scores, kind="stable")
    corners = np.ascontiguousarray(columns.boxes[order])
    kinds = None if columns.labels is None else columns.labels[order]
    least = check_least(iou_threshold, corners.dtype)
    rows, others, _ = _core.overlap_join(metric, least, corners, None, kinds, None, workers)
    # Whom greedy suppression would remove goes to the box that would remove it.
    into = _core.nms_of_pairs(len(order), rows, others)
    places, group = np.unique(np.where(into < 0, np.arange(len(order)), into), return_inverse=True)
    merged = corners[places]
    np.minimum.at(merged[:, :2], group, corners[:, :2])
    np.maximum.at(merged[:, 2:], group, corners[:, 2:])
    groups = np.empty(len(order), np.int64)
    groups[order] = group
    keep = order[places].astype(np.int64)
    return Merged(
        columns.boxes_back(merged, format),
        columns.scores_back(columns.scores[keep]),
        columns.positions_back(keep),
        columns.positions_back(groups),
    )


class _Models(NamedTuple):
    """The boxes of all models, one after the other."""

    columns: Columns
    labels: NDArray[np.int64]
    models: NDArray[np.int64]
    weights: NDArray[np.float64]


def _models(
    boxes_list: Sequence[BoxesLike],
    scores_list: Sequence[ArrayLike],
    labels_list: Sequence[ArrayLike] | None,
    weights: Sequence[float] | None,
    skip_box_threshold: float,
    fmt: BoxFormat | None,
    check: bool,
) -> _Models:
    check_threshold(skip_box_threshold=skip_box_threshold)
    count = len(boxes_list)
    if count == 0:
        raise ValueError("boxes_list is empty, expected the boxes of at least one model")
    for name, given in (("scores_list", scores_list), ("labels_list", labels_list), ("weights", weights)):
        if given is not None and len(given) != count:
            raise ValueError(f"{name} must have one entry per model, {count}, got {len(given)}")
    weighted = np.ones(count) if weights is None else np.array(host(weights, "weights"), np.float64)
    if weighted.shape != (count,) or not (np.isfinite(weighted) & (weighted > 0)).all():
        raise ValueError(f"weights must be positive and finite, one per model, got {weights}")
    given_columns = [
        as_columns(
            boxes_list[model],
            scores_list[model],
            None if labels_list is None else labels_list[model],
            fmt=fmt,
            check=check,
            names=(f"boxes_list[{model}]", f"scores_list[{model}]", f"labels_list[{model}]"),
        )
        for model in range(count)
    ]
    for model, (columns, weight) in enumerate(zip(given_columns, weighted, strict=True)):
        if columns.scores.size and columns.scores.max() * weight > _LARGEST_SCORE:
            raise ValueError(f"scores_list[{model}] times its weight goes beyond 2**400, where sums overflow")
    chosen = [columns.scores >= columns.score_limit(skip_box_threshold) for columns in given_columns]
    kept = list(zip(given_columns, chosen, strict=True))
    box_dtype: np.dtype[Any] = np.result_type(*(columns.box_dtype for columns in given_columns))
    score_dtype: np.dtype[Any] = np.result_type(*(columns.score_dtype for columns in given_columns))
    return _Models(
        Columns(
            np.concatenate([columns.boxes[rows].astype(np.float64) for columns, rows in kept]),
            np.concatenate([columns.scores[rows] for columns, rows in kept]),
            None,
            boxes_list[0],
            box_dtype,
            score_dtype,
        ),
        np.concatenate([(_zeros(len(c.scores)) if c.labels is None else c.labels)[rows] for c, rows in kept]),
        np.repeat(np.arange(count), [int(rows.sum()) for rows in chosen]).astype(np.int64),
        weighted,
    )


def _zeros(count: int) -> NDArray[np.int64]:
    return np.zeros(count, np.int64)


def _fuse(
    models: _Models, iou_threshold: float, fmt: BoxFormat | None, threads: int | None, *, moving: bool, rule: str
) -> Fused:
    if not 0 <= iou_threshold < 1:  # also NaN
        raise ValueError(f"iou_threshold must be at least 0 and below 1, got {iou_threshold}")
    columns = models.columns
    boxes, scores, best, _ = _core.fuse_boxes(
        columns.boxes.astype(np.float64, copy=False),
        columns.scores * models.weights[models.models],
        models.labels,
        models.models,
        models.weights,
        float(iou_threshold),
        moving,
        rule,
        check_threads(threads),
    )
    labels = columns.positions_back(models.labels[best])
    return Fused(columns.boxes_back(boxes, fmt), columns.scores_back(scores), labels)
