"""Fusion: averages of the boxes that several models predict for one object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from ioukit import _core
from ioukit._checks import check_choice, check_threads
from ioukit.postprocess._inputs import HostSet, Names, common_kind, host_floats, host_set
from ioukit.postprocess._options import check_thresholds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat


Confidence: TypeAlias = Literal["avg", "max", "box_and_model_avg", "absent_model_aware_avg"]
"""How the score of a fused box is computed from the scores of the boxes in its cluster."""

_LARGEST_SCORE = 2.0**400  # the sum over all boxes of a score times a coordinate must not overflow in float64


class Fused(NamedTuple):
    """Fused boxes by descending score."""

    boxes: Array
    """(K, 4)"""
    scores: Array
    """(K,)"""
    labels: Array
    """(K,) int64; 0 without labels."""


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
    """Averages the boxes that several models predict for one object, weighted by their scores.

    The weighted score of a box is its score times the weight of its model. The boxes are taken by descending weighted
    score; of equal scores, first the earlier model and then the lower position. A box joins the cluster whose fused box
    has the highest IoU with it, if that is **above** ``iou_threshold``, or else starts a new cluster. Of equal IoU the
    older cluster wins. The fused box is the mean of the corners of its cluster, weighted by the weighted scores. It
    moves with every box that joins. In a cluster of ``n`` boxes, with weighted scores ``s`` and the weights ``w`` of
    their models, the score is

    - ``"avg"``: ``mean(s) * min(n, models) / sum of all weights`` (``n`` in place of the minimum with
      ``allows_overflow``);
    - ``"max"``: ``max(s) / largest weight``;
    - ``"box_and_model_avg"``: ``sum(s) / sum(w) * (weights of the models in the cluster) / sum of all weights``;
    - ``"absent_model_aware_avg"``: ``sum(s) / (sum(w) + weights of the models that are not in the cluster)``.

    The results are those of the authors' tool, ``ensemble_boxes``, up to the precision of float32, in which it sums.
    The differences: coordinates may have any unit and are not clipped to [0, 1]; an inverted box is an error and is not
    turned around; a box without area is kept as its own cluster; if all scores of a cluster are 0, the first box is the
    result, not NaN; and a wrong number of weights is an error.

    A grid that follows the clusters finds those near a box, so time grows with the number of boxes, unless most of them
    lie in one place.

    Args:
        boxes_list: For each model, an (N, 4) array, xyxy by default, nested lists or `Boxes`; all in one unit and of
            one library.
        scores_list: For each model, (N,) finite numbers of at least 0.
        labels_list: For each model, (N,) integers. Only boxes with equal labels are fused. None fuses all.
        weights: One positive number per model; None for 1 each.
        iou_threshold: At least 0 and below 1.
        skip_box_threshold: At least 0. Boxes whose score, before the weight, is **below** this are left out.
        confidence: The rule for the score of a cluster, see above.
        allows_overflow: For ``"avg"``, whether a score may exceed 1 if a model has several boxes in a cluster.
        format: The format of plain arrays and of the result: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``. For
            `Boxes` the result is xyxy.
        check: Whether plain arrays are checked.
        threads: How many threads may work, each on one label at a time; by default one per core. It does not change a
            bit.

    Returns:
        ``boxes``, ``scores`` and ``labels`` by descending score (of equal scores, in the order of their best boxes), as
        arrays of the caller's library. They are computed in float64 and rounded to the dtypes that the arrays of the
        models promote to.

    Raises:
        ValueError: If lists differ in length, there is no model, a shape does not fit, a box, a score or a weight is
            not valid, or an option is out of range. The message names the model.
        TypeError: If an argument has the wrong type, or the arrays come from different libraries.

    Examples:
        >>> from ioukit import weighted_boxes_fusion
        >>> fused = weighted_boxes_fusion([[[0, 0, 10, 10]], [[1, 0, 11, 10]]], [[0.8], [0.4]])
        >>> fused.boxes.round(3), fused.scores.round(3)
        (array([[ 0.333,  0.   , 10.333, 10.   ]]), array([0.6]))

    Reference: Solovyev, Wang and Gabruseva, Weighted boxes fusion: Ensembling boxes from different object detection
    models, Image and Vision Computing 2021, arXiv:1910.13302.
    """
    check_choice("confidence", confidence, get_args(Confidence))
    if allows_overflow and confidence != "avg":
        raise ValueError(f"allows_overflow is for confidence='avg' alone, got confidence={confidence!r}")
    rule = "avg_overflow" if allows_overflow else confidence
    models = _models(boxes_list, scores_list, labels_list, weights, skip_box_threshold, format, check)
    return _fused(models, iou_threshold, format, threads, moving=True, rule=rule)


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
    """Averages the boxes around each best box, weighted by their score times their IoU with the best box.

    The difference from `weighted_boxes_fusion` is that a box is compared with the best box of a cluster, which does not
    move, and that the score of a cluster is that of its best box. Weights are divided by the largest weight, so that
    scores stay within their range.

    Args:
        boxes_list: For each model, an (N, 4) array, xyxy by default, nested lists or `Boxes`; all in one unit and of
            one library.
        scores_list: For each model, (N,) finite numbers of at least 0.
        labels_list: For each model, (N,) integers. Only boxes with equal labels are fused. None fuses all.
        weights: One positive number per model; None for 1 each.
        iou_threshold: At least 0 and below 1.
        skip_box_threshold: At least 0. Boxes whose score, before the weight, is **below** this are left out.
        format: The format of plain arrays and of the result: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``. For
            `Boxes` the result is xyxy.
        check: Whether plain arrays are checked.
        threads: How many threads may work, each on one label at a time; by default one per core. It does not change a
            bit.

    Returns:
        ``boxes``, ``scores`` and ``labels`` by descending score, as of `weighted_boxes_fusion`.

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
    models = models._replace(weights=models.weights / models.weights.max())
    return _fused(models, iou_threshold, format, threads, moving=False, rule="best")


