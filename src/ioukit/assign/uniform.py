"""Uniform matching (YOLOF): every object gets the same number of predictions, whatever its size."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from ioukit._checks import check_count
from ioukit.assign._inputs import finished, pair_of_sets, spread
from ioukit.assign._pairs import best_of_each, keepers, near_an_object, object_blocks
from ioukit.assign.assignment import Candidates, Outcome
from ioukit.overlap import elementwise_iou
from ioukit.regions.formats import convert

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.assign.assignment import Assignment
    from ioukit.regions import BoxesLike
    from ioukit.typing import BoxFormat, FloatArray


def assign_uniform(
    predictions: BoxesLike,
    anchors: BoxesLike,
    objects: BoxesLike,
    *,
    top_k: int = 4,
    positive: float = 0.15,
    ignore_iou: float = 0.7,
    format: BoxFormat | None = None,
    check: bool = True,
) -> Assignment:
    """Assigns to each object its nearest predictions and the predictions of its nearest anchors, by YOLOF's rule.

    The distance is L1 of centre and size. Each object claims the ``top_k`` nearest predictions and the predictions of
    the ``top_k`` nearest anchors. A claimed prediction is positive if the IoU of its anchor with the object is **at or
    above** ``positive``, and otherwise ignored. A prediction that no object claims is ignored if its IoU with some
    object is **above** ``ignore_iou``.

    If several objects claim a prediction, the object with the highest IoU of the anchor gets it, and of equal IoU the
    first object. The original keeps one of them in no defined order.

    Args:
        predictions: (P, 4) decoded boxes, xyxy by default.
        anchors: (P, 4) the anchor of each prediction.
        objects: (G, 4) in the same unit; G may be 0.
        top_k: The number of predictions, and of anchors, that each object claims.
        positive: The smallest IoU of the anchor of a positive prediction, within [0, 1].
        ignore_iou: Within [0, 1].
        format: The format of plain arrays: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``. `Boxes` have their
            own.
        check: Whether plain arrays are checked.

    Returns:
        The assignment. Its ``overlap`` is the IoU of the anchors.

    Raises:
        ValueError: If there is not one anchor per prediction, or a threshold is not within [0, 1].

    Examples:
        >>> from ioukit.assign import assign_uniform
        >>> anchors = [[0, 0, 10, 10], [10, 0, 20, 10], [40, 40, 50, 50]]
        >>> assign_uniform([[0, 0, 9, 9], [2, 0, 12, 10], [0, 0, 9, 10]], anchors, [[0, 0, 10, 9]], top_k=1).target
        array([ 0, -1, -1])

    Reference: Chen et al., You Only Look One-level Feature, CVPR 2021, arXiv:2103.09460.
    """
    check_count(top_k=top_k)
    most = operator.index(top_k)
    for name, value in (("positive", positive), ("ignore_iou", ignore_iou)):
        if not 0 <= value <= 1:
            raise ValueError(f"{name} must be within [0, 1], got {value}")
    first, second = pair_of_sets(predictions, objects, format, check, ("predictions", "objects"))
    priors, _ = pair_of_sets(anchors, objects, format, check, ("anchors", "objects"))
    if len(priors) != len(first):
        raise ValueError(f"anchors must have shape ({len(first)}, 4), one per prediction, got {priors.shape}")
    dtype, number, count = np.promote_types(first.dtype, priors.dtype), len(first), len(second)
    first, second, priors = (boxes.astype(dtype, copy=False) for boxes in (first, second, priors))

    keys = np.unique(np.concatenate([_nearest(boxes, second, most) for boxes in (first, priors)]))
    rows, columns = np.divmod(keys, max(number, 1))
    overlap = elementwise_iou(priors[columns], second[rows], check=False)
    claims = np.flatnonzero(overlap >= positive)
    wins = claims[keepers(rows[claims], columns[claims], overlap[claims])]
    target = np.full(number, -1, np.int64)
    target[columns[wins]] = rows[wins]

    ignore = near_an_object(first, second, ignore_iou)
    ignore[columns] = True  # claimed; the positive ones among them are taken out below
    ignore &= target < 0

    outcome = np.full(len(rows), Outcome.BELOW, np.uint8)
    outcome[claims] = Outcome.STOLEN
    outcome[wins] = Outcome.ASSIGNED
    best = np.zeros(count, dtype)
    np.maximum.at(best, rows, overlap)
    return finished(
        predictions, rule="assign_uniform", objects=count, target=target,
        overlap=spread(number, columns[wins], overlap[wins]), ignore=ignore,
        candidates=Candidates(rows, columns, overlap, overlap.copy(), outcome),
        facts={"best": best, "threshold": np.full(count, positive)},
    )  # fmt: skip


def _nearest(boxes: FloatArray, objects: FloatArray, most: int) -> NDArray[np.int64]:
    """The nearest boxes of each object by L1, each pair as the number ``object * len(boxes) + box``."""
    one, other = (convert(corners, "xyxy", "cxcywh") for corners in (boxes, objects))
    found = [np.empty(0, np.int64)]
    for block in object_blocks(len(objects), len(boxes)):
        distance = np.zeros((block.stop - block.start, len(boxes)), boxes.dtype)
        for k in range(4):
            distance += np.abs(one[:, k] - other[block, k, None])
        rows, columns = (axis.ravel() for axis in np.indices(distance.shape))
        chosen = best_of_each(rows, columns, -distance.ravel(), most)
        found.append((rows[chosen] + block.start) * len(boxes) + columns[chosen])
    return np.concatenate(found)