class _Models(NamedTuple):
    """The boxes of all models, one model after the other."""

    boxes: NDArray[np.float64]
    """(T, 4) xyxy."""
    scores: NDArray[np.float64]
    """(T,)"""
    labels: NDArray[np.int64]
    """(T,) 0 without labels."""
    models: NDArray[np.int64]
    """(T,) the model of each box."""
    weights: NDArray[np.float64]
    """(M,) the weight of each model."""
    first: HostSet
    """The boxes of the first model, whose library the results have, with the dtypes of the results."""


def _models(
    boxes_list: Sequence[BoxesLike],
    scores_list: Sequence[ArrayLike],
    labels_list: Sequence[ArrayLike] | None,
    weights: Sequence[float] | None,
    skip_box_threshold: float,
    fmt: BoxFormat | None,
    check: bool,
) -> _Models:
    check_thresholds(skip_box_threshold=skip_box_threshold)
    count = len(boxes_list)
    if count == 0:
        raise ValueError("boxes_list is empty, expected the boxes of at least one model")
    for name, given in (("scores_list", scores_list), ("labels_list", labels_list), ("weights", weights)):
        if given is not None and len(given) != count:
            raise ValueError(f"{name} must have one entry per model, {count}, got {len(given)}")
    weighted = np.ones(count) if weights is None else np.asarray(host_floats(weights, "weights")[0], np.float64)
    if weighted.shape != (count,) or not (np.isfinite(weighted) & (weighted > 0)).all():
        raise ValueError(f"weights must be positive and finite, one per model, got {weights}")
    sets = [
        host_set(
            boxes_list[model],
            scores_list[model],
            None if labels_list is None else labels_list[model],
            format=fmt,
            check=check,
            names=Names(f"boxes_list[{model}]", f"scores_list[{model}]", f"labels_list[{model}]"),
        )
        for model in range(count)
    ]
    all_scores = [given.weights() for given in sets]
    for model, (scores, weight) in enumerate(zip(all_scores, weighted, strict=True)):
        if scores.size and scores.max() * weight > _LARGEST_SCORE:
            raise ValueError(f"scores_list[{model}] times its weight goes beyond 2**400, where sums overflow")
    rows = [scores >= given.score_limit(skip_box_threshold) for given, scores in zip(sets, all_scores, strict=True)]
    return _Models(
        np.concatenate([given.boxes[chosen].astype(np.float64) for given, chosen in zip(sets, rows, strict=True)]),
        np.concatenate([scores[chosen] for scores, chosen in zip(all_scores, rows, strict=True)]),
        np.concatenate([_labels(given)[chosen] for given, chosen in zip(sets, rows, strict=True)]),
        np.repeat(np.arange(count), [int(chosen.sum()) for chosen in rows]).astype(np.int64),
        weighted,
        sets[0]._replace(
            box_kind=common_kind([given.box_kind for given in sets]),
            score_kind=common_kind([given.score_kind for given in sets]),
        ),
    )


def _labels(given: HostSet) -> NDArray[np.int64]:
    return np.zeros(len(given.scores), np.int64) if given.labels is None else given.labels


def _fused(
    models: _Models, iou_threshold: float, fmt: BoxFormat | None, threads: int | None, *, moving: bool, rule: str
) -> Fused:
    if not 0 <= iou_threshold < 1:  # also NaN
        raise ValueError(f"iou_threshold must be at least 0 and below 1, got {iou_threshold}")
    boxes, scores, best, _ = _core.fuse_boxes(
        models.boxes,
        models.scores * models.weights[models.models],
        models.labels,
        models.models,
        models.weights,
        float(iou_threshold),
        moving,
        rule,
        check_threads(threads),
    )
    back = models.first
    return Fused(back.boxes_back(boxes, fmt), back.scores_back(scores), back.positions_back(models.labels[best]))
